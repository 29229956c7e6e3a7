/* The base of the pyramid to be painted: as the engine draws it. */
#include "kernel_keep.frag"
