/* Scans on OpenGL ES, shared by scan and segmented scan (shaders/gl_scan.glsl). */
#ifndef TML_GL_SCAN_H
#define TML_GL_SCAN_H

#include "gl/device/gl_internal.h"

enum { GL_SCAN_LEVELS = 8, GL_SCAN_DEFINES = 320 };

/* Sums, four per texel; high: the high words of 64-bit sums, else NULL. */
typedef struct gl_sums {
    const gl_texture *low, *high;
} gl_sums;

typedef struct gl_scan {
    const char *segmented;    /* more defines for segments, else an empty string */
    gl_input offsets, begins; /* of segments */
    gl_uniform segment_count, segment_elements; /* likewise */
    const gl_texture *in, *start; /* start: optional */
    uint64_t elements; /* most elements */
    char constants[GL_SCAN_DEFINES];
    bool is_wide, is_float;
    uint32_t level_count;
    gl_sums carries; /* of the first level's blocks */
} gl_scan;

/* False: the scan needs double precision, or more levels than there may be. */
bool gl_scan_bind(tml_context *tml, tml_buffer in, uint64_t elements, tml_buffer out,
                  gl_scan *scan);
/* The same for a texture of elements; the caller ensures that the scan is supported. */
void gl_scan_bind_words(const gl_texture *in, tml_type in_type, uint64_t elements,
                        tml_type out_type, gl_scan *scan);
/* Draws the carries of the blocks. */
tml_status gl_scan_carries(tml_context *tml, gl_scan *scan);
/* Takes *out and draws the sums of all elements of a stream, from the carries. */
tml_status gl_scan_elements(tml_context *tml, const gl_scan *scan, bool inclusive, gl_sums *out);

#endif
