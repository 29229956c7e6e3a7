/* DICOM: what the readers of a file and of a series share. */
#ifndef TML_DICOM_H
#define TML_DICOM_H

#include "io/folder.h"

enum { DICOM_TEXT_SIZE = 68 }; /* a UID has at most 64 characters */

/* Where slices or frames lie, one after another, as far as it is known. */
typedef struct dicom_stack {
    double first[3], step[3], last[3];
    uint64_t count;    /* positions seen */
    bool is_irregular; /* one is not a step behind the one before */
} dicom_stack;

/* What a file says of its pixels. */
typedef struct dicom_image {
    char series[DICOM_TEXT_SIZE], photometric[DICOM_TEXT_SIZE];
    uint64_t rows, columns, frames, samples;
    uint64_t bits, stored, high; /* of a sample: allocated, used, the number of the highest used */
    bool is_signed, is_real, is_turned; /* turned: frames of several orientations */
    tml_type type;
    double orientation[6]; /* of rows, then of columns: unit vectors in LPS */
    double spacing[2];     /* between rows, between columns */
    double thickness, between;
    bool has_orientation, has_spacing, has_thickness, has_between;
    dicom_stack stack;
    double slope, intercept;
    bool is_scaled, is_scaled_apart; /* apart: frames by several slopes */
    bool big_endian;
    uint64_t offset, length; /* of the pixels in the file */
} dicom_image;

/* Adds a position behind the others. */
void tml_dicom_add_position(dicom_stack *stack, const double position[3]);

/* Does a file begin as DICOM's do? */
static inline bool dicom_is(io_span head)
{
    return head.size >= 132 && memcmp(head.text + 128, "DICM", 4) == 0;
}

/* Reads a file's data set up to its pixels and checks what it says of them; *has_pixels false: it is of
 * another kind. What was read before a failure is in *out. Errors: FILE_FORMAT, UNSUPPORTED,
 * FILE_ACCESS, OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status tml_dicom_parse(const io_file *file, dicom_image *out, bool *has_pixels);

/* Opens the first of a folder's files that has pixels; all that have must be of one series. Errors: as tml_dicom_parse.
 */
TML_MUST_CHECK tml_status tml_dicom_open_folder(tml_context *tml, const char *call,
                                                const char *path, const io_folder *files,
                                                io_file *out);

#endif
