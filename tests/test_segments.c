/* What the header promises of segments and test_stream's bounds do not show, on every device: a float result
 * is to the bit the one of the segment as a stream of its own, and where segments overlap each is
 * still right, the last one staying. */
#include <trommel/gl.h>
#include <trommel/trommel.h>

#include "test.h"

#include "contexts.h"

enum { MAX_DEVICES = 8, SEGMENTS = 40, ELEMENTS = 110000 };

static uint64_t random_u64(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Runs test on every device, on OpenGL ES also with short rows of texels. */
static void everywhere(void (*test)(tml_context *tml))
{
    tml_device_info infos[MAX_DEVICES];
    uint32_t count = tml_devices(infos, MAX_DEVICES);
    for (uint32_t d = 0; d < count && d < MAX_DEVICES; d++)
        for (uint32_t rows = 0; rows < (infos[d].engine == TML_ENGINE_GL ? 2u : 1u); rows++) {
            char number[8];
            snprintf(number, sizeof number, "%u", d);
            const tml_gl_desc gl = {.row_log2 = rows ? 6 : 0};
            tml_context *tml = NULL;
            CHECK_OK(NULL, tml_open(&(tml_open_desc){.device = number, .gl = &gl}, &tml));
            if (tml)
                test(tml);
            tml_close(tml);
        }
}

/* Lengths on the seams of words, blocks and tiles; the elements before the first segment make all of them
 * begin anywhere. */
static const uint32_t lengths[] = {0,    1,    2,    3,  4,    5,     7,   8,    9,     15,
                                   16,   17,   31,   33, 63,   64,    65,  67,   127,   129,
                                   255,  256,  257,  0,  0,    511,   513, 1023, 1025,  2049,
                                   4095, 4096, 4097, 5,  8195, 12289, 3,   1,    65537, 11};
_Static_assert(sizeof lengths == SEGMENTS * sizeof lengths[0], "a length for each segment");

static uint32_t offsets[SEGMENTS + 1];
static float values[ELEMENTS];
static uint16_t halves[ELEMENTS];
static uint32_t integers[ELEMENTS];

static void fill(void)
{
    uint64_t state = 5;
    offsets[0] = 3;
    for (int s = 0; s < SEGMENTS; s++)
        offsets[s + 1] = offsets[s] + lengths[s];
    for (int i = 0; i < ELEMENTS; i++) {
        uint64_t x = random_u64(&state);
        values[i] = ldexpf((float)(int32_t)x, (int)(x >> 40 & 31) - 40);
        halves[i] = (uint16_t)((x >> 32 & 0x83ffu) | ((x >> 50 & 7u) + 12u) << 10);
        integers[i] = (uint32_t)(x >> 8);
    }
}

/* ---- reduce ---------------------------------------------------------------------------------- */

static void check_sums(tml_context *tml, tml_type type, const void *data, const uint32_t *at)
{
    size_t size = tml_type_size(type);
    tml_buffer in = buffer_of(tml, type, ELEMENTS, data);
    tml_buffer begins = buffer_of(tml, TML_U32, SEGMENTS + 1, at);
    tml_buffer out = buffer_of(tml, TML_F32, SEGMENTS, NULL),
               one = buffer_of(tml, TML_F32, 1, NULL);
    CHECK_OK(tml, tml_reduce_segments(
                      tml, &(tml_reduce_segments_desc){.in = in, .offsets = begins, .out = out}));
    uint32_t got[SEGMENTS], expected;
    CHECK_OK(tml, tml_read(tml, out, got));
    for (int s = 0; s < SEGMENTS; s++) {
        bool is_valid = at[s] <= at[s + 1] && at[s + 1] <= ELEMENTS;
        uint32_t count = is_valid ? at[s + 1] - at[s] : 0;
        if (count == 0) {
            CHECK_EQ_U64(got[s], 0);
            continue;
        }
        tml_buffer alone = buffer_of(tml, type, count, (const char *)data + at[s] * size);
        CHECK_OK(tml, tml_reduce(tml, &(tml_reduce_desc){.in = alone, .out = one}));
        CHECK_OK(tml, tml_read(tml, one, &expected));
        CHECK_EQ_U64(got[s], expected);
        tml_buffer_destroy(tml, alone);
    }
}

static void sums_on(tml_context *tml)
{
    check_sums(tml, TML_F32, values, offsets);
    check_sums(tml, TML_F16, halves, offsets);
}

TEST(float_sums_are_those_of_a_stream)
{
    fill();
    everywhere(sums_on);
}

/* Offsets that fall, so that segments overlap. */
static void disorder(uint32_t at[SEGMENTS + 1])
{
    memcpy(at, offsets, sizeof offsets);
    at[10] = ELEMENTS - 5; /* a long one, to here; then one that is empty */
    at[20] = 7;            /* a long one from here */
    at[30] = ELEMENTS + 1; /* past the end: two that are empty */
}

static void sums_of_overlapping_on(tml_context *tml)
{
    uint32_t at[SEGMENTS + 1];
    disorder(at);
    check_sums(tml, TML_F32, values, at);
    check_sums(tml, TML_F16, halves, at);
}

TEST(float_sums_of_overlapping_segments)
{
    fill();
    everywhere(sums_of_overlapping_on);
}

/* ---- scan ------------------------------------------------------------------------------------ */

static void check_scans(tml_context *tml, bool inclusive)
{
    static uint32_t got[ELEMENTS], expected[ELEMENTS];
    tml_buffer in = buffer_of(tml, TML_F32, ELEMENTS, values);
    tml_buffer begins = buffer_of(tml, TML_U32, SEGMENTS + 1, offsets);
    tml_buffer out = buffer_of(tml, TML_F32, ELEMENTS, NULL);
    CHECK_OK(tml, tml_scan_segments(
                      tml, &(tml_scan_segments_desc){
                               .in = in, .offsets = begins, .inclusive = inclusive, .out = out}));
    CHECK_OK(tml, tml_read(tml, out, got));
    for (int s = 0; s < SEGMENTS; s++) {
        uint32_t count = offsets[s + 1] - offsets[s], wrong = 0;
        if (count == 0)
            continue;
        tml_buffer alone = buffer_of(tml, TML_F32, count, values + offsets[s]);
        CHECK_OK(tml, tml_scan(tml, &(tml_scan_desc){
                                        .in = alone, .inclusive = inclusive, .out = alone}));
        CHECK_OK(tml, tml_read(tml, alone, expected));
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

static void scans_of_overlapping_on(tml_context *tml)
{
    static uint64_t expected[ELEMENTS], got[ELEMENTS];
    uint32_t at[SEGMENTS + 1];
    disorder(at);
    for (int i = 0; i < ELEMENTS; i++)
        expected[i] = 77;
    tml_buffer in = buffer_of(tml, TML_U32, ELEMENTS, integers);
    tml_buffer begins = buffer_of(tml, TML_U32, SEGMENTS + 1, at);
    tml_buffer out = buffer_of(tml, TML_U64, ELEMENTS, expected);
    CHECK_OK(tml, tml_scan_segments(
                      tml, &(tml_scan_segments_desc){.in = in, .offsets = begins, .out = out}));
    for (int s = 0; s < SEGMENTS; s++) {
        uint64_t sum = 0;
        for (uint32_t i = at[s]; i < at[s + 1] && at[s + 1] <= ELEMENTS; i++) {
            expected[i] = sum;
            sum += integers[i];
        }
    }
    CHECK_OK(tml, tml_read(tml, out, got));
    uint32_t wrong = 0;
    for (int i = 0; i < ELEMENTS; i++)
        wrong += got[i] != expected[i];
    CHECK_EQ_U64(wrong, 0);
}

TEST(integer_scans_of_overlapping_segments)
{
    fill();
    everywhere(scans_of_overlapping_on);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
