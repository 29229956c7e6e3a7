/* DICOM volumes: the slices of a series (dicom_series.c), or the frames of one file. Their
 * positions give the third axis, so a stack that a tilted gantry has sheared keeps its shape. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "io/volumes/dicom.h"

static bool is_dicom(io_span head, const char *path)
{
    (void)path;
    return tml_dicom_is(head);
}

#ifndef TML_DICOM

static tml_status dicom_parse(const io_file *file, io_span head, const tml_load_desc *desc,
                              volume_header *out)
{
    (void)head, (void)desc, (void)out;
    return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                        "is DICOM, and this library was built without it (TML_DICOM); convert it "
                        "to NRRD: trommel convert");
}

tml_status tml_dicom_decode(const io_file *file, const volume_header *header, uint64_t offset,
                            uint64_t size, void *out)
{
    (void)header, (void)offset, (void)size, (void)out;
    return tml_io_error(file, TML_ERROR_INTERNAL, "DICOM without TML_DICOM");
}

#else

static tml_status no_pixels(const io_file *file)
{
    return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                        "is DICOM without pixels (a plan, a report or a directory)");
}

/* ---- frames of one file ---------------------------------------------------------------------- */

static int compare_frames(const void *a, const void *b)
{
    const dicom_frame *x = a, *y = b;
    if (x->along != y->along)
        return x->along < y->along ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static tml_status no_stack(const io_file *file, const dicom_image *image, const char *why)
{
    return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                        "has %" PRIu64 " frames that are no stack of equally spaced slices: %s",
                        image->frames, why);
}

/* Sorts the frames by their positions along the normal, unless the file's order is already a
 * regular stack. If the file describes no frames, or has one, the list is empty.
 * *is_apart   receives whether frames have different scales */
static tml_status arrange_frames(const io_file *file, const dicom_image *image,
                                 dicom_frames *frames, dicom_stack *stack, bool *is_apart)
{
    char why[120];
    size_t placed = 0;
    *stack = image->stack;
    *is_apart = false;
    if (image->frames == 1) {
        frames->count = 0;
        return TML_OK;
    }
    for (size_t i = 0; i < frames->count; i++) {
        dicom_frame *frame = &frames->frames[i];
        placed += frame->has_position;
        frame->slope = frame->has_slope ? frame->slope : image->slope;
        frame->slope = frame->slope != 0 ? frame->slope : 1;
        frame->intercept = frame->has_intercept ? frame->intercept : image->intercept;
        *is_apart |= frame->slope != frames->frames[0].slope ||
                     frame->intercept != frames->frames[0].intercept;
        frame->along = tml_dicom_along_normal(image, frame->position);
    }
    if (image->is_turned)
        return no_stack(file, image, "they have several orientations");
    snprintf(why, sizeof why, "it states places or scales of %zu, positions of %zu", frames->count,
             placed);
    if (frames->count && (frames->count != image->frames || (placed && placed != frames->count)))
        return no_stack(file, image, why);
    if (placed == 0) {
        stack->count = stack->count ? 1 : 0;
        return TML_OK;
    }
    if (!stack->is_irregular)
        return TML_OK;
    qsort(frames->frames, frames->count, sizeof *frames->frames, compare_frames);
    *stack = (dicom_stack){0};
    for (size_t i = 0; i < frames->count; i++) {
        const dicom_frame *frame = &frames->frames[i];
        tml_dicom_add_position(stack, frame->position);
        if (!stack->is_irregular)
            continue;
        double step = frame->along - frame[-1].along;
        snprintf(why, sizeof why,
                 step < 1e-3 ? "frames %" PRIu64 " and %" PRIu64
                               " lie at one place (several times, say)"
                             : "frames %" PRIu64 " and %" PRIu64 " are %g apart, but others %g",
                 frame[-1].number + 1, frame->number + 1, step,
                 frames->frames[1].along - frames->frames[0].along);
        return no_stack(file, image, why);
    }
    return TML_OK;
}

/* ---- the format ------------------------------------------------------------------------------ */

/* Reports what was assumed about the spacing of pixels, unless the caller gives the spacing. */
static tml_status tell_spacing(const io_file *file, const dicom_image *image,
                               const tml_load_desc *desc, bool has_several)
{
    const double *s = image->spacing;
    if (desc->spacing[0] != 0 && desc->spacing[1] != 0)
        return TML_OK;
    if (image->notes & DICOM_SPACING_ODD)
        return tml_io_warn(file,
                           "its PixelSpacing is \"%s\", which should be two lengths; taken as %g "
                           "from row to row and %g from column to column",
                           image->spacing_text, s[0], s[1]);
    if (image->notes & DICOM_SPACING_OTHER)
        return tml_io_warn(
            file,
            "has no PixelSpacing; taken as %g and %g, the spacing of its detector or "
            "scanned film, which in the body may be smaller",
            s[0], s[1]);
    if (!image->has_spacing)
        return tml_io_warn(file, "has no PixelSpacing; taken as 1 (give desc.spacing)%s",
                           has_several ? "" : ", and its unit is not known");
    return TML_OK;
}

static tml_status tell_notes(const io_file *file, const dicom_image *image)
{
    static const struct {
        unsigned note;
        const char *text;
    } notes[] = {
        {DICOM_NO_SYNTAX,
         "does not say its transfer syntax (0002,0010); taken as its first element "
         "is coded"},
        {DICOM_OTHER_SYNTAX, "is not coded as its transfer syntax (0002,0010) says; taken as its "
                             "first element is coded"},
        {DICOM_LUT, "has a Modality LUT, which is not applied: the values are those that are "
                    "stored"},
        {DICOM_BAD_NUMBER, "has a thickness, spacing, place or number of its slice that is no "
                           "number; it is left out"},
    };
    tml_status status = TML_OK;
    for (size_t i = 0; i < sizeof notes / sizeof notes[0] && status == TML_OK; i++)
        if (image->notes & notes[i].note)
            status = tml_io_warn(file, "%s", notes[i].text);
    return status;
}

/* Sets the axes: along rows, down columns, from slice to slice. is_ordered: a warning has reported
 * the assumed positions. */
static tml_status place(const io_file *file, const dicom_image *image, const dicom_stack *stack,
                        bool is_ordered, const tml_load_desc *desc, volume_header *out)
{
    tml_volume *volume = &out->volume;
    const double *o = image->orientation;
    const char *source;
    double columns[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double between = tml_dicom_stated_distance(image, &source);
    double scale[3] = {image->spacing[1], image->spacing[0], between}, length = 0, along = 0;
    const double normal[3] = {o[1] * o[5] - o[2] * o[4], o[2] * o[3] - o[0] * o[5],
                              o[0] * o[4] - o[1] * o[3]};
    for (int i = 0; i < 3; i++) {
        if (image->has_orientation) {
            columns[3 * i] = o[i];
            columns[3 * i + 1] = o[3 + i];
            columns[3 * i + 2] = normal[i];
        }
        if (stack->count < 2)
            continue;
        double step = (stack->last[i] - stack->first[i]) / (double)(stack->count - 1);
        length = hypot(length, step);
        along += (image->has_orientation ? normal[i] : i == 2) * step;
        columns[3 * i + 2] = step;
        scale[2] = 1;
    }
    if (stack->count)
        memcpy(volume->grid.origin, stack->first, sizeof volume->grid.origin);
    tml_status status = tell_notes(file, image);
    TML_THEN(status, tell_spacing(file, image, desc, volume->grid.dims[2] > 1));
    bool is_unplaced = volume->grid.dims[2] > 1 && stack->count < 2;
    if (status == TML_OK && is_unplaced && !is_ordered && desc->spacing[2] == 0)
        status =
            tml_io_warn(file, "its %" PRIu64 " frames have no positions; taken as %g apart, by %s",
                        volume->grid.dims[2], between, source);
    if (status != TML_OK)
        return status;
    double tilt =
        length > 0 ? acos(fmin(fabs(along) / length, 1)) * 180 / 3.14159265358979323846 : 0;
    if (tilt > 0.1)
        snprintf(volume->comment, sizeof volume->comment,
                 "the stack is sheared by %.3g degrees, as by a tilted gantry", tilt);
    else if (!image->has_spacing)
        snprintf(volume->comment, sizeof volume->comment, "has no PixelSpacing; taken as 1");
    else if (is_unplaced)
        snprintf(volume->comment, sizeof volume->comment,
                 "its slices have no positions; taken as %g apart", between);
    snprintf(volume->space, sizeof volume->space, "%s",
             image->has_orientation ? "left-posterior-superior" : "");
    if (image->has_spacing || stack->count > 1)
        snprintf(volume->unit, sizeof volume->unit, "mm");
    return tml_volume_axes(file, columns, scale, desc, out);
}

static tml_status check_spacing(const io_file *file, const dicom_image *image,
                                const tml_load_desc *desc)
{
    bool is_given = desc->spacing[0] != 0 && desc->spacing[1] != 0;
    if (is_given || !(image->notes & DICOM_SPACING_WRONG))
        return TML_OK;
    return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                        "its PixelSpacing is \"%s\", needs two lengths above 0; give desc.spacing",
                        image->spacing_text);
}

/* Fills the header from an image of one or several frames. */
static tml_status parse_image(const io_file *file, const dicom_image *image, dicom_frames *frames,
                              const tml_load_desc *desc, volume_header *out)
{
    dicom_stack stack;
    bool is_apart, is_ordered = false;
    tml_status status = check_spacing(file, image, desc);
    TML_THEN(status, arrange_frames(file, image, frames, &stack, &is_apart));
    if (status != TML_OK)
        return status;
    out->encoding = VOLUME_DICOM;
    out->volume.type = image->type;
    out->volume.slope = frames->count ? frames->frames[0].slope : image->slope;
    out->volume.intercept = frames->count ? frames->frames[0].intercept : image->intercept;
    if (is_apart)
        tml_dicom_become_physical(image, out);
    const uint64_t dims[3] = {image->columns, image->rows, image->frames};
    memcpy(out->volume.grid.dims, dims, sizeof dims);
    bool has_folder = !file->memory && strncmp(file->path, "/dev/", 5) != 0; /* with other slices */
    if (image->frames == 1 && has_folder)
        status = tml_dicom_read_series(file, image, desc, &stack, &is_ordered, out);
    TML_THEN(status, tml_volume_layout(file, 1, 1, 1, desc->frame, out));
    return status == TML_OK ? place(file, image, &stack, is_ordered, desc, out) : status;
}

static tml_status dicom_parse(const io_file *file, io_span head, const tml_load_desc *desc,
                              volume_header *out)
{
    dicom_image image;
    dicom_frames frames = {0};
    bool has_pixels;
    (void)head;
    tml_status status = tml_volume_not_gzip(file);
    TML_THEN(status, tml_dicom_parse(file, &image, &frames, &has_pixels));
    if (status == TML_OK && !has_pixels)
        status = no_pixels(file);
    TML_THEN(status, parse_image(file, &image, &frames, desc, out));
    tml_dicom_frames_free(file, &frames);
    return status;
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

/* Sets the unused bits to the sign or 0: older files keep other data there, such as overlays. */
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

static double scaled(const dicom_image *image, const void *samples, uint64_t i, double slope,
                     double intercept)
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
    return slope * x + intercept;
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

/* Reads all frames, as stored or as physical values. They are in the order of the list, or in the
 * file's order if the list is empty. */
static tml_status read_frames(const io_file *file, const dicom_image *image,
                              const dicom_frames *frames, bool is_physical, tml_type type,
                              void *out)
{
    uint64_t pixels = image->rows * image->columns;
    size_t stored = (size_t)pixels * tml_type_size(image->type);
    size_t made = (size_t)pixels * tml_type_size(type);
    void *samples = is_physical ? tml_io_alloc(file, stored) : NULL;
    if (is_physical && !samples)
        return TML_ERROR_OUT_OF_MEMORY;
    tml_status status = TML_OK;
    for (uint64_t f = 0; f < image->frames && status == TML_OK; f++) {
        const dicom_frame *frame = frames->count ? &frames->frames[f] : NULL;
        uint8_t *to = (uint8_t *)out + f * made;
        dicom_image one = *image;
        one.offset += (frame ? frame->number : f) * stored;
        status = read_pixels(file, &one, pixels, samples ? samples : to);
        double slope = frame ? frame->slope : image->slope;
        double intercept = frame ? frame->intercept : image->intercept;
        for (uint64_t i = 0; i < pixels && status == TML_OK && samples; i++) {
            double value = scaled(image, samples, i, slope, intercept);
            if (type == TML_F64)
                ((double *)(void *)to)[i] = value;
            else
                ((float *)(void *)to)[i] = (float)value;
        }
        if (tml_is_cancelled(file->tml))
            status = tml_io_error(file, TML_ERROR_CANCELLED, "cancelled");
    }
    tml_free(file->tml, samples, samples ? stored : 0);
    return status;
}

tml_status tml_dicom_decode(const io_file *file, const volume_header *header, uint64_t offset,
                            uint64_t size, void *out)
{
    dicom_image image;
    dicom_frames frames;
    dicom_stack stack;
    bool has_pixels, is_apart;
    tml_type type = header->volume.type;
    uint64_t count = size / tml_type_size(type);
    (void)offset;
    tml_status status = tml_dicom_parse(file, &image, &frames, &has_pixels);
    if (status == TML_OK && (!has_pixels || image.rows * image.columns != count / image.frames ||
                             count % image.frames || (image.type != type && !header->is_physical)))
        status = tml_io_error(file, TML_ERROR_FILE_FORMAT, "changed while it was read");
    if (status == TML_OK && out)
        status = arrange_frames(file, &image, &frames, &stack, &is_apart);
    if (status == TML_OK && out)
        status = read_frames(file, &image, &frames, header->is_physical, type, out);
    tml_dicom_frames_free(file, &frames);
    return status;
}

#endif

const volume_format tml_volume_dicom = {"DICOM", is_dicom, dicom_parse};
