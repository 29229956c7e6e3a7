/* What the parts of the TIFF reader share: pages (tiff.c), what texts say of them (tiff_text.c),
 * and the pages that OME's text gives to layers, in one file or several (tiff_planes.c). */
#ifndef TML_TIFF_INTERNAL_H
#define TML_TIFF_INTERNAL_H

#include <trommel/volumes.h>

#include "io/volumes/volume_internal.h"

#ifdef TML_TIFF

#    include <tiffio.h>

/* ---- texts ----------------------------------------------------------------------------------- */

/* A run of planes in OME's order, and the pages of one file that hold them: an element TiffData. */
typedef struct tiff_run {
    uint64_t plane; /* number of the first one, counted in DimensionOrder */
    uint64_t page;  /* its page in the file, from 0 */
    uint64_t count; /* planes; 0: as many as the file has pages */
    uint32_t file;  /* 0: this one; otherwise 1 + the number of a name */
} tiff_run;

/* What a description says. */
typedef struct tiff_text {
    enum { TIFF_PLAIN, TIFF_IMAGEJ, TIFF_OME } kind;
    uint64_t layers, before, after; /* frames that change faster and more slowly than layers do */
    double spacing[3];              /* times ratio in unit; 0: not said */
    double ratio[3];                /* of each axis's unit to x's, also of what tags say */
    double origin[3];               /* in samples: the one at 0 */
    char unit[16];                  /* as tml_volume.unit; empty: none */
    double slope, intercept;
    uint64_t images; /* ImageJ: pages, with or without directories */

    /* OME. Size and type, 0: not said. */
    uint64_t width, height;
    tml_type type;
    bool has_no_data;   /* the element BinaryOnly: metadata_file says everything */
    bool has_own_plane; /* a run lies in this file */
    uint32_t image, image_count;
    tiff_run *runs;
    size_t run_count, run_room;
    char (*names)[VOLUME_NAME_SIZE]; /* of other files */
    size_t name_count, name_room;
    char metadata_file[VOLUME_NAME_SIZE];
} tiff_text;

/* Reads what ImageJ or OME wrote. file: the TIFF file, with which names and messages go. Another
 * text, or NULL, is TIFF_PLAIN. Release with tml_tiff_text_free, also after an error. Errors:
 * FILE_FORMAT (no XML, values that are none), UNSUPPORTED (OME without expat), OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status tml_tiff_text_read(const io_file *file, const char *text, tiff_text *out);
void tml_tiff_text_free(const io_file *file, tiff_text *text);

/* ---- pages ----------------------------------------------------------------------------------- */

typedef struct tiff_reader {
    const io_file *file;
    TIFF *tiff;
    uint64_t offset;      /* of the next read */
    char message[200];    /* libtiff's first one; empty: none */
    bool is_incomplete;   /* a codec filled in what was not there */
    bool has_wrong_sizes; /* of strips, which were calculated */
} tiff_reader;

/* What must be the same on each page. */
typedef struct tiff_page {
    uint32_t width, height;
    tml_type type;
    uint16_t orientation;
    bool has_palette;
    bool has_format; /* says whether samples have a sign or are floats */
} tiff_page;

/* On failure there is nothing to close. */
TML_MUST_CHECK tml_status tml_tiff_open(const io_file *file, tiff_reader *out);
static inline void tiff_close(tiff_reader *reader)
{
    TIFFClose(reader->tiff);
}
/* Records FILE_FORMAT with libtiff's message. */
tml_status tml_tiff_fail(const tiff_reader *reader, const char *what);
/* Reads the current page's tags. number is for messages. Errors: UNSUPPORTED, FILE_FORMAT. */
TML_MUST_CHECK tml_status tml_tiff_page(const tiff_reader *reader, uint64_t number, tiff_page *out);
TML_MUST_CHECK tml_status tml_tiff_alike(const tiff_reader *reader, uint64_t number,
                                         const tiff_page *page, const tiff_page *first);
/* Goes to the next page that is a layer, or to the first. *has: there is one. */
TML_MUST_CHECK tml_status tml_tiff_next_layer(tiff_reader *reader, bool is_first, bool *has);
static inline bool tiff_is_alike(const tiff_page *a, const tiff_page *b)
{
    return a->width == b->width && a->height == b->height && a->type == b->type;
}
/* May that many bytes come out of the file? Compression is that of the current page. */
bool tml_tiff_may_hold(const tiff_reader *reader, uint64_t size);

/* ---- tiff_spacing.c
 * ---------------------------------------------------------------------------- */

/* Spacing along x and y by the tags of the resolution, unless the text says it. Returns whether
 * nothing but those tags says a length. */
bool tml_tiff_resolution(const tiff_reader *reader, tiff_text *text, volume_header *out);
/* Sets spacing, origin and unit. What is not said is assumed, which is told where something else
 * is said. */
TML_MUST_CHECK tml_status tml_tiff_spacing(const io_file *file, const tml_load_desc *desc,
                                           bool is_alone, const tiff_text *text,
                                           volume_header *out);

/* ---- tiff_planes.c --------------------------------------------------------------------------- */

/* Lays the volume out by OME's text: desc.frame's layers, each a page of this file or of one
 * beside it. Makes out->names a line for each layer: its directory's offset, a blank, the file's
 * name (empty: this one). out->volume has type and grid.dims[0] and [1]. Errors: FILE_FORMAT,
 * UNSUPPORTED, FILE_ACCESS, INVALID_ARGUMENT, OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status tml_tiff_planes(tiff_reader *reader, const tiff_page *first,
                                          tiff_text *text, const tml_load_desc *desc,
                                          volume_header *out);

#endif

#endif
