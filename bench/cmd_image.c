/* trommel-bench image: measuring, tone-mapping and mip chains of pictures, compared with reading
 * them. */
#include "bench_beside.h"
#include "bench_commands.h"
#include "bench_image.h"

#include <math.h>

typedef struct image_args {
    bench_args bench;
    uint32_t type;    /* position in types; 0: both types of measuring */
    uint32_t size[2]; /* 0: not given */
} image_args;

static const tml_type types[] = {TML_TYPE_NONE, TML_F16, TML_F32, TML_U8};

static const char *parse_size(const char *text, void *member)
{
    uint32_t *size = member;
    double sides[2];
    if (opt_numbers_split(text, 'x', sides, 2) != 2)
        return "width x height, such as 1200x900";
    for (int i = 0; i < 2; i++) {
        if (!(sides[i] >= 1 && sides[i] <= 32768))
            return "width x height, each from 1 to 32768";
        size[i] = (uint32_t)sides[i];
    }
    return NULL;
}

static const opt image_options[] = {
    {OPT_SECTION, .help = "Input"},
    {OPT_CHOICE, "type", .choices = "auto|f16|f32|u8", .fallback = "auto",
     .offset = offsetof(image_args, type),
     .help = "channels: f16 and f32 are measured and tone-mapped, f16 and u8 become mip chains; "
             "auto: all"},
    {OPT_CUSTOM, "size", .brief = "width and height", .argument = "WxH", .parse = parse_size,
     .offset = offsetof(image_args, size),
     .help = "in pixels (default: 3840x2160 and 7680x4320; mip chains: 4096x4096, 1920x1080, "
             "1919x1079)"},
    BENCH_OPTIONS(image_args),
    {0},
};

static const bench_column columns[] = {
    BENCH_COPY_COLUMNS,
    BENCH_COLUMN("plain_s", "loop ms", 1e3),
    BENCH_COLUMN("driver_s", "driver ms", 1e3),
    BENCH_COLUMN("stops_off", "stops off", 1),
    BENCH_COLUMN("driver_stops_off", "driver's", 1),
    {0},
};

static void measure(bench_session *session, const bench_image_desc *desc)
{
    bench_image image;
    bench_beside times = {.peer_s = 0};
    double values[BENCH_MAX_COLUMNS];
    char name[64];
    snprintf(name, sizeof name, "%s, %u x %u %s", bench_image_name(desc->kind), desc->width,
             desc->height, tml_type_name(desc->type));
    if (!bench_begins(&session->pace, name))
        return;
    tml_status status = bench_image_create(session->tml, desc, &image);
    if (!status)
        status = bench_image_check(&image);
    const bench_job own = {.name = name, .run = bench_image_run, .user = &image};
    bool has_driver = !status && bench_image_has_driver(&image);
    const bench_job plain = {.name = "plain loop", .run = bench_image_run_plain, .user = &image};
    const bench_job driver = {.name = "the driver's chain",
                              .run = bench_image_run_driver,
                              .user = &image,
                              .device = session->tml};
    const bench_job *peer = has_driver ? &driver : bench_image_has_plain(desc) ? &plain : NULL;
    if (!status)
        status = bench_beside_copy(session, own, peer, image.bytes, &times);
    bench_copy_values(&times, image.bytes, values);
    double *more = values + BENCH_COPY_COLUMN_COUNT;
    more[0] = times.peer_s > 0 && !has_driver ? times.peer_s : NAN;
    more[1] = times.peer_s > 0 && has_driver ? times.peer_s : NAN;
    more[2] = image.stops_off;
    more[3] = image.driver_stops_off;
    bench_row(session, name, status, values);
    bench_image_destroy(&image);
}

static bool is_wanted(const image_args *args, tml_type type)
{
    return args->type == 0 || types[args->type] == type;
}

/* Mip chains of three sizes: with sides that are powers of two, usual, and odd at every level. */
static void measure_chains(bench_session *session, const image_args *args)
{
    static const uint32_t usual[][2] = {{4096, 4096}, {1920, 1080}, {1919, 1079}};
    static const tml_type of[] = {TML_U8, TML_F16};
    bool is_given = args->size[0] > 0;
    for (int s = 0; s < (is_given ? 1 : 3); s++)
        for (int t = 0; t < 2; t++) {
            const uint32_t *size = is_given ? args->size : usual[s];
            if (is_wanted(args, of[t]) && (size[0] > 1 || size[1] > 1))
                measure(session, &(bench_image_desc){BENCH_IMAGE_MIPS, of[t], size[0], size[1]});
        }
    for (bench_image_kind kind = 0; kind < BENCH_IMAGE_KIND_COUNT; kind++)
        if ((kind == BENCH_IMAGE_KAISER || kind == BENCH_IMAGE_READ) && is_wanted(args, TML_U8))
            measure(session, &(bench_image_desc){kind, TML_U8, is_given ? args->size[0] : 4096,
                                                 is_given ? args->size[1] : 4096});
}

static bool is_vulkan(const tml_context *tml)
{
    tml_device_info device;
    tml_context_describe(tml, &device);
    return device.engine == TML_ENGINE_VULKAN;
}

static int run_image(void *user, char **operands, uint32_t operand_count)
{
    static const uint32_t usual[][2] = {{3840, 2160}, {7680, 4320}};
    static const bench_image_kind of_floats[] = {
        BENCH_IMAGE_LOG, BENCH_IMAGE_TEXTURE, BENCH_IMAGE_MEAN, BENCH_IMAGE_HISTOGRAM,
        BENCH_IMAGE_ALL, BENCH_IMAGE_TONEMAP, BENCH_IMAGE_AGX,  BENCH_IMAGE_READ};
    const image_args *args = user;
    static bench_session session;
    (void)operands, (void)operand_count;
    if (!bench_open(&session, &args->bench, "image", columns))
        return session.code;
    bool is_given = args->size[0] > 0;
    bench_title(&session, "random pictures of four channels");
    for (int s = 0; s < (is_given ? 1 : 2); s++)
        for (uint32_t type = 1; type <= 2; type++)
            for (uint32_t k = 0; k < sizeof of_floats / sizeof *of_floats; k++) {
                const uint32_t *size = is_given ? args->size : usual[s];
                bool is_there = of_floats[k] != BENCH_IMAGE_TEXTURE || is_vulkan(session.tml);
                if (is_there && is_wanted(args, types[type]))
                    measure(&session,
                            &(bench_image_desc){of_floats[k], types[type], size[0], size[1]});
            }
    measure_chains(&session, args);
    return bench_close(&session);
}

const cli_command bench_cmd_image = {
    {"image", "", "Measures what is done to pictures as shares of a copy's speed",
     "Means, histograms, tone curves and mip chains; on Vulkan means of images, too. A picture's "
     "means have a peer on the CPU: what the compiler makes of a plain loop with -ffast-math (gcc: "
     "with glibc's vector log2f). Mip chains have one on GPUs: the driver's own, glGenerateMipmap "
     "or "
     "blits; beside stands how many stops the last level of each is off the exact mean.",
     "trommel-bench image --backend vulkan\n"
     "  what a frame that meters itself costs on a GPU\n",
     image_options, .without = OPT_MEMORY},
    .args_size = sizeof(image_args),
    .run = run_image};
