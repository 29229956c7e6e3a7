/* The surface's loops over samples, for one element type. Included by cpu_surface_loops.h with
 *   TYPE, NAME   the type and the functions' suffix
 *   T            a sample in memory          CMP   what it is compared as
 *   REAL         what crossings are computed in
 *   FLOAT        1 where NaN exists          VALUE T to CMP (default: itself) */
#ifndef VALUE
#    define VALUE(v) (v)
#endif
#define JOIN_(a, b) a##_##b
#define JOIN(a, b)  JOIN_(a, b)
#define FN(name)    JOIN(name, NAME)

/* The bits of up to 64 samples by a comparison, through bytes, which compilers vectorise well. */
#define COMPARE_FUNCTION(name, comparison)                                                         \
    static inline uint64_t FN(name)(const T *restrict samples, uint64_t n, CMP limit)              \
    {                                                                                              \
        uint8_t bytes[64] = {0};                                                                   \
        (void)limit;                                                                               \
        if (n >= 64)                                                                               \
            for (int i = 0; i < 64; i++) {                                                         \
                CMP v = VALUE(samples[i]);                                                         \
                bytes[i] = comparison ? 0xff : 0;                                                  \
            }                                                                                      \
        else                                                                                       \
            for (uint64_t i = 0; i < n; i++) {                                                     \
                CMP v = VALUE(samples[i]);                                                         \
                bytes[i] = comparison ? 0xff : 0;                                                  \
            }                                                                                      \
        return pack_bytes(bytes);                                                                  \
    }
COMPARE_FUNCTION(word_inside, v >= limit)
COMPARE_FUNCTION(word_equal, v == limit)
#if FLOAT
COMPARE_FUNCTION(word_present, v == v)
#endif
#undef COMPARE_FUNCTION

static uint32_t FN(bits)(const void *samples, uint64_t n, const void *threshold, surface_word *out)
{
    const T *v = samples;
    CMP limit;
    memcpy(&limit, threshold, sizeof limit);
    uint32_t flags = 0;
    uint64_t i = 0;
#if defined(SURFACE_AVX512) || defined(SURFACE_AVX2)
    if (TYPE == TML_F32) { /* through bytes this would be slower than memory */
        for (; i + 64 <= n; i += 64) {
            uint64_t word = 0, nan = 0;
            prefetch_ahead(v + i, 64 * sizeof(T));
#    if defined(SURFACE_AVX512)
            __m512 wide = _mm512_set1_ps((float)limit);
            for (int k = 0; k < 4; k++) {
                __m512 a = _mm512_loadu_ps((const void *)(v + i + 16 * k));
                word |= (uint64_t)_mm512_cmp_ps_mask(a, wide, _CMP_GE_OQ) << (16 * k);
                nan |= _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
            }
#    else
            __m256 wide = _mm256_set1_ps((float)limit), unordered = _mm256_setzero_ps();
            for (int k = 0; k < 8; k++) {
                __m256 a = _mm256_loadu_ps((const void *)(v + i + 8 * k));
                __m256 inside = _mm256_cmp_ps(a, wide, _CMP_GE_OQ);
                word |= (uint64_t)(uint32_t)_mm256_movemask_ps(inside) << (8 * k);
                unordered = _mm256_or_ps(unordered, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
            }
            nan = (uint64_t)_mm256_movemask_ps(unordered);
#    endif
            flags |= word_flags(word, 64) | (nan ? ROW_NAN : 0);
            out[i / 64] = word;
        }
    }
#endif
    for (; i < n; i += 64) {
        uint64_t left = n - i;
        prefetch_ahead(v + i, 64 * sizeof(T));
        uint64_t word = FN(word_inside)(v + i, left, limit);
#if FLOAT
        if (FN(word_present)(v + i, left, limit) != low_bits(left))
            flags |= ROW_NAN;
#endif
        flags |= word_flags(word, left);
        out[i / 64] = word;
    }
    return flags;
}

static uint32_t FN(equal)(const void *samples, uint64_t n, const void *label, surface_word *out)
{
    const T *v = samples;
    CMP limit;
    memcpy(&limit, label, sizeof limit);
    uint32_t flags = 0;
    for (uint64_t i = 0; i < n; i += 64) {
        out[i / 64] = FN(word_equal)(v + i, n - i, limit);
        flags |= word_flags(out[i / 64], n - i);
    }
    return flags;
}

static void FN(present)(const void *samples, uint64_t n, surface_word *out)
{
#if FLOAT
    const T *v = samples;
    for (uint64_t i = 0; i < n; i += 64)
        out[i / 64] = FN(word_present)(v + i, n - i, 0);
#else
    (void)samples;
    for (uint64_t i = 0; i < n; i += 64)
        out[i / 64] = low_bits(n - i);
#endif
}

static bool FN(range)(const void *samples, uint64_t n, float *smallest, float *largest)
{
    const T *v = samples;
    CMP low = VALUE(v[0]), high = low;
    bool nan = false;
    for (uint64_t i = 0; i < n; i++) {
        CMP a = VALUE(v[i]);
        low = a < low ? a : low;
        high = a > high ? a : high;
#if FLOAT
        nan |= a != a;
#endif
    }
    /* 32- and 64-bit values may round inward: one step outward is always safe. */
    float f_low = (float)low, f_high = (float)high;
    *smallest =
        (double)f_low > (double)low || sizeof(T) == 8 ? nextafterf(f_low, -INFINITY) : f_low;
    *largest =
        (double)f_high < (double)high || sizeof(T) == 8 ? nextafterf(f_high, INFINITY) : f_high;
    return !nan;
}

static uint64_t FN(crossings)(const surface_crossings *in, const void *iso_value)
{
    const T *low = in->low, *high = in->high;
    REAL *t = in->t;
    REAL iso;
    memcpy(&iso, iso_value, sizeof iso);
    uint32_t *x = in->x;
    uint64_t count = 0;
#if defined(SURFACE_AVX512)
    if (TYPE == TML_F32) {
        /* Packs the ends of the crossed edges of each run, and divides sixteen of them at a time: a
         * division of sixteen lanes takes as long whether one or all of them are wanted. */
        float a[GROUP + 16], b[GROUP + 16];
        const __m512i steps =
            _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        for (uint64_t runs = in->runs; runs; runs &= runs - 1) {
            unsigned run = (unsigned)__builtin_ctzll(runs);
            __mmask16 crossed = (__mmask16)(in->edges[run / 4] >> (16 * (run % 4)));
            __m512i at = _mm512_add_epi32(_mm512_set1_epi32((int)(16 * run)), steps);
            __m512 ends[2] = {_mm512_maskz_loadu_ps(crossed, (const void *)(low + 16 * run)),
                              _mm512_maskz_loadu_ps(crossed, (const void *)(high + 16 * run))};
            _mm512_storeu_ps(a + count, _mm512_maskz_compress_ps(crossed, ends[0]));
            _mm512_storeu_ps(b + count, _mm512_maskz_compress_ps(crossed, ends[1]));
            _mm512_storeu_si512(x + count, _mm512_maskz_compress_epi32(crossed, at));
            count += (uint64_t)__builtin_popcount(crossed);
        }
        for (uint64_t first = 0; first < count; first += 16) /* past count there are zeros */
            for (uint64_t i = first; i < first + 16; i++)
                t[i] = surface_crossing(a[i], b[i], (float)iso);
        return count;
    }
#endif
    for (uint64_t w = 0; w < in->words; w++)
        for (uint64_t edges = in->edges[w]; edges; edges &= edges - 1)
            x[count++] = (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(edges);
    for (uint64_t first = 0; first < count; first += 64) {
        REAL a[64], b[64];
        uint64_t n = count - first < 64 ? count - first : 64;
        for (uint64_t i = 0; i < n; i++) {
            a[i] = (REAL)VALUE(low[x[first + i]]);
            b[i] = (REAL)VALUE(high[x[first + i]]);
        }
        for (uint64_t i = 0; i < n; i++)
            t[first + i] =
                sizeof(REAL) == sizeof(float)
                    ? (REAL)surface_crossing((float)a[i], (float)b[i], (float)iso)
                    : (REAL)surface_crossing_f64((double)a[i], (double)b[i], (double)iso);
    }
    return count;
}

#undef FN
#undef JOIN
#undef JOIN_
#undef TYPE
#undef NAME
#undef T
#undef CMP
#undef REAL
#undef FLOAT
#undef VALUE
