/* The tables of the 2019 article on averages. */
#ifndef PAPERS_AVERAGES_H
#define PAPERS_AVERAGES_H

#include <trommel/trommel.h>

/* Prints the weights of pixels in each method, for usual sizes. Errors: OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status averages_print_weights(tml_context *tml);

/* Prints the mean of log2 luminance of the centre of a picture (of linear numbers: .hdr, .pfm,
 * .exr) in several sizes, and the error of each method in stops. */
TML_MUST_CHECK tml_status averages_print_picture(tml_context *tml, const char *path);

/* Draws, as a chart (SVG), the means of the picture's centre by width, from first to last columns,
 * with all rows. */
TML_MUST_CHECK tml_status averages_draw_sweep(tml_context *tml, const char *path, uint32_t first,
                                              uint32_t last, const char *svg);

/* Draws the mip levels of a picture with odd sides: by blits above, by area below. */
TML_MUST_CHECK tml_status averages_draw_sheet(tml_context *tml, const char *path, const char *png);

#endif
