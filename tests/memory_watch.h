/* Contexts of the CPU engine for tests of files: one that counts its memory and can be made to run
 * out of it, and a plain one. Include after test.h. */
#ifndef TML_TEST_MEMORY_WATCH_H
#define TML_TEST_MEMORY_WATCH_H

#include <stdlib.h>

#include "core/platform.h"

typedef struct memory_watch {
    size_t largest;   /* largest request so far */
    size_t live;      /* bytes not freed */
    size_t peak;      /* maximum of live */
    uint64_t count;   /* requests so far */
    uint64_t fail_at; /* number of the request that fails, from 1; 0: none */
} memory_watch;

tml_context *open_watched(memory_watch *watch);
tml_context *open_plain(void);

#endif
