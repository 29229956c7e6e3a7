/* A file of its own, so that another definition can replace it in a build without the tier. */
#include "gl/device/gl_float.h"

const bool gl_has_floats = true;
