/* Collision in image space. Pictures from six sides find the triangles that may meet the other
 * mesh. The other mesh is drawn into a depth buffer. Then each triangle is drawn with the depth
 * test reversed, and an occlusion query reports whether any of its pixels lies at or behind the
 * drawn surface. If, from some side, none does, the triangle lies wholly in front of the other
 * mesh, and it is excluded. The remaining triangles go to an exact test. But only pixels' centres
 * are tested: a triangle that covers no centre, or that lies behind the surface only between two
 * centres, is missed. tml_collide's list shows how many are missed.
 *
 * The rasteriser is a simple one in doubles, with coverage at centres as in OpenGL ES; except that
 * if two triangles share an edge, both own a centre on it, so fewer are missed, never more.
 *
 * After: Govindaraju, Redon, Lin, Manocha: CULLIDE: Interactive Collision Detection Between Complex
 * Models in Large Environments Using Graphics Hardware. 2003, with which Horn: Stream Reduction
 * Operations for GPGPU Applications. GPU Gems 2, chapter 36. 2005, contrasts its own method. */
#include "papers.h"

#include <math.h>
#include <stdlib.h>

enum { VIEWS = 6 };

/* The view along an axis of the box about both meshes. */
typedef struct view {
    int axis;
    bool from_above; /* the largest coordinate is nearest */
    double low[3], scale;
    uint32_t side;
    double *depth; /* side x side: of what is nearest */
} view;

static void corner_of(const view *v, const float *corner, double out[3])
{
    for (int k = 0; k < 2; k++)
        out[k] = ((double)corner[(v->axis + 1 + k) % 3] - v->low[(v->axis + 1 + k) % 3]) * v->scale;
    out[2] = v->from_above ? -(double)corner[v->axis] : (double)corner[v->axis];
}

/* The first and last pixel whose centre is in a range. */
static void centres(double low, double high, uint32_t side, int64_t range[2])
{
    range[0] = (int64_t)fmax(ceil(low - 0.5), 0);
    range[1] = (int64_t)fmin(floor(high - 0.5), (double)side - 1);
}

/* Draws a triangle. is_query: changes nothing, and returns whether any of its pixels lies at or
 * behind the drawn surface. */
static bool draw(const view *v, const float *const corners[3], bool is_query)
{
    double p[3][3];
    int64_t columns[2], rows[2];
    for (int c = 0; c < 3; c++)
        corner_of(v, corners[c], p[c]);
    double area =
        (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
    centres(fmin(fmin(p[0][0], p[1][0]), p[2][0]), fmax(fmax(p[0][0], p[1][0]), p[2][0]), v->side,
            columns);
    centres(fmin(fmin(p[0][1], p[1][1]), p[2][1]), fmax(fmax(p[0][1], p[1][1]), p[2][1]), v->side,
            rows);
    for (int64_t y = rows[0]; y <= rows[1] && area != 0; y++)
        for (int64_t x = columns[0]; x <= columns[1]; x++) {
            double weight[3], depth = 0, *drawn = &v->depth[y * v->side + x];
            bool is_inside = true;
            for (int c = 0; c < 3; c++) {
                const double *q = p[(c + 1) % 3], *r = p[(c + 2) % 3];
                weight[c] = ((q[0] - (double)x - 0.5) * (r[1] - (double)y - 0.5) -
                             (r[0] - (double)x - 0.5) * (q[1] - (double)y - 0.5)) /
                            area;
                is_inside = is_inside && weight[c] >= 0;
                depth += weight[c] * p[c][2];
            }
            if (is_inside && is_query && depth >= *drawn)
                return true;
            if (is_inside && !is_query)
                *drawn = fmin(*drawn, depth);
        }
    return false;
}

static void corners_of(const papers_image_mesh *mesh, uint32_t triangle, const float *out[3])
{
    for (int c = 0; c < 3; c++)
        out[c] = mesh->vertices + 3 * (size_t)mesh->indices[3 * (size_t)triangle + (uint32_t)c];
}

/* Excludes the triangles of mesh that are wholly in front of other. */
static void prune(const view *v, const papers_image_mesh *mesh, const papers_image_mesh *other,
                  uint8_t *kept)
{
    const float *corners[3];
    for (uint64_t i = 0; i < (uint64_t)v->side * v->side; i++)
        v->depth[i] = INFINITY;
    for (uint32_t i = 0; i < other->triangle_count; i++) {
        corners_of(other, i, corners);
        draw(v, corners, false);
    }
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        corners_of(mesh, i, corners);
        kept[i] = kept[i] && draw(v, corners, true);
    }
}

static void fit(const papers_image_mesh *mesh, double low[3], double high[3])
{
    for (uint64_t i = 0; i < 3 * (uint64_t)mesh->vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], (double)mesh->vertices[i]);
        high[i % 3] = fmax(high[i % 3], (double)mesh->vertices[i]);
    }
}

tml_status papers_image_candidates(const papers_image_mesh meshes[2], uint32_t side,
                                   uint8_t *kept[2])
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double *depth = malloc((size_t)side * side * sizeof *depth);
    if (!depth)
        return TML_ERROR_OUT_OF_MEMORY;
    fit(&meshes[0], low, high);
    fit(&meshes[1], low, high);
    double longest = fmax(fmax(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
    for (int m = 0; m < 2; m++)
        for (uint32_t i = 0; i < meshes[m].triangle_count; i++)
            kept[m][i] = 1;
    for (int i = 0; i < VIEWS; i++) {
        view v = {.axis = i / 2,
                  .from_above = i % 2,
                  .low = {low[0], low[1], low[2]},
                  .scale = longest > 0 ? side / longest : 0,
                  .side = side,
                  .depth = depth};
        prune(&v, &meshes[0], &meshes[1], kept[0]);
        prune(&v, &meshes[1], &meshes[0], kept[1]);
    }
    free(depth);
    return TML_OK;
}
