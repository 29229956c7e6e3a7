#define SORT_WORDS 2
#include "sort_count.glsl"
