/* What the header promises of segments and test_stream's bounds do not show, on every device: a
 * float result is to the bit the one of the segment as a stream of its own, and offsets that fall
 * do no harm. Segments end with the length, and what a scan of them cannot do is refused. */
#include <string.h>

#include "core/testing.h"
#include <trommel/gl.h>
#include <trommel/trommel.h>

#include "test.h"

#include "contexts.h"

enum { MAX_DEVICES = 8, SEGMENTS = 40, ELEMENTS = 110000 };

/* Runs test on every device, on OpenGL ES also with short rows of texels, on Vulkan with short
 * passes. */
static void everywhere(void (*test)(tml_context *tml))
{
    tml_device_info infos[MAX_DEVICES];
    uint32_t count = tml_devices(infos, MAX_DEVICES);
    for (uint32_t d = 0; d < count && d < MAX_DEVICES; d++)
        for (uint32_t is_short = 0; is_short < (infos[d].engine == TML_ENGINE_CPU ? 1u : 2u);
             is_short++) {
            char number[8];
            snprintf(number, sizeof number, "%u", d);
            const tml_testing testing = {.gl_row_log2 = is_short ? 6 : 0,
                                         .vulkan_pass_items = is_short ? 1 << 16 : 0};
            tml_context *tml = NULL;
            CHECK_OK(NULL, tml_open_testing(&(tml_open_desc){.device = number}, &testing, &tml));
            if (tml)
                test(tml);
            tml_close(tml);
        }
}

/* Lengths on the seams of words, blocks and tiles; the elements before the first segment make all
 * of them begin anywhere. */
static const uint32_t lengths[] = {0,    1,    2,    3,  4,    5,     7,   8,    9,     15,
                                   16,   17,   31,   33, 63,   64,    65,  67,   127,   129,
                                   255,  256,  257,  0,  0,    511,   513, 1023, 1025,  2049,
                                   4095, 4096, 4097, 5,  8195, 12289, 3,   1,    65537, 11};
_Static_assert(sizeof lengths == SEGMENTS * sizeof lengths[0], "a length for each segment");

static uint32_t offsets[SEGMENTS + 1];
static float values[ELEMENTS];
static uint16_t halves[ELEMENTS];

static void fill(void)
{
    uint64_t state = 5;
    offsets[0] = 3;
    for (int s = 0; s < SEGMENTS; s++)
        offsets[s + 1] = offsets[s] + lengths[s];
    for (int i = 0; i < ELEMENTS; i++) {
        uint64_t x = test_random(&state);
        values[i] = ldexpf((float)(int32_t)x, (int)(x >> 40 & 31) - 40);
        halves[i] = (uint16_t)((x >> 32 & 0x83ffu) | ((x >> 50 & 7u) + 12u) << 10);
    }
}

/* ---- reduce ---------------------------------------------------------------------------------- */

static void check_sums(tml_context *tml, tml_type type, const void *data)
{
    size_t size = tml_type_size(type);
    tml_buffer in = buffer_of(tml, type, ELEMENTS, data);
    tml_buffer begins = buffer_of(tml, TML_U32, SEGMENTS + 1, offsets);
    tml_buffer out = buffer_of(tml, TML_F32, SEGMENTS, NULL),
               one = buffer_of(tml, TML_F32, 1, NULL);
    CHECK_OK(tml, tml_reduce(tml, &(tml_reduce_desc){.in = in,
                                                     .segments.offsets = begins,
                                                     .folds = {{TML_FOLD_SUM, out}}}));
    uint32_t got[SEGMENTS], expected;
    CHECK_OK(tml, tml_buffer_read(tml, out, got));
    for (int s = 0; s < SEGMENTS; s++) {
        uint32_t count = offsets[s + 1] - offsets[s];
        if (count == 0) {
            CHECK_EQ_U64(got[s], 0);
            continue;
        }
        tml_buffer alone = buffer_of(tml, type, count, (const char *)data + offsets[s] * size);
        CHECK_OK(tml,
                 tml_reduce(tml, &(tml_reduce_desc){.in = alone, .folds = {{TML_FOLD_SUM, one}}}));
        CHECK_OK(tml, tml_buffer_read(tml, one, &expected));
        CHECK_EQ_U64(got[s], expected);
        tml_buffer_destroy(tml, alone);
    }
}

static void sums_on(tml_context *tml)
{
    check_sums(tml, TML_F32, values);
    check_sums(tml, TML_F16, halves);
}

TEST(float_sums_are_those_of_a_stream)
{
    fill();
    everywhere(sums_on);
}

/* More tiles than are joined at a time, between neighbours; the first of the largest is in the last
 * tile. */
static void long_sum_on(tml_context *tml)
{
    enum { LONG = 2200003, FIRST = 9001 };
    static float data[FIRST + LONG + 7];
    uint64_t state = 7;
    for (uint32_t i = 0; i < FIRST + LONG + 7; i++)
        data[i] = ldexpf((float)(int32_t)test_random(&state), (int)(i % 37) - 60);
    uint32_t largest = FIRST + LONG - 2;
    data[largest] = data[largest + 1] = 1000.0f;
    tml_buffer room;
    if (tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F32, .count = FIRST + LONG + 7},
                          &room) != TML_OK)
        return; /* short rows of texels have no room for so many */
    tml_buffer_destroy(tml, room);
    const uint32_t begins[] = {5, FIRST, FIRST, FIRST + LONG, FIRST + LONG + 7};
    tml_buffer in = buffer_of(tml, TML_F32, FIRST + LONG + 7, data),
               at = buffer_of(tml, TML_U32, 5, begins), out = buffer_of(tml, TML_F32, 4, NULL),
               where = buffer_of(tml, TML_U32, 4, NULL), one = buffer_of(tml, TML_F32, 1, NULL),
               alone = buffer_of(tml, TML_F32, LONG, data + FIRST);
    uint32_t got[4], places[4], expected;
    CHECK_OK(tml, tml_reduce(tml, &(tml_reduce_desc){
                                      .in = in,
                                      .segments.offsets = at,
                                      .folds = {{TML_FOLD_SUM, out}, {TML_FOLD_ARGMAX, where}}}));
    CHECK_OK(tml, tml_reduce(tml, &(tml_reduce_desc){.in = alone, .folds = {{TML_FOLD_SUM, one}}}));
    CHECK_OK(tml, tml_buffer_read(tml, out, got));
    CHECK_OK(tml, tml_buffer_read(tml, where, places));
    CHECK_OK(tml, tml_buffer_read(tml, one, &expected));
    CHECK_EQ_U64(got[2], expected);
    CHECK_EQ_U64(got[1], 0);
    CHECK_EQ_U64(places[2], largest);
    CHECK_EQ_U64(places[1], UINT32_MAX);
}

TEST(a_long_sum_is_that_of_a_stream)
{
    everywhere(long_sum_on);
}

/* ---- scan ------------------------------------------------------------------------------------ */

static void check_scans(tml_context *tml, bool inclusive)
{
    static uint32_t got[ELEMENTS], expected[ELEMENTS];
    tml_buffer in = buffer_of(tml, TML_F32, ELEMENTS, values);
    tml_buffer begins = buffer_of(tml, TML_U32, SEGMENTS + 1, offsets);
    tml_buffer out = buffer_of(tml, TML_F32, ELEMENTS, NULL);
    CHECK_OK(tml, tml_scan(tml, &(tml_scan_desc){.in = in,
                                                 .segments.offsets = begins,
                                                 .inclusive = inclusive,
                                                 .out = out}));
    CHECK_OK(tml, tml_buffer_read(tml, out, got));
    for (int s = 0; s < SEGMENTS; s++) {
        uint32_t count = offsets[s + 1] - offsets[s], wrong = 0;
        if (count == 0)
            continue;
        tml_buffer alone = buffer_of(tml, TML_F32, count, values + offsets[s]);
        CHECK_OK(tml, tml_scan(tml, &(tml_scan_desc){
                                        .in = alone, .inclusive = inclusive, .out = alone}));
        CHECK_OK(tml, tml_buffer_read(tml, alone, expected));
        for (uint32_t i = 0; i < count; i++)
            wrong += got[offsets[s] + i] != expected[i];
        CHECK_EQ_U64(wrong, 0);
        tml_buffer_destroy(tml, alone);
    }
}

static void scans_on(tml_context *tml)
{
    check_scans(tml, false);
    check_scans(tml, true);
}

TEST(float_scans_are_those_of_a_stream)
{
    fill();
    everywhere(scans_on);
}

/* ---- offsets that fall ----------------------------------------------------------------------- */

/* As whole segments, one after the other, they would be work for minutes or hours. */
enum { GUARD = 64, MANY = (1 << 18) - GUARD, FALLS = 1 << 16 };

static const struct {
    const char *name;
    tml_type type;
    uint64_t even, odd; /* offsets in turns */
    uint64_t step;      /* taken off from each to the next */
} falls[] = {
    {"all, nothing", TML_U32, 0, MANY, 0},
    {"nothing, all", TML_U32, MANY, 0, 0},
    {"down in steps", TML_U32, MANY, MANY, 5},
    {"down in long steps", TML_U64, MANY, MANY / 2, 1},
    {"past the end and back", TML_U32, 0, UINT32_MAX, 0},
    {"past 32 bits and back", TML_U64, (uint64_t)1 << 32, ((uint64_t)1 << 32) + MANY, 0},
    {"far down", TML_U64, UINT64_MAX, 0, 0},
};

static tml_buffer falling_offsets(tml_context *tml, size_t f)
{
    static uint64_t wide[FALLS + 1];
    static uint32_t narrow[FALLS + 1];
    for (uint64_t s = 0; s <= FALLS; s++) {
        uint64_t offset = s % 2 ? falls[f].odd : falls[f].even, down = s * falls[f].step;
        wide[s] = offset > down ? offset - down : 0;
        narrow[s] = (uint32_t)wide[s];
    }
    return buffer_of(tml, falls[f].type, FALLS + 1,
                     falls[f].type == TML_U64 ? (void *)wide : narrow);
}

static uint32_t changed(tml_context *tml, tml_buffer buffer, uint64_t first, uint64_t count,
                        const uint32_t *expected)
{
    uint32_t *got = fetch(tml, buffer, first + count), wrong = 0;
    for (uint64_t i = 0; i < count; i++)
        wrong += got[first + i] != expected[i];
    free(got);
    return wrong;
}

/* What the results are nobody says; but they come, and nothing else is written. */
static void falls_on(tml_context *tml)
{
    static uint32_t before[MANY + GUARD];
    for (uint32_t i = 0; i < MANY + GUARD; i++)
        before[i] = i;
    tml_device_info device;
    tml_context_describe(tml, &device);
    const bool is_sampled = device.engine != TML_ENGINE_CPU;
    for (size_t f = 0; f < sizeof falls / sizeof *falls; f++)
        for (int is_float = 0; is_float < 2; is_float++) {
            if (is_sampled && (2 * f + (size_t)is_float + test_seed()) % 4 != 0)
                continue;
            tml_type type = is_float ? TML_F32 : TML_U32;
            tml_buffer offsets_in = falling_offsets(tml, f);
            tml_buffer in = buffer_of(tml, type, MANY, before);
            tml_buffer scans = buffer_of(tml, type, MANY + GUARD, before);
            tml_buffer sums = buffer_of(tml, type, FALLS + GUARD, before);
            tml_buffer places = buffer_of(tml, TML_U32, MANY + GUARD, before);
            CHECK_OK(tml, tml_reduce(tml, &(tml_reduce_desc){.in = in,
                                                             .segments.offsets = offsets_in,
                                                             .folds = {{TML_FOLD_MAX, sums}}}));
            CHECK_OK(tml,
                     tml_scan(tml, &(tml_scan_desc){
                                       .in = in, .segments.offsets = offsets_in, .out = scans}));
            CHECK_EQ_U64(changed(tml, sums, FALLS, GUARD, before + FALLS), 0);
            CHECK_EQ_U64(changed(tml, scans, MANY, GUARD, before + MANY), 0);
            if (!is_float)
                CHECK_OK(tml, tml_sort(tml, &(tml_sort_desc){.keys = in,
                                                             .length = tml_length_of(MANY),
                                                             .segments.offsets = offsets_in,
                                                             .sorted = scans,
                                                             .indices = places}));
            CHECK_EQ_U64(changed(tml, scans, MANY, GUARD, before + MANY), 0);
            CHECK_EQ_U64(changed(tml, places, MANY, GUARD, before + MANY), 0);
            CHECK_EQ_U64(changed(tml, in, 0, MANY, before), 0);
            CHECK_OK(tml, tml_scan(tml, &(tml_scan_desc){
                                            .in = in, .segments.offsets = offsets_in, .out = in}));
            CHECK_OK(tml, tml_sync(tml));
            tml_buffer_destroy(tml, offsets_in);
            tml_buffer_destroy(tml, in);
            tml_buffer_destroy(tml, scans);
            tml_buffer_destroy(tml, sums);
            tml_buffer_destroy(tml, places);
        }
}

TEST(offsets_that_fall)
{
    everywhere(falls_on);
}

/* ---- lengths and refusals -------------------------------------------------------------------- */

/* A segment that ends past the length is empty, and a scan leaves its elements as they were. */
static void short_length_on(tml_context *tml)
{
    const uint32_t numbers[] = {1, 2, 3, 4, 5, 6, 7}, begins[] = {0, 2, 4, 7};
    uint32_t scans[7];
    uint64_t sums[3], least[3];
    tml_buffer in = buffer_of(tml, TML_U32, 7, numbers), at = buffer_of(tml, TML_U32, 4, begins),
               out = buffer_of(tml, TML_U32, 7, numbers), sum = buffer_of(tml, TML_U64, 3, NULL),
               where = buffer_of(tml, TML_U64, 3, NULL);
    const tml_length five = tml_length_of(5);
    CHECK_OK(tml, tml_reduce(tml, &(tml_reduce_desc){
                                      .in = in,
                                      .folds = {{TML_FOLD_SUM, sum}, {TML_FOLD_ARGMIN, where}},
                                      .length = five,
                                      .segments.offsets = at}));
    CHECK_OK(tml, tml_scan(tml, &(tml_scan_desc){.in = in,
                                                 .out = out,
                                                 .inclusive = true,
                                                 .length = five,
                                                 .segments.offsets = at}));
    CHECK_OK(tml, tml_buffer_read(tml, sum, sums));
    CHECK_OK(tml, tml_buffer_read(tml, where, least));
    CHECK_OK(tml, tml_buffer_read(tml, out, scans));
    CHECK(sums[0] == 3 && sums[1] == 7 && sums[2] == 0);
    CHECK(least[0] == 0 && least[1] == 2 && least[2] == UINT64_MAX);
    CHECK(scans[1] == 3 && scans[2] == 3 && scans[3] == 7 && scans[4] == 5 && scans[6] == 7);
}

TEST(segments_end_with_the_length)
{
    everywhere(short_length_on);
}

TEST(segments_that_are_refused)
{
    tml_context *tml;
    if (!CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml)))
        return;
    tml_buffer in = buffer_of(tml, TML_U32, 4, NULL), out = buffer_of(tml, TML_U32, 4, NULL),
               at = buffer_of(tml, TML_U32, 3, NULL), one = buffer_of(tml, TML_U32, 1, NULL),
               sum = buffer_of(tml, TML_U64, 2, NULL);
    const tml_segments by = {.offsets = at};
    const struct {
        tml_scan_desc desc;
        const char *text;
    } scans[] = {
        {{.segments.starts = at}, "starts is given, needs offsets"},
        {{.segments = {.offsets = at, .starts = at}}, "both given"},
        {{.segments = {.offsets = at, .count = tml_length_of(2)}}, "without starts"},
        {{.segments.count = tml_length_of(2)}, "without starts"},
        {{.segments = by, .fold = TML_FOLD_MAX}, "TML_FOLD_SUM"},
        {{.segments = by, .method = TML_METHOD_LOOK_BACK}, "TML_METHOD_AUTO"},
        {{.segments = by, .start = one}, "tml_map"},
        {{.segments = by, .total = one}, "tml_reduce"},
        {{.segments = by, .length.device = one}, "the last offset"},
    };
    for (size_t i = 0; i < sizeof scans / sizeof *scans; i++) {
        tml_scan_desc desc = scans[i].desc;
        desc.in = in;
        desc.out = out;
        CHECK_EQ_U64(tml_scan(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
        if (!CHECK(strstr(tml_last_error(tml), scans[i].text) != NULL))
            printf("    %s\n", tml_last_error(tml));
    }
    tml_reduce_desc reduce = {
        .in = in, .folds = {{TML_FOLD_SUM, sum}}, .segments = by, .length.device = one};
    CHECK_EQ_U64(tml_reduce(tml, &reduce), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "the last offset") != NULL);
    reduce = (tml_reduce_desc){.in = in};
    CHECK_EQ_U64(tml_reduce(tml, &reduce), TML_ERROR_INVALID_HANDLE);
    CHECK(strstr(tml_last_error(tml), "folds[0].out") != NULL);
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
