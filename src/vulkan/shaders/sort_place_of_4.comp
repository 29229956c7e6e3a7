#define SORT_WORDS 1
#include "sort_place.glsl"
