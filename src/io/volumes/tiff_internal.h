/* Shared by the parts of the TIFF reader: pages (tiff_pages.c), texts (tiff_text.c), spacing
 * (tiff_spacing.c), and the pages that OME assigns to layers, in one file or several
 * (tiff_planes.c). */
#ifndef TML_TIFF_INTERNAL_H
#define TML_TIFF_INTERNAL_H

#include <trommel/volumes.h>

#include "io/volumes/volume_internal.h"

#ifdef TML_TIFF

#    include <tiffio.h>

/* ---- texts ----------------------------------------------------------------------------------- */

/* An element TiffData: a run of planes in OME's order, and the pages of one file that hold them. */
typedef struct tiff_run {
    uint64_t plane; /* number of the first plane, in DimensionOrder */
    uint64_t page;  /* the first plane's page, from 0 */
    uint64_t count; /* planes; 0: one per page from there on */
    uint32_t file;  /* 0: this one; otherwise 1 + a number in tiff_text.names */
} tiff_run;

/* The contents of a description. */
typedef struct tiff_text {
    enum { TIFF_PLAIN, TIFF_IMAGEJ, TIFF_OME } kind;
    uint64_t layers, before, after; /* frames that vary faster, and slower, than layers */
    double spacing[3];              /* times ratio in unit; 0: not given */
    double ratio[3];                /* of each axis's unit to x's unit, for tags as well */
    double origin[3];               /* the sample at coordinate 0 */
    char unit[16];                  /* as tml_volume.unit; empty: none */
    double slope, intercept;
    uint64_t images; /* ImageJ: number of images, with or without pages */

    /* OME. Size and type: 0 if not given. */
    uint64_t width, height;
    tml_type type;
    bool has_no_data;   /* element BinaryOnly: metadata_file has the description */
    bool has_own_plane; /* a run lies in this file */
    uint32_t image, image_count;
    tiff_run *runs;
    size_t run_count, run_room;
    char (*names)[VOLUME_NAME_SIZE]; /* of other files */
    size_t name_count, name_room;
    char metadata_file[VOLUME_NAME_SIZE];
} tiff_text;

/* Parses a description by ImageJ or OME. Another text, or NULL, gives TIFF_PLAIN.
 * file  the TIFF file, for names and messages
 * After: tml_tiff_text_free, also after an error.
 * Errors: FILE_FORMAT (not XML, or invalid values), UNSUPPORTED (OME without expat),
 * OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status tml_tiff_text_read(const io_file *file, const char *text, tiff_text *out);
void tml_tiff_text_free(const io_file *file, tiff_text *text);

/* ---- pages ----------------------------------------------------------------------------------- */

typedef struct tiff_reader {
    const io_file *file;
    TIFF *tiff;
    uint64_t offset;      /* of the next read */
    char message[200];    /* libtiff's first message; empty: none */
    bool is_incomplete;   /* a codec made up missing data */
    bool has_wrong_sizes; /* the strips' sizes are wrong; they were calculated */
} tiff_reader;

/* A page's tags. Size and type are the same on all. */
typedef struct tiff_page {
    uint32_t width, height;
    tml_type type;
    uint16_t orientation;
    bool has_palette;
    bool has_format; /* states whether samples are signed or floats */
} tiff_page;

/* On failure there is nothing to close. */
TML_MUST_CHECK tml_status tml_tiff_open(const io_file *file, tiff_reader *out);
static inline void tiff_close(tiff_reader *reader)
{
    TIFFClose(reader->tiff);
}
/* Records FILE_FORMAT with libtiff's message. */
tml_status tml_tiff_fail(const tiff_reader *reader, const char *what);
/* Reads the current page's tags; compares a page with the first. number is for messages. Errors:
 * UNSUPPORTED, FILE_FORMAT. */
TML_MUST_CHECK tml_status tml_tiff_page(const tiff_reader *reader, uint64_t number, tiff_page *out);
TML_MUST_CHECK tml_status tml_tiff_alike(const tiff_reader *reader, uint64_t number,
                                         const tiff_page *page, const tiff_page *first);
/* Goes to the first page that is a layer, or to the next one. *has: there is one. */
TML_MUST_CHECK tml_status tml_tiff_next_layer(tiff_reader *reader, bool is_first, bool *has);
static inline bool tiff_is_alike(const tiff_page *a, const tiff_page *b)
{
    return a->width == b->width && a->height == b->height && a->type == b->type;
}
/* Can the file decompress to that many bytes, with the current page's compression? */
bool tml_tiff_may_hold(const tiff_reader *reader, uint64_t size);

/* ---- tiff_spacing.c -------------------------------------------------------------------------- */

/* Sets the spacing along x and y from the resolution tags, unless the text gives it. Returns true
 * if only these tags give a length. */
bool tml_tiff_resolution(const tiff_reader *reader, tiff_text *text, volume_header *out);
/* Sets spacing, origin and unit. A missing spacing is assumed, with a warning if another is given.
 * is_alone: from tml_tiff_resolution. */
TML_MUST_CHECK tml_status tml_tiff_spacing(const io_file *file, const tml_load_desc *desc,
                                           bool is_alone, const tiff_text *text,
                                           volume_header *out);

/* ---- tiff_planes.c --------------------------------------------------------------------------- */

/* Lays out the volume by OME's text: the layers of desc.frame, each a page of this file or of one
 * beside it. out->names gets a line per layer: its directory's offset, a blank, the file's name
 * (empty: this one). out->volume has type and grid.dims[0] and [1]. Errors: FILE_FORMAT,
 * UNSUPPORTED, FILE_ACCESS, INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED. */
TML_MUST_CHECK tml_status tml_tiff_planes(tiff_reader *reader, const tiff_page *first,
                                          tiff_text *text, const tml_load_desc *desc,
                                          volume_header *out);

#endif

#endif
