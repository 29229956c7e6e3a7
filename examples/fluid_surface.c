/* A fountain's water as a lit surface that foams where it is fast, each frame from particles that
 * never leave the device. Shows tml_surface_enqueue of a tml_field_desc whose length is on the
 * device, tml_field_mean_enqueue at as many vertices as were counted there, tml_expand that
 * appends, and kernels of several outputs, between tml_vulkan_record and tml_vulkan_record_end.
 *
 * Each frame is one command buffer, three of which are in flight. Particles are born at the
 * nozzles, appended to the others, move, and leave the stream where they meet the floor; the points
 * that are left become a field, its surface becomes vertices, normals, velocities, indices and the
 * arguments of an indirect draw, and a render pass draws them. The host learns neither how many
 * particles there are nor how many triangles. The pass is that of animated_surface.
 *
 *     fluid_surface [--count N] [--frames N] [--samples N] [--size N] [--output FILE.png]
 *     [--check] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <trommel/trommel.h>
#include <trommel/vulkan.h>

#define SURFACE_VERTEX   "fluid_surface.vert.inc"
#define SURFACE_FRAGMENT "fluid_surface.frag.inc"
#define SURFACE_STREAMS  3
typedef struct view {
    float angle, aspect;
} view;
#include "animated_surface_draw.h"

enum { NOZZLES = 13 };

/* Seconds between frames, and those from birth to the floor, about. */
static const float step = 1.0f / 60, life = 1.9f;

#include <trommel/kernel_begin.h>
/* clang-format off */
TML_LIBRARY(fountain,
    /* Twelve nozzles in a ring, and one in the middle that shoots higher. Draws are -1 ... 1. */
    FUNCTION(float) fountain_draw(uint id, uint number) {
        return 2.0f * tml_random_float(id, number) - 1.0f;
    }
    FUNCTION(vec3) fountain_velocity(uint id, uint nozzle) {
        float turn = 0.5235988f * F(nozzle);
        float outward = nozzle < 12u ? 0.4f + 0.03f * fountain_draw(id, 0u) : 0.0f;
        float up = nozzle < 12u ? 1.5f : 1.95f;
        return VEC3(outward * cos(turn) + 0.04f * fountain_draw(id, 1u),
                    outward * sin(turn) + 0.04f * fountain_draw(id, 2u),
                    up + 0.05f * fountain_draw(id, 3u));
    }
)
/* p.f: gravity, seconds since the frame before. p.u: the first new particle's id, births of each
 * nozzle. */
TML_KERNEL(uint, births, (tml_index nozzle, tml_params p), { return p.u[1] + U(nozzle) * 0u; })
TML_KERNEL_OUTS_WITH(fountain, (vec3 position, vec3 velocity), born,
                     (tml_index nozzle, tml_rank k, tml_params p), {
    uint id = p.u[0] + 13u * k + U(nozzle);
    float age = tml_random_float(id, 4u) * p.f[1]; /* born at any time since the frame before */
    vec3 v = fountain_velocity(id, U(nozzle));
    born_out o;
    o.velocity = VEC3(v.x, v.y, v.z - p.f[0] * age);
    o.position = VEC3(0.02f * fountain_draw(id, 5u) + v.x * age, 0.02f * fountain_draw(id, 6u) + v.y * age,
                      -0.8f + v.z * age - 0.5f * p.f[0] * age * age);
    return o;
})
/* clang-format on */
TML_KERNEL_OUTS((vec3 position, vec3 velocity), move, (vec3 x, vec3 v, tml_params p), {
    move_out o;
    float t = p.f[1];
    o.velocity = VEC3(v.x, v.y, v.z - p.f[0] * t);
    o.position = VEC3(x.x + v.x * t, x.y + v.y * t, x.z + v.z * t - 0.5f * p.f[0] * t * t);
    return o;
})
TML_KERNEL(bool, is_above, (vec3 position), { return position.z > -0.85f; })
#include <trommel/kernel_end.h>

/* Made by trommel_add_kernels(fluid_surface). */
extern const tml_vulkan_kernel fluid_surface_kernels[];

typedef struct options {
    uint32_t count, frames, samples, size;
    const char *output;
    bool check;
} options;

static const char usage[] =
    "fluid_surface [options]: simulates a fountain and draws its surface, on Vulkan\n"
    "  --count N          particles in flight, about, 1000 to 16777216; default 1048576\n"
    "  --frames N         1 to 100000; default 8\n"
    "  --samples N        of the field, along a side, 16 to 512; default 128\n"
    "  --size N           the picture's width, 16 to 8192; default 640. Its height is 3/4 of that\n"
    "  --output FILE.png  the last frame's picture; default: not written\n"
    "  --check            compare the last surface with that of points which the host has binned\n";

static options read_options(int argc, char **argv)
{
    options o = {.count = 1 << 20, .frames = 8, .samples = 128, .size = 640};
    const struct {
        const char *name;
        uint32_t *number, least, most;
    } numbers[] = {{"--count", &o.count, 1000, 1 << 24},
                   {"--frames", &o.frames, 1, 100000},
                   {"--samples", &o.samples, 16, 512},
                   {"--size", &o.size, 16, 8192}};
    for (int i = 1; i < argc; i++) {
        bool known = false;
        if (!strcmp(argv[i], "--help")) {
            fputs(usage, stdout);
            exit(0);
        }
        if (!strcmp(argv[i], "--check"))
            known = o.check = true;
        if (!strcmp(argv[i], "--output") && i + 1 < argc)
            known = (o.output = argv[++i]) != NULL;
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers && !known; n++) {
            char *end = NULL;
            if (strcmp(argv[i], numbers[n].name) != 0 || i + 1 == argc)
                continue;
            unsigned long number = strtoul(argv[++i], &end, 10);
            known = *end == 0 && number >= numbers[n].least && number <= numbers[n].most;
            *numbers[n].number = (uint32_t)number;
        }
        if (!known) {
            fprintf(stderr, "fluid_surface: '%s' is no option, or has no such value\n%s", argv[i],
                    usage);
            exit(2);
        }
    }
    return o;
}

/* ---- the water ------------------------------------------------------------------------------- */

typedef struct water {
    tml_params params;
    tml_buffer position, velocity, count; /* of the particles in flight */
    tml_buffer mesh[5]; /* vertices, normals, indices, draw arguments, velocities */
    tml_vulkan_memory at[5];
    tml_buffer counts; /* of vertices and triangles */
    tml_field_desc field;
    tml_surface_desc surface;
} water;

/* Room for more than there ever is. The indices are lent at offset 0, as in animated_surface. */
static void make_water(tml_context *tml, renderer *r, const options *o, water *w)
{
    const tml_type vec3_type = TML_VEC(TML_F32, 3);
    const uint64_t n = o->samples, room = 16 * n * n, most = o->count + o->count / 2;
    const double spacing = 2.0 / (double)(n - 1);
    *w = (water){.params = {.f = {1.6f, step},
                            .u = {0, (uint32_t)((float)o->count * step / life) / NOZZLES + 1}}};
    make_indices(r, 2 * room * 12);
    const tml_vulkan_memory indices_at = {r->indices, 0};
    const struct {
        tml_buffer *buffer;
        tml_buffer_desc desc;
    } all[] = {
        {&w->position, {.type = vec3_type, .count = most}},
        {&w->velocity, {.type = vec3_type, .count = most}},
        {&w->count, {.type = TML_U32, .count = 1, .data = &(uint32_t){0}}},
        {&w->mesh[0], {.type = vec3_type, .count = room}},
        {&w->mesh[1], {.type = vec3_type, .count = room}},
        {&w->mesh[2], {.type = TML_VEC(TML_U32, 3), .count = 2 * room, .vulkan = &indices_at}},
        {&w->mesh[3], {.type = TML_U32, .count = 5}},
        {&w->mesh[4], {.type = vec3_type, .count = room}},
        {&w->counts, {.type = TML_U32, .count = 2}}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        MUST(tml_buffer_create(tml, &all[i].desc, all[i].buffer));
    for (int i = 0; i < 5; i++)
        MUST(tml_vulkan_buffer(tml, w->mesh[i], &w->at[i], NULL));
    w->field = (tml_field_desc){.points = w->position,
                                .length = {.device = w->count},
                                .radius = 2.5 * spacing,
                                .grid = {.dims = {n, n, n},
                                         .spacing = {spacing, spacing, spacing},
                                         .origin = {-1, -1, -1}}};
    w->surface = (tml_surface_desc){
        .field = &w->field,
        .iso = 0.5,
        .normals = TML_NORMALS_CENTRAL,
        .mesh = {.positions = w->mesh[0], .normals = w->mesh[1], .indices = w->mesh[2]},
        .counts = w->counts,
        .draw = w->mesh[3]};
}

/* Moves the particles by a time, lets the frame's new ones go, and takes away those that have
 * fallen. */
static void flow(tml_context *tml, water *w)
{
    const tml_length flying = {.device = w->count};
    MUST(tml_map(tml, &(tml_map_desc){.kernel = TML_USE(move),
                                      .params = w->params,
                                      .in = {w->position, w->velocity},
                                      .length = flying,
                                      .out = {w->position, w->velocity}}));
    MUST(tml_expand(tml, &(tml_expand_desc){.count_kernel = TML_USE(births),
                                            .emit_kernel = TML_USE(born),
                                            .params = w->params,
                                            .length = {.count = NOZZLES},
                                            .out = {w->position, w->velocity},
                                            .out_first = w->count,
                                            .total = w->count}));
    MUST(tml_compact(tml, &(tml_compact_desc){
                              .keep = {.kernel = TML_USE(is_above), .in = {w->position}},
                              .payloads = {{w->position, w->position}, {w->velocity, w->velocity}},
                              .length = flying,
                              .count = w->count}));
    w->params.u[0] += NOZZLES * w->params.u[1];
}

static void make_surface(tml_context *tml, const water *w)
{
    MUST(tml_surface_enqueue(tml, &w->surface));
    MUST(tml_field_mean_enqueue(tml, &(tml_field_mean_desc){.field = &w->field,
                                                            .positions = w->mesh[0],
                                                            .length.device = w->counts,
                                                            .values = {w->velocity},
                                                            .means = {w->mesh[4]}}));
}

/* ---- the check ------------------------------------------------------------------------------- */

/* Is there a velocity at each vertex? All particles move. */
static bool all_move(tml_context *tml, const water *w, uint32_t vertices)
{
    tml_vec3 *velocities = malloc(vertices * sizeof *velocities);
    bool all = velocities != NULL;
    MUST(!all || tml_buffer_read_range(tml, w->mesh[4], 0, vertices, velocities));
    for (uint32_t i = 0; i < vertices && all; i++) {
        const tml_vec3 v = velocities[i];
        const float squared = v.x * v.x + v.y * v.y + v.z * v.z;
        all = squared > 0 && squared < 25;
    }
    free(velocities);
    return all;
}

/* Points with radii, of which none is said to be the largest, are binned by the host. */
static bool is_right(tml_context *tml, const water *w)
{
    uint64_t flying;
    uint32_t counts[2];
    MUST(tml_buffer_read_count(tml, w->count, &flying));
    MUST(tml_buffer_read(tml, w->counts, counts));
    const tml_buffer_desc radii = {.type = TML_F32, .count = flying};
    tml_field_desc field = w->field;
    tml_surface_desc whole = {
        .field = &field, .iso = w->surface.iso, .normals = w->surface.normals};
    tml_surface_result mesh;
    MUST(tml_buffer_create(tml, &radii, &field.radii));
    float *all = malloc(flying * sizeof *all);
    for (uint64_t i = 0; all && i < flying; i++)
        all[i] = (float)field.radius;
    MUST(!all || tml_buffer_write(tml, field.radii, 0, flying, all));
    free(all);
    field.radius = 0;
    field.length = tml_length_of(flying);
    MUST(tml_surface(tml, &whole, &mesh));
    printf("%llu particles: %u vertices and %u triangles, by the host %llu and %llu\n",
           (unsigned long long)flying, counts[0], counts[1], (unsigned long long)mesh.vertex_count,
           (unsigned long long)mesh.triangle_count);
    bool right = flying > 0 && counts[0] > 0 && mesh.vertex_count == counts[0] &&
                 mesh.triangle_count == counts[1] && all_move(tml, w, counts[0]);
    tml_surface_free(tml, &mesh);
    tml_buffer_destroy(tml, field.radii);
    return right;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void draw_frames(tml_context *tml, renderer *r, in_flight *f, water *w, uint32_t frames)
{
    for (uint32_t i = 0; i < frames; i++) {
        const view seen = {0.6f + 0.01f * (float)i, (float)r->size.width / (float)r->size.height};
        begin_frame(r, f, i);
        MUST(tml_vulkan_check(tml));
        MUST(tml_vulkan_record(tml, r->commands, NULL, NULL));
        flow(tml, w);
        make_surface(tml, w);
        MUST(tml_vulkan_record_end(tml));
        draw(r, seen, w->at);
        end_frame(r, f, i);
    }
    MUST(vkQueueWaitIdle(r->vulkan.queue));
    MUST(tml_vulkan_check(tml));
}

int main(int argc, char **argv)
{
    const options o = read_options(argc, argv);
    renderer r = {.size = {o.size, o.size * 3 / 4},
                  .vulkan.kernels = fluid_surface_kernels,
                  .vulkan.get_instance_proc_addr = vkGetInstanceProcAddr};
    if (!open_device(&r.vulkan)) {
        puts("no Vulkan device here");
        return 77;
    }
    make_targets(&r);
    make_pipeline(&r);
    make_commands(&r);
    in_flight f;
    make_in_flight(&r, &f);

    tml_context *tml;
    water w;
    MUST(tml_open(&(tml_open_desc){.engine = TML_ENGINE_VULKAN, .vulkan = &r.vulkan}, &tml));
    make_water(tml, &r, &o, &w);
    /* In advance until the first particles have fallen; so recording makes no pipelines and needs
     * no memory. */
    for (float age = 0; age < life; age += step)
        flow(tml, &w);
    make_surface(tml, &w);
    MUST(tml_sync(tml));

    double start = seconds();
    draw_frames(tml, &r, &f, &w, o.frames);
    printf("%u frames: %.2f ms a frame\n", o.frames, 1000 * (seconds() - start) / o.frames);
    const double share = covered(&r);
    printf("the surface covers %.1f%%\n", 100 * share);
    if (o.output)
        save_rendered(tml, o.output, &r, r.pixels);
    const bool right = share > 0.02 && share < 0.9 && (!o.check || is_right(tml, &w));
    tml_close(tml); /* what was lent is still here */
    destroy_in_flight(&r, &f);
    destroy_renderer(&r);
    return right ? 0 : 1;
}
