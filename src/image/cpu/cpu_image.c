/* Converts pixels of every type to floats and back, for the CPU's image parts. Elements are
 * converted one by one, for any number of channels. Pixels are interleaved or in planes. */
#include "image/cpu/cpu_image.h"

#include <string.h>

/* ---- elements -------------------------------------------------------------------------------- */

/* How elements are encoded. */
typedef enum coding {
    LINEAR,
    SRGB,
    SRGB_OF_2, /* sRGB, except the last of 2 or 4 channels, which is linear alpha */
    SRGB_OF_4,
} coding;

static coding coding_of(const cpu_image *image)
{
    if (!image->srgb)
        return LINEAR;
    return image->channels == 2 ? SRGB_OF_2 : image->channels == 4 ? SRGB_OF_4 : SRGB;
}

/* All ones if interleaved element i is alpha, otherwise 0. */
ALWAYS_INLINE uint32_t alpha_mask(coding how, size_t i)
{
    uint32_t channels = how == SRGB_OF_4 ? 4 : 2;
    return how < SRGB_OF_2 ? 0 : 0u - (uint32_t)((uint32_t)i % channels == channels - 1);
}

ALWAYS_INLINE uint32_t to_integer(coding how, float x, float largest, size_t i)
{
    uint32_t alpha = alpha_mask(how, i), plain = image_to_integer(x, largest, false);
    return how == LINEAR ? plain : (plain & alpha) | (image_to_integer(x, largest, true) & ~alpha);
}

ALWAYS_INLINE float from_u16(coding how, uint32_t code, size_t i)
{
    float plain = image_from_u16(code, false);
    return how == LINEAR ? plain
                         : image_either(alpha_mask(how, i) != 0, plain, image_from_u16(code, true));
}

/* Decodes elements. One loop per type, so that compilers vectorise the formulas of image.k.h.
 * look_up decodes u8 coded as sRGB by a table instead. */
ALWAYS_INLINE void decode(tml_type type, coding how, const void *in, size_t count,
                          float *restrict out)
{
    const uint16_t *halves = in;
    const uint8_t *bytes = in;
    if (type == TML_F16)
        for (size_t i = 0; i < count; i++)
            out[i] = half_to_float(halves[i]);
    else if (type == TML_U16)
        for (size_t i = 0; i < count; i++)
            out[i] = from_u16(how, halves[i], i);
    else
        for (size_t i = 0; i < count; i++)
            out[i] = image_from_u8(bytes[i], false);
}

/* Encodes to f16, by instructions where all processors have them. They equal tml_float_to_half,
 * except that it has only one NaN of each sign. */
ALWAYS_INLINE void encode_halves(const float *restrict in, size_t count, uint16_t *restrict out)
{
    size_t i = 0;
#if TML_NEON
    const uint16x8_t sign = vdupq_n_u16(0x8000), nan = vdupq_n_u16(0x7e00);
    for (; i + 8 <= count; i += 8) {
        float32x4_t a = vld1q_f32(in + i), b = vld1q_f32(in + i + 4);
        uint16x8_t half = vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(a), b));
        uint16x8_t is_number = vuzp1q_u16(vreinterpretq_u16_u32(vceqq_f32(a, a)),
                                          vreinterpretq_u16_u32(vceqq_f32(b, b)));
        vst1q_u16(out + i, vbslq_u16(is_number, half, vorrq_u16(vandq_u16(half, sign), nan)));
    }
#endif
    for (; i < count; i++)
        out[i] = (uint16_t)tml_float_to_half(in[i]);
}

ALWAYS_INLINE void encode(tml_type type, coding how, const float *restrict in, size_t count,
                          void *out)
{
    uint16_t *halves = out;
    uint8_t *bytes = out;
    if (type == TML_F16)
        encode_halves(in, count, halves);
    else if (type == TML_U16)
        for (size_t i = 0; i < count; i++)
            halves[i] = (uint16_t)to_integer(how, in[i], 65535.0f, i);
    else
        for (size_t i = 0; i < count; i++)
            bytes[i] = (uint8_t)to_integer(how, in[i], 255.0f, i);
}

/* Calls work, with type and coding as constants. */
#define EACH_CODING(work, type, in, out)                                                           \
    do {                                                                                           \
        if (how == LINEAR)                                                                         \
            work(type, LINEAR, in, count, out);                                                    \
        else if (how == SRGB)                                                                      \
            work(type, SRGB, in, count, out);                                                      \
        else if (how == SRGB_OF_2)                                                                 \
            work(type, SRGB_OF_2, in, count, out);                                                 \
        else                                                                                       \
            work(type, SRGB_OF_4, in, count, out);                                                 \
    } while (0)
#define EACH_TYPE(work, in, out)                                                                   \
    do {                                                                                           \
        if (type == TML_F16)                                                                       \
            work(TML_F16, LINEAR, in, count, out);                                                 \
        else if (type == TML_U16)                                                                  \
            EACH_CODING(work, TML_U16, in, out);                                                   \
        else                                                                                       \
            EACH_CODING(work, TML_U8, in, out);                                                    \
    } while (0)

SIMD_INSTANTIATE(void, decode,
                 (tml_type type, coding how, const void *in, size_t count, float *out),
                 EACH_TYPE(decode, in, out))
SIMD_INSTANTIATE(void, encode,
                 (tml_type type, coding how, const float *in, size_t count, void *out),
                 EACH_TYPE(encode, in, out))

typedef void (*decode_fn)(tml_type type, coding how, const void *in, size_t count, float *out);
typedef void (*encode_fn)(tml_type type, coding how, const float *in, size_t count, void *out);
static const decode_fn decode_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(decode);
static const encode_fn encode_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(encode);

#if SIMD_X86
/* Decodes f16 by the hardware's instruction. It equals tml_half_to_float except for the bits of a
 * NaN. (With AVX2 the instruction is an extension of its own, F16C, which not every compiler can
 * target.) */
SIMD_TARGET_AVX512 static void decode_halves_avx512(const uint16_t *in, size_t count, float *out)
{
    size_t i = 0;
    for (; i + 16 <= count; i += 16)
        _mm512_storeu_ps(out + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(in + i))));
    for (; i < count; i++)
        out[i] = tml_half_to_float(in[i]);
}
#endif

static void decode_elements(tml_simd level, tml_type type, coding how, const void *in, size_t count,
                            float *out)
{
#if SIMD_X86
    if (type == TML_F16 && level == TML_SIMD_AVX512) {
        decode_halves_avx512(in, count, out);
        return;
    }
#endif
    decode_for[level](type, how, in, count, out);
}

/* Decodes elements [first, count) of u8 coded as sRGB, by a table. */
ALWAYS_INLINE void look_up(coding how, const float *restrict table, const uint8_t *restrict codes,
                           size_t first, size_t count, float *restrict out)
{
    for (size_t i = first; i < count; i++)
        out[i] = table[codes[i] + (alpha_mask(how, i) & 256)];
}
static void look_up_base(coding how, const float *table, const uint8_t *codes, size_t count,
                         float *out)
{
    look_up(how, table, codes, 0, count, out);
}

#if SIMD_X86
/* Compilers turn the plain loop into extracts and inserts of single elements, which take three
 * times as long as a gather. */
SIMD_TARGET_AVX2 static void look_up_avx2(coding how, const float *table, const uint8_t *codes,
                                          size_t count, float *out)
{
    int place[8];
    for (size_t l = 0; l < 8; l++)
        place[l] = (int)(alpha_mask(how, l) & 256);
    const __m256i places = _mm256_loadu_si256((const __m256i *)place);
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256i code = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(codes + i)));
        _mm256_storeu_ps(out + i, _mm256_i32gather_ps(table, _mm256_add_epi32(code, places), 4));
    }
    look_up(how, table, codes, i, count, out);
}

SIMD_TARGET_AVX512 static void look_up_avx512(coding how, const float *table, const uint8_t *codes,
                                              size_t count, float *out)
{
    int place[16];
    for (size_t l = 0; l < 16; l++)
        place[l] = (int)(alpha_mask(how, l) & 256);
    const __m512i places = _mm512_loadu_si512(place);
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m512i code = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(codes + i)));
        _mm512_storeu_ps(out + i, _mm512_i32gather_ps(_mm512_add_epi32(code, places), table, 4));
    }
    look_up(how, table, codes, i, count, out);
}
#endif

typedef void (*look_up_fn)(coding how, const float *table, const uint8_t *codes, size_t count,
                           float *out);
static const look_up_fn look_up_for[TML_SIMD_LEVELS] =
    SIMD_OWN_LEVEL(look_up_base, look_up_avx2, look_up_avx512);

/* Converts logarithms to linear values. Alpha is unchanged. */
ALWAYS_INLINE void expand_logs(uint32_t values, uint32_t channels, size_t count, float *out)
{
    const coding how = channels == 2 ? SRGB_OF_2 : channels == 4 ? SRGB_OF_4 : SRGB;
    for (size_t i = 0; i < count; i++)
        out[i] = image_either(alpha_mask(how, i) != 0, out[i], image_of_log(out[i], values));
}
SIMD_INSTANTIATE(void, expand_logs, (uint32_t values, uint32_t channels, size_t count, float *out),
                 expand_logs(values, channels, count, out))

typedef void (*expand_fn)(uint32_t values, uint32_t channels, size_t count, float *out);
static const expand_fn expand_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(expand_logs);

/* ---- channels -------------------------------------------------------------------------------- */

typedef struct image_planes {
    float *plane[4];
} image_planes;

/* Splits pixels [first, count) into planes, pixel by pixel. */
ALWAYS_INLINE void part(const float *restrict in, size_t first, size_t count, uint32_t channels,
                        uint32_t wanted, image_planes out)
{
    for (uint32_t c = 0; c < wanted; c++) {
        float *restrict plane = out.plane[c];
        for (size_t i = first; i < count; i++)
            plane[i] = in[channels * i + c];
    }
}
static void part_base(const float *in, size_t count, uint32_t channels, uint32_t wanted,
                      image_planes out)
{
    size_t i = 0;
#if TML_NEON
    for (; channels == 4 && i + 4 <= count; i += 4) {
        float32x4x4_t pixels = vld4q_f32(in + 4 * i);
        for (uint32_t c = 0; c < 4; c++)
            if (c < wanted)
                vst1q_f32(out.plane[c] + i, pixels.val[c]);
    }
    for (; channels == 3 && i + 4 <= count; i += 4) {
        float32x4x3_t pixels = vld3q_f32(in + 3 * i);
        for (uint32_t c = 0; c < 3; c++)
            if (c < wanted)
                vst1q_f32(out.plane[c] + i, pixels.val[c]);
    }
#endif
    part(in, i, count, channels, wanted, out);
}

#if SIMD_X86
/* Splits four channels, eight pixels at a time. A register holds a row of two 4 x 4 matrices, which
 * are transposed together. The compiled plain loop takes five times as long. */
SIMD_TARGET_AVX2 static void part_avx2(const float *in, size_t count, uint32_t channels,
                                       uint32_t wanted, image_planes out)
{
    size_t i = 0;
    for (; channels == 4 && i + 8 <= count; i += 8) {
        const float *p = in + 4 * i;
        __m256 row[4];
        for (int r = 0; r < 4; r++)
            row[r] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + 4 * r)),
                                          _mm_loadu_ps(p + 4 * r + 16), 1);
        __m256 low01 = _mm256_unpacklo_ps(row[0], row[1]);
        __m256 low23 = _mm256_unpacklo_ps(row[2], row[3]);
        __m256 high01 = _mm256_unpackhi_ps(row[0], row[1]);
        __m256 high23 = _mm256_unpackhi_ps(row[2], row[3]);
        _mm256_storeu_ps(out.plane[0] + i, _mm256_shuffle_ps(low01, low23, 0x44));
        if (wanted > 1)
            _mm256_storeu_ps(out.plane[1] + i, _mm256_shuffle_ps(low01, low23, 0xee));
        if (wanted > 2)
            _mm256_storeu_ps(out.plane[2] + i, _mm256_shuffle_ps(high01, high23, 0x44));
        if (wanted > 3)
            _mm256_storeu_ps(out.plane[3] + i, _mm256_shuffle_ps(high01, high23, 0xee));
    }
    part(in, i, count, channels, wanted, out);
}

SIMD_TARGET_AVX512 static void part_avx512(const float *in, size_t count, uint32_t channels,
                                           uint32_t wanted, image_planes out)
{
    const __m512i lowest =
        _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
    const __m512i next =
        _mm512_setr_epi32(2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31);
    size_t i = 0;
    for (; channels == 4 && i + 16 <= count; i += 16) {
        const float *p = in + 4 * i;
        __m512 a = _mm512_loadu_ps(p), b = _mm512_loadu_ps(p + 16);
        __m512 c = _mm512_loadu_ps(p + 32), d = _mm512_loadu_ps(p + 48);
        __m512 first = _mm512_permutex2var_ps(a, lowest, b);
        __m512 second = _mm512_permutex2var_ps(c, lowest, d);
        _mm512_storeu_ps(out.plane[0] + i, _mm512_shuffle_f32x4(first, second, 0x44));
        if (wanted > 1)
            _mm512_storeu_ps(out.plane[1] + i, _mm512_shuffle_f32x4(first, second, 0xee));
        if (wanted < 3)
            continue;
        first = _mm512_permutex2var_ps(a, next, b);
        second = _mm512_permutex2var_ps(c, next, d);
        _mm512_storeu_ps(out.plane[2] + i, _mm512_shuffle_f32x4(first, second, 0x44));
        if (wanted > 3)
            _mm512_storeu_ps(out.plane[3] + i, _mm512_shuffle_f32x4(first, second, 0xee));
    }
    part(in, i, count, channels, wanted, out);
}
#endif

typedef void (*part_fn)(const float *in, size_t count, uint32_t channels, uint32_t wanted,
                        image_planes out);
static const part_fn part_for[TML_SIMD_LEVELS] = SIMD_OWN_LEVEL(part_base, part_avx2, part_avx512);

/* Interleaves planes of three or four channels into pixels. T: type of the elements. */
#define LACE(T, channels)                                                                          \
    do {                                                                                           \
        const T *restrict red = planes[0], *restrict green = planes[1];                            \
        const T *restrict blue = planes[2], *restrict alpha = planes[channels - 1];                \
        T *restrict pixels = out;                                                                  \
        for (size_t i = 0; i < count; i++) {                                                       \
            pixels[channels * i] = red[i];                                                         \
            pixels[channels * i + 1] = green[i];                                                   \
            pixels[channels * i + 2] = blue[i];                                                    \
            if (channels == 4)                                                                     \
                pixels[channels * i + 3] = alpha[i];                                               \
        }                                                                                          \
    } while (0)

ALWAYS_INLINE void lace(size_t size, uint32_t channels, const void *const planes[4], size_t count,
                        void *out)
{
    if (size == 1 && channels == 3)
        LACE(uint8_t, 3);
    else if (size == 1)
        LACE(uint8_t, 4);
    else if (size == 2 && channels == 3)
        LACE(uint16_t, 3);
    else if (size == 2)
        LACE(uint16_t, 4);
    else if (channels == 3)
        LACE(float, 3);
    else
        LACE(float, 4);
}

SIMD_INSTANTIATE(void, lace,
                 (size_t size, uint32_t channels, const void *const planes[4], size_t count,
                  void *out),
                 lace(size, channels, planes, count, out))

typedef void (*lace_fn)(size_t size, uint32_t channels, const void *const planes[4], size_t count,
                        void *out);
static const lace_fn lace_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(lace);

/* ---- a row's pixels -------------------------------------------------------------------------- */

void cpu_image_bind(const tml_context *tml, const image_view *view, cpu_image *out)
{
    size_t size = tml_type_size(view->type);
    out->pixels = (unsigned char *)cpu_memory(tml, view->buffer) + view->first * size;
    out->channels = view->channels;
    out->pixel_size = size * view->channels;
    out->row_size = view->row_stride * size;
    out->type = view->type;
    out->srgb = view->srgb;
    out->values = view->values;
    out->level = tml_simd_level();
    for (uint32_t code = 0; view->srgb && view->type == TML_U8 && code < 256; code++) {
        out->srgb8[code] = image_from_u8(code, true);
        out->srgb8[256 + code] = image_from_u8(code, false);
    }
}

void cpu_image_decode(const cpu_image *image, uint64_t y, uint64_t x, size_t count, float *out)
{
    const void *in = image->pixels + y * image->row_size + x * image->pixel_size;
    size_t elements = count * image->channels;
    if (image->type == TML_F32)
        memcpy(out, in, elements * sizeof *out);
    else if (image->type == TML_U16 || !image->srgb)
        decode_elements(image->level, image->type, coding_of(image), in, elements, out);
    else
        look_up_for[image->level](coding_of(image), image->srgb8, in, elements, out);
    if (image->values)
        expand_for[image->level](image->values, image->channels, elements, out);
}

const float *cpu_image_floats(const cpu_image *image, uint64_t y, uint64_t x, size_t count,
                              float *space)
{
    if (image->type == TML_F32 && !image->values)
        return (const float *)(image->pixels + y * image->row_size + x * image->pixel_size);
    cpu_image_decode(image, y, x, count, space);
    return space;
}

void cpu_image_encode(const cpu_image *image, uint64_t y, uint64_t x, size_t count, const float *in)
{
    void *out = image->pixels + y * image->row_size + x * image->pixel_size;
    size_t elements = count * image->channels;
    if (image->type == TML_F32)
        memcpy(out, in, elements * sizeof *in);
    else
        encode_for[image->level](image->type, coding_of(image), in, elements, out);
}

void cpu_image_load(const cpu_image *image, uint64_t y, uint64_t x, size_t count, uint32_t wanted,
                    cpu_image_space *space, size_t at)
{
    const float *floats = cpu_image_floats(image, y, x, count, space->interleaved);
    image_planes out;
    for (uint32_t c = 0; c < 4; c++)
        out.plane[c] = space->planes[c] + at;
    part_for[image->level](floats, count, image->channels, wanted, out);
}

void cpu_image_store(const cpu_image *image, uint64_t y, uint64_t x, size_t count,
                     cpu_image_space *space)
{
    void *out = image->pixels + y * image->row_size + x * image->pixel_size;
    size_t size = tml_type_size(image->type);
    const void *planes[4];
    for (uint32_t c = 0; c < image->channels; c++) {
        coding how = image->srgb && c < 3 ? SRGB : LINEAR;
        planes[c] = space->planes[c];
        if (image->type == TML_F32)
            continue;
        planes[c] = space->codes[c];
        encode_for[image->level](image->type, how, space->planes[c], count, space->codes[c]);
    }
    if (image->channels == 1)
        memcpy(out, planes[0], count * size);
    else
        lace_for[image->level](size, image->channels, planes, count, out);
}
