/* Images on Vulkan devices where they differ from other engines': a frame that meters itself in the
 * caller's commands, nothing allocated the second time, and every way of reading a picture's
 * memory. What they measure is compared with the CPU's; test_image has the rest. */
#include <trommel/trommel.h>
#include <trommel/vulkan.h>

#include "core/core_internal.h"
#include "test.h"

#include "contexts.h"

enum { WIDTH = 83, HEIGHT = 61, CHANNELS = 4, PIXELS = WIDTH * HEIGHT };

/* ---- contexts and pictures ------------------------------------------------------------------- */

/* How often memory was asked for: each block of the device's has a record on the host, too. */
typedef struct meter {
    uint32_t calls;
} meter;
static void *meter_alloc(void *user, size_t size, size_t alignment)
{
    void *memory = NULL;
    ((meter *)user)->calls++;
    return posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
}
static void meter_free(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    free(memory);
}

static tml_context *open_on(tml_engine_kind engine, meter *m)
{
    tml_context *tml = NULL;
    tml_open_desc desc = {.engine = engine, .threads = 1};
    if (m)
        desc.allocator = (tml_allocator){meter_alloc, meter_free, m};
    return tml_open(&desc, &tml) == TML_OK ? tml : NULL;
}

/* The same numbers on every machine. */
static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

/* Halves of all kinds, most of them positive and normal. */
static void fill_halves(uint16_t *out, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = next(&seed);
        out[i] = (uint16_t)(bits % 16 ? bits >> 16 & 0x7bff : bits >> 16);
    }
}

/* ---- a frame --------------------------------------------------------------------------------- */

/* Everything that a frame has: a picture, what it is measured to, its exposure, what is shown. */
typedef struct frame {
    tml_buffer picture, stats, state, shown, chain;
} frame;

static frame frame_create(tml_context *tml)
{
    static uint16_t picture[CHANNELS * PIXELS];
    uint64_t texels;
    fill_halves(picture, TML_ARRAY_SIZE(picture), 3);
    tml_mip_level(WIDTH, HEIGHT, tml_mip_level(WIDTH, HEIGHT, 0, NULL, NULL, NULL), NULL, NULL,
                  &texels);
    return (frame){
        .picture = buffer_of(tml, TML_F16, CHANNELS * PIXELS, picture),
        .stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL),
        .state = buffer_of(tml, TML_F32, TML_EXPOSURE_WORDS, NULL),
        .shown = buffer_of(tml, TML_U8, CHANNELS * PIXELS, NULL),
        .chain = buffer_of(tml, TML_U8, CHANNELS * texels, NULL),
    };
}

static void frame_enqueue(tml_context *tml, const frame *f, bool is_first)
{
    const tml_image in = {
        .buffer = f->picture, .width = WIDTH, .height = HEIGHT, .channels = CHANNELS};
    tml_image shown = in;
    shown.buffer = f->shown;
    shown.srgb = true;
    CHECK_OK(tml,
             tml_image_measure(tml, &(tml_image_measure_desc){
                                        .image = in, .luminance.floor = 0.01f, .stats = f->stats}));
    CHECK_OK(tml, tml_image_expose(tml, &(tml_image_expose_desc){.stats = f->stats,
                                                                 .clip_low = 5.0f,
                                                                 .clip_high = 95.0f,
                                                                 .seconds = 0.25f,
                                                                 .reset = is_first,
                                                                 .state = f->state}));
    CHECK_OK(tml, tml_image_tonemap(
                      tml, &(tml_image_tonemap_desc){
                               .in = in, .out = shown, .state = f->state, .tone = TML_TONE_AGX}));
    CHECK_OK(tml, tml_image_mips(tml, &(tml_image_mips_desc){.in = shown, .out = f->chain}));
}

typedef struct frame_results {
    uint32_t stats[TML_IMAGE_STATS_WORDS];
    float state[TML_EXPOSURE_WORDS];
    uint8_t shown[CHANNELS * PIXELS];
    uint8_t last[CHANNELS]; /* the chain's 1 x 1 */
} frame_results;

static void frame_read(tml_context *tml, const frame *f, frame_results *out)
{
    uint64_t last;
    tml_mip_level(WIDTH, HEIGHT, tml_mip_level(WIDTH, HEIGHT, 0, NULL, NULL, NULL) - 1, NULL, NULL,
                  &last);
    CHECK_OK(tml, tml_buffer_read(tml, f->stats, out->stats));
    CHECK_OK(tml, tml_buffer_read(tml, f->state, out->state));
    CHECK_OK(tml, tml_buffer_read(tml, f->shown, out->shown));
    CHECK_OK(tml, tml_buffer_read_range(tml, f->chain, CHANNELS * last, CHANNELS, out->last));
}

TEST(a_frame_meters_itself_in_the_callers_commands)
{
    tml_context *own = open_on(TML_ENGINE_VULKAN, NULL);
    if (!own)
        SKIP("no Vulkan device");
    static frame_results direct, recorded;
    /* Three frames enqueued: the first, and two that adapt. */
    frame f = frame_create(own);
    for (int i = 0; i < 3; i++)
        frame_enqueue(own, &f, i == 0);
    frame_read(own, &f, &direct);
    CHECK(direct.stats[TML_STATS_PIXELS] == PIXELS);
    CHECK(direct.state[TML_EXPOSURE_SCALE] > 0.0f);

    /* The same with the two recorded once, and the commands run twice. */
    tml_vulkan_desc h;
    CHECK_OK(own, tml_vulkan_handles(own, &h));
#define DEVICE_CALL(name)                                                                          \
    ((PFN_vk##name)((PFN_vkGetDeviceProcAddr)h.get_instance_proc_addr(                             \
        h.instance, "vkGetDeviceProcAddr"))(h.device, "vk" #name))
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                               .queueFamilyIndex = h.queue_family};
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    CHECK(DEVICE_CALL(CreateCommandPool)(h.device, &pool_info, NULL, &pool) == VK_SUCCESS);
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pool,
                                              .commandBufferCount = 1};
    CHECK(DEVICE_CALL(AllocateCommandBuffers)(h.device, &info, &commands) == VK_SUCCESS);
    frame_enqueue(own, &f, true);
    CHECK_OK(own, tml_sync(own));
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK(DEVICE_CALL(BeginCommandBuffer)(commands, &begin) == VK_SUCCESS);
    CHECK_OK(own, tml_vulkan_record(own, commands, NULL, NULL));
    frame_enqueue(own, &f, false);
    CHECK_OK(own, tml_vulkan_record_end(own));
    CHECK(DEVICE_CALL(EndCommandBuffer)(commands) == VK_SUCCESS);
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    for (int i = 0; i < 2; i++) {
        CHECK(DEVICE_CALL(QueueSubmit)(h.queue, 1, &submit, VK_NULL_HANDLE) == VK_SUCCESS);
        CHECK(DEVICE_CALL(QueueWaitIdle)(h.queue) == VK_SUCCESS);
    }
    frame_read(own, &f, &recorded);
    CHECK(memcmp(&direct, &recorded, sizeof direct) == 0);
    /* And once more without: what the recorded commands left is in nobody's way. */
    frame_enqueue(own, &f, true);
    frame_enqueue(own, &f, false);
    frame_enqueue(own, &f, false);
    frame_read(own, &f, &recorded);
    CHECK(memcmp(&direct, &recorded, sizeof direct) == 0);
    DEVICE_CALL(DestroyCommandPool)(h.device, pool, NULL);
    tml_close(own);
}

TEST(a_second_frame_allocates_nothing)
{
    meter m = {0};
    tml_context *tml = open_on(TML_ENGINE_VULKAN, &m);
    if (!tml)
        SKIP("no Vulkan device");
    frame f = frame_create(tml);
    frame_enqueue(tml, &f, true);
    uint32_t calls = m.calls;
    for (int i = 0; i < 4; i++)
        frame_enqueue(tml, &f, false);
    CHECK_OK(tml, tml_sync(tml));
    CHECK_EQ_U64(m.calls, calls);
    tml_close(tml);
}

/* ---- ways of reading ------------------------------------------------------------------------- */

typedef struct layout {
    const char *name;
    tml_type type;
    uint32_t channels, width, height, x, y, picture_width;
    bool has_mask;
} layout;

/* Rows as one and apart, from the middle of 16 bytes on, ends within them, three channels, and more
 * stretches than one workgroup has invocations to join. */
static const layout layouts[] = {
    {"one row", TML_F16, 4, 83, 61, 0, 0, 83, false},
    {"rows that begin within 16 bytes", TML_F16, 4, 31, 17, 1, 2, 34, false},
    {"rows anywhere", TML_F16, 4, 31, 17, 3, 1, 37, true},
    {"bytes", TML_U8, 1, 201, 11, 5, 1, 224, false},
    {"three channels", TML_U16, 3, 77, 30, 0, 0, 77, true},
    {"floats", TML_F32, 4, 1031, 517, 0, 0, 1031, false},
};

static void measure_on(tml_context *tml, const layout *l, const void *data, size_t count,
                       uint32_t *stats)
{
    static const uint8_t weights[] = {0, 255, 3, 1, 128, 7};
    tml_image_measure_desc desc = {.image = {.buffer = buffer_of(tml, l->type, count, data),
                                             .width = l->picture_width,
                                             .height = l->y + l->height,
                                             .channels = l->channels},
                                   .region = {l->x, l->y, l->width, l->height},
                                   .stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL)};
    if (l->has_mask) {
        desc.mask = buffer_of(tml, TML_U8, sizeof weights, weights);
        desc.mask_width = 3;
        desc.mask_height = 2;
    }
    CHECK_OK(tml, tml_image_measure(tml, &desc));
    CHECK_OK(tml, tml_buffer_read(tml, desc.stats, stats));
    tml_buffer_destroy(tml, desc.image.buffer);
    tml_buffer_destroy(tml, desc.stats);
    tml_buffer_destroy(tml, desc.mask);
}

TEST(every_reading_is_the_cpus)
{
    tml_context *tml = open_on(TML_ENGINE_VULKAN, NULL), *cpu = open_on(TML_ENGINE_CPU, NULL);
    if (!tml) {
        tml_close(cpu);
        SKIP("no Vulkan device");
    }
    for (size_t i = 0; i < TML_ARRAY_SIZE(layouts); i++) {
        const layout *l = &layouts[i];
        uint32_t measured[TML_IMAGE_STATS_WORDS], expected[TML_IMAGE_STATS_WORDS];
        size_t count = (size_t)l->picture_width * (l->y + l->height) * l->channels;
        size_t size = count * tml_type_size(l->type);
        void *data = malloc(size + 1);
        fill_halves(data, size / 2, i);
        if (l->type == TML_F32) /* any bits: what they mean is the same everywhere */
            for (size_t k = 0; k < count; k++)
                ((uint32_t *)data)[k] = ((uint32_t *)data)[k] % 9 ? 0x3f000000u + (uint32_t)k * 977
                                                                  : ((uint32_t *)data)[k];
        measure_on(tml, l, data, count, measured);
        measure_on(cpu, l, data, count, expected);
        for (uint32_t word = 0; word < TML_IMAGE_STATS_WORDS; word++)
            if ((word < TML_STATS_MEAN || word >= TML_STATS_HISTOGRAM_LOW) &&
                measured[word] != expected[word]) {
                CHECK_EQ_U64(measured[word], expected[word]);
                printf("  %s, word %u\n", l->name, word);
                break;
            }
        free(data);
    }
    tml_close(tml);
    tml_close(cpu);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
