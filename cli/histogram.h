/* Histogram of a volume's samples, and Otsu's threshold in it. */
#ifndef CLI_HISTOGRAM_H
#define CLI_HISTOGRAM_H

#include <trommel/core.h>

typedef struct histogram {
    double lower, upper; /* of the finite samples; lower > upper when there are none */
    double mean;         /* of the finite samples; NaN when there are none */
    double first;        /* centre of bins[0] */
    double step;         /* distance of two bins' centres */
    uint32_t bin_count;
    uint64_t *bins; /* from the context; released by histogram_free */
    uint64_t nans, infinities;
} histogram;

/* Counts count samples of a scalar type. Types of 8 and 16 bits other than f16 get a bin for each
 * value and are exact, the others 4096 bins over their range. Errors: OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status histogram_make(tml_context *tml, const void *data, tml_type type,
                                         uint64_t count, histogram *out);
void histogram_free(tml_context *tml, histogram *h);

/* The value that best divides the samples into a low and a high class: the greatest variance
 * between the classes; in the middle where several do. Otsu: A Threshold Selection Method from
 * Gray-Level Histograms. 1979. lower where there is nothing to divide. */
double histogram_otsu(const histogram *h);

/* The histogram as a line of columns characters, at most 256: block elements, or ASCII ones. The
 * height is the logarithm of the count, so that the few samples of a small part show. out: 4 bytes
 * a column and one. */
void histogram_sparkline(const histogram *h, uint32_t columns, bool ascii, char *out);

#endif
