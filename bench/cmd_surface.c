/* trommel-bench surface: surfaces of fields, in milliseconds and as fractions of a copy's speed. */
#include "bench_beside.h"
#include "bench_commands.h"
#include "bench_data.h"

#include <math.h>
#include <string.h>
#include <trommel/kernel_math.h>
#include <trommel/volumes.h>

typedef struct surface_args {
    bench_args bench;
    const char *input;
    uint64_t side;
    uint32_t type; /* position in types */
    opt_numbers iso;
    bool sweep;
    uint64_t points;  /* 0: a volume */
    uint32_t fluid;   /* 1 + bench_fluid; 0: none */
    uint64_t labels;  /* 0: a surface */
    uint32_t normals; /* tml_normals */
    bool trilinear;
    uint64_t smooth;
} surface_args;

static const tml_type types[] = {TML_F32, TML_U8, TML_I8, TML_U16, TML_I16, TML_F64};

static const opt surface_options[] = {
    {OPT_SECTION, .help = "Input"},
    {OPT_INPUT, "input", .argument = "FILE", .offset = offsetof(surface_args, input),
     .needs = "iso", .help = "a volume instead of a generated one"},
    {OPT_CHOICE, "type", .choices = "f32|u8|i8|u16|i16|f64", .fallback = "f32", .excludes = "input",
     .offset = offsetof(surface_args, type), .help = "sample type of a generated volume"},
    {OPT_COUNT, "side", .brief = "samples along each side", .argument = "N", .least = 2,
     .most = 4096, .fallback = "512", .excludes = "input", .offset = offsetof(surface_args, side),
     .help = "samples along each side of a generated volume"},
    {OPT_COUNT, "points", .argument = "N", .least = 1, .most = 1 << 30, .excludes = "input",
     .offset = offsetof(surface_args, points),
     .help = "instead of a volume, the field of N points at random in its box, each of a radius of "
             "2.5 samples"},
    {OPT_CHOICE, "fluid", .choices = "none|" BENCH_FLUID_CHOICES, .fallback = "none",
     .needs = "points", .excludes = "side|type|iso", .offset = offsetof(surface_args, fluid),
     .help = "the points are about so many particles of a fluid: their densities, and the surface "
             "of trommel surface --field density, in processor time of all threads together"},
    {OPT_COUNT, "labels", .argument = "N", .least = 1, .most = 1 << 24,
     .excludes = "input|points|sweep|type|iso|normals", .offset = offsetof(surface_args, labels),
     .help = "instead of a surface, the boundaries of N labels, as they are and smoothed 16 times: "
             "of the samples "
             "nearest to each of N points at random"},
    {OPT_NUMBERS, "iso", .argument = "V", .count_least = 1, .count_most = 1,
     .offset = offsetof(surface_args, iso), .help = "isovalue (default: the field's)"},
    {OPT_CHOICE, "normals", .choices = "none|forward|central|sobel", .fallback = "central",
     .offset = offsetof(surface_args, normals),
     .help = "normals to make, as of trommel surface, welded and as a soup; a last row has none"},
    {OPT_FLAG, "trilinear", .excludes = "points|labels",
     .offset = offsetof(surface_args, trilinear),
     .help = "also without normals and with the interpolant's topology, as --topology of trommel "
             "surface; on a GPU also without it, its counts waited for as that one's"},
    {OPT_COUNT, "smooth", .argument = "N", .least = 1, .most = 10000, .excludes = "points|labels",
     .offset = offsetof(surface_args, smooth),
     .help = "also N iterations of Taubin's smoothing of the surface's mesh, as --smooth of "
             "trommel surface"},
    {OPT_FLAG, "sweep", .offset = offsetof(surface_args, sweep),
     .help = "also isovalues around that one in turn, with the volume's index"},
    BENCH_OPTIONS(surface_args),
    {0},
};

static const bench_column columns[] = {
    BENCH_COPY_COLUMNS,
    BENCH_COLUMN("vertex_count", "vertices", 0),
    BENCH_COLUMN("result_count", "triangles", 0),
    {0},
};

static void measure(bench_session *session, const bench_desc *desc, const char *field,
                    const char *what)
{
    bench_op op;
    bench_beside times = {.peer_s = 0};
    double values[BENCH_MAX_COLUMNS];
    char name[64];
    snprintf(name, sizeof name, "%s, %s", field, what);
    if (!bench_begins(&session->pace, name))
        return;
    tml_status status = bench_op_beside_copy(session, desc, name, &op, &times);
    bench_copy_values(&times, op.bytes, values);
    values[BENCH_COPY_COLUMN_COUNT] = (double)op.vertex_count;
    values[BENCH_COPY_COLUMN_COUNT + 1] = (double)op.result_count;
    bench_row(session, name, status, values);
    bench_op_destroy(&op);
}

static const char *const normals_names[] = {"no normals", "forward normals", "central normals",
                                            "Sobel normals"};

/* span: of the isovalues of a sweep. */
static void measure_volume(bench_session *session, const surface_args *args,
                           const tml_volume *volume, const char *field, double iso, double span)
{
    enum { SWEEP = 16 };
    double sweep[SWEEP];
    char soup[48], smoothed[48];
    tml_device_info device;
    tml_context_describe(session->tml, &device);
    const uint64_t *dims = volume->grid.dims;
    bench_desc desc = {.kind = BENCH_SURFACE,
                       .type = volume->type,
                       .data = volume->data,
                       .count = dims[0] * dims[1] * dims[2],
                       .grid = volume->grid,
                       .iso = iso,
                       .normals = (tml_normals)args->normals};
    measure(session, &desc, field, normals_names[args->normals]);
    desc.soup = true;
    snprintf(soup, sizeof soup, "soup, %s", normals_names[args->normals]);
    measure(session, &desc, field, soup);
    desc.soup = false;
    desc.normals = TML_NORMALS_NONE;
    if (args->normals != TML_NORMALS_NONE)
        measure(session, &desc, field, normals_names[0]);
    desc.waits = true;
    if (args->trilinear && device.engine != TML_ENGINE_CPU)
        measure(session, &desc, field, "no normals, waited for");
    desc.topology = TML_TOPOLOGY_TRILINEAR;
    if (args->trilinear)
        measure(session, &desc, field, "trilinear, no normals");
    desc.topology = TML_TOPOLOGY_SEPARATED;
    desc.smooth = (uint32_t)args->smooth;
    snprintf(smoothed, sizeof smoothed, "smoothed %u times", desc.smooth);
    if (args->smooth)
        measure(session, &desc, field, smoothed);
    desc.smooth = 0;
    desc.waits = false;
    if (!args->sweep)
        return;
    for (int i = 0; i < SWEEP; i++)
        sweep[i] = iso + span * ((double)i / (SWEEP - 1) - 0.5);
    desc.sweep = sweep;
    desc.sweep_count = SWEEP;
    measure(session, &desc, field, "next isovalue, index");
}

static tml_status measure_field(bench_session *session, const surface_args *args, bench_field field)
{
    const char *name = bench_field_name(field);
    tml_volume volume = {.type = types[args->type],
                         .grid.dims = {args->side, args->side, args->side}};
    tml_status status = TML_OK;
    double low, high;
    volume.size = args->side * args->side * args->side * tml_type_size(volume.type);
    if (bench_goes_on(session)) { /* else no row begins */
        volume.data = tml_alloc(session->tml, volume.size);
        if (!volume.data ||
            !bench_field_fill(session->tml, field, volume.type, args->side, volume.data))
            status = tml_error(session->tml, TML_ERROR_OUT_OF_MEMORY, "the volume needs %zu bytes",
                               volume.size);
    }
    bench_field_range(field, volume.type, &low, &high);
    if (status == TML_OK)
        measure_volume(session, args, &volume, name,
                       args->iso.count ? args->iso.values[0] : bench_field_iso(field, volume.type),
                       0.1 * (high - low));
    tml_free(session->tml, volume.data, volume.size);
    return status;
}

/* On a GPU, this is everything in a frame except drawing: bins, field and surface. */
static tml_status measure_points(bench_session *session, const surface_args *args)
{
    const uint64_t side = args->side, count = args->points;
    float *points = tml_alloc(session->tml, count * 3 * sizeof *points);
    if (!points)
        return tml_error(session->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %llu points",
                         (unsigned long long)count);
    for (uint64_t i = 0; i < 3 * count; i++)
        points[i] = tml_random_float((uint32_t)(i / 3), (uint32_t)(i % 3)) * (float)(side - 1);
    const bench_desc desc = {.kind = BENCH_SURFACE,
                             .type = TML_F32,
                             .data = points,
                             .count = count,
                             .grid.dims = {side, side, side},
                             .radius = 2.5,
                             .iso = args->iso.count ? args->iso.values[0] : 0.5,
                             .normals = (tml_normals)args->normals};
    measure(session, &desc, "points", normals_names[args->normals]);
    tml_free(session->tml, points, count * 3 * sizeof *points);
    return TML_OK;
}

/* Reach and cells as in splashsurf's published figures, in units of the particles' distance. */
static tml_status measure_fluid(bench_session *session, const surface_args *args)
{
    const bench_fluid fluid = (bench_fluid)(args->fluid - 1);
    const uint64_t count = bench_fluid_fill(fluid, args->points, NULL);
    float *points = tml_alloc_array(session->tml, count, 3 * sizeof *points);
    if (!points)
        return tml_error(session->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %llu points",
                         (unsigned long long)count);
    bench_fluid_fill(fluid, args->points, points);
    bench_desc desc = {.kind = BENCH_DENSITIES,
                       .type = TML_F32,
                       .data = points,
                       .count = count,
                       .radius = 2,
                       .is_fluid = true,
                       .normals = (tml_normals)args->normals};
    bench_title(session, "%llu particles of a %s", (unsigned long long)count,
                bench_fluid_name(fluid));
    session->pace.by_processor = true;
    measure(session, &desc, bench_fluid_name(fluid), "densities");
    desc.kind = BENCH_SURFACE;
    measure(session, &desc, bench_fluid_name(fluid), normals_names[args->normals]);
    tml_free(session->tml, points, count * 3 * sizeof *points);
    return TML_OK;
}

static tml_status measure_labels(bench_session *session, const surface_args *args)
{
    const uint64_t side = args->side, count = side * side * side;
    uint32_t *labels = tml_alloc_array(session->tml, count, sizeof *labels);
    if (!labels || !bench_labels_fill(session->tml, (uint32_t)args->labels, side, labels)) {
        tml_free(session->tml, labels, count * sizeof *labels);
        return tml_error(session->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %llu samples",
                         (unsigned long long)count);
    }
    bench_desc desc = {.kind = BENCH_LABELS,
                       .type = TML_U32,
                       .data = labels,
                       .count = count,
                       .grid.dims = {side, side, side}};
    measure(session, &desc, "labels", "as they are");
    desc.smooth = 16;
    measure(session, &desc, "labels", "smoothed");
    tml_free(session->tml, labels, count * sizeof *labels);
    return TML_OK;
}

/* A sweep of a file, whose range is not known, has one isovalue. */
static tml_status measure_file(bench_session *session, const surface_args *args)
{
    tml_volume volume;
    tml_status status = tml_volume_load(session->tml, args->input, NULL, &volume);
    if (status)
        return status;
    const uint64_t *dims = volume.grid.dims;
    bench_title(session, "%s, %llu x %llu x %llu %s, iso %g", args->input,
                (unsigned long long)dims[0], (unsigned long long)dims[1],
                (unsigned long long)dims[2], tml_type_name(volume.type), args->iso.values[0]);
    measure_volume(session, args, &volume, "surface", args->iso.values[0], 0);
    tml_volume_free(session->tml, &volume);
    return TML_OK;
}

static int find_fields(const surface_args *args, char **operands, uint32_t count,
                       bool is_wanted[BENCH_FIELD_COUNT])
{
    if (args->input && count)
        return cli_usage("%s is a field, and --input a volume; give one of them", operands[0]);
    for (int field = 0; field < BENCH_FIELD_COUNT; field++)
        is_wanted[field] = count == 0 && field == BENCH_GYROID;
    for (uint32_t i = 0; i < count; i++) {
        int field = 0;
        while (field < BENCH_FIELD_COUNT && strcmp(operands[i], bench_field_name(field)) != 0)
            field++;
        if (field == BENCH_FIELD_COUNT)
            return cli_usage("%s is no field (expected " BENCH_FIELD_CHOICES ")", operands[i]);
        is_wanted[field] = true;
    }
    return CLI_OK;
}

static int run_surface(void *user, char **operands, uint32_t operand_count)
{
    const surface_args *args = user;
    static bench_session session;
    bool is_wanted[BENCH_FIELD_COUNT];
    int code = find_fields(args, operands, operand_count, is_wanted);
    if (code != CLI_OK)
        return code;
    if (!bench_open(&session, &args->bench, "surface", columns))
        return session.code;
    const bool is_generated = !args->input && !args->points && !args->labels;
    tml_status status = args->input ? measure_file(&session, args) : TML_OK;
    if (args->fluid) {
        status = measure_fluid(&session, args);
    } else if (args->points) {
        bench_title(&session, "%llu points in %llu^3", (unsigned long long)args->points,
                    (unsigned long long)args->side);
        status = measure_points(&session, args);
    }
    if (args->labels) {
        bench_title(&session, "%llu labels in %llu^3 u32", (unsigned long long)args->labels,
                    (unsigned long long)args->side);
        status = measure_labels(&session, args);
    }
    if (is_generated)
        bench_title(&session, "%llu^3 %s", (unsigned long long)args->side,
                    tml_type_name(types[args->type]));
    for (int field = 0; field < BENCH_FIELD_COUNT && is_generated && !status; field++)
        if (is_wanted[field])
            status = measure_field(&session, args, field);
    bench_fail(&session, status);
    return bench_close(&session);
}

const cli_command bench_cmd_surface = {
    {"surface", "[FIELD...]", "Measures surfaces as shares of a copy's speed",
     "FIELD is marschner-lobb, gyroid (the default), metaballs, noise (the worst case) or "
     "sphere.\n\n"
     "The surface goes into buffers that exist; its vertices are counted by a plain loop before. "
     "On "
     "a GPU the device's clock counts, and nothing is read back. GB/s counts the volume once and "
     "the "
     "mesh once.",
     "trommel-bench surface noise --side 256 --threads 1\n"
     "  a dense surface on one thread\n"
     "trommel-bench surface gyroid metaballs --normals sobel --seconds 20\n"
     "  two fields with the costliest normals and without, in at most about 20 s\n"
     "trommel-bench surface --points 1048576 --side 128 --backend vulkan\n"
     "  a fluid's frame: bins, field and surface of a million points\n"
     "trommel-bench surface --points 15000000 --fluid basin --normals none --threads 1\n"
     "  a frame for film: densities and surface of 15 million particles\n",
     surface_options, .without = OPT_MEMORY},
    .args_size = sizeof(surface_args),
    .run = run_surface};
