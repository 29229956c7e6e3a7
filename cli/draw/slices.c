/* Contact sheets of slices (slices.h). */
#include "draw/slices.h"

#include <math.h>
#include <string.h>

#include "cli.h"
#include "draw/sheet.h"
#include "stream_kernels.h"

enum { MOST_SLICES = 16, MOST_SIDE = 512 };

/* A slice's samples as floats, or doubles of what floats cannot hold. */
typedef struct slice {
    const void *data;
    tml_type type;
    uint64_t width, height;
    double slope, intercept;
} slice;

static double stored_sample(const slice *s, uint64_t x, uint64_t y)
{
    const uint64_t i = y * s->width + x;
    switch (s->type) {
    case TML_U8:
        return ((const uint8_t *)s->data)[i];
    case TML_I8:
        return ((const int8_t *)s->data)[i];
    case TML_U16:
        return ((const uint16_t *)s->data)[i];
    case TML_I16:
        return ((const int16_t *)s->data)[i];
    case TML_U32:
        return ((const uint32_t *)s->data)[i];
    case TML_I32:
        return ((const int32_t *)s->data)[i];
    case TML_U64:
        return (double)((const uint64_t *)s->data)[i];
    case TML_I64:
        return (double)((const int64_t *)s->data)[i];
    case TML_F64:
        return ((const double *)s->data)[i];
    default:
        return (double)((const float *)s->data)[i];
    }
}

static double sample_of(const slice *s, uint64_t x, uint64_t y)
{
    return s->slope * stored_sample(s, x, y) + s->intercept;
}

/* Is the sample inside, and one right of it or below not? */
static bool is_line(const slice *s, uint64_t x, uint64_t y, uint64_t step, double iso)
{
    const uint64_t beside[2][2] = {{x + step, y}, {x, y + step}};
    bool is_inside = sample_of(s, x, y) >= iso;
    for (int k = 0; k < 2; k++)
        if (beside[k][0] < s->width && beside[k][1] < s->height &&
            (sample_of(s, beside[k][0], beside[k][1]) >= iso) != is_inside)
            return true;
    return false;
}

static void paint(const slice *s, uint64_t step, double iso, double lower, double upper,
                  const sheet_tile *tile)
{
    double range = upper > lower ? upper - lower : 1;
    for (uint32_t y = 0; y < tile->height; y++)
        for (uint32_t x = 0; x < tile->width; x++) {
            uint8_t *pixel = tile->rgba + 4 * ((uint64_t)y * tile->width + x);
            double value = sample_of(s, x * step, y * step);
            uint8_t grey = (uint8_t)lrint(255 * fmin(fmax((value - lower) / range, 0), 1));
            memset(pixel, isnan(value) ? 0 : grey, 3);
            pixel[3] = 255;
            if (isnan(value))
                pixel[2] = 160;
            else if (is_line(s, x * step, y * step, step, iso))
                pixel[0] = 255, pixel[1] = 50, pixel[2] = 40;
        }
}

static tml_status paint_slice(tml_context *tml, const tml_volume *v, uint64_t z, uint64_t step,
                              double iso, double lower, double upper, const sheet_tile *tile)
{
    const uint64_t count = v->grid.dims[0] * v->grid.dims[1];
    const char *samples = (const char *)v->data + z * count * tml_type_size(v->type);
    slice s = {samples, v->type, v->grid.dims[0], v->grid.dims[1], v->slope, v->intercept};
    float *wide = NULL;
    tml_status status = TML_OK;
    if (v->type == TML_F16) {
        s.data = wide = tml_alloc_array(tml, count, sizeof *wide);
        status = wide ? cli_map(tml, stream_widen(TML_F16, &s.type), TML_F16, count, samples,
                                TML_F32, wide)
                      : tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a slice");
    }
    if (status == TML_OK)
        paint(&s, step, iso, lower, upper, tile);
    tml_free(tml, wide, count * sizeof *wide);
    return status;
}

tml_status slices_save(tml_context *tml, const char *path, const tml_volume *volume, double iso,
                       double lower, double upper)
{
    const uint64_t *dims = volume->grid.dims;
    uint64_t longest = dims[0] > dims[1] ? dims[0] : dims[1];
    uint64_t step = (longest + MOST_SIDE - 1) / MOST_SIDE;
    uint32_t count = dims[2] < MOST_SLICES ? (uint32_t)dims[2] : MOST_SLICES, columns = 1;
    sheet_tile tiles[MOST_SLICES] = {{NULL, 0, 0}};
    tml_status status = TML_OK;
    for (uint32_t i = 0; i < count && status == TML_OK; i++) {
        sheet_tile *tile = &tiles[i];
        *tile = (sheet_tile){.width = (uint32_t)((dims[0] + step - 1) / step),
                             .height = (uint32_t)((dims[1] + step - 1) / step)};
        tile->rgba = tml_alloc_array(tml, (uint64_t)tile->width * tile->height, 4);
        status = tile->rgba ? paint_slice(tml, volume, (2 * i + 1) * dims[2] / (2 * count), step,
                                          iso, lower, upper, tile)
                            : tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for slices");
    }
    while (columns * columns < count)
        columns++;
    TML_THEN(status, sheet_save(tml, path, tiles, count, columns));
    for (uint32_t i = 0; i < count; i++)
        tml_free(tml, tiles[i].rgba, (size_t)tiles[i].width * tiles[i].height * 4);
    return status;
}
