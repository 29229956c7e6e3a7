/* Shared by the picture formats. A reader decodes a file, which is in memory as a whole, row by row
 * into a picture that grows. If a header promises more rows than the file holds, memory is spent
 * only on the rows that exist. */
#ifndef TML_PICTURE_INTERNAL_H
#define TML_PICTURE_INTERNAL_H

#include <trommel/pictures.h>

#include "io/io_internal.h"

/* A picture that is being read. */
typedef struct picture_reader {
    const io_file *file;
    io_span bytes;         /* the whole file */
    uint64_t memory_limit; /* for the pixels, in bytes; 0: none */
    tml_picture picture;   /* its size: bytes allocated so far */
    size_t row_size;       /* bytes; set by tml_picture_begin */
} picture_reader;

typedef struct picture_format {
    const char *name;
    bool (*detect)(io_span head);
    /* Fills all rows of reader->picture. On failure the caller frees the picture. */
    tml_status (*read)(picture_reader *reader);
} picture_format;

extern const picture_format tml_picture_radiance, tml_picture_pfm, tml_picture_png,
    tml_picture_jpeg, tml_picture_exr;

/* Bytes of a file's beginning that decide its format. */
enum { PICTURE_HEAD_SIZE = 1024 };

/* Sets type, channels and size, and checks that they fit in the address space and the limit.
 * stored  bytes of the file that hold pixels; room for a multiple of them is allocated at once
 * Errors: FILE_FORMAT (a side is 0 or too large), OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status tml_picture_begin(picture_reader *reader, tml_type type,
                                            uint32_t channels, uint64_t width, uint64_t height,
                                            uint64_t stored);
/* Returns memory for rows [first, first + count), or NULL after recording an error. New rows are
 * requested in order, which invalidates pointers to earlier ones. */
uint8_t *tml_picture_rows(picture_reader *reader, uint32_t first, uint32_t count);

/* How stored pixels lie in the picture. Stored row r and column c become row r and column c of the
 * picture, or column r and row c if transposed. Flips come last. */
typedef struct picture_orientation {
    bool is_transposed;
    bool flips_x, flips_y; /* mirror the picture */
} picture_orientation;

/* Reorders the pixels of a complete picture by its orientation. */
TML_MUST_CHECK tml_status tml_picture_orient(picture_reader *reader,
                                             picture_orientation orientation);

/* Appends to the picture's comment, after a "; ". */
void tml_picture_note(picture_reader *reader, const char *format, ...) TML_FORMAT(2, 3);

/* How integers encode light: as shares of the largest integer they are signals in [low, high]; a
 * function maps these, scaled to [0, 1], to light. */
enum { PICTURE_LINEAR = 8, PICTURE_SRGB = 13, PICTURE_PQ = 16, PICTURE_HLG = 18 };
typedef struct picture_light {
    uint32_t function; /* transfer characteristic of ITU-T H.273 */
    double exponent;   /* not 0: light is the signal to this power */
    double low, high;
    const char *name;
} picture_light;
/* Returns false if the function is unknown. */
bool tml_picture_transfer(uint32_t number, picture_light *out);
/* Converts a complete picture of integers to floats of linear light; one that is linear stays. PQ:
 * 1 is 203 cd/m2. HLG: light of the scene; 1 is a signal of 0.75. Errors: OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status tml_picture_undo(picture_reader *reader, const picture_light *light);

/* Warns if primaries and white (x and y of red, green, blue, white) are not close to sRGB's. */
extern const float tml_picture_srgb_primaries[8];
TML_MUST_CHECK tml_status tml_picture_primaries(const picture_reader *reader, const float xy[8]);
/* Warns if the description of an ICC profile does not name sRGB. */
TML_MUST_CHECK tml_status tml_picture_profile(const picture_reader *reader, const uint8_t *profile,
                                              size_t size);

/* Like tml_picture_load, but from a block of memory. */
TML_MUST_CHECK tml_status tml_picture_load_memory(tml_context *tml, const char *name,
                                                  const void *data, size_t size,
                                                  uint64_t memory_limit, tml_picture *out);

/* Writers. The format supports the picture's type and channels: the caller has checked them.
 * Failures of writing are kept in the writer; the status reports all others. */
TML_MUST_CHECK tml_status tml_picture_write_png(io_writer *writer, const tml_picture *picture);
TML_MUST_CHECK tml_status tml_picture_write_pfm(io_writer *writer, const tml_picture *picture);
TML_MUST_CHECK tml_status tml_picture_write_radiance(io_writer *writer, const tml_picture *picture);
TML_MUST_CHECK tml_status tml_picture_write_exr(io_writer *writer, const tml_picture *picture);
/* Converts row y of a picture of f16 or f32 to width * channels floats. */
void tml_picture_floats(const tml_picture *picture, uint32_t y, float *out);
/* Replaces characters other than printable ASCII with "?", in text from a file that a message
 * quotes. */
void tml_picture_printable(char *text);

#endif
