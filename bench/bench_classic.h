/* The surface pipeline of 2008, where the library was built with it (gl/gl_classic.h). */
#ifndef BENCH_CLASSIC_H
#define BENCH_CLASSIC_H

#include <trommel/trommel.h>

/* Enqueues a soup of room vertices that goes nowhere; count (u32, optional) gets how many there are. */
tml_status bench_classic_surface(tml_context *tml, tml_buffer volume, const uint64_t dims[3],
                                 double iso, uint64_t room, tml_buffer count);

#endif
