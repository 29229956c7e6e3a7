/* A histogram as a line of text. */
#include <math.h>
#include <string.h>

#include "draw/sparkline.h"

void histogram_sparkline(const tml_value_histogram *h, uint32_t columns, bool ascii, char *out)
{
    static const char *const blocks[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char *const letters[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    double heights[256] = {0}, most = 0;
    columns = columns < 256 ? columns : 256;
    for (uint32_t i = 0; i < h->bin_count; i++)
        heights[(uint64_t)i * columns / h->bin_count] += (double)h->bins[i];
    for (uint32_t c = 0; c < columns; c++) {
        heights[c] = log1p(heights[c]);
        most = fmax(most, heights[c]);
    }
    for (uint32_t c = 0; c < columns; c++) {
        int level = heights[c] > 0 ? 1 + (int)(7.999 * heights[c] / most) : 0;
        const char *mark = (ascii ? letters : blocks)[level];
        size_t length = strlen(mark);
        memcpy(out, mark, length);
        out += length;
    }
    *out = '\0';
}
