/* Argument structs of the Vulkan engine's surface shaders, and the constants shared with them.
 *
 * A workspace is the box of samples of one part; with caps, a layer of outside samples surrounds
 * it. Its rows have the numbers y + size_y * z. A row's sign bits are words of 32 columns. A
 * workgroup counts a chunk of 1 << SURFACE_CHUNK_LOG2 rows. If a row has more words than lanes, a
 * subgroup counts it segment by segment. Active words, which have a crossed edge or an active cell,
 * are listed. To emit them, each lane of a subgroup gets one.
 *
 * If a volume is processed in slabs, a workspace has some layers of the part's box. The rows of own
 * layers are emitted. The vertices of the layer above them are counted too, as triangles name them.
 * The other halo layers only complete edges and cells. */

/* Log2 of the rows per chunk, which are at least 64. A row has 1 << width_log2 lanes. */
#define SURFACE_CHUNK_LOG2(width_log2) ((width_log2) < 2u ? 8u - (width_log2) : 6u)
/* The longest row of a workspace. The counts of a chunk of such rows fit 32 bits. */
#define SURFACE_COLUMNS_MAX 1048576u

/* Words of a part's head in scratch. */
#define SURFACE_HEAD_ACTIVE    0u  /* active words */
#define SURFACE_HEAD_MISSING   1u  /* not 0: cells with missing corners are marked */
#define SURFACE_HEAD_ROOM      2u  /* capacities of the outputs: vertices, triangles (u64) */
#define SURFACE_HEAD_GROUPS    8u  /* workgroups in x, y, z of the emitting dispatches */
#define SURFACE_HEAD_LIMITS    12u /* limit, range (u64 each), keep, the isovalue's three words */
#define SURFACE_HEAD_PLACE     20u /* floats: origin, then the steps along x, y, z */
#define SURFACE_HEAD_NORMALS   32u /* floats: rows of surface_normal */
#define SURFACE_HEAD_INDEX_ISO 44u /* float: the isovalue for the brick index */
#define SURFACE_HEAD_SLAB      45u
#define SURFACE_HEAD_OPEN      46u /* words with open cells */
#define SURFACE_HEAD_BASE      48u /* vertices, triangles, cells before the part or slab (u64) */
#define SURFACE_HEAD_EXACT_ISO                                                                     \
    54u /* magnitude (u64), exponent of its lowest bit (int), 1 if negative */
#define SURFACE_HEAD_WORDS 64u
/* After the head: the case table, with four words per case (surface_table.comp). */
#define SURFACE_TABLE_WORDS 1024u
/* An entry of the list of active words that only pads a subgroup. */
#define SURFACE_NO_WORD 0xffffffffu
/* Words of state, which are 0 at first. */
#define SURFACE_STATE_ACTIVE    0u /* entries in the list of active words */
#define SURFACE_STATE_NAN       1u /* 1: a sample is NaN */
#define SURFACE_STATE_BEYOND    2u /* vertices of the counted halo layer */
#define SURFACE_STATE_UNDECIDED 3u /* 1: an open cell's numbers are too long */
#define SURFACE_STATE_GROUPS    4u /* workgroups in x, y, z of surface_cells */
#define SURFACE_STATE_OPEN      7u /* words with open cells */
#define SURFACE_STATE_EXACT     8u /* words with open cells that floats cannot decide */
#define SURFACE_STATE_WORDS     9u
/* Words of a part's totals: vertices and triangles up to the part's end, its active cells (u64
 * each); STATE_UNDECIDED. */
#define SURFACE_TOTAL_WORDS 8u

/* The forms of surface_bits. ANY: any volume. WORDS: 32-bit samples, bit i of all words being
 * sample i. NARROW: the same for 8- and 16-bit samples, with 16 bytes per load. */
#define SURFACE_READ_ANY    0
#define SURFACE_READ_WORDS  1
#define SURFACE_READ_NARROW 2
/* An entry of the list of active words has its word's triangles from this bit on. With open cells,
 * which have more triangles, it is the second bit, so rows have fewer columns then. */
#define SURFACE_LISTED_BITS      24u
#define SURFACE_OPEN_LISTED_BITS 22u
#define SURFACE_OPEN_COLUMNS_MAX 131072u
#define SURFACE_OPEN_TRIANGLES   5u /* bits of a cell's triangle count */

/* Words of the tables of open cells (surface_topology.h); each constant is a table's first word.
 *   CASES    a case: its first mesh, in 10 bits; its first choice, from bit 10 on; its ambiguous
 *            faces, from bit 20 on; its triangles with TML_TOPOLOGY_SEPARATED, from bit 26 on, or
 *            0: not open
 *   CHOICES  a choice, in 10 bits each: its mesh; the first of two meshes with a tunnel of the
 *            inside, and of the outside, or 0
 *   MESHES   a mesh: its first triangle, in 14 bits; its triangle count, in 5; the edges around its
 *            only own vertex, in 12, or 0; 1 if it has the six vertices of a tunnel
 *   CORNERS  two triangles, in 16 bits each; a corner has five: surface_case_corner, or 16 and more
 *            for an own vertex */
#define SURFACE_OPEN_CASES   0u
#define SURFACE_OPEN_CHOICES 256u
#define SURFACE_OPEN_MESHES  784u
#define SURFACE_OPEN_CORNERS 1792u
#define SURFACE_OPEN_WORDS   8368u

/* Bits of counts_form. WIDE: u64. SOUP: three vertices per triangle. */
#define SURFACE_COUNTS_WIDE 1u
#define SURFACE_COUNTS_SOUP 2u
/* Triangles that a workgroup gathers at a time, one per invocation. */
#define SURFACE_SOUP_BLOCK 256u

/* A workspace's slab in one word: its halo layers below (at most 1) and above (at most 2), and
 * whether it begins and ends with a layer of pad. A whole part has no halo. */
#define SURFACE_SLAB(before, after, pad_low, pad_high)                                             \
    ((before) | (after) << 2 | (pad_low) << 4 | (pad_high) << 5)
#define SURFACE_SLAB_BEFORE(slab)   ((slab)&3u)
#define SURFACE_SLAB_AFTER(slab)    ((slab) >> 2 & 3u)
#define SURFACE_SLAB_PAD_LOW(slab)  ((slab) >> 4 & 1u)
#define SURFACE_SLAB_PAD_HIGH(slab) ((slab) >> 5 & 1u)

/* surface_bits.comp: makes sign bits. A sample is inside if its key (surface_keys.glsl) is in
 * [limit, limit + range] and keep is not 0.
 * volume, mask  address of the box's first sample
 * nan_words     bit i: word i of bits has a missing sample; only then word i of present is written
 * index         address of the brick of the box's first sample, which is at row index_place & 3 and
 *               layer index_place >> 2 of that brick */
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

/* surface_cells.comp: marks the cells whose eight corners are present. */
ARGS_BEGIN(surface_cells_args)
ARG_ADDRESS(nan_words)
ARG_ADDRESS(present)
ARG_ADDRESS(cells)
ARG_UINT(size_x)
ARG_UINT(size_y)
ARG_UINT(size_z)
ARGS_END(surface_cells_args)

/* surface_table.comp: makes the case table, which is after the head, and writes the origin, the
 * steps and the isovalue to the head. */
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

/* surface_open.comp: lists the words of bits with open cells, some of which may lack a corner. */
ARGS_BEGIN(surface_open_args)
ARG_ADDRESS(bits)
ARG_ADDRESS(states)
ARG_ADDRESS(list) /* one uint per word */
ARG_UINT(size_x)
ARG_UINT(size_y)
ARG_UINT(size_z)
ARG_UINT(slab)
ARGS_END(surface_open_args)

/* surface_meshes.comp and surface_meshes_exact.comp: choose the meshes of open cells. undecided,
 * one word per word of bits, and exact_list hold the cells that floats cannot decide. iso_rest: the
 * isovalue minus iso. groups: of the dispatch. Other arguments as below. */
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
 * units of 256 bytes. Counts before an item are exclusive prefix sums.
 *   rows      uvec4 per row: the number in the chunk of its first vertex along x, y and z; the
 *             chunk's triangles before it. surface_count writes only rows with active words
 *   before    per word: crossed edges along x, y, z before it in its row or segment, ten bits each
 *   segments  uvec4 per segment, if rows have several: crossed edges along x, y, z before it
 *   chunks    uvec4 per chunk: vertices, triangles, active cells
 *   list      uvec2 per entry: the number of an active word, or SURFACE_NO_WORD; triangles of its
 *             row before it, with its own triangles in the highest bits
 * With open cells, whose own vertices follow the other vertices of their row:
 *   meshes    eight words per word: a byte per cell
 *   own       per word: own vertices before it in its row
 *   own_rows  per row: the number in the chunk of its first own vertex */
ARGS_BEGIN(surface_count_args)
ARG_ADDRESS(bits)
ARG_ADDRESS(cells) /* optional */
ARG_ADDRESS(states)
ARG_ADDRESS(base) /* optional: totals of the part or slab before; may be this part's own totals */
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

/* surface_scan.comp: computes each chunk's exclusive prefix sums of vertices and triangles (u64
 * each), on top of the head's base; the part's totals; draw arguments and the caller's counts. A
 * workgroup scans a stretch of chunks. */
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
ARG_UINT(is_masked) /* 1: samples may be missing because of a mask */
ARGS_END(surface_scan_args)

/* surface_vertices.comp. Offsets as above; chunks are the places of surface_scan.comp.
 * iso                 surface_limits.iso_words
 * volume, attributes  address of the whole volume's first sample, which need not be in memory
 * first               index in the volume of the workspace's first sample */
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

/* surface_own.comp: writes the own vertices of open cells. Arguments as above. */
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

/* surface_soup.comp: gathers the corners of triangles from a welded mesh with u32 indices. A
 * triangle with a corner >= vertex_room becomes three zeros. */
ARGS_BEGIN(surface_soup_args)
ARG_ADDRESS(indices)
ARG_ADDRESS(positions) /* or records, which include normals and values */
ARG_ADDRESS(normals)   /* optional */
ARG_ADDRESS(values)    /* optional */
ARG_ADDRESS(to_positions)
ARG_ADDRESS(to_normals)
ARG_ADDRESS(to_values)
ARG_ADDRESS(total) /* optional: the part's totals, if triangles is an upper bound */
ARG_UINT(triangles_low)
ARG_UINT(triangles_high)
ARG_UINT(vertex_room)
ARG_UINT(groups) /* of the dispatch */
ARGS_END(surface_soup_args)

/* surface_index.comp: the smallest and largest sample of each brick, as floats rounded outward. */
ARGS_BEGIN(surface_index_args)
ARG_ADDRESS(volume)
ARG_ADDRESS(bricks)
ARG_UINT(dim_x)
ARG_UINT(dim_y)
ARG_UINT(dim_z)
ARGS_END(surface_index_args)

/* surface_iso.comp: writes the limits and the isovalue in the head from a float. */
ARGS_BEGIN(surface_iso_args)
ARG_ADDRESS(iso)
ARG_ADDRESS(head)
ARGS_END(surface_iso_args)
