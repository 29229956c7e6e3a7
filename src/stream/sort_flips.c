/* The bits of keys that are flipped, so that codes of keys order as unsigned numbers. */
#include "core/scalars.h"
#include "stream/stream_internal.h"

TML_SCALAR_LIST(SCALAR_IS_KNOWN)

/* Negative floats order by the inverted bits. */
void stream_sort_flips(const tml_slot *keys, bool descending, uint64_t *flip, uint64_t *real_flip)
{
    uint64_t top = (uint64_t)1 << (8 * keys->element_size - 1);
    tml_scalar_kind kind = tml_scalar_kind_of(keys->type);
    *flip = kind == SCALAR_UNSIGNED ? 0 : top;
    *real_flip = kind == SCALAR_FLOAT ? top - 1 : 0;
    if (descending)
        *flip ^= top | (top - 1);
}
