/* Scaled, rotated and moved: the options and the matrices of collide and convert. */
#ifndef CLI_TRANSFORM_H
#define CLI_TRANSFORM_H

#include <trommel/points.h>

#include "options/options.h"

typedef struct transform_options {
    opt_numbers scale;     /* one or three factors */
    opt_numbers rotate;    /* degrees about x, then y, then z */
    opt_numbers translate; /* last */
} transform_options;

/* Do they move anything? */
bool transform_is_asked(const transform_options *options);
/* Rotation about z of that about y of that about x, of what is scaled; then the translation: 3
 * rows of 4. */
void transform_matrix(const double scale[3], const double rotate[3], const double translate[3],
                      double m[12]);
/* Why a matrix is none that can be taken, such as a factor of 0; NULL: it can. */
const char *transform_refuse(const transform_options *options);
/* Changes the arrays in place, whoever owns them, and the origin. A mirrored mesh gets its
 * triangles' corners in reverse, so that its outside stays outside. */
void transform_mesh(const transform_options *options, tml_mesh *mesh);
void transform_points(const transform_options *options, tml_points *points);

#endif
