/* trommel collide: draws both meshes in one pose, with the triangles that meet lit. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "commands/cmd_collide.h"
#include "draw/picture_buffer.h"

static const uint8_t color_a[3] = {0xd6, 0xc6, 0xaa}, color_b[3] = {0x9f, 0xb6, 0xc8},
                     color_lit[3] = {0xe8, 0x4a, 0x1f};

/* Both meshes as one, with arrays for colours and lit triangles. */
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

static void stage_fill(const collision *r, uint32_t pose, stage *s, tml_mesh *mesh)
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

static int stage_make(const collision *r, uint64_t lit_most, stage *s)
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

static void light_pair(const collision *r, const tml_mesh *mesh, uint32_t a, uint32_t b,
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

/* Frames the contact with room on all sides, and at least a certain part of the whole. */
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

int collide_save_picture(collision *r)
{
    const collide_args *args = r->args;
    if (!args->png)
        return CLI_OK;
    double start = cli_now();
    uint32_t pose = collide_shown_pose(r);
    uint64_t first = args->find == FIND_DISTANCE ? 0 : r->hits.first[pose];
    uint64_t last = args->find == FIND_DISTANCE ? 1 : r->hits.first[pose + 1];
    stage s;
    tml_mesh mesh;
    int code = stage_make(r, 2 * (last - first), &s);
    if (code == CLI_OK) {
        stage_fill(r, pose, &s, &mesh);
        for (uint64_t i = first; i < last && args->find != FIND_DISTANCE; i++)
            light_pair(r, &mesh, r->hits.pairs[i].a, r->hits.pairs[i].b,
                       r->hits.segments ? r->hits.segments + 6 * i : NULL, &s);
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
