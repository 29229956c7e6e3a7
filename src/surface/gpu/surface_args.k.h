/* Argument structs of the Vulkan engine's surface shaders, and the constants both sides count on.
 *
 * A workspace is the box of samples of one part, with a layer of outside samples around it when the
 * surface is capped. Its rows are numbered y + size_y * z. A row's bits are words of 32 columns.
 * Rows are counted in chunks of 1 << SURFACE_CHUNK_LOG2(lanes a row) rows: with their words side by side,
 * or, where a row has more words than lanes, row by row, segment after segment. Words that have anything
 * are listed, and emitted by one lane of a subgroup each.
 *
 * A volume that is worked off in slabs has workspaces of some layers of the part's box. Rows of the
 * slab's own layers are emitted. Vertices of the layer after them are counted, because triangles
 * name them; the layers beyond that, and the one before, only say what the others' edges are. */

/* A chunk's rows, for rows of 1 << width_log2 lanes: a workgroup counts at least 64. */
#define SURFACE_CHUNK_LOG2(width_log2) ((width_log2) < 2u ? 8u - (width_log2) : 6u)
/* The longest row of a workspace, so that a chunk's counts fit 32 bits. */
#define SURFACE_COLUMNS_MAX 1048576u

/* Words of a part's head in scratch, by use. */
#define SURFACE_HEAD_ACTIVE    0u  /* active words */
#define SURFACE_HEAD_MISSING   1u  /* not 0: cells with missing corners are marked */
#define SURFACE_HEAD_ROOM      2u  /* capacities of the outputs: vertices, triangles (u64) */
#define SURFACE_HEAD_GROUPS    8u  /* x, y, z of the emission's dispatch */
#define SURFACE_HEAD_LIMITS    12u /* limit, range (u64 each), keep, the isovalue's three words */
#define SURFACE_HEAD_PLACE     20u /* floats: origin, then the steps along x, y, z */
#define SURFACE_HEAD_NORMALS   32u /* floats: three rows */
#define SURFACE_HEAD_INDEX_ISO 44u /* float: what the index compares with */
#define SURFACE_HEAD_SLAB      45u
#define SURFACE_HEAD_BASE      48u /* vertices, triangles, cells before the part or slab (u64 each) */
#define SURFACE_HEAD_WORDS     64u
/* After the head: the case table, four words a case (surface_table.comp). */
#define SURFACE_TABLE_WORDS 1024u
/* In the list of active words: none. */
#define SURFACE_NO_WORD 0xffffffffu
/* Words that begin as zero: active words, whether a sample is NaN, and so on to the marking's
 * dispatch. */
#define SURFACE_STATE_ACTIVE 0u
#define SURFACE_STATE_NAN    1u
#define SURFACE_STATE_BEYOND 2u /* vertices counted after the slab's own */
#define SURFACE_STATE_GROUPS 4u
#define SURFACE_STATE_WORDS  8u
/* Words of a part's totals: vertices and triangles up to its end, its active cells (u64 each). */
#define SURFACE_TOTAL_WORDS 8u

/* How surface_bits reads: any volume; 32-bit samples whose bits lie like the samples, in whole words;
 * 8- and 16-bit samples likewise, 16 bytes a lane. */
#define SURFACE_READ_ANY    0
#define SURFACE_READ_WORDS  1
#define SURFACE_READ_NARROW 2
/* Options of the shaders. */
#define SURFACE_PAD         1u
#define SURFACE_MASK        2u
#define SURFACE_NAN         4u /* samples may be NaN */
#define SURFACE_INDEXED     8u /* the brick index is given */
#define SURFACE_LABEL       16u
#define SURFACE_FLIP        32u
#define SURFACE_WIDE        64u /* 64-bit indices */
#define SURFACE_ATTRIBUTE   128u
#define SURFACE_HELD_LIMITS 256u /* limits and isovalue are in the head */

/* tml_normals, as surface.h counts them: vulkan_surface.c asserts it. */
#define SURFACE_NORMALS_NONE    0u
#define SURFACE_NORMALS_FORWARD 1u
#define SURFACE_NORMALS_SOBEL   3u

/* A workspace's slab in one word: its layers before and after its own (at most 1 and 2), and whether
 * it begins and ends with a layer of the cap's pad. Of a whole part: the pads alone. */
#define SURFACE_SLAB(before, after, pad_low, pad_high)                                             \
    ((before) | (after) << 2 | (pad_low) << 4 | (pad_high) << 5)
#define SURFACE_SLAB_BEFORE(slab)   ((slab)&3u)
#define SURFACE_SLAB_AFTER(slab)    ((slab) >> 2 & 3u)
#define SURFACE_SLAB_PAD_LOW(slab)  ((slab) >> 4 & 1u)
#define SURFACE_SLAB_PAD_HIGH(slab) ((slab) >> 5 & 1u)

/* surface_bits.comp: sign bits. volume and mask: at the box's first sample. A sample is inside when
 * its key (an unsigned number in the samples' order) is at most range above limit, and keep is not
 * 0. nan_words: a bit for each word of bits whose word of present says more than "all". index: at the
 * brick of the box's first sample, which lies at row index_place & 3 and slice index_place >> 2 of
 * it. */
ARGS_BEGIN(surface_bits_args)
ARG_ADDRESS(volume)
ARG_ADDRESS(mask)
ARG_ADDRESS(bits)
ARG_ADDRESS(nan_words) /* optional */
ARG_ADDRESS(present)   /* optional */
ARG_ADDRESS(states)
ARG_ADDRESS(clear)
ARG_ADDRESS(index) /* optional */
ARG_ADDRESS(head)
ARG_UINT(clear_count)
ARG_UINT(dim_x)
ARG_UINT(dim_y)
ARG_UINT(size_x)
ARG_UINT(size_y)
ARG_UINT(size_z)
ARG_UINT(limit_low)
ARG_UINT(limit_high)
ARG_UINT(range_low)
ARG_UINT(range_high)
ARG_UINT(keep)
ARG_UINT(index_place)
ARG_UINT(iso_bits) /* of a float, for the index */
ARG_UINT(slab)
ARGS_END(surface_bits_args)

/* surface_cells.comp: which cells have all their corners. */
ARGS_BEGIN(surface_cells_args)
ARG_ADDRESS(nan_words)
ARG_ADDRESS(present)
ARG_ADDRESS(cells)
ARG_UINT(size_x)
ARG_UINT(size_y)
ARG_UINT(size_z)
ARGS_END(surface_cells_args)

/* surface_table.comp: the case table, behind the head. */
ARGS_BEGIN(surface_table_args)
ARG_ADDRESS(head)
ARGS_END(surface_table_args)

/* surface_count.comp and surface_count_wide.comp: the parts of scratch lie at head + 256 * their number.
 * rows, uvec4 each: vertices of its chunk before its first along x, along y and along z; triangles of its
 * chunk before it. Only of rows that have something; likewise of words.
 * words (before_at), ten bits each: edges along x, y, z of the row, or of the segment, before it.
 * segments, uvec4 each, of rows of several: edges along x, y, z of the row before it. chunks, uvec4
 * each: vertices, triangles, active cells. list, uvec2 each: the number of an active word, or
 * SURFACE_NO_WORD, and the triangles of its row before it, with its own in the highest eight bits. */
ARGS_BEGIN(surface_count_args)
ARG_ADDRESS(bits)
ARG_ADDRESS(cells) /* optional */
ARG_ADDRESS(states)
ARG_ADDRESS(base) /* optional: totals of the part or slab before; may be this one's */
ARG_ADDRESS(head)
ARG_UINT(rows_at)
ARG_UINT(before_at)
ARG_UINT(segments_at)
ARG_UINT(chunks_at)
ARG_UINT(list_at)
ARG_UINT(size_x)
ARG_UINT(size_y)
ARG_UINT(size_z)
ARG_UINT(slab)
ARG_FLOAT(place0)
ARG_FLOAT(place1)
ARG_FLOAT(place2)
ARG_FLOAT(place3)
ARG_FLOAT(place4)
ARG_FLOAT(place5)
ARG_FLOAT(place6)
ARG_FLOAT(place7)
ARG_FLOAT(place8)
ARG_FLOAT(place9)
ARG_FLOAT(place10)
ARG_FLOAT(place11)
ARGS_END(surface_count_args)

/* surface_scan.comp: of each chunk the vertices and triangles before it (u64 each), after those before the
 * part; the part's totals; draw arguments and the caller's counts. A workgroup has a stretch of chunks. */
ARGS_BEGIN(surface_scan_args)
ARG_ADDRESS(chunks)
ARG_ADDRESS(places)
ARG_ADDRESS(head)
ARG_ADDRESS(states)
ARG_ADDRESS(total)
ARG_ADDRESS(draw)   /* optional: VkDrawIndexedIndirectCommand */
ARG_ADDRESS(counts) /* optional: u32 or u64 x 2 */
ARG_UINT(chunk_count)
ARG_UINT(stretch)
ARG_UINT(wide_counts)
ARG_UINT(vertex_room_low)
ARG_UINT(vertex_room_high)
ARG_UINT(triangle_room_low)
ARG_UINT(triangle_room_high)
ARG_FLOAT(normal0)
ARG_FLOAT(normal1)
ARG_FLOAT(normal2)
ARG_FLOAT(normal3)
ARG_FLOAT(normal4)
ARG_FLOAT(normal5)
ARG_FLOAT(normal6)
ARG_FLOAT(normal7)
ARG_FLOAT(normal8)
ARG_UINT(is_masked) /* 1: samples are missing, whatever the states tell */
ARGS_END(surface_scan_args)

/* surface_vertices.comp: the parts of scratch lie at head + 256 * their number. iso: a float; for double
 * the double's two words; for 32- and 64-bit integers the key of its floor and the rest as a float;
 * for labels the label's key. volume and attributes: at the whole volume's first sample, or where
 * that would lie. first: where the workspace's samples begin in the volume. */
ARGS_BEGIN(surface_vertices_args)
ARG_ADDRESS(volume)
ARG_ADDRESS(attributes)
ARG_ADDRESS(positions)
ARG_ADDRESS(normals) /* optional */
ARG_ADDRESS(values)  /* optional */
ARG_ADDRESS(head)
ARG_UINT(bits_at)
ARG_UINT(cells_at)
ARG_UINT(rows_at)
ARG_UINT(before_at)
ARG_UINT(segments_at)
ARG_UINT(chunks_at)
ARG_UINT(list_at)
ARG_UINT(size_x)
ARG_UINT(size_y)
ARG_UINT(size_z)
ARG_UINT(dim_x)
ARG_UINT(dim_y)
ARG_UINT(dim_z)
ARG_UINT(first_x)
ARG_UINT(first_y)
ARG_UINT(first_z)
ARG_UINT(iso0)
ARG_UINT(iso1)
ARG_UINT(iso2)
ARGS_END(surface_vertices_args)

/* surface_triangles.comp: likewise. */
ARGS_BEGIN(surface_triangles_args)
ARG_ADDRESS(indices)
ARG_ADDRESS(head)
ARG_UINT(bits_at)
ARG_UINT(cells_at)
ARG_UINT(rows_at)
ARG_UINT(before_at)
ARG_UINT(segments_at)
ARG_UINT(chunks_at)
ARG_UINT(list_at)
ARG_UINT(size_x)
ARG_UINT(size_y)
ARG_UINT(size_z)
ARGS_END(surface_triangles_args)

/* surface_index.comp: least and largest sample of each brick of 64 x 4 x 4, as floats rounded
 * outwards. */
ARGS_BEGIN(surface_index_args)
ARG_ADDRESS(volume)
ARG_ADDRESS(bricks)
ARG_UINT(dim_x)
ARG_UINT(dim_y)
ARG_UINT(dim_z)
ARGS_END(surface_index_args)

/* surface_iso.comp: limits and isovalue of the head from a float. */
ARGS_BEGIN(surface_iso_args)
ARG_ADDRESS(iso)
ARG_ADDRESS(head)
ARGS_END(surface_iso_args)
