/* The sort's loops in intrinsics: a network that sorts many rows of a few codes each; and the bit
 * by which records are halved, as mask words. Rows become the columns of sixteen vectors, so that
 * the network compares and exchanges whole vectors. Included by cpu_sort_records.c only.
 *
 * After: Batcher: Sorting Networks and Their Applications. 1968; Inoue, Moriyama, Komatsu,
 * Nakatani: AA-Sort. 2007 (sorting columns, then transposing). */

#if SIMD_X86

/* Batcher's odd-even merge sort of 16, one stage per line. */
/* clang-format off */
#    define NETWORK_16(_)                                                      \
        _(0, 1) _(2, 3) _(4, 5) _(6, 7) _(8, 9) _(10, 11) _(12, 13) _(14, 15)  \
        _(0, 2) _(1, 3) _(4, 6) _(5, 7) _(8, 10) _(9, 11) _(12, 14) _(13, 15)  \
        _(1, 2) _(5, 6) _(9, 10) _(13, 14)                                     \
        _(0, 4) _(1, 5) _(2, 6) _(3, 7) _(8, 12) _(9, 13) _(10, 14) _(11, 15)  \
        _(2, 4) _(3, 5) _(10, 12) _(11, 13)                                    \
        _(1, 2) _(3, 4) _(5, 6) _(9, 10) _(11, 12) _(13, 14)                   \
        _(0, 8) _(1, 9) _(2, 10) _(3, 11) _(4, 12) _(5, 13) _(6, 14) _(7, 15)  \
        _(4, 8) _(5, 9) _(6, 10) _(7, 11)                                      \
        _(2, 4) _(3, 5) _(6, 8) _(7, 9) _(10, 12) _(11, 13)                    \
        _(1, 2) _(3, 4) _(5, 6) _(7, 8) _(9, 10) _(11, 12) _(13, 14)
/* clang-format on */

/* ---- AVX2: eight rows at a time -------------------------------------------------------------- */

/* Transposes 8 x 8 codes. */
SIMD_TARGET_AVX2 ALWAYS_INLINE void transpose_8(__m256i r[8])
{
    __m256i pairs[8], fours[8];
    for (int i = 0; i < 8; i += 2) {
        pairs[i] = _mm256_unpacklo_epi32(r[i], r[i + 1]);
        pairs[i + 1] = _mm256_unpackhi_epi32(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int j = 0; j < 2; j++) {
            fours[i + 2 * j] = _mm256_unpacklo_epi64(pairs[i + j], pairs[i + j + 2]);
            fours[i + 2 * j + 1] = _mm256_unpackhi_epi64(pairs[i + j], pairs[i + j + 2]);
        }
    for (int i = 0; i < 4; i++) {
        r[i] = _mm256_permute2x128_si256(fours[i], fours[i + 4], 0x20);
        r[i + 4] = _mm256_permute2x128_si256(fours[i], fours[i + 4], 0x31);
    }
}

SIMD_TARGET_AVX2 static void sort_8_rows(uint32_t (*codes)[SORT_ROW], const uint32_t *fills)
{
    const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i eight = _mm256_set1_epi32(8);
    __m256i r[SORT_ROW];
    for (int i = 0; i < 8; i++) {
        const __m256i *row = (const __m256i *)(const void *)codes[i];
        __m256i last = _mm256_set1_epi32((int)fills[i] - 1);
        r[i] = _mm256_or_si256(_mm256_load_si256(row), _mm256_cmpgt_epi32(places, last));
        r[i + 8] = _mm256_or_si256(_mm256_load_si256(row + 1),
                                   _mm256_cmpgt_epi32(_mm256_add_epi32(places, eight), last));
    }
    transpose_8(r);
    transpose_8(r + 8);
#    define EXCHANGE(a, b)                                                                         \
        {                                                                                          \
            __m256i low = _mm256_min_epu32(r[a], r[b]);                                            \
            r[b] = _mm256_max_epu32(r[a], r[b]);                                                   \
            r[a] = low;                                                                            \
        }
    NETWORK_16(EXCHANGE)
#    undef EXCHANGE
    transpose_8(r);
    transpose_8(r + 8);
    for (int i = 0; i < 8; i++) {
        _mm256_store_si256((__m256i *)(void *)codes[i], r[i]);
        _mm256_store_si256((__m256i *)(void *)codes[i] + 1, r[i + 8]);
    }
}

SIMD_TARGET_AVX2 static void sort_group_avx2(uint32_t (*codes)[SORT_ROW], const uint32_t *fills)
{
    sort_8_rows(codes, fills);
    sort_8_rows(codes + 8, fills + 8);
}

SIMD_TARGET_AVX2 ALWAYS_INLINE uint64_t word_4_avx2(const void *x, unsigned bit)
{
    const __m128i up = _mm_cvtsi32_si128(31 - (int)bit);
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++) {
        __m256i v = _mm256_loadu_si256((const __m256i *)x + i);
        v = _mm256_sll_epi32(v, up);
        word |= (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(v)) << 8 * i;
    }
    return word;
}

SIMD_TARGET_AVX2 ALWAYS_INLINE uint64_t word_8_avx2(const void *x, unsigned bit)
{
    const __m128i up = _mm_cvtsi32_si128(63 - (int)bit);
    uint64_t word = 0;
    for (unsigned i = 0; i < 16; i++) {
        __m256i v = _mm256_loadu_si256((const __m256i *)x + i);
        v = _mm256_sll_epi64(v, up);
        word |= (uint64_t)(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(v)) << 4 * i;
    }
    return word;
}

/* ---- AVX-512: sixteen rows at a time --------------------------------------------------------- */

/* Transposes 16 x 16 codes. */
SIMD_TARGET_AVX512 ALWAYS_INLINE void transpose_16(__m512i r[16])
{
    __m512i pairs[16], fours[16];
    for (int i = 0; i < 16; i += 2) {
        pairs[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4)
        for (int j = 0; j < 2; j++) {
            fours[i + 2 * j] = _mm512_unpacklo_epi64(pairs[i + j], pairs[i + j + 2]);
            fours[i + 2 * j + 1] = _mm512_unpackhi_epi64(pairs[i + j], pairs[i + j + 2]);
        }
    /* fours[4 i + c] has columns c, c + 4, c + 8 and c + 12 of rows 4 i to 4 i + 3 */
    for (int c = 0; c < 4; c++)
        for (int odd = 0; odd < 2; odd++) {
            __m512i a = odd ? _mm512_shuffle_i32x4(fours[c], fours[4 + c], 0xdd)
                            : _mm512_shuffle_i32x4(fours[c], fours[4 + c], 0x88);
            __m512i b = odd ? _mm512_shuffle_i32x4(fours[8 + c], fours[12 + c], 0xdd)
                            : _mm512_shuffle_i32x4(fours[8 + c], fours[12 + c], 0x88);
            r[4 * odd + c] = _mm512_shuffle_i32x4(a, b, 0x88);
            r[4 * odd + 8 + c] = _mm512_shuffle_i32x4(a, b, 0xdd);
        }
}

SIMD_TARGET_AVX512 static void sort_group_avx512(uint32_t (*codes)[SORT_ROW], const uint32_t *fills)
{
    const __m512i largest = _mm512_set1_epi32(-1);
    _Static_assert(SORT_LEAF / SORT_ROW + SORT_ROW < 256, "bzhi takes a byte of fills");
    __m512i r[SORT_ROW];
    for (int i = 0; i < SORT_GROUP; i++)
        r[i] = _mm512_mask_loadu_epi32(largest, (__mmask16)_bzhi_u32(0xffff, fills[i]), codes[i]);
    transpose_16(r);
#    define EXCHANGE(a, b)                                                                         \
        {                                                                                          \
            __m512i low = _mm512_min_epu32(r[a], r[b]);                                            \
            r[b] = _mm512_max_epu32(r[a], r[b]);                                                   \
            r[a] = low;                                                                            \
        }
    NETWORK_16(EXCHANGE)
#    undef EXCHANGE
    transpose_16(r);
    for (int i = 0; i < SORT_GROUP; i++)
        _mm512_store_si512(codes[i], r[i]);
}

SIMD_TARGET_AVX512 ALWAYS_INLINE void write_row_8_avx512(const sort_rows *rows, size_t row,
                                                         void *out)
{
    const __m512i *records = (const __m512i *)(const void *)rows->records + row * 2;
    __m512i low = _mm512_load_si512(records), high = _mm512_load_si512(records + 1);
    const __m256i *codes = (const __m256i *)(const void *)rows->codes[row];
    /* a permutation reads only the bits of the position */
    for (int i = 0; i < 2; i++)
        _mm512_storeu_si512((__m512i *)out + i,
                            _mm512_permutex2var_epi64(
                                low, _mm512_cvtepu32_epi64(_mm256_load_si256(codes + i)), high));
}

/* Halves whole groups of vectors, and advances zeros and ones. Returns the number of records
 * done. */
#    define HALVE_AVX512(bytes, lanes, bits)                                                       \
        SIMD_TARGET_AVX512 ALWAYS_INLINE size_t halve_vectors_##bytes(                             \
            const unsigned char *x, size_t count, unsigned bit, unsigned char **zeros,             \
            unsigned char **ones)                                                                  \
        {                                                                                          \
            const __m512i one_bit = _mm512_set1_epi##bits((int##bits##_t)((uint64_t)1 << bit));    \
            unsigned char *zero = *zeros, *one = *ones;                                            \
            size_t done = count / (4 * (lanes)) * 4 * (lanes);                                     \
            for (size_t i = 0; i < done; i += 4 * (lanes))                                         \
                for (size_t j = 0; j < 4; j++) {                                                   \
                    __m512i v = _mm512_loadu_si512(x + (i + j * (lanes)) * (bytes));               \
                    unsigned set = _mm512_test_epi##bits##_mask(v, one_bit);                       \
                    size_t set_bytes = (size_t)_mm_popcnt_u32(set) * (bytes);                      \
                    __mmask##lanes clear = (__mmask##lanes) ~set;                                  \
                    _mm512_storeu_si512(zero, _mm512_mask_compress_epi##bits(v, clear, v));        \
                    _mm512_storeu_si512(                                                           \
                        one, _mm512_mask_compress_epi##bits(v, (__mmask##lanes)set, v));           \
                    zero += (lanes) * (bytes)-set_bytes;                                           \
                    one += set_bytes;                                                              \
                }                                                                                  \
            *zeros = zero;                                                                         \
            *ones = one;                                                                           \
            return done;                                                                           \
        }
HALVE_AVX512(4, 16, 32)
HALVE_AVX512(8, 8, 64)

#endif
