/* Field: points to a volume, or to a surface at once. */
#include "reference.h"

static const tml_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};

/* The surface of spheres about points; the field is never stored. */
static void surface_of_points(tml_context *tml)
{
    const tml_field_desc field = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), 4, points),
                                  .radius = 0.75,
                                  .kind = TML_FIELD_DISTANCE};
    tml_surface_result surface;
    tml_mesh_stats stats;
    MUST(tml_surface(tml, &(tml_surface_desc){.field = &field, .iso = 0}, &surface));
    MUST(tml_mesh_examine(tml, &surface.mesh, false, &stats));
    CHECK(stats.components == 1 && stats.boundary_edges == 0);
    tml_surface_free(tml, &surface);
}

/* What zeroes in a desc become (grid, radius), the field on that grid, and a good isovalue. */
static void prepare_and_evaluate(tml_context *tml)
{
    const tml_field_prepare_desc desc = {
        .field = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), 4, points),
                  .kernel = TML_FIELD_WENDLAND_C2,
                  .resolution = 16}};
    tml_field_prepared made;
    MUST(tml_field_prepare(tml, &desc, &made));
    const uint64_t *dims = made.field.grid.dims;
    const tml_buffer volume = buffer_of(tml, TML_F32, dims[0] * dims[1] * dims[2], NULL);
    MUST(tml_field(tml, &made.field, volume));
    CHECK(made.field.radius > 0 && dims[0] == 16 && made.iso == 0.5);
    tml_field_prepared_free(tml, &made);
}

/* What the points carry, at any places: here a temperature half-way between two points. */
static void attributes(tml_context *tml)
{
    float mean;
    const tml_field_desc field = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), 4, points),
                                  .radius = 1.5};
    const tml_buffer heat = buffer_of(tml, TML_F32, 4, (float[]){0, 40, 0, 40});
    const tml_buffer means = buffer_of(tml, TML_F32, 1, NULL);
    const tml_vec3 middle = {0.5f, 0, 0};
    MUST(tml_field_mean(
        tml, &(tml_field_mean_desc){.field = &field,
                                    .positions = buffer_of(tml, TML_VEC(TML_F32, 3), 1, &middle),
                                    .values = {heat}, /* up to TML_FIELD_MAX_ATTRIBUTES */
                                    .means = {means}}));
    MUST(tml_buffer_read(tml, means, &mean));
    CHECK(mean > 19.99f && mean < 20.01f);
}

/* Of smoothed particle hydrodynamics: each point's kernel over the sum of all at the point. A lone
 * one keeps its own. */
static void densities(tml_context *tml)
{
    const tml_vec3 centre = {0, 0, 0}, far = {9, 0, 0};
    const tml_field_prepare_desc desc = {
        .field = {.points =
                      buffer_of(tml, TML_VEC(TML_F32, 3), 3, (tml_vec3[]){centre, centre, far}),
                  .radius = 2,
                  .kernel = TML_FIELD_CUBIC_SPLINE,
                  .grid.dims = {10, 1, 1}},
        .densities = true};
    tml_field_prepared made;
    const tml_buffer volume = buffer_of(tml, TML_F32, 10, NULL);
    float samples[10];
    MUST(tml_field_prepare(tml, &desc, &made));
    MUST(tml_field(tml, &made.field, volume));
    MUST(tml_buffer_read(tml, volume, samples));
    tml_field_prepared_free(tml, &made);
    CHECK(samples[0] == 1 && samples[1] == 0.25f && samples[9] == 1);
}

/* Within a frame: as many points as a count on the device says, a given grid and radius, and
 * nothing comes back. */
static void in_a_frame(tml_context *tml)
{
    const tml_field_desc field = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), 4, points),
                                  .length.device = buffer_of(tml, TML_U32, 1, &(uint32_t){1}),
                                  .radius = 1,
                                  .grid = {.dims = {2, 2, 2}}};
    const tml_buffer volume = buffer_of(tml, TML_F32, 8, NULL);
    float samples[8];
    MUST(tml_reserve(tml, SCRATCH_OF(tml, tml_field_enqueue(tml, &field, volume)))); /* once */
    MUST(tml_field_enqueue(tml, &field, volume));                /* each frame */
    MUST(tml_buffer_read(tml, volume, samples));
    CHECK(samples[0] == 1 && samples[1] == 0);

    float heat = 0;
    const tml_field_mean_desc means = {
        .field = &field,
        .positions = field.points, /* a surface's vertices, of which so many count: */
        .length.device = field.length.device,
        .values = {buffer_of(tml, TML_F32, 4, (float[]){7, 40, 0, 40})},
        .means = {buffer_of(tml, TML_F32, 4, NULL)}};
    MUST(tml_reserve(tml, SCRATCH_OF(tml, tml_field_mean_enqueue(tml, &means)))); /* once */
    MUST(tml_field_mean_enqueue(tml, &means));                        /* each frame */
    MUST(tml_buffer_read_range(tml, means.means[0], 0, 1, &heat));
    CHECK(heat == 7);
}

/* Ellipsoids that follow the surface: those of a sheet of particles are a quarter as thick as they
 * are wide. */
static void shapes(tml_context *tml)
{
    enum { SIDE = 9, COUNT = SIDE * SIDE, MIDDLE = COUNT / 2 };
    tml_vec3 sheet[COUNT], diagonals[COUNT];
    for (int i = 0; i < COUNT; i++)
        sheet[i] = (tml_vec3){(float)(i % SIDE), (float)(i / SIDE), 0};
    const tml_field_prepare_desc desc = {
        .field = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), COUNT, sheet),
                  .kernel = TML_FIELD_CUBIC_SPLINE,
                  .radius = 2},
        .cell = 0.125, /* of the radius */
        .densities = true,
        .shapes = true};
    tml_field_prepared made;
    tml_surface_result surface;
    MUST(tml_field_prepare(tml, &desc, &made));
    CHECK(made.iso == 0.6 && made.balls.radius == 2 && made.field.grid.spacing[0] == 0.25);
    CHECK(made.field.radius == 2 * TML_FIELD_SHAPES_REACH);
    MUST(tml_buffer_read(tml, made.field.shapes[0], diagonals));
    CHECK(diagonals[MIDDLE].z > 3.99f * diagonals[MIDDLE].x);
    MUST(tml_surface(tml, &(tml_surface_desc){.field = &made.field, .iso = made.iso}, &surface));
    CHECK(surface.triangle_count > 0);
    tml_surface_free(tml, &surface);
    tml_field_prepared_free(tml, &made);
}

/* A surface of particles that is smoothed where they are crowded, so that drops stay as large as
 * they are. */
static void smooth_where_crowded(tml_context *tml)
{
    enum { SIDE = 9, COUNT = SIDE * SIDE + 1 };
    tml_vec3 particles[COUNT] = {[COUNT - 1] = {30, 0, 0}}; /* a drop, far from the sheet */
    for (int i = 0; i < SIDE * SIDE; i++)
        particles[i] = (tml_vec3){(float)(i % SIDE), (float)(i / SIDE), 0};
    tml_field_desc field = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), COUNT, particles),
                            .radius = 2,
                            .grid.spacing = {0.5, 0.5, 0.5}};
    tml_surface_result surface;
    tml_field_prepared made;
    float last;
    MUST(tml_field_prepare(tml, &(tml_field_prepare_desc){.field = field}, &made));
    field = made.field; /* nothing to free, without densities and shapes */
    MUST(tml_surface(tml, &(tml_surface_desc){.field = &field, .iso = made.iso}, &surface));
    const tml_buffer weights = buffer_of(tml, TML_F32, surface.vertex_count, NULL);
    MUST(tml_field_smooth_weights(tml, &field, surface.mesh.positions, NULL, weights));
    MUST(tml_mesh_smooth(tml, &(tml_mesh_smooth_desc){.mesh = surface.mesh,
                                                      .weights = weights,
                                                      .iterations = 10,
                                                      .method = TML_SMOOTH_LAPLACIAN,
                                                      .out = surface.mesh.positions}));
    float sum = 0; /* 0 at the drop */
    for (uint64_t v = 0; v < surface.vertex_count; v++) {
        tml_vec3 place;
        MUST(tml_buffer_read_range(tml, weights, v, 1, &last));
        MUST(tml_buffer_read_range(tml, surface.mesh.positions, v, 1, &place));
        sum += place.x > 20 ? last : 0;
    }
    CHECK(sum == 0);
    tml_surface_free(tml, &surface);
}

int main(void)
{
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){surface_of_points, prepare_and_evaluate, attributes,
                                           densities, shapes, smooth_where_crowded, in_a_frame,
                                           NULL});
}
