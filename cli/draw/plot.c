/* A histogram as a drawing in SVG 1.1. Text stays text, in the reader's font. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trommel/volumes.h>

#include "cli.h"
#include "draw/plot.h"
#include "report/text.h"
#include "report/text_file.h"

enum {
    WIDTH = 1000,
    HEIGHT = 560,
    LEFT = 78,
    RIGHT = 24,
    TOP = 44, /* of the title; rows of labels follow */
    BOTTOM = 62,
    LABEL_ROW = 19,
    MARKS_MOST = 16,
    LABEL_SIZE = 128,
};

typedef struct label {
    char text[LABEL_SIZE];
    const char *color;
    double at, left, width;
    uint32_t row;
} label;

typedef struct plot {
    FILE *out;
    const tml_value_histogram *h;
    uint32_t first, last; /* bins that are shown */
    double total, most;   /* of all bins; percent at the top */
    double top;           /* of the frame */
    label labels[MARKS_MOST];
    uint32_t label_count;
} plot;

static double x_of(const plot *p, double value)
{
    double low = p->h->first + p->h->step * (p->first - 0.5);
    double high = p->h->first + p->h->step * (p->last + 0.5);
    double t = (value - low) / (high - low);
    return LEFT + (WIDTH - LEFT - RIGHT) * fmin(fmax(t, 0), 1);
}

static double y_of(const plot *p, double percent)
{
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - p->top) * percent / p->most;
}

/* 1, 2 or 5 times a power of ten, such that at most that many steps cover the range. */
static double nice_step(double range, int steps)
{
    static const double factors[] = {1, 2, 5, 10};
    double base = pow(10, floor(log10(range / steps)));
    for (int i = 0; i < 4; i++)
        if (factors[i] * base * steps >= range * (1 - 1e-9))
            return factors[i] * base;
    return 10 * base;
}

static void choose_range(plot *p)
{
    const tml_value_histogram *h = p->h;
    uint64_t largest = 0;
    p->first = h->bin_count;
    p->last = 0;
    for (uint32_t i = 0; i < h->bin_count; i++) {
        p->total += (double)h->bins[i];
        largest = h->bins[i] > largest ? h->bins[i] : largest;
        if (h->bins[i]) {
            p->first = i < p->first ? i : p->first;
            p->last = i;
        }
    }
    /* Adds a margin, and enough bins that no bar fills the frame. */
    const uint32_t least = 48 < h->bin_count ? 48 : h->bin_count;
    p->first = p->total > 0 ? p->first : 0;
    uint32_t room = p->last - p->first + 1;
    uint32_t margin = room + 6 < least ? (least - room) / 2 : 3;
    p->first = p->first > margin ? p->first - margin : 0;
    p->last = p->last + margin < h->bin_count ? p->last + margin : h->bin_count - 1;
    double percent = p->total > 0 ? 100 * (double)largest / p->total : 1;
    double step = nice_step(percent, 6);
    p->most = step * ceil(percent / step);
}

/* ---- SVG ------------------------------------------------------------------------------------- */

static void print_text(const plot *p, double x, double y, const char *style, const char *text)
{
    fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style);
    while (*text) {
        int length = text_utf8_length(text);
        if (length == 0 || (length == 1 && (unsigned char)*text < 0x20))
            fputs("&#xfffd;", p->out); /* XML has no way to write such bytes */
        else if (strchr("<>&\"", *text))
            fprintf(p->out, "&#%d;", *text);
        else
            fwrite(text, 1, (size_t)length, p->out);
        text += length > 0 ? length : 1;
    }
    fputs("</text>\n", p->out);
}

static void print_box(const plot *p, double x0, double y0, double x1, double y1, const char *color)
{
    fprintf(p->out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n",
            x0, y0, x1 - x0, y1 - y0, color);
}

static void print_line(const plot *p, double x0, double y0, double x1, double y1, const char *style)
{
    fprintf(p->out, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" %s/>\n", x0, y0, x1, y1,
            style);
}

static void draw_axes(const plot *p, const plot_desc *desc)
{
    char text[32], style[96];
    const double bottom = HEIGHT - BOTTOM, right = WIDTH - RIGHT;
    double step = nice_step(p->most, 6);
    for (double v = 0; v <= p->most * (1 + 1e-9); v += step) {
        print_line(p, LEFT, y_of(p, v), right, y_of(p, v), "stroke=\"#e2e5ea\"");
        snprintf(text, sizeof text, "%g", v);
        print_text(p, LEFT - 9, y_of(p, v) + 4.5, "text-anchor=\"end\"", text);
    }
    double low = p->h->first + p->h->step * (p->first - 0.5);
    double high = p->h->first + p->h->step * (p->last + 0.5);
    step = nice_step(high - low, 14);
    for (double v = ceil(low / step) * step; v <= high; v += step) {
        print_line(p, x_of(p, v), bottom, x_of(p, v), bottom + 5, "stroke=\"#282c34\"");
        snprintf(text, sizeof text, "%g", fabs(v) < step / 2 ? 0 : v);
        print_text(p, x_of(p, v), bottom + 20, "text-anchor=\"middle\"", text);
    }
    print_text(p, (LEFT + right) / 2, HEIGHT - 14, "text-anchor=\"middle\"", desc->x_label);
    double middle = (bottom + p->top) / 2;
    snprintf(style, sizeof style, "text-anchor=\"middle\" transform=\"rotate(-90 22 %.1f)\"",
             middle);
    print_text(p, 22, middle, style, desc->y_label);
    print_text(p, LEFT, 28, "font-size=\"17\" font-weight=\"bold\"", desc->title);
}

static void draw_bars(const plot *p, const plot_desc *desc)
{
    const tml_value_histogram *h = p->h;
    double gap = (WIDTH - LEFT - RIGHT) / (p->last - p->first + 1.0) > 4 ? 0.5 : 0;
    for (uint32_t i = p->first; i <= p->last && p->total > 0; i++) {
        double low = h->first + h->step * (i - 0.5), high = low + h->step;
        double y = y_of(p, 100 * (double)h->bins[i] / p->total);
        /* A bar that the clip cuts is pale on one side. */
        double from = fmin(fmax(low, isnan(desc->keep_low) ? low : desc->keep_low), high);
        double to = fmax(fmin(high, isnan(desc->keep_high) ? high : desc->keep_high), from);
        if (h->bins[i] == 0)
            continue;
        if (to - from < high - low)
            print_box(p, x_of(p, low) + gap, y, x_of(p, high) - gap, HEIGHT - BOTTOM, "#cdd8e7");
        if (to > from)
            print_box(p, x_of(p, from) + (from == low ? gap : 0), y,
                      x_of(p, to) - (to == high ? gap : 0), HEIGHT - BOTTOM, "#5c80b2");
    }
}

/* ---- marks ----------------------------------------------------------------------------------- */

/* Marks that fall on one line share a label: "mean = middle grey". */
static void collect_labels(plot *p, const plot_desc *desc)
{
    for (uint32_t i = 0; i < desc->mark_count; i++) {
        const plot_mark *mark = &desc->marks[i];
        label *same = NULL;
        if (isnan(mark->at))
            continue;
        for (uint32_t k = 0; k < p->label_count && !same; k++)
            same = fabs(x_of(p, p->labels[k].at) - x_of(p, mark->at)) < 1 ? &p->labels[k] : NULL;
        if (same) {
            size_t length = strlen(same->text);
            snprintf(same->text + length, sizeof same->text - length, " = %s", mark->label);
        } else if (p->label_count < MARKS_MOST) {
            label *new = &p->labels[p->label_count++];
            *new = (label){.at = mark->at, .color = mark->color};
            snprintf(new->text, sizeof new->text, "%s", mark->label);
        }
    }
}

/* Puts each label into the first row in which it does not overlap another one. Returns the number
 * of rows. */
static uint32_t place_labels(plot *p)
{
    const double letter = 8; /* more than fonts of this size take */
    uint32_t rows = 0;
    for (uint32_t i = 0; i < p->label_count; i++) {
        label *l = &p->labels[i];
        l->width = letter * (double)strlen(l->text);
        l->left = fmin(fmax(x_of(p, l->at) - l->width / 2, 4), WIDTH - 4 - l->width);
        for (uint32_t k = 0; k < i; k++) {
            const label *other = &p->labels[k];
            if (other->row == l->row && l->left < other->left + other->width &&
                other->left < l->left + l->width) {
                l->row++;
                k = UINT32_MAX; /* from the start again */
            }
        }
        rows = l->row + 1 > rows ? l->row + 1 : rows;
    }
    return rows;
}

static void draw_labels(const plot *p)
{
    char style[96];
    for (uint32_t i = 0; i < p->label_count; i++) {
        const label *l = &p->labels[i];
        double x = x_of(p, l->at), y = TOP + LABEL_ROW * (l->row + 1.0);
        snprintf(style, sizeof style, "stroke=\"%s\" stroke-width=\"1.8\"", l->color);
        print_line(p, x, y - 2, x, HEIGHT - BOTTOM, style);
    }
    for (uint32_t i = 0; i < p->label_count;
         i++) { /* a line of another mark ends at a label's halo */
        const label *l = &p->labels[i];
        snprintf(style, sizeof style,
                 "text-anchor=\"middle\" fill=\"%s\" stroke=\"#fff\" stroke-width=\"5\" "
                 "paint-order=\"stroke\"",
                 l->color);
        print_text(p, l->left + l->width / 2, TOP + LABEL_ROW * (l->row + 1.0) - 6, style, l->text);
    }
}

int plot_histogram(const char *path, const tml_value_histogram *h, const plot_desc *desc)
{
    text_file file;
    if (!text_file_create(path, &file))
        return CLI_FAILED;
    plot p = {.out = file.stream, .h = h};
    choose_range(&p);
    collect_labels(&p, desc);
    p.top = TOP + LABEL_ROW * place_labels(&p) + 6;
    fprintf(p.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"14\" fill=\"#282c34\">\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    print_box(&p, 0, 0, WIDTH, HEIGHT, "#fff");
    draw_axes(&p, desc);
    draw_bars(&p, desc);
    print_line(&p, LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM,
               "stroke=\"#282c34\" stroke-width=\"1.5\"");
    draw_labels(&p);
    fputs("</svg>\n", p.out);
    return text_file_finish(&file, true) ? CLI_OK : CLI_FAILED;
}
