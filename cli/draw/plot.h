/* A histogram as a drawing: bars, axes with units, marks. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

/* A vertical line with its label. */
typedef struct plot_mark {
    double at; /* on the horizontal axis; NaN: left out */
    const char *label;
    const char *color; /* of SVG */
} plot_mark;

typedef struct plot_desc {
    const char *title, *x_label, *y_label;
    double keep_low, keep_high; /* bars outside are pale; NaN: all are alike */
    const plot_mark *marks;
    uint32_t mark_count;
} plot_desc;

/* Writes an SVG file of 1000 x 560 pixels: percentages of the total over the range of bins that are
 * not empty. Returns CLI_OK, or CLI_FAILED after printing the reason. */
int plot_histogram(const char *path, const tml_value_histogram *h, const plot_desc *desc);

#endif
