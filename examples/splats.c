/* Gaussian splats, sorted and drawn anew each frame. Shows tml_params.m, tml_compact, tml_map and
 * tml_sort with a length on the device between tml_vulkan_record and tml_vulkan_record_end, and
 * tml_vulkan_indirect.
 *
 * Each frame is one command buffer, three of which are in flight. A kernel keeps the splats that
 * the camera sees, another finds their depths, a sort orders them from back to front, and an
 * indirect draw blends as many as there are, one over another. Nothing is read back but the last
 * picture. The splats are round; stretched ones differ in the vertex shader alone. After: Kerbl,
 * Kopanas, Leimkuehler, Drettakis: 3D Gaussian Splatting for Real-Time Radiance Field Rendering.
 * 2023.
 *
 *     splats [--count N] [--frames N] [--size N] [--output FILE.png] [--check] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <trommel/pictures.h>
#include <trommel/trommel.h>
#include <trommel/vulkan.h>

#include "splats_draw.h"

#include <trommel/kernel_begin.h>
/* A splat: its centre, and a standard deviation. p.f: the focal lengths across and down, the least
 * depth. */
TML_KERNEL(bool, is_seen, (vec4 splat, tml_params p), {
    vec4 at = transform4(p.m, VEC4(splat.x, splat.y, splat.z, 1.0f));
    float reach = 3.0f * splat.w;
    return at.w > p.f[2] && abs(at.x) < at.w + reach * p.f[0] && abs(at.y) < at.w + reach * p.f[1];
})
TML_KERNEL(float, depth_of, (uint number, tml_words splats, tml_params p), {
    vec4 splat = tml_word_vec4(splats, number);
    return transform4(p.m, VEC4(splat.x, splat.y, splat.z, 1.0f)).w;
})
#include <trommel/kernel_end.h>

/* Made by trommel_add_kernels(splats). */
extern const tml_vulkan_kernel splats_kernels[];

typedef struct options {
    uint32_t count, frames, size;
    const char *output;
    bool check;
} options;

static const char usage[] =
    "splats [options]: sorts Gaussian splats by depth each frame and draws them, on Vulkan\n"
    "  --count N          splats, 1 to 67108864; default 4194304\n"
    "  --frames N         1 to 100000; default 60\n"
    "  --size N           the picture's width, 16 to 8192; default 960. Its height is 3/4 of that\n"
    "  --output FILE.png  the last frame's picture; default: not written\n"
    "  --check            compare the picture with one that the CPU composites; for few splats\n";

static options read_options(int argc, char **argv)
{
    options o = {.count = 1 << 22, .frames = 60, .size = 960};
    const struct {
        const char *name;
        uint32_t *number, least, most;
    } numbers[] = {{"--count", &o.count, 1, 1 << 26},
                   {"--frames", &o.frames, 1, 100000},
                   {"--size", &o.size, 16, 8192}};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        bool known = false;
        if (!strcmp(argv[i], "--help")) {
            fputs(usage, stdout);
            exit(0);
        }
        if (!strcmp(argv[i], "--check"))
            known = o.check = true;
        if (!strcmp(argv[i], "--output") && *value) {
            o.output = argv[++i];
            known = true;
        }
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers && !known; n++) {
            char *end;
            unsigned long number = strtoul(value, &end, 10);
            if (strcmp(argv[i], numbers[n].name) != 0)
                continue;
            if (*value < '0' || *value > '9' || *end || number < numbers[n].least ||
                number > numbers[n].most) {
                fprintf(stderr, "splats: %s is '%s', needs %u to %u\n", argv[i], value,
                        numbers[n].least, numbers[n].most);
                exit(2);
            }
            *numbers[n].number = (uint32_t)number;
            known = true;
            i++;
        }
        if (!known) {
            fprintf(stderr, "splats: '%s' is no option, or has no value\n%s", argv[i], usage);
            exit(2);
        }
    }
    return o;
}

/* ---- the scene ------------------------------------------------------------------------------- */

typedef struct scene {
    uint32_t count;
    tml_vec4 *places;  /* centre and standard deviation */
    tml_vec4 *colours; /* and opacity */
} scene;

/* A galaxy of two arms. */
static scene make_scene(uint32_t count)
{
    scene s = {count, malloc(count * sizeof(tml_vec4)), malloc(count * sizeof(tml_vec4))};
    if (!s.places || !s.colours) {
        fputs("splats: out of memory\n", stderr);
        exit(1);
    }
    const float size = 0.7f / cbrtf((float)count);
    for (uint32_t i = 0; i < count; i++) {
        float r[8];
        for (uint32_t k = 0; k < 8; k++)
            r[k] = tml_random_float(i, k);
        float away = sqrtf(r[0]), turn = 3.1415927f * (float)(i & 1) + 5 * away + r[1] * r[1] * 2;
        float high = 0.25f * (1 - away) * (r[2] + r[3] + r[4] - 1.5f);
        s.places[i] = (tml_vec4){away * cosf(turn), high, away * sinf(turn), size * (0.5f + r[5])};
        s.colours[i] = (tml_vec4){1 - 0.6f * away, 0.75f - 0.3f * r[6], 0.35f + 0.65f * away,
                                  0.2f + 0.7f * r[7]};
    }
    return s;
}

/* The matrix of a camera that looks at the middle from all around, column by column, for Vulkan: y
 * is down, depth 0 to 1. */
static view camera(float turn, float aspect)
{
    const float focal = 1.8f, away = 2.2f, tilt = 0.5f, near = 0.1f, far = 10;
    const float c = cosf(turn), s = sinf(turn), u = cosf(tilt), v = sinf(tilt);
    const float rows[3][4] = {
        {c, 0, s, 0}, {-v * s, u, v * c, 0}, {-u * s, -v, u * c, away}}; /* right, up, ahead */
    view out = {.focal = {focal / aspect, focal}};
    for (int k = 0; k < 4; k++) {
        out.clip[4 * k] = out.focal[0] * rows[0][k];
        out.clip[4 * k + 1] = -out.focal[1] * rows[1][k];
        out.clip[4 * k + 2] = far / (far - near) * (rows[2][k] - (k == 3 ? near : 0));
        out.clip[4 * k + 3] = rows[2][k];
    }
    return out;
}

/* ---- the check ------------------------------------------------------------------------------- */

typedef struct drawn {
    double x, y, depth; /* x and y in pixels */
    double across, down;
    uint32_t splat;
} drawn;

static int by_depth(const void *a, const void *b)
{
    double x = ((const drawn *)a)->depth, y = ((const drawn *)b)->depth;
    return (x < y) - (x > y);
}

static void composite(const scene *s, const drawn *d, VkExtent2D size, double *picture)
{
    const tml_vec4 colour = s->colours[d->splat];
    const double rgb[3] = {(double)colour.x, (double)colour.y, (double)colour.z};
    for (uint32_t row = 0; row < size.height; row++)
        for (uint32_t column = 0; column < size.width; column++) {
            double x = (column + 0.5 - d->x) / d->across, y = (row + 0.5 - d->y) / d->down;
            if (x * x + y * y > 9)
                continue;
            double alpha = (double)colour.w * exp(-0.5 * (x * x + y * y));
            double *pixel = picture + 3 * ((size_t)row * size.width + column);
            for (int k = 0; k < 3; k++)
                pixel[k] = pixel[k] * (1 - alpha) + rgb[k] * alpha;
        }
}

/* The picture by the definition: from back to front, or the other way round. */
static double *reference(const scene *s, const view *seen, VkExtent2D size, bool backwards)
{
    drawn *all = malloc(s->count * sizeof *all);
    double *picture = calloc((size_t)size.width * size.height, 3 * sizeof *picture);
    if (!all || !picture)
        exit(1);
    for (uint32_t i = 0; i < s->count; i++) {
        const double p[4] = {(double)s->places[i].x, (double)s->places[i].y, (double)s->places[i].z,
                             1};
        double at[4] = {0};
        for (int k = 0; k < 16; k++)
            at[k % 4] += (double)seen->clip[k] * p[k / 4];
        all[i] = (drawn){(at[0] / at[3] + 1) / 2 * size.width,
                         (at[1] / at[3] + 1) / 2 * size.height,
                         at[3],
                         (double)(s->places[i].w * seen->focal[0]) / at[3] / 2 * size.width,
                         (double)(s->places[i].w * seen->focal[1]) / at[3] / 2 * size.height,
                         i};
    }
    qsort(all, s->count, sizeof *all, by_depth);
    for (uint32_t i = 0; i < s->count; i++)
        composite(s, &all[backwards ? s->count - 1 - i : i], size, picture);
    free(all);
    return picture;
}

static double difference(const double *a, const double *b, size_t count, double *largest)
{
    double sum = 0;
    *largest = 0;
    for (size_t i = 0; i < count; i++) {
        sum += fabs(a[i] - b[i]);
        *largest = fmax(*largest, fabs(a[i] - b[i]));
    }
    return sum / (double)count;
}

/* Halves keep 11 bits of each sum, and the edge of a splat, of opacity 0.01, may fall to either
 * side of a pixel's middle. Another order differs far more. */
static bool is_right(const scene *s, const view *seen, VkExtent2D size, const double *picture)
{
    const size_t count = (size_t)size.width * size.height * 3;
    double *right = reference(s, seen, size, false), *wrong = reference(s, seen, size, true);
    double largest, other;
    double mean = difference(picture, right, count, &largest);
    double of_wrong = difference(wrong, right, count, &other);
    printf("differs from the reference by %.5f on average, %.5f at most; the other order by %.5f\n",
           mean, largest, of_wrong);
    free(right);
    free(wrong);
    return mean < 0.002 && largest < 0.02 && of_wrong > 10 * 0.002;
}

static double half(uint16_t bits)
{
    double value = ldexp(bits & 0x3ff, -24);
    if (bits & 0x7c00)
        value = ldexp(1024 + (bits & 0x3ff), (bits >> 10 & 31) - 25);
    return bits & 0x8000 ? -value : value;
}

/* ---- frames ---------------------------------------------------------------------------------- */

typedef struct frame {
    tml_buffer places, colours, seen, seen_count, depths, order, arguments;
} frame;

static frame make_buffers(tml_context *tml, const scene *s)
{
    frame f;
    const struct {
        tml_buffer *buffer;
        tml_type type;
        uint64_t count;
        const void *data;
    } all[] = {{&f.places, TML_VEC(TML_F32, 4), s->count, s->places},
               {&f.colours, TML_VEC(TML_F32, 4), s->count, s->colours},
               {&f.seen, TML_U32, s->count, NULL},
               {&f.seen_count, TML_U32, 1, NULL},
               {&f.depths, TML_F32, s->count, NULL},
               {&f.order, TML_U32, s->count, NULL},
               {&f.arguments, TML_U32, 4, NULL}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        MUST(tml_buffer_create(
            tml,
            &(tml_buffer_desc){.type = all[i].type, .count = all[i].count, .data = all[i].data},
            all[i].buffer));
    return f;
}

/* The splats that the camera sees, from back to front, and the arguments of a draw of as many. */
static void order_splats(tml_context *tml, const frame *f, const view *seen)
{
    tml_params params = {.f = {seen->focal[0], seen->focal[1], 0.1f}};
    memcpy(params.m, seen->clip, sizeof params.m);
    const tml_length length = {.device = f->seen_count};
    MUST(tml_compact(tml,
                     &(tml_compact_desc){
                         .keep = {.kernel = TML_USE(is_seen), .params = params, .in = {f->places}},
                         .indices = f->seen,
                         .count = f->seen_count}));
    MUST(tml_map(tml, &(tml_map_desc){.kernel = TML_USE(depth_of),
                                      .params = params,
                                      .in = {f->seen, f->places},
                                      .length = length,
                                      .out = {f->depths}}));
    MUST(tml_sort(tml, &(tml_sort_desc){.keys = f->depths,
                                        .length = length,
                                        .descending = true,
                                        .payloads = {{f->seen, f->order}}}));
    MUST(tml_vulkan_indirect(tml, &(tml_vulkan_indirect_desc){.kind = TML_VULKAN_INDIRECT_INSTANCES,
                                                              .count = f->seen_count,
                                                              .group = 4,
                                                              .out = f->arguments}));
}

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Records and submits frames, and waits only for a command buffer to come free. Returns the last
 * one's view. */
static view draw_frames(tml_context *tml, const renderer *r, const frame *f, uint32_t frames)
{
    const VkDevice device = r->vulkan.device;
    tml_vulkan_memory arguments;
    view addresses = {.focal = {0}}, seen = addresses;
    MUST(tml_vulkan_buffer(tml, f->arguments, &arguments, NULL));
    MUST(tml_vulkan_buffer(tml, f->order, NULL, &addresses.order));
    MUST(tml_vulkan_buffer(tml, f->places, NULL, &addresses.places));
    MUST(tml_vulkan_buffer(tml, f->colours, NULL, &addresses.colours));
    for (uint32_t i = 0; i < frames; i++) {
        const VkCommandBuffer commands = r->commands[i % IN_FLIGHT];
        const VkFence done = r->done[i % IN_FLIGHT];
        const VkCommandBufferBeginInfo begin = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
        seen = camera(0.4f + 6.2831853f * (float)i / (float)frames,
                      (float)r->size.width / (float)r->size.height);
        seen.order = addresses.order;
        seen.places = addresses.places;
        seen.colours = addresses.colours;
        MUST(vkWaitForFences(device, 1, &done, VK_TRUE, UINT64_MAX));
        MUST(vkResetFences(device, 1, &done));
        MUST(tml_vulkan_check(tml));
        MUST(vkBeginCommandBuffer(commands, &begin));
        MUST(tml_vulkan_record(tml, commands, NULL, NULL));
        order_splats(tml, f, &seen);
        MUST(tml_vulkan_record_end(tml));
        draw(r, commands, &seen, &arguments);
        if (i + 1 == frames)
            copy_picture(r, commands);
        MUST(vkEndCommandBuffer(commands));
        const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                     .commandBufferCount = 1,
                                     .pCommandBuffers = &commands};
        MUST(vkQueueSubmit(r->vulkan.queue, 1, &submit, done));
    }
    MUST(vkQueueWaitIdle(r->vulkan.queue));
    MUST(tml_vulkan_check(tml));
    return seen;
}

static void save(tml_context *tml, const char *path, VkExtent2D size, const double *picture)
{
    const size_t count = (size_t)size.width * size.height;
    uint8_t *rgba = malloc(4 * count);
    if (!rgba)
        exit(1);
    for (size_t i = 0; i < 4 * count; i++)
        rgba[i] = i % 4 == 3 ? 255 : (uint8_t)(255 * fmin(picture[3 * (i / 4) + i % 4], 1) + 0.5);
    if (tml_picture_save(tml, path,
                         &(tml_picture){.data = rgba,
                                        .type = TML_U8,
                                        .width = size.width,
                                        .height = size.height,
                                        .channels = 4,
                                        .srgb = true}) != TML_OK) {
        fprintf(stderr, "splats: %s\n", tml_last_error(tml));
        exit(1);
    }
    free(rgba);
}

int main(int argc, char **argv)
{
    const options o = read_options(argc, argv);
    renderer r = {.size = {o.size, o.size * 3 / 4},
                  .vulkan.kernels = splats_kernels,
                  .vulkan.get_instance_proc_addr = vkGetInstanceProcAddr};
    if (!open_device(&r.vulkan)) {
        puts("no Vulkan device here");
        return 77;
    }
    make_image(&r);
    make_pass(&r);
    make_pipeline(&r);
    make_frames(&r);

    tml_context *tml;
    scene s = make_scene(o.count);
    MUST(tml_open(&(tml_open_desc){.engine = TML_ENGINE_VULKAN, .vulkan = &r.vulkan}, &tml));
    const frame f = make_buffers(tml, &s);
    /* Once in advance, so that recording makes no pipelines and needs no memory. */
    const view first = camera(0, 1);
    order_splats(tml, &f, &first);
    MUST(tml_sync(tml));

    double start = seconds();
    const view seen = draw_frames(tml, &r, &f, o.frames);
    printf("%u splats, %u frames: %.2f ms a frame\n", o.count, o.frames,
           1000 * (seconds() - start) / o.frames);

    const size_t pixels = (size_t)r.size.width * r.size.height;
    double *picture = malloc(3 * pixels * sizeof *picture);
    if (!picture)
        return 1;
    for (size_t i = 0; i < 3 * pixels; i++)
        picture[i] = half(r.pixels[4 * (i / 3) + i % 3]);
    if (o.output)
        save(tml, o.output, r.size, picture);
    bool right = !o.check || is_right(&s, &seen, r.size, picture);
    free(picture);
    free(s.places);
    free(s.colours);
    tml_close(tml); /* what was lent is still here */
    destroy_renderer(&r);
    return right ? 0 : 1;
}
