/* Checks the papers' programs on every engine on which they run, against plain loops and against
 * the library. A test's name begins with that of its table. */
#include "papers_check.h"

#include "papers.h"

#include "test.h"

#include "contexts.h"

#include <trommel/gl.h>

#include <trommel/kernel_begin.h>

TML_KERNEL(bool, is_below, (uint x, tml_params p), { return x < p.u[0]; })
TML_KERNEL(bool, is_before, (tml_index i, tml_params p), { return U(i) < p.u[0]; })

#include <trommel/kernel_end.h>

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
extern const tml_vulkan_kernel papers_check_kernels[]; /* made by the build */
#endif

enum { CPU, VULKAN, GL, GL_EXACT, WAYS };
static const char *const way_names[WAYS] = {"cpu", "vulkan", "gl", "gl, exact counts"};

/* NULL: there is none here. */
static tml_context *open_engine(int way)
{
    static const tml_engine_kind engines[WAYS] = {TML_ENGINE_CPU, TML_ENGINE_VULKAN, TML_ENGINE_GL,
                                                  TML_ENGINE_GL};
    tml_context *tml = NULL;
    const tml_open_desc desc = {.engine = engines[way],
#ifdef TML_VULKAN
                                .vulkan = &(tml_vulkan_desc){.kernels = papers_check_kernels},
#endif
                                .gl = &(tml_gl_desc){.exact_counts = way == GL_EXACT}};
    return tml_open(&desc, &tml) ? NULL : tml;
}

#define EACH_ENGINE(tml)                                                                           \
    for (int way = 0; way < WAYS; way++)                                                           \
        for (tml_context *tml = open_engine(way); tml; tml_close(tml), tml = NULL)

static uint32_t hash(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static void *room(uint64_t count, size_t size)
{
    void *out = malloc(count * size + 1);
    if (!out)
        abort();
    return out;
}

static uint32_t *hashes(uint32_t count)
{
    uint32_t *out = room(count, sizeof *out);
    for (uint32_t i = 0; i < count; i++)
        out[i] = hash(i);
    return out;
}

/* ---- filters --------------------------------------------------------------------------------- */

/* Lists the kept elements in the filter's order. Returns how many there are. */
static uint32_t plain(const papers_filter *filter, const uint32_t *in, uint32_t count,
                      uint32_t limit, uint32_t *out)
{
    uint32_t side = papers_square_side(count), kept = 0;
    bool in_z_order = filter->order == PAPERS_IN_Z_ORDER;
    uint64_t positions = in_z_order ? (uint64_t)side * side : count;
    for (uint64_t z = 0; z < positions; z++) {
        uint64_t i = in_z_order ? papers_square_index(side, z) : z;
        if (i < count && in[i] < limit)
            out[kept++] = in[i];
    }
    return kept;
}

static int compare_words(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Replaces outputs in any order by the expected ones, if both are the same set; or if there was not
 * room for all outputs, a part of that set. in contains no word twice. */
static void put_in_order(uint32_t *out, uint32_t out_count, uint32_t *expected, uint32_t kept)
{
    uint32_t filled = kept < out_count ? kept : out_count, at = 0;
    qsort(out, filled, sizeof *out, compare_words);
    qsort(expected, kept, sizeof *out, compare_words);
    for (uint32_t i = 0; i < kept && at < filled; i++)
        if (expected[i] == out[at])
            expected[at++] = expected[i];
}

static void compare(tml_context *tml, int way, const papers_filter *filter, uint32_t count,
                    uint32_t limit, uint32_t out_count)
{
    uint32_t *in = hashes(count), *expected = room(count, sizeof *in);
    uint32_t *out = room(out_count, sizeof *in), counted = 0;
    uint32_t kept = plain(filter, in, count, limit, expected);
    for (uint32_t i = 0; i < out_count; i++)
        out[i] = 0xa5a5a5a5u;
    papers_space space;
    CHECK_OK(tml, papers_space_create(tml, count, &space));
    const papers_filter_desc desc = {.keep = TML_USE(is_below),
                                     .params.u = {limit},
                                     .in = buffer_of(tml, TML_U32, count, in),
                                     .out = buffer_of(tml, TML_U32, out_count, out),
                                     .count = buffer_of(tml, TML_U32, 1, NULL),
                                     .space = &space};
    bool is_gl = way >= GL;
    if (filter->order == PAPERS_IN_Z_ORDER ? !is_gl : filter->order == PAPERS_UNORDERED && is_gl) {
        CHECK_STATUS(filter->run(tml, &desc), TML_ERROR_UNSUPPORTED);
    } else {
        CHECK_OK(tml, filter->run(tml, &desc));
        CHECK_OK(tml, tml_buffer_read(tml, desc.count, &counted));
        CHECK_OK(tml, tml_buffer_read(tml, desc.out, out));
        if (filter->order == PAPERS_UNORDERED)
            put_in_order(out, out_count, expected, kept);
        bool is_right = CHECK_EQ_U64(counted, kept);
        for (uint32_t i = 0; i < out_count && is_right; i++)
            is_right = CHECK_EQ_U64(out[i], i < kept ? expected[i] : 0xa5a5a5a5u);
        if (!is_right)
            fprintf(stderr, "%s by %s of %u\n", way_names[way], filter->name, (unsigned)count);
    }
    papers_space_destroy(tml, &space);
    tml_buffer_destroy(tml, desc.in);
    tml_buffer_destroy(tml, desc.out);
    tml_buffer_destroy(tml, desc.count);
    free(in);
    free(expected);
    free(out);
}

TEST(filter_keeps_what_a_loop_keeps)
{
    static const uint32_t counts[] = {1, 3, 4, 5, 16, 17, 1000, 4096, 65536, 100003};
    EACH_ENGINE(tml)
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (size_t f = 0; f < PAPERS_FILTERS; f++) {
            compare(tml, way, &papers_filters[f], counts[c], 0, counts[c]);
            compare(tml, way, &papers_filters[f], counts[c], UINT32_MAX / 3, counts[c]);
            compare(tml, way, &papers_filters[f], counts[c], UINT32_MAX,
                    counts[c] > 1 ? counts[c] / 2 : 1);
        }
}

/* The example of the article on stream compaction: nine of 4 x 4 elements are kept, and key 4 leads
 * to texel [2, 1]. */
TEST(filter_by_squares_finds_what_the_article_finds)
{
    static const uint32_t order[][2] = {{0, 0}, {1, 0}, {0, 1}, {3, 0}, {2, 1},
                                        {0, 2}, {1, 2}, {0, 3}, {2, 2}};
    tml_context *tml = open_engine(GL);
    if (!tml)
        SKIP("no OpenGL ES device");
    uint32_t in[16], out[9], kept, forms = 0;
    for (uint32_t i = 0; i < 16; i++)
        in[i] = 16;
    for (uint32_t i = 0; i < 9; i++)
        in[4 * order[i][1] + order[i][0]] = 4 * order[i][1] + order[i][0];
    papers_filter_desc desc = {.keep = TML_USE(is_below),
                               .params.u = {16},
                               .in = buffer_of(tml, TML_U32, 16, in),
                               .out = buffer_of(tml, TML_U32, 9, NULL),
                               .count = buffer_of(tml, TML_U32, 1, NULL)};
    for (int f = 0; f < PAPERS_FILTERS; f++) {
        if (papers_filters[f].order != PAPERS_IN_Z_ORDER)
            continue;
        CHECK_OK(tml, papers_filters[f].run(tml, &desc));
        CHECK_OK(tml, tml_buffer_read(tml, desc.count, &kept));
        CHECK_OK(tml, tml_buffer_read(tml, desc.out, out));
        CHECK_EQ_U64(kept, 9);
        for (uint32_t i = 0; i < 9; i++)
            CHECK_EQ_U64(out[i], 4 * order[i][1] + order[i][0]);
        forms++;
    }
    CHECK_EQ_U64(forms, 4);
    tml_close(tml);
}

/* Listing 36-2 of GPU Gems 2 as printed. nulls[i]: the number of rejected records up to i. Reads
 * past the end return the last record. Are all outputs correct? */
static bool listing_36_2(const bool *keeps, const double *nulls, int count)
{
    double rejected = nulls[count - 1], half = ceil(rejected / 2 + 0.5);
    int steps = rejected > 0 ? (int)ceil(log2(rejected)) : 0, next = 0;
    for (int here = 0; here < count - (int)rejected; here++) {
        double guess = half, step = half;
        for (int i = 0; i < steps; i++) {
            int at = (int)fmin(here + guess, count - 1);
            step /= 2;
            if (nulls[at] > guess)
                guess += step;
            else if (nulls[at] != guess || !keeps[at])
                guess -= step;
        }
        int found = nulls[here] == 0 ? here : (int)fmin(fmax(here + guess, 0), count - 1);
        while (!keeps[next])
            next++;
        if (found != next++)
            return false;
    }
    return true;
}

/* The running sum of the chapter's scan, in which a record whose index equals the stride takes no
 * part (here > stride). */
static bool scan_as_printed(const bool *keeps, const double *nulls, int count)
{
    double sums[64], before[64];
    for (int i = 0; i < count; i++)
        sums[i] = !keeps[i];
    for (int stride = 1; stride < count; stride *= 2) {
        memcpy(before, sums, sizeof before);
        for (int i = stride + 1; i < count; i++)
            sums[i] = before[i] + before[i - stride];
    }
    return memcmp(sums, nulls, (size_t)count * sizeof *sums) == 0;
}

TEST(filter_by_listings_as_printed_misses_records)
{
    int searches = 0, scans = 0;
    for (uint32_t mask = 0; mask < 2000; mask++) {
        bool keeps[64];
        double nulls[64];
        for (uint32_t i = 0; i < 64; i++) {
            keeps[i] = hash(64 * mask + i) & 1;
            nulls[i] = (i > 0 ? nulls[i - 1] : 0) + !keeps[i];
        }
        searches += listing_36_2(keeps, nulls, 64);
        scans += scan_as_printed(keeps, nulls, 64);
    }
    CHECK(searches < 1000);
    CHECK(scans < 1100);
}

TEST(filter_is_refused_where_numbers_cannot_count)
{
    tml_context *tml = open_engine(GL);
    if (!tml)
        SKIP("no OpenGL ES device");
    const papers_filter_desc desc = {.keep = TML_USE(is_below),
                                     .in = buffer_of(tml, TML_U32, (1 << 24) + 1, NULL),
                                     .out = buffer_of(tml, TML_U32, 16, NULL),
                                     .count = buffer_of(tml, TML_U32, 1, NULL)};
    CHECK_STATUS(papers_one_fetch_filter(tml, &desc), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "16777216"));
    tml_close(tml);
}

/* ---- scans and expansions -------------------------------------------------------------------- */

TEST(filter_scans_as_the_library)
{
    static const uint32_t counts[] = {1, 2, 1000, 65537};
    EACH_ENGINE(tml)
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        uint32_t count = counts[c], *in = hashes(count);
        for (uint32_t i = 0; i < count; i++)
            in[i] &= 0xffff; /* or sums would stay at the largest */
        papers_space space;
        CHECK_OK(tml, papers_space_create(tml, count, &space));
        tml_buffer from = buffer_of(tml, TML_U32, count, in);
        tml_buffer ours = buffer_of(tml, TML_U32, count, NULL);
        tml_buffer out = buffer_of(tml, TML_U32, count, NULL);
        CHECK_OK(tml, papers_scan(tml, from, out, &space));
        CHECK_OK(tml, tml_scan(tml, &(tml_scan_desc){.in = from, .inclusive = true, .out = ours}));
        uint32_t *got = fetch(tml, out, count), *expected = fetch(tml, ours, count);
        CHECK(memcmp(got, expected, count * sizeof *got) == 0);
        free(got);
        free(expected);
        free(in);
        papers_space_destroy(tml, &space);
        tml_buffer_destroy(tml, from);
        tml_buffer_destroy(tml, ours);
        tml_buffer_destroy(tml, out);
    }
}

TEST(filter_expands_as_the_library)
{
    static const uint32_t counts[] = {1, 5, 1000, 30011};
    EACH_ENGINE(tml)
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        uint32_t count = counts[c], *in = hashes(count);
        for (uint32_t i = 0; i < count; i++)
            in[i] = in[i] % 5;
        in[0] = 3;
        uint32_t most = 2 * count; /* about all, or fewer */
        papers_space space;
        CHECK_OK(tml, papers_space_create(tml, count, &space));
        tml_buffer from = buffer_of(tml, TML_U32, count, in);
        tml_buffer out[2][3];
        uint32_t *got[2][3];
        for (int i = 0; i < 2; i++) {
            uint32_t *zeros = calloc(most, sizeof *zeros);
            for (int o = 0; o < 3; o++)
                out[i][o] = buffer_of(tml, TML_U32, o < 2 ? most : 1, zeros);
            free(zeros);
        }
        CHECK_OK(tml, papers_expand(tml, &(papers_expand_desc){.counts = from,
                                                               .source = out[0][0],
                                                               .rank = out[0][1],
                                                               .total = out[0][2],
                                                               .space = &space}));
        CHECK_OK(tml, tml_expand(tml, &(tml_expand_desc){.counts = from,
                                                         .source = out[1][0],
                                                         .rank = out[1][1],
                                                         .total = out[1][2]}));
        for (int o = 0; o < 3; o++) {
            uint32_t elements = o < 2 ? most : 1;
            for (int i = 0; i < 2; i++)
                got[i][o] = fetch(tml, out[i][o], elements);
            CHECK(memcmp(got[0][o], got[1][o], elements * sizeof **got[0]) == 0);
            for (int i = 0; i < 2; i++) {
                free(got[i][o]);
                tml_buffer_destroy(tml, out[i][o]);
            }
        }
        free(in);
        papers_space_destroy(tml, &space);
        tml_buffer_destroy(tml, from);
    }
}

/* ---- averages -------------------------------------------------------------------------------- */

static const struct {
    uint32_t width, height, channels;
    float floor;
} pictures[] = {
    {61, 131, 3, 0}, {1, 1, 1, 0}, {257, 2, 4, 0.001f}, {997, 1, 3, 0}, {1, 1031, 1, 0}};
enum { PICTURES = sizeof pictures / sizeof pictures[0] };

/* Some of them negative. */
static float *texels_of(uint32_t count)
{
    float *out = room(count, sizeof *out);
    for (uint32_t i = 0; i < count; i++)
        out[i] = (float)(hash(i) >> 8) * 0x1p-22f - 0.25f;
    return out;
}

TEST(averages_by_blits_drop_odd_rows_and_columns)
{
    EACH_ENGINE(tml)
    for (int p = 0; p < PICTURES; p++) {
        uint32_t width = pictures[p].width, height = pictures[p].height, n = pictures[p].channels;
        uint32_t columns = width > 1 ? width / 2 : 1, rows = height > 1 ? height / 2 : 1;
        float *texels = texels_of(width * height * n);
        tml_buffer in = buffer_of(tml, TML_F32, (uint64_t)width * height * n, texels);
        tml_buffer out = buffer_of(tml, TML_F32, (uint64_t)columns * rows * n, NULL);
        CHECK_OK(tml, papers_box_level(tml, in, width, height, n, out));
        float *got = fetch(tml, out, (uint64_t)columns * rows * n);
        for (uint32_t i = 0; i < columns * rows * n; i++) {
            uint32_t c = i % n, x = i / n % columns * 2, y = i / n / columns * 2;
            uint32_t right = x + 1 < width ? x + 1 : x, below = y + 1 < height ? y + 1 : y;
            double sum = (double)texels[(y * width + x) * n + c] +
                         (double)texels[(y * width + right) * n + c] +
                         (double)texels[(below * width + x) * n + c] +
                         (double)texels[(below * width + right) * n + c];
            if (!CHECK_NEAR(got[i], sum / 4, 1e-6))
                break;
        }
        tml_buffer_destroy(tml, in);
        tml_buffer_destroy(tml, out);
        free(got);
        free(texels);
    }
}

TEST(averages_of_blocks_are_within_their_bound)
{
    EACH_ENGINE(tml)
    for (int p = 0; p < PICTURES; p++) {
        uint32_t width = pictures[p].width, height = pictures[p].height, n = pictures[p].channels;
        float *texels = texels_of(width * height * n), *got;
        double logs = 0, sum = 0, magnitude = 0, pixels = (double)width * height;
        texels[0] = width > 1 ? NAN : 1;
        for (uint32_t i = 0; i < width * height; i++) {
            const float *t = texels + (size_t)i * n;
            float value = n < 3 ? t[0] : 0.2126f * t[0] + 0.7152f * t[1] + 0.0722f * t[2];
            float seen = fmaxf(value, pictures[p].floor);
            if (!isfinite(value))
                continue;
            logs += seen > 0 ? log2((double)seen) : 0;
            sum += (double)value;
            magnitude += fabs((double)value);
        }
        papers_blocks_desc desc = {
            .in = buffer_of(tml, TML_F32, (uint64_t)width * height * n, texels),
            .width = width,
            .height = height,
            .channels = n,
            .floor = pictures[p].floor,
            .out = buffer_of(tml, TML_VEC(TML_F32, 2), 1, NULL)};
        for (int s = 0; s < 2; s++)
            desc.space[s] = buffer_of(tml, TML_VEC(TML_F32, 2),
                                      (uint64_t)papers_blocks(width) * papers_blocks(height), NULL);
        CHECK_OK(tml, papers_block_means(tml, &desc));
        got = fetch(tml, desc.out, 1);
        double levels = tml_mip_level(width, height, 0, NULL, NULL, NULL);
        CHECK_NEAR(got[0], logs / pixels, (2 * levels + 4) * 0x1p-24 * 128);
        CHECK_NEAR(got[1], sum / pixels, (2 * levels + 4) * 0x1p-24 * magnitude / pixels);
        tml_buffer_destroy(tml, desc.in);
        tml_buffer_destroy(tml, desc.space[0]);
        tml_buffer_destroy(tml, desc.space[1]);
        tml_buffer_destroy(tml, desc.out);
        free(got);
        free(texels);
    }
}

/* A chain of blits as a device computes it, from level to level: each texel is fetched at its
 * centre by a linear filter. */
static double blit_chain(const float *in, uint32_t width, uint32_t height, bool even)
{
    double *from = room((uint64_t)width * height, sizeof *from);
    for (uint64_t i = 0; i < (uint64_t)width * height; i++)
        from[i] = (double)in[i];
    uint32_t stride = width;
    while (width > 1 || height > 1) {
        uint32_t w = width > 1 ? width / 2 : 1, h = height > 1 ? height / 2 : 1;
        double *to = room((uint64_t)w * h, sizeof *to);
        double sx = even ? (width > 1 ? 2.0 : 1.0) : (double)width / w;
        double sy = even ? (height > 1 ? 2.0 : 1.0) : (double)height / h;
        for (uint32_t y = 0; y < h; y++)
            for (uint32_t x = 0; x < w; x++) {
                double u = (x + 0.5) * sx - 0.5, v = (y + 0.5) * sy - 0.5, sum = 0;
                for (int k = 0; k < 4; k++) {
                    double at[2] = {floor(u) + (k & 1), floor(v) + (k >> 1)};
                    double share = (1 - fabs(at[0] - u)) * (1 - fabs(at[1] - v));
                    if (share > 0)
                        sum += share * from[(uint64_t)at[1] * stride + (uint64_t)at[0]];
                }
                to[(uint64_t)y * w + x] = sum;
            }
        free(from);
        from = to;
        width = stride = w;
        height = h;
    }
    double last = from[0];
    free(from);
    return last;
}

TEST(averages_have_the_weights_of_chains)
{
    static const uint32_t sizes[][2] = {{1, 1},   {3, 3},   {2, 3},  {1, 7},
                                        {31, 17}, {64, 64}, {99, 70}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        uint32_t width = sizes[s][0], height = sizes[s][1];
        uint64_t pixels = (uint64_t)width * height;
        float *values = room(pixels, sizeof *values);
        double columns[100], rows[100];
        for (uint64_t i = 0; i < pixels; i++)
            values[i] = (float)(hash((uint32_t)i) >> 8) * 0x1p-24f;
        for (int how = 0; how < PAPERS_REDUCTIONS; how++) {
            CHECK_EQ_I64(papers_axis_weights((papers_reduction)how, width, columns), TML_OK);
            CHECK_EQ_I64(papers_axis_weights((papers_reduction)how, height, rows), TML_OK);
            double sum = papers_weighted(values, width, columns, width, rows, height);
            if (how != PAPERS_BLOCKS_OF_8)
                CHECK_NEAR(sum, blit_chain(values, width, height, how == PAPERS_EVEN_BLIT), 1e-12);
        }
        free(values);
    }
}

/* The article's figures for 3 x 3, and those of a full HD screen. */
TEST(averages_leave_most_pixels_of_a_screen_out)
{
    static const struct {
        uint32_t width, height;
        double unseen, effective;
    } cases[] = {{3, 3, 8.0 / 9, 1.0 / 9}, {1920, 1080, 0.937, 0.023}, {1024, 1024, 0, 1}};
    double columns[1920], rows[1080];
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        CHECK_EQ_I64(papers_axis_weights(PAPERS_BLIT, cases[c].width, columns), TML_OK);
        CHECK_EQ_I64(papers_axis_weights(PAPERS_BLIT, cases[c].height, rows), TML_OK);
        papers_coverage of = papers_coverage_of(columns, cases[c].width, rows, cases[c].height);
        CHECK_NEAR(of.unseen, cases[c].unseen, 6e-4);
        CHECK_NEAR(of.effective, cases[c].effective, 6e-4);
    }
}

TEST(averages_by_the_articles_factor_need_as_many_passes_both_ways)
{
    static const uint32_t sizes[][2] = {{1920, 1080}, {1280, 720}, {33, 32}, {1, 1}, {1, 40}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        uint32_t width = sizes[s][0], height = sizes[s][1];
        uint64_t pixels = (uint64_t)width * height;
        float *values = room(pixels, sizeof *values);
        double sum = 0, larger = width > height ? width : height;
        for (uint64_t i = 0; i < pixels; i++)
            sum += (double)(values[i] = (float)(hash((uint32_t)i) >> 8) * -0x1p-24f);
        int passes[2] = {0, 0};
        for (int a = 0; a < 2; a++)
            for (double side = 1; side < (a ? height : width); side *= 32)
                passes[a]++;
        papers_padded of;
        papers_padding how = {.side = 32};
        CHECK_EQ_I64(papers_padded_average(values, width, width, height, &how, &of), TML_OK);
        CHECK_NEAR(of.by_passes, sum / pixels, 1e-7);
        CHECK_NEAR(of.by_article, sum / pixels / pow(32, abs(passes[0] - passes[1])), 1e-7);
        how.in_halves = true;
        CHECK_EQ_I64(papers_padded_average(values, width, width, height, &how, &of), TML_OK);
        CHECK_NEAR(of.by_passes, sum / pixels, larger > 1 ? 0x1p-9 : 0x1p-11);
        /* In a target whose sides are powers of two, an axis has its own number of passes, and the
         * factor is correct. */
        how = (papers_padding){.side = 2, .is_target = true};
        CHECK_EQ_I64(papers_padded_average(values, width, width, height, &how, &of), TML_OK);
        CHECK_NEAR(of.by_passes, sum / pixels, 1e-6);
        CHECK(of.by_article == of.by_passes);
        free(values);
    }
}

/* ---- floats in bytes ------------------------------------------------------------------------- */

/* The bytes are wrong if a float's logarithm is rounded up to that of the next power of two, and
 * that power's exponent is even. If it is odd, the mantissa borrows from the exponent, which
 * compensates. */
TEST(floats_by_logarithms_fail_below_powers_of_two)
{
    CHECK_EQ_U64(papers_floats_pack(-3.1415927f), 0xc0490fdbu);
    CHECK(papers_floats_unpack(0xc0490fdbu) == -3.1415927f);
    CHECK(papers_floats_pack(nextafterf(32768.0f, 0)) != 0x46ffffffu);
    EACH_ENGINE(tml)
    {
        papers_floats counted;
        uint64_t near = 0;
        /* [1.25, 1.5) is far from every power of two. */
        CHECK_OK(tml, papers_floats_count(tml, 0x3fa00000u, 1, 1 << 21, &counted));
        CHECK_EQ_U64(counted.packed_wrong, 0);
        CHECK_EQ_U64(counted.unpacked_wrong, 0);
        CHECK_OK(tml, papers_floats_near_powers(tml, &near));
        CHECK(near > 100 && near <= 1268);
    }
}

/* ---- surfaces -------------------------------------------------------------------------------- */

static int compare_triangles(const void *a, const void *b)
{
    return memcmp(a, b, 9 * sizeof(float));
}

/* The normal of the paper's shader, in double: the gradients at both ends of the vertex's edge,
 * interpolated at the vertex. */
static void plain_normal(const float *volume, const uint64_t dims[3], papers_normals kind,
                         const float at[3], double out[3])
{
    int64_t end[2][3], size[3] = {(int64_t)dims[0], (int64_t)dims[1], (int64_t)dims[2]};
    double t = 0, g[2][3], length = 0;
    for (int a = 0; a < 3; a++) {
        end[0][a] = (int64_t)floorf(at[a]);
        end[1][a] = (int64_t)ceilf(at[a]);
        t += at[a] - (double)end[0][a];
    }
    for (int e = 0; e < 2; e++)
        for (int a = 0; a < 3; a++) {
            g[e][a] = 0;
            for (int64_t k = 0; k < 27; k++) {
                int64_t p[3], d[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
                bool is_forward = kind == PAPERS_NORMALS_FORWARD;
                int others = abs((int)d[(a + 1) % 3]) + abs((int)d[(a + 2) % 3]);
                for (int c = 0; c < 3; c++) {
                    bool is_last = is_forward && end[e][c] == size[c] - 1;
                    p[c] = end[e][c] - is_last + d[c];
                    p[c] = p[c] < 0 ? 0 : p[c] < size[c] ? p[c] : size[c] - 1;
                }
                double weight = !is_forward ? (double)d[a]
                                : others    ? 0
                                : d[a] > 0  ? 1
                                : d[a] < 0  ? 0
                                            : -1;
                g[e][a] += weight * (double)volume[(p[2] * size[1] + p[1]) * size[0] + p[0]];
            }
        }
    for (int a = 0; a < 3; a++) {
        out[a] = -(g[0][a] + t * (g[1][a] - g[0][a]));
        length += out[a] * out[a];
    }
    for (int a = 0; a < 3; a++)
        out[a] /= length > 0 ? sqrt(length) : 1;
}

static void check_normals(const float *volume, const uint64_t dims[3], papers_normals kind,
                          const float *at, const float *normals, uint64_t count)
{
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < count; i++) {
        double expected[3], apart = 0;
        plain_normal(volume, dims, kind, at + 3 * i, expected);
        for (int a = 0; a < 3; a++)
            apart = fmax(apart, fabs(expected[a] - (double)normals[3 * i + (uint64_t)a]));
        wrong += !(apart < 1e-3);
    }
    CHECK(count > 0);
    CHECK_EQ_U64(wrong, 0);
}

/* All methods give the same triangles, in some order: the soup of tml_surface has positions in
 * samples, computed by the same arithmetic. */
/* The used slots hold the soup's triangles; the others are zeros. */
static void compare_scattered(tml_context *tml, const papers_surface_desc *classic,
                              const float *soup, uint64_t triangles)
{
    const uint64_t room_of = 15 * classic->dims[0] * classic->dims[1] * classic->dims[2];
    float *out = room(3 * room_of, sizeof *out);
    static const float empty[9];
    papers_surface_desc desc = {.volume = classic->volume,
                                .dims = {classic->dims[0], classic->dims[1], classic->dims[2]},
                                .iso = classic->iso,
                                .scattered = true,
                                .room = room_of,
                                .out = buffer_of(tml, TML_VEC(TML_F32, 3), room_of, NULL)};
    uint64_t filled = 0;
    for (int one_fetch = 0; one_fetch < 2; one_fetch++) {
        desc.one_fetch = one_fetch;
        CHECK_OK(tml, papers_surface(tml, &desc));
        CHECK_OK(tml, tml_buffer_read(tml, desc.out, out));
        filled = 0;
        for (uint64_t t = 0; t < room_of / 3; t++)
            if (memcmp(out + 9 * t, empty, sizeof empty) != 0)
                memmove(out + 9 * filled++, out + 9 * t, sizeof empty);
        CHECK_EQ_U64(filled, triangles);
        qsort(out, filled, sizeof empty, compare_triangles);
        CHECK(filled == triangles && memcmp(out, soup, filled * sizeof empty) == 0);
    }
    tml_buffer_destroy(tml, desc.out);
    free(out);
}

static void compare_soups(tml_context *tml, const uint64_t dims[3])
{
    uint64_t samples = dims[0] * dims[1] * dims[2];
    float *volume = malloc(samples * sizeof *volume);
    if (!volume)
        abort();
    for (uint64_t i = 0; i < samples; i++)
        volume[i] = (float)(hash((uint32_t)i) >> 8) * 0x1p-24f;
    tml_surface_desc desc = {.volume = buffer_of(tml, TML_F32, samples, volume),
                             .grid.dims = {dims[0], dims[1], dims[2]},
                             .iso = 0.625,
                             .soup = true};
    tml_surface_result ours;
    CHECK_OK(tml, tml_surface(tml, &desc, &ours));
    const tml_type vector = TML_VEC(TML_F32, 3);
    papers_surface_desc classic = {.volume = desc.volume,
                                   .dims = {dims[0], dims[1], dims[2]},
                                   .iso = (float)desc.iso,
                                   .room = ours.vertex_count,
                                   .out = buffer_of(tml, vector, ours.vertex_count, NULL),
                                   .out_normals = buffer_of(tml, vector, ours.vertex_count, NULL),
                                   .count = buffer_of(tml, TML_U32, 1, NULL)};
    size_t size = ours.vertex_count * 3 * sizeof(float);
    float *a = malloc(size), *b = malloc(size);
    if (!a || !b)
        abort();
    CHECK_OK(tml, tml_buffer_read(tml, ours.mesh.positions, b));
    CHECK(ours.triangle_count > 0);
    qsort(b, ours.triangle_count, 9 * sizeof(float), compare_triangles);
    for (int k = 0; k < 6; k++) {
        uint32_t vertices = 0;
        classic.one_fetch = k % 2;
        classic.normals = (papers_normals)(k / 2);
        CHECK_OK(tml, papers_surface(tml, &classic));
        CHECK_OK(tml, tml_buffer_read(tml, classic.count, &vertices));
        CHECK_OK(tml, tml_buffer_read(tml, classic.out, a));
        CHECK_EQ_U64(vertices, ours.vertex_count);
        if (classic.normals) {
            float *normals = room(3 * ours.vertex_count, sizeof *normals);
            CHECK_OK(tml, tml_buffer_read(tml, classic.out_normals, normals));
            check_normals(volume, dims, classic.normals, a, normals, ours.vertex_count);
            free(normals);
        }
        qsort(a, ours.triangle_count, 9 * sizeof(float), compare_triangles);
        CHECK(memcmp(a, b, size) == 0);
    }
    compare_scattered(tml, &classic, b, ours.triangle_count);
    tml_surface_free(tml, &ours);
    tml_buffer_destroy(tml, desc.volume);
    tml_buffer_destroy(tml, classic.out);
    tml_buffer_destroy(tml, classic.out_normals);
    tml_buffer_destroy(tml, classic.count);
    free(volume);
    free(a);
    free(b);
}

TEST(surface_and_soups_have_the_same_triangles)
{
    static const uint64_t sizes[][3] = {{2, 2, 2}, {5, 3, 4}, {16, 16, 16}, {33, 17, 20}};
    tml_context *tml = open_engine(GL);
    if (!tml)
        SKIP("no OpenGL ES device");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        compare_soups(tml, sizes[i]);
    tml_close(tml);
}

/* ---- bounding volumes ------------------------------------------------------------------------ */

enum { AROUND = 256, ACROSS = 96 };

/* A torus of radii 1 and thickness about z, its points listed ring by ring. */
static void make_torus(double thickness, float *points, uint32_t *corners)
{
    static const int order[] = {0, 1, 2, 0, 2, 3};
    for (uint32_t i = 0; i < AROUND * ACROSS; i++) {
        double u = i / ACROSS * 6.283185307179586 / AROUND;
        double v = i % ACROSS * 6.283185307179586 / ACROSS;
        uint32_t ring = (i / ACROSS + 1) % AROUND * ACROSS, next = (i + 1) % ACROSS;
        const uint32_t quad[] = {i, ring + i % ACROSS, ring + next, i / ACROSS * ACROSS + next};
        points[3 * i] = (float)((1 + thickness * cos(v)) * cos(u));
        points[3 * i + 1] = (float)((1 + thickness * cos(v)) * sin(u));
        points[3 * i + 2] = (float)(thickness * sin(v));
        for (uint32_t k = 0; k < 6; k++)
            corners[6 * i + k] = quad[order[k]];
    }
}

static tml_tree *torus(tml_context *tml, double thickness)
{
    float *points = room(3 * AROUND * ACROSS, sizeof *points);
    uint32_t *corners = room(6 * AROUND * ACROSS, sizeof *corners);
    tml_tree *tree = NULL;
    make_torus(thickness, points, corners);
    tml_buffer vertices = buffer_of(tml, TML_VEC(TML_F32, 3), AROUND * ACROSS, points);
    tml_buffer indices = buffer_of(tml, TML_VEC(TML_U32, 3), 2 * AROUND * ACROSS, corners);
    CHECK_OK(tml, tml_tree_create(tml, &(tml_tree_desc){.vertices = vertices, .indices = indices},
                                  &tree));
    tml_buffer_destroy(tml, vertices);
    tml_buffer_destroy(tml, indices);
    free(points);
    free(corners);
    return tree;
}

/* Every volume finds the library's pairs, and a tighter volume needs less work; slabs are the
 * library's own. */
static void compare_volumes(tml_context *tml, tml_tree *a, tml_tree *b, const float *pose,
                            papers_volume_result found[PAPERS_VOLUMES])
{
    papers_oriented *boxes[2] = {NULL, NULL};
    tml_collide_result ours;
    CHECK_OK(tml, papers_oriented_create(tml, a, &boxes[0]));
    CHECK_OK(tml, papers_oriented_create(tml, b, &boxes[1]));
    CHECK_OK(
        tml,
        tml_collide(
            tml,
            &(tml_collide_desc){
                .a = a, .b = b, .poses = pose, .pose_count = 1, .want = TML_COLLIDE_WANT_COUNT},
            &ours));
    for (int v = 0; v < PAPERS_VOLUMES; v++) {
        CHECK_OK(tml, papers_volume_collide(tml,
                                            &(papers_volume_desc){.a = a,
                                                                  .b = b,
                                                                  .volume = (papers_volume)v,
                                                                  .a_boxes = boxes[0],
                                                                  .b_boxes = boxes[1],
                                                                  .poses = pose,
                                                                  .pose_count = 1},
                                            &found[v]));
        CHECK_EQ_U64(found[v].pairs, ours.count);
    }
    CHECK_EQ_U64(found[PAPERS_VOLUME_SLABS].node_pairs, ours.node_pairs);
    CHECK_EQ_U64(found[PAPERS_VOLUME_SLABS].tested, ours.tested);
    CHECK_EQ_U64(found[PAPERS_VOLUME_AXES].node_pairs, ours.node_pairs);
    CHECK(found[PAPERS_VOLUME_ORIENTED_15].node_pairs <=
          found[PAPERS_VOLUME_ORIENTED_6].node_pairs);
    CHECK(found[PAPERS_VOLUME_ORIENTED_6].node_pairs <= found[PAPERS_VOLUME_AXES].node_pairs);
    tml_collide_free(tml, &ours);
    papers_oriented_destroy(tml, boxes[0]);
    papers_oriented_destroy(tml, boxes[1]);
}

TEST(boxes_of_all_kinds_find_the_same_pairs)
{
    static const float none[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    static const float turned[] = {0.6f, -0.8f, 0, 0.002f, 0.8f, 0.6f, 0, 0, 0, 0, 1, 0.001f};
    static const float linked[] = {1, 0, 0, 0.5f, 0, 0, -1, 0, 0, 1, 0, 0.02f};
    static const float apart[] = {1, 0, 0, 9, 0, 1, 0, 0, 0, 0, 1, 0};
    tml_context *tml = open_engine(CPU);
    tml_tree *outer = torus(tml, 0.3), *inner = torus(tml, 0.29);
    papers_volume_result found[PAPERS_VOLUMES];
    compare_volumes(tml, outer, outer, turned, found);
    CHECK(found[0].pairs > 1000);
    compare_volumes(tml, outer, inner, none, found);
    CHECK_EQ_U64(found[0].pairs, 0);
    /* The boxes are tight: they separate leaves that lie along each other. */
    CHECK(found[0].tested > 1000 &&
          10 * found[PAPERS_VOLUME_ORIENTED_LEAVES].tested < found[0].tested);
    CHECK(2 * found[PAPERS_VOLUME_ORIENTED_6].node_pairs < found[0].node_pairs);
    compare_volumes(tml, outer, inner, linked, found);
    CHECK(found[0].pairs > 0);
    compare_volumes(tml, inner, inner, apart, found);
    CHECK_EQ_U64(found[0].node_pairs, 0);
    tml_tree_destroy(tml, outer);
    tml_tree_destroy(tml, inner);
    tml_close(tml);
}

/* ---- image space ----------------------------------------------------------------------------- */

/* The number of triangles that are kept, of two octahedra of radius 1, the second one at x. */
static uint32_t candidates(float x, uint32_t side)
{
    float points[2][18] = {{0}};
    uint32_t corners[24];
    uint8_t kept[2][8], *rows[] = {kept[0], kept[1]};
    for (uint32_t m = 0; m < 2; m++)
        for (uint32_t i = 0; i < 6; i++) {
            points[m][3 * i] = m ? x : 0;
            points[m][3 * i + i / 2] += i % 2 ? -1.0f : 1.0f;
        }
    for (uint32_t i = 0; i < 24; i++)
        corners[i] = 2 * (i % 3) + (i / 3 >> i % 3 & 1);
    const papers_image_mesh meshes[] = {{points[0], corners, 6, 8}, {points[1], corners, 6, 8}};
    CHECK(papers_image_candidates(meshes, side, rows) == TML_OK);
    uint32_t count = 0;
    for (uint32_t i = 0; i < 16; i++)
        count += kept[i / 8][i % 8];
    return count;
}

/* Triangles that are apart are excluded. Triangles that cross are found once pixels are smaller
 * than the depth of the crossing. */
TEST(images_show_what_crosses_by_more_than_a_pixel)
{
    CHECK_EQ_U64(candidates(2.1f, 64), 0);
    CHECK_EQ_U64(candidates(1.99f, 64), 0);
    CHECK(candidates(1.99f, 4096) > 0);
    CHECK(candidates(0.5f, 64) >= 8);
}

/* Against the exact list: fewer pixels miss more pairs. */
TEST(images_that_are_finer_miss_fewer_pairs)
{
    static const float none[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    tml_context *tml = open_engine(CPU);
    float *points[2];
    uint32_t *corners = room(6 * AROUND * ACROSS, sizeof *corners);
    uint8_t *kept[2];
    papers_image_mesh meshes[2];
    tml_tree *trees[2];
    for (int m = 0; m < 2; m++) {
        points[m] = room(3 * AROUND * ACROSS, sizeof(float));
        kept[m] = room(2 * AROUND * ACROSS, 1);
        make_torus(0.3, points[m], corners);
        for (uint32_t i = 0; i < 3 * AROUND * ACROSS && m == 1; i += 3)
            points[m][i] += 0.37f, points[m][i + 2] += 0.11f;
        meshes[m] = (papers_image_mesh){points[m], corners, AROUND * ACROSS, 2 * AROUND * ACROSS};
        tml_buffer in[] = {buffer_of(tml, TML_VEC(TML_F32, 3), AROUND * ACROSS, points[m]),
                           buffer_of(tml, TML_VEC(TML_U32, 3), 2 * AROUND * ACROSS, corners)};
        CHECK_OK(tml, tml_tree_create(tml, &(tml_tree_desc){.vertices = in[0], .indices = in[1]},
                                      &trees[m]));
        tml_buffer_destroy(tml, in[0]);
        tml_buffer_destroy(tml, in[1]);
    }
    tml_collide_result exact;
    CHECK_OK(tml, tml_collide(tml,
                              &(tml_collide_desc){
                                  .a = trees[0], .b = trees[1], .poses = none, .pose_count = 1},
                              &exact));
    uint64_t missed[2] = {0, 0};
    for (uint32_t i = 0; i < 2; i++) {
        CHECK(papers_image_candidates(meshes, i ? 1024 : 64, kept) == TML_OK);
        for (uint64_t p = 0; p < exact.count; p++)
            missed[i] += !kept[0][exact.pairs[p].a] || !kept[1][exact.pairs[p].b];
    }
    CHECK(exact.count > 100 && missed[1] > 0 && 4 * missed[1] < 3 * missed[0]);
    tml_collide_free(tml, &exact);
    for (int m = 0; m < 2; m++) {
        tml_tree_destroy(tml, trees[m]);
        free(points[m]);
        free(kept[m]);
    }
    free(corners);
    tml_close(tml);
}

/* ---- self-contained triangles ---------------------------------------------------------------- */

/* Two levels, so that neighbours matter. Triangle by triangle, the corners are the library's,
 * except for roundings. */
static void compare_selves(tml_context *tml, uint32_t around, uint32_t across)
{
    static const int order[] = {0, 1, 2, 0, 2, 3};
    const uint32_t count = 2 * around * across, levels = 2, most = count << 2 * levels;
    float *points = room(3 * around * across, sizeof *points);
    float *records = room(48 * most, sizeof *records);
    uint32_t *corners = room(3 * most, sizeof *corners);
    for (uint32_t i = 0; i < 3 * around * across; i++)
        points[i] = (float)(hash(i) >> 8) * 0x1p-24f;
    for (uint32_t i = 0; i < around * across; i++) {
        uint32_t ring = (i / across + 1) % around * across, next = (i + 1) % across;
        const uint32_t quad[] = {i, ring + i % across, ring + next, i / across * across + next};
        for (uint32_t k = 0; k < 6; k++)
            corners[6 * i + k] = quad[order[k]];
    }
    papers_self_torus(points, around, across, records);
    const tml_type texel = TML_VEC(TML_F32, 4);
    tml_buffer level[] = {buffer_of(tml, texel, 12 * count, records),
                          buffer_of(tml, texel, 48 * count, NULL),
                          buffer_of(tml, texel, 192 * count, NULL)};
    tml_buffer mesh[] = {buffer_of(tml, TML_VEC(TML_F32, 3), around * across, points),
                         buffer_of(tml, TML_VEC(TML_U32, 3), count, corners)};
    tml_subdivider *subdivider;
    tml_subdivide_result fine;
    for (uint32_t l = 0; l < levels; l++)
        CHECK_OK(tml, papers_self_split(tml, count << 2 * l, level[l], level[l + 1]));
    CHECK_OK(tml, tml_buffer_read(tml, level[levels], records));
    CHECK_OK(tml,
             tml_subdivider_create(
                 tml, &(tml_subdivider_desc){.mesh = {.positions = mesh[0], .indices = mesh[1]}},
                 &subdivider));
    CHECK_OK(tml, tml_subdivide_uniform_enqueue(
                      subdivider, &(tml_subdivide_uniform_desc){.levels = levels}, &fine));
    float *vertices = room(3 * fine.vertex_count, sizeof *vertices);
    CHECK_OK(tml, tml_buffer_read(tml, fine.buffers.mesh.positions, vertices));
    CHECK_OK(tml, tml_buffer_read(tml, fine.buffers.mesh.indices, corners));
    double farthest = 0;
    for (uint32_t i = 0; i < 3 * most; i++)
        for (uint32_t k = 0; k < 3; k++)
            farthest = fmax(farthest, fabs((double)records[48 * (i / 3) + 4 * (i % 3) + k] -
                                           (double)vertices[3 * corners[i] + k]));
    CHECK(farthest < 1e-6 && fine.triangle_count == most);
    tml_subdivide_free(tml, &fine);
    tml_subdivider_destroy(tml, subdivider);
    for (int i = 0; i < 3; i++)
        tml_buffer_destroy(tml, level[i]);
    tml_buffer_destroy(tml, mesh[0]);
    tml_buffer_destroy(tml, mesh[1]);
    free(points);
    free(records);
    free(corners);
    free(vertices);
}

TEST(selves_become_the_librarys_triangles)
{
    EACH_ENGINE(tml)
    {
        compare_selves(tml, 3, 4);
        compare_selves(tml, 7, 5);
        compare_selves(tml, 16, 32);
    }
}

/* ---- pictures -------------------------------------------------------------------------------- */

static const uint32_t none = 0xff180808, all = 0xffa4fffc, white = 0xffffffff;

static uint32_t pixel_at(const uint8_t *rgba, uint64_t i)
{
    const uint8_t *p = rgba + 4 * i;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Draws the picture with the first `kept` of count elements kept. Returns the pixels, or NULL on
 * failure. */
static uint8_t *paint(tml_context *tml, uint32_t count, uint32_t kept, uint32_t *width,
                      uint32_t *height)
{
    tml_buffer total;
    papers_picture_size(count, width, height);
    uint8_t *rgba = malloc((size_t)*width * *height * 4);
    if (!rgba || !CHECK_OK(tml, tml_buffer_create(
                                    tml, &(tml_buffer_desc){.type = TML_U32, .count = 1}, &total)))
        return NULL;
    uint32_t counted = 0;
    CHECK_OK(tml, papers_picture(tml, &(papers_picture_desc){.keep = {.kernel = TML_USE(is_before),
                                                                      .params.u = {kept}},
                                                             .length = count,
                                                             .count = total,
                                                             .rgba = rgba}));
    CHECK_OK(tml, tml_buffer_read(tml, total, &counted));
    CHECK_EQ_U64(counted, kept);
    tml_buffer_destroy(tml, total);
    return rgba;
}

TEST(picture_colours_say_how_much_is_kept)
{
    tml_context *tml = open_engine(GL);
    if (!tml)
        SKIP("no OpenGL ES device");
    static const uint32_t counts[] = {1, 1000, 300007};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (uint32_t keeps = 0; keeps < 2; keeps++) {
            uint32_t width, height;
            uint8_t *rgba = paint(tml, counts[c], keeps * counts[c], &width, &height);
            uint64_t painted = 0;
            for (uint64_t i = 0; rgba && i < (uint64_t)width * height; i++) {
                uint32_t pixel = pixel_at(rgba, i);
                painted += pixel != white;
                if (pixel != white && !CHECK_EQ_U64(pixel, keeps ? all : none))
                    break;
            }
            CHECK(painted > width);
            free(rgba);
        }
    tml_close(tml);
}

/* With two halves of the elements light and dark, the base shows light before dark, and the apex is
 * in between. */
TEST(picture_runs_from_left_to_right)
{
    tml_context *tml = open_engine(GL);
    if (!tml)
        SKIP("no OpenGL ES device");
    uint32_t width, height;
    uint8_t *rgba = paint(tml, 1 << 14, 1 << 13, &width, &height);
    if (rgba) {
        uint32_t first = 0, last = height - 1;
        while (pixel_at(rgba, (uint64_t)first * width + width / 2) == white)
            first++;
        while (pixel_at(rgba, (uint64_t)last * width) == white)
            last--;
        uint32_t apex = pixel_at(rgba, (uint64_t)first * width + width / 4);
        CHECK(apex != all && apex != none);
        CHECK_EQ_U64(pixel_at(rgba, (uint64_t)last * width + 1), all);
        CHECK_EQ_U64(pixel_at(rgba, (uint64_t)last * width + width - 3), none);
    }
    free(rgba);
    tml_close(tml);
}

#ifdef TML_GL
static void check_refusals(tml_context *tml, const char *word)
{
    uint8_t rgba[4];
    CHECK_STATUS(papers_one_fetch_filter(tml, &(papers_filter_desc){.keep = TML_USE(is_below)}),
                 TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), word) != NULL);
    CHECK_STATUS(papers_surface(tml, &(papers_surface_desc){.room = 1}), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), word) != NULL);
    CHECK_STATUS(papers_picture(tml, &(papers_picture_desc){.length = 1, .rgba = rgba}),
                 TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), word) != NULL);
}

TEST(filter_by_textures_is_refused_elsewhere)
{
    static const tml_gl_desc packed = {.path = TML_GL_PATH_PACKED};
    tml_context *tml = open_engine(CPU);
    check_refusals(tml, "cpu");
    tml_close(tml);
    if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &packed}, &tml))
        SKIP("no OpenGL ES device");
    check_refusals(tml, "packed");
    tml_close(tml);
}
#endif

/* ---- the program ----------------------------------------------------------------------------- */

int papers_check(const char *table)
{
    char begin[32], *arguments[] = {NULL, begin};
    snprintf(begin, sizeof begin, "%s_", table ? table : "");
    return test_main(table ? 2 : 1, arguments);
}
