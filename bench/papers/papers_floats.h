/* The table of the article on float textures. */
#ifndef PAPERS_FLOATS_H
#define PAPERS_FLOATS_H

#include <trommel/trommel.h>

/* On a context's engine, prints how many floats each way packs and unpacks wrongly, for every
 * step-th bit pattern. On the CPU, also prints the library's own way and the time of a
 * conversion. */
TML_MUST_CHECK tml_status floats_print(tml_context *tml, uint32_t step, uint32_t repeats);

#endif
