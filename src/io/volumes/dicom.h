/* DICOM: what the readers of a file and of a series share. */
#ifndef TML_DICOM_H
#define TML_DICOM_H

#include <trommel/volumes.h>

#include "io/volumes/folder.h"
#include "io/volumes/volume_internal.h"

enum { DICOM_TEXT_SIZE = 68 }; /* a UID has at most 64 characters */
#define DICOM_UNSAID UINT64_MAX

/* Where slices or frames lie, one after another, as far as it is known. */
typedef struct dicom_stack {
    double first[3], step[3], last[3];
    uint64_t count;    /* positions seen */
    bool is_irregular; /* one is not a step behind the one before */
} dicom_stack;

/* What a reader has to tell of a file that it reads: bits of dicom_image.notes. */
enum {
    DICOM_NO_SYNTAX = 1,      /* no transfer syntax is stated: found by the first element */
    DICOM_OTHER_SYNTAX = 2,   /* the first element is coded in another way than is stated */
    DICOM_SPACING_ODD = 4,    /* PixelSpacing is not two lengths; what could be taken was */
    DICOM_SPACING_WRONG = 8,  /* PixelSpacing is no length at all */
    DICOM_SPACING_OTHER = 16, /* the spacing is that of the detector or of a scanned film */
    DICOM_LUT = 32,           /* a Modality LUT, which is not applied */
    DICOM_BAD_NUMBER = 64,    /* a thickness, place or number of a slice is no number */
};

/* What a file says of its pixels. */
typedef struct dicom_image {
    char series[DICOM_TEXT_SIZE], photometric[DICOM_TEXT_SIZE];
    char instance[DICOM_TEXT_SIZE];     /* its own UID */
    char description[DICOM_TEXT_SIZE];  /* of its series */
    char spacing_text[DICOM_TEXT_SIZE]; /* PixelSpacing as it stands there */
    unsigned notes;
    double number, location; /* InstanceNumber, SliceLocation */
    bool has_number, has_location;
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
    bool big_endian;
    uint64_t offset, length; /* of the pixels in the file */
} dicom_image;

/* A frame of a file of several. */
typedef struct dicom_frame {
    double position[3], along; /* along: the normal */
    double slope, intercept;
    uint64_t number; /* in the file, from 0 on */
    bool has_position, has_slope, has_intercept;
} dicom_frame;
typedef struct dicom_frames {
    dicom_frame *frames;
    size_t count, room;
} dicom_frames;

/* Adds a position behind the others. */
void tml_dicom_add_position(dicom_stack *stack, const double position[3]);

enum { DICOM_HEAD_SIZE = 1024 }; /* bytes that tell whether a file is DICOM */

/* Does a file begin as DICOM's do: with 128 bytes and "DICM", or (as data sets without that
 * preamble) with elements of group 2 or 8 in ascending order whose values are text? Looks at
 * DICOM_HEAD_SIZE bytes at most. */
bool tml_dicom_is(io_span head);

/* Reads a file's data set up to its pixels and checks what it says of them; *has_pixels false:
 * it is of another kind. What was read before a failure is in *out. frames: what is said of each
 * frame, where that is said; free with tml_dicom_frames_free, also on failure; NULL: not wanted.
 * Errors: FILE_FORMAT, UNSUPPORTED, FILE_ACCESS, OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status tml_dicom_parse(const io_file *file, dicom_image *out,
                                          dicom_frames *frames, bool *has_pixels);
void tml_dicom_frames_free(const io_file *file, dicom_frames *frames);

/* Opens the first of a folder's files that has pixels; all that have must be of one series.
 * Errors: as tml_dicom_parse; UNSUPPORTED (several series, which the message lists). */
TML_MUST_CHECK tml_status tml_dicom_open_folder(tml_context *tml, const char *call,
                                                const char *path, const io_folder *files,
                                                io_file *out);

/* ---- what a volume is made of: with TML_DICOM alone ------------------------------------------ */

/* dicom_folder.c: opens a file of a folder, and parses it if it is DICOM. */
TML_MUST_CHECK tml_status tml_dicom_open(tml_context *tml, const char *call, const char *folder,
                                         const char *name, io_file *file, dicom_image *image,
                                         bool *has_pixels);

/* dicom_series.c: the slices of the file's series become the volume's layers. *is_ordered: they
 * have no positions, and what was done about it has been told. */
TML_MUST_CHECK tml_status tml_dicom_read_series(const io_file *file, const dicom_image *image,
                                                const tml_load_desc *desc, dicom_stack *stack,
                                                bool *is_ordered, volume_header *out);
/* The distance of slices whose positions are not stated. *source: where it comes from. */
double tml_dicom_stated_distance(const dicom_image *image, const char **source);
/* Along the normal of the rows and columns; without orientation, along z. */
double tml_dicom_along_normal(const dicom_image *image, const double position[3]);
/* Samples that have no scale in common become physical values. */
void tml_dicom_become_physical(const dicom_image *image, volume_header *out);

#endif
