/* Cameras from files. */
#ifndef CLI_CAMERA_H
#define CLI_CAMERA_H

#include "render.h"

/* Reads axes and eye, for positions relative to origin, from a text of 16 numbers: the matrix from the camera to the
 * world, row by row. Prints what is wrong and returns an exit code. */
int camera_load(const char *path, const double origin[3], render_camera *out);

#endif
