/* Pixels of every type to planes of floats and back, for the CPU engine's image parts: first element by
 * element, whatever the channels, then channel by channel. */
#include "cpu/cpu_image.h"

#include <string.h>

/* ---- elements -------------------------------------------------------------------------------- */

/* One loop for each type: the formulas are those of image.k.h, and turn into vector instructions. */
CPU_INLINE void decode(tml_type type, bool srgb, const void *in, size_t count, float *restrict out)
{
    const uint16_t *halves = in;
    const uint8_t *bytes = in;
    if (type == TML_F16)
        for (size_t i = 0; i < count; i++)
            out[i] = image_from_f16(halves[i]);
    else if (type == TML_U16)
        for (size_t i = 0; i < count; i++)
            out[i] = image_from_u16(halves[i], srgb);
    else
        for (size_t i = 0; i < count; i++)
            out[i] = image_from_u8(bytes[i], srgb);
}

CPU_INLINE void encode(tml_type type, bool srgb, const float *restrict in, size_t count, void *out)
{
    uint16_t *halves = out;
    uint8_t *bytes = out;
    if (type == TML_F16)
        for (size_t i = 0; i < count; i++)
            halves[i] = (uint16_t)image_to_f16(in[i]);
    else if (type == TML_U16)
        for (size_t i = 0; i < count; i++)
            halves[i] = (uint16_t)image_to_integer(in[i], 65535.0f, srgb);
    else
        for (size_t i = 0; i < count; i++)
            bytes[i] = (uint8_t)image_to_integer(in[i], 255.0f, srgb);
}

/* Type and code as constants in each case. */
#define EACH_TYPE(work, in, out)                                                                   \
    do {                                                                                           \
        if (type == TML_F16)                                                                       \
            work(TML_F16, false, in, count, out);                                                  \
        else if (type == TML_U16 && srgb)                                                          \
            work(TML_U16, true, in, count, out);                                                   \
        else if (type == TML_U16)                                                                  \
            work(TML_U16, false, in, count, out);                                                  \
        else if (srgb)                                                                             \
            work(TML_U8, true, in, count, out);                                                    \
        else                                                                                       \
            work(TML_U8, false, in, count, out);                                                   \
    } while (0)

CPU_INSTANTIATE(void, decode, (tml_type type, bool srgb, const void *in, size_t count, float *out),
                EACH_TYPE(decode, in, out))
CPU_INSTANTIATE(void, encode, (tml_type type, bool srgb, const float *in, size_t count, void *out),
                EACH_TYPE(encode, in, out))

typedef void (*decode_fn)(tml_type type, bool srgb, const void *in, size_t count, float *out);
typedef void (*encode_fn)(tml_type type, bool srgb, const float *in, size_t count, void *out);
static const decode_fn decode_for[CPU_LEVELS] = CPU_EACH_LEVEL(decode);
static const encode_fn encode_for[CPU_LEVELS] = CPU_EACH_LEVEL(encode);

/* ---- channels -------------------------------------------------------------------------------- */

typedef struct image_planes {
    float *plane[4];
} image_planes;

/* Pixels [first, count), one by one. */
CPU_INLINE void part(const float *restrict in, size_t first, size_t count, uint32_t channels,
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
    part(in, 0, count, channels, wanted, out);
}

#if CPU_X86
/* Four channels, eight pixels at a time: quarters of two rows of a 4 x 4 matrix in each register, and both
 * matrices transposed at once. What compilers make of the plain loop takes five times as long. */
CPU_TARGET_AVX2 static void part_avx2(const float *in, size_t count, uint32_t channels,
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

CPU_TARGET_AVX512 static void part_avx512(const float *in, size_t count, uint32_t channels,
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
static const part_fn part_for[CPU_LEVELS] = CPU_OWN_LEVEL(part_base, part_avx2, part_avx512);

/* Planes of three or four channels into pixels, of elements of type T. */
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

CPU_INLINE void lace(size_t size, uint32_t channels, const void *const planes[4], size_t count,
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

CPU_INSTANTIATE(void, lace,
                (size_t size, uint32_t channels, const void *const planes[4], size_t count,
                 void *out),
                lace(size, channels, planes, count, out))

typedef void (*lace_fn)(size_t size, uint32_t channels, const void *const planes[4], size_t count,
                        void *out);
static const lace_fn lace_for[CPU_LEVELS] = CPU_EACH_LEVEL(lace);

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
    out->level = cpu_simd_level();
    for (uint32_t code = 0; view->srgb && view->type == TML_U8 && code < 256; code++)
        out->srgb8[code] = image_from_u8(code, true);
}

void cpu_image_decode(const cpu_image *image, uint64_t y, uint64_t x, size_t count, float *out)
{
    const void *in = image->pixels + y * image->row_size + x * image->pixel_size;
    const uint8_t *codes = in;
    const uint16_t *halves = in;
    size_t elements = count * image->channels;
    if (image->type == TML_F32)
        memcpy(out, in, elements * sizeof *out);
    else if (image->srgb && image->type == TML_U8)
        for (size_t i = 0; i < elements; i++)
            out[i] = image->srgb8[codes[i]];
    else
        decode_for[image->level](image->type, image->srgb, in, elements, out);
    if (!image->srgb || image->channels % 2 == 1)
        return;
    for (size_t i = image->channels - 1; i < elements;
         i += image->channels) /* alpha is not coded */
        out[i] = image->type == TML_U8 ? image_from_u8(codes[i], false)
                                       : image_from_u16(halves[i], false);
}

void cpu_image_encode(const cpu_image *image, uint64_t y, uint64_t x, size_t count, const float *in)
{
    void *out = image->pixels + y * image->row_size + x * image->pixel_size;
    uint8_t *codes = out;
    uint16_t *halves = out;
    size_t elements = count * image->channels;
    if (image->type == TML_F32)
        memcpy(out, in, elements * sizeof *in);
    else
        encode_for[image->level](image->type, image->srgb, in, elements, out);
    if (!image->srgb || image->channels % 2 == 1)
        return;
    for (size_t i = image->channels - 1; i < elements; i += image->channels) {
        if (image->type == TML_U8)
            codes[i] = (uint8_t)image_to_integer(in[i], 255.0f, false);
        else
            halves[i] = (uint16_t)image_to_integer(in[i], 65535.0f, false);
    }
}

void cpu_image_load(const cpu_image *image, uint64_t y, uint64_t x, size_t count, uint32_t wanted,
                    cpu_image_space *space, size_t at)
{
    const void *in = image->pixels + y * image->row_size + x * image->pixel_size;
    const float *floats = in;
    if (image->type != TML_F32) {
        cpu_image_decode(image, y, x, count, space->interleaved);
        floats = space->interleaved;
    }
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
        bool srgb = image->srgb && c < 3;
        planes[c] = space->planes[c];
        if (image->type == TML_F32)
            continue;
        planes[c] = space->codes[c];
        encode_for[image->level](image->type, srgb, space->planes[c], count, space->codes[c]);
    }
    if (image->channels == 1)
        memcpy(out, planes[0], count * size);
    else
        lace_for[image->level](size, image->channels, planes, count, out);
}
