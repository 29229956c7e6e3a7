/* trommel collide: writes pairs, counts and distances (CSV, JSON, NPY) and crossing lines. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands/cmd_collide.h"
#include "paths.h"
#include "report/text_file.h"

static uint32_t face_of(const mesh_input *in, uint32_t triangle)
{
    return in->file.faces ? in->file.faces[triangle] : triangle;
}

static const mesh_input *second(const collision *r)
{
    return r->args->self ? &r->a : &r->b;
}

double collide_world(const collision *r, const float *point, int axis)
{
    return r->a.file.mesh.origin[axis] + (double)point[axis];
}

int collide_digits(const collision *r)
{
    const double *origin = r->a.file.mesh.origin;
    return origin[0] != 0 || origin[1] != 0 || origin[2] != 0 ? 14 : 9;
}

static void csv_pairs(const collision *r, FILE *out)
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
            fprintf(out, ",%.*g", collide_digits(r),
                    collide_world(r, r->hits.segments + 6 * i + k / 3 * 3, k % 3));
        fputc('\n', out);
    }
}

static void csv_counts(const collision *r, FILE *out)
{
    fputs("pose,pairs\n", out);
    for (uint32_t p = 0; p < r->hits.pose_count; p++)
        fprintf(out, "%" PRIu32 ",%" PRIu64 "\n", p, r->hits.first[p + 1] - r->hits.first[p]);
}

static void csv_distances(const collision *r, FILE *out)
{
    fputs("pose,distance,a,b,ax,ay,az,bx,by,bz\n", out);
    for (uint32_t p = 0; p < collide_shown_poses(r); p++) {
        const tml_collide_distance_result *d = &r->distances[p];
        fprintf(out, "%" PRIu32 ",%.17g,%" PRIu32 ",%" PRIu32, p, d->distance, d->a, d->b);
        for (int k = 0; k < 6; k++)
            fprintf(out, ",%.*g", collide_digits(r),
                    collide_world(r, k < 3 ? d->point_a : d->point_b, k % 3));
        fputc('\n', out);
    }
}

static void json_point(json *j, const collision *r, const char *name, const float *point)
{
    double numbers[3];
    for (int axis = 0; axis < 3; axis++)
        numbers[axis] = collide_world(r, point, axis);
    json_numbers(j, name, numbers, 3);
}

static void json_pairs(json *j, const collision *r)
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
            json_point(j, r, "from", r->hits.segments + 6 * i);
            json_point(j, r, "to", r->hits.segments + 6 * i + 3);
        }
        json_close(j, '{');
    }
    json_close(j, '[');
}

void collide_json_pose_pairs(json *j, const collision *r)
{
    json_open(j, "pose_pairs", '[');
    for (uint32_t p = 0; p < r->hits.pose_count; p++)
        json_count(j, NULL, r->hits.first[p + 1] - r->hits.first[p]);
    json_close(j, '[');
}

void collide_json_distances(json *j, const collision *r)
{
    json_open(j, "distances", '[');
    for (uint32_t p = 0; p < collide_shown_poses(r); p++) {
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

/* Writes pairs as rows of a, b, pose, class; counts as one number per pose. */
static int save_npy(collision *r)
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

static int save_text(collision *r)
{
    const collide_args *a = r->args;
    text_file file;
    if (!text_file_create(a->output, &file))
        return CLI_FAILED;
    if (path_ends_with(a->output, ".json")) {
        json j = {.out = file.stream};
        json_open(&j, NULL, '{');
        if (a->find == FIND_DISTANCE)
            collide_json_distances(&j, r);
        else if (a->find == FIND_COUNT)
            collide_json_pose_pairs(&j, r);
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

int collide_save_table(collision *r)
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

/* Whether a segment is a line: areas of coplanar triangles have no ends, points no length. */
static bool is_line(const float ends[6])
{
    return isfinite(ends[0]) && memcmp(ends, ends + 3, 3 * sizeof *ends) != 0;
}

int collide_save_segments(collision *r)
{
    if (!r->args->segments)
        return CLI_OK;
    uint64_t count = 0;
    for (uint64_t i = 0; i < r->hits.count; i++)
        count += is_line(r->hits.segments + 6 * i);
    const size_t line = 6 * sizeof(float), size = count * line;
    float *lines = tml_alloc(r->tml, size);
    if (!lines && size > 0)
        return cli_error("no memory for %" PRIu64 " segments", count);
    count = 0;
    for (uint64_t i = 0; i < r->hits.count; i++)
        if (is_line(r->hits.segments + 6 * i))
            memcpy(lines + 6 * count++, r->hits.segments + 6 * i, line);
    tml_status status =
        tml_lines_save(r->tml, r->args->segments, lines, count, r->a.file.mesh.origin);
    tml_free(r->tml, lines, size);
    report_add_output(&r->times, r->args->segments);
    return cli_fail(r->tml, status);
}
