/* Shared by the papers' programs. */
#ifndef PAPERS_INTERNAL_H
#define PAPERS_INTERNAL_H

#include "papers.h"

/* Registers the papers' kernels that the build compiled with the engine. */
void papers_learn(tml_context *tml);

/* Writes 1 for each element that is kept, else 0, to space->words[0]. */
tml_status papers_count(tml_context *tml, const papers_filter_desc *desc);
/* The length of a map over outputs: count on the device, at most out's size. */
tml_length papers_outputs(tml_context *tml, tml_buffer out, tml_buffer count);
const tml_kernel *papers_copy_kernel(void);

/* The least power of two that is at least count: the wires of a sorting network. */
uint64_t papers_wires(uint64_t count);

static inline bool papers_same(tml_buffer a, tml_buffer b)
{
    return a.slot == b.slot && a.generation == b.generation;
}

#endif
