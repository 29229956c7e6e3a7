/* Images of the caller's as pictures on Vulkan: every format measures and halves to the bits of an
 * f32 buffer of what the device decodes, also in frames that are submitted again; bad textures are
 * refused. With a validation layer, where there is one, which must have nothing to say. */
#include <trommel/trommel.h>
#include <trommel/vulkan.h>

#include "core/core_internal.h"
#include "test.h"

#include "contexts.h"
#include "vulkan_host.h"

#include "vulkan_images.h"

static const VkImageLayout READ_ONLY = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;

/* ---- contexts -------------------------------------------------------------------------------- */

static uint64_t allocations;
static bool is_out_of_memory;

static void *picky_alloc(void *user, size_t size, size_t alignment)
{
    return is_out_of_memory ? NULL : counted_alloc(user, size, alignment);
}

static tml_context *open_lent(void)
{
    return host_lend((tml_allocator){picky_alloc, counted_free, &allocations});
}

/* ---- texels ---------------------------------------------------------------------------------- */

typedef struct format {
    const char *name;
    VkFormat format;
    uint32_t size, components;
} format;

static const format formats[] = {
    {"RGBA16F", VK_FORMAT_R16G16B16A16_SFLOAT, 8, 4},
    {"RGBA32F", VK_FORMAT_R32G32B32A32_SFLOAT, 16, 4},
    {"R11G11B10F", VK_FORMAT_B10G11R11_UFLOAT_PACK32, 4, 3},
    {"RGB10A2", VK_FORMAT_A2B10G10R10_UNORM_PACK32, 4, 4},
    {"RGBA8", VK_FORMAT_R8G8B8A8_UNORM, 4, 4},
    {"RGBA8 sRGB", VK_FORMAT_R8G8B8A8_SRGB, 4, 4},
    {"BGRA8 sRGB", VK_FORMAT_B8G8R8A8_SRGB, 4, 4},
    {"RG16F", VK_FORMAT_R16G16_SFLOAT, 4, 2},
    {"R32F", VK_FORMAT_R32_SFLOAT, 4, 1},
};

static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

/* Words of all kinds: of floats some are NaN, infinite, negative or tiny, most are not. */
static void fill_words(const format *f, uint32_t *words, size_t count, uint64_t seed)
{
    const bool is_half =
        f->format == VK_FORMAT_R16G16B16A16_SFLOAT || f->format == VK_FORMAT_R16G16_SFLOAT;
    const bool is_float =
        f->format == VK_FORMAT_R32G32B32A32_SFLOAT || f->format == VK_FORMAT_R32_SFLOAT;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = next(&seed);
        if (next(&seed) % 16 && is_half)
            bits &= 0x7bff7bffu;
        if (next(&seed) % 16 && is_float)
            bits = (bits & 0x07ffffffu) | 0x3c000000u;
        words[i] = bits;
    }
}

typedef struct texture {
    host_image image;
    VkImageLayout layout;
    tml_vulkan_texture lent;
    float *floats; /* four a texel, as the device decodes them */
} texture;

static texture texture_create(const format *f, uint32_t width, uint32_t height,
                              VkImageLayout layout, uint64_t seed)
{
    const size_t size = (size_t)width * height * f->size;
    texture out = {.image = host_image_create(f->format, width, height), .layout = layout};
    host_memory memory = host_memory_create(size);
    VkCommandBuffer commands = host_commands();
    fill_words(f, memory.mapped, size / 4, seed);
    host_begin(commands);
    host_image_fill(commands, &out.image, &memory, layout);
    CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
    host_submit(commands);
    out.floats = host_image_floats(&out.image, layout);
    out.lent = (tml_vulkan_texture){out.image.view, layout, f->format};
    VK(FreeCommandBuffers)(host.device, host.pool, 1, &commands);
    host_memory_destroy(&memory);
    return out;
}

static void texture_destroy(texture *t)
{
    free(t->floats);
    host_image_destroy(&t->image);
}

/* The f32 buffer that holds a part of the texture's first channels. */
static tml_buffer buffer_of_texture(tml_context *tml, const texture *t, uint32_t channels,
                                    uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
    float *data = malloc((size_t)width * height * channels * sizeof *data);
    for (uint32_t i = 0; i < width * height; i++)
        for (uint32_t c = 0; c < channels; c++)
            data[i * channels + c] =
                t->floats[4 * ((y + i / width) * t->image.width + x + i % width) + c];
    tml_buffer out = buffer_of(tml, TML_F32, (uint64_t)width * height * channels, data);
    free(data);
    return out;
}

static bool same_floats(const float *a, const float *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i])))
            return false;
    return true;
}

/* ---- measures -------------------------------------------------------------------------------- */

/* Measures the texture and the buffer of the same part; all words must be equal. */
static void measure_both(tml_context *tml, const char *name, const texture *t, uint32_t channels,
                         const uint32_t part[4], bool masked)
{
    static uint32_t words[2][TML_IMAGE_STATS_WORDS];
    static const uint8_t weights[] = {0, 255, 3, 1, 128, 7};
    tml_buffer mask = masked ? buffer_of(tml, TML_U8, sizeof weights, weights) : (tml_buffer){0, 0};
    tml_image_measure_desc desc = {.image = {.width = t->image.width,
                                             .height = t->image.height,
                                             .channels = channels,
                                             .values = masked ? TML_IMAGE_LN : TML_IMAGE_LINEAR,
                                             .vulkan = &t->lent},
                                   .region = {part[0], part[1], part[2], part[3]},
                                   .stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL),
                                   .mask = mask,
                                   .mask_width = masked ? 3 : 0,
                                   .mask_height = masked ? 2 : 0};
    CHECK_OK(tml, tml_image_measure(tml, &desc));
    CHECK_OK(tml, tml_buffer_read(tml, desc.stats, words[0]));
    desc.image = (tml_image){
        .buffer = buffer_of_texture(tml, t, channels, part[0], part[1], part[2], part[3]),
        .width = part[2],
        .height = part[3],
        .channels = channels,
        .values = masked ? TML_IMAGE_LN : TML_IMAGE_LINEAR};
    desc.region.x = desc.region.y = 0;
    CHECK_OK(tml, tml_image_measure(tml, &desc));
    CHECK_OK(tml, tml_buffer_read(tml, desc.stats, words[1]));
    CHECK(masked || words[0][TML_STATS_PIXELS] == part[2] * part[3]);
    for (uint32_t i = 0; i < TML_IMAGE_STATS_WORDS; i++)
        if (words[0][i] != words[1][i]) {
            test_fail(__FILE__, __LINE__, "%s, %u channels, word %u: %x, of the buffer %x", name,
                      channels, i, words[0][i], words[1][i]);
            break;
        }
    tml_buffer_destroy(tml, desc.image.buffer);
    tml_buffer_destroy(tml, desc.stats);
    if (masked)
        tml_buffer_destroy(tml, mask);
}

TEST(textures_measure_as_buffers_of_their_texels)
{
    tml_context *tml = open_lent();
    if (!tml)
        SKIP("no Vulkan device");
    static const uint32_t whole[4] = {0, 0, 83, 61}, part[4] = {3, 7, 36, 41},
                          one[4] = {82, 60, 1, 1};
    for (size_t i = 0; i < TML_ARRAY_SIZE(formats); i++) {
        const format *f = &formats[i];
        texture t = texture_create(f, 83, 61, i % 2 ? VK_IMAGE_LAYOUT_GENERAL : READ_ONLY, i);
        for (uint32_t channels = 1; channels <= f->components; channels++) {
            measure_both(tml, f->name, &t, channels, whole, false);
            measure_both(tml, f->name, &t, channels, part, channels == 3);
            measure_both(tml, f->name, &t, channels, one, false);
        }
        texture_destroy(&t);
    }
    /* More texels than all workgroups take in a step. */
    texture t = texture_create(&formats[0], 1031, 517, READ_ONLY, 99);
    measure_both(tml, "1031 x 517", &t, 4, (const uint32_t[4]){0, 0, 1031, 517}, false);
    measure_both(tml, "1031 x 517", &t, 3, (const uint32_t[4]){0, 0, 1031, 517}, false);
    texture_destroy(&t);
    host_take_back(tml);
}

/* ---- mip chains ------------------------------------------------------------------------------ */

static void halve_both(tml_context *tml, const texture *t, uint32_t channels, tml_mip_filter filter,
                       tml_type type, bool srgb)
{
    const uint32_t width = t->image.width, height = t->image.height;
    uint64_t texels;
    tml_mip_level(width, height, tml_mip_level(width, height, 0, NULL, NULL, NULL), NULL, NULL,
                  &texels);
    const uint64_t count = texels * channels;
    tml_buffer of_texture = buffer_of(tml, type, count + 1, NULL);
    tml_buffer of_buffer = buffer_of(tml, type, count + 1, NULL);
    tml_image in = {
        .width = width, .height = height, .channels = channels, .srgb = srgb, .vulkan = &t->lent};
    CHECK_OK(tml, tml_image_mips(
                      tml, &(tml_image_mips_desc){.in = in, .filter = filter, .out = of_texture}));
    in.vulkan = NULL;
    in.srgb = false;
    in.buffer = buffer_of_texture(tml, t, channels, 0, 0, width, height);
    CHECK_OK(tml, tml_image_mips(
                      tml, &(tml_image_mips_desc){.in = in, .filter = filter, .out = of_buffer}));
    void *a = fetch(tml, of_texture, count), *b = fetch(tml, of_buffer, count);
    if (type == TML_F32)
        CHECK(same_floats(a, b, count));
    else if (!srgb)
        CHECK(memcmp(a, b, count * tml_type_size(type)) == 0);
    else if (count > 4) /* the same means, coded otherwise: of most colours brighter */
        CHECK(memcmp(a, b, count) != 0);
    free(a);
    free(b);
    tml_buffer_destroy(tml, in.buffer);
    tml_buffer_destroy(tml, of_texture);
    tml_buffer_destroy(tml, of_buffer);
}

TEST(textures_have_mip_chains_as_buffers_of_their_texels)
{
    tml_context *tml = open_lent();
    if (!tml)
        SKIP("no Vulkan device");
    static const uint32_t sizes[][2] = {{1, 1}, {83, 61}, {256, 192}, {2, 1}, {65, 64}, {6, 10}};
    for (size_t s = 0; s < TML_ARRAY_SIZE(sizes); s++)
        for (size_t i = 0; i < TML_ARRAY_SIZE(formats); i++) {
            const format *f = &formats[i];
            if (s > 1 && i != 1)
                continue;
            texture t = texture_create(f, sizes[s][0], sizes[s][1], READ_ONLY, 100 + i);
            halve_both(tml, &t, i == 7 ? 1 : f->components, TML_MIP_AREA, TML_F32, false);
            if (i == 1)
                halve_both(tml, &t, f->components, TML_MIP_KAISER, TML_F32, false);
            if (s == 1 && i == 5) {
                halve_both(tml, &t, 3, TML_MIP_AREA, TML_U8, false);
                halve_both(tml, &t, 4, TML_MIP_AREA, TML_U8, true);
            }
            texture_destroy(&t);
        }
    host_take_back(tml);
}

/* ---- frames ---------------------------------------------------------------------------------- */

enum { WIDTH = 83, HEIGHT = 61, TEXELS = WIDTH * HEIGHT };

typedef struct frame {
    tml_buffer stats, state, chain;
    tml_image picture;
} frame;

static frame frame_create(tml_context *tml)
{
    uint64_t texels;
    tml_mip_level(WIDTH, HEIGHT, tml_mip_level(WIDTH, HEIGHT, 0, NULL, NULL, NULL), NULL, NULL,
                  &texels);
    return (frame){.stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL),
                   .state = buffer_of(tml, TML_F32, TML_EXPOSURE_WORDS, NULL),
                   .chain = buffer_of(tml, TML_F16, 4 * texels, NULL),
                   .picture = {.width = WIDTH, .height = HEIGHT, .channels = 4}};
}

static void frame_enqueue(tml_context *tml, const frame *f, bool is_first)
{
    CHECK_OK(tml, tml_image_measure(
                      tml, &(tml_image_measure_desc){.image = f->picture, .stats = f->stats}));
    CHECK_OK(tml, tml_image_expose(tml, &(tml_image_expose_desc){.stats = f->stats,
                                                                 .clip_high = 95.0f,
                                                                 .seconds = 0.25f,
                                                                 .reset = is_first,
                                                                 .state = f->state}));
    CHECK_OK(tml, tml_image_mips(tml, &(tml_image_mips_desc){.in = f->picture, .out = f->chain}));
}

typedef struct frame_results {
    uint32_t stats[TML_IMAGE_STATS_WORDS];
    float state[TML_EXPOSURE_WORDS];
    uint16_t first[4 * (WIDTH / 2) * (HEIGHT / 2)]; /* the chain's level 1 */
} frame_results;

static void frame_read(tml_context *tml, const frame *f, frame_results *out)
{
    CHECK_OK(tml, tml_buffer_read(tml, f->stats, out->stats));
    CHECK_OK(tml, tml_buffer_read(tml, f->state, out->state));
    CHECK_OK(tml, tml_buffer_read_range(tml, f->chain, 0, TML_ARRAY_SIZE(out->first), out->first));
}

/* Positive halves, brighter the later. */
static void fill_halves(uint16_t *out, uint64_t seed)
{
    for (size_t i = 0; i < (size_t)4 * TEXELS; i++)
        out[i] = (uint16_t)((next(&seed) >> 16 & 0x1fff) + (seed % 2 ? 0x3800 : 0x3000));
}

/* Three frames are drawn (here: copied) and metered, in commands that are submitted three times;
 * what each leaves equals what the same texels give in an f16 buffer, frame by frame through the
 * host. */
TEST(a_recorded_frame_meters_its_target)
{
    tml_context *tml = open_lent();
    if (!tml)
        SKIP("no Vulkan device");
    static frame_results in_place, by_buffer;
    frame lent = frame_create(tml), held = frame_create(tml);
    host_image target = host_image_create(VK_FORMAT_R16G16B16A16_SFLOAT, WIDTH, HEIGHT);
    host_memory drawn = host_memory_create(8 * TEXELS);
    VkCommandBuffer commands = host_commands();
    const tml_vulkan_texture shown = {.view = target.view, .format = target.format};
    lent.picture.vulkan = &shown;
    held.picture.buffer = buffer_of(tml, TML_F16, 4 * TEXELS, NULL);

    /* Once before, so that pipelines exist and scratch has its size. */
    host_begin(commands);
    fill_halves(drawn.mapped, 1);
    host_image_fill(commands, &target, &drawn, READ_ONLY);
    CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
    host_submit(commands);
    frame_enqueue(tml, &lent, true);
    CHECK_OK(tml, tml_sync(tml));

    uint64_t before = 0;
    for (int again = 0; again < 40; again++) { /* recording each frame anew takes nothing */
        host_begin(commands);
        host_image_fill(commands, &target, &drawn, READ_ONLY);
        CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
        frame_enqueue(tml, &lent, false);
        CHECK_OK(tml, tml_vulkan_record_end(tml));
        CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
        before = again == 0 ? allocations : before;
    }
    CHECK_EQ_U64(allocations, before);
    frame_enqueue(tml, &lent, true);
    for (uint64_t i = 1; i <= 3; i++) {
        fill_halves(drawn.mapped, i);
        CHECK_OK(tml, tml_sync(tml));
        host_submit(commands);
        frame_read(tml, &lent, &in_place);
        CHECK_OK(tml, tml_buffer_write(tml, held.picture.buffer, 0, 4 * TEXELS, drawn.mapped));
        if (i == 1)
            frame_enqueue(tml, &held, true);
        frame_enqueue(tml, &held, false);
        frame_read(tml, &held, &by_buffer);
        CHECK(in_place.stats[TML_STATS_PIXELS] == TEXELS);
        CHECK(memcmp(in_place.stats, by_buffer.stats, 4 * TML_STATS_MEAN) == 0);
        CHECK(memcmp(in_place.state, by_buffer.state, sizeof in_place.state) == 0);
        CHECK(memcmp(in_place.first, by_buffer.first, sizeof in_place.first) == 0);
    }
    CHECK_OK(tml, tml_vulkan_check(tml));
    VK(FreeCommandBuffers)(host.device, host.pool, 1, &commands);
    CHECK_OK(tml, tml_vulkan_forget_recordings(tml));
    host_memory_destroy(&drawn);
    host_image_destroy(&target);
    host_take_back(tml);
}

/* More images than one pool of sets names, each gone before the next comes, and many at once in one
 * recording. */
TEST(many_textures_each_keep_their_own)
{
    enum { MANY = 40, SIDE = 8 };
    tml_context *tml = open_lent();
    if (!tml)
        SKIP("no Vulkan device");
    texture t[MANY];
    tml_buffer stats[MANY];
    VkCommandBuffer commands = host_commands();
    for (uint32_t i = 0; i < MANY; i++) {
        t[i] = texture_create(&formats[8], SIDE, SIDE, READ_ONLY, i);
        stats[i] = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL);
        measure_both(tml, "R32F", &t[i], 1, (const uint32_t[4]){0, 0, SIDE, SIDE}, false);
    }
    is_out_of_memory = true; /* sixteen sets are there */
    for (uint32_t i = 0; i <= 16; i++)
        CHECK_STATUS(
            tml_image_measure(
                tml,
                &(tml_image_measure_desc){
                    .image = {.width = SIDE, .height = SIDE, .channels = 1, .vulkan = &t[i].lent},
                    .stats = stats[i]}),
            i < 16 ? TML_OK : TML_ERROR_OUT_OF_MEMORY);
    is_out_of_memory = false;
    for (int submitted = 0; submitted < 2; submitted++) {
        if (submitted) {
            host_begin(commands);
            CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
        }
        for (uint32_t i = 0; i < MANY; i++)
            CHECK_OK(tml, tml_image_measure(
                              tml, &(tml_image_measure_desc){
                                       .image = {.width = SIDE,
                                                 .height = SIDE,
                                                 .channels = 1,
                                                 .vulkan = &t[submitted ? MANY - 1 - i : i].lent},
                                       .stats = stats[i]}));
        if (submitted) {
            CHECK_OK(tml, tml_vulkan_record_end(tml));
            CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
            host_submit(commands);
        }
        for (uint32_t i = 0; i < MANY; i++) {
            const float *floats = t[submitted ? MANY - 1 - i : i].floats;
            float most = -INFINITY, seen;
            uint32_t words[TML_IMAGE_STATS_WORDS];
            for (uint32_t k = 0; k < SIDE * SIDE; k++)
                most = isfinite(floats[4 * k]) && floats[4 * k] > most ? floats[4 * k] : most;
            CHECK_OK(tml, tml_buffer_read(tml, stats[i], words));
            memcpy(&seen, &words[TML_STATS_MAX], sizeof seen);
            CHECK(seen == most);
        }
    }
    VK(FreeCommandBuffers)(host.device, host.pool, 1, &commands);
    CHECK_OK(tml, tml_vulkan_forget_recordings(tml));
    for (uint32_t i = 0; i < MANY; i++)
        texture_destroy(&t[i]);
    host_take_back(tml);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void refuse(tml_context *tml, tml_image image, tml_status expected, const char *words)
{
    tml_status status = tml_image_measure(
        tml, &(tml_image_measure_desc){
                 .image = image, .stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL)});
    const char *message = tml_last_error(tml);
    if (status != expected || !strstr(message, words))
        test_fail(__FILE__, __LINE__, "%s, \"%s\" does not say \"%s\"", tml_status_name(status),
                  message, words);
}

TEST(bad_textures_are_refused)
{
    tml_context *tml = open_lent();
    if (!tml)
        SKIP("no Vulkan device");
    texture t = texture_create(&formats[2], 5, 3, READ_ONLY, 1);
    const tml_image good = {.width = 5, .height = 3, .channels = 3, .vulkan = &t.lent};
    tml_vulkan_texture bad[4] = {t.lent, t.lent, t.lent, t.lent};
    tml_image image = good;
    bad[0].view = VK_NULL_HANDLE;
    bad[1].layout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    bad[2].format = VK_FORMAT_R32G32B32A32_UINT;
    bad[3].format = VK_FORMAT_D32_SFLOAT;
    static const char *const words[] = {"view is VK_NULL_HANDLE", "needs SHADER_READ_ONLY_OPTIMAL",
                                        "needs a normalised or float",
                                        "needs a normalised or float"};
    for (int i = 0; i < 4; i++) {
        image.vulkan = &bad[i];
        refuse(tml, image, TML_ERROR_INVALID_ARGUMENT, words[i]);
    }
    image = good;
    image.channels = 4;
    refuse(tml, image, TML_ERROR_INVALID_ARGUMENT, "channels is 4, and the texture has 3");
    image = good;
    image.width = 1u << 24;
    refuse(tml, image, TML_ERROR_INVALID_ARGUMENT, "a side");
    image = good;
    image.row_stride = 15;
    refuse(tml, image, TML_ERROR_INVALID_ARGUMENT, "row_stride");
    image = good;
    image.buffer = buffer_of(tml, TML_F32, 45, NULL);
    refuse(tml, image, TML_ERROR_INVALID_ARGUMENT, "and a buffer");
    CHECK_STATUS(tml_image_tonemap(tml, &(tml_image_tonemap_desc){.in = good, .out = image}),
                 TML_ERROR_UNSUPPORTED);
    tml_context *cpu = open_cpu(1);
    refuse(cpu, good, TML_ERROR_UNSUPPORTED, "does not read");
    tml_close(cpu);
    texture_destroy(&t);
    host_take_back(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
