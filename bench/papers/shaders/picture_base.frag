/* Draws the base of the pyramid for the picture, as the engine does. */
#include "kernel_keep.frag"
