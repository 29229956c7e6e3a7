/* The types and functions of kernel.h; its macros are in kernel.h itself. */
#ifndef TML_KERNEL_TYPES_H
#define TML_KERNEL_TYPES_H

#include <trommel/kernel_math.h>

typedef struct tml_ivec3 {
    int32_t x, y, z;
} tml_ivec3;
typedef uint64_t tml_address;

static inline tml_ivec3 tml_make_ivec3(int32_t x, int32_t y, int32_t z)
{
    return (tml_ivec3){x, y, z};
}

static inline tml_uvec4 tml_word_uvec4(tml_words words, tml_index i)
{
    return tml_make_uvec4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
}

/* The address of host memory, for an argument struct. */
static inline tml_address tml_address_of(const void *memory)
{
    return (tml_address)(uintptr_t)memory;
}

#endif
