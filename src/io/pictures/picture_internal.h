/* What the picture formats share. A format's file decodes from the file's bytes in memory, row by
 * row, into a picture that grows: a header that promises more than the file holds costs no more
 * memory than the rows that were there. */
#ifndef TML_PICTURE_INTERNAL_H
#define TML_PICTURE_INTERNAL_H

#include <trommel/pictures.h>

#include "io/io_internal.h"

/* A picture that is being read. */
typedef struct picture_reader {
    const io_file *file;
    io_span bytes;         /* the whole file */
    uint64_t memory_limit; /* of the pixels; 0: none */
    tml_picture picture;   /* size: what is allocated so far */
    size_t row_size;       /* bytes; set by tml_picture_begin */
} picture_reader;

typedef struct picture_format {
    const char *name;
    bool (*detect)(io_span head);
    /* Fills reader->picture, all of its rows. On failure the caller frees what is there. */
    tml_status (*read)(picture_reader *reader);
} picture_format;

extern const picture_format tml_picture_radiance, tml_picture_pfm, tml_picture_png,
    tml_picture_jpeg, tml_picture_exr;

/* How much of a file the formats are told from. */
enum { PICTURE_HEAD_SIZE = 1024 };

/* Sets type, channels and size, and checks that they fit an address space and the limit. stored:
 * bytes of the file that hold pixels; that many times a small factor are allocated at once. Errors:
 * FILE_FORMAT (a side of 0, or too large), OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status tml_picture_begin(picture_reader *reader, tml_type type,
                                            uint32_t channels, uint64_t width, uint64_t height,
                                            uint64_t stored);
/* Room for the next rows, count from first on; NULL after recording an error. Rows are taken in
 * order, and pointers to earlier ones are void then. */
uint8_t *tml_picture_rows(picture_reader *reader, uint32_t first, uint32_t count);

/* How stored rows and columns lie in the picture: stored row r and column c are picture row r and
 * column c or, transposed, column r and row c; then the picture is mirrored. */
typedef struct picture_orientation {
    bool is_transposed;
    bool flips_x, flips_y; /* of the picture */
} picture_orientation;

/* Reorders the pixels of a complete picture by its orientation. */
TML_MUST_CHECK tml_status tml_picture_orient(picture_reader *reader,
                                             picture_orientation orientation);

/* Adds to the picture's comment, behind what stands there. */
void tml_picture_note(picture_reader *reader, const char *format, ...) TML_FORMAT(2, 3);

/* How integers code light: signals of low to high, shares of the largest integer, by a function. */
enum { PICTURE_LINEAR = 8, PICTURE_SRGB = 13, PICTURE_PQ = 16, PICTURE_HLG = 18 };
typedef struct picture_light {
    uint32_t function; /* transfer characteristics of ITU-T H.273 */
    double exponent;   /* not 0: the function is this power of the signal */
    double low, high;
    const char *name;
} picture_light;
/* False for functions that are not known. */
bool tml_picture_transfer(uint32_t number, picture_light *out);
/* Makes a complete picture of integers one of floats of linear light; linear ones stay. PQ: 1 is
 * 203 cd/m2. HLG: light of the scene, 1 being that of a signal of 0.75. Errors: OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status tml_picture_undo(picture_reader *reader, const picture_light *light);

/* Warns where primaries and white (x and y of red, green, blue, white) are not about sRGB's. */
extern const float tml_picture_srgb_primaries[8];
TML_MUST_CHECK tml_status tml_picture_primaries(const picture_reader *reader, const float xy[8]);
/* Warns where an ICC profile is not sRGB's, by its description. */
TML_MUST_CHECK tml_status tml_picture_profile(const picture_reader *reader, const uint8_t *profile,
                                              size_t size);

/* As tml_picture_load, over a block of memory. */
TML_MUST_CHECK tml_status tml_picture_load_memory(tml_context *tml, const char *name,
                                                  const void *data, size_t size,
                                                  uint64_t memory_limit, tml_picture *out);

/* Writers. The picture has been checked: the format supports its type and channels. Errors of
 * writing stay in the writer; the status is that of everything else. */
TML_MUST_CHECK tml_status tml_picture_write_png(io_writer *writer, const tml_picture *picture);
TML_MUST_CHECK tml_status tml_picture_write_pfm(io_writer *writer, const tml_picture *picture);
TML_MUST_CHECK tml_status tml_picture_write_radiance(io_writer *writer, const tml_picture *picture);
TML_MUST_CHECK tml_status tml_picture_write_exr(io_writer *writer, const tml_picture *picture);
/* Row y of a picture of f16 or f32 as floats: width * channels of them. */
void tml_picture_floats(const tml_picture *picture, uint32_t y, float *out);
/* Replaces characters other than printable ASCII by "?", in text from a file that goes into a
 * message. */
void tml_picture_printable(char *text);

#endif
