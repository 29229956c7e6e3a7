/* What a fuzz target asks for: where it is not so, a line that says what, and the end, which is a
 * finding. */
#ifndef TML_FUZZ_DEMAND_H
#define TML_FUZZ_DEMAND_H

#include <stdio.h>
#include <stdlib.h>

#define DEMAND(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
