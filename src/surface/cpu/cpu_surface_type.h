/* The surface's loops over samples of one element type. Included by cpu_surface_loops.h with
 *   TYPE, NAME   the type and the functions' suffix
 *   T            the C type of a sample      CMP   the type that samples are compared as
 *   REAL         the type that crossing points are computed in
 *   FLOAT        1 for types with NaN        VALUE T to CMP (default: itself) */
#ifndef VALUE
#    define VALUE(v) (v)
#endif
#define FN(name) OF_TYPE(name, NAME)

_Static_assert((sizeof(REAL) == sizeof(double)) == SURFACE_IN_DOUBLE(TYPE), "one of both is wrong");

/* Compares up to 64 samples. The result becomes bytes, then bits: compilers vectorise that. */
#define COMPARE_FUNCTION(name, comparison)                                                         \
    static inline uint64_t FN(name)(const T *samples, uint64_t n, CMP limit)                       \
    {                                                                                              \
        T few[64];                                                                                 \
        uint8_t bytes[64];                                                                         \
        (void)limit;                                                                               \
        if (n < 64)                                                                                \
            samples = memcpy(memset(few, 0, sizeof few), samples, n * sizeof *few);                \
        for (int i = 0; i < 64; i++) {                                                             \
            CMP v = VALUE(samples[i]);                                                             \
            bytes[i] = comparison ? 0xff : 0;                                                      \
        }                                                                                          \
        return pack_bytes(bytes) & low_bits(n);                                                    \
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
#if SIMD_FILE >= SIMD_FILE_AVX2 || TML_NEON
    if (TYPE == TML_F32 ||
        (TML_NEON && TYPE == TML_F16)) { /* faster: COMPARE_FUNCTION is slower than memory */
        for (; i + 64 <= n; i += 64) {
            uint64_t word = 0, nan = 0;
            prefetch_ahead(v + i, 64 * sizeof(T));
#    if SIMD_FILE == SIMD_FILE_AVX512
            __m512 wide = _mm512_set1_ps((float)limit);
            for (int k = 0; k < 4; k++) {
                __m512 a = _mm512_loadu_ps((const void *)(v + i + 16 * k));
                word |= (uint64_t)_mm512_cmp_ps_mask(a, wide, _CMP_GE_OQ) << (16 * k);
                nan |= _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
            }
#    elif TML_NEON
            const bool is_half = sizeof(T) == 2;
            float32x4_t wide = vdupq_n_f32((float)limit), largest = wide; /* or NaN */
            uint8x16_t inside[4];
            for (int k = 0; k < 4; k++) {
                const T *at = v + i + 16 * k;
                float32x4_t a = neon_floats(at, is_half), b = neon_floats(at + 4, is_half);
                float32x4_t c = neon_floats(at + 8, is_half), d = neon_floats(at + 12, is_half);
                inside[k] = neon_narrow(vcgeq_f32(a, wide), vcgeq_f32(b, wide), vcgeq_f32(c, wide),
                                        vcgeq_f32(d, wide));
                a = vmaxq_f32(vmaxq_f32(a, b), vmaxq_f32(c, d));
                largest = k ? vmaxq_f32(largest, a) : a;
            }
            word = neon_bits_64(inside[0], inside[1], inside[2], inside[3]);
            nan = vmaxvq_u32(vmvnq_u32(vceqq_f32(largest, largest)));
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
    /* One step outward if rounding went inward; always for 64 bits, where comparing rounds. */
    float f_low = (float)low, f_high = (float)high;
    *smallest =
        (double)f_low > (double)low || sizeof(T) == 8 ? nextafterf(f_low, -INFINITY) : f_low;
    *largest =
        (double)f_high < (double)high || sizeof(T) == 8 ? nextafterf(f_high, INFINITY) : f_high;
    return !nan;
}

static void FN(ends)(const void *samples, surface_lanes *lanes)
{
    const T *v = samples;
    REAL *low = sizeof(REAL) == 4 ? (void *)lanes->ends.narrow.low : (void *)lanes->ends.wide.low;
    REAL *high =
        sizeof(REAL) == 4 ? (void *)lanes->ends.narrow.high : (void *)lanes->ends.wide.high;
    for (uint64_t i = 0; i < lanes->count; i++) {
        low[i] = (REAL)VALUE(v[lanes->sample[0][i]]);
        high[i] = (REAL)VALUE(v[lanes->sample[1][i]]);
    }
    for (uint64_t i = lanes->count; i < lanes->count + 16; i++) /* cross reads whole vectors */
        low[i] = high[i] = 0;
}

static void FN(gather)(const void *samples, const surface_stencil *stencil, uint64_t n,
                       float (*out)[SURFACE_LANES])
{
    for (uint64_t i = 0; i < n; i++) {
        const T *at = (const T *)samples + stencil->sample[i];
        const int64_t *offsets = stencil->offsets[i];
        for (uint32_t k = 0; k < stencil->count; k++)
            out[k][i] = (float)VALUE(at[offsets[k]]);
    }
}

static void FN(differences)(const void *samples, const surface_lanes *lanes,
                            const int64_t strides[3], float (*restrict out)[SURFACE_LANES])
{
    const int64_t row = strides[1], layer = strides[2];
    for (uint64_t i = 0; i < lanes->count; i++)
        _Pragma("GCC unroll 2") for (int end = 0; end < 2; end++)
        {
            const T *at = (const T *)samples + lanes->sample[end][i];
            out[3 * end][i] = (float)VALUE(at[1]) - (float)VALUE(at[-1]);
            out[3 * end + 1][i] = (float)VALUE(at[row]) - (float)VALUE(at[-row]);
            out[3 * end + 2][i] = (float)VALUE(at[layer]) - (float)VALUE(at[-layer]);
        }
}

#undef FN
#undef TYPE
#undef NAME
#undef T
#undef CMP
#undef REAL
#undef FLOAT
#undef VALUE
