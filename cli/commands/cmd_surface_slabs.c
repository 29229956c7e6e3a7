/* trommel surface: makes meshes from volumes in slabs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands/cmd_surface.h"
#include "ranks.h"
#include "report/text.h"
#include "system.h"

const char *surface_what_needs_all(const surface_run *r)
{
    const surface_args *a = r->args;
    return !a->output && a->png                          ? "give --output in the place of --png"
           : !a->output                                  ? "give --output"
           : a->png                                      ? "leave out --png"
           : a->debug_cells                              ? "leave out --debug-cells"
           : a->cells                                    ? "leave out --cells"
           : a->smooth.is_asked && !surface_makes_net(a) ? "leave out --smooth, or give --labels"
           : a->collapse > 0                             ? "leave out --collapse"
           : a->separate                                 ? "leave out --separate"
           : a->labels.all && !surface_makes_net(a)      ? "name the labels, or give --smooth"
           : simplify_is_asked(&a->simplify) ? "leave out --simplify and --simplify-error"
           : a->soup && (a->largest || a->drop_degenerate)
               ? "leave out --soup, or --largest and --drop-degenerate"
           : a->common.backend == TML_ENGINE_GL                    ? "use --backend cpu or vulkan"
           : r->in.is_points && a->common.backend > TML_ENGINE_CPU ? "use --backend cpu for points"
           : r->in.is_points && a->index ? "leave out --index, which is for volumes"
                                         : NULL;
}

int surface_refuse_slabs(const surface_run *r, const char *obstacle)
{
    return cli_usage("%s: in slabs there is never a whole volume or mesh; %s",
                     ranks_count() > 1 ? "several processes"
                     : r->args->index  ? "--index"
                                       : "--slabs",
                     obstacle);
}

/* Whether several processes can write the output: it must be a regular file. */
static bool can_be_shared(const char *output)
{
    system_file info;
    return !system_examine(output, &info) || info.is_regular;
}

/* Describes samples that cannot be labels: "f64, slope 0.5, intercept 0". */
static char *text_samples_of(const tml_volume *v, char text[TEXT_SIZE])
{
    snprintf(text, TEXT_SIZE, "%s, slope %g, intercept %g", tml_type_name(v->type), v->slope,
             v->intercept);
    return text;
}

int surface_choose_slabs(surface_run *r, const char *path)
{
    const surface_args *a = r->args;
    const char *obstacle = surface_what_needs_all(r);
    bool is_asked = a->slab_layers || a->index || ranks_count() > 1;
    uint64_t limit = a->common.memory ? a->common.memory : system_free_memory() / 2;
    const tml_load_desc desc = input_volume_desc(&a->input, &a->common);
    const bool needs_iso =
        !a->iso.count && !a->labels.count && !a->labels.all && !input_is_named_like_points(path);
    if (is_asked && (obstacle || needs_iso))
        return surface_refuse_slabs(r, obstacle ? obstacle : "give --iso");
    if (ranks_count() > 1 || (!obstacle && !needs_iso && can_be_shared(a->output)))
        r->team = ranks_job();
    bool is_described = !desc.dims[0] == !desc.type; /* both in the file, or both as options */
    if (obstacle || !is_described || !slabs_open(path, &desc, &r->slabs))
        return CLI_OK; /* loading it whole reports what is wrong */
    if (a->caps &&
        surface_is_inside_low(r, &r->slabs.info[0])) { /* make_inside_high needs all samples */
        slabs_close(&r->slabs);
        return is_asked ? surface_refuse_slabs(
                              r, "leave out --caps, which would close the wrong side where "
                                 "the inside is low in the samples")
                        : CLI_OK;
    }
    if ((a->labels.all || a->labels.count) && !tml_volume_has_labels(&r->slabs.info[0])) {
        char text[TEXT_SIZE];
        if (is_asked)
            return cli_error(
                "%s: labels are made of its samples (%s) in memory, and in slabs it is "
                "never whole; leave out --slabs, --index and other processes, or "
                "store labels as integers without a slope",
                path, text_samples_of(&r->slabs.info[0], text));
        slabs_close(&r->slabs);
        r->team = NULL;
        return CLI_OK;
    }
    r->in_slabs = is_asked || r->team ||
                  (limit && !needs_iso &&
                   slabs_size(&r->slabs, a->mask != NULL, a->attribute != NULL) > limit);
    r->may_be_slabs = !r->in_slabs;
    int code = CLI_OK;
    if (a->mask)
        code = slabs_open_like(&r->slabs, TML_SURFACE_MASK, "mask", a->mask);
    if (code == CLI_OK && a->attribute)
        code = slabs_open_like(&r->slabs, TML_SURFACE_ATTRIBUTE, "attribute", a->attribute);
    return code;
}

void surface_prefer_slabs(surface_run *r)
{
    const surface_args *a = r->args;
    bool is_chosen = a->iso.count || a->labels.count;
    r->in_slabs = r->may_be_slabs && !surface_makes_net(a) &&
                  cli_device(r->tml).engine == TML_ENGINE_CPU &&
                  (slabs_can_map(&r->slabs) || (is_chosen && r->slabs.info[0].compressed));
    r->may_be_slabs = r->in_slabs;
    if (!r->in_slabs)
        slabs_close(&r->slabs);
}

/* Half of --memory is left for files, threads and the program. `enough` gives every thread work in
 * a slab; more memory is not faster. */
slabs_options surface_describe_slabs(const surface_run *r)
{
    const surface_args *a = r->args;
    const uint64_t least = 64 << 20, a_thread = 16 << 20;
    uint64_t memory = a->common.memory / 2;
    uint64_t enough = cli_device(r->tml).threads * a_thread;
    enough = enough > least ? enough : least;
    if (r->may_be_slabs && (memory == 0 || memory > enough))
        memory = enough;
    slabs_options options = {.memory = memory,
                             .layers = a->slab_layers,
                             .index = a->index,
                             .path = r->in.path,
                             .output = a->output,
                             .up = picture_up(a->picture.up, ""),
                             .may_be_empty = r->is_frame,
                             .is_asked = !r->may_be_slabs,
                             .team = r->team,
                             .components = surface_counts_components(a)};
    memcpy(options.origin, r->desc.position_origin, sizeof options.origin);
    return options;
}

/* Reports labels without a surface, unless labels were already searched for in the volume. */
static void tell_empty_labels(surface_run *r)
{
    char text[TEXT_SIZE];
    for (uint32_t p = 0; p < r->made.surface.part_count && !r->summary.has_found; p++)
        if (r->labels.count && r->made.surface.parts[p].triangle_count == 0)
            cli_warn("--labels: %s has no surface: no sample of %s has this label, or all have",
                     labels_text(text, sizeof text, r->made.surface.parts[p].label,
                                 tml_type_is_signed(r->in.volume.type)),
                     r->in.path);
}

void surface_end_slabs(surface_run *r)
{
    const surface_args *a = r->args;
    tell_empty_labels(r);
    r->summary.is_quads = a->quads;
    r->summary.has_components = surface_counts_components(a);
    r->summary.measures = r->slabs.measures;
    if (surface_makes_net(a)) { /* as if made in memory, without parts */
        tml_surface_result counts = r->made.surface;
        tml_surface_free(r->tml, &r->made.surface);
        counts.parts = NULL;
        counts.part_count = 0;
        counts.seams = NULL;
        r->made.surface = counts;
    }
    surface_add_stages(r);
    report_add_output(&r->summary.report, a->output);
}

static int extract_slabs(surface_run *r)
{
    slabs_options options = surface_describe_slabs(r);
    const tml_surface_labels_desc net = surface_describe_boundaries(r);
    if (surface_makes_net(r->args))
        options.boundaries = &net;
    int code = slabs_run(r->tml, &r->slabs, &r->desc, &options, &r->made);
    if (code == CLI_OK && !r->slabs.is_empty)
        surface_end_slabs(r);
    return code;
}

int surface_run_volume_slabs(surface_run *r)
{
    const surface_args *a = r->args;
    int code = input_take_unit(&a->input, r->in.path, &r->slabs.info[0]);
    if (code != CLI_OK)
        return code;
    r->in.volume = r->slabs.info[0];
    r->in.volume.data = (void *)(uintptr_t)r->slabs.mapped[0]; /* for Otsu's method */
    code = surface_describe_volume(r);
    if (code == CLI_OK && r->may_be_slabs && r->in.volume.data)
        code = surface_find_labels(r);
    r->in.volume.data = NULL; /* it belongs to the slabs */
    if (code != CLI_OK)
        return code;
    surface_choose(r);
    if (r->summary.cells == 0 && !a->caps)
        return surface_explain_empty(r);
    return extract_slabs(r);
}
