/* Contexts of the CPU engine for tests of files: one that counts its memory and can be made to run
 * out of it, and a plain one. Stands after test.h. */
#ifndef TML_TEST_MEMORY_WATCH_H
#define TML_TEST_MEMORY_WATCH_H

#include <stdlib.h>

#include "core/platform.h"

typedef struct memory_watch {
    size_t largest;   /* request so far */
    size_t live;      /* bytes not given back */
    size_t peak;      /* the most of them at once */
    uint64_t count;   /* requests so far */
    uint64_t fail_at; /* this request gets nothing; 0: none */
} memory_watch;

tml_context *open_watched(memory_watch *watch);
tml_context *open_plain(void);

#endif
