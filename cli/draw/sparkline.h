/* A histogram as a line of text. */
#ifndef CLI_SPARKLINE_H
#define CLI_SPARKLINE_H

#include <trommel/volumes.h>

/* Writes the histogram as a line of `columns` characters, at most 256: block elements, or ASCII
 * characters. The height is the logarithm of the count, so that small counts are visible. out: 4
 * bytes per column and 1 more. */
void histogram_sparkline(const tml_value_histogram *h, uint32_t columns, bool ascii, char *out);

#endif
