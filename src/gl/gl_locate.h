/* Finds the source of each output. An operation draws the items' keep bits or counts as the base of
 * a pyramid; gl_locate finds the source of every output by HISTOPYRAMID; then outputs are gathered
 * from their sources. */
#ifndef TML_GL_LOCATE_H
#define TML_GL_LOCATE_H

#include "gl/gl_pyramid.h"

typedef struct gl_locate_info {
    const tml_length *length; /* of the stream of items */
    uint64_t outputs;         /* the most outputs to find; 0: only the total */
    bool has_ranks;           /* for counts: also find the outputs' ranks */
    bool has_others;          /* bits: items with a 0 follow those with a 1 */
    tml_buffer out_first;     /* the index of the first output element; zeroed: 0 */
    /* For bits, optional. The items are then the stream's elements twice, the second time
     * plane_items later, and the number of outputs is at most w of this texture's first texel
     * (QUADS). */
    const gl_texture *limit;
    uint64_t plane_items;
} gl_locate_info;

typedef struct gl_located {
    uint64_t outputs;          /* their capacity; with exact counts, their number */
    const gl_texture *sources; /* QUADS, four outputs per texel; 2^32 - 1 without a source */
    const gl_texture *ranks;   /* the same; NULL: none */
    const gl_texture *total; /* without has_others' zeros; includes out_first; for gl_store_count */
    uint64_t total_texel;
} gl_located;

/* Does the method support so many items and outputs? */
bool gl_locate_supports(const tml_context *tml, tml_method method, bool is_bits, uint64_t items,
                        uint64_t outputs);
/* pyramid: its textures are taken, and its base is drawn. */
tml_status gl_locate(tml_context *tml, const gl_locate_info *info, const gl_pyramid *pyramid,
                     gl_located *out);

/* If there is a total (QUADS: x and y of *texel), adds out_first to it, and replaces *total and
 * *texel. z of the new texel is then the element at which outputs begin. */
tml_status gl_locate_end(tml_context *tml, tml_buffer out_first, const gl_texture **total,
                         uint64_t *texel);

/* Outputs that fit a buffer; 0 if there is no buffer. */
uint64_t gl_located_room(const tml_context *tml, const gl_located *located, tml_buffer out);

/* Store an array of outputs: out[j] = in[source of j], the source's index (u32 or u64), or the rank
 * (u32). Do nothing without out. in may equal out. Elements without a source keep their values. */
tml_status gl_located_values(tml_context *tml, const gl_located *located, tml_buffer in,
                             tml_buffer out);
tml_status gl_located_indices(tml_context *tml, const gl_located *located, tml_buffer out);
tml_status gl_located_ranks(tml_context *tml, const gl_located *located, tml_buffer out);

#endif
