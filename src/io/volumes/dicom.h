/* DICOM: shared by the readers of a file and of a series. */
#ifndef TML_DICOM_H
#define TML_DICOM_H

#include <trommel/volumes.h>

#include "io/volumes/folder.h"
#include "io/volumes/volume_internal.h"

enum { DICOM_TEXT_SIZE = 68 }; /* a UID has at most 64 characters */
#define DICOM_UNSAID UINT64_MAX

/* The positions of slices or frames in sequence, if they are known. */
typedef struct dicom_stack {
    double first[3], step[3], last[3];
    uint64_t count;    /* positions added so far */
    bool is_irregular; /* a position is not one step after the one before */
} dicom_stack;

/* Facts about a file that its reader must report: bits of dicom_image.notes. */
enum {
    DICOM_NO_SYNTAX = 1,      /* no transfer syntax is stated: the first element shows it */
    DICOM_OTHER_SYNTAX = 2,   /* the first element's coding differs from the stated one */
    DICOM_SPACING_ODD = 4,    /* PixelSpacing is not two lengths; the usable ones were used */
    DICOM_SPACING_WRONG = 8,  /* PixelSpacing has no usable length */
    DICOM_SPACING_OTHER = 16, /* the spacing is that of the detector or of a scanned film */
    DICOM_LUT = 32,           /* there is a Modality LUT, which is not applied */
    DICOM_BAD_NUMBER = 64,    /* a slice's thickness, position or number is not a number */
};

/* A file's description of its pixels. */
typedef struct dicom_image {
    char series[DICOM_TEXT_SIZE], photometric[DICOM_TEXT_SIZE];
    char instance[DICOM_TEXT_SIZE];     /* SOPInstanceUID */
    char description[DICOM_TEXT_SIZE];  /* description of the series */
    char spacing_text[DICOM_TEXT_SIZE]; /* PixelSpacing as it is in the file */
    unsigned notes;
    double number, location; /* InstanceNumber, SliceLocation */
    bool has_number, has_location;
    uint64_t rows, columns, frames, samples;
    uint64_t bits, stored, high; /* per sample: allocated, used; number of the highest used bit */
    bool is_signed, is_real, is_turned; /* turned: frames have several orientations */
    tml_type type;
    double orientation[6]; /* of rows, then of columns: unit vectors in LPS */
    double spacing[2];     /* between rows, between columns */
    double thickness, between;
    bool has_orientation, has_spacing, has_thickness, has_between;
    dicom_stack stack;
    double slope, intercept;
    bool big_endian;
    uint64_t offset, length; /* of the pixels in the file, in bytes */
} dicom_image;

/* A frame of a file with several frames. */
typedef struct dicom_frame {
    double position[3], along; /* along: distance along the normal */
    double slope, intercept;
    uint64_t number; /* in the file, from 0 on */
    bool has_position, has_slope, has_intercept;
} dicom_frame;
typedef struct dicom_frames {
    dicom_frame *frames;
    size_t count, room;
} dicom_frames;

/* Appends a position. */
void tml_dicom_add_position(dicom_stack *stack, const double position[3]);

enum { DICOM_HEAD_SIZE = 1024 }; /* bytes that suffice to detect DICOM */

/* Returns whether a file begins as DICOM: with 128 bytes and "DICM", or, in data sets without that
 * preamble, with elements of group 2 or 8 in ascending order whose values are text. Reads at most
 * DICOM_HEAD_SIZE bytes. */
bool tml_dicom_is(io_span head);

/* Reads a file's data set up to its pixels and checks the image. After a failure, *out has what was
 * read before it.
 * frames       receives the frames that the file describes; NULL: not needed. Free it by
 *              tml_dicom_frames_free, also after a failure
 * *has_pixels  false: the file is of another kind
 * Errors: FILE_FORMAT, UNSUPPORTED, FILE_ACCESS, OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status tml_dicom_parse(const io_file *file, dicom_image *out,
                                          dicom_frames *frames, bool *has_pixels);
void tml_dicom_frames_free(const io_file *file, dicom_frames *frames);

/* Opens a folder's first file that has pixels. All files with pixels must be of one series.
 * Errors: as tml_dicom_parse; UNSUPPORTED if there are several series, which the message lists. */
TML_MUST_CHECK tml_status tml_dicom_open_folder(tml_context *tml, const char *call,
                                                const char *path, const io_folder *files,
                                                io_file *out);

/* ---- volumes: only with TML_DICOM ----------------------------------------------------------- */

/* dicom_folder.c: opens a file of a folder. Parses it if it is DICOM. */
TML_MUST_CHECK tml_status tml_dicom_open(tml_context *tml, const char *call, const char *folder,
                                         const char *name, io_file *file, dicom_image *image,
                                         bool *has_pixels);

/* dicom_series.c: makes the volume's layers of the slices of the file's series. *is_ordered: the
 * slices have no positions, and a warning has reported their assumed order. */
TML_MUST_CHECK tml_status tml_dicom_read_series(const io_file *file, const dicom_image *image,
                                                const tml_load_desc *desc, dicom_stack *stack,
                                                bool *is_ordered, volume_header *out);
/* Returns the distance of slices without positions. *source receives a name of the value's
 * source. */
double tml_dicom_stated_distance(const dicom_image *image, const char **source);
/* Returns a position's distance along the normal of the rows and columns; its z without
 * orientation. */
double tml_dicom_along_normal(const dicom_image *image, const double position[3]);
/* Makes the volume's samples physical values, because frames or slices differ in scale. */
void tml_dicom_become_physical(const dicom_image *image, volume_header *out);

#endif
