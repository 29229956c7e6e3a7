/* Finds the series in a DICOM folder. */
#include "io/volumes/dicom.h"

#ifndef TML_DICOM

tml_status tml_dicom_open_folder(tml_context *tml, const char *call, const char *path,
                                 const io_folder *files, io_file *out)
{
    return tml_folder_open(tml, call, path, files->names[0], out);
}

#else

#    include <inttypes.h>

tml_status tml_dicom_open(tml_context *tml, const char *call, const char *folder, const char *name,
                          io_file *file, dicom_image *image, bool *has_pixels)
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

/* A series in a folder. A file with several frames counts as a series. */
typedef struct listed_series {
    char series[DICOM_TEXT_SIZE], description[DICOM_TEXT_SIZE];
    const char *first; /* its first file */
    uint64_t slices, columns, rows;
    bool has_frames;
} listed_series;

enum { LISTED_MOST = 32 };

/* Counts an image in its series. Returns false for the first series beyond LISTED_MOST. */
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
        bool is_read = tml_dicom_open(tml, call, path, name, &file, &image, &has_pixels) == TML_OK;
        if (!is_read && image.series[0] == '\0')
            failed = failed ? failed : name;
        else if (has_pixels || !is_read) /* a compressed series counts, too */
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

#endif
