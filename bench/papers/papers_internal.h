/* What the papers share. */
#ifndef PAPERS_INTERNAL_H
#define PAPERS_INTERNAL_H

#include "papers.h"

/* Tells the engine of the papers' kernels, where they were compiled in the build. */
void papers_learn(tml_context *tml);

/* 1 for each element that is kept, else 0, to space->words[0]. */
tml_status papers_count(tml_context *tml, const papers_filter_desc *desc);
/* As many outputs as count says and out has room for. */
tml_length papers_outputs(tml_context *tml, tml_buffer out, tml_buffer count);
const tml_kernel *papers_copy_kernel(void);

/* A network has a power of two of wires. */
uint64_t papers_wires(uint64_t count);

static inline bool papers_same(tml_buffer a, tml_buffer b)
{
    return a.slot == b.slot && a.generation == b.generation;
}

#endif
