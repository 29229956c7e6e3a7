/* trommel surface: prepares a volume, isovalues or labels, mask and attribute; explains an empty
 * surface. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands/cmd_surface.h"
#include "paths.h"
#include "report/text.h"
#include "stream_kernels.h"

/* Makes the mask's buffer, with bytes that are 0 or not. */
static int make_mask(surface_run *r)
{
    if (!r->args->mask)
        return CLI_OK;
    int code = input_load_like(r->tml, "mask", r->args->mask, &r->in.volume, &r->mask);
    if (code != CLI_OK)
        return code;
    uint64_t count = input_sample_count(&r->mask);
    const void *bytes = r->mask.data;
    tml_status status = TML_OK;
    if (tml_type_size(r->mask.type) > 1) {
        r->mask_size = count;
        r->mask_bytes = tml_alloc_array(r->tml, count, 1);
        if (!r->mask_bytes)
            return cli_error("no memory for a mask of %" PRIu64 " bytes", count);
        bytes = r->mask_bytes;
        status = cli_map(r->tml, stream_nonzero(r->mask.type), r->mask.type, count, r->mask.data,
                         TML_U8, r->mask_bytes);
    }
    TML_THEN(status, cli_lend_input(r->tml, TML_U8, count, bytes, "mask", &r->desc.mask));
    return cli_fail(r->tml, status);
}

static int make_attribute(surface_run *r)
{
    if (!r->args->attribute)
        return CLI_OK;
    if (r->args->output && path_ends_with(r->args->output, ".stl .obj")) {
        if (!r->args->png)
            return cli_usage("--attribute: %s holds none; use .ply, .glb or .vtp", r->args->output);
        cli_warn("--attribute: %s holds none; .ply, .glb and .vtp do", r->args->output);
    }
    int code =
        input_load_like(r->tml, "attribute", r->args->attribute, &r->in.volume, &r->attribute);
    if (code != CLI_OK)
        return code;
    return cli_fail(r->tml,
                    cli_lend_input(r->tml, r->attribute.type, input_sample_count(&r->attribute),
                                   r->attribute.data, "attribute", &r->desc.attribute));
}

static int refuse_no_number(const surface_run *r)
{
    return cli_error("%s: no sample is a finite number, so there is no surface", r->in.path);
}

bool surface_is_inside_low(const surface_run *r, const tml_volume *volume)
{
    const label_list *labels = &r->args->labels;
    return !labels->all && !labels->count && r->args->flip != (volume->slope < 0);
}

/* Converts isovalues, given or found, to sample values. A negative slope flips the inside. */
static int choose_isovalues(surface_run *r)
{
    const tml_volume *v = &r->in.volume;
    const opt_numbers *iso = &r->args->iso;
    r->summary.origin = "given";
    r->desc.iso = r->isovalues[0];
    if (iso->count == 0) {
        tml_value_histogram h;
        double start = cli_now();
        tml_status status =
            tml_value_histogram_make(r->tml, v->data, v->type, input_sample_count(v), &h);
        if (status != TML_OK)
            return cli_fail(r->tml, status);
        bool is_empty = h.lower > h.upper;
        r->isovalues[0] = h.otsu;
        tml_value_histogram_free(r->tml, &h);
        if (is_empty)
            return refuse_no_number(r);
        r->summary.origin = "Otsu's method";
        report_add_stage(&r->summary.report, "isovalue", cli_now() - start);
    }
    for (uint32_t i = 0; i < iso->count; i++)
        r->isovalues[i] = (iso->values[i] - v->intercept) / v->slope;
    r->desc.isovalues = r->isovalues;
    r->desc.isovalue_count = iso->count ? iso->count : 1;
    r->desc.flip = surface_is_inside_low(r, v);
    return CLI_OK;
}

/* Checks that --region is in the volume. */
static int check_region(const surface_run *r)
{
    const tml_region *region = &r->args->region;
    const char *path = r->in.path;
    for (int axis = 0; axis < 3; axis++) {
        const uint64_t first = region->first[axis], dim = r->in.volume.grid.dims[axis];
        const uint64_t last = region->count[axis] ? first + region->count[axis] : dim;
        if (first < dim && last <= dim)
            continue;
        return cli_usage("--region: %c is from %" PRIu64 " up to %" PRIu64
                         ", and %s has samples 0 to %" PRIu64
                         " along it; an empty end, as in 0:, is the volume's",
                         "xyz"[axis], first, last, path, dim - 1);
    }
    return CLI_OK;
}

int surface_describe_volume(surface_run *r)
{
    const tml_volume *v = &r->in.volume;
    const label_list *labels = &r->args->labels;
    r->summary.grid = r->desc.grid = v->grid;
    r->summary.slope = v->slope;
    r->summary.intercept = v->intercept;
    r->summary.bytes_in = input_sample_count(v) * tml_type_size(v->type);
    if (check_region(r) != CLI_OK)
        return CLI_USAGE;
    if (!(v->slope != 0))
        return cli_error("%s: its values have slope 0; there is no surface", r->in.path);
    tml_grid_position_origin(&v->grid, r->desc.position_origin);
    if (!labels->all && !labels->count)
        return choose_isovalues(r);
    r->desc.flip = false;
    r->desc.labels = labels->count ? r->labels.labels : NULL;
    r->desc.all_labels = labels->all;
    int code = labels_choose(labels, v->type, &r->labels);
    r->desc.label_count = r->labels.count;
    return code;
}

/* Labels are physical values, as info prints them. Converts samples that cannot be labels. */
static int make_labels(surface_run *r)
{
    const tml_type type = r->in.volume.type;
    bool is_made = false;
    if (!r->args->labels.all && !r->args->labels.count)
        return CLI_OK;
    tml_status status = labels_make(r->tml, &r->in.volume, &is_made);
    r->in.file_type = is_made ? type : TML_TYPE_NONE;
    return cli_fail(r->tml, status);
}

int surface_find_labels(surface_run *r)
{
    const tml_type type = r->in.volume.type;
    labels_found *found = &r->summary.found;
    char missing[512] = "", text[TEXT_SIZE];
    uint32_t count = 0;
    if (!r->labels.count || r->summary.has_found)
        return CLI_OK;
    tml_status status = tml_volume_find_labels(r->tml, &r->in.volume, &r->args->region,
                                               r->labels.labels, r->labels.count, found->is_there,
                                               found->others, &found->other_count);
    r->summary.has_found = status == TML_OK;
    for (uint32_t i = 0; i < r->labels.count && status == TML_OK; i++) {
        const size_t used = strlen(missing);
        if (found->is_there[i])
            continue;
        labels_text(text, sizeof text, r->labels.labels[i], tml_type_is_signed(type));
        if (used + strlen(text) + 8 < sizeof missing)
            snprintf(missing + used, sizeof missing - used, "%s%s", count ? ", " : "", text);
        count++;
    }
    if (count && cli_is_strict())
        return cli_error("--labels: %s: no sample of %s has %s", missing, r->in.path,
                         count == 1 ? "this label" : "these labels");
    if (count)
        cli_warn("--labels: %s: no sample of %s has %s", missing, r->in.path,
                 count == 1 ? "this label" : "these labels");
    return cli_fail(r->tml, status);
}

/* Caps close the side where samples are high. Converts the samples so that this is the inside. */
static int make_inside_high(surface_run *r)
{
    tml_volume *v = &r->in.volume;
    double sign = r->args->flip ? -1 : 1;
    if (!r->args->caps || !surface_is_inside_low(r, v))
        return CLI_OK;
    v->slope *= sign;
    v->intercept *= sign;
    int code = cli_fail(r->tml, tml_volume_convert(r->tml, v, TML_VALUES_PHYSICAL, v));
    v->slope = sign;
    return code;
}

static int prepare_volume(surface_run *r)
{
    const tml_volume *v = &r->in.volume;
    int code = make_labels(r);
    CLI_THEN(code, make_inside_high(r));
    CLI_THEN(code, surface_describe_volume(r));
    CLI_THEN(code, surface_find_labels(r));
    CLI_THEN(code, cli_fail(r->tml, cli_lend_input(r->tml, v->type, input_sample_count(v), v->data,
                                                   "volume", &r->desc.volume)));
    CLI_THEN(code, make_mask(r));
    return code == CLI_OK ? make_attribute(r) : code;
}

int surface_load_volume(surface_run *r, const char *path)
{
    double start = cli_now();
    int code = input_load(r->tml, path, &r->args->input, &r->args->common, &r->in);
    report_add_stage(&r->summary.report, "load", cli_now() - start);
    return code == CLI_OK ? prepare_volume(r) : code;
}

int surface_explain_empty(surface_run *r)
{
    const tml_volume *v = &r->in.volume;
    tml_value_histogram h;
    if (r->summary.cells == 0)
        return cli_error("%s: has %" PRIu64 " x %" PRIu64 " x %" PRIu64
                         " samples; a surface needs two along each axis, of the region too%s",
                         r->in.path, r->summary.grid.dims[0], r->summary.grid.dims[1],
                         r->summary.grid.dims[2],
                         strcmp(v->format, "TIFF") == 0 && r->summary.grid.dims[2] == 1
                             ? "; where it is a slice of several, name their folder"
                             : "");
    if (r->summary.has_found && r->summary.found.other_count) {
        char others[SUMMARY_LABELS];
        return cli_error("the surface is empty, nothing was written; choose other labels: the "
                         "volume has %s",
                         summary_other_labels(&r->summary, others));
    }
    if (r->in.is_points || r->args->labels.all || r->args->labels.count)
        return cli_error("the surface is empty, nothing was written; choose other "
                         "values (" CLI_PROGRAM " info shows what the file holds)");
    tml_status status =
        tml_value_histogram_make(r->tml, v->data, v->type, input_sample_count(v), &h);
    if (status != TML_OK)
        return cli_fail(r->tml, status);
    static const tml_region whole;
    if (h.lower > h.upper) {
        tml_value_histogram_free(r->tml, &h);
        return refuse_no_number(r);
    }
    bool hides = r->args->mask || memcmp(&r->args->region, &whole, sizeof whole) != 0;
    double a = v->slope * h.lower + v->intercept, b = v->slope * h.upper + v->intercept;
    tml_value_histogram_free(r->tml, &h);
    if (a == b)
        return cli_error(
            "%s: all samples are %g: there is no surface%s", r->in.path, a,
            v->frame_count > 1 ? " in this volume of several; --frame chooses another one" : "");
    return cli_error("the surface is empty, nothing was written; the values run from %g to %g, "
                     "so choose --iso between them%s",
                     fmin(a, b), fmax(a, b),
                     hides ? ", where --mask and --region hide nothing" : "");
}
