/* trommel-bench collide, subdivide: tori, their trees and the triangles that meet; a torus
 * subdivided. */
#include "bench_collide.h"
#include "bench_commands.h"
#include "bench_report.h"
#include "bench_subdivide.h"

#include <math.h>
#include <string.h>

#include <trommel/meshes.h>

/* ---- collide --------------------------------------------------------------------------------- */

typedef struct collide_args {
    bench_args bench;
    uint64_t triangles, poses, rays, balls;
    uint32_t method;
    const char *mesh;
} collide_args;

static const opt collide_options[] = {
    {OPT_SECTION, .help = "Input"},
    {OPT_COUNT, "triangles", .brief = "", .argument = "N", .least = 100, .most = 100000000,
     .fallback = "200000", .offset = offsetof(collide_args, triangles),
     .help = "of each torus, about"},
    {OPT_COUNT, "poses", .brief = "", .argument = "N", .most = 10000000, .fallback = "0",
     .offset = offsetof(collide_args, poses),
     .help = "of the rows of so many, of which half touch; 0: 400 on the CPU and 10,000 on a GPU"},
    {OPT_COUNT, "rays", .brief = "", .argument = "N", .least = 1, .most = 1 << 27,
     .fallback = "1048576", .offset = offsetof(collide_args, rays),
     .help = "from a sphere about the mesh into its box"},
    {OPT_INPUT, "mesh", .brief = "", .argument = "FILE", .offset = offsetof(collide_args, mesh),
     .help = "what they are cast at, in the place of a torus"},
    {OPT_COUNT, "balls", .brief = "", .argument = "N", .least = 100, .most = 100000000,
     .fallback = "200000", .offset = offsetof(collide_args, balls),
     .help = "triangles of each of two waved balls, whose distance is measured, about"},
    {OPT_CHOICE, "method", .brief = "", .choices = "auto|depth_first|breadth_first",
     .fallback = "auto", .offset = offsetof(collide_args, method),
     .help = "of following pairs of boxes: on the host, or as a stream on the device"},
    BENCH_OPTIONS(collide_args),
    {0},
};

static const bench_column collide_columns[] = {
    BENCH_TIME_COLUMNS,
    BENCH_COLUMN("poses", NULL, 0),
    BENCH_COLUMN("pose_s", "ms a pose", 1e3),
    BENCH_COLUMN("pairs", "pairs", 0),
    BENCH_COLUMN("rays_per_second", "M rays/s", 1e-6),
    {0},
};

static void take_collide(void *user, const bench_collide_row *row)
{
    double median = row->time.median_s;
    bool is_query = row->poses > 0;
    bench_row(user, row->name, TML_OK,
              (const double[]){row->time.min_s, median, row->time.runs, row->poses,
                               is_query ? median / row->poses : NAN,
                               is_query ? (double)row->pairs : NAN,
                               row->rays ? (double)row->rays / median : NAN});
}

static int run_collide(void *user, char **operands, uint32_t operand_count)
{
    const collide_args *args = user;
    static bench_session session;
    (void)operands, (void)operand_count;
    if (!bench_open(&session, &args->bench, "collide", collide_columns))
        return session.code;
    tml_device_info device;
    tml_context_describe(session.tml, &device);
    uint32_t usual = device.engine == TML_ENGINE_CPU ? 400 : 10000;
    uint32_t poses = args->poses ? (uint32_t)args->poses : usual;
    bench_title(&session, "two tori of about %llu triangles", (unsigned long long)args->triangles);
    tml_mesh_file file;
    bench_mesh target = {.vertices = NULL};
    tml_status status = TML_OK;
    memset(&file, 0, sizeof file);
    if (args->mesh)
        status = tml_mesh_load(session.tml, args->mesh, NULL, &file);
    if (status == TML_OK && args->mesh && (!file.mesh.indices || file.mesh.indices64))
        status = tml_error(session.tml, TML_ERROR_UNSUPPORTED, "%s: needs indices of 32 bits",
                           args->mesh);
    if (status == TML_OK && args->mesh)
        target = (bench_mesh){file.mesh.positions, file.mesh.indices,
                              (uint32_t)file.mesh.vertex_count, (uint32_t)file.mesh.triangle_count};
    TML_THEN(status, bench_collide(session.tml,
                                   &(bench_collide_desc){
                                       args->triangles, poses, (tml_collide_method)args->method,
                                       args->rays, args->mesh ? &target : NULL, args->balls},
                                   &session.pace, take_collide, &session));
    tml_mesh_file_free(session.tml, &file);
    bench_fail(&session, status);
    return bench_close(&session);
}

const cli_command bench_cmd_collide = {
    {"collide", "", "Measures trees of meshes, and which triangles of two tori meet",
     "Both descents are seen to find the same pairs before anything is timed. make bench-peers "
     "measures FCL and CGAL on the same tori.",
     "trommel-bench collide --threads 1\n"
     "  on one thread\n",
     collide_options, .without = OPT_MEMORY},
    .args_size = sizeof(collide_args),
    .run = run_collide};

/* ---- subdivide ------------------------------------------------------------------------------- */

typedef struct subdivide_args {
    bench_args bench;
    uint64_t levels;
} subdivide_args;

static const opt subdivide_options[] = {
    {OPT_SECTION, .help = "Input"},
    {OPT_COUNT, "levels", .brief = "", .argument = "N", .most = 8, .fallback = "0",
     .offset = offsetof(subdivide_args, levels),
     .help = "of a torus of 4096 triangles; 0: 5 on the CPU and 6 on a GPU"},
    BENCH_OPTIONS(subdivide_args),
    BENCH_PEERS_OPTION(subdivide_args),
    {0},
};

static const bench_column subdivide_columns[] = {
    BENCH_TIME_COLUMNS,
    BENCH_COLUMN("triangles", "triangles", 0),
    BENCH_COLUMN("triangles_per_second", "M triangles/s", 1e-6),
    BENCH_PEER_COLUMNS,
    {0},
};

/* A peer's time belongs to a row of as many triangles. */
static void take_subdivide(void *user, const bench_subdivide_row *row)
{
    double median = row->time.median_s, triangles = (double)row->triangles;
    char op[64];
    snprintf(op, sizeof op, "subdivide-%s", row->key);
    double peer = bench_peer_seconds(user, op, row->triangles, 0);
    if (!(peer > 0))
        peer = NAN;
    bench_row(user, row->name, TML_OK,
              (const double[]){row->time.min_s, median, row->time.runs, triangles,
                               triangles / median, peer, median / peer});
}

static int run_subdivide(void *user, char **operands, uint32_t operand_count)
{
    const subdivide_args *args = user;
    static bench_session session;
    tml_device_info device;
    (void)operands, (void)operand_count;
    if (!bench_open(&session, &args->bench, "subdivide", subdivide_columns))
        return session.code;
    tml_context_describe(session.tml, &device);
    uint32_t usual = device.engine == TML_ENGINE_CPU ? 5 : 6;
    uint32_t levels = args->levels ? (uint32_t)args->levels : usual;
    bench_title(&session,
                "a torus of 4096 triangles to level %u, one of 98304 for 3840 x 2160 pixels",
                levels);
    tml_status status =
        bench_subdivide(session.tml, levels, &session.pace, take_subdivide, &session);
    bench_fail(&session, status);
    return bench_close(&session);
}

const cli_command bench_cmd_subdivide = {
    {"subdivide", "", "Measures a torus made smooth, to a level and for a camera",
     "The surface is seen to be a torus before anything is timed.",
     "trommel-bench subdivide --threads 1 --peers osd.txt\n"
     "  beside times that peers_subdivide printed\n",
     subdivide_options, .without = OPT_MEMORY},
    .args_size = sizeof(subdivide_args),
    .run = run_subdivide};
