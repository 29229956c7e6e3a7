/* Folds on OpenGL ES, shared by reduce and segmented reduce (shaders/gl_fold.glsl). */
#ifndef TML_GL_FOLD_H
#define TML_GL_FOLD_H

#include "gl/device/gl_internal.h"

enum { GL_FOLD_LEVELS = 5, GL_FOLD_DEFINES = 320 };

typedef struct gl_fold {
    const char *segmented;          /* more defines for segments, else an empty string */
    gl_input offsets, counts, ends; /* of segments (gl_segments.glsl) */
    gl_uniform segment_count, segment_elements, count_place, end_place; /* likewise */
    const gl_texture *in;
    uint64_t elements; /* most elements */
    char constants[GL_FOLD_DEFINES];
    uint32_t components; /* each is folded, all in one draw; 1 for segments */
    uint32_t block_log2; /* log2 of the elements in a block of the first level */
    uint32_t level_count;
    const gl_texture *levels[GL_FOLD_LEVELS];
} gl_fold;

/* out_type: type of the result. Returns false if the fold requires double precision, or if the
 * stream is too long. */
bool gl_fold_bind(tml_context *tml, tml_fold fold, tml_buffer in, uint64_t elements,
                  tml_type out_type, gl_fold *out);
/* Draws the whole blocks of each level, for count folds of the same elements. */
tml_status gl_fold_blocks(tml_context *tml, gl_fold *folds, uint32_t count);
/* Takes *out (QUADS) and draws the results: count of them for segments; one per component for a
 * stream. length: the stream's; NULL for segments. */
tml_status gl_fold_results(tml_context *tml, const gl_fold *fold, const tml_length *length,
                           uint64_t count, const gl_texture **out);
/* Stores results, each from the first words of its texel. counted: if given, stores only so
 * many. */
tml_status gl_store_results(tml_context *tml, const gl_texture *results, uint64_t count,
                            const tml_length *counted, tml_buffer out);

#endif
