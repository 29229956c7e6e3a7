/* A robot's way through a room, sampled as poses: where it can go, and what it touches first. Shows
 * tml_collide with thousands of poses and TML_COLLIDE_WANT_FIRST. The robot is 0.9 long and drives
 * through a door 0.8 wide: straight on it fits, turning in the door it does not.
 *
 *     path [--poses N] [--output FILE.png]      the picture: the room from above, and the robot at
 *     each 20th pose, red
 *                                               where it touches something */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trommel/collide.h>
#include <trommel/pictures.h>

enum { WIDTH = 800, HEIGHT = 500, BOXES = 8 };

static void check(const tml_context *tml, tml_status status)
{
    if (status == TML_OK)
        return;
    fprintf(stderr, "path: %s\n", tml ? tml_last_error(tml) : tml_status_text(status));
    exit(1);
}

/* ---- meshes of boxes ------------------------------------------------------------------------- */

typedef struct box {
    const char *name;
    float low[3], high[3]; /* metres */
} box;

static const box room[BOXES] = {{"the floor", {0, 0, -0.1f}, {8, 5, 0}},
                                {"the west wall", {0, 0, 0}, {0.2f, 5, 2.5f}},
                                {"the east wall", {7.8f, 0, 0}, {8, 5, 2.5f}},
                                {"the south wall", {0, 0, 0}, {8, 0.2f, 2.5f}},
                                {"the north wall", {0, 4.8f, 0}, {8, 5, 2.5f}},
                                {"the wall right of the door", {3.9f, 0, 0}, {4.1f, 2.1f, 2.5f}},
                                {"the wall left of the door", {3.9f, 2.9f, 0}, {4.1f, 5, 2.5f}},
                                {"the table", {5.2f, 3.1f, 0.7f}, {7, 4, 0.75f}}};
/* A body, and a mast that does not fit under the table. Wheels are left out: it floats a centimetre
 * over the floor. */
static const box robot[2] = {{"the body", {-0.45f, -0.3f, 0.01f}, {0.45f, 0.3f, 0.4f}},
                             {"the mast", {0.2f, -0.05f, 0.4f}, {0.3f, 0.05f, 1.2f}}};

enum { BOX_TRIANGLES = 12 };

static tml_tree *tree_of(tml_context *tml, const box *boxes, uint32_t count)
{
    static const uint8_t quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                        {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    float points[9 * BOX_TRIANGLES * BOXES], *p = points;
    tml_buffer vertices;
    tml_tree *tree;
    for (uint32_t i = 0; i < BOX_TRIANGLES * count; i++)
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t half = i % 2, corner = quads[i % BOX_TRIANGLES / 2][k ? k + half : 0];
            for (uint32_t axis = 0; axis < 3; axis++)
                *p++ = (corner >> axis & 1 ? boxes[i / BOX_TRIANGLES].high
                                           : boxes[i / BOX_TRIANGLES].low)[axis];
        }
    check(tml, tml_buffer_create(tml,
                                 &(tml_buffer_desc){.type = TML_VEC(TML_F32, 3),
                                                    .count = (uint64_t)3 * BOX_TRIANGLES * count,
                                                    .data = points},
                                 &vertices));
    check(tml, tml_tree_create(tml, &(tml_tree_desc){.vertices = vertices}, &tree));
    tml_buffer_destroy(tml, vertices);
    return tree;
}

/* ---- the way --------------------------------------------------------------------------------- */

typedef struct stop {
    double x, y, angle; /* metres, degrees */
} stop;

/* Through the door and around in it, to the table, and below it. */
static const stop way[] = {{1, 1, 90},    {1, 2.5, 90},  {1, 2.5, 0},   {4, 2.5, 0},  {4, 2.5, 180},
                           {4, 2.5, 360}, {6, 2.5, 360}, {6, 2.5, 450}, {6, 3.2, 450}};
enum { STOPS = sizeof way / sizeof *way };

/* Rows of 4 that turn and move the robot, as tml_collide wants them. part: from 0 to 1. */
static void pose_at(double part, float pose[12])
{
    double at = part * (STOPS - 1);
    int leg = at < STOPS - 1 ? (int)at : STOPS - 2;
    const stop *from = &way[leg], *to = &way[leg + 1];
    double angle = (from->angle + (at - leg) * (to->angle - from->angle)) * 0.017453292519943295;
    double x = from->x + (at - leg) * (to->x - from->x),
           y = from->y + (at - leg) * (to->y - from->y);
    float c = (float)cos(angle), s = (float)sin(angle);
    const float rows[12] = {c, -s, 0, (float)x, s, c, 0, (float)y, 0, 0, 1, 0};
    memcpy(pose, rows, sizeof rows);
}

/* ---- the picture ----------------------------------------------------------------------------- */

static void draw_box(uint8_t *pixels, const box *b, const float *pose, const uint8_t color[3])
{
    float corners[4][2];
    for (int i = 0; i < 4; i++) {
        float x = i == 0 || i == 3 ? b->low[0] : b->high[0], y = i < 2 ? b->low[1] : b->high[1];
        corners[i][0] = pose ? pose[0] * x + pose[1] * y + pose[3] : x;
        corners[i][1] = pose ? pose[4] * x + pose[5] * y + pose[7] : y;
    }
    for (int i = 0; i < 4 * WIDTH; i++) { /* 100 pixels a metre */
        const float *from = corners[i / WIDTH], *to = corners[(i / WIDTH + 1) % 4];
        float part = (float)(i % WIDTH) / WIDTH;
        int x = (int)(100 * (from[0] + part * (to[0] - from[0])));
        int y = HEIGHT - 1 - (int)(100 * (from[1] + part * (to[1] - from[1])));
        if (x >= 0 && x < WIDTH && y >= 0 && y < HEIGHT)
            memcpy(pixels + 3 * ((size_t)y * WIDTH + (size_t)x), color, 3);
    }
}

static void draw(tml_context *tml, const float *poses, const tml_collide_result *hits,
                 const char *path)
{
    static uint8_t pixels[3 * WIDTH * HEIGHT];
    static const uint8_t white[3] = {230, 230, 230}, green[3] = {60, 170, 60},
                         red[3] = {220, 40, 40};
    for (int i = 0; i < BOXES; i++)
        draw_box(pixels, &room[i], NULL, white);
    for (uint32_t p = 0; p < hits->pose_count; p += 20)
        draw_box(pixels, &robot[0], poses + 12 * (size_t)p,
                 hits->first[p + 1] > hits->first[p] ? red : green);
    check(tml, tml_picture_save(tml, path,
                                &(tml_picture){.data = pixels,
                                               .size = sizeof pixels,
                                               .type = TML_U8,
                                               .width = WIDTH,
                                               .height = HEIGHT,
                                               .channels = 3,
                                               .srgb = true}));
}

/* Tells where the way is free, and what the robot touches where it is not. Returns how many poses
 * are free. */
static uint32_t tell(const tml_collide_result *hits)
{
    uint32_t count = hits->pose_count, free_count = 0;
    for (uint32_t p = 0, end; p < count; p = end) {
        bool is_free = hits->first[p] == hits->first[p + 1];
        for (end = p; end < count && (hits->first[end] == hits->first[end + 1]) == is_free; end++)
            free_count += is_free;
        printf("poses %5u to %5u: ", p, end - 1);
        if (is_free) {
            puts("free");
        } else {
            const tml_collide_pair *pair = &hits->pairs[hits->first[p]];
            printf("%s touches %s\n", robot[pair->b / BOX_TRIANGLES].name,
                   room[pair->a / BOX_TRIANGLES].name);
        }
    }
    return free_count;
}

int main(int argc, char **argv)
{
    uint32_t count = 4000;
    const char *output = NULL;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--output") && *value)
            output = value;
        else if (strcmp(argv[i], "--poses") != 0 || sscanf(value, "%u", &count) != 1 || count < 2 ||
                 count > 1000000) {
            fputs("path [--poses N] [--output FILE.png]: 2 to 1000000 poses\n", stderr);
            return 2;
        }
    }
    float *poses = malloc((size_t)count * 12 * sizeof *poses);
    if (!poses) {
        fputs("path: out of memory\n", stderr);
        return 1;
    }
    for (uint32_t p = 0; p < count; p++)
        pose_at((double)p / (count - 1), poses + 12 * (size_t)p);
    tml_context *tml;
    check(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml));
    tml_tree *a = tree_of(tml, room, BOXES), *b = tree_of(tml, robot, 2);
    tml_collide_result hits;
    check(tml, tml_collide(tml,
                           &(tml_collide_desc){.a = a,
                                               .b = b,
                                               .poses = poses,
                                               .pose_count = count,
                                               .want = TML_COLLIDE_WANT_FIRST},
                           &hits));
    uint32_t free_count = tell(&hits);
    printf("%u of %u poses are free\n", free_count, count);
    if (output)
        draw(tml, poses, &hits, output);
    tml_collide_free(tml, &hits);
    tml_tree_destroy(tml, a);
    tml_tree_destroy(tml, b);
    tml_close(tml);
    free(poses);
    return free_count > 0 && free_count < count ? 0 : 1;
}
