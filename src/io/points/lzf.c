/* LZF decompression. The format (Marc Lehmann: LibLZF. 2000) is a sequence of
 *   000LLLLL                      L + 1 literal bytes follow
 *   LLLooooo oooooooo             copy L + 2 bytes from o + 1 bytes back, L = 1 ... 6
 *   111ooooo LLLLLLLL oooooooo    copy L + 9 bytes from o + 1 bytes back
 * where the source and destination of a copy may overlap. */
#include <string.h>

#include "io/points/lzf.h"

bool tml_lzf_unpack(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    size_t at = 0, done = 0;
    while (at < in_size) {
        unsigned control = in[at++];
        if (control < 0x20) {
            size_t length = control + 1;
            if (length > in_size - at || length > out_size - done)
                return false;
            memcpy(out + done, in + at, length);
            at += length;
            done += length;
            continue;
        }
        size_t length = (control >> 5) + 2;
        if (length == 9) {
            if (at == in_size)
                return false;
            length += in[at++];
        }
        if (at == in_size)
            return false;
        size_t distance = ((size_t)(control & 0x1f) << 8 | in[at++]) + 1;
        if (distance > done || length > out_size - done)
            return false;
        for (size_t end = done + length; done < end; done++) /* no memcpy: overlaps repeat bytes */
            out[done] = out[done - distance];
    }
    return done == out_size;
}
