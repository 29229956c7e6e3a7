/* Prints and draws the results of averages_sizes.c, compared with the library's exact mean. */
#include "papers_averages.h"

#include "papers.h"

#include "io/io_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <trommel/pictures.h>

static const char *const names[PAPERS_REDUCTIONS] = {"blit by halves", "even blit", "blocks of 8"};
static const double lowest = 0x1p-20; /* luminances below count as it */

/* ---- weights --------------------------------------------------------------------------------- */

/* The axes' weights for a size, for each method; release with free_axes. */
typedef struct axes {
    double *columns[PAPERS_REDUCTIONS], *rows[PAPERS_REDUCTIONS];
} axes;

static void free_axes(axes *a)
{
    for (int how = 0; how < PAPERS_REDUCTIONS; how++) {
        free(a->columns[how]);
        free(a->rows[how]);
    }
}

static tml_status make_axes(tml_context *tml, uint32_t width, uint32_t height, axes *out)
{
    tml_status status = TML_OK;
    *out = (axes){0};
    for (int how = 0; how < PAPERS_REDUCTIONS && !status; how++) {
        out->columns[how] = malloc(width * sizeof(double));
        out->rows[how] = malloc(height * sizeof(double));
        status = !out->columns[how] || !out->rows[how]
                     ? TML_ERROR_OUT_OF_MEMORY
                     : papers_axis_weights((papers_reduction)how, width, out->columns[how]);
        if (!status)
            status = papers_axis_weights((papers_reduction)how, height, out->rows[how]);
    }
    if (status)
        free_axes(out);
    return status ? tml_error(tml, status, "no memory for the weights of a picture") : TML_OK;
}

tml_status averages_print_weights(tml_context *tml)
{
    static const uint32_t sizes[][2] = {{3, 3},       {1024, 1024}, {1280, 720},  {1366, 768},
                                        {1600, 900},  {1919, 1080}, {1920, 1080}, {2560, 1440},
                                        {3840, 2160}, {4096, 4096}};
    printf(
        "averages: pixels that have no weight / effective number of pixels / largest weight over "
        "the mean\n\n%-12s",
        "size");
    for (int how = 0; how < PAPERS_REDUCTIONS; how++)
        printf(" %26s", names[how]);
    putchar('\n');
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        uint32_t width = sizes[s][0], height = sizes[s][1];
        axes a;
        tml_status status = make_axes(tml, width, height, &a);
        if (status)
            return status;
        printf("%4u x %-5u", (unsigned)width, (unsigned)height);
        for (int how = 0; how < PAPERS_REDUCTIONS; how++) {
            papers_coverage c = papers_coverage_of(a.columns[how], width, a.rows[how], height);
            printf("  %6.1f %% %6.1f %% %8.4g", 100 * c.unseen, 100 * c.effective, c.largest);
        }
        putchar('\n');
        free_axes(&a);
    }
    return TML_OK;
}

/* ---- a picture ------------------------------------------------------------------------------- */

typedef struct metered {
    uint32_t width, height;
    float *logs;     /* log2 luminance */
    tml_image image; /* the same picture, for the library */
    tml_buffer stats;
} metered;

static void close_picture(tml_context *tml, metered *m)
{
    free(m->logs);
    tml_buffer_destroy(tml, m->image.buffer);
    tml_buffer_destroy(tml, m->stats);
}

/* The library's own log luminances would not be independent of its mean. */
static void take_logs(const tml_picture *picture, float *logs)
{
    const float *p = picture->data;
    for (size_t i = 0; i < (size_t)picture->width * picture->height; i++, p += picture->channels) {
        double luminance = (double)p[0];
        if (picture->channels >= 3)
            luminance = 0.2126 * luminance + 0.7152 * (double)p[1] + 0.0722 * (double)p[2];
        logs[i] = (float)log2(luminance > lowest ? luminance : lowest);
    }
}

static tml_status open_picture(tml_context *tml, const char *path, metered *out)
{
    tml_picture picture;
    *out = (metered){0};
    tml_status status = tml_picture_load(tml, path, NULL, &picture);
    if (status)
        return status;
    size_t scalars = (size_t)picture.width * picture.height * picture.channels;
    out->width = picture.width;
    out->height = picture.height;
    out->logs = malloc((size_t)picture.width * picture.height * sizeof *out->logs);
    if (picture.type != TML_F32)
        status = tml_error(tml, TML_ERROR_UNSUPPORTED,
                           "%s: needs a picture of 32-bit floats (.hdr, .pfm)", path);
    else if (!out->logs)
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a picture");
    out->image =
        (tml_image){.width = picture.width, .height = picture.height, .channels = picture.channels};
    if (!status)
        status = tml_buffer_create(
            tml, &(tml_buffer_desc){.type = TML_F32, .count = scalars, .data = picture.data},
            &out->image.buffer);
    if (!status)
        status = tml_buffer_create(
            tml, &(tml_buffer_desc){.type = TML_U32, .count = TML_IMAGE_STATS_WORDS}, &out->stats);
    if (!status)
        take_logs(&picture, out->logs);
    else
        close_picture(tml, out);
    tml_picture_free(tml, &picture);
    return status;
}

/* For the centre of a picture. */
typedef struct means {
    double exact, ways[PAPERS_REDUCTIONS];
} means;

static tml_status measure(tml_context *tml, const metered *m, uint32_t width, uint32_t height,
                          means *out)
{
    uint32_t x = (m->width - width) / 2, y = (m->height - height) / 2;
    const float *first = m->logs + (size_t)y * m->width + x;
    tml_image_measure_desc desc = {.image = m->image,
                                   .region = {x, y, width, height},
                                   .what = TML_MEASURE_LOG,
                                   .luminance.floor = (float)lowest,
                                   .stats = m->stats};
    tml_image_stats stats;
    axes a;
    tml_status status = tml_image_measure(tml, &desc);
    if (!status)
        status = tml_image_stats_read(tml, m->stats, &stats);
    if (!status)
        status = make_axes(tml, width, height, &a);
    if (status)
        return status;
    out->exact = stats.log2_mean;
    for (int how = 0; how < PAPERS_REDUCTIONS; how++)
        out->ways[how] =
            papers_weighted(first, m->width, a.columns[how], width, a.rows[how], height);
    free_axes(&a);
    return TML_OK;
}

/* A number as four decimals show it: 0 in place of -0.0000. */
static double shown(double x)
{
    return fabs(x) < 0.00005 ? 0.0 : x;
}

static tml_status print_padded(tml_context *tml, const metered *m, double exact)
{
    static const struct {
        const char *name;
        papers_padding how;
    } rows[] = {{"4 x 4", {.side = 4}},
                {"16 x 16", {.side = 16}},
                {"32 x 32", {.side = 32}},
                {"64 x 64", {.side = 64}},
                {"target of powers of 2", {.side = 2, .is_target = true}}};
    printf("\nblocks padded with zeros, %u x %u, stops off\n%-22s %14s %14s %14s %20s\n",
           (unsigned)m->width, (unsigned)m->height, "block", "uncorrected", "by the article",
           "by passes", "r16f, by passes");
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        papers_padded of[2];
        for (int halves = 0; halves < 2; halves++) {
            papers_padding how = rows[r].how;
            how.in_halves = halves;
            if (papers_padded_average(m->logs, m->width, m->width, m->height, &how, &of[halves]))
                return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a picture");
        }
        printf("%-22s %+14.4f %+14.4f %+14.4f %+20.4f\n", rows[r].name, shown(of[0].plain - exact),
               shown(of[0].by_article - exact), shown(of[0].by_passes - exact),
               shown(of[1].by_passes - exact));
    }
    return TML_OK;
}

tml_status averages_print_picture(tml_context *tml, const char *path)
{
    metered m;
    means whole = {0}, part;
    tml_status status = open_picture(tml, path, &m);
    if (status)
        return status;
    printf("averages: mean log2 luminance of the middle, and stops off\n\n%-14s %10s", "size",
           "exact");
    for (int how = 0; how < PAPERS_REDUCTIONS; how++)
        printf(" %16s", names[how]);
    putchar('\n');
    for (int k = 0; k < 6 && !status;
         k++) { /* the whole, then a row, a column, both less, and so on */
        uint32_t width = m.width - (uint32_t)(k + 1) / 2, height = m.height - (uint32_t)k / 2;
        if (width < 1 || height < 1 || width > m.width || height > m.height)
            break;
        status = measure(tml, &m, width, height, &part);
        if (status)
            break;
        if (k == 0)
            whole = part;
        printf("%5u x %-6u %+10.4f", (unsigned)width, (unsigned)height, shown(part.exact));
        for (int how = 0; how < PAPERS_REDUCTIONS; how++)
            printf(" %+16.4f", shown(part.ways[how] - part.exact));
        putchar('\n');
    }
    if (!status)
        status = print_padded(tml, &m, whole.exact);
    close_picture(tml, &m);
    return status;
}

/* ---- a sweep --------------------------------------------------------------------------------- */

enum { CHART_WIDTH = 1000, CHART_HEIGHT = 420, LEFT = 70, RIGHT = 20, TOP = 50, BOTTOM = 50 };

typedef struct sweep {
    uint32_t first, count;
    means *at;
    double low, high; /* of the vertical axis, in quarters of a stop */
} sweep;

static double sweep_x(const sweep *s, uint32_t i)
{
    return LEFT + (double)(CHART_WIDTH - LEFT - RIGHT) * i / (s->count > 1 ? s->count - 1 : 1);
}
static double sweep_y(const sweep *s, double stops)
{
    return TOP + (CHART_HEIGHT - TOP - BOTTOM) * (s->high - stops) / (s->high - s->low);
}

static void draw_line(io_writer *out, const sweep *s, int way, const char *color, const char *name)
{
    /* Wider, since another curve with the same course may cover it. */
    tml_io_print(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" points=\"", color,
                 way > 0 ? 1.6 * (way + 1) : 1.6);
    for (uint32_t i = 0; i < s->count; i++)
        tml_io_print(out, "%.1f,%.1f ", sweep_x(s, i),
                     sweep_y(s, way < 0 ? s->at[i].exact : s->at[i].ways[way]));
    tml_io_print(out, "\"/>\n<text x=\"%d\" y=\"34\" fill=\"%s\">%s</text>\n",
                 LEFT + 140 * (way + 1), color, name);
}

static void draw_chart(io_writer *out, const sweep *s)
{
    static const char *const colors[PAPERS_REDUCTIONS] = {"#c0392b", "#d68910", "#2e86c1"};
    tml_io_print(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
                 "font-family=\"sans-serif\" "
                 "font-size=\"14\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                 CHART_WIDTH, CHART_HEIGHT);
    for (double stops = s->low; stops <= s->high; stops += s->high - s->low > 3 ? 1 : 0.25)
        tml_io_print(out,
                     "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n"
                     "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
                     LEFT, CHART_WIDTH - RIGHT, sweep_y(s, stops), sweep_y(s, stops), LEFT - 8,
                     sweep_y(s, stops) + 5, stops);
    for (int k = 0; k <= 4; k++) {
        uint32_t i = (uint32_t)((uint64_t)(s->count - 1) * (uint64_t)k / 4);
        tml_io_print(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%u</text>\n",
                     sweep_x(s, i), CHART_HEIGHT - 26, (unsigned)(s->first + i));
    }
    tml_io_print(
        out,
        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">columns of the picture</text>\n"
        "<text x=\"18\" y=\"%d\" text-anchor=\"middle\" transform=\"rotate(-90 18 %d)\">mean log2 "
        "luminance, stops</text>\n",
        CHART_WIDTH / 2, CHART_HEIGHT - 6, CHART_HEIGHT / 2, CHART_HEIGHT / 2);
    for (int way = PAPERS_REDUCTIONS - 1; way >= 0; way--)
        draw_line(out, s, way, colors[way], names[way]);
    draw_line(out, s, -1, "black", "exact");
    tml_io_print(out, "</svg>\n");
}

static tml_status draw_to(tml_context *tml, const char *svg, const sweep *s)
{
    io_writer out;
    tml_status status = tml_io_create(tml, "averages", svg, 0, &out);
    if (status)
        return status;
    draw_chart(&out, s);
    return tml_io_finish(&out, TML_OK);
}

tml_status averages_draw_sweep(tml_context *tml, const char *path, uint32_t first, uint32_t last,
                               const char *svg)
{
    metered m;
    tml_status status = open_picture(tml, path, &m);
    if (status)
        return status;
    sweep s = {.first = first, .low = INFINITY, .high = -INFINITY};
    if (first < 1 || last < first || last > m.width)
        status = tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "--sweep: %s has 1 to %u columns", path,
                           (unsigned)m.width);
    s.count = status ? 0 : last - first + 1;
    s.at = malloc((s.count + 1) * sizeof *s.at);
    if (!status && !s.at)
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a sweep");
    for (uint32_t i = 0; i < s.count && !status; i++) {
        status = measure(tml, &m, first + i, m.height, &s.at[i]);
        for (int way = 0; way < PAPERS_REDUCTIONS && !status; way++) {
            s.low = fmin(s.low, floor(4 * fmin(s.at[i].ways[way], s.at[i].exact)) / 4);
            s.high = fmax(s.high, ceil(4 * fmax(s.at[i].ways[way], s.at[i].exact)) / 4);
        }
    }
    if (!status)
        status = draw_to(tml, svg, &s);
    free(s.at);
    close_picture(tml, &m);
    return status;
}
