/* Argument structs of the Vulkan engine's surface shaders, and the constants that it shares with
 * them.
 *
 * A workspace is the box of samples of one part, with a layer of outside samples around it when the
 * surface is capped. Its rows are numbered y + size_y * z. A row's sign bits are words of 32
 * columns. A workgroup counts a chunk of 1 << SURFACE_CHUNK_LOG2 rows. Where a row has more words
 * than lanes, a subgroup counts it segment by segment. Active words, which have a crossed edge or
 * an active cell, are listed. When they are emitted, each lane of a subgroup has one.
 *
 * A volume that goes through in slabs has workspaces of some layers of the part's box. The rows of
 * own layers are emitted. The vertices of the layer above them are counted too, because triangles
 * name them. The other halo layers only complete edges and cells. */

/* Log2 of the rows of a chunk, which are at least 64. A row has 1 << width_log2 lanes. */
#define SURFACE_CHUNK_LOG2(width_log2) ((width_log2) < 2u ? 8u - (width_log2) : 6u)
/* The longest row of a workspace, so that a chunk's counts fit 32 bits. */
#define SURFACE_COLUMNS_MAX 1048576u

/* Words of a part's head in scratch, by use. */
#define SURFACE_HEAD_ACTIVE    0u  /* active words */
#define SURFACE_HEAD_MISSING   1u  /* not 0: cells with missing corners are marked */
#define SURFACE_HEAD_ROOM      2u  /* capacities of the outputs: vertices, triangles (u64) */
#define SURFACE_HEAD_GROUPS    8u  /* workgroups in x, y, z of the emitting dispatches */
#define SURFACE_HEAD_LIMITS    12u /* limit, range (u64 each), keep, the isovalue's three words */
#define SURFACE_HEAD_PLACE     20u /* floats: origin, then the steps along x, y, z */
#define SURFACE_HEAD_NORMALS   32u /* floats: rows of surface_normal */
#define SURFACE_HEAD_INDEX_ISO 44u /* float: isovalue for the brick index */
#define SURFACE_HEAD_SLAB      45u
#define SURFACE_HEAD_OPEN      46u /* words with open cells */
#define SURFACE_HEAD_BASE      48u /* vertices, triangles, cells before the part or slab (u64) */
#define SURFACE_HEAD_EXACT_ISO                                                                     \
    54u /* magnitude (u64), exponent of its lowest bit (int), 1 if negative */
#define SURFACE_HEAD_WORDS 64u
/* After the head: the case table, four words a case (surface_table.comp). */
#define SURFACE_TABLE_WORDS 1024u
/* In the list of active words: an entry that only fills up a subgroup. */
#define SURFACE_NO_WORD 0xffffffffu
/* Words of state, which begin as 0. */
#define SURFACE_STATE_ACTIVE    0u /* entries of the list of active words */
#define SURFACE_STATE_NAN       1u /* 1: a sample is NaN */
#define SURFACE_STATE_BEYOND    2u /* vertices of the counted halo layer */
#define SURFACE_STATE_UNDECIDED 3u /* 1: an open cell's numbers were too long */
#define SURFACE_STATE_GROUPS    4u /* workgroups in x, y, z of surface_cells */
#define SURFACE_STATE_OPEN      7u /* words with open cells */
#define SURFACE_STATE_EXACT     8u /* words with open cells that floats do not decide */
#define SURFACE_STATE_WORDS     9u
/* Words of a part's totals: vertices and triangles up to its end, its active cells (u64 each);
 * STATE_UNDECIDED. */
#define SURFACE_TOTAL_WORDS 8u

/* How surface_bits reads: any volume; volumes of 32-bit samples where bit i of all words is sample
 * i; the same for 8- and 16-bit samples, 16 bytes a load. */
#define SURFACE_READ_ANY    0
#define SURFACE_READ_WORDS  1
#define SURFACE_READ_NARROW 2
/* Triangles of a word in an entry of the list of active words begin at this bit; with open cells,
 * which have more, at the other: so then a row has less columns. */
#define SURFACE_LISTED_BITS      24u
#define SURFACE_OPEN_LISTED_BITS 22u
#define SURFACE_OPEN_COLUMNS_MAX 131072u
#define SURFACE_OPEN_TRIANGLES   5u /* bits that count those of a cell */

/* Words of the tables of open cells (surface_topology.h), by their first.
 *   a case    its first mesh, in 10 bits; its first choice, from bit 10 on; from bit 20 on its
 *             ambiguous faces; from bit 26 on its triangles with TML_TOPOLOGY_SEPARATED, or 0: not
 *             open
 *   a choice  its mesh, and the first of two with a tunnel of inside or of outside, or 0: 10 bits
 *             each
 *   a mesh    its first triangle, in 14 bits; their number, in 5; the edges around its only own
 *             vertex, in 12, or 0; 1: it has a tunnel's six
 *   corners   two triangles: 16 bits each, of which a corner takes five: surface_case_corner, or 16
 *             and more: own */
#define SURFACE_OPEN_CASES   0u
#define SURFACE_OPEN_CHOICES 256u
#define SURFACE_OPEN_MESHES  784u
#define SURFACE_OPEN_CORNERS 1792u
#define SURFACE_OPEN_WORDS   8368u

/* Bits of counts_form: u64; a soup's vertices, three a triangle. */
#define SURFACE_COUNTS_WIDE 1u
#define SURFACE_COUNTS_SOUP 2u
/* Triangles that a workgroup gathers at a time: one an invocation. */
#define SURFACE_SOUP_BLOCK 256u

/* A workspace's slab in one word: its halo layers below (at most 1) and above (at most 2), and
 * whether it begins and ends with a layer of pad. A whole part has no halo. */
#define SURFACE_SLAB(before, after, pad_low, pad_high)                                             \
    ((before) | (after) << 2 | (pad_low) << 4 | (pad_high) << 5)
#define SURFACE_SLAB_BEFORE(slab)   ((slab)&3u)
#define SURFACE_SLAB_AFTER(slab)    ((slab) >> 2 & 3u)
#define SURFACE_SLAB_PAD_LOW(slab)  ((slab) >> 4 & 1u)
#define SURFACE_SLAB_PAD_HIGH(slab) ((slab) >> 5 & 1u)

/* surface_bits.comp: sign bits. volume, mask: address of the box's first sample. A sample is inside
 * if its key (surface_keys.glsl) lies in [limit, limit + range] and keep is not 0. nan_words: bit i
 * is 1 where word i of bits has a missing sample; only then word i of present is written. index:
 * address of the brick of the box's first sample, which is at row index_place & 3 and layer
 * index_place >> 2 of that brick. */
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
ARG_UINT(iso_bits) /* bits of the float that the brick index is compared with */
ARG_UINT(slab)
ARGS_END(surface_bits_args)

/* surface_cells.comp: the cells whose eight corners are present. */
ARGS_BEGIN(surface_cells_args)
ARG_ADDRESS(nan_words)
ARG_ADDRESS(present)
ARG_ADDRESS(cells)
ARG_UINT(size_x)
ARG_UINT(size_y)
ARG_UINT(size_z)
ARGS_END(surface_cells_args)

/* surface_table.comp: the case table, after the head; in that the origin, the steps and the
 * isovalue. */
ARGS_BEGIN(surface_table_args)
ARG_ADDRESS(head)
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
ARG_UINT(iso0) /* SURFACE_HEAD_EXACT_ISO */
ARG_UINT(iso1)
ARG_UINT(iso2)
ARG_UINT(iso3)
ARGS_END(surface_table_args)

/* surface_open.comp: lists the words of bits that have open cells, of which some may lack a
 * corner. */
ARGS_BEGIN(surface_open_args)
ARG_ADDRESS(bits)
ARG_ADDRESS(states)
ARG_ADDRESS(list) /* uint a word */
ARG_UINT(size_x)
ARG_UINT(size_y)
ARG_UINT(size_z)
ARG_UINT(slab)
ARGS_END(surface_open_args)

/* surface_meshes.comp and surface_meshes_exact.comp: choose the meshes of their cells. undecided, a
 * word a word, and the exact list: of those that floats do not decide. iso_rest: what the isovalue
 * is more than the float. groups: of the dispatch. The rest as below. */
ARGS_BEGIN(surface_meshes_args)
ARG_ADDRESS(bits)
ARG_ADDRESS(cells) /* optional */
ARG_ADDRESS(states)
ARG_ADDRESS(list)
ARG_ADDRESS(exact_list)
ARG_ADDRESS(head)
ARG_ADDRESS(volume)
ARG_ADDRESS(tables)
ARG_FLOAT(iso)
ARG_FLOAT(iso_rest)
ARG_UINT(meshes_at)
ARG_UINT(undecided_at)
ARG_UINT(size_x)
ARG_UINT(size_y)
ARG_UINT(size_z)
ARG_UINT(slab)
ARG_UINT(dim_x)
ARG_UINT(dim_y)
ARG_UINT(first_x)
ARG_UINT(first_y)
ARG_UINT(first_z)
ARG_UINT(groups)
ARGS_END(surface_meshes_args)

/* surface_count.comp and surface_count_wide.comp. An argument ..._at is an offset from head in
 * units of 256 bytes. Counts before an item are exclusive prefixes.
 *   rows      uvec4 a row: number in the chunk of its first vertex along x, y and z; triangles of
 *             the chunk before it. surface_count writes those of active words only.
 *   before    a word: crossed edges along x, y, z before it in its row or segment, ten bits each
 *   segments  uvec4 a segment, where rows have several: crossed edges along x, y, z before it
 *   chunks    uvec4 a chunk: vertices, triangles, active cells
 *   list      uvec2 an entry: the number of an active word, or SURFACE_NO_WORD; triangles of its
 *             row before it, with its own triangles in the highest bits
 * With open cells, whose own vertices come after the others of their row:
 *   meshes    eight words a word: a byte a cell
 *   own       a word: own vertices before it in its row
 *   own_rows  a row: number in the chunk of its first own vertex */
ARGS_BEGIN(surface_count_args)
ARG_ADDRESS(bits)
ARG_ADDRESS(cells) /* optional */
ARG_ADDRESS(states)
ARG_ADDRESS(base) /* optional: totals of the part or slab before, maybe this part's own words */
ARG_ADDRESS(head)
ARG_ADDRESS(tables) /* SURFACE_OPEN_... */
ARG_UINT(rows_at)
ARG_UINT(before_at)
ARG_UINT(segments_at)
ARG_UINT(chunks_at)
ARG_UINT(list_at)
ARG_UINT(meshes_at)
ARG_UINT(own_at)
ARG_UINT(own_rows_at)
ARG_UINT(size_x)
ARG_UINT(size_y)
ARG_UINT(size_z)
ARG_UINT(slab)
ARGS_END(surface_count_args)

/* surface_scan.comp: each chunk's exclusive prefix of vertices and triangles (u64 each), on top of
 * the head's base; the part's totals; draw arguments and the caller's counts. A workgroup scans a
 * stretch of chunks. */
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
ARG_UINT(counts_form) /* SURFACE_COUNTS_... */
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
ARG_UINT(is_masked) /* 1: there is a mask, so samples may be missing */
ARGS_END(surface_scan_args)

/* surface_vertices.comp. Offsets as above; chunks are the places of surface_scan.comp. iso:
 * surface_limits.iso_words. volume, attributes: address of the whole volume's first sample, which
 * need not be in memory. first: index in the volume of the workspace's first sample. */
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

/* surface_triangles.comp. Offsets, dims and first as above. */
ARGS_BEGIN(surface_triangles_args)
ARG_ADDRESS(indices)
ARG_ADDRESS(triangle_cells) /* optional */
ARG_ADDRESS(head)
ARG_ADDRESS(tables)
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
ARG_UINT(first_x)
ARG_UINT(first_y)
ARG_UINT(first_z)
ARG_UINT(meshes_at)
ARG_UINT(own_at)
ARG_UINT(own_rows_at)
ARGS_END(surface_triangles_args)

/* surface_own.comp: open cells' own vertices. As above. */
ARGS_BEGIN(surface_own_args)
ARG_ADDRESS(volume)
ARG_ADDRESS(attributes)
ARG_ADDRESS(positions)
ARG_ADDRESS(normals) /* optional */
ARG_ADDRESS(values)  /* optional */
ARG_ADDRESS(head)
ARG_ADDRESS(tables)
ARG_ADDRESS(list) /* of surface_open.comp */
ARG_UINT(bits_at)
ARG_UINT(cells_at)
ARG_UINT(chunks_at)
ARG_UINT(meshes_at)
ARG_UINT(own_at)
ARG_UINT(own_rows_at)
ARG_UINT(size_x)
ARG_UINT(size_y)
ARG_UINT(size_z)
ARG_UINT(slab)
ARG_UINT(dim_x)
ARG_UINT(dim_y)
ARG_UINT(first_x)
ARG_UINT(first_y)
ARG_UINT(first_z)
ARG_UINT(groups)
ARGS_END(surface_own_args)

/* surface_soup.comp: the corners of triangles, gathered from a welded mesh with u32 indices. A
 * triangle with a corner that is not below vertex_room becomes three zeros. */
ARGS_BEGIN(surface_soup_args)
ARG_ADDRESS(indices)
ARG_ADDRESS(positions) /* or records, with normals and values */
ARG_ADDRESS(normals)   /* optional */
ARG_ADDRESS(values)    /* optional */
ARG_ADDRESS(to_positions)
ARG_ADDRESS(to_normals)
ARG_ADDRESS(to_values)
ARG_ADDRESS(total) /* optional: the part's totals, where triangles is an upper bound */
ARG_UINT(triangles_low)
ARG_UINT(triangles_high)
ARG_UINT(vertex_room)
ARG_UINT(groups) /* of the dispatch */
ARGS_END(surface_soup_args)

/* surface_index.comp: minimum and maximum of each brick's samples, as floats rounded outward. */
ARGS_BEGIN(surface_index_args)
ARG_ADDRESS(volume)
ARG_ADDRESS(bricks)
ARG_UINT(dim_x)
ARG_UINT(dim_y)
ARG_UINT(dim_z)
ARGS_END(surface_index_args)

/* surface_iso.comp: writes the head's limits and isovalue from a float. */
ARGS_BEGIN(surface_iso_args)
ARG_ADDRESS(iso)
ARG_ADDRESS(head)
ARGS_END(surface_iso_args)
