/* The operations of the OpenGL ES engine, for its table. */
#ifndef TML_GL_OPS_H
#define TML_GL_OPS_H

#include "gl/device/gl_internal.h"

#include "core/engine.h"

extern const tml_engine_op gl_op_map, gl_op_reduce, gl_op_histogram, gl_op_scan, gl_op_compact,
    gl_op_partition, gl_op_sort, gl_op_sort_segments, gl_op_top_k, gl_op_gather, gl_op_scatter,
    gl_op_search, gl_op_expand, gl_op_unique, gl_op_reduce_segments, gl_op_scan_segments;

/* The draw of tml_search, or of the bins of a histogram's edges, into words or, wide, pairs of them. */
tml_status gl_search_draw(tml_context *tml, const tml_search_resolved *resolved,
                          const gl_texture *out, bool is_wide);

#endif
