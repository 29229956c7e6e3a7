/* Cleans a mesh: zero-area triangles go, and of each part all components but the largest.
 *
 * Both are stream compactions: a pass flags the triangles to keep, and tml_compact moves them; a
 * flag for each vertex in use, scanned, is the vertex's new number. What is special here is which
 * triangles to flag. */
#include "surface/mesh_internal.h"

#include <string.h>

#include "core/core_internal.h"

/* Triangles between two looks at the cancel flag, and in one parallel task. */
enum { BLOCK = 1 << 16 };

typedef struct filter {
    tml_context *tml;
    mesh_arrays *mesh;
    uint8_t *kept; /* one a triangle: 1 stays, 0 goes */
} filter;

static tml_status out_of_memory(tml_context *tml, uint64_t size)
{
    return tml_error(tml, TML_OUT_OF_MEMORY,
                     "tml_surface: no memory for %llu bytes to filter the mesh; leave out "
                     "largest_component and drop_degenerate, or surface a region at a time",
                     (unsigned long long)size);
}

static tml_status stop_if_cancelled(tml_context *tml, uint64_t triangle)
{
    if (triangle % BLOCK || !tml_is_cancelled(tml))
        return TML_OK;
    return tml_error(tml, TML_CANCELLED, "tml_surface: cancelled while filtering the mesh");
}

static void set_index(const mesh_arrays *mesh, uint64_t i, uint64_t vertex)
{
    if (mesh->indices64)
        ((uint64_t *)mesh->indices)[i] = vertex;
    else
        ((uint32_t *)mesh->indices)[i] = (uint32_t)vertex;
}

static uint64_t corner_vertex(const mesh_arrays *mesh, uint64_t corner)
{
    return mesh->indices ? mesh_index(mesh->indices, mesh->indices64, corner) : corner;
}

/* A coordinate's bits, alike for 0.0 and -0.0; unlike values, these make a NaN equal itself. */
static uint32_t coordinate_bits(float x)
{
    uint32_t bits;
    x += 0.0f; /* -0.0 becomes 0.0 */
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static bool same_position(const mesh_arrays *mesh, uint64_t a, uint64_t b)
{
    for (int k = 0; k < 3; k++)
        if (coordinate_bits(mesh->positions[3 * a + k]) !=
            coordinate_bits(mesh->positions[3 * b + k]))
            return false;
    return true;
}

/* ---- degenerate triangles ------------------------------------------------------------------- */

static bool is_degenerate(const mesh_arrays *mesh, uint64_t triangle)
{
    uint64_t v[3];
    for (uint64_t k = 0; k < 3; k++)
        v[k] = corner_vertex(mesh, 3 * triangle + k);
    return same_position(mesh, v[0], v[1]) || same_position(mesh, v[1], v[2]) ||
           same_position(mesh, v[2], v[0]);
}

static void flag_degenerate_block(void *argument, uint32_t block)
{
    const filter *f = argument;
    uint64_t first = (uint64_t)block * BLOCK;
    uint64_t end = TML_MIN_OF(first + BLOCK, f->mesh->triangle_count);
    for (uint64_t t = first; t < end; t++)
        f->kept[t] = !is_degenerate(f->mesh, t);
}

/* Makes one vertex of the equal corners of every triangle that goes, in all triangles. */
static tml_status merge_corners(const filter *f)
{
    const mesh_arrays *mesh = f->mesh;
    uint64_t size = mesh->vertex_count * sizeof(uint64_t);
    uint64_t *forest = tml_alloc(f->tml, size);
    if (!forest)
        return out_of_memory(f->tml, size);
    forest_init(forest, mesh->vertex_count);
    for (uint64_t t = 0; t < mesh->triangle_count; t++) {
        for (uint64_t k = 0; k < 3 && !f->kept[t]; k++) {
            uint64_t a = corner_vertex(mesh, 3 * t + k);
            uint64_t b = corner_vertex(mesh, 3 * t + (k + 1) % 3);
            if (same_position(mesh, a, b))
                forest_unite(forest, a, b);
        }
    }
    for (uint64_t i = 0; i < 3 * mesh->triangle_count; i++)
        set_index(mesh, i, forest_root(forest, corner_vertex(mesh, i)));
    tml_free(f->tml, forest, size);
    return TML_OK;
}

static tml_status drop_degenerate_triangles(const filter *f)
{
    uint64_t blocks = (f->mesh->triangle_count + BLOCK - 1) / BLOCK;
    tml_parallel_for(f->tml, (uint32_t)blocks, flag_degenerate_block, (void *)f);
    bool any = memchr(f->kept, 0, f->mesh->triangle_count) != NULL;
    return any && f->mesh->indices ? merge_corners(f) : TML_OK;
}

/* ---- components ----------------------------------------------------------------------------- */

/* Corners of one part of a soup by position: open addressing with linear probing. */
typedef struct corner_table {
    uint64_t *slots;
    uint64_t capacity; /* a power of two */
} corner_table;

#define NO_CORNER UINT64_MAX

/* Room for three corners a triangle, all different, at a load of three quarters; usually six
 * triangles meet in a corner, and an eighth of the slots is used. */
static uint64_t table_capacity(uint64_t triangle_count)
{
    uint64_t capacity = 16;
    while (capacity < 4 * triangle_count)
        capacity *= 2;
    return capacity;
}

/* The first corner with the same position, which is this one if it is new. */
static uint64_t table_find_or_add(const corner_table *table, const mesh_arrays *mesh,
                                  uint64_t corner)
{
    uint64_t hash = 0;
    for (uint64_t k = 0; k < 3; k++) {
        hash ^= coordinate_bits(mesh->positions[3 * corner + k]);
        hash *= 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio. Knuth: Sorting and Searching, 6.4 */
        hash ^= hash >> 32;
    }
    uint64_t mask = table->capacity - 1, slot = hash & mask;
    while (table->slots[slot] != NO_CORNER && !same_position(mesh, table->slots[slot], corner))
        slot = (slot + 1) & mask;
    if (table->slots[slot] == NO_CORNER)
        table->slots[slot] = corner;
    return table->slots[slot];
}

/* The member of the forest that stands for a triangle: its first vertex, or in a soup itself. */
static uint64_t forest_member(const mesh_arrays *mesh, uint64_t triangle)
{
    return mesh->indices ? corner_vertex(mesh, 3 * triangle) : triangle;
}

static tml_status unite_part(const filter *f, const tml_surface_part *part, uint64_t *forest,
                             corner_table *table)
{
    const mesh_arrays *mesh = f->mesh;
    if (table->slots) {
        table->capacity = table_capacity(part->triangle_count);
        memset(table->slots, 0xff, table->capacity * sizeof *table->slots); /* NO_CORNER */
    }
    for (uint64_t t = part->triangle_first; t < part->triangle_first + part->triangle_count; t++) {
        tml_status status = stop_if_cancelled(f->tml, t);
        if (status != TML_OK)
            return status;
        if (!f->kept[t])
            continue;
        uint64_t member = forest_member(mesh, t);
        for (uint64_t k = 0; k < 3; k++)
            forest_unite(forest, member,
                         mesh->indices ? corner_vertex(mesh, 3 * t + k)
                                       : table_find_or_add(table, mesh, 3 * t + k) / 3);
    }
    return TML_OK;
}

/* Flags all triangles of a part but those of its largest component. sizes: all zero, as long as the
 * forest. */
static void keep_largest(const filter *f, const tml_surface_part *part, uint64_t *forest,
                         uint64_t *sizes)
{
    uint64_t first = part->triangle_first, end = first + part->triangle_count;
    for (uint64_t t = first; t < end; t++)
        if (f->kept[t])
            sizes[forest_root(forest, forest_member(f->mesh, t))]++;
    uint64_t largest = 0, size = 0;
    for (uint64_t t = first; t < end; t++) {
        uint64_t root = forest_root(forest, forest_member(f->mesh, t));
        if (f->kept[t] && sizes[root] > size) {
            largest = root;
            size = sizes[root];
        }
    }
    for (uint64_t t = first; t < end; t++)
        f->kept[t] &= forest_root(forest, forest_member(f->mesh, t)) == largest;
}

static tml_status keep_largest_components(const filter *f)
{
    const mesh_arrays *mesh = f->mesh;
    uint64_t members = mesh->indices ? mesh->vertex_count : mesh->triangle_count;
    uint64_t slots = 0;
    for (uint32_t p = 0; p < mesh->part_count && !mesh->indices; p++)
        slots = TML_MAX_OF(slots, table_capacity(mesh->parts[p].triangle_count));
    uint64_t size = (2 * members + slots) * sizeof(uint64_t);
    uint64_t *forest = tml_alloc(f->tml, size), *sizes = forest + members;
    if (!forest)
        return out_of_memory(f->tml, size);
    corner_table table = {.slots = slots ? sizes + members : NULL};
    forest_init(forest, members);
    memset(sizes, 0, members * sizeof *sizes);
    tml_status status = TML_OK;
    for (uint32_t p = 0; p < mesh->part_count && status == TML_OK; p++) {
        status = unite_part(f, &mesh->parts[p], forest, &table);
        if (status == TML_OK)
            keep_largest(f, &mesh->parts[p], forest, sizes);
    }
    tml_free(f->tml, forest, size);
    return status;
}

/* ---- compaction ----------------------------------------------------------------------------- */

/* Makes a buffer of host memory for the stream operations. */
static tml_status lend(tml_context *tml, tml_type type, uint64_t count, void *memory,
                       tml_buffer *out)
{
    return tml_buffer_create(
        tml, &(tml_buffer_desc){.type = type, .count = count, .host = memory, .label = "mesh"},
        out);
}

typedef struct column {
    void *memory; /* NULL: there is none */
    tml_type type;
} column;

enum { COLUMNS = 3 };

/* Keeps the rows whose flag is set, in all columns, in place. */
static tml_status compact_columns(tml_context *tml, uint8_t *flags, uint64_t count,
                                  const column columns[COLUMNS])
{
    tml_compact_desc desc = {.length.count = count};
    tml_status status = lend(tml, TML_U8, count, flags, &desc.keep.flags);
    for (int c = 0, used = 0; c < COLUMNS && status == TML_OK; c++) {
        if (!columns[c].memory)
            continue;
        tml_payload *payload = &desc.payloads[used++];
        status = lend(tml, columns[c].type, count, columns[c].memory, &payload->in);
        payload->out = payload->in;
    }
    if (status == TML_OK)
        status = tml_compact(tml, &desc);
    for (int c = 0; c < COLUMNS; c++)
        tml_buffer_destroy(tml, desc.payloads[c].in);
    tml_buffer_destroy(tml, desc.keep.flags);
    return status;
}

/* The exclusive scan of flags: where each kept row goes. */
static tml_status scan_flags(tml_context *tml, uint8_t *flags, uint64_t count, uint64_t *out)
{
    tml_scan_desc desc = {.length.count = count};
    tml_status status = lend(tml, TML_U8, count, flags, &desc.in);
    if (status == TML_OK)
        status = lend(tml, TML_U64, count, out, &desc.out);
    if (status == TML_OK)
        status = tml_scan(tml, &desc);
    tml_buffer_destroy(tml, desc.out);
    tml_buffer_destroy(tml, desc.in);
    return status;
}

static uint64_t count_flags(const uint8_t *flags, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += flags[i];
    return sum;
}

/* Removes the triangles that are not kept from an array of rows a triangle, and from the parts. */
static tml_status compact_triangles(const filter *f, const column columns[COLUMNS])
{
    mesh_arrays *mesh = f->mesh;
    uint64_t before = mesh->triangle_count, kept = 0;
    for (uint32_t p = 0; p < mesh->part_count; p++) {
        tml_surface_part *part = &mesh->parts[p];
        uint64_t first = part->triangle_first;
        part->triangle_first = kept;
        part->triangle_count = count_flags(f->kept + first, part->triangle_count);
        kept += part->triangle_count;
    }
    mesh->triangle_count = kept;
    return compact_columns(f->tml, f->kept, before, columns);
}

/* Removes the vertices that no triangle uses. */
static tml_status compact_vertices(const filter *f)
{
    tml_context *tml = f->tml;
    mesh_arrays *mesh = f->mesh;
    uint64_t count = mesh->vertex_count, corners = 3 * mesh->triangle_count;
    uint64_t size = count * (sizeof(uint64_t) + sizeof(uint8_t));
    uint64_t *number = tml_alloc(tml, size);
    if (!number)
        return out_of_memory(tml, size);
    uint8_t *used = (uint8_t *)(number + count);
    memset(used, 0, count);
    for (uint64_t i = 0; i < corners; i++)
        used[corner_vertex(mesh, i)] = 1;
    tml_status status = scan_flags(tml, used, count, number);
    if (status == TML_OK) {
        for (uint64_t i = 0; i < corners; i++)
            set_index(mesh, i, number[corner_vertex(mesh, i)]);
        uint64_t kept = 0;
        for (uint32_t p = 0; p < mesh->part_count; p++) {
            tml_surface_part *part = &mesh->parts[p];
            uint64_t first = part->vertex_first;
            part->vertex_first = kept;
            part->vertex_count = count_flags(used + first, part->vertex_count);
            kept += part->vertex_count;
        }
        mesh->vertex_count = kept;
        status = compact_columns(tml, used, count,
                                 (column[COLUMNS]){{mesh->positions, TML_VEC(TML_F32, 3)},
                                                   {mesh->normals, TML_VEC(TML_F32, 3)},
                                                   {mesh->values, TML_F32}});
    }
    tml_free(tml, number, size);
    return status;
}

static tml_status compact_soup(const filter *f)
{
    mesh_arrays *mesh = f->mesh;
    enum { VECTORS = 3 * 3 * sizeof(float), SCALARS = 3 * sizeof(float) };
    tml_status status =
        compact_triangles(f, (column[COLUMNS]){{mesh->positions, TML_RECORD(VECTORS)},
                                               {mesh->normals, TML_RECORD(VECTORS)},
                                               {mesh->values, TML_RECORD(SCALARS)}});
    mesh->vertex_count = 3 * mesh->triangle_count;
    for (uint32_t p = 0; p < mesh->part_count; p++) {
        mesh->parts[p].vertex_first = 3 * mesh->parts[p].triangle_first;
        mesh->parts[p].vertex_count = 3 * mesh->parts[p].triangle_count;
    }
    return status;
}

static tml_status compact_indexed(const filter *f)
{
    tml_type type = TML_VEC(f->mesh->indices64 ? TML_U64 : TML_U32, 3);
    tml_status status = compact_triangles(f, (column[COLUMNS]){{f->mesh->indices, type}});
    return status == TML_OK ? compact_vertices(f) : status;
}

tml_status mesh_filter(tml_context *tml, mesh_arrays *mesh, bool largest_component,
                       bool drop_degenerate)
{
    uint64_t count = mesh->triangle_count;
    if (count == 0 || (!largest_component && !drop_degenerate))
        return TML_OK;
    filter f = {.tml = tml, .mesh = mesh, .kept = tml_alloc(tml, count)};
    if (!f.kept)
        return out_of_memory(tml, count);
    memset(f.kept, 1, count);
    tml_status status = drop_degenerate ? drop_degenerate_triangles(&f) : TML_OK;
    if (status == TML_OK && largest_component)
        status = keep_largest_components(&f);
    if (status == TML_OK && memchr(f.kept, 0, count))
        status = mesh->indices ? compact_indexed(&f) : compact_soup(&f);
    tml_free(tml, f.kept, count);
    return status;
}
