/* DICOM volumes: the slices of a series, which are files of one folder, or the frames of one file.
 * Slices are sorted along the normal of their planes. Their positions give the third axis, so a
 * stack that a tilted gantry has sheared keeps its shape. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "io/volumes/dicom.h"
#include "io/volumes/volume_internal.h"

static bool is_dicom(io_span head, const char *path)
{
    (void)path;
    return tml_dicom_is(head);
}

#ifndef TML_DICOM

static tml_status dicom_parse(const io_file *file, io_span head, const tml_volume_load_desc *desc,
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
    char name[FOLDER_NAME_SIZE], instance[DICOM_TEXT_SIZE];
    double position[3], along; /* along: the normal, or what orders the slices instead */
    double slope, intercept, number, location;
    bool has_number, has_location;
} dicom_slice;

/* By what the slices of a series are sorted. */
typedef enum dicom_order { BY_POSITION, BY_LOCATION, BY_NUMBER, BY_NAME } dicom_order;

typedef struct dicom_series {
    const io_file *file;      /* the one that was named */
    const dicom_image *image; /* and its pixels */
    dicom_slice *slices;
    size_t count, room;
    dicom_order order;
    /* Files left out: copies; of another size or type; of several frames; that cannot be read. */
    size_t twice, others, stacks, unread;
    char first_unread[FOLDER_NAME_SIZE];
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
    char head[DICOM_HEAD_SIZE];
    *has_pixels = false;
    tml_status status = tml_folder_open(tml, call, folder, name, file);
    if (status != TML_OK)
        return status;
    size_t size = file->size < sizeof head ? (size_t)file->size : sizeof head;
    status = tml_io_read(file, 0, head, size);
    if (status == TML_OK && tml_dicom_is((io_span){head, size}))
        status = tml_dicom_parse(file, image, NULL, has_pixels);
    return status;
}

/* A series of a folder. A file of several frames is one by itself. */
typedef struct listed_series {
    char series[DICOM_TEXT_SIZE], description[DICOM_TEXT_SIZE];
    const char *first; /* its first file */
    uint64_t slices, columns, rows;
    bool has_frames;
} listed_series;

enum { LISTED_MOST = 32 };

/* Counts an image as one of its series. Returns false for the first series beyond LISTED_MOST. */
static bool list_image(listed_series *all, size_t *count, const char *name,
                       const dicom_image *image)
{
    bool has_frames = image->frames > 1;
    for (size_t i = 0; i < *count && !has_frames; i++)
        if (!all[i].has_frames && strcmp(all[i].series, image->series) == 0) {
            all[i].slices++;
            return true;
        }
    if (*count == LISTED_MOST)
        return false;
    listed_series *s = &all[(*count)++];
    *s = (listed_series){.first = name,
                         .slices = image->frames,
                         .columns = image->columns,
                         .rows = image->rows,
                         .has_frames = has_frames};
    snprintf(s->series, sizeof s->series, "%s", image->series);
    snprintf(s->description, sizeof s->description, "%s", image->description);
    return true;
}

static tml_status several_series(tml_context *tml, const char *call, const char *path,
                                 const listed_series *all, size_t count)
{
    char text[400] = "";
    size_t length = 0, shown = 0;
    for (; shown < count; shown++) {
        const listed_series *s = &all[shown];
        char one[200];
        int size = snprintf(one, sizeof one,
                            "%s%.60s (%s%.40s%s%" PRIu64 " slice%s of %" PRIu64 " x %" PRIu64 ")",
                            shown ? ", " : "", s->first, *s->description ? "\"" : "",
                            s->description, *s->description ? "\", " : "", s->slices,
                            s->slices == 1 ? "" : "s", s->columns, s->rows);
        if (size < 0 || length + (size_t)size >= sizeof text)
            break;
        memcpy(text + length, one, (size_t)size + 1);
        length += (size_t)size;
    }
    char more[40] = "";
    if (shown < count)
        snprintf(more, sizeof more, " and %zu more", count - shown);
    return tml_error(
        tml, TML_ERROR_UNSUPPORTED,
        "%s: %s: holds several series (%zu%s); name a file of the one that is meant, in "
        "place of the folder: %s%s",
        call, path, count, count == LISTED_MOST ? " or more" : "", text, more);
}

tml_status tml_dicom_open_folder(tml_context *tml, const char *call, const char *path,
                                 const io_folder *files, io_file *out)
{
    const char *failed = NULL;
    size_t count = 0;
    tml_status status = TML_OK;
    listed_series *all = tml_alloc(tml, LISTED_MOST * sizeof *all);
    if (!all)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: %s: no memory to list its series", call,
                         path);
    for (size_t i = 0; i < files->count && status == TML_OK; i++) {
        const char *name = files->names[i];
        io_file file = {.fd = -1};
        dicom_image image = {0};
        bool has_pixels;
        bool is_read = open_and_parse(tml, call, path, name, &file, &image, &has_pixels) == TML_OK;
        if (!is_read && image.series[0] == '\0')
            failed = failed ? failed : name;
        else if (has_pixels || !is_read) /* a compressed series is one, too */
            (void)list_image(all, &count, name, &image);
        tml_io_close(&file);
        if (tml_is_cancelled(tml))
            status = tml_error(tml, TML_ERROR_CANCELLED, "%s: %s: cancelled", call, path);
    }
    const char *first = count ? all[0].first : failed;
    if (status == TML_OK && count > 1)
        status = several_series(tml, call, path, all, count);
    else if (status == TML_OK && first)
        status = tml_folder_open(tml, call, path, first, out);
    tml_free(tml, all, LISTED_MOST * sizeof *all);
    if (status != TML_OK || first)
        return status;
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

static bool is_placed(const dicom_image *image)
{
    return image->stack.count && image->has_orientation;
}

/* Along the normal of the rows and columns; without orientation, along z. */
static double along_normal(const dicom_image *image, const double position[3])
{
    const double *o = image->orientation;
    const double normal[3] = {o[1] * o[5] - o[2] * o[4], o[2] * o[3] - o[0] * o[5],
                              o[0] * o[4] - o[1] * o[3]};
    return image->has_orientation
               ? normal[0] * position[0] + normal[1] * position[1] + normal[2] * position[2]
               : position[2];
}

/* *fits false: the file is none of the stack's slices, which is told, since nothing says where
 * it would lie. */
static tml_status check_slice(dicom_series *series, const char *name, const dicom_image *image,
                              bool *fits)
{
    const dicom_image *first = series->image;
    const char *what =
        image->rows != first->rows || image->columns != first->columns ? "another size"
        : image->type != first->type || image->stored != first->stored || image->high != first->high
            ? "another type of samples"
        : is_placed(image) != is_placed(first)
            ? is_placed(first) ? "no position (ImagePositionPatient, ImageOrientationPatient)"
                               : "a position (ImagePositionPatient), which others have not"
        : !is_parallel(image->orientation, first->orientation) ? "another orientation"
        : fabs(image->spacing[0] - first->spacing[0]) > 1e-3 * first->spacing[0] ||
                fabs(image->spacing[1] - first->spacing[1]) > 1e-3 * first->spacing[1]
            ? "another spacing of pixels"
            : NULL;
    *fits = image->frames == 1 && !what;
    if (image->frames > 1) { /* which is a stack by itself */
        series->stacks++;
        return TML_OK;
    }
    if (!what)
        return TML_OK;
    if (!is_placed(first) && !is_placed(image)) {
        series->others++;
        return TML_OK;
    }
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
    *slice = (dicom_slice){.slope = image->slope,
                           .intercept = image->intercept,
                           .number = image->number,
                           .has_number = image->has_number,
                           .location = image->location,
                           .has_location = image->has_location};
    snprintf(slice->name, sizeof slice->name, "%s", name);
    snprintf(slice->instance, sizeof slice->instance, "%s", image->instance);
    if (image->stack.count && !image->has_orientation) { /* the rows' direction alone is unknown */
        slice->location = image->stack.first[2];
        slice->has_location = true;
    }
    memcpy(slice->position, image->stack.first, sizeof slice->position);
    slice->along = along_normal(image, slice->position);
    return TML_OK;
}

static int compare_slices(const void *a, const void *b)
{
    const dicom_slice *x = a, *y = b;
    if (x->along != y->along)
        return x->along < y->along ? -1 : 1;
    return tml_natural_order(x->name, y->name);
}

/* Chooses what orders slices without positions: what each of them has, unless it is the same in
 * all. */
static void choose_order(dicom_series *series)
{
    dicom_slice *slices = series->slices;
    bool has_locations = true, has_numbers = true, locations_differ = false, numbers_differ = false;
    series->order = BY_POSITION;
    if (is_placed(series->image))
        return;
    for (size_t i = 0; i < series->count; i++) {
        has_locations &= slices[i].has_location;
        has_numbers &= slices[i].has_number;
        locations_differ |= slices[i].location != slices[0].location;
        numbers_differ |= slices[i].number != slices[0].number;
    }
    series->order = has_locations && locations_differ ? BY_LOCATION
                    : has_numbers && numbers_differ   ? BY_NUMBER
                                                      : BY_NAME;
    for (size_t i = 0; i < series->count; i++)
        slices[i].along = series->order == BY_LOCATION ? slices[i].location
                          : series->order == BY_NUMBER ? slices[i].number
                                                       : 0;
}

/* Leaves out files that are the same image as the one before: copies of it under another name. */
static void drop_copies(dicom_series *series)
{
    size_t kept = 0;
    for (size_t i = 0; i < series->count; i++) {
        const dicom_slice *slice = &series->slices[i], *before = slice;
        if (kept)
            before = &series->slices[kept - 1];
        bool is_copy = kept && *slice->instance && slice->along == before->along &&
                       strcmp(slice->instance, before->instance) == 0;
        series->twice += is_copy;
        if (!is_copy)
            series->slices[kept++] = *slice;
    }
    series->count = kept;
}

/* Adds to the latest error which file was named, and what to do. */
static tml_status cannot_read(const dicom_series *series, const char *name, tml_status status)
{
    char latest[400], key[FOLDER_NAME_SIZE + 4];
    snprintf(latest, sizeof latest, "%s", tml_last_error(series->file->tml));
    snprintf(key, sizeof key, "/%s: ", name);
    const char *what = strstr(latest, key);
    return tml_io_error(
        series->file, status,
        "is of a series with a file that cannot be read: %s; to leave it out, move it "
        "to another folder",
        what ? what + 1 : latest);
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
        bool fits = false, has_pixels, is_own = strcmp(name, own) == 0;
        tml_status parsed =
            open_and_parse(file->tml, file->call, folder, name, &other, &image, &has_pixels);
        bool is_of_it =
            is_own || (image.series[0] && strcmp(image.series, series->image->series) == 0);
        if (parsed != TML_OK && is_own)
            status = parsed; /* its message is the latest */
        else if (parsed != TML_OK && is_of_it)
            status = cannot_read(series, name, parsed);
        else if (parsed != TML_OK && image.series[0] == '\0' && series->unread++ == 0)
            snprintf(series->first_unread, sizeof series->first_unread, "%s", name);
        else if (parsed == TML_OK && has_pixels && is_of_it)
            status = check_slice(series, name, &image, &fits);
        if (status == TML_OK && fits)
            status = add_slice(series, name, &image);
        tml_io_close(&other);
        if (tml_is_cancelled(file->tml))
            status = tml_io_error(file, TML_ERROR_CANCELLED, "cancelled");
    }
    tml_folder_free(file->tml, &files);
    if (status != TML_OK)
        return status;
    choose_order(series);
    qsort(series->slices, series->count, sizeof *series->slices, compare_slices);
    drop_copies(series);
    return TML_OK;
}

/* The distance of slices whose positions are not stated. *source: where it comes from. */
static double stated_distance(const dicom_image *image, const char **source)
{
    bool has_between = image->has_between && image->between != 0; /* below 0: the other way */
    bool has_thickness = image->has_thickness && image->thickness > 0;
    *source = has_between     ? "SpacingBetweenSlices"
              : has_thickness ? "SliceThickness, as if they touched"
                              : "guess, for lack of SpacingBetweenSlices and SliceThickness";
    return has_between ? fabs(image->between) : has_thickness ? image->thickness : 1;
}

/* Slices in the order of their numbers, or of their files' names. Two of one number are refused:
 * nothing says which of them belongs to the stack. */
static tml_status check_numbers(const dicom_series *series)
{
    const dicom_slice *slices = series->slices;
    double least = 0, missing = 0;
    for (size_t i = 1; i < series->count; i++) {
        double step = slices[i].along - slices[i - 1].along;
        if (step == 0)
            return tml_io_error(series->file, TML_ERROR_UNSUPPORTED,
                                "is of a series without positions (ImagePositionPatient), in which "
                                "%s and %s both have the number %g (several times or echoes, say); "
                                "put those of one stack into a folder of their own",
                                slices[i - 1].name, slices[i].name, slices[i].along);
        least = i == 1 ? step : fmin(least, step);
    }
    if (series->count > 1)
        missing =
            (slices[series->count - 1].along - slices[0].along) / least + 1 - (double)series->count;
    if (missing < 0.5)
        return TML_OK;
    return tml_io_warn(series->file,
                       "the numbers of its slices (InstanceNumber) run from %g to %g, but some are "
                       "missing, and what "
                       "is there is taken as neighbours: %.0f",
                       slices[0].along, slices[series->count - 1].along, missing);
}

/* Tells how slices were ordered that have no positions. */
static tml_status tell_order(const dicom_series *series, const dicom_stack *stack,
                             const tml_volume_load_desc *desc)
{
    const char *source;
    double between = stated_distance(series->image, &source);
    char how[160];
    if (series->count < 2 || series->order == BY_POSITION)
        return TML_OK;
    tml_status status = series->order == BY_NUMBER ? check_numbers(series) : TML_OK;
    if (series->order == BY_LOCATION) {
        between = fabs(stack->step[2]);
        source = series->image->stack.count ? "the z of ImagePositionPatient" : "SliceLocation";
    }
    if (desc->spacing[2] != 0)
        snprintf(how, sizeof how, "%g apart, as desc.spacing says", desc->spacing[2]);
    else
        snprintf(how, sizeof how, "%g apart, by %s", between, source);
    if (status != TML_OK)
        return status;
    return tml_io_warn(
        series->file,
        "its %zu slices have no position (ImagePositionPatient, ImageOrientationPatient); they are "
        "taken in the order of %s, %s",
        series->count,
        series->order == BY_LOCATION ? source
        : series->order == BY_NUMBER ? "InstanceNumber"
                                     : "their files' names",
        how);
}

static tml_status tell_left_out(const dicom_series *series)
{
    tml_status status = TML_OK;
    if (series->twice)
        status =
            tml_io_warn(series->file,
                        "files of its series are copies of images that others have, and are left "
                        "out: %zu",
                        series->twice);
    if (status == TML_OK && series->unread)
        status = tml_io_warn(
            series->file,
            "DICOM files beside it, of which %.60s is the first, cannot be read, so it is not "
            "known whether they belong to its series: %zu",
            series->first_unread, series->unread);
    if (status == TML_OK && series->stacks)
        status = tml_io_warn(series->file,
                             "files of its series have several frames, and are left out, being "
                             "stacks by themselves: %zu",
                             series->stacks);
    if (status == TML_OK && series->others)
        status = tml_io_warn(
            series->file,
            "files of its series have another size, type or spacing, and no position, and "
            "are left out: %zu",
            series->others);
    return status;
}

/* Are the sorted slices equally far apart? */
static tml_status check_steps(const dicom_series *series, dicom_stack *stack)
{
    *stack = (dicom_stack){0};
    if (series->order == BY_NUMBER || series->order == BY_NAME)
        return TML_OK;
    for (size_t i = 0; i < series->count; i++) {
        const dicom_slice *slice = &series->slices[i];
        const double location[3] = {0, 0, slice->along};
        double step = i ? slice->along - slice[-1].along : 1;
        double usual = i > 1 ? series->slices[1].along - series->slices[0].along : step;
        tml_dicom_add_position(stack, series->order == BY_POSITION ? slice->position : location);
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

/* Samples that have no scale in common become physical values. */
static void become_physical(const dicom_image *image, volume_header *out)
{
    const uint64_t float_bits = 24;
    bool is_long = image->type == TML_F64 || (!image->is_real && image->stored > float_bits);
    out->volume.type = is_long ? TML_F64 : TML_F32;
    out->volume.slope = 1;
    out->volume.intercept = 0;
    out->is_physical = true;
}

/* The names become the list of data files. */
static tml_status take_slices(const dicom_series *series, volume_header *out)
{
    bool is_alike = true;
    for (size_t i = 0; i < series->count; i++)
        is_alike = is_alike && series->slices[i].slope == series->slices[0].slope &&
                   series->slices[i].intercept == series->slices[0].intercept;
    tml_status status = tml_volume_list(series->file, series->slices[0].name,
                                        sizeof *series->slices, series->count, out);
    if (status == TML_OK && !is_alike)
        become_physical(series->image, out);
    return status;
}

/* *is_ordered: the slices have no positions, and what was done about it has been told. */
static tml_status read_series(const io_file *file, const dicom_image *image,
                              const tml_volume_load_desc *desc, dicom_stack *stack,
                              bool *is_ordered, volume_header *out)
{
    dicom_series series = {.file = file, .image = image};
    tml_status status = find_slices(&series);
    TML_THEN(status, check_steps(&series, stack));
    TML_THEN(status, tell_order(&series, stack, desc));
    TML_THEN(status, tell_left_out(&series));
    if (status == TML_OK && series.count > 1)
        status = take_slices(&series, out);
    if (status == TML_OK)
        out->volume.grid.dims[2] = series.count ? series.count : 1;
    *is_ordered = series.order != BY_POSITION;
    if (series.order != BY_POSITION && series.count < 2)
        *stack = image->stack;
    tml_free(file->tml, series.slices, series.room * sizeof *series.slices);
    return status;
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

/* Puts the frames into the order of their places, along the normal where the file's order is no
 * stack, and finds whether they have scales of their own. Frames of which nothing is said stay
 * an empty list. */
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
        frame->along = along_normal(image, frame->position);
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

/* Tells what was assumed of the spacing of pixels, where the caller does not give it. */
static tml_status tell_spacing(const io_file *file, const dicom_image *image,
                               const tml_volume_load_desc *desc, bool has_several)
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

/* The axes: along rows, down columns, from slice to slice. is_ordered: what is assumed of places
 * has been told. */
static tml_status place(const io_file *file, const dicom_image *image, const dicom_stack *stack,
                        bool is_ordered, const tml_volume_load_desc *desc, volume_header *out)
{
    tml_volume *volume = &out->volume;
    const double *o = image->orientation;
    const char *source;
    double columns[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double between = stated_distance(image, &source);
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
                                const tml_volume_load_desc *desc)
{
    bool is_given = desc->spacing[0] != 0 && desc->spacing[1] != 0;
    if (is_given || !(image->notes & DICOM_SPACING_WRONG))
        return TML_OK;
    return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                        "its PixelSpacing is \"%s\", needs two lengths above 0; give desc.spacing",
                        image->spacing_text);
}

/* What a file of several frames, or of one, says of them. */
static tml_status parse_image(const io_file *file, const dicom_image *image, dicom_frames *frames,
                              const tml_volume_load_desc *desc, volume_header *out)
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
        become_physical(image, out);
    const uint64_t dims[3] = {image->columns, image->rows, image->frames};
    memcpy(out->volume.grid.dims, dims, sizeof dims);
    bool has_folder = !file->memory && strncmp(file->path, "/dev/", 5) != 0; /* of other slices */
    if (image->frames == 1 && has_folder)
        status = read_series(file, image, desc, &stack, &is_ordered, out);
    TML_THEN(status, tml_volume_layout(file, 1, 1, 1, desc->frame, out));
    return status == TML_OK ? place(file, image, &stack, is_ordered, desc, out) : status;
}

static tml_status dicom_parse(const io_file *file, io_span head, const tml_volume_load_desc *desc,
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

/* Reads all frames in the order of the list, or the file's where that is empty, as stored or as
 * physical values. */
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
