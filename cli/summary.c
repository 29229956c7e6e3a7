/* What "trommel surface" reports at its end, for people and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "summary.h"
#include "text.h"

enum { PARTS_SHOWN = 8 };

static double rate(const summary *s)
{
    return s->surface_seconds > 0 ? (double)s->bytes_in / s->surface_seconds : 0;
}

static double part_value(const summary *s, uint32_t part)
{
    return s->slope * s->result->parts[part].value + s->intercept;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_input(const summary *s)
{
    char text[TEXT_SIZE];
    const input *in = s->in;
    const uint64_t *dims = s->grid.dims;
    text_label("input");
    if (in->is_points)
        printf("%s points, %s; field of %" PRIu64 " x %" PRIu64 " x %" PRIu64
               " samples, radius %.4g",
               text_count(text, in->points.count), in->points.format, dims[0], dims[1], dims[2],
               s->radius);
    else
        printf("%" PRIu64 " x %" PRIu64 " x %" PRIu64 " of %s, %s", dims[0], dims[1], dims[2],
               tml_type_name(in->volume.type), in->volume.format);
    printf(", spacing %s\n", text_triple(text, s->grid.spacing));
}

static void print_values(const summary *s)
{
    const tml_surface_result *r = s->result;
    char vertices[TEXT_SIZE], triangles[TEXT_SIZE];
    text_label(s->origin ? "isovalue" : "label");
    for (uint32_t p = 0; p < r->part_count && p < PARTS_SHOWN; p++)
        printf("%s%.8g", p ? ", " : "", part_value(s, p));
    if (r->part_count > PARTS_SHOWN)
        printf(", ... (%" PRIu32 ")", r->part_count);
    if (s->origin && strcmp(s->origin, "given") != 0)
        printf(" (%s)", s->origin);
    putchar('\n');
    if (r->part_count < 2)
        return;
    for (uint32_t p = 0; p < r->part_count && p < PARTS_SHOWN; p++)
        printf("  %*.8g %s vertices, %s triangles\n", TEXT_LABEL_WIDTH, part_value(s, p),
               text_count(vertices, r->parts[p].vertex_count),
               text_count(triangles, r->parts[p].triangle_count));
}

static void print_mesh(const summary *s)
{
    char text[TEXT_SIZE];
    text_label("cells");
    printf("%s, ", text_count(text, s->cells));
    printf("%s of them crossed\n", text_count(text, s->result->active_cells));
    text_label("mesh");
    printf("%s vertices, ", text_count(text, s->result->vertex_count));
    printf("%s triangles", text_count(text, s->result->triangle_count));
    if (s->has_components)
        printf(", %s component%s", text_count(text, s->components), s->components == 1 ? "" : "s");
    putchar('\n');
}

static void print_time(const summary *s)
{
    char text[TEXT_SIZE];
    report_print_time(&s->report);
    text_label("speed");
    if (!s->in->is_points) /* of points, the field takes the time, not their bytes */
        printf("%.0f MB/s in, ", rate(s) / 1e6);
    printf("peak memory %s\n", text_bytes(text, report_peak_memory()));
}

void summary_print(const summary *s)
{
    printf("%s\n", text_file_name(s->in->path));
    print_input(s);
    print_values(s);
    print_mesh(s);
    print_time(s);
    report_print_outputs(&s->report);
}

void summary_print_head(void)
{
    printf("frame     vertices    triangles     isovalue      time  file\n");
}

void summary_print_row(const summary *s, const frame *f)
{
    char vertices[TEXT_SIZE], triangles[TEXT_SIZE], time[TEXT_SIZE];
    double total = 0;
    for (uint32_t i = 0; i < s->report.stage_count; i++)
        total += s->report.stages[i].seconds;
    printf("%5" PRIu32 " %12s %12s %12.6g %9s  %s\n", f->number,
           text_count(vertices, s->result->vertex_count),
           text_count(triangles, s->result->triangle_count),
           s->result->part_count ? part_value(s, 0) : 0, text_seconds(time, total),
           text_file_name(f->path));
    fflush(stdout); /* minutes may pass until the next one */
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_input(json *j, const summary *s)
{
    const input *in = s->in;
    json_open(j, "input", '{');
    json_text(j, "file", in->path);
    json_count(j, "file_bytes", in->file_size);
    json_text(j, "kind", in->is_points ? "points" : "volume");
    json_text(j, "format", in->is_points ? in->points.format : in->volume.format);
    if (in->is_points) {
        json_count(j, "points", in->points.count);
        json_number(j, "radius", s->radius);
    } else {
        json_text(j, "type", tml_type_name(in->volume.type));
    }
    json_open(j, "dims", '[');
    for (int i = 0; i < 3; i++)
        json_count(j, NULL, s->grid.dims[i]);
    json_close(j, '[');
    json_numbers(j, "spacing", s->grid.spacing, 3);
    json_close(j, '{');
}

static void json_parts(json *j, const summary *s)
{
    json_open(j, "parts", '[');
    for (uint32_t p = 0; p < s->result->part_count; p++) {
        const tml_surface_part *part = &s->result->parts[p];
        json_open(j, NULL, '{');
        json_number(j, "value", part_value(s, p));
        json_count(j, "vertex_first", part->vertex_first);
        json_count(j, "vertices", part->vertex_count);
        json_count(j, "triangle_first", part->triangle_first);
        json_count(j, "triangles", part->triangle_count);
        json_close(j, '{');
    }
    json_close(j, '[');
}

void summary_json(json *j, const summary *s, const frame *f)
{
    json_open(j, NULL, '{');
    if (f)
        json_count(j, "frame", f->number);
    json_input(j, s);
    if (s->origin) {
        json_number(j, "iso", s->result->part_count ? part_value(s, 0) : 0);
        json_text(j, "iso_origin", s->origin);
    }
    json_count(j, "cells", s->cells);
    json_count(j, "active_cells", s->result->active_cells);
    json_count(j, "vertices", s->result->vertex_count);
    json_count(j, "triangles", s->result->triangle_count);
    if (s->has_components)
        json_count(j, "components", s->components);
    json_parts(j, s);
    report_json_stages(j, &s->report);
    json_number(j, "surface_seconds", s->surface_seconds);
    json_number(j, "input_bytes_per_second", rate(s));
    json_count(j, "scratch_bytes", s->result->scratch_size);
    json_count(j, "peak_memory_bytes", report_peak_memory());
    report_json_outputs(j, &s->report);
    json_close(j, '{');
}
