/* DICOM: shared by the files that read a data set. */
#ifndef TML_DICOM_ELEMENTS_H
#define TML_DICOM_ELEMENTS_H

#include "io/volumes/dicom.h"

#define DICOM_VR(a, b) ((uint16_t)((a) << 8 | (b)))

/* Returns whether two letters are one of the value representations of PS3.5. */
bool tml_dicom_is_vr(const char *at);

#ifdef TML_DICOM
enum {
    DICOM_WINDOW_SIZE = 4096,
    DICOM_DEPTH_MOST = 64, /* nested sequences and items; real files have fewer than 20 */
    DICOM_VALUE_MOST = 256,
};
#    define DICOM_UNDEFINED UINT32_MAX

enum {
    TAG_TRANSFER_SYNTAX = 0x00020010,
    TAG_INSTANCE = 0x00080018,
    TAG_DESCRIPTION = 0x0008103E,
    TAG_THICKNESS = 0x00180050,
    TAG_BETWEEN = 0x00180088,
    TAG_DETECTOR_SPACING = 0x00181164, /* ImagerPixelSpacing */
    TAG_SCANNED_SPACING = 0x00182010,
    TAG_SERIES = 0x0020000E,
    TAG_NUMBER = 0x00200013,
    TAG_POSITION = 0x00200032,
    TAG_ORIENTATION = 0x00200037,
    TAG_LOCATION = 0x00201041,
    TAG_SAMPLES = 0x00280002,
    TAG_PHOTOMETRIC = 0x00280004,
    TAG_FRAMES = 0x00280008,
    TAG_ROWS = 0x00280010,
    TAG_COLUMNS = 0x00280011,
    TAG_SPACING = 0x00280030,
    TAG_BITS_ALLOCATED = 0x00280100,
    TAG_BITS_STORED = 0x00280101,
    TAG_HIGH_BIT = 0x00280102,
    TAG_SIGN = 0x00280103,
    TAG_INTERCEPT = 0x00281052,
    TAG_SLOPE = 0x00281053,
    TAG_LUT = 0x00283000,
    TAG_FRAME_OFFSETS = 0x3004000C,
    TAG_DOSE_SCALE = 0x3004000E,
    TAG_SHARED_GROUPS = 0x52009229,
    TAG_FRAME_GROUPS = 0x52009230,
    TAG_REAL_PIXELS = 0x7FE00008,
    TAG_DOUBLE_PIXELS = 0x7FE00009,
    TAG_PIXELS = 0x7FE00010,
};
#    define TAG_ITEM         0xFFFEE000u
#    define TAG_ITEM_END     0xFFFEE00Du
#    define TAG_SEQUENCE_END 0xFFFEE0DDu

typedef struct dicom_level {
    uint64_t end; /* UINT64_MAX: a delimiter ends it */
    uint32_t tag;
    bool is_implicit;
} dicom_level;

typedef struct dicom_parser {
    const io_file *file;
    dicom_image *image;
    dicom_frames *frames; /* NULL: not needed */
    uint64_t at;
    bool is_implicit, big_endian;
    dicom_level levels[DICOM_DEPTH_MOST];
    uint32_t depth;
    uint64_t window_at;
    size_t window_size;
    uint8_t window[DICOM_WINDOW_SIZE];
} dicom_parser;

typedef struct dicom_element {
    uint32_t tag, length;
    uint16_t vr;
} dicom_element;

/* ---- dicom_elements.c: the element is at p->at; reading a value does not move p->at
 * ----------- */

/* Moves to the first element, after the preamble if there is one. */
tml_status tml_dicom_find_start(dicom_parser *p);
tml_status tml_dicom_read_at(dicom_parser *p, uint64_t at, void *out, size_t size);
tml_status tml_dicom_fail(const dicom_parser *p, const dicom_element *e, const char *what);
/* Reads an element's head and moves to its value. */
tml_status tml_dicom_read_head(dicom_parser *p, dicom_element *e);
/* Reads a short text without the blanks and NULs at its end. */
tml_status tml_dicom_read_text(dicom_parser *p, const dicom_element *e, char *out, size_t size);
/* Parses numbers that are separated by backslashes, at most most of them; ignores the rest. */
tml_status tml_dicom_parse_numbers(const dicom_parser *p, const dicom_element *e, io_span text,
                                   double *out, size_t most, size_t *count);
/* Reads exactly count numbers. *has: false if the value is empty. */
tml_status tml_dicom_read_numbers(dicom_parser *p, const dicom_element *e, double *out,
                                  size_t count, bool *has);
/* Reads a number that the volume does not need. A damaged one counts as missing and sets
 * DICOM_BAD_NUMBER. */
tml_status tml_dicom_read_optional(dicom_parser *p, const dicom_element *e, double *out, bool *has);
tml_status tml_dicom_read_count(dicom_parser *p, const dicom_element *e, uint64_t *out);

/* ---- dicom_values.c -------------------------------------------------------------------------- */

/* Stores the element's value if the image needs it. */
tml_status tml_dicom_take_value(dicom_parser *p, const dicom_element *e);
/* Appends an empty frame. */
tml_status tml_dicom_add_frame(dicom_parser *p);
#endif

#endif
