/* Mask words from bytes, packing of elements by a mask (compress), and copies with non-temporal
 * stores.
 *
 * Packing by AVX-512: compress instructions write to a register, which is stored whole, since their
 * form with a memory operand is many times slower on some processors. AVX2: a permutation from a
 * table indexed by 8 mask bits. NEON: the same, by 8 or 4 bits. All store whole vectors, and the
 * next store overwrites the surplus, so outputs need CPU_SLACK. Plain C: branchless if many bits
 * are set, a loop over set bits if few are.
 *
 * After: Lemire et al.: despacing and simdprune. 2017; Zhang, Ross: Exploiting Data Skew for
 * Improved Query Performance (on compress against permutation tables). 2020. */
#include "cpu/cpu_internal.h"

#include <string.h>

/* ---- bytes to bits -------------------------------------------------------------------------- */

static void bits_base(const uint8_t *bytes, size_t count, uint64_t *words)
{
    for (size_t first = 0; first < count; first += 64) {
        size_t here = TML_MIN_OF(count - first, (size_t)64);
        uint64_t word = 0;
        for (size_t i = 0; i < here; i++)
            word |= (uint64_t)(bytes[first + i] != 0) << i;
        words[first / 64] = word;
    }
}

/* A level's loop over whole words. WORD computes the word of 64 bytes. */
#define BITS_VECTOR(name, target, WORD)                                                            \
    target static void name(const uint8_t *bytes, size_t count, uint64_t *words)                   \
    {                                                                                              \
        size_t whole = count / 64;                                                                 \
        for (size_t w = 0; w < whole; w++)                                                         \
            words[w] = WORD(bytes + 64 * w);                                                       \
        bits_base(bytes + 64 * whole, count % 64, words + whole);                                  \
    }

#if SIMD_X86
SIMD_TARGET_AVX2 ALWAYS_INLINE uint64_t word_avx2(const uint8_t *bytes)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i *in = (const __m256i *)(const void *)bytes;
    __m256i low = _mm256_cmpeq_epi8(_mm256_loadu_si256(in), zero);
    __m256i high = _mm256_cmpeq_epi8(_mm256_loadu_si256(in + 1), zero);
    return ~((uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
                                                       << 32);
}

SIMD_TARGET_AVX512 ALWAYS_INLINE uint64_t word_avx512(const uint8_t *bytes)
{
    __m512i in = _mm512_loadu_si512(bytes);
    return _mm512_test_epi8_mask(in, in);
}

BITS_VECTOR(bits_avx2, SIMD_TARGET_AVX2, word_avx2)
BITS_VECTOR(bits_avx512, SIMD_TARGET_AVX512, word_avx512)
#elif TML_NEON
ALWAYS_INLINE uint64_t word_neon(const uint8_t *bytes)
{
    uint8x16_t v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = vld1q_u8(bytes + 16 * i);
        v[i] = vtstq_u8(v[i], v[i]);
    }
    return neon_bits_64(v[0], v[1], v[2], v[3]);
}

BITS_VECTOR(bits_neon, , word_neon)
#endif

void cpu_bits_of_bytes(const uint8_t *bytes, size_t count, uint64_t *words)
{
    static void (*const table[TML_SIMD_LEVELS])(const uint8_t *, size_t, uint64_t *) =
        SIMD_OWN_LEVEL(SIMD_NEON_OR(bits_neon, bits_base), bits_avx2, bits_avx512);
    table[tml_simd_level()](bytes, count, words);
}

ALWAYS_INLINE uint64_t count_bits(const uint64_t *words, size_t count)
{
    uint64_t bits = 0;
    size_t w = 0;
#if TML_NEON
    uint64x2_t sums = vdupq_n_u64(0);
    for (; w + 8 <= count; w += 8) {
        uint8x16_t eights = vdupq_n_u8(0); /* at most 32 */
        for (size_t k = 0; k < 8; k += 2)
            eights = vaddq_u8(eights, vcntq_u8(vreinterpretq_u8_u64(vld1q_u64(words + w + k))));
        sums = vpadalq_u32(sums, vpaddlq_u16(vpaddlq_u8(eights)));
    }
    bits = vaddvq_u64(sums);
#endif
    for (; w < count; w++)
        bits += (uint64_t)__builtin_popcountll(words[w]);
    return bits;
}
SIMD_INSTANTIATE(uint64_t, count_bits, (const uint64_t *words, size_t count),
                 return count_bits(words, count))

uint64_t cpu_count_bits(const uint64_t *words, size_t count)
{
    static uint64_t (*const table[TML_SIMD_LEVELS])(const uint64_t *, size_t) =
        SIMD_EACH_LEVEL(count_bits);
    return table[tml_simd_level()](words, count);
}

/* ---- packing, plain ------------------------------------------------------------------------- */

/* Packs the elements of one mask word. size is constant after inlining, so that a copy is a few
 * moves. few: the largest number of set bits for which a loop over them is faster than the
 * branchless loop. */
ALWAYS_INLINE unsigned char *pack_word(const unsigned char *in, uint64_t word, size_t count,
                                       size_t size, int few, unsigned char *out)
{
    if (__builtin_popcountll(word) <= few) {
        for (; word; word &= word - 1, out += size)
            memcpy(out, in + (size_t)__builtin_ctzll(word) * size, size);
    } else {
        for (size_t i = 0; i < count; i++, word >>= 1) {
            memcpy(out, in + i * size, size);
            out += (word & 1) * size;
        }
    }
    return out;
}

ALWAYS_INLINE size_t pack(const void *in, const uint64_t *words, size_t count, size_t size, int few,
                          void *out)
{
    const unsigned char *from = in;
    unsigned char *to = out;
    for (size_t first = 0; first < count; first += 64)
        to = pack_word(from + first * size, words[first / 64],
                       TML_MIN_OF(count - first, (size_t)64), size, few, to);
    return (size_t)(to - (unsigned char *)out) / size;
}

enum { FEW = 16 };

#define PACK_OF(bytes)                                                                             \
    static size_t pack_##bytes(const void *in, const uint64_t *words, size_t count, size_t size,   \
                               void *out)                                                          \
    {                                                                                              \
        (void)size;                                                                                \
        return pack(in, words, count, bytes, FEW, out);                                            \
    }
#if !TML_NEON
PACK_OF(1)
PACK_OF(2)
PACK_OF(4)
PACK_OF(8)
#endif
PACK_OF(12)
PACK_OF(16)

static size_t pack_any(const void *in, const uint64_t *words, size_t count, size_t size, void *out)
{
    return pack(in, words, count, size, 64, out);
}

/* ---- packing, vectors ----------------------------------------------------------------------- */

#if SIMD_X86 || TML_NEON

/* Ends a vector loop over whole words: packs the last word, if it has fewer than 64 elements. */
#    define PACK_TAIL(bytes)                                                                       \
        to = pack_word(from + 64 * whole * (bytes), count % 64 ? words[whole] : 0, count % 64,     \
                       bytes, FEW, to);                                                            \
        return (size_t)(to - (unsigned char *)out) / (bytes)

/* Bytes that packing prefetches ahead. Computing the keep bits reads the elements first, so packing
 * finds later blocks in the second-level cache (the first-level cache is too small). */
enum { PREFETCH = 8 << 10 };

/* The bytes of the elements whose bits are set, in the group of `lanes` bits from bit i on. bits:
 * that group's bits. */
#    if SIMD_X86
#        define BEGIN_WORD(lanes, bytes)
#        define THIS_WORD               words[w]
#        define SIZE_AT(i, bits, bytes) (size_t) __builtin_popcountll(bits) * (bytes)
#        define UNROLLED
#    else
/* NEON counts bits per byte, so the counts of a whole word are computed at once. Sizes of the
 * groups at even and at odd positions. */
typedef struct pack_sizes {
    uint64_t even, odd;
} pack_sizes;

ALWAYS_INLINE pack_sizes sizes_of(uint64_t word, unsigned lanes, unsigned bytes)
{
    const uint64_t low = 0x0f0f0f0f0f0f0f0fu;
    if (lanes == 8)
        return (pack_sizes){
            vget_lane_u64(vreinterpret_u64_u8(vcnt_u8(vcreate_u8(word))), 0) * bytes, 0};
    uint64_t pairs = word - (word >> 1 & 0x5555555555555555u);
    uint64_t fours = (pairs & 0x3333333333333333u) + (pairs >> 2 & 0x3333333333333333u);
    return (pack_sizes){(fours & low) * bytes, (fours >> 4 & low) * bytes};
}
#        define BEGIN_WORD(lanes, bytes)                                                           \
            const uint64_t word = words[w];                                                        \
            const pack_sizes sizes = sizes_of(word, lanes, bytes)
#        define THIS_WORD word
#        define SIZE_AT(i, bits, bytes)                                                            \
            (size_t)(((i)&4 ? sizes.odd : sizes.even) >> ((i) & ~7u) & 0xff)
#        define UNROLLED _Pragma("GCC unroll 16")
#    endif

/* A packing function for one level and element size. STEP packs a group of `lanes` mask bits. */
#    define PACK_VECTOR(name, target, bytes, lanes, STEP)                                          \
        target static size_t name(const void *in, const uint64_t *words, size_t count,             \
                                  size_t size, void *out)                                          \
        {                                                                                          \
            const unsigned char *from = in;                                                        \
            unsigned char *to = out;                                                               \
            size_t whole = count / 64;                                                             \
            (void)size;                                                                            \
            for (size_t w = 0; w < whole; w++) {                                                   \
                const unsigned char *group = from + 64 * w * (bytes);                              \
                BEGIN_WORD(lanes, bytes);                                                          \
                UNROLLED for (uint32_t i = 0; i < 64; i += (lanes), group += (lanes) * (bytes))    \
                {                                                                                  \
                    uint64_t bits = THIS_WORD >> i & (UINT64_MAX >> (64 - (lanes)));               \
                    if (SIMD_X86 || i * (bytes) % 64 == 0)                                         \
                        __builtin_prefetch(group + PREFETCH, 0, 2);                                \
                    STEP(to, group, bits);                                                         \
                    to += SIZE_AT(i, bits, bytes);                                                 \
                }                                                                                  \
            }                                                                                      \
            PACK_TAIL(bytes);                                                                      \
        }

#endif

#if SIMD_X86

/* The merging form, with the source as the old value: its packed bytes equal those of the zeroing
 * form, which has a false dependency on some processors. */
#    define COMPRESS_EPI8(to, from, bits)                                                          \
        __m512i v = _mm512_loadu_si512(from);                                                      \
        _mm512_storeu_si512(to, _mm512_mask_compress_epi8(v, (__mmask64)(bits), v))
#    define COMPRESS_EPI16(to, from, bits)                                                         \
        __m512i v = _mm512_loadu_si512(from);                                                      \
        _mm512_storeu_si512(to, _mm512_mask_compress_epi16(v, (__mmask32)(bits), v))
#    define COMPRESS_EPI32(to, from, bits)                                                         \
        __m512i v = _mm512_loadu_si512(from);                                                      \
        _mm512_storeu_si512(to, _mm512_mask_compress_epi32(v, (__mmask16)(bits), v))
#    define COMPRESS_EPI64(to, from, bits)                                                         \
        __m512i v = _mm512_loadu_si512(from);                                                      \
        _mm512_storeu_si512(to, _mm512_mask_compress_epi64(v, (__mmask8)(bits), v))

PACK_VECTOR(pack_1_avx512, SIMD_TARGET_AVX512, 1, 64, COMPRESS_EPI8)
PACK_VECTOR(pack_2_avx512, SIMD_TARGET_AVX512, 2, 32, COMPRESS_EPI16)
PACK_VECTOR(pack_4_avx512, SIMD_TARGET_AVX512, 4, 16, COMPRESS_EPI32)
PACK_VECTOR(pack_8_avx512, SIMD_TARGET_AVX512, 8, 8, COMPRESS_EPI64)

#endif

#if SIMD_X86 || TML_NEON

/* set_bits[m]: the positions of m's set bits, lowest first, one per byte from the lowest byte
 * on. */
#    define BIT(m, b) ((uint64_t)((m) >> (b)&1))
#    define BELOW(m, b)                                                                            \
        (((b) > 0 ? BIT(m, 0) : 0) + ((b) > 1 ? BIT(m, 1) : 0) + ((b) > 2 ? BIT(m, 2) : 0) +       \
         ((b) > 3 ? BIT(m, 3) : 0) + ((b) > 4 ? BIT(m, 4) : 0) + ((b) > 5 ? BIT(m, 5) : 0) +       \
         ((b) > 6 ? BIT(m, 6) : 0))
#    define PLACED(m, b) (BIT(m, b) * (b) << 8 * BELOW(m, b))
#    define POSITIONS(m)                                                                           \
        (PLACED(m, 0) | PLACED(m, 1) | PLACED(m, 2) | PLACED(m, 3) | PLACED(m, 4) | PLACED(m, 5) | \
         PLACED(m, 6) | PLACED(m, 7))
#    define TIMES_4(X, m)  X(m), X((m) + 1), X((m) + 2), X((m) + 3)
#    define POSITIONS_4(m) TIMES_4(POSITIONS, m)
#    define POSITIONS_16(m)                                                                        \
        POSITIONS_4(m), POSITIONS_4((m) + 4), POSITIONS_4((m) + 8), POSITIONS_4((m) + 12)
#    define POSITIONS_64(m)                                                                        \
        POSITIONS_16(m), POSITIONS_16((m) + 16), POSITIONS_16((m) + 32), POSITIONS_16((m) + 48)
static const uint64_t set_bits[256] = {POSITIONS_64(0), POSITIONS_64(64), POSITIONS_64(128),
                                       POSITIONS_64(192)};

#endif

#if SIMD_X86

#    define POSITIONS_OF(bits) _mm_loadl_epi64((const __m128i *)(const void *)&set_bits[bits])

#    define PERMUTE_EPI8(to, from, bits)                                                           \
        __m128i v = _mm_loadl_epi64((const __m128i *)(const void *)(from));                        \
        _mm_storel_epi64((__m128i *)(void *)(to), _mm_shuffle_epi8(v, POSITIONS_OF(bits)))
/* Element p is bytes 2p and 2p + 1. */
#    define PERMUTE_EPI16(to, from, bits)                                                          \
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(from));                        \
        __m128i p = _mm_cvtepu8_epi16(POSITIONS_OF(bits));                                         \
        p = _mm_add_epi16(_mm_mullo_epi16(p, _mm_set1_epi16(0x0202)), _mm_set1_epi16(0x0100));     \
        _mm_storeu_si128((__m128i *)(void *)(to), _mm_shuffle_epi8(v, p))
#    define PERMUTE_EPI32(to, from, bits)                                                          \
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(from));                     \
        __m256i p = _mm256_cvtepu8_epi32(POSITIONS_OF(bits));                                      \
        _mm256_storeu_si256((__m256i *)(void *)(to), _mm256_permutevar8x32_epi32(v, p))
/* Element p is the 32-bit lanes 2p and 2p + 1. */
#    define PERMUTE_EPI64(to, from, bits)                                                          \
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(from));                     \
        __m256i p = _mm256_slli_epi64(_mm256_cvtepu8_epi64(POSITIONS_OF(bits)), 1);                \
        p = _mm256_or_si256(p, _mm256_slli_epi64(_mm256_or_si256(p, _mm256_set1_epi64x(1)), 32));  \
        _mm256_storeu_si256((__m256i *)(void *)(to), _mm256_permutevar8x32_epi32(v, p))

PACK_VECTOR(pack_1_avx2, SIMD_TARGET_AVX2, 1, 8, PERMUTE_EPI8)
PACK_VECTOR(pack_2_avx2, SIMD_TARGET_AVX2, 2, 8, PERMUTE_EPI16)
PACK_VECTOR(pack_4_avx2, SIMD_TARGET_AVX2, 4, 8, PERMUTE_EPI32)
PACK_VECTOR(pack_8_avx2, SIMD_TARGET_AVX2, 8, 4, PERMUTE_EPI64)

#elif TML_NEON

/* The byte permutation that moves the elements of 4 or 8 bytes whose bits are set to the front, for
 * 4 mask bits. */
#    define PLACE(m, k)      (POSITIONS(m) >> 8 * (k)&0xff)
#    define BYTES_OF_4(m, k) (0x03020100u + 0x04040404u * (uint32_t)PLACE(m, k))
#    define BYTES_OF_8(m, k) (0x0706050403020100u + 0x0808080808080808u * PLACE(m, k))
#    define ROW_OF_4(m)                                                                            \
        {                                                                                          \
            BYTES_OF_4(m, 0), BYTES_OF_4(m, 1), BYTES_OF_4(m, 2), BYTES_OF_4(m, 3)                 \
        }
#    define ROW_OF_8(m)                                                                            \
        {                                                                                          \
            BYTES_OF_8(m, 0), BYTES_OF_8(m, 1), BYTES_OF_8(m, 2), BYTES_OF_8(m, 3)                 \
        }
#    define ROWS_16(ROW) TIMES_4(ROW, 0), TIMES_4(ROW, 4), TIMES_4(ROW, 8), TIMES_4(ROW, 12)
static const uint32_t bytes_of_4[16][4] = {ROWS_16(ROW_OF_4)};
static const uint64_t bytes_of_8[16][4] = {ROWS_16(ROW_OF_8)};

#    define PERMUTE_1(to, from, bits)                                                              \
        vst1_u8(to, vtbl1_u8(vld1_u8(from), vcreate_u8(set_bits[bits])))
#    define PERMUTE_2(to, from, bits)                                                              \
        uint16x8_t p = vmovl_u8(vcreate_u8(set_bits[bits]));                                       \
        p = vmlaq_n_u16(vdupq_n_u16(0x0100), p, 0x0202);                                           \
        vst1q_u8(to, vqtbl1q_u8(vld1q_u8(from), vreinterpretq_u8_u16(p)))
#    define PERMUTE_4(to, from, bits)                                                              \
        uint8x16_t p = vreinterpretq_u8_u32(vld1q_u32(bytes_of_4[bits]));                          \
        vst1q_u8(to, vqtbl1q_u8(vld1q_u8(from), p))
#    define PERMUTE_8(to, from, bits)                                                              \
        const uint64_t *row = bytes_of_8[bits];                                                    \
        uint8x16x2_t v = vld1q_u8_x2(from);                                                        \
        uint8x16_t low = vqtbl2q_u8(v, vreinterpretq_u8_u64(vld1q_u64(row)));                      \
        uint8x16_t high = vqtbl2q_u8(v, vreinterpretq_u8_u64(vld1q_u64(row + 2)));                 \
        vst1q_u8(to, low);                                                                         \
        vst1q_u8((to) + 16, high)

PACK_VECTOR(pack_1_neon, , 1, 8, PERMUTE_1)
PACK_VECTOR(pack_2_neon, , 2, 8, PERMUTE_2)
PACK_VECTOR(pack_4_neon, , 4, 4, PERMUTE_4)
PACK_VECTOR(pack_8_neon, , 8, 4, PERMUTE_8)

#endif

cpu_compress_fn cpu_compress_for(size_t element_size)
{
    static const cpu_compress_fn table[][TML_SIMD_LEVELS] = {
        [1] = SIMD_OWN_LEVEL(SIMD_NEON_OR(pack_1_neon, pack_1), pack_1_avx2, pack_1_avx512),
        [2] = SIMD_OWN_LEVEL(SIMD_NEON_OR(pack_2_neon, pack_2), pack_2_avx2, pack_2_avx512),
        [4] = SIMD_OWN_LEVEL(SIMD_NEON_OR(pack_4_neon, pack_4), pack_4_avx2, pack_4_avx512),
        [8] = SIMD_OWN_LEVEL(SIMD_NEON_OR(pack_8_neon, pack_8), pack_8_avx2, pack_8_avx512),
        [12] = SIMD_OWN_LEVEL(pack_12, pack_12, pack_12),
        [16] = SIMD_OWN_LEVEL(pack_16, pack_16, pack_16),
    };
    cpu_compress_fn found =
        element_size < TML_ARRAY_SIZE(table) ? table[element_size][tml_simd_level()] : NULL;
    return found ? found : pack_any;
}

/* ---- copies with non-temporal stores -------------------------------------------------------- */

#if SIMD_X86
void cpu_copy_out(void *out, const void *in, size_t size, bool stream)
{
    enum { LINE = 64 };
    unsigned char *to = out;
    const unsigned char *from = in;
    size_t head = (size_t)(-(uintptr_t)to % LINE);
    if (!stream || size < head + LINE) {
        memcpy(to, from, size);
        return;
    }
    memcpy(to, from, head);
    size_t done = head;
    for (; size - done >= LINE; done += LINE) {
        const __m128i *line = (const __m128i *)(const void *)(from + done);
        __m128i *place = (__m128i *)(void *)(to + done);
        __m128i a = _mm_loadu_si128(line), b = _mm_loadu_si128(line + 1);
        __m128i c = _mm_loadu_si128(line + 2), d = _mm_loadu_si128(line + 3);
        _mm_stream_si128(place, a);
        _mm_stream_si128(place + 1, b);
        _mm_stream_si128(place + 2, c);
        _mm_stream_si128(place + 3, d);
    }
    memcpy(to + done, from + done, size - done);
}

void cpu_stream_fence(void)
{
    _mm_sfence();
}
#else
void cpu_copy_out(void *out, const void *in, size_t size, bool stream)
{
    (void)stream;
    memcpy(out, in, size);
}

void cpu_stream_fence(void)
{
}
#endif

bool cpu_worth_streaming(uint64_t size)
{
    return size >= (uint64_t)8 << 20;
}
