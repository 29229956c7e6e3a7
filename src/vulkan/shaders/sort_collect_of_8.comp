#define SORT_WORDS 2
#include "sort_collect.glsl"
