#define SORT_WORDS 1
#include "sort_window.glsl"
