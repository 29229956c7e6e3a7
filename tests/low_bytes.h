/* Converts between 64-bit numbers and numbers of 1 to 8 bytes, in the byte order of the machine or
 * of a file. */
#ifndef LOW_BYTES_H
#define LOW_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <trommel/core.h>

enum { IS_BIG_ENDIAN = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

static inline void put_low(void *out, uint64_t x, size_t size)
{
    memcpy(out, (const uint8_t *)&x + (IS_BIG_ENDIAN ? sizeof x - size : 0), size);
}

static inline uint64_t get_low(const void *in, size_t size)
{
    uint64_t x = 0;
    memcpy((uint8_t *)&x + (IS_BIG_ENDIAN ? sizeof x - size : 0), in, size);
    return x;
}

/* Copies a number between the machine's byte order and a file's. */
static inline void put_ordered(void *out, const void *in, size_t size, bool big_endian)
{
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)out)[i] = ((const uint8_t *)in)[big_endian != IS_BIG_ENDIAN ? size - 1 - i : i];
}

/* Writes a number as an integer, f32 or f64, in a byte order. Returns its size. */
static inline size_t put_scalar(void *out, double number, tml_type type, bool big_endian)
{
    size_t size = tml_type_size(type);
    float single = (float)number;
    uint64_t integer = 0;
    put_low(&integer, (uint64_t)(int64_t)number, size);
    put_ordered(out,
                type == TML_F32   ? (const void *)&single
                : type == TML_F64 ? (const void *)&number
                                  : (const void *)&integer,
                size, big_endian);
    return size;
}

#endif
