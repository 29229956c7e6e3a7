/* Ten thousand objects with a draw command each, of which every frame draws those that its camera
 * sees: a multi-draw whose count the host never learns. Shows a compaction of TML_RECORD(20), which
 * are VkDrawIndexedIndirectCommand; tml_vulkan_desc.allocator, tml_prepare_begin and
 * tml_vulkan_record, with barriers that let other work of the frame go on.
 *
 * Three frames are in flight. The last one's picture must be that of all draws, to the bit.
 *
 *     culled_draws [FILE.png] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trommel/trommel.h>
#include <trommel/vulkan.h>

/* What the vertex shader is pushed. */
typedef struct view {
    float clip[16];
    VkDeviceAddress objects;
} view;

#define SURFACE_VERTEX   "culled_draws.vert.inc"
#define SURFACE_FRAGMENT "culled_draws.frag.inc"
#include "animated_surface_draw.h"

#include <trommel/kernel_begin.h>
/* An object: its centre and radius. p.f: the focal lengths across and down, the least depth. */
TML_KERNEL(bool, is_seen, (vec4 object, tml_params p), {
    vec4 at = transform4(p.m, VEC4(object.x, object.y, object.z, 1.0f));
    float reach = object.w * 1.5f;
    return at.w > p.f[2] - object.w && abs(at.x) < at.w + reach * (1.0f + p.f[0]) &&
           abs(at.y) < at.w + reach * (1.0f + p.f[1]);
})
#include <trommel/kernel_end.h>

/* Made by trommel_add_kernels(culled_draws). */
extern const tml_vulkan_kernel culled_draws_kernels[];

enum { ACROSS = 100, OBJECTS = ACROSS * ACROSS, FRAMES = 12, SHAPES = 3 };

/* ---- device memory, as an allocator gives it ------------------------------------------------- */

/* With VMA these are vmaCreateBuffer, with memoryTypeBits = 1 << memory_type and, where the type is
 * host-visible, VMA_ALLOCATION_CREATE_MAPPED_BIT, and vmaDestroyBuffer. */
static VkResult create_memory(void *user, const VkBufferCreateInfo *info, uint32_t memory_type,
                              tml_vulkan_allocation *out)
{
    const renderer *r = user;
    const VkDevice device = r->vulkan.device;
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .pNext = &flags,
                                     .memoryTypeIndex = memory_type};
    VkPhysicalDeviceMemoryProperties types;
    VkMemoryRequirements needs;
    VkDeviceMemory memory;
    MUST(vkCreateBuffer(device, info, NULL, &out->buffer));
    vkGetBufferMemoryRequirements(device, out->buffer, &needs);
    allocate.allocationSize = needs.size;
    if (vkAllocateMemory(device, &allocate, NULL, &memory) != VK_SUCCESS) {
        vkDestroyBuffer(device, out->buffer, NULL);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    MUST(vkBindBufferMemory(device, out->buffer, memory, 0));
    vkGetPhysicalDeviceMemoryProperties(r->vulkan.physical_device, &types);
    if (types.memoryTypes[memory_type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
        MUST(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &out->mapped));
    out->allocation = memory; /* a pointer on 64-bit machines, for which Vulkan's handles are */
    return VK_SUCCESS;
}

static void destroy_memory(void *user, const tml_vulkan_allocation *allocation)
{
    const renderer *r = user;
    vkDestroyBuffer(r->vulkan.device, allocation->buffer, NULL);
    vkFreeMemory(r->vulkan.device, allocation->allocation, NULL);
}

/* ---- the scene ------------------------------------------------------------------------------- */

/* Shapes with flat faces: a tetrahedron, a cube and an octahedron, one after another. */
typedef struct shapes {
    float positions[3 * (12 + 36 + 24)], normals[3 * (12 + 36 + 24)];
    uint32_t indices[12 + 36 + 24], first[SHAPES], count[SHAPES], used;
} shapes;

static void add_triangle(shapes *s, const float corners[3][3])
{
    float u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = corners[1][k] - corners[0][k];
        v[k] = corners[2][k] - corners[0][k];
    }
    float normal[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                       u[0] * v[1] - u[1] * v[0]};
    const float out =
        normal[0] * corners[0][0] + normal[1] * corners[0][1] + normal[2] * corners[0][2];
    const float length =
        sqrtf(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    for (int c = 0; c < 3; c++, s->used++) {
        const int from = out < 0 && c ? 3 - c : c; /* counterclockwise, seen from outside */
        for (int k = 0; k < 3; k++) {
            s->positions[3 * s->used + (uint32_t)k] = corners[from][k];
            s->normals[3 * s->used + (uint32_t)k] = normal[k] / (out < 0 ? -length : length);
        }
        s->indices[s->used] = s->used;
    }
}

static void make_shapes(shapes *s)
{
    static const float signs[8][3] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                      {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};
    const float side = 0.57735f;
    s->used = 0;
    for (int shape = 0; shape < SHAPES; shape++) {
        s->first[shape] = s->used;
        static const int tetrahedron[4][3] = {{0, 3, 5}, {0, 3, 6}, {0, 5, 6}, {3, 5, 6}};
        for (int t = 0; shape == 0 && t < 4; t++) {
            float corners[3][3];
            for (int c = 0; c < 3; c++)
                for (int k = 0; k < 3; k++)
                    corners[c][k] = side * signs[tetrahedron[t][c]][k];
            add_triangle(s, (const float(*)[3])corners);
        }
        for (int face = 0; shape == 1 && face < 6; face++)
            for (int half = 0; half < 2; half++) {
                float corners[3][3];
                for (int c = 0; c < 3; c++) {
                    const int corner = half ? 3 - c : c, axis = face / 2;
                    corners[c][axis] = face % 2 ? side : -side;
                    corners[c][(axis + 1) % 3] = corner & 1 ? side : -side;
                    corners[c][(axis + 2) % 3] = corner & 2 ? side : -side;
                }
                add_triangle(s, (const float(*)[3])corners);
            }
        for (int octant = 0; shape == 2 && octant < 8; octant++) {
            float corners[3][3] = {{0}};
            for (int c = 0; c < 3; c++)
                corners[c][c] = signs[octant][c];
            add_triangle(s, (const float(*)[3])corners);
        }
        s->count[shape] = s->used - s->first[shape];
    }
}

typedef struct scene {
    tml_buffer positions, normals, indices, objects, draws, seen, seen_count;
    tml_vulkan_memory at[3], draws_at, seen_at, count_at;
    VkDeviceAddress objects_at;
    tml_compact_desc cull;
} scene;

static void make_scene(tml_context *tml, renderer *r, scene *s)
{
    static shapes all;
    static tml_vec4 objects[OBJECTS];
    static VkDrawIndexedIndirectCommand draws[OBJECTS];
    make_shapes(&all);
    make_indices(r, sizeof all.indices);
    const tml_vulkan_memory indices_at = {r->indices, 0};
    for (uint32_t i = 0; i < OBJECTS; i++) {
        const float size = 0.2f + 0.25f * tml_random_float(i, 0);
        objects[i] = (tml_vec4){(float)(i % ACROSS) - 0.5f * ACROSS, size - 1,
                                (float)i / ACROSS - 0.5f * ACROSS, size};
        const uint32_t shape = (uint32_t)(SHAPES * tml_random_float(i, 1)) % SHAPES;
        draws[i] = (VkDrawIndexedIndirectCommand){.indexCount = all.count[shape],
                                                  .instanceCount = 1,
                                                  .firstIndex = all.first[shape],
                                                  .firstInstance = i};
    }
    const struct {
        tml_buffer *buffer;
        tml_buffer_desc desc;
        tml_vulkan_memory *at;
    } buffers[] = {
        {&s->positions,
         {.type = TML_VEC(TML_F32, 3), .count = all.used, .data = all.positions},
         &s->at[0]},
        {&s->normals,
         {.type = TML_VEC(TML_F32, 3), .count = all.used, .data = all.normals},
         &s->at[1]},
        {&s->indices,
         {.type = TML_U32, .count = all.used, .data = all.indices, .vulkan = &indices_at},
         &s->at[2]},
        {&s->objects, {.type = TML_VEC(TML_F32, 4), .count = OBJECTS, .data = objects}, NULL},
        {&s->draws, {.type = TML_RECORD(20), .count = OBJECTS, .data = draws}, &s->draws_at},
        {&s->seen, {.type = TML_RECORD(20), .count = OBJECTS}, &s->seen_at},
        {&s->seen_count, {.type = TML_U32, .count = 1}, &s->count_at}};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        MUST(tml_buffer_create(tml, &buffers[i].desc, buffers[i].buffer));
        MUST(tml_vulkan_buffer(tml, *buffers[i].buffer, buffers[i].at, NULL));
    }
    MUST(tml_vulkan_buffer(tml, s->objects, NULL, &s->objects_at));
    s->cull = (tml_compact_desc){.keep = {.kernel = TML_USE(is_seen), .in = {s->objects}},
                                 .payloads = {{s->draws, s->seen}},
                                 .count = s->seen_count};
}

/* The matrix of a camera in the middle that looks around, column by column, for Vulkan: y is down,
 * depth 0 to 1. */
static view camera(tml_params *p, const scene *s, float turn, float aspect)
{
    const float focal = 1.8f, tilt = 0.1f, near = 0.5f, far = 100;
    const float c = cosf(turn), n = sinf(turn), u = cosf(tilt), v = sinf(tilt);
    const float rows[3][4] = {
        {-c, 0, -n, 0}, {-v * n, u, v * c, -0.8f}, {-u * n, -v, u * c, 0}}; /* right, up, ahead */
    view out = {.objects = s->objects_at};
    for (int k = 0; k < 4; k++) {
        out.clip[4 * k] = focal / aspect * rows[0][k];
        out.clip[4 * k + 1] = -focal * rows[1][k];
        out.clip[4 * k + 2] = far / (far - near) * (rows[2][k] - (k == 3 ? near : 0));
        out.clip[4 * k + 3] = rows[2][k];
    }
    memcpy(p->m, out.clip, sizeof p->m);
    p->f[0] = focal / aspect;
    p->f[1] = focal;
    p->f[2] = near;
    return out;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* What draws reads the commands and their count, and nothing else of the library's: that alone is
 * waited for, before the cull, for the frame before to have read them, and after it. */
static const tml_vulkan_barrier drawing = {.stages = VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
                                           .access = VK_ACCESS_INDIRECT_COMMAND_READ_BIT};

static void frame(tml_context *tml, renderer *r, scene *s, uint32_t number, bool culls)
{
    const view seen = camera(&s->cull.keep.params, s, 0.5f * (float)number,
                             (float)r->size.width / (float)r->size.height);
    const uint32_t stride = sizeof(VkDrawIndexedIndirectCommand);
    if (culls) {
        MUST(tml_vulkan_record(tml, r->commands, &drawing, &drawing));
        MUST(tml_compact(tml, &s->cull));
        MUST(tml_vulkan_record_end(tml));
    }
    begin_pass(r, seen, s->at);
    if (culls)
        vkCmdDrawIndexedIndirectCount(r->commands, s->seen_at.buffer, s->seen_at.offset,
                                      s->count_at.buffer, s->count_at.offset, OBJECTS, stride);
    else
        vkCmdDrawIndexedIndirect(r->commands, s->draws_at.buffer, s->draws_at.offset, OBJECTS,
                                 stride);
    end_pass(r);
}

int main(int argc, char **argv)
{
    renderer r = {.size = {640, 360},
                  .vulkan.kernels = culled_draws_kernels,
                  .vulkan.get_instance_proc_addr = vkGetInstanceProcAddr};
    if (!open_device_with(&r.vulkan,
                          (VkPhysicalDeviceFeatures){.multiDrawIndirect = VK_TRUE,
                                                     .drawIndirectFirstInstance = VK_TRUE},
                          (VkPhysicalDeviceVulkan12Features){.drawIndirectCount = VK_TRUE})) {
        puts("no Vulkan device with indirect draws and their count here");
        return 77;
    }
    r.vulkan.allocator = (tml_vulkan_allocator){create_memory, destroy_memory, &r};
    make_targets(&r);
    make_pipeline(&r);
    make_commands(&r);
    in_flight f;
    make_in_flight(&r, &f);

    tml_context *tml;
    scene s;
    MUST(tml_open(&(tml_open_desc){.engine = TML_ENGINE_VULKAN, .vulkan = &r.vulkan}, &tml));
    make_scene(tml, &r, &s);
    /* While a screen loads: so a frame makes no pipelines and needs no memory. */
    tml_prepared prepared;
    MUST(tml_prepare_begin(tml));
    MUST(tml_compact(tml, &s.cull));
    MUST(tml_prepare_end(tml, &prepared));
    MUST(tml_reserve(tml, prepared.scratch_size));
    MUST(tml_sync(tml)); /* the scene is there */

    const size_t bytes = (size_t)r.size.width * r.size.height * 4;
    uint8_t *culled = malloc(bytes);
    MUST(!culled);
    for (uint32_t i = 0; i <= FRAMES; i++) { /* the last one twice, and then whole */
        begin_frame(&r, &f, i);
        frame(tml, &r, &s, i < FRAMES ? i : FRAMES - 1, i < FRAMES);
        end_frame(&r, &f, i);
        if (i < FRAMES - 1)
            continue;
        MUST(vkQueueWaitIdle(r.vulkan.queue));
        if (i < FRAMES)
            memcpy(culled, r.pixels, bytes);
    }
    MUST(tml_vulkan_check(tml));
    uint64_t seen;
    MUST(tml_buffer_read_count(tml, s.seen_count, &seen));
    const bool is_same = memcmp(culled, r.pixels, bytes) == 0;
    printf("%u of %d objects are drawn, on %.0f%% of the picture: %s\n", (unsigned)seen, OBJECTS,
           100 * covered(&r), is_same ? "as all are" : "not as all are");
    if (argc > 1)
        save_rendered(tml, argv[1], &r, culled);
    free(culled);
    tml_close(tml); /* what was lent is still here */
    destroy_in_flight(&r, &f);
    destroy_renderer(&r);
    return is_same && seen > 100 && seen < OBJECTS / 2 ? 0 : 1;
}
