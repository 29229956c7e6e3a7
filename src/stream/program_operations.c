/* Each operation as a step of a program: its public call, recorded (program.c). */
#include "stream/program.h"

#define PROGRAM_DEFINE(name, type)                                                                 \
    void program_##name(program *p, const type *desc)                                              \
    {                                                                                              \
        program *before = p->tml->recorder;                                                        \
        if (p->status)                                                                             \
            return;                                                                                \
        p->tml->recorder = p;                                                                      \
        p->status = tml_##name(p->tml, desc);                                                      \
        p->tml->recorder = before;                                                                 \
    }
PROGRAM_OPERATIONS(PROGRAM_DEFINE)
