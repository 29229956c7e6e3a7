/* Finds the slices of a DICOM series, which are files of one folder, and sorts them along the
 * normal of their planes or, if they have no positions, by location, number or name. */

#include "io/volumes/dicom.h"

#ifdef TML_DICOM
#    include <math.h>
#    include <stdlib.h>

typedef struct dicom_slice {
    char name[FOLDER_NAME_SIZE], instance[DICOM_TEXT_SIZE];
    double position[3], along; /* distance along the normal, or what orders the slices */
    double slope, intercept, number, location;
    bool has_number, has_location;
} dicom_slice;

/* How the slices of a series are sorted. */
typedef enum dicom_order { BY_POSITION, BY_LOCATION, BY_NUMBER, BY_NAME } dicom_order;

typedef struct dicom_series {
    const io_file *file;      /* the file that the caller named */
    const dicom_image *image; /* its image */
    dicom_slice *slices;
    size_t count, room;
    dicom_order order;
    /* Numbers of files that are left out: copies; of another size or type; with several frames;
     * unreadable. */
    size_t twice, others, stacks, unread;
    char first_unread[FOLDER_NAME_SIZE];
} dicom_series;

/* Returns whether two orientations differ by less than 1/1000. */
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

double tml_dicom_along_normal(const dicom_image *image, const double position[3])
{
    const double *o = image->orientation;
    const double normal[3] = {o[1] * o[5] - o[2] * o[4], o[2] * o[3] - o[0] * o[5],
                              o[0] * o[4] - o[1] * o[3]};
    return image->has_orientation
               ? normal[0] * position[0] + normal[1] * position[1] + normal[2] * position[2]
               : position[2];
}

/* Checks whether a file is a slice of the stack. A file that differs is an error if positions are
 * known; otherwise, or if it has several frames, it is counted and left out.
 * *fits   receives whether it is a slice */
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
    if (image->frames > 1) { /* a file with several frames is a stack */
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
    if (image->stack.count && !image->has_orientation) { /* only the directions are unknown */
        slice->location = image->stack.first[2];
        slice->has_location = true;
    }
    memcpy(slice->position, image->stack.first, sizeof slice->position);
    slice->along = tml_dicom_along_normal(image, slice->position);
    return TML_OK;
}

static int compare_slices(const void *a, const void *b)
{
    const dicom_slice *x = a, *y = b;
    if (x->along != y->along)
        return x->along < y->along ? -1 : 1;
    return tml_natural_order(x->name, y->name);
}

/* Chooses the sort order of slices without positions: the first of location, number and name that
 * all slices have and that is not the same in all. */
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

/* Removes copies: files with the same image as the file before. */
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

/* Adds to the latest error the file that the caller named, and a way to mend it. */
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

/* Finds all slices of the file's series in its folder, and sorts them. */
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
            tml_dicom_open(file->tml, file->call, folder, name, &other, &image, &has_pixels);
        bool is_of_it =
            is_own || (image.series[0] && strcmp(image.series, series->image->series) == 0);
        if (parsed != TML_OK && is_own)
            status = parsed; /* the latest message is about this file */
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

double tml_dicom_stated_distance(const dicom_image *image, const char **source)
{
    bool has_between = image->has_between && image->between != 0; /* negative: reversed */
    bool has_thickness = image->has_thickness && image->thickness > 0;
    *source = has_between     ? "SpacingBetweenSlices"
              : has_thickness ? "SliceThickness, as if they touched"
                              : "guess, for lack of SpacingBetweenSlices and SliceThickness";
    return has_between ? fabs(image->between) : has_thickness ? image->thickness : 1;
}

/* Checks slices that are sorted by number. Two with the same number are an error: nothing says
 * which belongs to the stack. Missing numbers are a warning. */
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

/* Reports how slices without positions were sorted. */
static tml_status tell_order(const dicom_series *series, const dicom_stack *stack,
                             const tml_load_desc *desc)
{
    const char *source;
    double between = tml_dicom_stated_distance(series->image, &source);
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

/* Checks that the sorted slices are equally far apart. */
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

void tml_dicom_become_physical(const dicom_image *image, volume_header *out)
{
    const uint64_t float_bits = 24;
    bool is_long = image->type == TML_F64 || (!image->is_real && image->stored > float_bits);
    out->volume.type = is_long ? TML_F64 : TML_F32;
    out->volume.slope = 1;
    out->volume.intercept = 0;
    out->is_physical = true;
}

/* Makes the list of data files from the slices' names. */
static tml_status take_slices(const dicom_series *series, volume_header *out)
{
    bool is_alike = true;
    for (size_t i = 0; i < series->count; i++)
        is_alike = is_alike && series->slices[i].slope == series->slices[0].slope &&
                   series->slices[i].intercept == series->slices[0].intercept;
    tml_status status = tml_volume_list(series->file, series->slices[0].name,
                                        sizeof *series->slices, series->count, out);
    if (status == TML_OK && !is_alike)
        tml_dicom_become_physical(series->image, out);
    return status;
}

tml_status tml_dicom_read_series(const io_file *file, const dicom_image *image,
                                 const tml_load_desc *desc, dicom_stack *stack, bool *is_ordered,
                                 volume_header *out)
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

#endif
