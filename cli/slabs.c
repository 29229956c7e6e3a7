/* Surfaces in slabs, from files to a file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "file_advice.h"
#include "files.h"
#include "ranks.h"
#include "report/report.h"
#include "shares.h"
#include "slabs.h"
#include "stream_kernels.h"
#include "system.h"

/* ---- volumes --------------------------------------------------------------------------------- */

bool slabs_open(const char *path, const tml_volume_load_desc *desc, slabs *out)
{
    *out = (slabs){.slope = 1};
    const tml_open_desc open = {.engine = TML_ENGINE_CPU, .threads = 1, .log = cli_take_message};
    if (tml_open(&open, &out->reader) != TML_OK)
        return false;
    if (tml_volume_stream_open(out->reader, path, desc, &out->info[0], &out->streams[0]) == TML_OK)
        return true;
    char why[sizeof out->why];
    snprintf(why, sizeof why, "%s", cli_last_error(out->reader));
    slabs_close(out);
    memcpy(out->why, why, sizeof why);
    return false;
}

int slabs_open_like(slabs *s, tml_surface_source source, const char *option, const char *path)
{
    tml_volume *info = &s->info[source];
    const tml_volume_load_desc desc = {.strict = cli_is_strict()};
    tml_status status = tml_volume_stream_open(s->reader, path, &desc, info, &s->streams[source]);
    if (status != TML_OK)
        return advice_fail(s->reader, status, path, INPUT_VOLUME);
    s->slope = source == TML_SURFACE_ATTRIBUTE ? info->slope : s->slope;
    s->intercept = source == TML_SURFACE_ATTRIBUTE ? info->intercept : s->intercept;
    return input_check_like(option, path, info, &s->info[0]);
}

uint64_t slabs_size(const slabs *s, bool has_mask, bool has_attribute)
{
    uint64_t count = input_sample_count(&s->info[0]);
    uint64_t each =
        tml_type_size(s->info[0].type) + (has_mask ? 1 : 0) + (has_attribute ? sizeof(float) : 0);
    return count * each + count / 3; /* what tml_surface needs beside it */
}

void slabs_of_field(const tml_grid *grid, slabs *out)
{
    *out = (slabs){.slope = 1, .info[0] = {.type = TML_F32, .grid = *grid, .slope = 1}};
}

void slabs_close(slabs *s)
{
    for (int i = 0; i < SLABS_SOURCES; i++)
        tml_volume_stream_close(s->streams[i]);
    for (int i = 0; i < 2; i++)
        tml_free(s->reader, s->mask[i].data, s->mask[i].size);
    tml_close(s->reader);
    *s = (slabs){0};
}

/* ---- callbacks ------------------------------------------------------------------------------- */

#define INDEX_OF_ANOTHER                                                                           \
    "--index: %s is of another volume than %s; make it again with \"" CLI_PROGRAM " index\""

/* A mask's samples as bytes that are 0 or not. */
static tml_status make_bytes(slabs *s, uint64_t count, const void *samples, void *out)
{
    const tml_type type = s->info[TML_SURFACE_MASK].type;
    return cli_map(s->reader, stream_nonzero(type), type, count, samples, TML_U8, out);
}

/* On the reading thread, which has the reader's context to itself. */
static tml_status read_layers(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                              void *out)
{
    slabs *s = user;
    const tml_volume *info = &s->info[source];
    size_t sample_size = tml_type_size(info->type);
    if (source != TML_SURFACE_MASK || sample_size == 1) {
        tml_status read = tml_volume_stream_read(s->streams[source], first, count, out);
        if (read == TML_OK && source == TML_SURFACE_VOLUME && s->bricks &&
            !tml_bricks_hold(s->bricks, out, first, count, 1))
            read = tml_error(s->reader, TML_ERROR_INVALID_ARGUMENT, INDEX_OF_ANOTHER,
                             s->options->index, s->options->path);
        return read;
    }
    uint64_t layer = info->grid.dims[0] * info->grid.dims[1];
    void *samples = tml_alloc_array(s->reader, layer, sample_size);
    if (!samples)
        return tml_error(s->reader, TML_ERROR_OUT_OF_MEMORY, "no memory for a layer of the mask");
    tml_status status = TML_OK;
    for (uint64_t z = 0; z < count && status == TML_OK; z++) {
        status = tml_volume_stream_read(s->streams[source], first + z, 1, samples);
        if (status == TML_OK)
            status = make_bytes(s, layer, samples, (uint8_t *)out + z * layer);
    }
    tml_free(s->reader, samples, layer * sample_size);
    return status;
}

/* On the reading thread. Layers below the slab at work, which is the one asked for before this, are done with. */
static tml_status map_layers(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                             const void **out)
{
    slabs *s = user;
    const tml_volume *info = &s->info[source];
    size_t layer = info->grid.dims[0] * info->grid.dims[1] * tml_type_size(info->type);
    tml_volume_stream_let_go(s->streams[source], s->at_work[source]);
    s->at_work[source] = first;
    *out = (const char *)s->mapped[source] + first * layer;
    tml_status status = tml_volume_stream_bring(s->streams[source], first, count);
    if (status != TML_OK || source != TML_SURFACE_MASK || tml_type_size(info->type) == 1)
        return status;
    s->mask_turn = !s->mask_turn; /* the bytes before are still looked at */
    uint64_t samples = count * info->grid.dims[0] * info->grid.dims[1];
    mask_bytes *bytes = &s->mask[s->mask_turn];
    if (samples > bytes->size) {
        tml_free(s->reader, bytes->data, bytes->size);
        bytes->data = tml_alloc_array(s->reader, samples, 1);
        bytes->size = bytes->data ? samples : 0;
        if (!bytes->data)
            return tml_error(s->reader, TML_ERROR_OUT_OF_MEMORY,
                             "no memory for %" PRIu64 " bytes of the mask", samples);
    }
    status = make_bytes(s, samples, *out, bytes->data);
    *out = bytes->data;
    return status;
}

/* Attributes in physical units. */
static tml_status scale_values(slabs *s, const float *values, uint64_t count)
{
    if (count * sizeof *values > s->values_size) {
        tml_free(s->tml, s->values, s->values_size);
        s->values_size = count * sizeof *values;
        s->values = tml_alloc(s->tml, s->values_size);
        if (!s->values) {
            s->values_size = 0;
            return tml_error(s->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %" PRIu64 " values",
                             count);
        }
    }
    for (uint64_t i = 0; i < count; i++)
        s->values[i] = (float)(s->slope * (double)values[i] + s->intercept);
    return TML_OK;
}

static tml_status write_piece(void *user, const tml_surface_piece *piece)
{
    slabs *s = user;
    if (piece->layer_first > 0 && s->streams[0] && !s->options->boundaries)
        /* the one below is still looked at */
        tml_volume_stream_let_go(s->streams[0], piece->layer_first - 1);
    tml_mesh mesh = {.positions = piece->positions,
                     .normals = piece->normals,
                     .indices = piece->indices,
                     .indices64 = piece->indices64,
                     .quads = piece->quads,
                     .vertex_count = piece->vertex_count,
                     .triangle_count = piece->triangle_count,
                     .face_labels = piece->face_labels,
                     .face_label_type = piece->face_labels ? s->info[0].type : TML_TYPE_NONE};
    tml_mesh_attribute attributes[INPUT_MAX_ATTRIBUTES];
    mesh.attributes = attributes;
    mesh.attribute_count = s->options->attribute_count;
    for (uint32_t i = 0; i < mesh.attribute_count; i++) {
        attributes[i] = s->options->attributes[i];
        attributes[i].data = piece->field_values[i];
    }
    if (piece->values) {
        tml_status status = scale_values(s, piece->values, piece->vertex_count);
        if (status != TML_OK)
            return status;
        mesh.values = s->values;
    }
    s->measures.is_off |= piece->part > 0;
    measures_add(s->tml, &s->measures, &mesh);
    return tml_mesh_stream_add(s->out, piece->part, &mesh);
}

/* Of a mesh in files little is in memory at a time. */
static void measure_edited(slabs *s, const tml_mesh_arrays *mesh)
{
    enum { TRIANGLES = 1 << 16 };
    const size_t size = mesh->indices64 ? sizeof(uint64_t) : sizeof(uint32_t);
    for (uint64_t first = 0; first < mesh->triangle_count; first += TRIANGLES) {
        const uint64_t left = mesh->triangle_count - first;
        s->edited.vertices = 0; /* each of these pieces has all of them */
        measures_add(s->tml, &s->edited,
                     &(tml_mesh){.positions = mesh->positions,
                                 .indices = (const char *)mesh->indices + 3 * size * first,
                                 .indices64 = mesh->indices64,
                                 .vertex_count = mesh->vertex_count,
                                 .triangle_count = left < TRIANGLES ? left : TRIANGLES});
        if (mesh->let_go)
            mesh->let_go(mesh->user);
    }
}

/* The filters look at the whole mesh, which by then lies in files. */
static tml_status edit_mesh(void *user, tml_mesh_arrays *mesh)
{
    slabs *s = user;
    tml_surface_result *result = s->result;
    mesh->counts_components = s->options->components;
    tml_status status =
        tml_mesh_clean(s->tml, mesh, s->options->largest, s->options->drop_degenerate);
    result->vertex_count = mesh->vertex_count;
    result->triangle_count = mesh->triangle_count;
    result->components = mesh->components;
    if (status == TML_OK && mesh->part_count <= 1)
        measure_edited(s, mesh);
    tml_surface_part end = {0}; /* of the parts so far */
    for (uint32_t p = 0, k = 0; p < result->part_count; p++) {
        const tml_surface_part of = result->parts[p];
        if (result->parts[p].vertex_count) /* empty ones had no piece */
            end = mesh->parts[k++];
        result->parts[p] = end;
        result->parts[p].value = of.value;
        result->parts[p].label = of.label;
        end = (tml_surface_part){.vertex_first = end.vertex_first + end.vertex_count,
                                 .triangle_first = end.triangle_first + end.triangle_count};
    }
    return status;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* An index that is older than its volume, or another's, would make a wrong surface without a word. This looks at times,
 * dims and type, use_index and read_layers at samples. */
static int load_index(tml_context *tml, const slabs *s, const slabs_options *options,
                      tml_bricks *out)
{
    const tml_volume *info = &s->info[0];
    tml_status status = tml_bricks_load(tml, options->index, out);
    if (status != TML_OK)
        return cli_fail(tml, status);
    system_file volume, index;
    bool is_older = system_examine(options->path, &volume) &&
                    system_examine(options->index, &index) && volume.changed > index.changed;
    bool is_other =
        memcmp(out->dims, info->grid.dims, sizeof out->dims) != 0 || out->type != info->type;
    if (is_other)
        return cli_error(INDEX_OF_ANOTHER, options->index, options->path);
    if (is_older)
        return cli_error("--index: %s is older than %s; make it again with \"" CLI_PROGRAM
                         " index\"",
                         options->index, options->path);
    return CLI_OK;
}

/* All rows of a small volume; of a large one some, evenly spread over all of it: rows that are a multiple of its
 * height apart would all have the same y. */
static uint64_t choose_step(const tml_volume *v)
{
    enum { SMALL = 16 << 20, ROWS = 512 };
    const uint64_t *dims = v->grid.dims;
    if (input_sample_count(v) * tml_type_size(v->type) <= SMALL)
        return 1;
    uint64_t step = dims[1] * dims[2] / ROWS;
    for (step = step ? step : 1; step > 1; step++) {
        uint64_t a = step, b = dims[1];
        while (b) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            break;
    }
    return step;
}

/* The file's own bytes as the volume, with the index of its bricks: what is not looked at is not read. */
static int use_index(tml_context *tml, slabs *s, const slabs_options *options, tml_bricks *bricks,
                     tml_surface_desc *surface)
{
    int code = load_index(tml, s, options, bricks);
    const tml_buffer_desc desc = {.type = TML_VEC(TML_F32, 2),
                                  .count = bricks->count,
                                  .data = bricks->ranges,
                                  .label = "index"};
    if (code == CLI_OK)
        code = cli_fail(tml, tml_buffer_create(tml, &desc, &surface->index));
    const void *samples;
    if (code != CLI_OK)
        return code;
    s->bricks = bricks;
    /* Where it cannot be mapped the index saves computing, not reading, and read_layers looks at all samples. */
    if (tml_volume_stream_map(s->streams[0], &samples) != TML_OK)
        return CLI_OK;
    if (!tml_bricks_hold(bricks, samples, 0, s->info[0].grid.dims[2], choose_step(&s->info[0])))
        return cli_error(INDEX_OF_ANOTHER, options->index, options->path);
    if (s->streams[TML_SURFACE_MASK] || s->streams[TML_SURFACE_ATTRIBUTE])
        return CLI_OK;
    return cli_fail(tml, cli_lend_input(tml, s->info[0].type, input_sample_count(&s->info[0]),
                                        samples, "volume", &surface->volume));
}

bool slabs_can_map(slabs *s)
{
    for (int i = 0; i < SLABS_SOURCES; i++)
        if (s->streams[i] && tml_volume_stream_map(s->streams[i], &s->mapped[i]) != TML_OK)
            return false;
    return true;
}

/* The library's message, with the reader's own where reading failed. */
static int explain(tml_context *tml, const slabs *s, tml_status status)
{
    const char *why = s->reader ? cli_last_error(s->reader) : "";
    if (status == TML_OK || status == TML_ERROR_CANCELLED || !*why ||
        !strstr(cli_last_error(tml), "could not be read"))
        return cli_fail(tml, status);
    if (!s->options->is_asked) /* as of a volume that is loaded */
        return cli_fail(s->reader, status);
    return cli_error("%s: %s", cli_last_error(tml), why);
}

/* The layers of this process. */
static layer_share choose_share(const slabs *s, const tml_surface_desc *surface,
                                const tml_bricks *bricks)
{
    uint64_t dim = s->info[0].grid.dims[2];
    uint64_t first = surface->region.first[2], count = surface->region.count[2];
    uint64_t most = first < dim ? dim - first : 0;
    count = count && count < most ? count : most;
    if (!s->options->team || !count) /* or let the library say what is wrong */
        return (layer_share){0, 0};
    return share_layers(first, count, ranks_mine(), ranks_count(), bricks->ranges ? bricks : NULL,
                        surface);
}

/* The numbers of a process's seams, all parts' that lie above one after another, and what came from below. */
typedef struct seam_exchange {
    tml_surface_result *result;
    uint64_t parts; /* of the process that has most */
    uint64_t *above_counts, *below_counts;
    uint64_t *above, *below;
    uint64_t above_size, below_size; /* bytes */
} seam_exchange;

/* Joins what came from below to this process's seams, of which it adds the components. */
static tml_status join_seams(tml_context *tml, seam_exchange *e)
{
    tml_status status = TML_OK;
    uint64_t *above = e->above, *below = e->below;
    for (uint32_t p = 0; e->result->seams && p < e->result->part_count && status == TML_OK; p++) {
        tml_surface_seam *seam = &e->result->seams[p];
        status = tml_surface_join(tml, seam, below, e->below_counts[p], &e->result->components);
        if (seam->above_count)
            memcpy(above, seam->sets + seam->below_count, seam->above_count * sizeof *above);
        above += seam->above_count;
        below += e->below_counts[p];
    }
    return status;
}

static tml_status exchange_seams(tml_context *tml, const tml_team *team, seam_exchange *e)
{
    const uint64_t counts_size = e->parts * sizeof *e->above_counts;
    for (uint32_t p = 0; e->result->seams && p < e->result->part_count; p++) {
        e->above_counts[p] = e->result->seams[p].above_count;
        e->above_size += e->above_counts[p] * sizeof *e->above;
    }
    tml_status status = team->shift(team->user, tml, false, e->above_counts,
                                    team->rank + 1 < team->count ? counts_size : 0, e->below_counts,
                                    team->rank ? counts_size : 0);
    for (uint64_t p = 0; p < e->parts; p++)
        e->below_size += e->below_counts[p] * sizeof *e->below;
    if (status != TML_OK)
        return status;
    e->above = tml_alloc(tml, e->above_size + e->below_size + 1);
    if (!e->above)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %" PRIu64 " bytes of seams",
                         e->above_size + e->below_size);
    e->below = e->above + e->above_size / sizeof *e->above;
    if (team->rank == 0)
        status = join_seams(tml, e);
    for (uint32_t r = 1; r < team->count && status == TML_OK; r++) { /* from rank r - 1 to rank r */
        status =
            team->shift(team->user, tml, false, e->above, team->rank + 1 == r ? e->above_size : 0,
                        e->below, team->rank == r ? e->below_size : 0);
        if (status == TML_OK && team->rank == r)
            status = join_seams(tml, e);
    }
    tml_free(tml, e->above, e->above_size + e->below_size + 1);
    return status;
}

/* Adds the components that go on from one process's layers to the next one's. */
static tml_status join_components(tml_context *tml, const tml_team *team,
                                  tml_surface_result *result)
{
    uint64_t mine = result->part_count, size = ranks_count() * sizeof mine;
    uint64_t *all = tml_alloc(tml, size);
    seam_exchange e = {.result = result};
    tml_status status = all ? ranks_gather(tml, &mine, 1, all)
                            : tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for counts");
    for (uint32_t r = 0; r < ranks_count() && status == TML_OK; r++)
        e.parts = all[r] > e.parts ? all[r] : e.parts;
    tml_free(tml, all, all ? size : 0);
    size = 2 * e.parts * sizeof *e.above_counts + 1;
    e.above_counts = status == TML_OK ? tml_alloc(tml, size) : NULL;
    if (status == TML_OK && !e.above_counts)
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for counts");
    if (status != TML_OK)
        return status;
    memset(e.above_counts, 0, size);
    e.below_counts = e.above_counts + e.parts;
    status = exchange_seams(tml, team, &e);
    tml_free(tml, e.above_counts, size);
    return status;
}

/* What all processes found becomes the result of each. soup: their welded pieces become one. */
static tml_status join_results(tml_context *tml, bool soup, tml_surface_result *result)
{
    enum { PART_NUMBERS = 2, NUMBERS = 4 };
    uint64_t mine[NUMBERS] = {result->part_count, result->active_cells, report_peak_memory(),
                              result->components};
    uint64_t size = NUMBERS * ranks_count() * sizeof *mine, most[NUMBERS] = {0}, cells = 0;
    uint64_t *all = tml_alloc(tml, size);
    if (!all)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %" PRIu64 " bytes", size);
    tml_status status = ranks_gather(tml, mine, NUMBERS, all);
    result->components = 0;
    for (uint32_t r = 0; r < ranks_count() && status == TML_OK; r++) {
        for (int i = 0; i < NUMBERS; i++)
            most[i] = all[NUMBERS * r + i] > most[i] ? all[NUMBERS * r + i] : most[i];
        cells += all[NUMBERS * r + 1];
        result->components += all[NUMBERS * r + 3];
    }
    tml_free(tml, all, size);
    size = most[0] * PART_NUMBERS * sizeof *all;
    uint64_t *counts = status == TML_OK ? tml_alloc(tml, size + 1) : NULL;
    if (status == TML_OK && !counts)
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %" PRIu64 " bytes", size);
    if (status != TML_OK)
        return status;
    memset(counts, 0, size);
    for (uint32_t p = 0; p < result->part_count; p++) {
        const tml_surface_part *part = &result->parts[p];
        counts[PART_NUMBERS * p] = soup ? 3 * part->triangle_count : part->vertex_count;
        counts[PART_NUMBERS * p + 1] = part->triangle_count;
    }
    status = ranks_sum(tml, counts, most[0] * PART_NUMBERS);
    result->vertex_count = result->triangle_count = 0;
    for (uint64_t p = 0; p < most[0] && status == TML_OK; p++) {
        tml_surface_part part = {.vertex_first = result->vertex_count,
                                 .vertex_count = counts[PART_NUMBERS * p],
                                 .triangle_first = result->triangle_count,
                                 .triangle_count = counts[PART_NUMBERS * p + 1]};
        result->vertex_count += part.vertex_count;
        result->triangle_count += part.triangle_count;
        if (p < result->part_count) {
            part.value = result->parts[p].value;
            part.label = result->parts[p].label;
            result->parts[p] = part;
        }
    }
    result->active_cells = cells;
    report_set_peak_memory(most[2]);
    tml_free(tml, counts, size + 1);
    return status;
}

static bool is_stl(const char *output)
{
    return path_ends_with(output, ".stl");
}

/* The counts of a mesh that can then be written in place. Counting reads the volume once more, which takes less time
 * than storing the mesh twice where the system's page cache holds the volume. */
static tml_status count_mesh(tml_context *tml, slabs *s, const tml_surface_slabs_desc *desc,
                             const tml_mesh_stream_desc *mesh, tml_surface_result *counted)
{
    tml_surface_desc surface = desc->surface ? *desc->surface : (tml_surface_desc){.iso = 0};
    tml_surface_slabs_desc counting = *desc;
    uint64_t free_memory = system_free_memory();
    bool is_cached =
        !free_memory || slabs_size(s, s->streams[TML_SURFACE_MASK] != NULL,
                                   s->streams[TML_SURFACE_ATTRIBUTE] != NULL) < free_memory / 2;
    if (!desc->map || !is_cached || mesh->edit || mesh->team ||
        (is_stl(s->options->output) && desc->boundaries) ||
        path_ends_with(s->options->output, ".obj")) /* whose rows have no fixed size */
        return TML_OK;
    counting.write = NULL;
    counting.surface = desc->boundaries ? NULL : &surface;
    surface.soup = false;
    tml_status status = tml_surface_slabs(tml, &counting, counted);
    memset(s->at_work, 0, sizeof s->at_work);
    return status;
}

/* Of an STL, which has rows of corners, the pieces are soups, without what it has no room for. */
static void make_corners(tml_surface_slabs_desc *desc, tml_surface_desc *surface,
                         tml_mesh_stream_desc *mesh)
{
    surface->soup = mesh->soup = true;
    surface->normals = TML_NORMALS_NONE;
    desc->attribute_type = TML_TYPE_NONE;
    mesh->normals = mesh->values = false;
}

/* Extracts the slabs of this process and finishes the file. corners: the counts of the mesh whose corners the pieces
 * are; NULL: they are the mesh. */
static int write_slabs(tml_context *tml, slabs *s, const tml_surface_slabs_desc *desc, bool is_soup,
                       const tml_surface_result *corners)
{
    tml_surface_result *result = s->result;
    const tml_team *team = s->options->team;
    tml_status status = TML_OK;
    if (!team || desc->layer_count)
        status = tml_surface_slabs(tml, desc, result);
    if (team && status == TML_OK && desc->components)
        status = join_components(tml, team, result);
    if (team && status == TML_OK)
        status = join_results(tml, is_soup, result);
    for (uint32_t p = 0; corners && status == TML_OK && p < result->part_count; p++)
        result->parts[p] = corners->parts[p];
    if (corners)
        result->vertex_count = corners->vertex_count;
    s->is_empty = status == TML_OK && result->triangle_count == 0 && !s->options->may_be_empty;
    if (s->is_empty) /* no file of nothing */
        (void)!tml_mesh_stream_finish(s->out, TML_ERROR_CANCELLED);
    else
        status = tml_mesh_stream_finish(s->out, status);
    int code = explain(tml, s, status);
    if (s->is_empty && s->options->is_asked)
        code = cli_error("the surface is empty, nothing was written; choose other "
                         "values (" CLI_PROGRAM " info shows what the file holds)");
    return code;
}

static tml_mesh_stream_desc describe_mesh(slabs *s, const tml_surface_desc *surface, bool edits,
                                          bool indices64)
{
    const slabs_options *options = s->options;
    tml_mesh_stream_desc mesh = {
        .attributes = options->attributes,
        .attribute_count = options->attribute_count,
        .normals = surface->normals != TML_NORMALS_NONE && !options->boundaries,
        .face_label_type = options->boundaries ? s->info[0].type : TML_TYPE_NONE,
        .values = s->streams[TML_SURFACE_ATTRIBUTE] != NULL,
        .soup = surface->soup,
        .quads = options->boundaries && options->boundaries->quads,
        .team = ranks_team(),
        .indices64 = indices64,
        .comment = "made by " CLI_PROGRAM,
        .up = options->up,
        .edit = edits ? edit_mesh : NULL,
        .user = s};
    memcpy(mesh.origin, options->origin, sizeof mesh.origin);
    return mesh;
}

int slabs_run(tml_context *tml, slabs *s, const tml_surface_desc *surface,
              const slabs_options *options, tml_surface_result *result)
{
    const bool edits = options->largest || options->drop_degenerate; /* and edit_mesh counts */
    tml_surface_desc in_slabs = *surface;
    tml_surface_slabs_desc desc = {.surface = &in_slabs,
                                   .read = read_layers,
                                   .write = write_piece,
                                   .user = s,
                                   .memory = options->memory,
                                   .components = options->components && !edits,
                                   .slab_layers = options->layers};
    in_slabs.largest_component = in_slabs.drop_degenerate = false; /* edit_mesh does that */
    /* Three vertices a sample at most. */
    in_slabs.indices64 = surface->indices64 || input_sample_count(&s->info[0]) > UINT32_MAX / 3;
    tml_surface_labels_desc boundaries = {.smooth = 0};
    if (options->boundaries) {
        boundaries = *options->boundaries;
        boundaries.indices64 = in_slabs.indices64;
        desc.surface = NULL;
        desc.boundaries = &boundaries;
    }
    s->tml = tml;
    s->options = options;
    s->result = result;
    s->measures = s->edited =
        (measures){.is_off = options->team || !(options->components || surface->soup)};
    tml_bricks bricks = {0};
    int code = options->index ? use_index(tml, s, options, &bricks, &in_slabs) : CLI_OK;
    const layer_share share = choose_share(s, surface, &bricks);
    desc.layer_first = share.first;
    desc.layer_count = share.count;
    if (code == CLI_OK && tml_buffer_is_none(in_slabs.volume) && !surface->field) {
        desc.type = s->info[0].type;
        desc.has_mask = s->streams[TML_SURFACE_MASK] != NULL;
        desc.attribute_type = s->streams[TML_SURFACE_ATTRIBUTE] ? s->info[2].type : TML_TYPE_NONE;
        desc.map = slabs_can_map(s) ? map_layers : NULL;
    }
    for (uint32_t i = 0; i < options->attribute_count; i++)
        desc.field_values[i] = options->carried[i];
    tml_mesh_stream_desc mesh = describe_mesh(s, surface, edits, in_slabs.indices64);
    if (mesh.team) /* a soup is made at the end, when all vertices are at hand */
        in_slabs.soup = false;
    tml_surface_result counted = {0};
    if (code == CLI_OK)
        code = explain(tml, s, count_mesh(tml, s, &desc, &mesh, &counted));
    mesh.parts = counted.parts;
    mesh.part_count = counted.part_count;
    bool has_corners =
        counted.triangle_count && !mesh.soup && desc.surface && is_stl(options->output);
    if (has_corners)
        make_corners(&desc, &in_slabs, &mesh);
    if (code == CLI_OK)
        code = cli_fail(tml, tml_mesh_stream_open(tml, options->output, &mesh, &s->out));
    if (code == CLI_OK)
        code = write_slabs(tml, s, &desc, mesh.soup, has_corners ? &counted : NULL);
    s->bricks = NULL;
    measures_end(tml, &s->measures);
    if (edits)
        s->measures = s->edited;
    tml_surface_free(tml, &counted);
    tml_bricks_free(tml, &bricks);
    tml_free(tml, s->values, s->values_size);
    tml_buffer_destroy(tml, in_slabs.volume);
    tml_buffer_destroy(tml, in_slabs.index);
    return code;
}
