/* The OpenGL ES engine's table. */
#include "gl/device/gl_device.h"
#include "gl/gl_ops.h"

const tml_engine tml_gl_engine = {
    GL_ENGINE,
    .read_begin = gl_read_begin,
    .read_poll = gl_read_poll,
    .read_free = gl_read_free,
    .part = PART_GL,
    .devices = gl_devices,
    .is_lent = gl_is_lent,
    .open = gl_open,
    .ops =
        {
            [TML_OP_MAP] = &gl_op_map,
            [TML_OP_COMPACT] = &gl_op_compact,
            [TML_OP_PARTITION] = &gl_op_partition,
            [TML_OP_SORT] = &gl_op_sort,
            [TML_OP_SORT_SEGMENTS] = &gl_op_sort_segments,
            [TML_OP_TOP_K] = &gl_op_top_k,
            [TML_OP_GATHER] = &gl_op_gather,
            [TML_OP_SCATTER] = &gl_op_scatter,
            [TML_OP_SEARCH] = &gl_op_search,
            [TML_OP_EXPAND] = &gl_op_expand,
            [TML_OP_UNIQUE] = &gl_op_unique,
            [TML_OP_REDUCE] = &gl_op_reduce,
            [TML_OP_HISTOGRAM] = &gl_op_histogram,
            [TML_OP_SCAN] = &gl_op_scan,
            [TML_OP_REDUCE_SEGMENTS] = &gl_op_reduce_segments,
            [TML_OP_SCAN_SEGMENTS] = &gl_op_scan_segments,
        },
};
