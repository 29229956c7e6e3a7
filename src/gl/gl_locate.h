/* Which source each output is made of. An operation draws what each item counts, bits or numbers, as the
 * base of a pyramid; gl_locate finds the source of every output by HISTOPYRAMID; and what follows is written
 * from that, output by output. */
#ifndef TML_GL_LOCATE_H
#define TML_GL_LOCATE_H

#include "gl/gl_pyramid.h"

typedef struct gl_locate_info {
    const tml_length *length; /* of the stream of items */
    uint64_t outputs;         /* that anyone wants, at most; 0: just the total */
    bool has_ranks;           /* numbers: each output's number among its source's is wanted, too */
    bool has_others;          /* bits: the items with a 0 follow those with a 1 */
} gl_locate_info;

typedef struct gl_located {
    uint64_t outputs;          /* there is room for, or, with exact counts, there are */
    const gl_texture *sources; /* QUADS, four outputs a texel; 2^32 - 1 past the last output */
    const gl_texture *ranks;   /* likewise; NULL: none */
    const gl_texture *total; /* all that there are, as gl_store_count takes it; of the ones alone */
    uint64_t total_texel;
} gl_located;

/* Can the method locate so many outputs of so many items? */
bool gl_locate_supports(const tml_context *tml, tml_method method, bool is_bits, uint64_t items,
                        uint64_t outputs);
/* pyramid: taken, and its base drawn. */
tml_status gl_locate(tml_context *tml, const gl_locate_info *info, const gl_pyramid *pyramid,
                     gl_located *out);

/* Outputs that fit in a buffer; 0 for none. */
uint64_t gl_located_room(const tml_context *tml, const gl_located *located, tml_buffer out);

/* Write an array of outputs: out[j] = in[source of j], the source's index (u32 or u64), or the rank
 * (u32). out none: nothing. in may be out. Elements past the last output stay. */
tml_status gl_located_values(tml_context *tml, const gl_located *located, tml_buffer in,
                             tml_buffer out);
tml_status gl_located_indices(tml_context *tml, const gl_located *located, tml_buffer out);
tml_status gl_located_ranks(tml_context *tml, const gl_located *located, tml_buffer out);

#endif
