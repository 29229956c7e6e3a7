/* The final report of "trommel surface". */
#include "report/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trommel/volumes.h>

#include "report/fields.h"
#include "report/text.h"

enum { PARTS_SHOWN = 8 };

static double part_value(const summary *s, uint32_t part)
{
    return s->slope * s->result->parts[part].value + s->intercept;
}

/* A part's isovalue, or its label's digits. */
static char *part_text(const summary *s, uint32_t part, char out[TEXT_SIZE])
{
    if (s->origin)
        snprintf(out, TEXT_SIZE, "%.8g", part_value(s, part));
    else
        labels_text(out, TEXT_SIZE, s->result->parts[part].label,
                    tml_type_is_signed(s->in->volume.type));
    return out;
}

static uint64_t counted_others(const summary *s)
{
    return s->found.other_count > TML_LABELS_COUNTED ? TML_LABELS_COUNTED : s->found.other_count;
}

char *summary_other_labels(const summary *s, char out[SUMMARY_LABELS])
{
    const uint64_t count = s->found.other_count;
    size_t used = 0;
    char text[TEXT_SIZE];
    for (uint32_t i = 0; i < TML_LABELS_LISTED && i < count; i++)
        used += (size_t)snprintf(out + used, SUMMARY_LABELS - used, "%s%s", i ? ", " : "",
                                 labels_text(text, sizeof text, s->found.others[i],
                                             tml_type_is_signed(s->in->volume.type)));
    if (count > TML_LABELS_LISTED)
        snprintf(out + used, SUMMARY_LABELS - used, ", ... (%s%" PRIu64 ")",
                 count > TML_LABELS_COUNTED ? "more than " : "", counted_others(s));
    return out;
}

/* Labels that the volume has and that count as background. */
static void tell_others(const summary *s)
{
    char others[SUMMARY_LABELS];
    if (!s->has_found)
        return;
    if (s->found.other_count)
        field_line("others", "%s (background)", summary_other_labels(s, others));
    field_count("other_labels", NULL, NULL, counted_others(s));
}

static void tell_values(const summary *s)
{
    char text[TEXT_SIZE];
    const tml_surface_result *r = s->result;
    if (r->part_count == 0)
        return;
    field_line(s->origin ? "isovalue" : "label", "%s", "");
    for (uint32_t p = 0; p < r->part_count && p < PARTS_SHOWN; p++)
        field_line(NULL, "%s%s", p ? ", " : "", part_text(s, p, text));
    if (r->part_count > PARTS_SHOWN)
        field_line(NULL, ", ... (%" PRIu32 ")", r->part_count);
    if (s->origin) {
        field_number("iso", NULL, NULL, r->part_count ? part_value(s, 0) : 0);
        field_text("iso_origin", NULL, strcmp(s->origin, "given") ? " (%s)" : NULL, s->origin);
    }
}

static void tell_faces(const summary *s, bool is_shown, uint64_t count)
{
    if (s->is_quads)
        field_count("quads", NULL, is_shown ? ", %s quad(s)" : NULL, count);
    else
        field_count("triangles", NULL, is_shown ? ", %s triangle(s)" : NULL, count);
}

static void tell_parts(const summary *s)
{
    const tml_surface_result *r = s->result;
    char file[FRAME_PATH];
    field_open("parts", '[');
    for (uint32_t p = 0; p < r->part_count; p++) {
        const tml_mesh_part *part = &r->parts[p];
        bool is_shown = r->part_count > 1 && p < PARTS_SHOWN;
        char text[TEXT_SIZE], label[TEXT_SIZE + TEXT_LABEL_WIDTH];
        snprintf(label, sizeof label, "%*s", TEXT_LABEL_WIDTH, part_text(s, p, text));
        field_open(NULL, '{');
        if (s->origin)
            field_number("value", NULL, NULL, part_value(s, p));
        else
            field_literal("value", NULL, NULL, text);
        field_count("vertex_first", NULL, NULL, part->vertex_first);
        field_count("vertices", label, is_shown ? "%s vertices" : NULL, part->vertex_count);
        field_count("triangle_first", NULL, NULL, part->triangle_first);
        tell_faces(s, is_shown, part->triangle_count);
        if (s->labels && tml_path_number(s->label_files, s->labels[p].label,
                                         tml_type_is_signed(s->in->volume.type), file, sizeof file))
            field_text("file", NULL, NULL, file);
        field_close('{');
    }
    field_close('[');
}

static void tell_row(const summary *s, const frame *f, bool is_first)
{
    char vertices[TEXT_SIZE], triangles[TEXT_SIZE], time[TEXT_SIZE];
    if (is_first)
        field_heading("frame     vertices    triangles     isovalue      time  file");
    field_heading("%5" PRIu32 " %12s %12s %12.6g %9s  %s", f->number,
                  text_count(vertices, s->result->vertex_count),
                  text_count(triangles, s->result->triangle_count),
                  s->result->part_count ? part_value(s, 0) : 0,
                  text_seconds(time, report_seconds(&s->report)), text_file_name(f->path));
    fflush(stdout); /* minutes may pass until the next one */
}

/* The distribution of the crossed cells by their number of triangles, if it was counted, and the
 * colours of these numbers. */
static void tell_cell_counts(const summary *s)
{
    static const char *const colors[CELL_COUNTS] = {"",        " blue",   " green",
                                                    " yellow", " orange", " red"};
    uint64_t crossed = 0;
    for (int k = 1; k < CELL_COUNTS; k++)
        crossed += s->cell_counts[k];
    if (crossed == 0)
        return;
    if (fields_json())
        json_counts(fields_json(), "cells_by_triangles", s->cell_counts, CELL_COUNTS);
    field_line(NULL, "; with 1 to 5 triangles");
    for (int k = 1; k < CELL_COUNTS; k++)
        field_line(NULL, "%s%s %.1f", k > 1 ? "," : "",
                   s->cells_by == CELLS_BY_PLACE ? "" : colors[k],
                   100 * (double)s->cell_counts[k] / (double)crossed);
    field_line(NULL, " %%");
}

/* Is it closed, and how large? In the volume's unit; points have none. */
static void tell_measures(const summary *s)
{
    const measures *m = &s->measures;
    const bool is_closed = measures_are_closed(m);
    const char *unit = s->in->is_points ? "" : s->in->volume.unit;
    field_flag("closed", "closed", "%s", is_closed);
    field_number("area", NULL, "; area %.6g", m->area);
    if (*unit)
        field_line(NULL, " %s^2", unit);
    field_number("volume", NULL, is_closed ? ", enclosing %.6g" : NULL,
                 is_closed ? m->six_volumes / 6 : (double)NAN);
    if (*unit && is_closed)
        field_line(NULL, " %s^3", unit);
}

void summary_tell(const summary *s, const frame *f, bool is_first)
{
    if (f && fields_are_text()) {
        tell_row(s, f, is_first);
        return;
    }
    if (f) {
        field_open(NULL, '{');
        field_count("frame", NULL, NULL, f->number);
    }
    field_heading("%s", text_file_name(s->in->path));
    input_tell(s->in, &s->grid, s->radius);
    tell_values(s);
    tell_others(s);
    field_count("cells", "cells", "%s", s->cells);
    field_count("active_cells", NULL, ", %s of them crossed", s->result->active_cells);
    tell_cell_counts(s);
    field_count("vertices", "mesh", "%s vertices", s->result->vertex_count);
    tell_faces(s, true, s->result->triangle_count);
    if (s->has_components)
        field_count("components", NULL, ", %s component(s)", s->result->components);
    if (s->simple.before)
        simplify_tell(&s->simple, s->in->is_points ? "" : input_unit(s->in->volume.unit));
    if (measures_are_told(&s->measures))
        tell_measures(s);
    tell_parts(s);
    /* For points, making the field takes the time, so a speed in bytes says nothing. */
    report_tell(&s->report, s->in->is_points ? 0 : (double)s->bytes_in, s->surface_seconds);
    if (s->labels)
        field_line("output", "%s, %" PRIu32 " file%s", s->label_files, s->result->part_count,
                   s->result->part_count == 1 ? "" : "s");
    field_number("surface_seconds", NULL, NULL, round(1e6 * s->surface_seconds) / 1e6);
    field_count("scratch_bytes", NULL, NULL, s->result->scratch_size);
    if (f)
        field_close('{');
}
