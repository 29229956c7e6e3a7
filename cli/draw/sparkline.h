/* A histogram as a line of text. */
#ifndef CLI_SPARKLINE_H
#define CLI_SPARKLINE_H

#include <trommel/volumes.h>

/* The histogram as a line of columns characters, at most 256: block elements, or ASCII ones. The
 * height is the logarithm of the count, so that the few samples of a small part show. out: 4 bytes
 * a column and one. */
void histogram_sparkline(const tml_value_histogram *h, uint32_t columns, bool ascii, char *out);

#endif
