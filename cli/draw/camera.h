/* Cameras that the user gives, instead of those that pictures choose. */
#ifndef CLI_CAMERA_H
#define CLI_CAMERA_H

#include "draw/render.h"
#include "options/options.h"

/* text: eye, target and angle, or a file; NULL: none is given. */
typedef struct camera_options {
    const char *text;
    double fov; /* degrees, where numbers have none */
} camera_options;

/* The rows of an option table for the member camera of args. Further arguments are members of
 * --camera's row. */
/* clang-format off */
#define CAMERA_OPTIONS(args, ...)                                                                  \
    {OPT_INPUT, "camera", .argument = "X,Y,Z,TX,TY,TZ[,FOV]|FILE", __VA_ARGS__,                    \
     .offset = offsetof(args, camera.text), .endings = ".txt",                                     \
     .help = "a camera instead of --view: where the eye is, where it looks, and the angle from "   \
             "bottom to top in degrees; --up is up. Or a text of 16 numbers, the matrix from the " \
             "camera to the world, row by row; it looks along its -z, its y is up, as in glTF, "   \
             "Blender and NeRF's transforms"},                                                     \
    {OPT_NUMBER, "fov", .needs = "camera", .argument = "DEGREES", .least = 0.1, .most = 170,       \
     .fallback = "45", .offset = offsetof(args, camera.fov),                                       \
     .help = "angle from the picture's bottom to its top, where --camera has none"}
/* clang-format on */

/* Refuses numbers that are too few. */
int camera_check(const camera_options *options);

/* Finds axes, eye and angle, for positions relative to origin. A file is a text of 16 numbers: the
 * matrix from the camera to the world, row by row. On failure prints the reason. Returns an exit
 * code. */
int camera_find(const camera_options *options, tml_up up, const double origin[3],
                render_camera *out);

#endif
