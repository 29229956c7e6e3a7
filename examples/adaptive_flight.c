/* Flies around a torus that is subdivided for each frame, so that no edge on the picture is longer
 * than some pixels. Shows tml_subdivide_adaptive_enqueue between tml_vulkan_record and
 * tml_vulkan_record_end.
 *
 * Each frame is one command buffer, three of which are in flight. A kernel writes the frame's
 * camera, the mesh is subdivided by it, and a render pass draws vertices, normals, indices and the
 * arguments of an indirect draw where they are. The host learns neither how many triangles there
 * are nor whether they had room, until it asks at the end. The pass is that of animated_surface.
 *
 *     adaptive_flight [--around N] [--across N] [--pixels N] [--depth N] [--room N] [--frames N]
 *     [--size N]
 *                     [--output FILE.png] [--check] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <trommel/trommel.h>
#include <trommel/vulkan.h>

#include "animated_surface_draw.h"

#include <trommel/kernel_begin.h>
/* clang-format off */
/* Float i of the camera of animated_surface.vert. p.f: its angle; the picture's width and
 * height. */
TML_KERNEL(float, camera_float, (tml_index i, tml_params p), {
    float c = cos(p.f[0]);
    float s = sin(p.f[0]);
    float tilt_c = cos(0.45f);
    float tilt_s = sin(0.45f);
    float focal = 3.6f;
    uint row = U(i) / 4u;
    uint column = U(i) % 4u;
    vec4 r = VEC4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row == 0u)
        r = VEC4(c * focal * p.f[2] / p.f[1], -s * focal * p.f[2] / p.f[1], 0.0f, 0.0f);
    if (row == 1u)
        r = VEC4(-tilt_s * s * focal, -tilt_s * c * focal, -tilt_c * focal, 0.0f);
    if (row == 3u)
        r = VEC4(tilt_c * s, tilt_c * c, -tilt_s, 4.0f);
    if (row == 4u)
        r = VEC4(p.f[1], p.f[2], 0.1f, 0.0f);
    return column == 0u ? r.x : column == 1u ? r.y : column == 2u ? r.z : r.w;
})
/* clang-format on */
#include <trommel/kernel_end.h>

/* Made by trommel_add_kernels(adaptive_flight). */
extern const tml_vulkan_kernel adaptive_flight_kernels[];

typedef struct options {
    uint32_t around, across, pixels, depth, room, frames, size;
    const char *output;
    bool check;
} options;

static const char usage[] =
    "adaptive_flight [options]: flies around a torus that is subdivided as seen, on Vulkan\n"
    "  --around N         squares around the torus, 3 to 4096; default 384\n"
    "  --across N         squares across its tube, 3 to 4096; default 128\n"
    "  --pixels N         the longest edge, 1 to 1000; default 8\n"
    "  --depth N          levels, 1 to 12; default 3\n"
    "  --room N           triangles that there is room for, 64 to 16777216; default 1000000\n"
    "  --frames N         1 to 100000; default 8\n"
    "  --size N           the picture's width, 16 to 8192; default 2200. Its height is 3/4 of "
    "that\n"
    "  --output FILE.png  the last frame's picture; default: not written\n"
    "  --check            compare the last mesh with that of the call that waits\n";

static options read_options(int argc, char **argv)
{
    options o = {.around = 384,
                 .across = 128,
                 .pixels = 8,
                 .depth = 3,
                 .room = 1000000,
                 .frames = 8,
                 .size = 2200};
    const struct {
        const char *name;
        uint32_t *number, least, most;
    } numbers[] = {{"--around", &o.around, 3, 4096}, {"--across", &o.across, 3, 4096},
                   {"--pixels", &o.pixels, 1, 1000}, {"--depth", &o.depth, 1, 12},
                   {"--room", &o.room, 64, 1 << 24}, {"--frames", &o.frames, 1, 100000},
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
            fprintf(stderr, "adaptive_flight: '%s' is no option, or has no such value\n%s", argv[i],
                    usage);
            exit(2);
        }
    }
    return o;
}

/* ---- the mesh -------------------------------------------------------------------------------- */

/* A torus about the z axis, its points moved a little, each triangle counter-clockwise seen from
 * outside. */
static tml_subdivider *make_torus(tml_context *tml, const options *o)
{
    const uint64_t count = (uint64_t)o->around * o->across;
    float *points = malloc(3 * count * sizeof *points);
    uint32_t *corners = malloc(6 * count * sizeof *corners);
    if (!points || !corners)
        exit(1);
    for (uint32_t i = 0; i < o->around; i++)
        for (uint32_t j = 0; j < o->across; j++) {
            const uint32_t at = i * o->across + j, next = (i + 1) % o->around * o->across;
            const uint32_t up = (j + 1) % o->across;
            const uint32_t square[6] = {at, next + j, next + up, at, next + up, i * o->across + up};
            double u = 6.283185307179586 * i / o->around, v = 6.283185307179586 * j / o->across;
            double tube = 0.3 + 0.02 * sin(9 * u) * cos(3 * v), ring = 0.95 + tube * cos(v);
            points[3 * at] = (float)(ring * cos(u));
            points[3 * at + 1] = (float)(ring * sin(u));
            points[3 * at + 2] = (float)(tube * sin(v));
            memcpy(corners + 6 * at, square, sizeof square);
        }
    const tml_buffer_desc buffers[2] = {
        {.type = TML_VEC(TML_F32, 3), .count = count, .data = points},
        {.type = TML_VEC(TML_U32, 3), .count = 2 * count, .data = corners}};
    tml_subdivider_desc desc = {.boundary = TML_BOUNDARY_EDGE_ONLY};
    tml_subdivider *torus;
    MUST(tml_buffer_create(tml, &buffers[0], &desc.mesh.positions));
    MUST(tml_buffer_create(tml, &buffers[1], &desc.mesh.indices));
    MUST(tml_subdivider_create(tml, &desc, &torus));
    tml_buffer_destroy(tml, desc.mesh.positions);
    tml_buffer_destroy(tml, desc.mesh.indices);
    free(points);
    free(corners);
    return torus;
}

typedef struct flight {
    tml_subdivider *torus;
    tml_vulkan_memory at[4]; /* vertices, normals, indices, draw arguments */
    tml_subdivide_adaptive_desc what;
} flight;

/* The indices are lent at offset 0, as in animated_surface. A closed mesh has half as many vertices
 * as triangles, and has an eighth of them more here. */
static void make_flight(tml_context *tml, renderer *r, const options *o, flight *f)
{
    const tml_type vec3_type = TML_VEC(TML_F32, 3);
    const uint64_t vertices = (uint64_t)o->room / 2 + o->room / 8;
    make_indices(r, (VkDeviceSize)12 * o->room);
    const tml_vulkan_memory indices_at = {r->indices, 0};
    *f = (flight){.torus = make_torus(tml, o),
                  .what = {.criterion = TML_SPLIT_PIXELS,
                           .threshold = (float)o->pixels,
                           .max_depth = o->depth,
                           .normals = true}};
    tml_mesh_buffers *to = &f->what.buffers.mesh;
    const struct {
        tml_buffer *buffer;
        tml_buffer_desc desc;
    } all[] = {
        {&to->positions, {.type = vec3_type, .count = vertices}},
        {&to->normals, {.type = vec3_type, .count = vertices}},
        {&to->indices, {.type = TML_VEC(TML_U32, 3), .count = o->room, .vulkan = &indices_at}},
        {&f->what.draw, {.type = TML_U32, .count = 5}},
        {&f->what.counts, {.type = TML_U32, .count = 3}},
        {&f->what.camera_buffer, {.type = TML_F32, .count = TML_SUBDIVIDE_CAMERA_FLOATS}}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        MUST(tml_buffer_create(tml, &all[i].desc, all[i].buffer));
    for (int i = 0; i < 4; i++)
        MUST(tml_vulkan_buffer(tml, *all[i].buffer, &f->at[i], NULL));
}

static void subdivide(tml_context *tml, const renderer *r, const flight *f, view seen)
{
    MUST(tml_map(tml, &(tml_map_desc){.kernel = TML_USE(camera_float),
                                      .params = {.f = {seen.angle, (float)r->size.width,
                                                       (float)r->size.height}},
                                      .length = {.count = TML_SUBDIVIDE_CAMERA_FLOATS},
                                      .out = {f->what.camera_buffer}}));
    MUST(tml_subdivide_adaptive_enqueue(f->torus, &f->what));
}

/* ---- the check ------------------------------------------------------------------------------- */

/* Is the last frame's mesh that of tml_subdivide_adaptive? */
static bool is_right(tml_context *tml, const flight *f, const uint32_t counts[3])
{
    float camera[TML_SUBDIVIDE_CAMERA_FLOATS];
    tml_subdivide_adaptive_desc waiting = f->what;
    tml_subdivide_result mesh;
    MUST(tml_buffer_read(tml, f->what.camera_buffer, camera));
    memcpy(waiting.camera.matrix, camera, sizeof waiting.camera.matrix);
    waiting.camera.width = (uint32_t)camera[16];
    waiting.camera.height = (uint32_t)camera[17];
    waiting.camera.nearest = camera[18];
    waiting.buffers = (tml_subdivide_buffers){.origins = {0, 0}};
    waiting.camera_buffer = waiting.counts = waiting.draw = (tml_buffer){0, 0};
    MUST(tml_subdivide_adaptive(f->torus, &waiting, &mesh));
    printf("%llu vertices and %llu triangles by the call that waits\n",
           (unsigned long long)mesh.vertex_count, (unsigned long long)mesh.triangle_count);
    bool right = mesh.vertex_count == counts[0] && mesh.triangle_count == counts[1];
    const size_t size = right ? 12 * (size_t)counts[1] : 0;
    uint8_t *mine = malloc(size + 1), *theirs = malloc(size + 1);
    right = right && mine && theirs;
    if (right) {
        MUST(tml_buffer_read_range(tml, f->what.buffers.mesh.indices, 0, counts[1], mine));
        MUST(tml_buffer_read_range(tml, mesh.buffers.mesh.indices, 0, counts[1], theirs));
        right = memcmp(mine, theirs, size) == 0;
    }
    free(mine);
    free(theirs);
    tml_subdivide_free(tml, &mesh);
    return right;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static view view_of(const renderer *r, uint32_t frame)
{
    return (view){0.6f + 0.01f * (float)frame, (float)r->size.width / (float)r->size.height};
}

static void draw_frames(tml_context *tml, renderer *r, in_flight *all, const flight *f,
                        uint32_t frames)
{
    for (uint32_t i = 0; i < frames; i++) {
        begin_frame(r, all, i);
        MUST(tml_vulkan_check(tml));
        MUST(tml_vulkan_record(tml, r->commands, NULL, NULL));
        subdivide(tml, r, f, view_of(r, i));
        MUST(tml_vulkan_record_end(tml));
        draw(r, view_of(r, i), f->at);
        end_frame(r, all, i);
    }
    MUST(vkQueueWaitIdle(r->vulkan.queue));
    MUST(tml_vulkan_check(tml));
}

int main(int argc, char **argv)
{
    const options o = read_options(argc, argv);
    renderer r = {.size = {o.size, o.size * 3 / 4},
                  .vulkan.kernels = adaptive_flight_kernels,
                  .vulkan.get_instance_proc_addr = vkGetInstanceProcAddr};
    if (!open_device(&r.vulkan)) {
        puts("no Vulkan device here");
        return 77;
    }
    make_targets(&r);
    make_pipeline(&r);
    make_commands(&r);
    in_flight all;
    make_in_flight(&r, &all);

    tml_context *tml;
    flight f;
    uint32_t counts[3];
    MUST(tml_open(&(tml_open_desc){.engine = TML_ENGINE_VULKAN, .vulkan = &r.vulkan}, &tml));
    make_flight(tml, &r, &o, &f);
    /* In advance; so recording makes no pipelines and needs no memory. */
    tml_prepared prepared;
    MUST(tml_prepare_begin(tml));
    MUST(tml_subdivide_adaptive_enqueue(f.torus, &f.what));
    MUST(tml_prepare_end(tml, &prepared));
    MUST(tml_reserve(tml, prepared.scratch_size));
    subdivide(tml, &r, &f, view_of(&r, 0));
    MUST(tml_sync(tml));

    double start = seconds();
    draw_frames(tml, &r, &all, &f, o.frames);
    printf("%u frames: %.2f ms a frame\n", o.frames, 1000 * (seconds() - start) / o.frames);
    MUST(tml_buffer_read(tml, f.what.counts, counts));
    const double share = covered(&r);
    printf("%u vertices and %u triangles%s cover %.1f%%\n", counts[0], counts[1],
           counts[2] ? ", for which there is too little room," : "", 100 * share);
    if (o.output)
        save_rendered(tml, o.output, &r, r.pixels);
    const bool right =
        share > 0.02 && share < 0.95 && !counts[2] && (!o.check || is_right(tml, &f, counts));
    tml_subdivider_destroy(tml, f.torus);
    tml_close(tml); /* what was lent is still here */
    destroy_in_flight(&r, &all);
    destroy_renderer(&r);
    return right ? 0 : 1;
}
