/* A histogram as a picture. Lines and letters are strokes of a round pen, blended by how much of a pixel
 * they cover. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trommel/io.h>

#include "plot.h"

enum {
    WIDTH = 1000,
    HEIGHT = 560,
    LEFT = 78,
    RIGHT = 24,
    TOP = 44, /* of the title; rows of labels follow */
    BOTTOM = 62,
    LABEL_ROW = 19,
    PIXEL = 4,
};

typedef struct rgb {
    uint8_t c[3];
} rgb;

static const rgb paper = {{255, 255, 255}}, ink = {{40, 44, 52}}, faint = {{226, 229, 234}},
                 bar_color = {{92, 128, 178}}, pale_bar = {{205, 216, 231}};

typedef struct canvas {
    uint8_t *rgba;
} canvas;

/* ---- strokes --------------------------------------------------------------------------------- */

static void blend(canvas *to, int x, int y, rgb color, double cover)
{
    if (x < 0 || y < 0 || x >= WIDTH || y >= HEIGHT || !(cover > 0))
        return;
    uint8_t *pixel = to->rgba + PIXEL * ((size_t)y * WIDTH + (size_t)x);
    cover = cover < 1 ? cover : 1;
    for (int c = 0; c < 3; c++)
        pixel[c] = (uint8_t)lrint(pixel[c] + cover * (color.c[c] - pixel[c]));
}

static void fill(canvas *to, double x0, double y0, double x1, double y1, rgb color)
{
    for (int y = (int)floor(y0); y < y1; y++)
        for (int x = (int)floor(x0); x < x1; x++)
            blend(to, x, y, color,
                  (fmin(x + 1, x1) - fmax(x, x0)) * (fmin(y + 1, y1) - fmax(y, y0)));
}

/* A line from a to b, pen wide, with round ends. */
static void stroke(canvas *to, const double a[2], const double b[2], double pen, rgb color)
{
    double dx = b[0] - a[0], dy = b[1] - a[1], length2 = dx * dx + dy * dy;
    double reach = pen / 2 + 1;
    for (int y = (int)floor(fmin(a[1], b[1]) - reach); y <= fmax(a[1], b[1]) + reach; y++)
        for (int x = (int)floor(fmin(a[0], b[0]) - reach); x <= fmax(a[0], b[0]) + reach; x++) {
            double px = x + 0.5 - a[0], py = y + 0.5 - a[1];
            double t = length2 > 0 ? fmin(fmax((px * dx + py * dy) / length2, 0), 1) : 0;
            blend(to, x, y, color, pen / 2 + 0.5 - hypot(px - t * dx, py - t * dy));
        }
}

/* ---- letters ---------------------------------------------------------------------------------- */

/* Strokes of each character: points as two digits, x from 0 to 4, y from 0 at the top of capitals over 6 at the
 * foot to 8; a blank lifts the pen. */
static const char *const glyphs[128] = {
    ['!'] = "2024 2626",
    ['"'] = "1012 3032",
    ['#'] = "1016 3036 0242 0444",
    ['$'] = "413010010213334445361605 2026",
    ['%'] = "4006 0010110100 3545463635",
    ['&'] = "46111020310415264 4",
    ['\''] = "2022",
    ['('] = "30212536",
    [')'] = "10212516",
    ['*'] = "2125 0244 0442",
    ['+'] = "0343 2125",
    [','] = "2617",
    ['-'] = "1333",
    ['.'] = "2626",
    ['/'] = "4007",
    ['0'] = "103041453616050110",
    ['1'] = "112026 1636",
    ['2'] = "01103041420646",
    ['3'] = "01103041423313 334445361605",
    ['4'] = "3036 300444",
    ['5'] = "400003334445361605",
    ['6'] = "413010010516364544331304",
    ['7'] = "004016",
    ['8'] = "103041423313020110 1304051636454433",
    ['9'] = "423313020110304145361605",
    [':'] = "2323 2626",
    [';'] = "2323 2617",
    ['<'] = "320436",
    ['='] = "0242 0444",
    ['>'] = "123416",
    ['?'] = "01103041422324 2626",
    ['@'] = "363616050110304144341323",
    ['A'] = "062046 1434",
    ['B'] = "00063645443303 0030414233",
    ['C'] = "4130100105163645",
    ['D'] = "00062645412000",
    ['E'] = "40000646 0333",
    ['F'] = "400006 0333",
    ['G'] = "41301001051636454323",
    ['H'] = "0006 4046 0343",
    ['I'] = "1030 1636 2026",
    ['J'] = "4045361605",
    ['K'] = "0006 400346",
    ['L'] = "000646",
    ['M'] = "0600234046",
    ['N'] = "06004640",
    ['O'] = "103041453616050110",
    ['P'] = "06003041423303",
    ['Q'] = "103041453616050110 2447",
    ['R'] = "06003041423303 2346",
    ['S'] = "413010010213334445361605",
    ['T'] = "0040 2026",
    ['U'] = "000516364540",
    ['V'] = "002640",
    ['W'] = "0016233640",
    ['X'] = "0046 4006",
    ['Y'] = "002340 2326",
    ['Z'] = "00400646",
    ['['] = "30202636",
    ['\\'] = "0046",
    [']'] = "10202616",
    ['^'] = "022042",
    ['_'] = "0747",
    ['`'] = "1021",
    ['a'] = "12324346 441405163645",
    ['b'] = "0006 0312324345361605",
    ['c'] = "4332120305163645",
    ['d'] = "4046 4332120305163645",
    ['e'] = "04444332120305163645",
    ['f'] = "40302126 1232",
    ['g'] = "4247381807 4332120305163645",
    ['h'] = "0006 0312324346",
    ['i'] = "2226 2020",
    ['j'] = "32372818 3030",
    ['k'] = "0006 420446",
    ['l'] = "10202536",
    ['m'] = "0602 03122326 23324346",
    ['n'] = "0602 0312324346",
    ['o'] = "123243453616050312",
    ['p'] = "0208 0312324345361605",
    ['q'] = "4248 4332120305163645",
    ['r'] = "0602 041232",
    ['s'] = "43321203143445361605",
    ['t'] = "20253646 0242",
    ['u'] = "0205163645 4246",
    ['v'] = "022642",
    ['w'] = "0216243642",
    ['x'] = "0246 4206",
    ['y'] = "0226 4218",
    ['z'] = "02420646",
    ['{'] = "30212414253626",
    ['|'] = "2027",
    ['}'] = "10212434251626",
    ['~'] = "04133433",
};

enum { ADVANCE = 6 }; /* of a character, in the glyphs' units */

static double text_width(const char *text, double unit)
{
    return ((double)strlen(text) * ADVANCE - 2) * unit;
}

/* Text whose capitals are six units high, its top left at x, y; turned: it climbs from there. */
static void draw_text(canvas *to, double x, double y, double unit, bool turned, rgb color,
                      const char *text)
{
    double pen = fmax(unit * 0.72, 1);
    for (; *text; text++, x += turned ? 0 : ADVANCE * unit, y -= turned ? ADVANCE * unit : 0) {
        const char *at = (unsigned char)*text < 128 ? glyphs[(unsigned char)*text] : "00064640000";
        double last[2] = {0, 0};
        bool is_down = false;
        for (; at && at[0]; at++) {
            if (at[0] == ' ') {
                is_down = false;
                continue;
            }
            if (!at[1])
                break;
            double gx = (at[0] - '0') * unit, gy = (at[1] - '0') * unit;
            double here[2] = {turned ? x + gy : x + gx, turned ? y - gx : y + gy};
            if (is_down)
                stroke(to, last, here, pen, color);
            memcpy(last, here, sizeof last);
            is_down = true;
            at++;
        }
    }
}

/* ---- the plot -------------------------------------------------------------------------------- */

typedef struct plot {
    canvas to;
    const tml_value_histogram *h;
    uint32_t first, last; /* bins that are shown */
    double total, most;   /* of the weight; and the top of the vertical axis, in percent */
    double top;           /* of the frame */
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

/* 1, 2 or 5 times a power of ten, so that at most that many steps make the range. */
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
    /* A margin, and never so few bins that a bar fills the frame. */
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

static void draw_axes(plot *p, const plot_desc *desc)
{
    char text[32];
    const double unit = 1.7;
    const double bottom = HEIGHT - BOTTOM, right = WIDTH - RIGHT;
    double step = nice_step(p->most, 6);
    for (double v = 0; v <= p->most * (1 + 1e-9); v += step) {
        double y = y_of(p, v);
        fill(&p->to, LEFT, y - 0.5, right, y + 0.5, faint);
        snprintf(text, sizeof text, "%g", v);
        draw_text(&p->to, LEFT - 9 - text_width(text, unit), y - 3 * unit, unit, false, ink, text);
    }
    double low = p->h->first + p->h->step * (p->first - 0.5);
    double high = p->h->first + p->h->step * (p->last + 0.5);
    step = nice_step(high - low, 14);
    for (double v = ceil(low / step) * step; v <= high; v += step) {
        double x = x_of(p, v);
        fill(&p->to, x - 0.5, bottom, x + 0.5, bottom + 5, ink);
        snprintf(text, sizeof text, "%g", fabs(v) < step / 2 ? 0 : v);
        draw_text(&p->to, x - text_width(text, unit) / 2, bottom + 11, unit, false, ink, text);
    }
    draw_text(&p->to, LEFT + (right - LEFT - text_width(desc->x_label, 1.9)) / 2, HEIGHT - 22, 1.9,
              false, ink, desc->x_label);
    draw_text(&p->to, 14, bottom - (bottom - p->top - text_width(desc->y_label, 1.9)) / 2, 1.9,
              true, ink, desc->y_label);
}

static void draw_bars(plot *p, const plot_desc *desc)
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
        fill(&p->to, x_of(p, low) + gap, y, x_of(p, high) - gap, HEIGHT - BOTTOM, pale_bar);
        if (to > from)
            fill(&p->to, x_of(p, from) + (from == low ? gap : 0), y,
                 x_of(p, to) - (to == high ? gap : 0), HEIGHT - BOTTOM, bar_color);
    }
}

/* Each label goes into the first row in which it meets no other. */
static uint32_t place_labels(const plot *p, const plot_desc *desc, double unit, double *lefts,
                             uint32_t *rows)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < desc->mark_count; i++) {
        double width = text_width(desc->marks[i].label, unit);
        lefts[i] = x_of(p, desc->marks[i].at) - width / 2;
        lefts[i] = fmin(fmax(lefts[i], 4), WIDTH - 4 - width);
        rows[i] = 0;
        for (uint32_t k = 0; k < i; k++) {
            double other = text_width(desc->marks[k].label, unit);
            bool meets = lefts[i] < lefts[k] + other + 12 && lefts[k] < lefts[i] + width + 12;
            if (!isnan(desc->marks[k].at) && rows[k] == rows[i] && meets) {
                rows[i]++;
                k = UINT32_MAX; /* from the start again */
            }
        }
        most = !isnan(desc->marks[i].at) && rows[i] > most ? rows[i] : most;
    }
    return most;
}

static rgb color_of(const plot_mark *mark)
{
    return (rgb){{mark->color[0], mark->color[1], mark->color[2]}};
}

static void draw(plot *p, const plot_desc *desc)
{
    enum { MARKS_MOST = 16 };
    const double unit = 1.7;
    double lefts[MARKS_MOST];
    uint32_t rows[MARKS_MOST],
        count = desc->mark_count < MARKS_MOST ? desc->mark_count : MARKS_MOST;
    plot_desc shown = *desc;
    shown.mark_count = count;
    choose_range(p);
    uint32_t most = place_labels(p, &shown, unit, lefts, rows);
    p->top = TOP + LABEL_ROW * (most + 1.0) + 6;
    draw_axes(p, desc);
    draw_bars(p, desc);
    fill(&p->to, LEFT, HEIGHT - BOTTOM - 0.75, WIDTH - RIGHT, HEIGHT - BOTTOM + 0.75, ink);
    for (uint32_t i = 0; i < count; i++) {
        double y = TOP + LABEL_ROW * (rows[i] + 1.0) - 4;
        if (!isnan(desc->marks[i].at))
            fill(&p->to, x_of(p, desc->marks[i].at) - 0.9, y, x_of(p, desc->marks[i].at) + 0.9,
                 HEIGHT - BOTTOM, color_of(&desc->marks[i]));
    }
    /* Lines of other marks end at a label's edge. */
    for (uint32_t i = 0; i < count; i++) {
        double y = TOP + LABEL_ROW * (double)rows[i];
        if (isnan(desc->marks[i].at))
            continue;
        fill(&p->to, lefts[i] - 3, y - 3, lefts[i] + text_width(desc->marks[i].label, unit) + 3,
             y + LABEL_ROW - 5, paper);
        draw_text(&p->to, lefts[i], y, unit, false, color_of(&desc->marks[i]),
                  desc->marks[i].label);
    }
    draw_text(&p->to, LEFT, 14, 2.2, false, ink, desc->title);
}

tml_status plot_histogram(tml_context *tml, const char *path, const tml_value_histogram *h,
                          const plot_desc *desc)
{
    size_t size = (size_t)WIDTH * HEIGHT * PIXEL;
    plot p = {.to = {tml_alloc(tml, size)}, .h = h};
    if (!p.to.rgba)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a plot of %zu bytes", size);
    for (size_t i = 0; i < size; i++)
        p.to.rgba[i] = i % PIXEL < 3 ? paper.c[i % PIXEL] : 255;
    draw(&p, desc);
    tml_status status = tml_png_save(tml, path, p.to.rgba, WIDTH, HEIGHT);
    tml_free(tml, p.to.rgba, size);
    return status;
}
