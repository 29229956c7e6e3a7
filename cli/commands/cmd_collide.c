/* trommel collide: which triangles of two meshes meet, or of one with itself, under one pose or
 * many; and how far two meshes are apart. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "draw/picture_buffer.h"
#include "draw/picture_options.h"
#include "draw/sparkline.h"
#include "input.h"
#include "inside.h"
#include "mesh_input.h"
#include "paths.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/text.h"
#include "report/text_file.h"
#include "system.h"
#include "transform.h"
#include "vectors.h"

/* ---- options --------------------------------------------------------------------------------- */

typedef struct class_set {
    uint32_t bits; /* 1 << tml_collide_class; 0: all */
} class_set;

typedef struct collide_args {
    cli_common common;
    const char *output, *segments, *png, *pose;
    opt_numbers translate, rotate;
    double scale;
    bool self, skip_broken;
    uint32_t find;   /* what_to_find */
    uint32_t rule;   /* tml_tree_rule */
    uint32_t method; /* tml_collide_method */
    class_set classes;
    uint32_t fit;     /* of the picture */
    uint32_t fail_if; /* fail_condition */
    picture_options picture;
} collide_args;

typedef enum what_to_find {
    FIND_PAIRS,
    FIND_FIRST,
    FIND_COUNT,
    FIND_DISTANCE,
    FIND_INSIDE
} what_to_find;
typedef enum fail_condition { FAIL_NEVER, FAIL_CONTACT, FAIL_NONE } fail_condition;

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

static bool is_posed(const collide_args *a)
{
    bool is = a->scale != 1;
    for (int i = 0; i < 3; i++)
        is |= a->translate.values[i] != 0 || a->rotate.values[i] != 0;
    return is;
}

/* A pose of 12 numbers takes 1 ms and more with its triangles, by the files' sizes, where the
 * meshes meet in every pose. Whether they meet at all the CPU finds out faster, and so it does for
 * one pose. */
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

/* ---- one run --------------------------------------------------------------------------------- */

typedef struct run {
    tml_context *tml;
    const collide_args *args;
    mesh_input a, b; /* b is empty for one mesh */
    tml_tree *tree_a, *tree_b;
    float *poses; /* 12 each, between the meshes' own origins; NULL: the identity */
    uint32_t pose_count;
    size_t poses_size;
    tml_collide_result hits;
    tml_collide_distance_result *distances;
    size_t distances_size;
    tml_points points; /* in place of B, with --find inside */
    inside inside;
    report times;
} run;

/* ---- poses ----------------------------------------------------------------------------------- */

/* Meshes far from 0 have origins of their own, between which a pose for the library goes. */
static void put_pose(run *r, uint32_t index, const double m[12])
{
    const double *from = r->b.file.mesh.origin, *to = r->a.file.mesh.origin;
    for (int row = 0; row < 3; row++) {
        double shift = m[4 * row + 3] - to[row];
        for (int column = 0; column < 3; column++) {
            shift += m[4 * row + column] * from[column];
            r->poses[12 * (size_t)index + (size_t)(4 * row + column)] = (float)m[4 * row + column];
        }
        r->poses[12 * (size_t)index + (size_t)(4 * row + 3)] = (float)shift;
    }
}

static int make_room_for_poses(run *r, uint64_t count)
{
    if (count > UINT32_MAX)
        return cli_error("%s: has %" PRIu64 " poses, needs less than 2^32", r->args->pose, count);
    r->pose_count = (uint32_t)count;
    r->poses_size = count * 12 * sizeof *r->poses;
    r->poses = tml_alloc(r->tml, r->poses_size);
    if (!r->poses && count > 0) {
        r->poses_size = 0;
        return cli_error("no memory for %" PRIu64 " poses", count);
    }
    return CLI_OK;
}

static bool is_last_row(const double row[4])
{
    return row[0] == 0 && row[1] == 0 && row[2] == 0 && row[3] == 1;
}

/* (n,3,4), (n,4,4) or (n,12): which is told from the rows, since an array keeps just the last
 * dimension. */
static int read_npy_poses(run *r)
{
    const char *path = r->args->pose;
    tml_array array;
    tml_status status = tml_array_load(r->tml, path, &array);
    if (status != TML_OK)
        return cli_fail(r->tml, status);
    tml_type scalar = tml_type_scalar(array.type);
    uint64_t width = tml_type_size(array.type) / tml_type_size(scalar);
    uint64_t numbers = array.count * width;
    bool is_double = scalar == TML_F64, is_float = scalar == TML_F32;
    int code = CLI_OK;
    if ((!is_double && !is_float) || (width != 4 && width != 1) || numbers == 0)
        code = cli_error("%s: holds %s, needs f32 or f64 of shape (n,3,4) or (n,4,4)", path,
                         tml_type_name(array.type));
    bool has_last_rows = width == 4 && numbers % 16 == 0;
    for (int pass = 0; pass < 2 && code == CLI_OK; pass++) {
        double m[16];
        uint64_t step = has_last_rows ? 16 : 12;
        if (numbers % step != 0)
            code = cli_error("%s: holds %" PRIu64 " numbers, needs 12 or 16 a pose", path, numbers);
        if (code == CLI_OK && pass == 1)
            code = make_room_for_poses(r, numbers / step);
        for (uint64_t i = 0; i < numbers / step && code == CLI_OK; i++) {
            for (uint64_t k = 0; k < step; k++)
                m[k] = is_double ? ((const double *)array.data)[i * step + k]
                                 : (double)((const float *)array.data)[i * step + k];
            if (pass == 0)
                has_last_rows = has_last_rows && is_last_row(m + 12);
            else
                put_pose(r, (uint32_t)i, m);
            if (pass == 0 && !has_last_rows)
                break;
        }
    }
    tml_array_free(r->tml, &array);
    return code;
}

/* Numbers of one line, which blanks or commas divide; -1: there is a word that is none. */
static int split_line(char *line, double numbers[17])
{
    int count = 0;
    line[strcspn(line, "#\r\n")] = '\0';
    for (char *word = strtok(line, " \t,;"); word && count < 17; word = strtok(NULL, " \t,;"))
        if (!opt_number(word, &numbers[count++]))
            return -1;
    return count;
}

/* Counts the poses, or with is_wanted keeps them. */
static int read_text_poses(run *r, FILE *file, bool is_wanted, uint64_t *count)
{
    char line[2048];
    double m[17];
    *count = 0;
    for (uint64_t number = 1; fgets(line, sizeof line, file); number++) {
        if (!strchr(line, '\n') && !feof(file))
            return cli_error("%s: line %" PRIu64 " is too long", r->args->pose, number);
        int found = split_line(line, m);
        if (found == 0)
            continue;
        if ((found != 12 && found != 16) || (found == 16 && !is_last_row(m + 12)))
            return cli_error("%s: line %" PRIu64
                             " is not a pose; needs 12 numbers, three rows of four, or 16 of which "
                             "the last row is 0 0 0 1",
                             r->args->pose, number);
        if (is_wanted)
            put_pose(r, (uint32_t)*count, m);
        ++*count;
    }
    if (ferror(file) || *count == 0)
        return cli_error("%s: %s", r->args->pose,
                         ferror(file) ? "cannot be read" : "holds no pose");
    return CLI_OK;
}

static int make_poses(run *r)
{
    const collide_args *a = r->args;
    const double *from = r->b.file.mesh.origin, *to = r->a.file.mesh.origin;
    bool is_identity = !a->pose && !is_posed(a) && memcmp(from, to, 3 * sizeof *from) == 0;
    if (a->self || is_identity)
        return CLI_OK;
    if (!a->pose) {
        double m[12];
        const double scale[3] = {a->scale, a->scale, a->scale};
        transform_matrix(scale, a->rotate.values, a->translate.values, m);
        int code = make_room_for_poses(r, 1);
        if (code == CLI_OK)
            put_pose(r, 0, m);
        return code;
    }
    if (path_ends_with(a->pose, ".npy"))
        return read_npy_poses(r);
    FILE *file = fopen(a->pose, "r");
    uint64_t count;
    if (!file)
        return cli_error("%s: cannot be opened", a->pose);
    int code = read_text_poses(r, file, false, &count);
    if (code == CLI_OK)
        code = make_room_for_poses(r, count);
    rewind(file);
    if (code == CLI_OK)
        code = read_text_poses(r, file, true, &count);
    fclose(file);
    return code;
}

/* ---- finding --------------------------------------------------------------------------------- */

static uint32_t shown_poses(const run *r)
{
    return r->pose_count ? r->pose_count : 1;
}

static int build_trees(run *r)
{
    double start = cli_now();
    tml_tree_desc a = {
        .vertices = r->a.positions, .indices = r->a.indices, .skip_broken = r->args->skip_broken};
    tml_tree_desc b = {
        .vertices = r->b.positions, .indices = r->b.indices, .skip_broken = r->args->skip_broken};
    const char *path = r->a.path;
    tml_status status = tml_tree_create(r->tml, &a, &r->tree_a);
    if (status == TML_OK && !r->args->self && r->args->find != FIND_INSIDE) {
        path = r->b.path;
        status = tml_tree_create(r->tml, &b, &r->tree_b);
    }
    report_add_stage(&r->times, "trees", cli_now() - start);
    if (status ==
        TML_ERROR_INVALID_ARGUMENT) /* the mesh's fault: which mesh, the library cannot know */
        return cli_error("%s: %s", path, cli_last_error(r->tml));
    return cli_fail(r->tml, status);
}

static int find_pairs(run *r)
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

static int find_distances(run *r)
{
    double start = cli_now();
    r->distances_size = shown_poses(r) * sizeof *r->distances;
    r->distances = tml_alloc(r->tml, r->distances_size);
    if (!r->distances)
        return cli_error("no memory for %" PRIu32 " distances", shown_poses(r));
    const tml_collide_distance_desc desc = {.a = r->tree_a,
                                            .b = r->tree_b,
                                            .poses = r->poses,
                                            .pose_count = r->pose_count,
                                            .method = (tml_collide_method)r->args->method};
    tml_status status = tml_collide_distance(r->tml, &desc, r->distances);
    report_add_stage(&r->times, "distance", cli_now() - start);
    return cli_fail(r->tml, status);
}

/* B of --find inside may be points. */
static int load_b(run *r, const char *path)
{
    /* Where B is as it is, its numbers become floats in A's frame: equal numbers stay equal.
     * Where it moves, it needs a frame of its own. */
    const bool is_moved = r->args->pose || is_posed(r->args);
    const double *origin = is_moved ? NULL : r->a.file.mesh.origin;
    if (r->args->find != FIND_INSIDE ||
        input_kind_of(r->tml, path, &(input_options){0}) != INPUT_POINTS)
        return is_moved ? mesh_input_load(r->tml, path, TML_WELD_AUTO, &r->args->common, &r->times,
                                          &r->b)
                        : mesh_input_load_at(r->tml, path, TML_WELD_AUTO, &r->args->common,
                                             &r->times, origin, &r->b);
    double start = cli_now();
    const tml_points_load_desc desc = {.strict = cli_is_strict(), .origin = origin};
    tml_status status = tml_points_load(r->tml, path, &desc, &r->points);
    r->b.path = path;
    if (status == TML_OK && is_moved)
        tml_positions_recenter(r->points.positions, r->points.count, r->points.origin);
    memcpy(r->b.file.mesh.origin, r->points.origin, sizeof r->points.origin);
    report_add_stage(&r->times, "load", cli_now() - start);
    return cli_fail(r->tml, status);
}

static int find_inside(run *r)
{
    const tml_mesh *b = &r->b.file.mesh;
    bool is_points = r->points.positions != NULL;
    return inside_find(r->tml, r->tree_a, r->a.path, (tml_tree_rule)r->args->rule,
                       is_points ? r->points.positions : b->positions,
                       is_points ? r->points.count : b->vertex_count, r->poses, &r->times,
                       &r->inside);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static uint32_t face_of(const mesh_input *in, uint32_t triangle)
{
    return in->file.faces ? in->file.faces[triangle] : triangle;
}

static const mesh_input *second(const run *r)
{
    return r->args->self ? &r->a : &r->b;
}

static double world(const run *r, const float *point, int axis)
{
    return r->a.file.mesh.origin[axis] + (double)point[axis];
}

/* Digits that show a place to the floats' last bit, far from 0, too. */
static int digits(const run *r)
{
    const double *origin = r->a.file.mesh.origin;
    return origin[0] != 0 || origin[1] != 0 || origin[2] != 0 ? 14 : 9;
}

static void csv_pairs(const run *r, FILE *out)
{
    bool has_faces = r->a.file.faces || second(r)->file.faces;
    bool has_segments = r->args->segments || r->args->png;
    fprintf(out, "pose,a,b,class%s%s\n", has_faces ? ",face_a,face_b" : "",
            has_segments ? ",x0,y0,z0,x1,y1,z1" : "");
    for (uint64_t i = 0; i < r->hits.count; i++) {
        const tml_collide_pair *p = &r->hits.pairs[i];
        fprintf(out, "%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%s", p->pose, p->a, p->b,
                tml_collide_class_name((tml_collide_class)p->kind));
        if (has_faces)
            fprintf(out, ",%" PRIu32 ",%" PRIu32, face_of(&r->a, p->a), face_of(second(r), p->b));
        for (int k = 0; k < 6 && has_segments; k++)
            fprintf(out, ",%.*g", digits(r), world(r, r->hits.segments[i].ends + k / 3 * 3, k % 3));
        fputc('\n', out);
    }
}

static void csv_counts(const run *r, FILE *out)
{
    fputs("pose,pairs\n", out);
    for (uint32_t p = 0; p < r->hits.pose_count; p++)
        fprintf(out, "%" PRIu32 ",%" PRIu64 "\n", p, r->hits.first[p + 1] - r->hits.first[p]);
}

static void csv_distances(const run *r, FILE *out)
{
    fputs("pose,distance,a,b,ax,ay,az,bx,by,bz\n", out);
    for (uint32_t p = 0; p < shown_poses(r); p++) {
        const tml_collide_distance_result *d = &r->distances[p];
        fprintf(out, "%" PRIu32 ",%.17g,%" PRIu32 ",%" PRIu32, p, d->distance, d->a, d->b);
        for (int k = 0; k < 6; k++)
            fprintf(out, ",%.*g", digits(r), world(r, k < 3 ? d->point_a : d->point_b, k % 3));
        fputc('\n', out);
    }
}

static void json_point(json *j, const run *r, const char *name, const float *point)
{
    double numbers[3];
    for (int axis = 0; axis < 3; axis++)
        numbers[axis] = world(r, point, axis);
    json_numbers(j, name, numbers, 3);
}

static void json_pairs(json *j, const run *r)
{
    json_open(j, "pairs", '[');
    for (uint64_t i = 0; i < r->hits.count && r->hits.pairs; i++) {
        const tml_collide_pair *p = &r->hits.pairs[i];
        json_open(j, NULL, '{');
        json_count(j, "pose", p->pose);
        json_count(j, "a", p->a);
        json_count(j, "b", p->b);
        json_text(j, "class", tml_collide_class_name((tml_collide_class)p->kind));
        if (r->a.file.faces || second(r)->file.faces) {
            json_count(j, "face_a", face_of(&r->a, p->a));
            json_count(j, "face_b", face_of(second(r), p->b));
        }
        if (r->hits.segments) {
            json_point(j, r, "from", r->hits.segments[i].ends);
            json_point(j, r, "to", r->hits.segments[i].ends + 3);
        }
        json_close(j, '{');
    }
    json_close(j, '[');
}

static void json_pose_pairs(json *j, const run *r)
{
    json_open(j, "pose_pairs", '[');
    for (uint32_t p = 0; p < r->hits.pose_count; p++)
        json_count(j, NULL, r->hits.first[p + 1] - r->hits.first[p]);
    json_close(j, '[');
}

static void json_distances(json *j, const run *r)
{
    json_open(j, "distances", '[');
    for (uint32_t p = 0; p < shown_poses(r); p++) {
        const tml_collide_distance_result *d = &r->distances[p];
        json_open(j, NULL, '{');
        json_number(j, "distance", d->distance);
        json_count(j, "a", d->a);
        json_count(j, "b", d->b);
        json_point(j, r, "point_a", d->point_a);
        json_point(j, r, "point_b", d->point_b);
        json_close(j, '{');
    }
    json_close(j, '[');
}

/* Pairs as rows of a, b, pose, class; counts as one number a pose. */
static int save_npy(run *r)
{
    tml_array array = {.type = TML_VEC(TML_U32, 4),
                       .count = r->hits.count,
                       .data = r->hits.pairs,
                       .size = r->hits.count * sizeof *r->hits.pairs};
    if (r->args->find != FIND_COUNT)
        return cli_fail(r->tml, tml_array_save(r->tml, r->args->output, &array));
    size_t size = r->hits.pose_count * sizeof(uint64_t);
    uint64_t *counts = tml_alloc(r->tml, size);
    if (!counts)
        return cli_error("no memory for %" PRIu32 " counts", r->hits.pose_count);
    for (uint32_t p = 0; p < r->hits.pose_count; p++)
        counts[p] = r->hits.first[p + 1] - r->hits.first[p];
    array = (tml_array){.type = TML_U64, .count = r->hits.pose_count, .data = counts, .size = size};
    tml_status status = tml_array_save(r->tml, r->args->output, &array);
    tml_free(r->tml, counts, size);
    return cli_fail(r->tml, status);
}

static int save_text(run *r)
{
    const collide_args *a = r->args;
    text_file file;
    if (!text_file_create(a->output, &file))
        return CLI_FAILED;
    if (path_ends_with(a->output, ".json")) {
        json j = {.out = file.stream};
        json_open(&j, NULL, '{');
        if (a->find == FIND_DISTANCE)
            json_distances(&j, r);
        else if (a->find == FIND_COUNT)
            json_pose_pairs(&j, r);
        else
            json_pairs(&j, r);
        json_close(&j, '{');
    } else if (a->find == FIND_DISTANCE) {
        csv_distances(r, file.stream);
    } else if (a->find == FIND_COUNT) {
        csv_counts(r, file.stream);
    } else {
        csv_pairs(r, file.stream);
    }
    return text_file_finish(&file, true) ? CLI_OK : CLI_FAILED;
}

static int save_table(run *r)
{
    if (!r->args->output)
        return CLI_OK;
    double start = cli_now();
    int code = r->args->find == FIND_INSIDE ? inside_save(r->tml, r->args->output, &r->inside)
               : path_ends_with(r->args->output, ".npy") ? save_npy(r)
                                                         : save_text(r);
    report_add_stage(&r->times, "save", cli_now() - start);
    report_add_output(&r->times, r->args->output);
    return code;
}

/* Areas that coplanar triangles share have no ends, and touching points no length. */
static bool is_line(const tml_collide_segment *s)
{
    return isfinite(s->ends[0]) && memcmp(s->ends, s->ends + 3, 3 * sizeof *s->ends) != 0;
}

static int save_segments(run *r)
{
    if (!r->args->segments)
        return CLI_OK;
    uint64_t count = 0;
    for (uint64_t i = 0; i < r->hits.count; i++)
        count += is_line(&r->hits.segments[i]);
    size_t size = count * sizeof(tml_collide_segment);
    tml_collide_segment *lines = tml_alloc(r->tml, size);
    if (!lines && size > 0)
        return cli_error("no memory for %" PRIu64 " segments", count);
    count = 0;
    for (uint64_t i = 0; i < r->hits.count; i++)
        if (is_line(&r->hits.segments[i]))
            lines[count++] = r->hits.segments[i];
    tml_status status = tml_lines_save(r->tml, r->args->segments, lines ? lines->ends : NULL, count,
                                       r->a.file.mesh.origin);
    tml_free(r->tml, lines, size);
    report_add_output(&r->times, r->args->segments);
    return cli_fail(r->tml, status);
}

/* ---- the picture ----------------------------------------------------------------------------- */

static const uint8_t color_a[3] = {0xd6, 0xc6, 0xaa}, color_b[3] = {0x9f, 0xb6, 0xc8},
                     color_lit[3] = {0xe8, 0x4a, 0x1f};

/* Both meshes as one, with room for colours and lit triangles. */
typedef struct stage {
    float *positions;
    uint32_t *indices, *lit;
    uint8_t *colors;
    size_t positions_size, indices_size, lit_size, colors_size;
    uint64_t lit_count;
    double lower[3], upper[3]; /* of the contact */
} stage;

static void stage_free(tml_context *tml, stage *s)
{
    tml_free(tml, s->positions, s->positions_size);
    tml_free(tml, s->indices, s->indices_size);
    tml_free(tml, s->lit, s->lit_size);
    tml_free(tml, s->colors, s->colors_size);
}

static void stage_fill(const run *r, uint32_t pose, stage *s, tml_mesh *mesh)
{
    const tml_mesh *a = &r->a.file.mesh, *b = &r->b.file.mesh;
    const float *m = r->poses ? r->poses + 12 * (size_t)pose : NULL;
    if (a->vertex_count > 0)
        memcpy(s->positions, a->positions, a->vertex_count * 3 * sizeof *s->positions);
    for (uint64_t v = 0; v < b->vertex_count; v++) {
        const float *p = b->positions + 3 * v;
        for (uint64_t row = 0; row < 3; row++)
            s->positions[3 * (a->vertex_count + v) + row] =
                m ? m[4 * row] * p[0] + m[4 * row + 1] * p[1] + m[4 * row + 2] * p[2] +
                        m[4 * row + 3]
                  : p[row];
    }
    const uint32_t *from_a = a->indices, *from_b = b->indices;
    for (uint64_t i = 0; i < 3 * a->triangle_count; i++) {
        s->indices[i] = from_a[i];
        s->colors[i] = color_a[i % 3];
    }
    for (uint64_t i = 0; i < 3 * b->triangle_count; i++) {
        s->indices[3 * a->triangle_count + i] = from_b[i] + (uint32_t)a->vertex_count;
        s->colors[3 * a->triangle_count + i] = color_b[i % 3];
    }
    *mesh = (tml_mesh){.positions = s->positions,
                       .indices = s->indices,
                       .vertex_count = a->vertex_count + b->vertex_count,
                       .triangle_count = a->triangle_count + b->triangle_count};
}

static int stage_make(const run *r, uint64_t lit_most, stage *s)
{
    const tml_mesh *a = &r->a.file.mesh, *b = &r->b.file.mesh;
    uint64_t triangles = a->triangle_count + b->triangle_count;
    *s = (stage){.positions_size = (a->vertex_count + b->vertex_count) * 3 * sizeof *s->positions,
                 .indices_size = triangles * 3 * sizeof *s->indices,
                 .lit_size = lit_most * sizeof *s->lit,
                 .colors_size = triangles * 3,
                 .lower = {INFINITY, INFINITY, INFINITY},
                 .upper = {-INFINITY, -INFINITY, -INFINITY}};
    s->positions = tml_alloc(r->tml, s->positions_size);
    s->indices = tml_alloc(r->tml, s->indices_size);
    s->lit = tml_alloc(r->tml, s->lit_size);
    s->colors = tml_alloc(r->tml, s->colors_size);
    if ((s->positions || !s->positions_size) && (s->indices || !s->indices_size) &&
        (s->lit || !s->lit_size) && (s->colors || !s->colors_size))
        return CLI_OK;
    return cli_error("no memory for a picture of %" PRIu64 " triangles", triangles);
}

static void stage_light(stage *s, uint32_t triangle)
{
    s->lit[s->lit_count++] = triangle;
    memcpy(s->colors + 3 * (size_t)triangle, color_lit, sizeof color_lit);
}

static void stage_see(stage *s, const float *point)
{
    for (int axis = 0; axis < 3; axis++) {
        s->lower[axis] = fmin(s->lower[axis], (double)point[axis]);
        s->upper[axis] = fmax(s->upper[axis], (double)point[axis]);
    }
}

static void light_pair(const run *r, const tml_mesh *mesh, uint32_t a, uint32_t b,
                       const float ends[6], stage *s)
{
    uint32_t second_b = b + (r->args->self ? 0 : (uint32_t)r->a.file.mesh.triangle_count);
    const uint32_t triangles[2] = {a, second_b};
    for (int i = 0; i < 2; i++) {
        stage_light(s, triangles[i]);
        if (ends && isfinite(ends[0])) {
            stage_see(s, ends + 3 * i);
            continue;
        }
        const uint32_t *corners = (const uint32_t *)mesh->indices + 3 * (size_t)triangles[i];
        for (int c = 0; c < 3; c++)
            stage_see(s, mesh->positions + 3 * (size_t)corners[c]);
    }
}

/* The contact with some of what surrounds it: room on all sides, and never less than a part of the
 * whole. */
static void frame_contact(const stage *s, const tml_mesh *mesh, render_desc *desc)
{
    float lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    double largest = 0;
    if (!(s->lower[0] <= s->upper[0]))
        return;
    for (uint64_t i = 0; i < 3 * mesh->vertex_count; i++) {
        lower[i % 3] = fminf(lower[i % 3], mesh->positions[i]);
        upper[i % 3] = fmaxf(upper[i % 3], mesh->positions[i]);
    }
    for (int axis = 0; axis < 3; axis++)
        largest = fmax(largest, (double)upper[axis] - (double)lower[axis]);
    for (int axis = 0; axis < 3; axis++) {
        double middle = (s->lower[axis] + s->upper[axis]) / 2;
        double half = fmax(0.75 * (s->upper[axis] - s->lower[axis]), 0.08 * largest);
        desc->frame_lower[axis] = fmax(middle - half, (double)lower[axis]);
        desc->frame_upper[axis] = fmin(middle + half, (double)upper[axis]);
    }
}

/* The pose to show: the first with a pair, or the nearest. */
static uint32_t shown_pose(const run *r)
{
    uint32_t best = 0;
    if (r->args->find != FIND_DISTANCE)
        return r->hits.count > 0 ? r->hits.pairs[0].pose : 0;
    for (uint32_t p = 1; p < shown_poses(r); p++)
        best = r->distances[p].distance < r->distances[best].distance ? p : best;
    return best;
}

static int save_picture(run *r)
{
    const collide_args *args = r->args;
    if (!args->png)
        return CLI_OK;
    double start = cli_now();
    uint32_t pose = shown_pose(r);
    uint64_t first = args->find == FIND_DISTANCE ? 0 : r->hits.first[pose];
    uint64_t last = args->find == FIND_DISTANCE ? 1 : r->hits.first[pose + 1];
    stage s;
    tml_mesh mesh;
    int code = stage_make(r, 2 * (last - first), &s);
    if (code == CLI_OK) {
        stage_fill(r, pose, &s, &mesh);
        for (uint64_t i = first; i < last && args->find != FIND_DISTANCE; i++)
            light_pair(r, &mesh, r->hits.pairs[i].a, r->hits.pairs[i].b,
                       r->hits.segments ? r->hits.segments[i].ends : NULL, &s);
        if (args->find == FIND_DISTANCE && isfinite(r->distances[pose].distance))
            light_pair(r, &mesh, r->distances[pose].a, r->distances[pose].b, NULL, &s);
        render_desc desc = {
            .triangle_colors = s.colors,
            .lit = s.lit,
            .lit_count = s.lit_count,
            .lit_color = {color_lit[0] / 255.0f, color_lit[1] / 255.0f, color_lit[2] / 255.0f},
            .wire = 0.8f};
        if (args->fit == 0)
            frame_contact(&s, &mesh, &desc);
        mesh.up = picture_up(args->picture.up, r->a.file.format);
        code = cli_fail(r->tml, picture_save(r->tml, &mesh, &desc, &args->picture, args->png));
    }
    stage_free(r->tml, &s);
    report_add_stage(&r->times, "picture", cli_now() - start);
    report_add_output(&r->times, args->png);
    return code;
}

/* ---- summary --------------------------------------------------------------------------------- */

static uint32_t poses_in_contact(const run *r)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < r->hits.pose_count; p++)
        count += r->hits.first[p + 1] > r->hits.first[p];
    return count;
}

/* The pairs at each step, as bars. */
static void tell_steps(const run *r)
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

static void tell_pairs(const run *r)
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
        json_pose_pairs(j, r);
}

static void tell_distances(const run *r)
{
    char text[TEXT_SIZE];
    uint32_t pose = shown_pose(r);
    const tml_collide_distance_result *d = &r->distances[pose];
    if (fields_json())
        json_distances(fields_json(), r);
    field_line("distance", "%s",
               isfinite(d->distance) ? text_number(text, d->distance)
                                     : "none; one of the meshes has no triangle");
    if (!isfinite(d->distance))
        return;
    if (shown_poses(r) > 1)
        field_line(NULL, ", the smallest, in pose %" PRIu32 " of %" PRIu32, pose, shown_poses(r));
    for (int side = 0; side < 2; side++) {
        const float *p = side ? d->point_b : d->point_a;
        field_line(side ? "on B" : "on A", "%.*g, %.*g, %.*g (triangle %" PRIu32 ")", digits(r),
                   world(r, p, 0), digits(r), world(r, p, 1), digits(r), world(r, p, 2),
                   side ? d->b : d->a);
    }
}

static void tell(const run *r)
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
    field_count("poses", NULL, NULL, shown_poses(r));
    if (r->args->find == FIND_INSIDE)
        inside_tell(&r->inside);
    else if (r->args->find == FIND_DISTANCE)
        tell_distances(r);
    else
        tell_pairs(r);
    report_tell(&r->times, 0, 0);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* The exit status of a run that went well. */
static int verdict(const run *r)
{
    const uint64_t *sides = r->inside.side_counts;
    bool is_contact = r->hits.count > 0 || sides[TML_TREE_INSIDE] > 0 || sides[TML_TREE_ON] > 0;
    for (uint32_t p = 0; p < shown_poses(r) && r->args->find == FIND_DISTANCE; p++)
        is_contact |= r->distances[p].distance == 0;
    bool is_bad = r->args->fail_if == FAIL_CONTACT ? is_contact
                                                   : r->args->fail_if == FAIL_NONE && !is_contact;
    return is_bad ? CLI_FOUND : CLI_OK;
}

static int collide_run(tml_context *tml, const void *args, char **operands)
{
    const collide_args *a = args;
    run r = {.args = a, .tml = tml};
    int code = mesh_input_load(r.tml, operands[0], TML_WELD_AUTO, &a->common, &r.times, &r.a);
    if (code == CLI_OK && !a->self)
        code = load_b(&r, operands[1]);
    if (code == CLI_OK)
        code = make_poses(&r);
    if (code == CLI_OK)
        code = build_trees(&r);
    if (code == CLI_OK)
        code = a->find == FIND_INSIDE     ? find_inside(&r)
               : a->find == FIND_DISTANCE ? find_distances(&r)
                                          : find_pairs(&r);
    if (code == CLI_OK)
        code = save_table(&r);
    if (code == CLI_OK)
        code = save_segments(&r);
    if (code == CLI_OK)
        code = save_picture(&r);
    progress_clear();
    if (code == CLI_OK)
        tell(&r);
    if (code == CLI_OK)
        code = verdict(&r);
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
