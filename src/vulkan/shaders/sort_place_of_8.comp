#define SORT_WORDS 2
#include "sort_place.glsl"
