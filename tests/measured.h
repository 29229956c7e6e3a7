/* A context's description, and the scratch that a call needs. */
#ifndef MEASURED_H
#define MEASURED_H

#include <trommel/core.h>

static inline tml_device_info test_described(const tml_context *context)
{
    tml_device_info info = {0};
    tml_context_describe(context, &info);
    return info;
}

/* SCRATCH_OF returns the bytes of scratch that a call needs, without running the call; 0 while a
 * command buffer is recorded. */
static inline size_t scratch_measured(tml_context *context)
{
    tml_prepared prepared;
    return tml_prepare_end(context, &prepared) == TML_OK ? prepared.scratch_size : 0;
}
#define SCRATCH_OF(context, call)                                                                  \
    (tml_prepare_begin(context) ? 0 : ((void)!(call), scratch_measured(context)))

/* Bytes in the scratch arena. */
static inline size_t test_reserved(const tml_context *context)
{
    return test_described(context).scratch_size;
}

#endif
