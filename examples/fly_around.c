/* Flies around a knot that is subdivided for each frame, so that no edge on the picture is longer
 * than some pixels. Shows tml_subdivider_create and tml_subdivide_adaptive with a camera.
 *
 *     fly_around [DIRECTORY]      writes frame_00.pgm ... there: the edges of what faces the
 *                                 camera */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trommel/trommel.h>

enum { ALONG = 48, AROUND = 8, FRAMES = 12, WIDTH = 640, HEIGHT = 360, PIXELS = 28 };

static void check(const tml_context *tml, tml_status status)
{
    if (status == TML_OK)
        return;
    fprintf(stderr, "fly_around: %s\n", tml ? tml_last_error(tml) : tml_status_text(status));
    exit(1);
}

static void knot(double t, double out[3])
{
    out[0] = (2.0 + cos(3.0 * t)) * cos(2.0 * t);
    out[1] = (2.0 + cos(3.0 * t)) * sin(2.0 * t);
    out[2] = sin(3.0 * t);
}

/* A coarse tube around a trefoil knot. */
static void make_knot(float *points, uint32_t *triangles)
{
    for (uint32_t i = 0; i < ALONG; i++) {
        double here[3], ahead[3], t = 6.283185307179586 * i / ALONG;
        knot(t, here);
        knot(t + 0.01, ahead);
        double d[3] = {ahead[0] - here[0], ahead[1] - here[1], ahead[2] - here[2]};
        double side[3] = {-d[1], d[0], 0.0}; /* the knot never runs straight up */
        double up[3] = {-d[2] * d[0], -d[2] * d[1], d[0] * d[0] + d[1] * d[1]};
        double sides = hypot(side[0], side[1]),
               ups = sqrt(up[0] * up[0] + up[1] * up[1] + up[2] * up[2]);
        for (uint32_t j = 0; j < AROUND; j++) {
            double u = 6.283185307179586 * j / AROUND;
            for (uint32_t a = 0; a < 3; a++)
                points[3 * (i * AROUND + j) + a] =
                    (float)(here[a] + 0.45 * (cos(u) * side[a] / sides + sin(u) * up[a] / ups));
            uint32_t next = (i + 1) % ALONG * AROUND, turn = (j + 1) % AROUND;
            uint32_t square[6] = {i * AROUND + j, next + turn,       next + j,
                                  i * AROUND + j, i * AROUND + turn, next + turn};
            memcpy(triangles + 6 * (i * AROUND + j), square, sizeof square);
        }
    }
}

/* A camera at a distance, at an angle around the z axis, that looks at the origin. */
static tml_subdivide_camera look(double angle, double distance)
{
    double c = cos(angle), s = sin(angle), zoom = 1.5;
    tml_subdivide_camera camera = {
        .matrix = {(float)(-s * zoom), (float)(c * zoom), 0.0f, 0.0f, /* x */
                   0.0f, 0.0f, (float)(zoom * WIDTH / HEIGHT), 0.0f,  /* y */
                   (float)-c, (float)-s, 0.0f, (float)distance,       /* z */
                   (float)-c, (float)-s, 0.0f, (float)distance},      /* w */
        .width = WIDTH,
        .height = HEIGHT};
    return camera;
}

static void draw_line(uint8_t *picture, double x0, double y0, double x1, double y1)
{
    int steps = 1 + (int)fmin(2000.0, fmax(fabs(x1 - x0), fabs(y1 - y0)));
    for (int i = 0; i <= steps; i++) {
        double x = x0 + (x1 - x0) * i / steps, y = y0 + (y1 - y0) * i / steps;
        if (x >= 0.0 && x < WIDTH && y >= 0.0 && y < HEIGHT)
            picture[(int)y * WIDTH + (int)x] = 255;
    }
}

static void write_frame(tml_context *tml, const char *directory, uint32_t frame,
                        const tml_subdivide_camera *camera, const tml_subdivide_result *mesh)
{
    static uint8_t picture[WIDTH * HEIGHT];
    const float *m = camera->matrix;
    void *points, *triangles;
    memset(picture, 0, sizeof picture);
    check(tml, tml_buffer_map(tml, mesh->buffers.mesh.positions, &points));
    check(tml, tml_buffer_map(tml, mesh->buffers.mesh.indices, &triangles));
    for (uint64_t t = 0; t < mesh->triangle_count; t++) {
        double x[3], y[3];
        bool is_before = true;
        for (uint32_t k = 0; k < 3; k++) {
            const float *p =
                (const float *)points + 3 * (size_t)((const uint32_t *)triangles)[3 * t + k];
            float w = m[12] * p[0] + m[13] * p[1] + m[14] * p[2] + m[15];
            is_before = is_before && w > 0.01f;
            x[k] = WIDTH * (0.5 + 0.5 * (m[0] * p[0] + m[1] * p[1] + m[2] * p[2]) / w);
            y[k] = HEIGHT * (0.5 - 0.5 * (m[4] * p[0] + m[5] * p[1] + m[6] * p[2]) / w);
        }
        /* Seen from outside, triangles run counter-clockwise; y runs down. */
        bool is_front = (x[1] - x[0]) * (y[2] - y[0]) < (x[2] - x[0]) * (y[1] - y[0]);
        for (uint32_t k = 0; is_before && is_front && k < 3; k++)
            draw_line(picture, x[k], y[k], x[(k + 1) % 3], y[(k + 1) % 3]);
    }
    tml_buffer_unmap(tml, mesh->buffers.mesh.positions);
    tml_buffer_unmap(tml, mesh->buffers.mesh.indices);

    char path[1024];
    snprintf(path, sizeof path, "%s/frame_%02u.pgm", directory, frame);
    FILE *file = fopen(path, "wb");
    bool is_written = file && fprintf(file, "P5\n%d %d\n255\n", WIDTH, HEIGHT) > 0 &&
                      fwrite(picture, sizeof picture, 1, file) == 1;
    if (!file || fclose(file) != 0 || !is_written) {
        fprintf(stderr, "fly_around: cannot write %s\n", path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    static float points[3 * ALONG * AROUND];
    static uint32_t triangles[6 * ALONG * AROUND];
    make_knot(points, triangles);

    tml_context *tml;
    check(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml));
    tml_buffer positions, indices;
    check(tml, tml_buffer_create(tml,
                                 &(tml_buffer_desc){.type = TML_VEC(TML_F32, 3),
                                                    .count = ALONG * AROUND,
                                                    .data = points},
                                 &positions));
    check(tml, tml_buffer_create(tml,
                                 &(tml_buffer_desc){.type = TML_VEC(TML_U32, 3),
                                                    .count = 2 * ALONG * AROUND,
                                                    .data = triangles},
                                 &indices));
    /* Topology and checks, once for all frames. */
    tml_subdivider *surface;
    check(tml,
          tml_subdivider_create(
              tml, &(tml_subdivider_desc){.mesh = {.positions = positions, .indices = indices}},
              &surface));

    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        double turn = 6.283185307179586 * frame / FRAMES;
        tml_subdivide_camera camera = look(turn, 5.5 + 1.5 * cos(turn));
        tml_subdivide_result mesh;
        check(tml,
              tml_subdivide_adaptive(surface,
                                     &(tml_subdivide_adaptive_desc){.criterion = TML_SPLIT_PIXELS,
                                                                    .threshold = PIXELS,
                                                                    .camera = camera,
                                                                    .max_depth = 6},
                                     &mesh));
        printf("frame %2u: %llu triangles, %u levels, longest edge %.1f pixels\n", frame,
               (unsigned long long)mesh.triangle_count, mesh.depth, PIXELS * mesh.error);
        if (argc > 1)
            write_frame(tml, argv[1], frame, &camera, &mesh);
        tml_subdivide_free(tml, &mesh);
    }
    tml_subdivider_destroy(tml, surface);
    tml_close(tml);
    return 0;
}
