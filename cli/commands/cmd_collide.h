/* trommel collide: what its files share. */
#ifndef CMD_COLLIDE_H
#define CMD_COLLIDE_H

#include <trommel/points.h>

#include "cli.h"
#include "draw/picture_options.h"
#include "inside.h"
#include "mesh_input.h"
#include "report/json.h"
#include "report/report.h"

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
    uint32_t fit;     /* what fills the picture */
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

/* The state of one run. */
typedef struct collision {
    tml_context *tml;
    const collide_args *args;
    mesh_input a, b; /* b is empty for a single mesh */
    tml_tree *tree_a, *tree_b;
    float *poses; /* 12 floats each, between the meshes' own origins; NULL: the identity */
    uint32_t pose_count;
    size_t poses_size;
    tml_collide_result hits;
    tml_collide_distance_result *distances;
    size_t distances_size;
    tml_points points; /* with --find inside, instead of b */
    inside inside;
    report times;
} collision;

/* ---- cmd_collide_poses.c --------------------------------------------------------------------- */

/* Whether the options move B. */
bool collide_is_posed(const collide_args *a);
/* Makes the poses from the options or --pose. Prints what is wrong and returns an exit code. */
int collide_make_poses(collision *r);
uint32_t collide_shown_poses(const collision *r);
/* Returns the pose to show: the first one with a pair, or the one with the least distance. */
uint32_t collide_shown_pose(const collision *r);

/* ---- cmd_collide_tables.c: functions that return int print what is wrong --------------------- */

int collide_save_table(collision *r);
int collide_save_segments(collision *r);
void collide_json_pose_pairs(json *j, const collision *r);
void collide_json_distances(json *j, const collision *r);
/* A point's coordinate in A's units; the digits that show it to the float's last bit. */
double collide_world(const collision *r, const float *point, int axis);
int collide_digits(const collision *r);

/* ---- cmd_collide_picture.c ------------------------------------------------------------------- */

int collide_save_picture(collision *r);

#endif
