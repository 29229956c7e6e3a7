/* A surface that moves, drawn in the frame that computes it. Shows tml_surface_enqueue between
 * tml_vulkan_record and tml_vulkan_record_end, with vertices and indices as a renderer takes them
 * (tml_surface_desc.layout), tml_vulkan_buffer,
 * tml_buffer_desc.vulkan and trommel_add_kernels.
 *
 * Each frame is one command buffer: a kernel fills a volume, the surface becomes vertices with
 * normals, indices and the arguments of an indirect draw, and a render pass draws them. The host
 * sees nothing of these; only the picture comes back, to be saved as frame_000.png and so on.
 * --check draws the last one again from arrays of floats, and compares.
 *
 *     animated_surface [--check] [folder [frames [samples [width height]]]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trommel/trommel.h>
#include <trommel/vulkan.h>

#include "animated_surface_draw.h"

#include <trommel/kernel_begin.h>
/* A gyroid that drifts through a breathing ball, in a cube of p.u[0] samples a side, at the time
 * p.f[0] in 0 ... 2 pi. The smaller of the two, rounded where they meet. */
TML_KERNEL(float, field, (tml_index i, tml_params p), {
    uint n = p.u[0];
    uint k = U(i);
    float turn = p.f[0];
    float step_size = 2.0f / F(n - 1u);
    vec3 q = VEC3(F(k % n) * step_size - 1.0f, F(k / n % n) * step_size - 1.0f,
                  F(k / (n * n)) * step_size - 1.0f);
    vec3 a = VEC3(8.5f * q.x, 8.5f * q.y, 8.5f * q.z + turn);
    float gyroid = sin(a.x) * cos(a.y) + sin(a.y) * cos(a.z) + sin(a.z) * cos(a.x);
    float wall = 0.25f * sin(turn) + 0.2f - gyroid;
    float ball = 6.0f * (0.87f + 0.06f * cos(turn) - length3(q));
    float near = max(1.5f - abs(wall - ball), 0.0f);
    return min(wall, ball) - near * near / 6.0f;
})
#include <trommel/kernel_end.h>

/* Made by trommel_add_kernels(animated_surface). */
extern const tml_vulkan_kernel animated_surface_kernels[];

/* The mesh in memory: buffers of the library and where they are, and what writes them. */
typedef struct mesh {
    tml_buffer vertices, normals, indices, draw;
    tml_vulkan_memory at[4]; /* in that order */
} mesh;

/* Room for more than the surface ever has: its triangles could otherwise name vertices that are not
 * there. The context makes the buffers but for the indices, which are lent at offset 0: older
 * software drivers (Mesa 22.3) ignore that offset in indirect draws. Compact: 16 bytes a vertex
 * and, where there is not room for more vertices than those number, 6 a triangle, in place of 24
 * and 12. */
static mesh make_mesh(const renderer *r, tml_context *tml, uint64_t room)
{
    const tml_vulkan_memory indices_at = {r->indices, 0};
    const tml_buffer_desc descs[4] = {
        {.type = r->is_compact ? TML_RECORD(16) : TML_VEC(TML_F32, 3), .count = room},
        {.type = TML_VEC(TML_F32, 3), .count = room},
        {.type = TML_VEC(r->is_narrow ? TML_U16 : TML_U32, 3),
         .count = 2 * room,
         .vulkan = &indices_at},
        {.type = TML_U32, .count = 5}};
    mesh m = {0};
    tml_buffer *const buffers[4] = {&m.vertices, &m.normals, &m.indices, &m.draw};
    for (int i = 0; i < 4; i++) {
        if (r->is_compact && i == 1) /* normals are in the vertices */
            continue;
        MUST(tml_buffer_create(tml, &descs[i], buffers[i]));
        MUST(tml_vulkan_buffer(tml, *buffers[i], &m.at[i], NULL));
    }
    return m;
}

/* Records, draws and waits for a frame; once in advance, so that recording makes no pipelines and
 * needs no memory. */
static void run_frame(const renderer *r, tml_context *tml, const tml_map_desc *map, const mesh *m,
                      bool is_first)
{
    const float turn = map->params.f[0];
    const uint32_t n = map->params.u[0];
    const double step = 2.0 / (n - 1);
    tml_surface_desc surface = {.volume = map->out[0],
                                .grid = {.dims = {n, n, n},
                                         .spacing = {step, step, step},
                                         .origin = {-1, -1, -1},
                                         .direction = {1, 0, 0, 0, 1, 0, 0, 0, 1}},
                                .normals = TML_NORMALS_CENTRAL,
                                .mesh = {.positions = m->vertices, .indices = m->indices},
                                .draw = m->draw,
                                .layout.indices16 = r->is_narrow};
    if (r->is_compact) { /* as a renderer takes it: make_pipeline */
        surface.layout.stride = 16;
        surface.layout.normal_offset = 12;
        surface.layout.octahedral_normals = true;
    } else {
        surface.mesh.normals = m->normals;
    }
    if (is_first) {
        MUST(tml_map(tml, map));
        MUST(tml_surface_enqueue(tml, &surface));
        MUST(tml_sync(tml));
    }
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    MUST(vkBeginCommandBuffer(r->commands, &begin));
    MUST(tml_vulkan_record(tml, r->commands, NULL, NULL));
    MUST(tml_map(tml, map));
    MUST(tml_surface_enqueue(tml, &surface));
    MUST(tml_vulkan_record_end(tml));
    const view seen = {0.6f + 0.25f * turn, (float)r->size.width / (float)r->size.height};
    draw(r, seen, m->at);
    MUST(vkEndCommandBuffer(r->commands));
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &r->commands};
    MUST(vkQueueSubmit(r->vulkan.queue, 1, &submit, VK_NULL_HANDLE));
    MUST(vkQueueWaitIdle(r->vulkan.queue)); /* for the picture */
}

/* Draws the last frame again, from arrays of floats and u32: the largest difference of its
 * pixels. */
static int compare_packed(renderer *r, tml_context *tml, const tml_map_desc *map, uint64_t room)
{
    const size_t size = (size_t)r->size.width * r->size.height * 4;
    uint8_t *compact = malloc(size);
    MUST(compact == NULL);
    memcpy(compact, r->pixels, size);
    vkDestroyPipeline(r->vulkan.device, r->pipeline, NULL);
    vkDestroyPipelineLayout(r->vulkan.device, r->layout, NULL);
    r->is_compact = r->is_narrow = false;
    make_pipeline(r);
    const mesh packed = make_mesh(r, tml, room);
    run_frame(r, tml, map, &packed, true);
    int most = 0;
    for (size_t i = 0; i < size; i++)
        most = abs(r->pixels[i] - compact[i]) > most ? abs(r->pixels[i] - compact[i]) : most;
    free(compact);
    return most;
}

int main(int argc, char **argv)
{
    const bool check = argc > 1 && strcmp(argv[1], "--check") == 0;
    argc -= check;
    argv += check;
    const char *folder = argc > 1 ? argv[1] : ".";
    uint32_t number[4] = {8, 64, 320, 240}; /* frames, samples a side, width, height */
    for (int i = 0; i < 4 && i + 2 < argc; i++)
        number[i] = (uint32_t)strtoul(argv[i + 2], NULL, 10);
    const uint32_t frames = number[0], n = number[1];
    if (!frames || n < 8 || n > 512 || !number[2] || !number[3]) {
        fputs("animated_surface [--check] [folder [frames [samples, 8 to 512 [width height]]]]\n",
              stderr);
        return 1;
    }
    const uint64_t samples = (uint64_t)n * n * n, room = 15ull * n * n;
    renderer r = {.size = {number[2], number[3]},
                  .is_compact = true,
                  .is_narrow = room <= 65535,
                  .vulkan.kernels = animated_surface_kernels,
                  .vulkan.get_instance_proc_addr = vkGetInstanceProcAddr};
    if (!open_device(&r.vulkan)) {
        puts("no Vulkan device here");
        return 77;
    }
    make_targets(&r);
    make_pipeline(&r);
    make_commands(&r);
    make_indices(&r, 2 * room * 12);

    tml_context *tml;
    tml_buffer volume;
    MUST(tml_open(&(tml_open_desc){.engine = TML_ENGINE_VULKAN, .vulkan = &r.vulkan}, &tml));
    MUST(tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F32, .count = samples}, &volume));
    tml_map_desc map = {
        .kernel = TML_USE(field), .params.u = {n}, .out = {volume}, .length.count = samples};
    const mesh m = make_mesh(&r, tml, room);

    for (uint32_t frame = 0; frame < frames; frame++) {
        map.params.f[0] = 6.2831853f * (float)frame / (float)frames;
        run_frame(&r, tml, &map, &m, frame == 0);
        char path[4096];
        snprintf(path, sizeof path, "%s/frame_%03u.png", folder, frame);
        save_rendered(tml, path, &r, r.pixels);
        const double share = covered(&r);
        printf("%s: the surface covers %.1f%%\n", path, 100 * share);
        if (share < 0.1 || share > 0.9)
            return 1;
    }
    if (check) {
        const int most = compare_packed(&r, tml, &map, room);
        printf("from packed arrays a pixel differs by at most %d of 255\n", most);
        if (most > 2)
            return 1;
    }

    tml_close(tml); /* what was lent is still here */
    destroy_renderer(&r);
    return 0;
}
