/* Apart, so that another definition takes its place where the tier is left out. */
#include "gl/device/gl_float.h"

const bool gl_has_floats = true;
