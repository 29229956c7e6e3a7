/* Numbers of 1 to 8 bytes in the machine's order, from and to 64 bits. */
#ifndef LOW_BYTES_H
#define LOW_BYTES_H

#include <stdint.h>
#include <string.h>

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

#endif
