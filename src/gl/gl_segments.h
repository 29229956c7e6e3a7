/* Segments on OpenGL ES, for scans and sorts of them (shaders/gl_segments.glsl). */
#ifndef TML_GL_SEGMENTS_H
#define TML_GL_SEGMENTS_H

#include "gl/device/gl_internal.h"

/* The segments, as the shaders require them. */
typedef struct gl_segments {
    const char *defines;
    gl_input offsets;
    gl_input counts, ends; /* of starts; else zeroed */
    gl_uniform count, elements, count_place, end_place;
    const tml_length *length; /* segments that end past it are empty; NULL: all elements */
    uint64_t segments, element_count;
} gl_segments;

/* Offsets of segments of elements, or starts. */
gl_segments gl_segments_of(const tml_context *tml, tml_buffer offsets, uint64_t elements);
gl_segments gl_segments_of_starts(const tml_context *tml, tml_buffer starts,
                                  const tml_length *count, const tml_length *length);

/* Finds each element's segment. begins (WORDS, one texel per element) receives the segment's first
 * element, or 2^32 - 1 if the element is in no segment. */
tml_status gl_segments_begins(tml_context *tml, const gl_segments *segments,
                              const gl_texture *begins);

#endif
