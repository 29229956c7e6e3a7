/* DICOM volumes: the slices of a series, which are files of one folder, or the frames of one file. Slices are
 * sorted along the normal of their planes. Their positions give the third axis, so a stack that a tilted
 * gantry has sheared keeps its shape. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "io/dicom.h"
#include "io/volume_internal.h"

static bool is_dicom(io_span head, const char *path)
{
    (void)path;
    return dicom_is(head);
}

#ifndef TML_DICOM

static tml_status parse(const io_file *file, io_span head, const tml_volume_load_desc *desc,
                        volume_header *out)
{
    (void)head, (void)desc, (void)out;
    return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                        "is DICOM, and this library was built without it (TML_DICOM); convert it "
                        "to NRRD: trommel convert");
}

tml_status tml_dicom_open_folder(tml_context *tml, const char *call, const char *path,
                                 const io_folder *files, io_file *out)
{
    return tml_folder_open(tml, call, path, files->names[0], out);
}

tml_status tml_dicom_decode(const io_file *file, const volume_header *header, uint64_t offset,
                            uint64_t size, void *out)
{
    (void)header, (void)offset, (void)size, (void)out;
    return tml_io_error(file, TML_ERROR_INTERNAL, "DICOM without TML_DICOM");
}

#else

typedef struct dicom_slice {
    char name[FOLDER_NAME_SIZE];
    double position[3], along; /* along: the normal */
    double slope, intercept;
} dicom_slice;

typedef struct dicom_series {
    const io_file *file;      /* the one that was named */
    const dicom_image *image; /* and its pixels */
    dicom_slice *slices;
    size_t count, room;
} dicom_series;

static tml_status no_pixels(const io_file *file)
{
    return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                        "is DICOM without pixels (a plan, a report or a directory)");
}

/* ---- folders --------------------------------------------------------------------------------- */

/* Opens a file, and parses it if it is DICOM. */
static tml_status open_and_parse(tml_context *tml, const char *call, const char *folder,
                                 const char *name, io_file *file, dicom_image *image,
                                 bool *has_pixels)
{
    char head[132];
    *has_pixels = false;
    tml_status status = tml_folder_open(tml, call, folder, name, file);
    if (status != TML_OK || file->size < sizeof head)
        return status;
    status = tml_io_read(file, 0, head, sizeof head);
    if (status == TML_OK && dicom_is((io_span){head, sizeof head}))
        status = tml_dicom_parse(file, image, has_pixels);
    return status;
}

tml_status tml_dicom_open_folder(tml_context *tml, const char *call, const char *path,
                                 const io_folder *files, io_file *out)
{
    const char *first = NULL, *failed = NULL;
    dicom_image image, chosen = {0};
    tml_status status = TML_OK;
    for (size_t i = 0; i < files->count && status == TML_OK; i++) {
        const char *name = files->names[i];
        io_file file = {.fd = -1};
        bool has_pixels;
        if (open_and_parse(tml, call, path, name, &file, &image, &has_pixels) != TML_OK) {
            failed = failed ? failed : name;
        } else if (has_pixels && !first) {
            first = name;
            chosen = image;
        } else if (has_pixels && (strcmp(image.series, chosen.series) != 0 || image.frames > 1 ||
                                  chosen.frames > 1)) {
            status = tml_error(tml, TML_ERROR_UNSUPPORTED,
                               "%s: %s: holds several series, of %s and of %s; name a file of the "
                               "one that is meant",
                               call, path, first, name);
        }
        tml_io_close(&file);
    }
    if (status != TML_OK)
        return status;
    if (first || failed)
        return tml_folder_open(tml, call, path, first ? first : failed, out);
    return tml_error(tml, TML_ERROR_FILE_ACCESS,
                     "%s: %s: is a folder of DICOM files without pictures; pass a regular file, or "
                     "a folder with a DICOM series",
                     call, path);
}

/* ---- a series -------------------------------------------------------------------------------- */

/* Two directions that differ by less than a thousandth. */
static bool is_parallel(const double a[6], const double b[6])
{
    double error = 0;
    for (int i = 0; i < 6; i++)
        error = fmax(error, fabs(a[i] - b[i]));
    return error < 1e-3;
}

static tml_status check_slice(const dicom_series *series, const char *name,
                              const dicom_image *image)
{
    const dicom_image *first = series->image;
    const char *what =
        image->rows != first->rows || image->columns != first->columns ? "another size"
        : image->type != first->type || image->stored != first->stored || image->high != first->high
            ? "another type of samples"
        : image->frames != 1 ? "several frames"
        : image->stack.count == 0 || !image->has_orientation
            ? "no position (ImagePositionPatient, ImageOrientationPatient)"
        : !is_parallel(image->orientation, first->orientation) ? "another orientation"
        : fabs(image->spacing[0] - first->spacing[0]) > 1e-3 * first->spacing[0] ||
                fabs(image->spacing[1] - first->spacing[1]) > 1e-3 * first->spacing[1]
            ? "another spacing of pixels"
            : NULL;
    if (!what)
        return TML_OK;
    return tml_io_error(series->file, TML_ERROR_UNSUPPORTED,
                        "is of a series of which %s has %s; put the slices of one stack into a "
                        "folder of their own",
                        name, what);
}

static tml_status add_slice(dicom_series *series, const char *name, const dicom_image *image)
{
    const io_file *file = series->file;
    if (series->count == series->room) {
        size_t room = series->room ? 2 * series->room : 64;
        dicom_slice *slices = tml_io_alloc(file, room * sizeof *slices);
        if (!slices)
            return TML_ERROR_OUT_OF_MEMORY;
        if (series->count)
            memcpy(slices, series->slices, series->count * sizeof *slices);
        tml_free(file->tml, series->slices, series->room * sizeof *slices);
        series->slices = slices;
        series->room = room;
    }
    dicom_slice *slice = &series->slices[series->count++];
    *slice = (dicom_slice){.slope = image->slope, .intercept = image->intercept};
    snprintf(slice->name, sizeof slice->name, "%s", name);
    const double *o = series->image->orientation;
    const double normal[3] = {o[1] * o[5] - o[2] * o[4], o[2] * o[3] - o[0] * o[5],
                              o[0] * o[4] - o[1] * o[3]};
    for (int i = 0; i < 3; i++) {
        slice->position[i] = image->stack.first[i];
        slice->along += normal[i] * slice->position[i];
    }
    return TML_OK;
}

static int compare_slices(const void *a, const void *b)
{
    const dicom_slice *x = a, *y = b;
    if (x->along != y->along)
        return x->along < y->along ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* All slices of the file's series, in its folder. */
static tml_status find_slices(dicom_series *series)
{
    const io_file *file = series->file;
    char folder[IO_PATH_SIZE];
    io_folder files;
    const char *slash = strrchr(file->path, '/'), *own = slash ? slash + 1 : file->path;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - file->path) : 1,
             slash ? file->path : ".");
    tml_status status = tml_folder_list(file->tml, file->call, folder, &files);
    for (size_t i = 0; i < files.count && status == TML_OK; i++) {
        const char *name = files.names[i];
        io_file other = {.fd = -1};
        dicom_image image = {0};
        bool has_pixels, is_own = strcmp(name, own) == 0;
        tml_status parsed =
            open_and_parse(file->tml, file->call, folder, name, &other, &image, &has_pixels);
        bool is_of_it =
            is_own || (image.series[0] && strcmp(image.series, series->image->series) == 0);
        if (parsed != TML_OK && is_of_it)
            status = parsed; /* its message is the latest */
        else if (parsed == TML_OK && has_pixels && is_of_it)
            status = check_slice(series, name, &image);
        if (status == TML_OK && parsed == TML_OK && has_pixels && is_of_it)
            status = add_slice(series, name, &image);
        tml_io_close(&other);
        if (tml_is_cancelled(file->tml))
            status = tml_io_error(file, TML_ERROR_CANCELLED, "cancelled");
    }
    tml_folder_free(file->tml, &files);
    if (status == TML_OK)
        qsort(series->slices, series->count, sizeof *series->slices, compare_slices);
    return status;
}

/* Are the sorted slices equally far apart? */
static tml_status check_steps(const dicom_series *series, dicom_stack *stack)
{
    *stack = (dicom_stack){0};
    for (size_t i = 0; i < series->count; i++) {
        const dicom_slice *slice = &series->slices[i];
        double step = i ? slice->along - slice[-1].along : 1;
        double usual = i > 1 ? series->slices[1].along - series->slices[0].along : step;
        tml_dicom_add_position(stack, slice->position);
        if (!stack->is_irregular)
            continue;
        if (step < 1e-3)
            return tml_io_error(series->file, TML_ERROR_UNSUPPORTED,
                                "is of a series with two slices at one place, %s and %s (several "
                                "times or echoes, say); put those of one stack into a folder of "
                                "their own",
                                slice[-1].name, slice->name);
        return tml_io_error(series->file, TML_ERROR_UNSUPPORTED,
                            "is of a series whose slices are not equally spaced: %g apart, but %g "
                            "between %s and %s; a slice is missing, or put those of one stack into "
                            "a folder of their own",
                            usual, step, slice[-1].name, slice->name);
    }
    return TML_OK;
}

/* The names become the list of data files. Slices that are scaled each in its own way become floats. */
static tml_status take_slices(const dicom_series *series, volume_header *out)
{
    bool is_alike = true;
    for (size_t i = 0; i < series->count; i++)
        is_alike = is_alike && series->slices[i].slope == series->slices[0].slope &&
                   series->slices[i].intercept == series->slices[0].intercept;
    tml_status status = tml_volume_list(series->file, series->slices[0].name,
                                        sizeof *series->slices, series->count, out);
    if (status != TML_OK)
        return status;
    if (!is_alike) {
        out->volume.type = TML_F32;
        out->volume.slope = 1;
        out->volume.intercept = 0;
    }
    return TML_OK;
}

static tml_status read_series(const io_file *file, const dicom_image *image, dicom_stack *stack,
                              volume_header *out)
{
    dicom_series series = {.file = file, .image = image};
    tml_status status = find_slices(&series);
    if (status == TML_OK)
        status = check_steps(&series, stack);
    if (status == TML_OK && series.count > 1)
        status = take_slices(&series, out);
    if (status == TML_OK)
        out->volume.grid.dims[2] = series.count ? series.count : 1;
    tml_free(file->tml, series.slices, series.room * sizeof *series.slices);
    return status;
}

/* ---- the format ------------------------------------------------------------------------------ */

/* The axes: along rows, down columns, from slice to slice. */
static tml_status place(const io_file *file, const dicom_image *image, const dicom_stack *stack,
                        const tml_volume_load_desc *desc, volume_header *out)
{
    tml_volume *volume = &out->volume;
    const double *o = image->orientation;
    double columns[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double between = image->has_between && image->between > 0       ? image->between
                     : image->has_thickness && image->thickness > 0 ? image->thickness
                                                                    : 1;
    double scale[3] = {image->spacing[1], image->spacing[0], between}, length = 0, along = 0;
    const double normal[3] = {o[1] * o[5] - o[2] * o[4], o[2] * o[3] - o[0] * o[5],
                              o[0] * o[4] - o[1] * o[3]};
    for (int i = 0; i < 3 && image->has_orientation; i++) {
        columns[3 * i] = o[i];
        columns[3 * i + 1] = o[3 + i];
        columns[3 * i + 2] = normal[i];
        if (stack->count < 2)
            continue;
        double step = (stack->last[i] - stack->first[i]) / (double)(stack->count - 1);
        length = hypot(length, step);
        along += normal[i] * step;
        columns[3 * i + 2] = step;
        scale[2] = 1;
    }
    if (stack->count)
        memcpy(volume->grid.origin, stack->first, sizeof volume->grid.origin);
    double tilt =
        length > 0 ? acos(fmin(fabs(along) / length, 1)) * 180 / 3.14159265358979323846 : 0;
    if (tilt > 0.1)
        snprintf(volume->comment, sizeof volume->comment,
                 "the stack is sheared by %.3g degrees, as by a tilted gantry", tilt);
    else if (!image->has_spacing)
        snprintf(volume->comment, sizeof volume->comment, "has no PixelSpacing; taken as 1");
    else if (volume->grid.dims[2] > 1 && stack->count < 2)
        snprintf(volume->comment, sizeof volume->comment,
                 "its frames have no positions; taken as %g apart", between);
    snprintf(volume->space, sizeof volume->space, "%s",
             image->has_orientation ? "left-posterior-superior" : "");
    return tml_volume_axes(file, columns, scale, desc, out);
}

static tml_status parse(const io_file *file, io_span head, const tml_volume_load_desc *desc,
                        volume_header *out)
{
    dicom_image image;
    dicom_stack stack;
    bool has_pixels;
    (void)head;
    tml_status status = tml_volume_not_gzip(file);
    if (status == TML_OK)
        status = tml_dicom_parse(file, &image, &has_pixels);
    if (status == TML_OK && !has_pixels)
        status = no_pixels(file);
    if (status != TML_OK)
        return status;
    stack = image.stack;
    out->encoding = VOLUME_DICOM;
    out->volume.type = image.type;
    out->volume.slope = image.slope;
    out->volume.intercept = image.intercept;
    const uint64_t dims[3] = {image.columns, image.rows, image.frames};
    memcpy(out->volume.grid.dims, dims, sizeof dims);
    if (image.frames > 1 && (image.is_turned || stack.is_irregular || image.is_scaled_apart ||
                             (stack.count > 1 && stack.count != image.frames)))
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "has %" PRIu64 " frames that are no stack of equally spaced slices of "
                            "one scale (several times or stacks, say)",
                            image.frames);
    bool has_folder = !file->memory && strncmp(file->path, "/dev/", 5) != 0; /* of other slices */
    if (image.frames == 1 && image.stack.count && image.has_orientation && has_folder)
        status = read_series(file, &image, &stack, out);
    if (status == TML_OK)
        status = tml_volume_layout(file, 1, 1, 1, desc->frame, out);
    return status == TML_OK ? place(file, &image, &stack, desc, out) : status;
}

/* ---- samples --------------------------------------------------------------------------------- */

#    define UNPACK(type)                                                                           \
        do {                                                                                       \
            type *s = out;                                                                         \
            const unsigned down = (unsigned)(image->high + 1 - image->stored);                     \
            const type all = (type)(((uint64_t)1 << image->stored) - 1);                           \
            const type sign = image->is_signed ? (type)((uint64_t)1 << (image->stored - 1)) : 0;   \
            for (uint64_t i = 0; i < count; i++)                                                   \
                s[i] = (type)((((s[i] >> down) & all) ^ sign) - sign);                             \
        } while (0)

/* What older files keep in the bits that are not used, overlays say, becomes the sign or 0. */
static void unpack(const dicom_image *image, uint64_t count, void *out)
{
    if (image->is_real || image->stored == image->bits)
        return;
    if (image->bits == 8)
        UNPACK(uint8_t);
    else if (image->bits == 16)
        UNPACK(uint16_t);
    else
        UNPACK(uint32_t);
}

static float scaled(const dicom_image *image, const void *samples, uint64_t i)
{
    double x;
    switch (image->type) {
    case TML_U8:
        x = ((const uint8_t *)samples)[i];
        break;
    case TML_I8:
        x = ((const int8_t *)samples)[i];
        break;
    case TML_U16:
        x = ((const uint16_t *)samples)[i];
        break;
    case TML_I16:
        x = ((const int16_t *)samples)[i];
        break;
    case TML_U32:
        x = ((const uint32_t *)samples)[i];
        break;
    case TML_I32:
        x = ((const int32_t *)samples)[i];
        break;
    case TML_F32:
        x = (double)((const float *)samples)[i];
        break;
    default:
        x = ((const double *)samples)[i];
    }
    return (float)(image->slope * x + image->intercept);
}

static tml_status read_pixels(const io_file *file, const dicom_image *image, uint64_t count,
                              void *out)
{
    size_t element = tml_type_size(image->type);
    tml_status status = tml_io_read(file, image->offset, out, (size_t)(count * element));
    if (status != TML_OK)
        return status;
    tml_io_to_host(out, element, count, image->big_endian);
    unpack(image, count, out);
    return TML_OK;
}

tml_status tml_dicom_decode(const io_file *file, const volume_header *header, uint64_t offset,
                            uint64_t size, void *out)
{
    dicom_image image;
    bool has_pixels;
    tml_type type = header->volume.type;
    uint64_t count = size / tml_type_size(type);
    (void)offset;
    tml_status status = tml_dicom_parse(file, &image, &has_pixels);
    if (status == TML_OK && (!has_pixels || image.rows * image.columns != count / image.frames ||
                             count % image.frames || (image.type != type && type != TML_F32)))
        status = tml_io_error(file, TML_ERROR_FILE_FORMAT, "changed while it was read");
    if (status != TML_OK || !out)
        return status;
    bool is_apart = header->file_count > 1 && type == TML_F32;
    if (!is_apart)
        return read_pixels(file, &image, count, out);
    uint64_t stored = count * tml_type_size(image.type);
    void *samples = tml_io_alloc(file, stored);
    if (!samples)
        return TML_ERROR_OUT_OF_MEMORY;
    status = read_pixels(file, &image, count, samples);
    for (uint64_t i = 0; i < count && status == TML_OK; i++)
        ((float *)out)[i] = scaled(&image, samples, i);
    tml_free(file->tml, samples, (size_t)stored);
    return status;
}

#endif

const volume_format tml_volume_dicom = {"DICOM", is_dicom, parse};
