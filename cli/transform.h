/* Scaling, rotation and translation: the options and matrices of collide and convert. */
#ifndef CLI_TRANSFORM_H
#define CLI_TRANSFORM_H

#include <trommel/points.h>

#include "options/options.h"

typedef struct transform_options {
    opt_numbers scale;     /* one or three factors */
    opt_numbers rotate;    /* degrees about x, then y, then z */
    opt_numbers translate; /* applied last */
} transform_options;

/* Whether the options move anything. */
bool transform_is_asked(const transform_options *options);
/* Computes 3 rows of 4: scale, rotate about x, then y, then z, then translate. */
void transform_matrix(const double scale[3], const double rotate[3], const double translate[3],
                      double m[12]);
/* Returns why the options are unusable, such as a factor of 0; NULL if they are usable. */
const char *transform_refuse(const transform_options *options);
/* Change the arrays in place, whoever owns them, and the origin. A mirrored mesh gets its
 * triangles' corners in reverse order, so that its outside stays outside. */
void transform_mesh(const transform_options *options, tml_mesh *mesh);
void transform_points(const transform_options *options, tml_points *points);

#endif
