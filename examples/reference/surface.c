/* Surface: volumes to triangle meshes. */
#include "reference.h"

/* 3 x 3 x 3 samples of which the middle one is inside: its surface is an octahedron. */
static const float samples[27] = {[13] = 1};
static const tml_grid grid = {.dims = {3, 3, 3}};

/* The surface where samples are 0.5; the result's buffers are exactly sized. */
static void surface(tml_context *tml)
{
    const tml_surface_desc desc = {
        .volume = buffer_of(tml, TML_F32, 27, samples), .grid = grid, .iso = 0.5};
    tml_surface_result result;
    tml_vec3 vertex;
    MUST(tml_surface(tml, &desc, &result));
    CHECK(result.vertex_count == 6 && result.triangle_count == 8);
    MUST(tml_buffer_read_range(tml, result.mesh.positions, 0, 1, &vertex));
    CHECK(vertex.x == 1 && vertex.y == 1 && vertex.z == 0.5f);
    tml_surface_free(tml, &result);
}

/* One cell, of which two corners across it are inside: apart, or joined where its middle is inside,
 * too. */
static void topology(tml_context *tml)
{
    const tml_topology topologies[] = {TML_TOPOLOGY_SEPARATED, TML_TOPOLOGY_TRILINEAR};
    const float corners[8] = {1, 0.4f, 0.4f, 0.4f, 0.4f, 0.4f, 0.4f, 1};
    uint64_t triangles[2];
    for (int i = 0; i < 2; i++) {
        tml_surface_result result;
        MUST(tml_surface(tml,
                         &(tml_surface_desc){.volume = buffer_of(tml, TML_F32, 8, corners),
                                             .grid = {.dims = {2, 2, 2}},
                                             .iso = 0.5,
                                             .topology = topologies[i]},
                         &result));
        triangles[i] = result.triangle_count;
        tml_surface_free(tml, &result);
    }
    CHECK(triangles[0] == 2 && triangles[1] == 18);
}

/* Several surfaces of one volume: a part for each isovalue. */
static void isovalues(tml_context *tml)
{
    const double values[] = {0.25, 0.75};
    tml_surface_result result;
    MUST(tml_surface(tml,
                     &(tml_surface_desc){.volume = buffer_of(tml, TML_F32, 27, samples),
                                         .grid = grid,
                                         .isovalues = values,
                                         .isovalue_count = 2},
                     &result));
    const tml_mesh_part *inner = &result.parts[1];
    CHECK(result.part_count == 2 && inner->value == 0.75);
    CHECK(inner->vertex_first == 6 && inner->triangle_first == 8 && inner->triangle_count == 8);
    tml_surface_free(tml, &result);
}

/* A part for each label of a segmentation. */
static void labels(tml_context *tml)
{
    const uint8_t segments[27] = {[13] = 7};
    tml_surface_result result;
    MUST(tml_surface(tml,
                     &(tml_surface_desc){.volume = buffer_of(tml, TML_U8, 27, segments),
                                         .grid = grid,
                                         .all_labels = true},
                     &result));
    CHECK(result.part_count == 1 && result.parts[0].value == 7);
    tml_surface_free(tml, &result);
}

/* Half of the volume, closed by a wall where it ends, with normals, in millimetres. */
static void region_with_caps(tml_context *tml)
{
    const tml_grid scaled = {.dims = {3, 3, 3}, .spacing = {2, 2, 2}, .origin = {-2, -2, -2}};
    const tml_region upper_half = {.first = {0, 0, 1}};
    tml_surface_result result;
    tml_mesh_stats stats;
    MUST(tml_surface(tml,
                     &(tml_surface_desc){.volume = buffer_of(tml, TML_F32, 27, samples),
                                         .grid = scaled,
                                         .region = upper_half,
                                         .iso = 0.5,
                                         .normals = TML_NORMALS_CENTRAL,
                                         .caps = true},
                     &result));
    CHECK(!tml_buffer_is_none(result.mesh.normals));
    MUST(tml_mesh_examine(tml, &result.mesh, false, &stats));
    CHECK(stats.boundary_edges == 0 && stats.lower[2] == 0 && stats.upper[2] == 1);
    tml_surface_free(tml, &result);
}

/* A survey's coordinates have seven digits and more: positions become relative to an origin in
 * doubles. */
static void far_from_0(tml_context *tml)
{
    (void)tml;
    const tml_grid survey = {
        .dims = {3, 3, 3}, .spacing = {0.5, 0.5, 0.5}, .origin = {637000.25, 851000.5, 120}};
    tml_surface_desc desc = {.grid = survey};
    tml_grid_position_origin(&survey, desc.position_origin); /* positions are small numbers */
    CHECK(desc.position_origin[0] == 637000.25);
    tml_grid_position_origin(&grid, desc.position_origin); /* and here they need no origin */
    CHECK(desc.position_origin[0] == 0);
    const double lower[3] = {637000, 851000, 100}, upper[3] = {637010, 851010, 110};
    double origin[3];
    tml_box_position_origin(lower, upper, origin); /* the same of points or vertices within a box */
    CHECK(fabs(origin[0] - 637005) <= 5 && fabs(origin[1] - 851005) <= 5);
}

/* Where the time went. */
static void stages(tml_context *tml)
{
    const tml_buffer volume = buffer_of(tml, TML_F32, 27, samples);
    tml_surface_result result;
    double seconds = 0;
    MUST(
        tml_surface(tml, &(tml_surface_desc){.volume = volume, .grid = grid, .iso = 0.5}, &result));
    for (uint32_t i = 0; i < result.stage_count; i++) {
        const tml_surface_stage *stage = &result.stages[i];
        seconds += strcmp(stage->name, "triangles") ? stage->seconds : 0;
    }
    CHECK(result.stage_count > 0 && seconds >= 0 && result.scratch_size > 0);
    tml_surface_free(tml, &result);
}

/* Ranges of a volume's bricks, once; each isovalue then looks only where it is crossed. */
static void ranges(tml_context *tml)
{
    const tml_buffer volume = buffer_of(tml, TML_F32, 27, samples);
    tml_buffer index;
    tml_surface_result result;
    MUST(tml_surface_index(tml, &(tml_surface_desc){.volume = volume, .grid = grid}, &index));
    for (double iso = 0.25; iso < 1; iso += 0.25) {
        MUST(tml_surface(
            tml, &(tml_surface_desc){.volume = volume, .grid = grid, .index = index, .iso = iso},
            &result));
        CHECK(result.triangle_count == 8);
        tml_surface_free(tml, &result);
    }
    tml_buffer_destroy(tml, index);
}

/* How many triangles each of the 2 x 2 x 2 cells has. */
static void cells(tml_context *tml)
{
    const tml_buffer volume = buffer_of(tml, TML_F32, 27, samples);
    uint8_t triangles[8];
    MUST(tml_surface_cells(tml, &(tml_surface_desc){.volume = volume, .grid = grid, .iso = 0.5},
                           triangles));
    CHECK(triangles[0] == 1 && triangles[7] == 1);
}

/* A renderer's vertices: 16 bytes each, a position and a normal in 32 bits, and indices of 16
 * bits. */
static void layout(tml_context *tml)
{
    const tml_vertex_layout packed = {
        .stride = 16, .normal_offset = 12, .octahedral_normals = true, .indices16 = true};
    tml_surface_result result;
    uint16_t indices[3 * 8];
    tml_type type;
    MUST(tml_surface(tml,
                     &(tml_surface_desc){.volume = buffer_of(tml, TML_F32, 27, samples),
                                         .grid = grid,
                                         .iso = 0.5,
                                         .normals = TML_NORMALS_CENTRAL,
                                         .layout = packed},
                     &result));
    MUST(tml_buffer_read(tml, result.mesh.indices, indices));
    tml_buffer_describe(tml, result.mesh.positions, &type, NULL);
    CHECK(type == TML_RECORD(16) && indices[0] < 6);
    tml_surface_free(tml, &result);
}

/* A frame's surface: into buffers that are there, with a draw's arguments, and no count read
 * back. */
static void enqueue(tml_context *tml)
{
    const tml_surface_desc desc = {
        .volume = buffer_of(tml, TML_F32, 27, samples),
        .grid = grid,
        .iso = 0.5,
        .mesh = {.positions = buffer_of(tml, TML_VEC(TML_F32, 3), 100, NULL),
                 .indices = buffer_of(tml, TML_VEC(TML_U32, 3), 100, NULL)},
        .draw = buffer_of(tml, TML_U32, 5, NULL)};
    uint32_t arguments[5];
    MUST(tml_reserve(tml, SCRATCH_OF(tml, tml_surface_enqueue(tml, &desc)))); /* once */
    MUST(tml_surface_enqueue(tml, &desc));                                    /* each frame */
    MUST(tml_buffer_read(tml, desc.draw, arguments)); /* for this check alone */
    CHECK(arguments[0] == 3 * 8 && arguments[1] == 1);
}

/* ---- volumes larger than memory ------------------------------------------------------------ */

/* The middle of every other layer is inside: octahedra, one above another, that do not touch. */
static tml_status read_layers(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                              void *out)
{
    float *layers = out;
    (void)user;
    CHECK(source == TML_SURFACE_VOLUME); /* no mask or attribute was asked for */
    for (uint64_t i = 0; i < 9 * count; i++)
        layers[i] = i % 9 == 4 && (first + i / 9) % 2 ? 1.0f : 0.0f;
    return TML_OK;
}

static tml_status write_piece(void *user, const tml_surface_piece *piece)
{
    *(uint64_t *)user += piece->mesh.vertex_count; /* ... and its positions and indices */
    return TML_OK;
}

/* Layers go in and pieces of the mesh come out; neither is ever whole in memory. */
static void slabs(tml_context *tml)
{
    const tml_surface_desc desc = {.grid.dims = {3, 3, 5}, .iso = 0.5};
    uint64_t vertices = 0;
    tml_surface_result result;
    MUST(tml_surface_slabs(tml,
                           &(tml_surface_slabs_desc){.surface = &desc,
                                                     .type = TML_F32,
                                                     .read = read_layers,
                                                     .write = write_piece,
                                                     .user = &vertices,
                                                     .slab_layers = 2},
                           &result));
    CHECK(vertices == 12 && result.parts[0].vertex_count == 12);
    tml_surface_free(tml, &result);
}

/* Machines that share a volume count its components: what goes on above is joined, share by
 * share. */
static void components_of_shares(tml_context *tml)
{
    const tml_surface_desc desc = {.grid.dims = {3, 3, 5}, .iso = 0.5};
    uint64_t vertices = 0, components = 0, below[64], below_count = 0;
    for (uint64_t first = 0; first < 5; first += 3) {
        tml_surface_result share;
        MUST(tml_surface_slabs(tml,
                               &(tml_surface_slabs_desc){.surface = &desc,
                                                         .type = TML_F32,
                                                         .read = read_layers,
                                                         .write = write_piece,
                                                         .user = &vertices,
                                                         .layer_first = first,
                                                         .layer_count = first ? 0 : 3,
                                                         .components = true},
                               &share));
        tml_surface_seam *seam = &share.seams[0];
        components += share.components;
        MUST(tml_surface_join(tml, seam, below, below_count, &components));
        below_count = seam->above_count;
        memcpy(below, seam->sets + seam->below_count, below_count * sizeof *below);
        tml_surface_free(tml, &share);
    }
    CHECK(components == 2);
}

int main(void)
{
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){surface, topology, isovalues, labels, region_with_caps,
                                           far_from_0, stages, ranges, cells, layout, enqueue,
                                           slabs, components_of_shares, NULL});
}
