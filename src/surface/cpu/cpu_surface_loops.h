/* The surface's inner loops, compiled once per SIMD level (core/simd.h). */
#include <string.h>
#ifdef __wasm_simd128__
#    include <wasm_simd128.h>
#endif

#include "core/inline.h"
#include "core/neon.h"
#include "core/simd.h"
#include "surface/cpu/cpu_surface_simd.h"

/* With NEON, the formulas process two words at a time and count bits per byte. A byte's sum over
 * its eight cells may wrap on the way, but ends between 0 and 40. */
#if TML_NEON
enum { WORDS = 2 };
#    define WORD            uint64x2_t
#    define WORD_SUM        uint8x16_t
#    define WORD_BITS       64u
#    define WORD_COUNT(w)   vcntq_u8(vreinterpretq_u8_u64(w))
#    define WORD_LANE(w, i) ((w)[i])
#else
enum { WORDS = 1 };
#    define WORD_LANE(w, i) (w)
#endif

#include "kernels/kernel.h"
#include "kernels/surface.k.h"
#include "kernels/surface_open.k.h"

/* c ? a : b, by masks. Compilers turn chains of ?: into branches, which they do not vectorise. */
ALWAYS_INLINE float choose(bool c, float a, float b)
{
    uint32_t mask = 0u - (uint32_t)c;
    return uintBitsToFloat((floatBitsToUint(a) & mask) | (floatBitsToUint(b) & ~mask));
}

/* Loads the words from at on. left, at least 1: the words of the row from there on. Further words
 * are 0 or are not used. */
static inline WORD words_load(const surface_word *at, uint64_t left)
{
#if TML_NEON
    return left > 1 ? vld1q_u64(at) : vcombine_u64(vld1_u64(at), vcreate_u64(0));
#else
    (void)left;
    return *at;
#endif
}

/* AT and PUT access the words of a row from w on. Without NEON they are plain expressions, as
 * compilers vectorise those loops by themselves, and do worse with functions. */
#if TML_NEON
#    define AT(row)         words_load((row) + w, words - w)
#    define PUT(row, value) vst1q_u64((row) + w, value)
#else
#    define AT(row)         (row)[w]
#    define PUT(row, value) (row)[w] = (value)
#endif

/* Sums of counts. */
#if TML_NEON
typedef uint32x4_t word_total;
#else
typedef uint64_t word_total;
#endif
static inline word_total total_add(word_total total, WORD_SUM sum)
{
#if TML_NEON
    return vpadalq_u16(total, vpaddlq_u8(sum));
#else
    return total + sum;
#endif
}
static inline uint64_t total_of(word_total total)
{
#if TML_NEON
    return vaddlvq_u32(total);
#else
    return total;
#endif
}

/* Whether the usual cases of a loop are also compiled separately. Not in builds for web pages,
 * where the larger code costs more. */
#if SIMD_FILE >= SIMD_FILE_AVX2 || TML_NEON
enum { HAS_USUAL = 1 };
#else
enum { HAS_USUAL = 0 };
#endif

/* For eight bytes as a word in memory order. SPREAD: bit i of byte i; adding CARRY carries it into
 * bit 7. GATHERED: the factor that gathers the bytes' lowest bits. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#    define SPREAD   0x0102040810204080u
#    define CARRY    0x7f7f7f7f7f7f7f00u
#    define GATHERED 0x8040201008040201u
#else
#    define SPREAD   0x8040201008040201u
#    define CARRY    0x007f7f7f7f7f7f7fu
#    define GATHERED 0x0102040810204080u
#endif

/* Packs 64 bytes, each 0 or 0xff, into 64 bits. */
static inline uint64_t pack_bytes(const uint8_t bytes[64])
{
#if SIMD_FILE == SIMD_FILE_AVX512
    return _mm512_movepi8_mask(_mm512_loadu_si512(bytes));
#elif SIMD_FILE == SIMD_FILE_AVX2
    uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_loadu_si256((const __m256i *)bytes));
    uint32_t high =
        (uint32_t)_mm256_movemask_epi8(_mm256_loadu_si256((const __m256i *)(bytes + 32)));
    return (uint64_t)high << 32 | low;
#elif TML_NEON
    return neon_bits_64(vld1q_u8(bytes), vld1q_u8(bytes + 16), vld1q_u8(bytes + 32),
                        vld1q_u8(bytes + 48));
#elif defined(__wasm_simd128__)
    uint64_t word = 0;
    for (int i = 0; i < 64; i += 16)
        word |= (uint64_t)wasm_i8x16_bitmask(wasm_v128_load(bytes + i)) << i;
    return word;
#else
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t eight;
        memcpy(&eight, bytes + 8 * i, 8);
        /* The product's top byte has the lowest bit of each of the eight bytes. */
        word |= ((eight & 0x0101010101010101u) * GATHERED >> 56) << (8 * i);
    }
    return word;
#endif
}

static inline uint64_t low_bits(uint64_t n)
{
    return n >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1;
}

/* Prefetches the cache lines 2048 bytes ahead. The hardware prefetcher alone does not reach the
 * memory's bandwidth in these loops: 63 ms for 512 MiB, 44 ms with this. */
ALWAYS_INLINE void prefetch_ahead(const void *samples, size_t size)
{
    for (size_t line = 0; line < size; line += 64)
        __builtin_prefetch((const char *)samples + 2048 + line);
}

/* Returns the ROW_ flags of a word of n samples. */
static inline uint32_t word_flags(uint64_t word, uint64_t n)
{
    return (word ? ROW_INSIDE : 0) | (word != low_bits(n) ? ROW_OUTSIDE : 0);
}

/* The name of a function for one element type. The other SIMD levels have the same functions,
 * possibly in the same file (tools/make_amalgamation.c). */
#define JOIN_(a, b, c)          a##_##b##_##c
#define JOIN(a, b, c)           JOIN_(a, b, c)
#define OF_TYPE(function, name) JOIN(SIMD_SET(surface_simd), function, name)

#define TYPE  TML_U8
#define NAME  U8
#define T     uint8_t
#define CMP   uint8_t
#define REAL  float
#define FLOAT 0
#include "surface/cpu/cpu_surface_type.h"

#define TYPE  TML_I8
#define NAME  I8
#define T     int8_t
#define CMP   int8_t
#define REAL  float
#define FLOAT 0
#include "surface/cpu/cpu_surface_type.h"

#define TYPE  TML_U16
#define NAME  U16
#define T     uint16_t
#define CMP   uint16_t
#define REAL  float
#define FLOAT 0
#include "surface/cpu/cpu_surface_type.h"

#define TYPE  TML_I16
#define NAME  I16
#define T     int16_t
#define CMP   int16_t
#define REAL  float
#define FLOAT 0
#include "surface/cpu/cpu_surface_type.h"

#define TYPE  TML_U32
#define NAME  U32
#define T     uint32_t
#define CMP   uint32_t
#define REAL  double
#define FLOAT 0
#include "surface/cpu/cpu_surface_type.h"

#define TYPE  TML_I32
#define NAME  I32
#define T     int32_t
#define CMP   int32_t
#define REAL  double
#define FLOAT 0
#include "surface/cpu/cpu_surface_type.h"

#define TYPE  TML_U64
#define NAME  U64
#define T     uint64_t
#define CMP   uint64_t
#define REAL  double
#define FLOAT 0
#include "surface/cpu/cpu_surface_type.h"

#define TYPE  TML_I64
#define NAME  I64
#define T     int64_t
#define CMP   int64_t
#define REAL  double
#define FLOAT 0
#include "surface/cpu/cpu_surface_type.h"

#define TYPE  TML_F16
#define NAME  F16
#define T     uint16_t
#define CMP   float
#define REAL  float
#define FLOAT 1
#define VALUE half_to_float
#include "surface/cpu/cpu_surface_type.h"

#define TYPE  TML_F32
#define NAME  F32
#define T     float
#define CMP   float
#define REAL  float
#define FLOAT 1
#include "surface/cpu/cpu_surface_type.h"

#define TYPE  TML_F64
#define NAME  F64
#define T     double
#define CMP   double
#define REAL  double
#define FLOAT 1
#include "surface/cpu/cpu_surface_type.h"

/* ---- crossing points ------------------------------------------------------------------------- */

/* Lanes past the count, up to a multiple of 16, hold zeros. Their results are not used. */
static void cross_narrow(surface_lanes *lanes, float iso)
{
    float *low = lanes->ends.narrow.low, *high = lanes->ends.narrow.high;
    for (uint64_t first = 0; first < lanes->count; first += 16)
        for (uint64_t i = first; i < first + 16; i++)
            low[i] = surface_crossing(low[i], high[i], iso);
}

static void cross_wide(surface_lanes *lanes, double iso)
{
    double *low = lanes->ends.wide.low, *high = lanes->ends.wide.high;
    for (uint64_t first = 0; first < lanes->count; first += 16)
        for (uint64_t i = first; i < first + 16; i++)
            low[i] = surface_crossing_f64(low[i], high[i], iso);
}

static void place_lanes(const surface_lanes *lanes, const int axes[3], float *out)
{
    const float *t = lanes->ends.narrow.low;
    const float *index[3] = {lanes->index[axes[0]], lanes->index[axes[1]], lanes->index[axes[2]]};
    for (uint64_t first = 0; first < lanes->count; first += 16) {
        float positions[16][3];
        for (uint64_t i = 0, lane = first; i < 16; i++, lane++) {
            int axis = lanes->axis[lane];
            positions[i][0] = index[0][lane] + choose(axis == axes[0], t[lane], 0.0f);
            positions[i][1] = index[1][lane] + choose(axis == axes[1], t[lane], 0.0f);
            positions[i][2] = index[2][lane] + choose(axis == axes[2], t[lane], 0.0f);
        }
        if (lanes->count - first >= 16) /* whole vectors, without a call */
            memcpy(out + 3 * first, positions, sizeof positions);
        else
            memcpy(out + 3 * first, positions, (lanes->count - first) * sizeof *positions);
    }
}

static void add_lanes(surface_lanes *lanes, const surface_first *first, const uint32_t *x,
                      uint64_t n)
{
    for (uint64_t i = 0; i < n; i += 8) {
        const uint64_t lane = lanes->count + i;
        for (uint64_t j = 0; j < 8; j++)
            lanes->x[lane + j] = x[i + j];
        for (int end = 0; end < 2; end++)
            for (uint64_t j = 0; j < 8; j++)
                lanes->sample[end][lane + j] = first->sample[end] + x[i + j];
        for (uint64_t j = 0; j < 8; j++)
            lanes->axis[lane + j] = (uint8_t)first->axis;
        for (uint64_t j = 0; j < 8; j++)
            lanes->index[0][lane + j] = (float)(int32_t)(first->index[0] + x[i + j]);
        for (int a = 1; a < 3; a++)
            for (uint64_t j = 0; j < 8; j++)
                lanes->index[a][lane + j] = (float)(int32_t)first->index[a];
    }
    lanes->count += n;
}

/* ---- edges ----------------------------------------------------------------------------------- */

#if SIMD_FILE != SIMD_FILE_AVX512
/* Returns bit r set if run r of 16 bits in the word is not 0. The sum carries the lower 15 bits of
 * a run into bit 15. The product moves the four results next to each other. */
static inline uint64_t word_runs(uint64_t word)
{
    uint64_t low = word & 0x7fff7fff7fff7fffu;
    uint64_t any = (((low + 0x7fff7fff7fff7fffu) | word) & 0x8000800080008000u) >> 15;
    return any * 0x0001000200040008u >> 48 & 0xf;
}
#endif

/* Returns bit r set if run r of 16 bits in the group is not 0. */
static inline uint64_t group_runs(const surface_word *group, uint64_t words)
{
    uint64_t runs = 0;
#if SIMD_FILE == SIMD_FILE_AVX512
    for (uint64_t w = 0; w < words; w += 8) {
        __mmask8 here = (__mmask8)low_bits(words - w);
        __m512i v = _mm512_maskz_loadu_epi64(here, group + w);
        runs |= (uint64_t)_mm512_test_epi16_mask(v, v) << (4 * w);
    }
#else
    for (uint64_t w = 0; w < words; w++)
        runs |= word_runs(group[w]) << (4 * w);
#endif
    return runs;
}

static void edges_of_row(const surface_rows *rows, uint64_t words, const surface_word *sample_mask,
                         const surface_word *x_mask, surface_edges *out)
{
    const surface_word *r0 = rows->row[0], *r1 = rows->row[1], *r2 = rows->row[2];
    for (uint64_t w = 0; w < words; w += WORDS) {
        PUT(out->words[0], (AT(r0) ^ surface_step_x(AT(r0), AT(r0 + 1))) & AT(x_mask));
        PUT(out->words[1], (AT(r0) ^ AT(r1)) & AT(sample_mask));
        PUT(out->words[2], (AT(r0) ^ AT(r2)) & AT(sample_mask));
    }
    for (int axis = 0; axis < 3; axis++)
        out->runs[axis] = group_runs(out->words[axis], words);
}

/* Writes four columns at a time. Most words have at most four crossings, which saves a branch that
 * no processor predicts. */
static uint64_t columns_of(const surface_edges *edges, int axis, uint64_t words, uint32_t first,
                           uint32_t *out)
{
    const uint64_t last = (uint64_t)1 << 63; /* in place of no bit, in lanes past the last */
    uint64_t count = 0;
    for (uint64_t w = 0; w < words; w++, first += 64) {
        uint64_t left = edges->words[axis][w];
        for (uint64_t at = count; left; at += 4)
            for (uint64_t i = 0; i < 4; i++, left &= left - 1)
                out[at + i] = first + (uint32_t)__builtin_ctzll(left | last);
        count += (uint64_t)__builtin_popcountll(edges->words[axis][w]);
    }
    return count;
}

/* Loads the corner words of cells. After a row's last word comes the next row's first word; masks
 * clear its bit. */
static inline void corners_load(const surface_rows *rows, uint64_t w, uint64_t left, WORD c[8])
{
    for (int i = 0; i < 4; i++) {
        c[2 * i] = words_load(rows->row[i] + w, left);
        c[2 * i + 1] = surface_step_x(c[2 * i], words_load(rows->row[i] + w + 1, left));
    }
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void count_row(const surface_rows *rows, uint64_t words, const surface_word *sample_mask,
                      const surface_word *x_mask, const surface_word *cell_mask,
                      surface_row_counts *out)
{
    word_total x_edges = {0}, y_edges = {0}, z_edges = {0}, triangles = {0}, cells = {0};
    for (uint64_t w = 0; w < words; w += WORDS) {
        WORD c[8], sample = words_load(sample_mask + w, words - w);
        WORD x = words_load(x_mask + w, words - w), cell = words_load(cell_mask + w, words - w);
        corners_load(rows, w, words - w, c);
        x_edges = total_add(x_edges, WORD_COUNT((c[0] ^ c[1]) & x));
        y_edges = total_add(y_edges, WORD_COUNT((c[0] ^ c[2]) & sample));
        z_edges = total_add(z_edges, WORD_COUNT((c[0] ^ c[4]) & sample));
        WORD active = surface_active(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]);
        cells = total_add(cells, WORD_COUNT(active & cell));
        triangles = total_add(
            triangles, surface_triangles(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], cell));
    }
    *out = (surface_row_counts){{total_of(x_edges), total_of(y_edges), total_of(z_edges)},
                                total_of(triangles),
                                total_of(cells)};
}

/* ---- triangles ------------------------------------------------------------------------------- */

/* Writes the case indices of the 64 cells of a word. lane: which word of c. */
static inline void word_cases(const WORD c[8], int lane, uint8_t cases[64])
{
    (void)lane;
#if SIMD_FILE == SIMD_FILE_AVX512
    __m512i v = _mm512_setzero_si512();
    for (int k = 0; k < 8; k++)
        v = _mm512_or_si512(v, _mm512_maskz_set1_epi8(c[k], (char)(1 << k)));
    _mm512_storeu_si512(cases, v);
#elif TML_NEON
    /* Each byte tests its own bit of the eight. The insertion shifts the results of earlier corners
     * down by a bit, and puts the new one on top. */
    const uint8x16_t own = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t v[4] = {0};
    for (int k = 0; k < 8; k++) {
        uint8x16_t words = vreinterpretq_u8_u64(c[k]);
        for (int i = 0; i < 4; i++) {
            const uint8_t low = (uint8_t)(8 * lane + 2 * i), high = (uint8_t)(low + 1);
            const uint8x16_t from = {low,  low,  low,  low,  low,  low,  low,  low,
                                     high, high, high, high, high, high, high, high};
            v[i] = vsriq_n_u8(vtstq_u8(vqtbl1q_u8(words, from), own), v[i], 1);
        }
    }
    for (int i = 0; i < 4; i++)
        vst1q_u8(cases + 16 * i, v[i]);
#else
    for (int group = 0; group < 8; group++) {
        uint64_t eight = 0;
        _Pragma("GCC unroll 8") for (int k = 0; k < 8; k++)
        {
            uint64_t byte = c[k] >> (8 * group) & 0xff;
#    if SIMD_FILE == SIMD_FILE_AVX2
            uint64_t spread = _pdep_u64(byte, 0x0101010101010101u);
#    else
            uint64_t spread = byte * 0x0101010101010101u & SPREAD;
            spread = (spread + CARRY) >> 7 & 0x0101010101010101u;
#    endif
            eight |= spread << k;
        }
        memcpy(cases + 8 * group, &eight, 8);
    }
#endif
}

/* counters8: the eight counters before or after a cell. lanes16: sixteen lanes, each the number of
 * one of these 16 counters; lanes_write writes the counters' values. */
#if SIMD_FILE >= SIMD_FILE_AVX2
typedef __m256i counters8;
typedef __m128i lanes16;
static inline lanes16 lanes_load(const uint8_t lanes[16])
{
    return _mm_loadu_si128((const __m128i *)lanes);
}
static inline lanes16 lanes_pick(const uint8_t table[16], lanes16 at)
{
    return _mm_shuffle_epi8(lanes_load(table), at);
}
static inline counters8 counters_load(const uint32_t counters[8])
{
    return _mm256_loadu_si256((const __m256i *)counters);
}
static inline void counters_store(uint32_t counters[8], counters8 value)
{
    _mm256_storeu_si256((__m256i *)counters, value);
}
static inline counters8 counters_add(counters8 before, const uint8_t advance[8])
{
    return _mm256_add_epi32(before,
                            _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)advance)));
}
#    if SIMD_FILE == SIMD_FILE_AVX512
static inline void lanes_write(lanes16 lanes, counters8 before, counters8 after, uint32_t *out)
{
    __m512i both = _mm512_inserti64x4(_mm512_castsi256_si512(before), after, 1);
    _mm512_storeu_si512(out, _mm512_permutexvar_epi32(_mm512_cvtepu8_epi32(lanes), both));
}
#    else
static inline __m256i pick8(__m128i lanes, __m256i before, __m256i after)
{
    __m256i lane = _mm256_cvtepu8_epi32(lanes);
    __m256i late = _mm256_slli_epi32(lane, 28); /* bit 3 of the lane becomes the sign */
    return _mm256_castps_si256(_mm256_blendv_ps(
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(before, lane)),
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(after, lane)), _mm256_castsi256_ps(late)));
}
static inline void lanes_write(lanes16 lanes, counters8 before, counters8 after, uint32_t *out)
{
    _mm256_storeu_si256((__m256i *)out, pick8(lanes, before, after));
    _mm256_storeu_si256((__m256i *)(out + 8), pick8(_mm_srli_si128(lanes, 8), before, after));
}
#    endif
#elif TML_NEON
typedef uint32x4x2_t counters8;
typedef uint8x16_t lanes16;
static inline lanes16 lanes_load(const uint8_t lanes[16])
{
    return vld1q_u8(lanes);
}
static inline lanes16 lanes_pick(const uint8_t table[16], lanes16 at)
{
    return vqtbl1q_u8(vld1q_u8(table), at);
}
static inline counters8 counters_load(const uint32_t counters[8])
{
    return (counters8){{vld1q_u32(counters), vld1q_u32(counters + 4)}};
}
static inline void counters_store(uint32_t counters[8], counters8 value)
{
    vst1q_u32(counters, value.val[0]);
    vst1q_u32(counters + 4, value.val[1]);
}
static inline counters8 counters_add(counters8 before, const uint8_t advance[8])
{
    uint16x8_t more = vmovl_u8(vld1_u8(advance));
    return (counters8){
        {vaddw_u16(before.val[0], vget_low_u16(more)), vaddw_high_u16(before.val[1], more)}};
}
static inline void lanes_write(lanes16 lanes, counters8 before, counters8 after, uint32_t *out)
{
    /* The bytes of lane l are bytes 4 l to 4 l + 3 of the sixteen counters. */
    const uint8x16_t places = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
    uint8x16x4_t both = {{vreinterpretq_u8_u32(before.val[0]), vreinterpretq_u8_u32(before.val[1]),
                          vreinterpretq_u8_u32(after.val[0]), vreinterpretq_u8_u32(after.val[1])}};
    uint8x16_t first = vshlq_n_u8(lanes, 2);
    for (int i = 0; i < 4; i++) {
        const uint8_t a = (uint8_t)(4 * i), b = (uint8_t)(a + 1), c = (uint8_t)(a + 2),
                      d = (uint8_t)(a + 3);
        const uint8x16_t from = {a, a, a, a, b, b, b, b, c, c, c, c, d, d, d, d};
        uint8x16_t bytes = vorrq_u8(vqtbl1q_u8(first, from), places);
        vst1q_u32(out + 4 * i, vreinterpretq_u32_u8(vqtbl4q_u8(both, bytes)));
    }
}
#else
typedef struct counters8 {
    uint32_t lane[8];
} counters8;
typedef struct lanes16 {
    uint8_t lane[16];
} lanes16;
static inline lanes16 lanes_load(const uint8_t lanes[16])
{
    lanes16 value;
    memcpy(value.lane, lanes, sizeof value.lane);
    return value;
}
static inline lanes16 lanes_pick(const uint8_t table[16], lanes16 at)
{
    for (int i = 0; i < 16; i++)
        at.lane[i] = table[at.lane[i] & 15];
    return at;
}
static inline counters8 counters_load(const uint32_t counters[8])
{
    counters8 value;
    memcpy(value.lane, counters, sizeof value.lane);
    return value;
}
static inline void counters_store(uint32_t counters[8], counters8 value)
{
    memcpy(counters, value.lane, sizeof value.lane);
}
static inline counters8 counters_add(counters8 before, const uint8_t advance[8])
{
    for (int i = 0; i < 8; i++)
        before.lane[i] += advance[i];
    return before;
}
static inline void lanes_write(lanes16 lanes, counters8 before, counters8 after, uint32_t *out)
{
    uint32_t both[16];
    counters_store(both, before);
    counters_store(both + 8, after);
    _Pragma("GCC unroll 16") for (int i = 0; i < 16; i++) out[i] = both[lanes.lane[i]];
}
#endif

/* Writes n indices, at most 15. Stores 16 unless that would overwrite another task's triangles.
 * Returns the end of the n indices. */
static inline uint32_t *indices_write(lanes16 lanes, uint32_t n, counters8 before, counters8 after,
                                      uint32_t *out, const uint32_t *end)
{
    if (__builtin_expect(end - out >= 16, true)) {
        lanes_write(lanes, before, after, out);
        return out + n;
    }
    uint32_t last[16];
    lanes_write(lanes, before, after, last);
    memcpy(out, last, n * sizeof *out);
    return out + n;
}

#ifndef __EMSCRIPTEN__
/* Writes the triangles of an open cell. Returns their end. */
static uint32_t *open_cell_write(surface_open *open, counters8 before, counters8 after,
                                 uint32_t *out, const uint32_t *end)
{
    static const uint8_t orders[2][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                          {0, 2, 1, 3, 5, 4, 6, 8, 7, 9, 11, 10, 12, 14, 13, 15}};
    const topology_mesh *mesh = &topology_meshes[*open->meshes];
    const uint8_t *corners = topology_corners + mesh->first;
    const uint32_t count = 3u * mesh->triangle_count;
    if (mesh->own_count) { /* few meshes have own vertices */
        uint32_t both[16];
        counters_store(both, before);
        counters_store(both + 8, after);
        return open_write(open, both, out);
    }
    open->meshes++;
    for (uint32_t k = 0; k < count; k += 15) {
        const lanes16 edges = lanes_pick(corners + k, lanes_load(orders[open->flips]));
        out = indices_write(lanes_pick(surface_lane_of_edge, edges), TML_MIN_OF(count - k, 15u),
                            before, after, out, end);
    }
    return out;
}
#endif

/* Writes the triangles of a row. The vertex number of a crossed edge is the running counter of its
 * kind, as all cells around the edge are active, and cells are visited in the edges' order. */
ALWAYS_INLINE uint32_t *write_triangles(const surface_rows *rows, uint64_t words,
                                        const surface_word *cell_mask, const surface_case *cases,
                                        uint32_t counters[SURFACE_COUNTERS], uint32_t *out,
                                        uint32_t *end, surface_open *open)
{
    counters8 running = counters_load(counters);
    (void)open; /* the JavaScript build has no open cells */
    for (uint64_t w = 0; w < words; w += WORDS) {
        WORD c[8], mask = words_load(cell_mask + w, words - w);
        corners_load(rows, w, words - w, c);
        WORD active = surface_active(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]) & mask;
        _Pragma("GCC unroll 2") for (int lane = 0; lane < WORDS; lane++)
        {
            uint64_t left = WORD_LANE(active, lane);
            if (!left)
                continue;
            uint8_t word_case[64];
            word_cases(c, lane, word_case);
            for (; left; left &= left - 1) {
                const surface_case *entry = &cases[word_case[__builtin_ctzll(left)]];
                const counters8 before = running;
                running = counters_add(before, entry->advance);
#ifndef __EMSCRIPTEN__
                if (open && !entry->index_count) {
                    out = open_cell_write(open, before, running, out, end);
                    continue;
                }
#endif
                out = indices_write(lanes_load(entry->lanes), entry->index_count, before, running,
                                    out, end);
            }
        }
    }
    counters_store(counters, running);
    return out;
}

static uint32_t *triangles_row(const surface_rows *rows, uint64_t words,
                               const surface_word *cell_mask, const surface_case *cases,
                               uint32_t counters[SURFACE_COUNTERS], uint32_t *out, uint32_t *end)
{
    return write_triangles(rows, words, cell_mask, cases, counters, out, end, NULL);
}

#ifndef __EMSCRIPTEN__
static uint32_t *open_triangles_row(const surface_rows *rows, uint64_t words,
                                    const surface_word *cell_mask, const surface_case *cases,
                                    uint32_t counters[SURFACE_COUNTERS], uint32_t *out,
                                    uint32_t *end, surface_open *open)
{
    return write_triangles(rows, words, cell_mask, cases, counters, out, end, open);
}

/* Marks the open cells of the mask in out; NULL: only counts them. Returns their number. */
ALWAYS_INLINE uint64_t open_words(const surface_rows *rows, uint64_t words,
                                  const surface_word *cell_mask, surface_word *restrict out)
{
    const surface_word *r0 = rows->row[0], *r1 = rows->row[1], *r2 = rows->row[2],
                       *r3 = rows->row[3];
    word_total count = {0};
    for (uint64_t w = 0; w < words; w += WORDS) {
        const WORD open = surface_open_cells(AT(r0), surface_step_x(AT(r0), AT(r0 + 1)), AT(r1),
                                             surface_step_x(AT(r1), AT(r1 + 1)), AT(r2),
                                             surface_step_x(AT(r2), AT(r2 + 1)), AT(r3),
                                             surface_step_x(AT(r3), AT(r3 + 1))) &
                          AT(cell_mask);
        count = total_add(count, WORD_COUNT(open));
        if (out)
            PUT(out, open);
    }
    return total_of(count);
}

static uint64_t open_row(const surface_rows *rows, uint64_t words, const surface_word *cell_mask,
                         surface_word *out)
{
    return open_words(rows, words, cell_mask, out);
}

static uint64_t count_open_row(const surface_rows *rows, uint64_t words,
                               const surface_word *cell_mask)
{
    return open_words(rows, words, cell_mask, NULL);
}
#endif

/* ---- normals --------------------------------------------------------------------------------- */

#include "surface/cpu/cpu_surface_normals.h"

/* ---- the table ------------------------------------------------------------------------------- */

#define BITS(name, size, ctype)        [TML_##name] = OF_TYPE(bits, name),
#define EQUAL(name, size, ctype)       [TML_##name] = OF_TYPE(equal, name),
#define PRESENT(name, size, ctype)     [TML_##name] = OF_TYPE(present, name),
#define RANGE(name, size, ctype)       [TML_##name] = OF_TYPE(range, name),
#define ENDS(name, size, ctype)        [TML_##name] = OF_TYPE(ends, name),
#define GATHER(name, size, ctype)      [TML_##name] = OF_TYPE(gather, name),
#define DIFFERENCES(name, size, ctype) [TML_##name] = HAS_USUAL ? OF_TYPE(differences, name) : NULL,

const surface_simd SIMD_SET(surface_simd) = {
    .bits = {TML_SCALAR_LIST(BITS)},
    .equal = {TML_SCALAR_LIST(EQUAL)},
    .present = {TML_SCALAR_LIST(PRESENT)},
    .range = {TML_SCALAR_LIST(RANGE)},
    .add = add_lanes,
    .columns = columns_of,
    .ends = {TML_SCALAR_LIST(ENDS)},
    .cross = cross_narrow,
    .cross_wide = cross_wide,
    .place = place_lanes,
    .gather = {TML_SCALAR_LIST(GATHER)},
    .differences = {TML_SCALAR_LIST(DIFFERENCES)},
    .normals = normals_row,
    .usual_normals = HAS_USUAL ? normals_of_differences : NULL,
    .edges = edges_of_row,
    .count = count_row,
    .triangles = triangles_row,
#ifndef __EMSCRIPTEN__
    .open_triangles = open_triangles_row,
    .open = open_row,
    .count_open = count_open_row,
    .look_at_faces = topology_look_at_faces,
#endif
};

#include "kernels/kernel_end.h"
