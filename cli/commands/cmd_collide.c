/* trommel collide: finds which triangles of two meshes, or of one mesh, meet under one pose or
 * many, or how far two meshes are apart. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trommel/points.h>
#include <trommel/volumes.h>

#include "commands/cmd_collide.h"
#include "draw/sparkline.h"
#include "input.h"
#include "paths.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/text.h"
#include "system.h"

/* ---- options --------------------------------------------------------------------------------- */

static const char *parse_classes(const char *text, void *member)
{
    class_set *set = member;
    *set = (class_set){0};
    while (*text) {
        size_t length = strcspn(text, ",");
        uint32_t kind = TML_COLLIDE_CLASS_CROSSING;
        while (kind < TML_COLLIDE_CLASS_COUNT &&
               (strlen(tml_collide_class_name((tml_collide_class)kind)) != length ||
                strncmp(text, tml_collide_class_name((tml_collide_class)kind), length) != 0))
            kind++;
        if (kind == TML_COLLIDE_CLASS_COUNT)
            break;
        set->bits |= 1u << kind;
        text += length;
        if (*text && text[1])
            text++;
    }
    return *text || !set->bits ? "some of crossing,touching,coplanar,degenerate" : NULL;
}

static const opt collide_options[] = {
    {OPT_SECTION, .help = "Where B is"},
    {OPT_NUMBERS, "translate", .brief = "move B", .argument = "X,Y,Z", .count_least = 3,
     .count_most = 3, .fallback = "0,0,0", .offset = offsetof(collide_args, translate),
     .help = "translate B, in the meshes' units"},
    {OPT_NUMBERS, "rotate", .brief = "before that, rotate B about x, y, z, in degrees",
     .argument = "X,Y,Z", .count_least = 3, .count_most = 3, .fallback = "0,0,0",
     .offset = offsetof(collide_args, rotate),
     .help = "before that, rotate it about x, then y, then z, in degrees"},
    {OPT_NUMBER, "scale", .argument = "S", .least = 1e-30, .most = 1e30, .fallback = "1",
     .offset = offsetof(collide_args, scale), .help = "before that, scale it by this factor"},
    {OPT_INPUT, "pose", .excludes = "translate|rotate|scale|find=inside",
     .brief = "many poses of B, a matrix each", .argument = "FILE",
     .offset = offsetof(collide_args, pose), .endings = ".txt .csv .npy",
     .help = "many poses instead: a matrix of 12 or 16 numbers a line, row by row, "
             "that takes B to A; or NPY of (n,3,4) or (n,4,4)"},

    {OPT_SECTION, .help = "What to find"},
    {OPT_CHOICE, "find", .brief = "what of all this",
     .choices = "pairs|first|count|distance|inside", .fallback = "pairs",
     .offset = offsetof(collide_args, find),
     .help = "pairs: which triangles meet; first: one pair for each pose, whether they meet at "
             "all; count: how many pairs, and not which; distance: the smallest distance of A "
             "and B instead, and where it is; inside: which of B's vertices, or of points, lie in "
             "A"},
    {OPT_CHOICE, "inside", .needs = "find=inside", .choices = "even-odd|winding|solid-angle",
     .fallback = "even-odd", .offset = offsetof(collide_args, rule),
     .help =
         "where a ray crosses A an odd number of times; or where A winds about the point, as "
         "it does in each of several parts that overlap; or, of an A that may be open, where it "
         "covers half of all directions or more"},
    {OPT_FLAG, "self", .excludes = "find=distance|find=inside|pose|translate|rotate|scale",
     .brief = "", .offset = offsetof(collide_args, self),
     .help =
         "which triangles of A meet each other; neighbours only where they meet elsewhere, too"},
    {OPT_CUSTOM, "classes", .excludes = "find=distance|find=inside", .argument = "NAME[,NAME...]",
     .parse = parse_classes, .offset = offsetof(collide_args, classes),
     .help = "only pairs that are crossing, touching, coplanar or degenerate (default: all)"},
    {OPT_CHOICE, "fail-if", .brief = "exit with 3 if they meet, or do not",
     .choices = "never|contact|none", .fallback = "never",
     .offset = offsetof(collide_args, fail_if),
     .help = "exit with 3, outputs written, where there is contact in some pose, or none in any; "
             "--classes chooses what counts, and --find first is quickest"},
    {OPT_CHOICE, "method", .brief = "on the CPU, or as a stream",
     .choices = "auto|depth-first|breadth-first", .fallback = "auto",
     .offset = offsetof(collide_args, method),
     .help =
         "how pairs of boxes are followed: one by one on the CPU, or as a stream on the device; "
         "the answer is the same, but for which pair --find first gives"},
    {OPT_FLAG, "skip-broken", .offset = offsetof(collide_args, skip_broken),
     .help =
         "leave out triangles with coordinates that are too large, instead of refusing the mesh"},

    {OPT_SECTION, .help = "Output"},
    {OPT_OUTPUT, "output", 'o', .brief = "the pairs: .csv .json .npy", .argument = "FILE",
     .offset = offsetof(collide_args, output), .endings = ".csv .json .npy",
     .help =
         "the pairs, or of --find count and distance what there is for each pose, of inside for "
         "each point: .csv .json, and of all but distance .npy"},
    {OPT_OUTPUT, "segments", .excludes = "find=count|find=distance|find=inside", .argument = "FILE",
     .offset = offsetof(collide_args, segments), .endings = ".obj",
     .help = "the lines along which triangles cross: .obj"},
    {OPT_OUTPUT, "png", .excludes = "find=count|find=inside",
     .brief = "a picture of the triangles that meet", .argument = "FILE",
     .offset = offsetof(collide_args, png), .endings = ".png",
     .help = "a picture of both, in the first pose with a pair, the triangles that meet lit"},

    PICTURE_OPTIONS(collide_args),
    {OPT_CHOICE, "fit", .choices = "contact|all", .fallback = "contact",
     .offset = offsetof(collide_args, fit), .help = "what fills the picture"},
    {0},
};

/* Checks the operands and estimates the work. If the meshes meet in every pose, a pose of 12
 * numbers takes 1 ms plus a time by the files' sizes. FIRST and single poses are faster on the
 * CPU. */
static int collide_prepare(const void *args, char **operands, uint32_t operand_count,
                           cli_work *work)
{
    const collide_args *a = args;
    if (a->self ? operand_count != 1 : operand_count != 2)
        return cli_usage(a->self ? "--self takes one mesh, not two"
                                 : "B is missing; give a second mesh, or --self");
    if (a->find == FIND_DISTANCE && a->output && path_ends_with(a->output, ".npy"))
        return cli_usage("--output: distances go to .csv or .json, not .npy");
    if (!a->pose || a->find == FIND_FIRST || a->find == FIND_DISTANCE)
        return CLI_OK;
    work->bytes = cli_file_size(operands[0]) + cli_file_size(operands[1]);
    work->cpu_seconds = cli_file_size(a->pose) / 96 * (1e-3 + 1.5e-9 * work->bytes);
    return CLI_OK;
}

/* ---- finding --------------------------------------------------------------------------------- */

static int build_trees(collision *r)
{
    double start = cli_now();
    const bool skips = r->args->skip_broken;
    const char *path = r->a.path;
    tml_status status = mesh_input_tree(r->tml, &r->a, skips, &r->tree_a);
    if (status == TML_OK && !r->args->self && r->args->find != FIND_INSIDE) {
        path = r->b.path;
        status = mesh_input_tree(r->tml, &r->b, skips, &r->tree_b);
    }
    report_add_stage(&r->times, "trees", cli_now() - start);
    if (status ==
        TML_ERROR_INVALID_ARGUMENT) /* the library does not know which mesh's file this is */
        return cli_error("%s: %s", path, cli_last_error(r->tml));
    return cli_fail(r->tml, status);
}

static int find_pairs(collision *r)
{
    const collide_args *a = r->args;
    double start = cli_now();
    tml_collide_desc desc = {.a = r->tree_a,
                             .b = r->tree_b,
                             .poses = r->poses,
                             .pose_count = r->pose_count,
                             .want = a->find == FIND_COUNT   ? TML_COLLIDE_WANT_COUNT
                                     : a->find == FIND_FIRST ? TML_COLLIDE_WANT_FIRST
                                                             : TML_COLLIDE_WANT_ALL,
                             .classes = a->classes.bits,
                             .method = (tml_collide_method)a->method,
                             .segments = a->segments || a->png};
    tml_status status = tml_collide(r->tml, &desc, &r->hits);
    report_add_stage(&r->times, "collide", cli_now() - start);
    return cli_fail(r->tml, status);
}

static int find_distances(collision *r)
{
    double start = cli_now();
    r->distances_size = collide_shown_poses(r) * sizeof *r->distances;
    r->distances = tml_alloc(r->tml, r->distances_size);
    if (!r->distances)
        return cli_error("no memory for %" PRIu32 " distances", collide_shown_poses(r));
    const tml_collide_distance_desc desc = {.a = r->tree_a,
                                            .b = r->tree_b,
                                            .poses = r->poses,
                                            .pose_count = r->pose_count,
                                            .method = (tml_collide_method)r->args->method};
    tml_status status = tml_collide_distance(r->tml, &desc, r->distances);
    report_add_stage(&r->times, "distance", cli_now() - start);
    return cli_fail(r->tml, status);
}

/* Loads B, which with --find inside may be points. */
static int load_b(collision *r, const char *path)
{
    /* If B does not move, its numbers become floats in A's frame, so that equal numbers stay equal.
     * If it moves, it needs a frame of its own. */
    const bool is_moved = r->args->pose || collide_is_posed(r->args);
    const double *origin = is_moved ? NULL : r->a.file.mesh.origin;
    if (r->args->find != FIND_INSIDE ||
        input_kind_of(r->tml, path, &(input_options){0}) != TML_FILE_POINTS)
        return is_moved ? mesh_input_load(r->tml, path, TML_WELD_AUTO, &r->args->common, &r->times,
                                          &r->b)
                        : mesh_input_load_at(r->tml, path, TML_WELD_AUTO, &r->args->common,
                                             &r->times, origin, &r->b);
    double start = cli_now();
    const tml_load_desc desc = {.strict = cli_is_strict(), .origin = origin, .recenter = is_moved};
    tml_status status = tml_points_load(r->tml, path, &desc, &r->points);
    r->b.path = path;
    memcpy(r->b.file.mesh.origin, r->points.origin, sizeof r->points.origin);
    report_add_stage(&r->times, "load", cli_now() - start);
    return cli_fail(r->tml, status);
}

static int find_inside(collision *r)
{
    const tml_mesh *b = &r->b.file.mesh;
    bool is_points = r->points.positions != NULL;
    return inside_find(r->tml, r->tree_a, r->a.path, (tml_tree_rule)r->args->rule,
                       is_points ? r->points.positions : b->positions,
                       is_points ? r->points.count : b->vertex_count, r->poses, &r->times,
                       &r->inside);
}

/* ---- summary --------------------------------------------------------------------------------- */

static uint32_t poses_in_contact(const collision *r)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < r->hits.pose_count; p++)
        count += r->hits.first[p + 1] > r->hits.first[p];
    return count;
}

/* Reports the pairs at each step, as bars. */
static void tell_steps(const collision *r)
{
    const tml_collide_result *hits = &r->hits;
    const tml_value_histogram steps = {.bins = (uint64_t *)(uintptr_t)hits->step_pairs,
                                       .bin_count = hits->step_count}; /* only read */
    char bars[4 * TML_COLLIDE_MAX_STEPS + 1], most[TEXT_SIZE];
    uint64_t largest = 0;
    if (!hits->step_count)
        return;
    for (uint32_t step = 0; step < hits->step_count; step++)
        largest = hits->step_pairs[step] > largest ? hits->step_pairs[step] : largest;
    if (fields_json())
        json_counts(fields_json(), "step_pairs", hits->step_pairs, hits->step_count);
    if (!fields_are_text() || hits->step_count < 2 || largest == 0)
        return;
    histogram_sparkline(&steps, hits->step_count, !system_shows_utf8(), bars);
    field_line("steps", "|%s| pairs of boxes, at most %s", bars, text_count(most, largest));
}

static void tell_pairs(const collision *r)
{
    const char *mark = ": ";
    json *j = fields_json();
    field_count("pair_count", "pairs", "%s", r->hits.count);
    field_open("classes", '{');
    for (int kind = TML_COLLIDE_CLASS_CROSSING; kind < TML_COLLIDE_CLASS_COUNT; kind++) {
        char text[TEXT_SIZE];
        const char *name = tml_collide_class_name((tml_collide_class)kind);
        snprintf(text, sizeof text, "?%s%%s %s", mark, name);
        field_count(name, NULL, text, r->hits.class_counts[kind]);
        mark = r->hits.class_counts[kind] ? ", " : mark;
    }
    field_close('{');
    if (r->hits.count == 0)
        field_line(NULL, r->args->self ? "; no triangle meets another" : "; they do not meet");
    bool has_poses = r->hits.pose_count > 1;
    field_count("poses_in_contact", "contact", has_poses ? "in %s" : NULL, poses_in_contact(r));
    field_count(NULL, NULL, has_poses ? " of %s poses" : NULL, r->hits.pose_count);
    field_count("node_pairs", NULL, NULL, r->hits.node_pairs);
    tell_steps(r);
    field_count("tested", "tested", "%s pairs of triangles", r->hits.tested);
    field_count("unsure", NULL, ", %s pairs exactly", r->hits.unsure);
    if (j)
        collide_json_pose_pairs(j, r);
}

static void tell_distances(const collision *r)
{
    char text[TEXT_SIZE];
    uint32_t pose = collide_shown_pose(r);
    const tml_collide_distance_result *d = &r->distances[pose];
    if (fields_json())
        collide_json_distances(fields_json(), r);
    field_line("distance", "%s",
               isfinite(d->distance) ? text_number(text, d->distance)
                                     : "none; one of the meshes has no triangle");
    if (!isfinite(d->distance))
        return;
    if (collide_shown_poses(r) > 1)
        field_line(NULL, ", the smallest, in pose %" PRIu32 " of %" PRIu32, pose,
                   collide_shown_poses(r));
    for (int side = 0; side < 2; side++) {
        const float *p = side ? d->point_b : d->point_a;
        field_line(side ? "on B" : "on A", "%.*g, %.*g, %.*g (triangle %" PRIu32 ")",
                   collide_digits(r), collide_world(r, p, 0), collide_digits(r),
                   collide_world(r, p, 1), collide_digits(r), collide_world(r, p, 2),
                   side ? d->b : d->a);
    }
}

static void tell(const collision *r)
{
    const char *a = text_file_name(r->a.path);
    if (r->args->self)
        field_heading("%s with itself", a);
    else
        field_heading("%s and %s", a, text_file_name(r->b.path));
    mesh_input_tell("a", "A", &r->a);
    if (r->points.positions) {
        field_open("b", '{');
        field_text("file", NULL, NULL, r->b.path);
        field_text("kind", NULL, NULL, "points");
        field_count("points", "B", "%s points", r->points.count);
        field_text("format", NULL, ", %s", r->points.format);
        field_close('{');
    } else if (!r->args->self) {
        mesh_input_tell("b", "B", &r->b);
    }
    field_count("poses", NULL, NULL, collide_shown_poses(r));
    if (r->args->find == FIND_INSIDE)
        inside_tell(&r->inside);
    else if (r->args->find == FIND_DISTANCE)
        tell_distances(r);
    else
        tell_pairs(r);
    report_tell(&r->times, 0, 0);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Returns the exit code of a successful run. */
static int verdict(const collision *r)
{
    const uint64_t *sides = r->inside.side_counts;
    bool is_contact = r->hits.count > 0 || sides[TML_TREE_INSIDE] > 0 || sides[TML_TREE_ON] > 0;
    for (uint32_t p = 0; p < collide_shown_poses(r) && r->args->find == FIND_DISTANCE; p++)
        is_contact |= r->distances[p].distance == 0;
    bool is_bad = r->args->fail_if == FAIL_CONTACT ? is_contact
                                                   : r->args->fail_if == FAIL_NONE && !is_contact;
    return is_bad ? CLI_FOUND : CLI_OK;
}

static int collide_run(tml_context *tml, const void *args, char **operands)
{
    const collide_args *a = args;
    collision r = {.args = a, .tml = tml};
    int code = mesh_input_load(r.tml, operands[0], TML_WELD_AUTO, &a->common, &r.times, &r.a);
    if (code == CLI_OK && !a->self)
        code = load_b(&r, operands[1]);
    CLI_THEN(code, collide_make_poses(&r));
    CLI_THEN(code, build_trees(&r));
    CLI_THEN(code, a->find == FIND_INSIDE     ? find_inside(&r)
                   : a->find == FIND_DISTANCE ? find_distances(&r)
                                              : find_pairs(&r));
    CLI_THEN(code, collide_save_table(&r));
    CLI_THEN(code, collide_save_segments(&r));
    CLI_THEN(code, collide_save_picture(&r));
    progress_clear();
    if (code == CLI_OK)
        tell(&r);
    CLI_THEN(code, verdict(&r));
    tml_collide_free(r.tml, &r.hits);
    tml_free(r.tml, r.distances, r.distances_size);
    tml_free(r.tml, r.poses, r.poses_size);
    tml_tree_destroy(r.tml, r.tree_a);
    tml_tree_destroy(r.tml, r.tree_b);
    mesh_input_free(r.tml, &r.a);
    mesh_input_free(r.tml, &r.b);
    tml_points_free(r.tml, &r.points);
    inside_free(r.tml, &r.inside);
    return code;
}

const cli_command cmd_collide = {
    .options =
        {.name = "collide",
         .operands = "A [B]",
         .endings = CLI_MESHES,
         .summary = "Finds which triangles of two meshes meet, exactly",
         .about =
             "A and B are meshes (OBJ, PLY, STL, OFF, glTF, VTP), found by content; polygons are "
             "cut into triangles. Each pair of triangles that have a point in common is found, "
             "with its class: crossing (along a line), touching (at a corner or edge), coplanar "
             "(overlapping in one plane), degenerate (one of them has no area). The answer is "
             "exact for the vertices as the pose leaves them, in 32-bit floats: no tolerance, no "
             "pair missed or made up.\n\n"
             "Triangles count from 0. A mesh inside of the other one, touching it nowhere, meets "
             "it nowhere; --find inside tells which of its vertices are in there, or which points "
             "where B is points (XYZ, PCD, LAS, VTK, PLY without faces). A must then be closed.",
         .examples = "  trommel collide robot.obj room.obj --translate 0,0,1.5 --png "
                     "contact.png\n"
                     "  trommel collide part.stl --self -o pairs.csv --segments lines.obj\n"
                     "  trommel collide a.ply b.ply --pose poses.npy --find count -o counts.csv\n"
                     "  trommel collide a.ply b.ply --find distance\n"
                     "  trommel collide part.stl scan.xyz --find inside -o sides.npy\n"
                     "  trommel collide part.stl housing.stl --find first --fail-if contact -q\n",
         .options = collide_options},
    .args_size = sizeof(collide_args),
    .run_on = collide_run,
    .prepare = collide_prepare,
};
