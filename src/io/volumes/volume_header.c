/* Helpers of the volume formats, to interpret headers: sizes, axes, arrays by name, numbers. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "io/volumes/volume_internal.h"

const double tml_volume_identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

tml_status tml_volume_layout(const io_file *file, uint64_t inner, uint64_t channels,
                             uint64_t volumes, uint32_t frame, volume_header *out)
{
    const uint64_t *dims = out->volume.grid.dims;
    const uint64_t factors[] = {dims[0], dims[1], dims[2], channels, volumes};
    uint64_t samples = 1, bytes;
    bool fits = true;
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        if (factors[i] == 0)
            return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                "a size is 0 (%" PRIu64 " x %" PRIu64 " x %" PRIu64 ", %" PRIu64
                                " volumes); a volume needs at least one sample",
                                dims[0], dims[1], dims[2], channels * volumes);
        fits = fits && !__builtin_mul_overflow(samples, factors[i], &samples);
    }
    fits = fits && !__builtin_mul_overflow(samples, tml_type_size(out->volume.type), &bytes);
    if (!fits || bytes > INT64_MAX)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "sizes %" PRIu64 " x %" PRIu64 " x %" PRIu64
                            " are more than an address space holds",
                            dims[0], dims[1], dims[2]);
    if (frame >= channels * volumes)
        return tml_io_error(file, TML_ERROR_INVALID_ARGUMENT,
                            "desc.frame is %" PRIu32 ", needs less than %" PRIu64
                            ", the volumes in the file",
                            frame, channels * volumes);
    uint64_t voxels = dims[0] * dims[1] * dims[2];
    out->volume.frame_count = channels * volumes;
    out->samples = samples;
    out->first = frame / channels * channels * voxels + frame % channels * inner;
    out->run = channels == 1 ? voxels : inner;
    out->runs = voxels / out->run;
    out->stride = inner * channels;
    return TML_OK;
}

static double column_length(const double columns[9], int axis)
{
    return hypot(hypot(columns[axis], columns[3 + axis]), columns[6 + axis]);
}

/* Finds directions for axes that have none, if the caller gives their spacing, as the message below
 * asks for. One axis becomes the normal of the others; if more lack one, all become x, y and z. */
static tml_status mend_columns(const io_file *file, const tml_load_desc *desc, double columns[9])
{
    int lost = -1, count = 0;
    for (int axis = 0; axis < 3; axis++) {
        double length = column_length(columns, axis);
        if (desc->spacing[axis] == 0 || (length > 0 && isfinite(length)))
            continue;
        lost = axis;
        count++;
    }
    if (count == 0)
        return TML_OK;
    if (count > 1) {
        memcpy(columns, tml_volume_identity, sizeof tml_volume_identity);
        return tml_io_warn(file, "its axes have no directions; taken along x, y and z");
    }
    int a = (lost + 1) % 3, b = (lost + 2) % 3;
    for (int row = 0; row < 3; row++) {
        int p = (row + 1) % 3, q = (row + 2) % 3;
        columns[3 * row + lost] =
            columns[3 * p + a] * columns[3 * q + b] - columns[3 * q + a] * columns[3 * p + b];
    }
    return tml_io_warn(file, "its axis %d has no direction; taken as the normal of the two others",
                       lost);
}

tml_status tml_volume_axes(const io_file *file, const double columns[9], const double scale[3],
                           const tml_load_desc *desc, volume_header *out)
{
    tml_grid *grid = &out->volume.grid;
    double *d = grid->direction, mended[9];
    memcpy(mended, columns, sizeof mended);
    tml_status status = mend_columns(file, desc, mended);
    if (status != TML_OK)
        return status;
    for (int axis = 0; axis < 3; axis++) {
        bool given = desc->spacing[axis] != 0;
        double column[3], length = 0;
        for (int row = 0; row < 3; row++) {
            column[row] = mended[3 * row + axis] * (given ? 1 : scale[axis]);
            length = hypot(length, column[row]);
        }
        if (!(length > 0 && isfinite(length)))
            return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                "the step along axis %d is (%g, %g, %g), needs a finite length "
                                "above 0; give desc.spacing",
                                axis, column[0], column[1], column[2]);
        for (int row = 0; row < 3; row++)
            d[3 * row + axis] = column[row] / length;
        grid->spacing[axis] = given ? desc->spacing[axis] : length;
        if (!isfinite(grid->origin[axis]))
            return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                "origin[%d] is %g, needs a finite number; mend the header", axis,
                                grid->origin[axis]);
    }
    double determinant = d[0] * (d[4] * d[8] - d[5] * d[7]) - d[1] * (d[3] * d[8] - d[5] * d[6]) +
                         d[2] * (d[3] * d[7] - d[4] * d[6]);
    const double flat = 1e-6; /* far below any shear in use, far above rounding errors */
    if (!(fabs(determinant) > flat))
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "its three axis directions lie in one plane; mend the header");
    return TML_OK;
}

/* Lists arrays for a message. */
static void name_arrays(const volume_arrays *arrays, char *out, size_t size)
{
    size_t length = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < arrays->count && length < size; i++)
        length +=
            (size_t)snprintf(out + length, size - length, "%s%s%s", i ? ", " : "",
                             arrays->array[i].name, arrays->array[i].on_cells ? " (on cells)" : "");
}

static int compare_arrays(const void *a, const void *b)
{
    const volume_array *x = a, *y = b;
    int order = x->on_cells - y->on_cells;
    order = order ? order : y->is_active - x->is_active;
    return order ? order : (x->offset > y->offset) - (x->offset < y->offset);
}

/* Converts a grid to that of its cells: samples at their centres. */
static void move_to_cells(tml_grid *grid)
{
    double half[3];
    for (int axis = 0; axis < 3; axis++) {
        half[axis] = grid->dims[axis] > 1 ? 0.5 * grid->spacing[axis] : 0;
        grid->dims[axis] -= grid->dims[axis] > 1;
    }
    for (int row = 0; row < 3; row++)
        for (int axis = 0; axis < 3; axis++)
            grid->origin[row] += grid->direction[3 * row + axis] * half[axis];
}

tml_status tml_volume_choose(const io_file *file, volume_arrays *arrays, const tml_load_desc *desc,
                             volume_header *out)
{
    char names[512];
    uint64_t frame = desc->frame, total = 0;
    const volume_array *array = NULL;
    bool has_active = false;
    for (uint32_t i = 0; i < arrays->count; i++)
        has_active |= arrays->array[i].is_active;
    for (uint32_t i = 0; i < arrays->count && !has_active; i++) /* arrays on cells stay last */
        arrays->array[i].is_active = arrays->array[i].components == 1;
    qsort(arrays->array, arrays->count, sizeof *arrays->array, compare_arrays);
    name_arrays(arrays, names, sizeof names);
    for (uint32_t i = 0; i < arrays->count; i++) {
        uint64_t components = arrays->array[i].components;
        if (!array && frame < components)
            array = &arrays->array[i];
        else if (!array)
            frame -= components;
        if (__builtin_add_overflow(total, components, &total))
            return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                "its arrays have %" PRIu64 " components and more", components);
    }
    if (total == 0)
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "has no array of numbers on its points or cells");
    if (!array)
        return tml_io_error(file, TML_ERROR_INVALID_ARGUMENT,
                            "desc.frame is %" PRIu32 ", needs less than %" PRIu64
                            ", the components of its arrays: %s",
                            desc->frame, total, names);
    if (array->on_cells)
        move_to_cells(&out->volume.grid);
    for (int axis = 0; axis < 3; axis++)
        if (!isfinite(out->volume.grid.origin[axis]))
            return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                "its first sample lies at %g on axis %d",
                                out->volume.grid.origin[axis], axis);
    out->volume.type = array->type;
    out->offset = array->offset;
    out->end = array->end;
    out->encoding = array->encoding;
    out->coding = array->coding;
    out->is_fraction = array->is_fraction;
    snprintf(out->volume.comment, sizeof out->volume.comment, "%s%s%s", names,
             arrays->count > 1 ? "; this is " : "", arrays->count > 1 ? array->name : "");
    tml_status status = tml_volume_layout(file, 1, array->components, 1, (uint32_t)frame, out);
    out->volume.frame_count = total;
    if (status == TML_OK && array->tuples != VOLUME_TUPLES_UNSAID &&
        array->tuples != out->samples / array->components)
        status = tml_io_error(file, TML_ERROR_FILE_FORMAT,
                              "array %s has %" PRIu64 " values, needs %" PRIu64
                              ", one for each of the grid's %s",
                              array->name, array->tuples, out->samples / array->components,
                              array->on_cells ? "cells" : "points");
    return status;
}

bool tml_volume_parse_reals(io_span text, double *out, size_t count)
{
    io_text words = io_text_of(text);
    io_span word;
    for (size_t i = 0; i < count; i++)
        if (!tml_io_word(&words, &word) || !tml_io_parse_f64(word, &out[i]))
            return false;
    return !tml_io_word(&words, &word);
}

bool tml_volume_parse_sizes(io_span text, uint64_t *out, size_t count)
{
    io_text words = io_text_of(text);
    io_span word;
    for (size_t i = 0; i < count; i++)
        if (!tml_io_word(&words, &word) || !tml_io_parse_u64(word, &out[i]))
            return false;
    return !tml_io_word(&words, &word);
}

tml_status tml_volume_not_gzip(const io_file *file)
{
    uint8_t magic[3] = {0};
    size_t size = file->size < sizeof magic ? (size_t)file->size : sizeof magic;
    tml_status status = tml_io_read(file, 0, magic, size);
    if (status == TML_OK && tml_io_is_gzip(magic, size))
        status = tml_io_error(file, TML_ERROR_UNSUPPORTED,
                              "is a gzip file, in which this format is not read; gunzip it first");
    return status;
}

bool tml_volume_name_ends(const char *path, const char *ending)
{
    size_t length = strlen(path), size = strlen(ending);
    if (length >= 3 && strcasecmp(path + length - 3, ".gz") == 0)
        length -= 3;
    return length >= size && strncasecmp(path + length - size, ending, size) == 0;
}

tml_status tml_volume_list(const io_file *file, const char *names, size_t stride, size_t count,
                           volume_header *out)
{
    size_t size = 0, used = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = names + i * stride;
        size_t length = strlen(name);
        if (name[strcspn(name, "\r\n")] || tml_io_trim((io_span){name, length}).size != length)
            return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                                "is of a series with a file whose name begins or ends with a "
                                "blank, or has a line break; rename it");
        size += length + 1;
    }
    out->list.data = tml_io_alloc(file, size);
    if (!out->list.data)
        return TML_ERROR_OUT_OF_MEMORY;
    out->list.size = size;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(names + i * stride);
        memcpy(out->list.data + used, names + i * stride, length);
        out->list.data[used + length] = '\n';
        used += length + 1;
    }
    out->names = (io_span){(const char *)out->list.data, size};
    out->source = VOLUME_LIST;
    out->file_count = count;
    return TML_OK;
}
