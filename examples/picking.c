/* Which triangle of a mesh, and where on it, lies under a pixel. Shows tml_tree_cast: one ray for
 * the pixel, and one for each pixel of a picture in which the triangle is marked.
 *
 *     picking [--mesh FILE] [--pixel X,Y] [--output FILE.png]      without a mesh: of a torus */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trommel/collide.h>
#include <trommel/meshes.h>
#include <trommel/pictures.h>

enum { WIDTH = 640, HEIGHT = 400, ALONG = 160, AROUND = 64 };

static void check(const tml_context *tml, tml_status status)
{
    if (status == TML_OK)
        return;
    fprintf(stderr, "picking: %s\n", tml ? tml_last_error(tml) : tml_status_text(status));
    exit(1);
}

/* A buffer with a copy of data, or one that is the caller's memory, on any engine. */
static tml_buffer buffer_of(tml_context *tml, tml_type type, uint64_t count, const void *data,
                            void *host)
{
    tml_buffer buffer;
    check(tml,
          tml_buffer_create(
              tml, &(tml_buffer_desc){.type = type, .count = count, .data = data, .host = host},
              &buffer));
    return buffer;
}

typedef struct model {
    const float *positions;
    const uint32_t *triangles;
    uint64_t vertex_count, triangle_count;
} model;

/* A tube of radius 0.4 around a circle of radius 1. */
static void make_torus(model *m)
{
    static float positions[3 * ALONG * AROUND];
    static uint32_t triangles[6 * ALONG * AROUND];
    for (uint32_t i = 0; i < ALONG; i++)
        for (uint32_t j = 0; j < AROUND; j++) {
            double u = 6.283185307179586 * i / ALONG, v = 6.283185307179586 * j / AROUND;
            float *p = positions + 3 * (i * AROUND + j);
            p[0] = (float)((1 + 0.4 * cos(v)) * cos(u));
            p[1] = (float)((1 + 0.4 * cos(v)) * sin(u));
            p[2] = (float)(0.4 * sin(v));
            uint32_t next = (i + 1) % ALONG * AROUND, turn = (j + 1) % AROUND;
            uint32_t square[6] = {i * AROUND + j, next + j,    next + turn,
                                  i * AROUND + j, next + turn, i * AROUND + turn};
            memcpy(triangles + 6 * (i * AROUND + j), square, sizeof square);
        }
    *m = (model){positions, triangles, ALONG * AROUND, 2 * ALONG * AROUND};
}

/* ---- camera ---------------------------------------------------------------------------------- */

typedef struct camera {
    float eye[3], ahead[3], right[3],
        up[3]; /* right and up: half of the picture's width and height */
} camera;

/* Looks at the middle of a box from aside and above, far enough to see all of it. */
static camera camera_of(const tml_tree_info *box)
{
    static const float ahead[3] = {-0.6f, -0.48f, -0.64f}, right[3] = {-0.6247f, 0.7809f, 0};
    camera c;
    float size = 0;
    for (int k = 0; k < 3; k++)
        size += (box->upper[k] - box->lower[k]) * (box->upper[k] - box->lower[k]);
    for (int k = 0; k < 3; k++) {
        int y = (k + 1) % 3, z = (k + 2) % 3;
        c.eye[k] = (box->lower[k] + box->upper[k]) / 2 - 1.1f * sqrtf(size) * ahead[k];
        c.ahead[k] = ahead[k];
        c.right[k] = 0.5f * right[k];
        c.up[k] = 0.5f * HEIGHT / WIDTH * (right[y] * ahead[z] - right[z] * ahead[y]);
    }
    return c;
}

/* The ray through the middle of a pixel. t: in units of the distance to the picture's plane. */
static void ray_through(const camera *c, uint32_t x, uint32_t y, float origin[3],
                        float direction[3])
{
    float across = 2 * ((float)x + 0.5f) / WIDTH - 1, upward = 1 - 2 * ((float)y + 0.5f) / HEIGHT;
    for (int k = 0; k < 3; k++) {
        origin[k] = c->eye[k];
        direction[k] = c->ahead[k] + across * c->right[k] + upward * c->up[k];
    }
}

/* ---- hits ------------------------------------------------------------------------------------ */

typedef struct hit {
    uint32_t triangle; /* UINT32_MAX: none */
    float t;
} hit;

static void cast(tml_context *tml, tml_tree *tree, float *origins, float *directions,
                 uint32_t count, uint32_t *triangles, float *t)
{
    const tml_type vec3 = TML_VEC(TML_F32, 3);
    tml_tree_cast_desc desc = {.tree = tree,
                               .origins = buffer_of(tml, vec3, count, origins, NULL),
                               .directions = buffer_of(tml, vec3, count, directions, NULL),
                               .want = TML_TREE_CAST_NEAREST,
                               .triangles = buffer_of(tml, TML_U32, count, NULL, triangles),
                               .t = buffer_of(tml, TML_F32, count, NULL, t)};
    check(tml, tml_tree_cast(tml, &desc));
    tml_buffer_destroy(tml, desc.origins);
    tml_buffer_destroy(tml, desc.directions);
    tml_buffer_destroy(tml, desc.triangles);
    tml_buffer_destroy(tml, desc.t);
}

static hit pick(tml_context *tml, tml_tree *tree, const camera *c, uint32_t x, uint32_t y,
                float point[3])
{
    hit found;
    float origin[3], direction[3];
    ray_through(c, x, y, origin, direction);
    cast(tml, tree, origin, direction, 1, &found.triangle, &found.t);
    for (int k = 0; k < 3; k++)
        point[k] = origin[k] + found.t * direction[k];
    return found;
}

/* How much a triangle faces the camera, 0 to 1. */
static double facing(const model *m, uint32_t triangle, const float direction[3])
{
    const float *p[3];
    double normal[3], along = 0, size = 0, length = 0;
    for (uint32_t k = 0; k < 3; k++)
        p[k] = m->positions + 3 * (size_t)m->triangles[3 * (size_t)triangle + k];
    for (int k = 0; k < 3; k++) {
        int y = (k + 1) % 3, z = (k + 2) % 3;
        normal[k] = (double)(p[1][y] - p[0][y]) * (double)(p[2][z] - p[0][z]) -
                    (double)(p[1][z] - p[0][z]) * (double)(p[2][y] - p[0][y]);
        along += normal[k] * (double)direction[k];
        size += normal[k] * normal[k];
        length += (double)direction[k] * (double)direction[k];
    }
    return size > 0 ? fabs(along) / sqrt(size * length) : 0;
}

static void draw(tml_context *tml, const model *m, tml_tree *tree, const camera *c, uint32_t marked,
                 const char *path)
{
    enum { COUNT = WIDTH * HEIGHT };
    static float origins[3 * COUNT], directions[3 * COUNT], t[COUNT];
    static uint32_t triangles[COUNT];
    static uint8_t pixels[3 * COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        ray_through(c, i % WIDTH, i / WIDTH, origins + 3 * i, directions + 3 * i);
    cast(tml, tree, origins, directions, COUNT, triangles, t);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (triangles[i] == UINT32_MAX)
            continue;
        double light = 40 + 200 * facing(m, triangles[i], directions + 3 * i);
        pixels[3 * i] = (uint8_t)(triangles[i] == marked ? 255 : light);
        pixels[3 * i + 1] = pixels[3 * i + 2] = (uint8_t)(triangles[i] == marked ? 0 : light);
    }
    check(tml, tml_picture_save(tml, path,
                                &(tml_picture){.data = pixels,
                                               .size = sizeof pixels,
                                               .type = TML_U8,
                                               .width = WIDTH,
                                               .height = HEIGHT,
                                               .channels = 3,
                                               .srgb = true}));
}

int main(int argc, char **argv)
{
    const char *path = NULL, *output = NULL;
    uint32_t x = 340, y = 270;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        bool is_known = *value && (!strcmp(argv[i], "--mesh") || !strcmp(argv[i], "--output"));
        if (is_known)
            *(argv[i][2] == 'm' ? &path : &output) = value;
        else if (strcmp(argv[i], "--pixel") != 0 || sscanf(value, "%u,%u", &x, &y) != 2 ||
                 x >= WIDTH || y >= HEIGHT) {
            fprintf(stderr,
                    "picking [--mesh FILE] [--pixel X,Y] [--output FILE.png]: pixels are "
                    "0,0 to %d,%d\n",
                    WIDTH - 1, HEIGHT - 1);
            return 2;
        }
    }
    tml_context *tml;
    tml_tree *tree;
    tml_mesh_file file = {0};
    model m;
    check(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml));
    if (path) {
        check(tml, tml_mesh_load(tml, path, NULL, &file));
        m = (model){file.mesh.positions, file.mesh.indices, file.mesh.vertex_count,
                    file.mesh.triangle_count};
    } else {
        make_torus(&m);
    }
    tml_tree_desc desc = {
        .vertices = buffer_of(tml, TML_VEC(TML_F32, 3), m.vertex_count, m.positions, NULL),
        .indices = buffer_of(tml, TML_VEC(TML_U32, 3), m.triangle_count, m.triangles, NULL)};
    check(tml, tml_tree_create(tml, &desc, &tree));
    tml_tree_info box;
    tml_tree_describe(tree, &box);
    camera c = camera_of(&box);

    float at[3];
    hit found = pick(tml, tree, &c, x, y, at);
    if (found.triangle == UINT32_MAX)
        printf("pixel %u,%u: nothing\n", x, y);
    else
        printf("pixel %u,%u: triangle %u, at (%.3f, %.3f, %.3f)\n", x, y, found.triangle,
               (double)at[0], (double)at[1], (double)at[2]);
    if (output)
        draw(tml, &m, tree, &c, found.triangle, output);

    bool is_good = true;
    if (!path && found.triangle != UINT32_MAX) { /* the torus is where its formula says */
        double ring = hypot((double)at[0], (double)at[1]) - 1;
        is_good = fabs(hypot(ring, (double)at[2]) - 0.4) < 0.002;
    }
    tml_tree_destroy(tml, tree);
    tml_mesh_file_free(tml, &file);
    tml_close(tml);
    return is_good ? 0 : 1;
}
