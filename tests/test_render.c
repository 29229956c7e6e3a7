/* The off-line renderer: which samples a triangle covers, no pinholes, the same picture for any
 * number of threads, and what the camera and the colours do. */
#include "test.h"

/* The renderer belongs to the program, which has no library to link with. */
#include "../cli/draw/clip.c"
#include "../cli/draw/color.c"
#include "../cli/draw/picture_frame.c"
#include "../cli/draw/raster.c"
#include "../cli/draw/render_light.c"
#include "../cli/draw/render_picture.c"
#include "../cli/draw/render_rows.c"
#include "../cli/draw/render_shade.c"
#include "support_render_plain.h"

static tml_context *open_with(uint32_t threads)
{
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.threads = threads}, &tml));
    return tml;
}

/* ---- coverage -------------------------------------------------------------------------------- */

enum { SIDE = 24, STRIDE = 32 };

typedef struct canvas {
    float depths[SIDE * STRIDE];
    uint32_t triangles[SIDE * STRIDE];
} canvas;

static raster_target target_on(canvas *c)
{
    CHECK_EQ_U64(raster_stride(SIDE), STRIDE);
    return (raster_target){SIDE, SIDE, STRIDE, c->depths, c->triangles};
}

static bool is_covered(const canvas *c, int sample)
{
    return c->depths[sample / SIDE * STRIDE + sample % SIDE] > 0;
}

/* Draws triangles of 2-D corners (in samples) at the same depth. */
static void draw(canvas *c, const float (*corners)[2], uint32_t triangles)
{
    static raster_vertex vertices[3 * 4096];
    tml_context *tml = open_with(1);
    const raster_target target = target_on(c);
    tml_mesh mesh = {.vertex_count = 3 * triangles, .triangle_count = triangles};
    for (uint32_t v = 0; v < 3 * triangles; v++)
        vertices[v] = (raster_vertex){raster_fixed((double)corners[v][0]),
                                      raster_fixed((double)corners[v][1]), 1};
    memset(c, 0, sizeof *c);
    CHECK_OK(tml, raster_draw(tml, &target, &mesh, vertices));
    for (int i = 0; i < SIDE * STRIDE; i++) /* past the width anything may be */
        if (i % STRIDE >= SIDE || c->depths[i] == 0)
            c->depths[i] = (float)(c->triangles[i] = 0);
    tml_close(tml);
}

static int count_covered(const canvas *c)
{
    int count = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        count += is_covered(c, i);
    return count;
}

TEST(a_triangle_covers_the_centres_inside_it)
{
    static canvas c;
    const float corners[3][2] = {{2, 2}, {14, 2}, {2, 14}};
    draw(&c, corners, 1);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            double cx = x + 0.5, cy = y + 0.5;
            /* Centres on the slanted edge belong to the neighbour on its right and below. */
            bool inside = cx > 2 && cy > 2 && cx + cy < 16;
            CHECK_EQ_U64(is_covered(&c, y * SIDE + x), inside);
        }
}

TEST(winding_does_not_matter)
{
    static canvas a, b;
    const float corners[3][2] = {{1.3f, 2.1f}, {20.7f, 5.5f}, {9.9f, 22.2f}};
    const float turned[3][2] = {{1.3f, 2.1f}, {9.9f, 22.2f}, {20.7f, 5.5f}};
    draw(&a, corners, 1);
    draw(&b, turned, 1);
    CHECK(count_covered(&a) > 100);
    CHECK(memcmp(&a, &b, sizeof a) == 0);
}

/* A fan of triangles around a point fills a square: each sample is covered by just one of them,
 * wherever the point and the samples on its edges lie. */
TEST(neighbours_share_no_sample_and_leave_none)
{
    enum { RIM = 16 };
    static const float centres[][2] = {{12, 12}, {12.5f, 12.5f}, {7.25f, 16.5f}, {3.1f, 20.9f}};
    for (size_t i = 0; i < sizeof centres / sizeof centres[0]; i++) {
        float rim[RIM][2];
        for (int r = 0; r < RIM; r++) {
            int side = r / 4, step = r % 4 * 5;
            float along = (float)(2 + step), far = (float)(22 - step);
            const float places[4][2] = {{along, 2}, {22, along}, {far, 22}, {2, far}};
            memcpy(rim[r], places[side], sizeof rim[r]);
        }
        static canvas one;
        int total = 0;
        int covered[SIDE * SIDE] = {0};
        for (int r = 0; r < RIM; r++) {
            float corners[3][2];
            memcpy(corners[0], centres[i], sizeof corners[0]);
            memcpy(corners[1], rim[r], sizeof corners[1]);
            memcpy(corners[2], rim[(r + 1) % RIM], sizeof corners[2]);
            draw(&one, (const float(*)[2])corners, 1);
            for (int p = 0; p < SIDE * SIDE; p++)
                covered[p] += is_covered(&one, p);
            total += count_covered(&one);
        }
        CHECK_EQ_I64(total, 20 * 20);
        for (int p = 0; p < SIDE * SIDE; p++)
            CHECK(covered[p] <= 1);
    }
}

TEST(what_lies_outside_is_cut_off)
{
    static canvas c;
    const float corners[6][2] = {{-1e9f, -1e9f}, {1e9f, -1e9f}, {0, 1e9f}, /* covers all */
                                 {-50, 3},       {-3, 3},       {-9, 60}}; /* covers nothing */
    draw(&c, corners, 2);
    CHECK_EQ_I64(count_covered(&c), SIDE * SIDE);
    for (int i = 0; i < SIDE * STRIDE; i++)
        CHECK_EQ_U64(c.triangles[i], 0);
}

TEST(nearest_wins_then_the_lower_number)
{
    static canvas c;
    tml_context *tml = open_with(2);
    const raster_target target = target_on(&c);
    raster_vertex vertices[12];
    static const float depths[4] = {0.5f, 2, 2, 1};
    for (int t = 0; t < 4; t++) {
        vertices[3 * t + 0] = (raster_vertex){raster_fixed(-9), raster_fixed(-9), depths[t]};
        vertices[3 * t + 1] = (raster_vertex){raster_fixed(99), raster_fixed(-9), depths[t]};
        vertices[3 * t + 2] = (raster_vertex){raster_fixed(-9), raster_fixed(99), depths[t]};
    }
    tml_mesh mesh = {.vertex_count = 12, .triangle_count = 4};
    CHECK_OK(tml, raster_draw(tml, &target, &mesh, vertices));
    for (int i = 0; i < SIDE * SIDE; i++) {
        int at = i / SIDE * STRIDE + i % SIDE;
        CHECK_EQ_U64(c.triangles[at], 1);
        CHECK_NEAR(c.depths[at], 2, 0);
    }
    tml_close(tml);
}

/* ---- pictures -------------------------------------------------------------------------------- */

typedef struct ball {
    float *positions;
    uint32_t *indices;
    tml_mesh mesh;
} ball;

/* A sphere of rings x 2 rings quads, each two triangles, welded but for its poles and seam. */
static ball make_ball(uint32_t rings)
{
    const double turn = 6.283185307179586;
    uint32_t columns = 2 * rings, vertices = (rings + 1) * (columns + 1);
    ball b = {.positions = malloc(vertices * 3 * sizeof(float)),
              .indices = malloc((size_t)rings * columns * 6 * sizeof(uint32_t))};
    for (uint32_t i = 0; i <= rings; i++) {
        for (uint32_t j = 0; j <= columns; j++) {
            float *p = b.positions + 3 * (i * (columns + 1) + j);
            double polar = turn / 2 * i / rings, around = turn * (j % columns) / columns;
            p[0] = (float)(sin(polar) * cos(around));
            p[1] = (float)(sin(polar) * sin(around));
            p[2] = (float)cos(polar);
        }
    }
    uint32_t *out = b.indices;
    for (uint32_t i = 0; i < rings; i++) {
        for (uint32_t j = 0; j < columns; j++) {
            uint32_t a = i * (columns + 1) + j, c = a + columns + 1;
            const uint32_t quad[6] = {a, c, a + 1, a + 1, c, c + 1};
            memcpy(out, quad, sizeof quad);
            out += 6;
        }
    }
    b.mesh = (tml_mesh){.positions = b.positions,
                        .normals = b.positions,
                        .indices = b.indices,
                        .vertex_count = vertices,
                        .triangle_count = (uint64_t)rings * columns * 2};
    return b;
}

static void free_ball(ball *b)
{
    free(b->positions);
    free(b->indices);
}

enum { WIDTH = 160, HEIGHT = 120 };
static const render_desc blue = {
    .width = WIDTH, .height = HEIGHT, .azimuth = 30, .elevation = 20, .color = {0.2f, 0.3f, 0.8f}};

static void render(uint32_t threads, const tml_mesh *mesh, const render_desc *desc, uint8_t *rgba)
{
    tml_context *tml = open_with(threads);
    memset(rgba, 0, (size_t)4 * desc->width * desc->height);
    CHECK_OK(tml, render_mesh(tml, mesh, desc, rgba));
    tml_close(tml);
}

static bool is_blue(const uint8_t *rgba)
{
    return rgba[2] > rgba[0] + 20;
}

/* The ball's disc, row by row, is one run of blue: fitted, centred and without holes. */
TEST(a_sphere_is_a_disc_without_holes)
{
    static uint8_t rgba[4 * WIDTH * HEIGHT];
    ball b = make_ball(300); /* triangles much smaller than a pixel */
    render(2, &b.mesh, &blue, rgba);
    int top = HEIGHT, bottom = -1, area = 0;
    for (int y = 0; y < HEIGHT; y++) {
        int first = WIDTH, last = -1, count = 0;
        for (int x = 0; x < WIDTH; x++) {
            if (is_blue(rgba + 4 * (y * WIDTH + x))) {
                first = x < first ? x : first;
                last = x;
                count++;
            }
            CHECK_EQ_U64(rgba[4 * (y * WIDTH + x) + 3], 255);
        }
        if (count == 0)
            continue;
        top = y < top ? y : top;
        bottom = y;
        area += count;
        CHECK_EQ_I64(count, last - first + 1);
        CHECK_NEAR(first + last, WIDTH - 1, 3);
    }
    double radius = (bottom - top + 1) / 2.0;
    CHECK_NEAR(top + bottom, HEIGHT - 1, 3);
    CHECK_NEAR(radius, (0.5 - margin) * HEIGHT, 2);
    CHECK_NEAR(area, 3.14159 * radius * radius, 0.04 * area);
    free_ball(&b);
}

TEST(the_picture_does_not_depend_on_threads)
{
    static uint8_t one[4 * WIDTH * HEIGHT], many[4 * WIDTH * HEIGHT];
    ball b = make_ball(100);
    b.mesh.normals = NULL; /* summed by the renderer */
    render(1, &b.mesh, &blue, one);
    render(4, &b.mesh, &blue, many);
    CHECK(memcmp(one, many, sizeof one) == 0);
    free_ball(&b);
}

TEST(indices_of_both_widths_and_soup_agree)
{
    static uint8_t a[4 * WIDTH * HEIGHT], c[4 * WIDTH * HEIGHT], d[4 * WIDTH * HEIGHT];
    ball b = make_ball(20);
    uint64_t count = 3 * b.mesh.triangle_count;
    uint64_t *wide = malloc(count * sizeof *wide);
    float *soup = malloc(count * 3 * sizeof *soup);
    for (uint64_t i = 0; i < count; i++) {
        wide[i] = b.indices[i];
        memcpy(soup + 3 * i, b.positions + 3 * b.indices[i], 3 * sizeof *soup);
    }
    render(2, &b.mesh, &blue, a);
    tml_mesh mesh = b.mesh;
    mesh.indices = wide;
    mesh.indices64 = true;
    render(2, &mesh, &blue, c);
    CHECK(memcmp(a, c, sizeof a) == 0);
    mesh = (tml_mesh){.positions = soup,
                      .normals = soup,
                      .vertex_count = count,
                      .triangle_count = b.mesh.triangle_count};
    render(2, &mesh, &blue, d);
    CHECK(memcmp(a, d, sizeof a) == 0);
    free(wide);
    free(soup);
    free_ball(&b);
}

/* The colour at the picture's centre, which is on the mesh. */
static const uint8_t *centre(const uint8_t *rgba)
{
    return rgba + 4 * (HEIGHT / 2 * WIDTH + WIDTH / 2);
}

TEST(values_and_parts_choose_colours)
{
    static uint8_t rgba[4 * WIDTH * HEIGHT];
    ball b = make_ball(40);
    float *values = malloc(b.mesh.vertex_count * sizeof *values);
    for (uint64_t v = 0; v < b.mesh.vertex_count; v++)
        values[v] = b.positions[3 * v + 2]; /* height */
    b.mesh.values = values;
    render_desc desc = blue;
    desc.color_by_value = true;
    desc.elevation = 90; /* the yellow pole */
    render(2, &b.mesh, &desc, rgba);
    CHECK(centre(rgba)[0] > centre(rgba)[2] + 30);
    desc.elevation = -90; /* the blue pole */
    render(2, &b.mesh, &desc, rgba);
    CHECK(centre(rgba)[2] > centre(rgba)[0] + 30);

    /* The upper half is one part, the lower another. */
    tml_mesh_part parts[2] = {
        {.triangle_first = 0, .triangle_count = b.mesh.triangle_count / 2},
        {.triangle_first = b.mesh.triangle_count / 2, .triangle_count = b.mesh.triangle_count / 2}};
    desc = blue;
    desc.parts = parts;
    desc.part_count = 2;
    desc.elevation = 90;
    render(2, &b.mesh, &desc, rgba);
    uint8_t upper[4];
    memcpy(upper, centre(rgba), 4);
    desc.elevation = -90;
    render(2, &b.mesh, &desc, rgba);
    int apart = 0;
    for (int c = 0; c < 3; c++)
        apart += abs(upper[c] - centre(rgba)[c]);
    CHECK(apart > 60);
    free(values);
    free_ball(&b);
}

TEST(every_axis_can_point_up)
{
    static uint8_t rgba[4 * WIDTH * HEIGHT], first[4 * WIDTH * HEIGHT];
    ball b = make_ball(60);
    for (int up = RENDER_UP_Z; up <= RENDER_UP_MINUS_X; up++) {
        render_desc desc = blue;
        desc.up = (render_up)up;
        render(2, &b.mesh, &desc, rgba);
        if (up == RENDER_UP_Z)
            memcpy(first, rgba, sizeof first);
        /* A ball looks the same from everywhere, but for its facets. */
        int64_t apart = 0;
        for (size_t i = 0; i < sizeof rgba; i++)
            apart += abs(rgba[i] - first[i]);
        CHECK(apart < (int64_t)sizeof rgba / 4);
    }
    free_ball(&b);
}

/* ---- the straightforward way ----------------------------------------------------------------- */

static void check_coverage(const scene *s)
{
    raster_target plain = s->target;
    size_t total = (size_t)plain.stride * plain.height;
    plain.depths = malloc(total * sizeof(float));
    plain.triangles = malloc(total * sizeof(uint32_t));
    plain_draw(&plain, s->mesh, s->vertices);
    uint64_t apart = 0, covered = 0;
    for (size_t i = 0; i < total; i++) {
        if (i % plain.stride >= plain.width)
            continue;
        covered += plain.depths[i] > 0;
        apart += plain.depths[i] != s->target.depths[i] ||
                 (plain.depths[i] > 0 && plain.triangles[i] != s->target.triangles[i]);
    }
    CHECK(covered > 1000);
    CHECK_EQ_U64(apart, 0);
    free(plain.depths);
    free(plain.triangles);
}

/* Renders mesh, and compares coverage, occlusion and colours with the straightforward way's. */
static void check_picture(const tml_mesh *mesh, const render_desc *desc)
{
    tml_context *tml = open_with(3);
    size_t pixels = (size_t)desc->width * desc->height;
    uint8_t *rgba = malloc(4 * pixels);
    scene s = {.tml = tml, .mesh = mesh, .desc = desc, .rgba = rgba};
    scene_part parts[SCENE_PARTS];
    CHECK_OK(tml, begin_scene(&s, parts));
    CHECK_OK(tml, render_scene(&s));
    check_coverage(&s);
    float worst = 0;
    for (uint32_t i = 0; i < pixels; i++) {
        float plain = plain_ambient(&s, i % desc->width, i / desc->width);
        worst = fmaxf(worst, fabsf(s.unsmoothed[i].ambient - plain));
        s.unsmoothed[i].ambient = plain;
    }
    CHECK(worst < 2e-3f);
    smooth_visibility(&s, 0, desc->height);
    int most = 0;
    for (uint32_t i = 0; i < pixels; i++) {
        uint8_t plain[3];
        plain_color(&s, i % desc->width, i / desc->width, plain);
        for (int c = 0; c < 3; c++)
            most = abs(plain[c] - rgba[4 * i + c]) > most ? abs(plain[c] - rgba[4 * i + c]) : most;
    }
    CHECK(most <= 1);
    end_scene(&s, parts);
    free(rgba);
    tml_close(tml);
}

/* A sheet with hills: its edge is open, hills hide others, and both sides are seen. */
static ball make_hills(uint32_t side)
{
    ball b = {.positions = malloc((size_t)side * side * 3 * sizeof(float)),
              .indices = malloc((size_t)(side - 1) * (side - 1) * 6 * sizeof(uint32_t))};
    uint32_t *out = b.indices;
    for (uint32_t i = 0; i < side * side; i++) {
        float x = (float)(i % side) / (float)(side - 1), y = (float)(i / side) / (float)(side - 1);
        float *p = b.positions + 3 * i;
        p[0] = 10 * x;
        p[1] = 10 * y;
        p[2] = 1.1f * sinf(9 * x + 2 * y) * cosf(8 * y) + 0.05f * sinf(60 * x) * sinf(70 * y);
        if (i % side + 1 == side || i / side + 1 == side)
            continue;
        const uint32_t quad[6] = {i, i + 1, i + side, i + side, i + 1, i + side + 1};
        memcpy(out, quad, sizeof quad);
        out += 6;
    }
    b.mesh = (tml_mesh){.positions = b.positions,
                        .indices = b.indices,
                        .vertex_count = (uint64_t)side * side,
                        .triangle_count = (uint64_t)(side - 1) * (side - 1) * 2};
    return b;
}

TEST(pictures_are_those_of_the_straightforward_way)
{
    static const uint32_t sides[] = {3, 24, 90,
                                     300}; /* triangles from 100 pixels down to less than one */
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        ball hills = make_hills(sides[i]), round = make_ball(sides[i]);
        for (int turn = 0; turn < 3; turn++) {
            render_desc desc = blue;
            desc.azimuth = 31.7 + 100 * turn;
            desc.elevation = 35 - 50 * turn;
            check_picture(&hills.mesh, &desc);
            desc.width = 101 + (uint32_t)turn;
            check_picture(&round.mesh, &desc);
        }
        free_ball(&hills);
        free_ball(&round);
    }
}

TEST(coloured_pictures_are_those_of_the_straightforward_way)
{
    ball b = make_hills(40);
    float *values = malloc(b.mesh.vertex_count * sizeof *values);
    uint8_t *colors = malloc(3 * b.mesh.triangle_count);
    const uint32_t lit[] = {5, 900, 901, 902, 1500, 2000};
    for (uint64_t v = 0; v < b.mesh.vertex_count; v++)
        values[v] = b.positions[3 * v + 2];
    for (uint64_t i = 0; i < 3 * b.mesh.triangle_count; i++)
        colors[i] = (uint8_t)(i * 37);
    b.mesh.values = values;
    render_desc desc = blue;
    desc.color_by_value = true;
    check_picture(&b.mesh, &desc);
    desc.color_by_value = false;
    desc.wire = 0.83f;
    check_picture(&b.mesh, &desc);
    desc.triangle_colors = colors;
    check_picture(&b.mesh, &desc);
    desc.lit = lit;
    desc.lit_count = sizeof lit / sizeof lit[0];
    desc.lit_color[0] = 1;
    check_picture(&b.mesh, &desc);
    b.mesh.indices = NULL; /* a soup of whatever the vertices make */
    b.mesh.triangle_count = b.mesh.vertex_count / 3;
    desc = blue;
    check_picture(&b.mesh, &desc);
    free(values);
    free(colors);
    free_ball(&b);
}

/* ---- backgrounds, frames, cameras ------------------------------------------------------------ */

TEST(a_clear_background_leaves_the_mesh_s_own_colours)
{
    static uint8_t clear[4 * WIDTH * HEIGHT], red[4 * WIDTH * HEIGHT], plain[4 * WIDTH * HEIGHT];
    ball b = make_ball(60);
    render_desc desc = blue;
    render(2, &b.mesh, &desc, plain);
    desc.background = RENDER_PLAIN;
    desc.background_color[0] = 1;
    render(2, &b.mesh, &desc, red);
    desc.background = RENDER_CLEAR;
    render(2, &b.mesh, &desc, clear);
    int counts[3] = {0, 0, 0}; /* of pixels that are clear, full, between */
    for (size_t i = 0; i < sizeof clear; i += 4) {
        counts[clear[i + 3] == 0 ? 0 : clear[i + 3] == 255 ? 1 : 2]++;
        CHECK_EQ_U64(red[i + 3], 255);
        if (clear[i + 3] == 0)
            CHECK(memcmp(red + i, (const uint8_t[4]){255, 0, 0, 255}, 4) == 0);
        else if (clear[i + 3] == 255)
            CHECK(memcmp(clear + i, red + i, 4) == 0 && memcmp(clear + i, plain + i, 4) == 0);
        else /* the red of the background has not come in */
            CHECK(is_blue(clear + i) && clear[i] < red[i]);
    }
    CHECK(counts[0] > 5000 && counts[1] > 5000 && counts[2] > 100 && counts[2] < 1000);
    free_ball(&b);
}

/* A ball and crumbs: vertex and triangle counts grow, the picture stays. */
TEST(crumbs_far_away_do_not_make_a_mesh_small)
{
    static uint8_t alone[4 * WIDTH * HEIGHT], among[4 * WIDTH * HEIGHT];
    static const float crumbs[9][3] = {{90, 0, 0},   {90.1f, 0, 0},   {90, 0.1f, 0},
                                       {0, -4e5, 0}, {0.2f, -4e5, 0}, {0, -4e5, 0.2f},
                                       {0, 0, 33},   {0, 0.1f, 33},   {0.1f, 0, 33}};
    ball b = make_ball(60);
    uint64_t vertices = b.mesh.vertex_count, triangles = b.mesh.triangle_count;
    render_desc desc = blue;
    tml_context *tml = open_with(2);
    picture_frame_crop(tml, &b.mesh, &desc);
    CHECK(!desc.crops && desc.frame_lower[0] == 0 && desc.frame_upper[0] == 0);
    render(2, &b.mesh, &desc, alone);
    float *positions = malloc((vertices + 9) * 3 * sizeof(float));
    uint32_t *indices = malloc((triangles + 3) * 3 * sizeof(uint32_t));
    memcpy(positions, b.positions, vertices * 3 * sizeof(float));
    memcpy(positions + 3 * vertices, crumbs, sizeof crumbs);
    memcpy(indices, b.indices, triangles * 3 * sizeof(uint32_t));
    for (uint32_t i = 0; i < 9; i++)
        indices[3 * triangles + i] = (uint32_t)vertices + i;
    tml_mesh mesh = b.mesh;
    mesh.positions = mesh.normals = positions;
    mesh.indices = indices;
    mesh.vertex_count += 9;
    mesh.triangle_count += 3;
    picture_frame_crop(tml, &mesh, &desc);
    CHECK(desc.crops);
    render(2, &mesh, &desc, among);
    CHECK(memcmp(alone, among, sizeof alone) == 0);
    mesh.triangle_count = 0; /* nothing tells an area */
    desc = blue;
    picture_frame_crop(tml, &mesh, &desc);
    CHECK(!desc.crops);
    tml_close(tml);
    free(positions);
    free(indices);
    free_ball(&b);
}

/* The camera of axes x, z, -y from a place before the ball. */
static render_camera camera_at(double y, double degrees)
{
    return (render_camera){.axes = {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
                           .eye = {0, y, 0},
                           .angle = degrees * 0.017453292519943295};
}

TEST(a_given_camera_sees_what_perspective_says)
{
    static uint8_t rgba[4 * WIDTH * HEIGHT];
    ball b = make_ball(200);
    const render_camera camera = camera_at(-5, 45);
    render_desc desc = blue;
    desc.background = RENDER_CLEAR;
    desc.camera = &camera;
    render(2, &b.mesh, &desc, rgba);
    double area = 0, middle[2] = {0, 0};
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        double covered = rgba[4 * i + 3] / 255.0;
        area += covered;
        middle[0] += covered * (i % WIDTH + 0.5);
        middle[1] += covered * (i / WIDTH + 0.5);
    }
    /* The cone that touches a unit ball from a distance of 5 has the sine 1/5. */
    double radius = HEIGHT / 2.0 / tan(camera.angle / 2) * tan(asin(1 / 5.0));
    CHECK_NEAR(area, 3.14159265 * radius * radius, 0.005 * area);
    CHECK_NEAR(middle[0] / area, WIDTH / 2.0, 0.02);
    CHECK_NEAR(middle[1] / area, HEIGHT / 2.0, 0.02);
    free_ball(&b);
}

/* The camera that is found for a picture, given to it, makes the same picture: of all, and of a
 * frame beside its middle. */
TEST(a_picture_s_own_camera_sees_the_same)
{
    static uint8_t own[4 * WIDTH * HEIGHT], given[4 * WIDTH * HEIGHT];
    ball b = make_ball(60);
    tml_context *tml;
    CHECK(tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 2}, &tml) == TML_OK);
    for (int framed = 0; framed < 2; framed++) {
        render_camera camera;
        render_desc desc = blue;
        desc.azimuth = 200;
        desc.elevation = -35;
        for (int i = 0; i < 3 * framed; i++) {
            desc.frame_lower[i] = 0.1 * i;
            desc.frame_upper[i] = 0.5;
        }
        CHECK(render_find_camera(tml, &b.mesh, &desc, &camera));
        render(2, &b.mesh, &desc, own);
        desc.camera = &camera;
        render(2, &b.mesh, &desc, given);
        uint32_t differ = 0; /* by more than what a depth of other units rounds to */
        for (int i = 0; i < 4 * WIDTH * HEIGHT; i++)
            differ += abs(own[i] - given[i]) > 2;
        CHECK(differ < 4 * WIDTH * HEIGHT / 1000);
    }
    tml_mesh nothing = {.positions = NULL};
    CHECK(!render_find_camera(tml, &nothing, &blue, &(render_camera){.angle = 0}));
    tml_close(tml);
    free_ball(&b);
}

static double area_of(const tml_mesh *mesh)
{
    double sum = 0;
    for (uint64_t t = 0; t < mesh->triangle_count; t++) {
        uint64_t v[3] = {0, 0, 0};
        CHECK(raster_corners(mesh, t, v));
        tml_vec3 a = position_of(mesh, v[0]);
        sum += (double)tml_length3(tml_cross3(tml_sub3(position_of(mesh, v[1]), a),
                                              tml_sub3(position_of(mesh, v[2]), a))) /
               2;
    }
    return sum;
}

TEST(clipping_leaves_what_lies_in_all_planes)
{
    tml_context *tml = open_with(1);
    ball b = make_ball(150);
    float *values = malloc(b.mesh.vertex_count * sizeof *values);
    for (uint64_t v = 0; v < b.mesh.vertex_count; v++)
        values[v] = b.positions[3 * v + 2];
    b.mesh.values = values;
    clip_plane all[CLIP_PLANES] = {
        {0, 0, 1, 2}, {1, 0, 0, 2}, {-1, 0, 0, 2}, {0, 1, 0, 2}, {0, -1, 0, 2}};
    clip_mesh clipped;
    CHECK_OK(tml, clip_make(tml, &b.mesh, all, &clipped));
    CHECK(clipped.mesh.positions == b.mesh.positions && clipped.memory == NULL);
    clip_free(tml, &clipped);
    /* The part of a unit sphere above z has the area 2 pi (1 - z); a quarter of that where x, y >
     * 0. */
    all[0][3] = -0.25;
    all[1][3] = all[3][3] = 0;
    CHECK_OK(tml, clip_make(tml, &b.mesh, all, &clipped));
    CHECK_NEAR(area_of(&clipped.mesh), 3.14159265 / 2 * 0.75, 1e-3);
    CHECK(clipped.mesh.triangle_count < b.mesh.triangle_count / 4);
    for (uint64_t i = 0; i < 3 * clipped.mesh.triangle_count; i++) {
        uint64_t v = ((const uint64_t *)clipped.mesh.indices)[i];
        const float *p = clipped.mesh.positions + 3 * v;
        CHECK(p[0] > -1e-6f && p[1] > -1e-6f && p[2] > 0.25f - 1e-6f);
        CHECK_NEAR(clipped.mesh.values[v], p[2], 1e-6);
        CHECK_NEAR(clipped.mesh.normals[3 * v + 1], p[1], 1e-6);
    }
    clip_free(tml, &clipped);
    all[0][3] = -3; /* nothing is left */
    CHECK_OK(tml, clip_make(tml, &b.mesh, all, &clipped));
    CHECK_EQ_U64(clipped.mesh.triangle_count, 0);
    clip_free(tml, &clipped);
    /* A soup with a corner that is not a number, and one out of range. */
    float soup[] = {0, 0, 0, NAN, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1};
    all[0][3] = 0;
    tml_mesh broken = {.positions = soup, .vertex_count = 6, .triangle_count = 3};
    CHECK_OK(tml, clip_make(tml, &broken, all, &clipped));
    CHECK(clipped.mesh.triangle_count <= 4);
    clip_free(tml, &clipped);
    free(values);
    free_ball(&b);
    tml_close(tml);
}

/* ---- hostile meshes -------------------------------------------------------------------------- */

TEST(broken_meshes_do_no_harm)
{
    static uint8_t rgba[4 * WIDTH * HEIGHT];
    render(2, &(tml_mesh){0}, &blue, rgba);
    CHECK(!is_blue(centre(rgba)));
    CHECK_EQ_U64(centre(rgba)[3], 255);

    float points[] = {0, 0, 0, NAN, 1, 0, 0, INFINITY, 0, 1, 1, 1, 1, 1, 1, 3e38f, -3e38f, 0};
    uint32_t indices[] = {0, 1, 2, 0, 3, 4, 3, 4, 77, 4, 4, 4, 0, 3, 5};
    tml_mesh mesh = {
        .positions = points, .indices = indices, .vertex_count = 6, .triangle_count = 5};
    render(2, &mesh, &blue, rgba);
    mesh.vertex_count = 1;
    render(2, &mesh, &blue, rgba);
}

TEST(sizes_out_of_range_are_refused)
{
    uint8_t rgba[4] = {0};
    tml_context *tml = open_with(1);
    render_desc desc = blue;
    desc.width = 0;
    CHECK_STATUS(render_mesh(tml, &(tml_mesh){0}, &desc, rgba), TML_ERROR_INVALID_ARGUMENT);
    desc.width = RENDER_MAX_SIDE + 1;
    CHECK_STATUS(render_mesh(tml, &(tml_mesh){0}, &desc, rgba), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "8192") != NULL);
    desc = blue;
    tml_mesh huge = {.triangle_count = UINT64_C(1) << 32};
    CHECK_STATUS(render_mesh(tml, &huge, &desc, rgba), TML_ERROR_UNSUPPORTED);
    tml_cancel(tml);
    static uint8_t picture[4 * WIDTH * HEIGHT];
    CHECK_STATUS(render_mesh(tml, &(tml_mesh){0}, &blue, picture), TML_ERROR_CANCELLED);
    tml_close(tml);
}

/* ---- colours --------------------------------------------------------------------------------- */

TEST(colour_scales_are_even)
{
    for (int i = 0; i <= 255; i++) {
        float srgb = (float)i / 255;
        CHECK_NEAR(color_to_srgb(color_to_linear(srgb)), srgb, 1e-5);
    }
    float before = -1;
    for (int i = 0; i <= 100; i++) {
        tml_vec3 c = color_of_value((float)i / 100);
        float luminance = 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
        CHECK(luminance > before);
        before = luminance;
    }
    tml_vec3 grey = color_from_lch(0.5f, 0, 0.3f);
    CHECK_NEAR(grey.x, 0.125, 1e-4);
    CHECK_NEAR(grey.y, 0.125, 1e-4);
    CHECK_NEAR(grey.z, 0.125, 1e-4);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
