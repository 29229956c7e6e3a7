/* Surfaces in slabs, from volume files to a mesh file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "file_advice.h"
#include "ranks.h"
#include "report/report.h"
#include "slabs.h"
#include "system.h"

/* ---- volumes --------------------------------------------------------------------------------- */

bool slabs_open(const char *path, const tml_load_desc *desc, slabs *out)
{
    *out = (slabs){0};
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
    const tml_load_desc desc = {.strict = cli_is_strict()};
    tml_status status = tml_volume_stream_open(s->reader, path, &desc, info, &s->streams[source]);
    if (status != TML_OK)
        return advice_fail(s->reader, status, path, TML_FILE_VOLUME);
    return input_check_like(option, path, info, &s->info[0]);
}

uint64_t slabs_size(const slabs *s, bool has_mask, bool has_attribute)
{
    uint64_t count = input_sample_count(&s->info[0]);
    uint64_t each =
        tml_type_size(s->info[0].type) + (has_mask ? 1 : 0) + (has_attribute ? sizeof(float) : 0);
    return count * each + count / 3; /* tml_surface's own memory */
}

void slabs_close(slabs *s)
{
    for (int i = 0; i < SLABS_SOURCES; i++)
        tml_volume_stream_close(s->streams[i]);
    tml_close(s->reader);
    *s = (slabs){0};
}

bool slabs_can_map(slabs *s)
{
    for (int i = 0; i < SLABS_SOURCES; i++)
        if (s->streams[i] && tml_volume_stream_map(s->streams[i], &s->mapped[i]) != TML_OK)
            return false;
    return true;
}

/* ---- measures -------------------------------------------------------------------------------- */

static tml_status measure_piece(void *user, const tml_surface_piece *piece)
{
    slabs *s = user;
    s->measures.is_off |= piece->index > 0;
    measures_add(s->tml, &s->measures, &piece->mesh);
    return TML_OK;
}

/* Measures a mesh in files, a stretch of triangles at a time, so that it needs little memory. */
static tml_status measure_edited(void *user, tml_mesh *mesh)
{
    enum { TRIANGLES = 1 << 16 };
    slabs *s = user;
    const size_t size = mesh->indices64 ? sizeof(uint64_t) : sizeof(uint32_t);
    s->measures.is_off |= mesh->part_count > 1;
    for (uint64_t first = 0; first < mesh->triangle_count; first += TRIANGLES) {
        const uint64_t left = mesh->triangle_count - first;
        s->measures.vertices = 0; /* each stretch refers to all vertices */
        measures_add(s->tml, &s->measures,
                     &(tml_mesh){.positions = mesh->positions,
                                 .indices = (char *)mesh->indices + 3 * size * first,
                                 .indices64 = mesh->indices64,
                                 .vertex_count = mesh->vertex_count,
                                 .triangle_count = left < TRIANGLES ? left : TRIANGLES});
        if (mesh->release_pages)
            mesh->release_pages(mesh->user);
    }
    return TML_OK;
}

/* ---- the run --------------------------------------------------------------------------------- */

static int refuse_index(const slabs_options *options)
{
    return cli_error("--index: %s is of another volume than %s; make it again with \"" CLI_PROGRAM
                     " index\"",
                     options->index, options->path);
}

/* Loads the index. An index older than its volume, or another volume's, would silently give a wrong
 * surface. This function compares times, dims and type; tml_surface_save compares samples. */
static int load_index(tml_context *tml, const slabs *s, const slabs_options *options,
                      tml_volume_index *out)
{
    const tml_volume *info = &s->info[0];
    tml_status status = tml_volume_index_load(tml, options->index, out);
    if (status != TML_OK)
        return cli_fail(tml, status);
    system_file volume, index;
    bool is_older = system_examine(options->path, &volume) &&
                    system_examine(options->index, &index) && volume.changed > index.changed;
    bool is_other =
        memcmp(out->dims, info->grid.dims, sizeof out->dims) != 0 || out->type != info->type;
    if (is_other)
        return refuse_index(options);
    if (is_older)
        return cli_error("--index: %s is older than %s; make it again with \"" CLI_PROGRAM
                         " index\"",
                         options->index, options->path);
    return CLI_OK;
}

/* Reports the peak memory of the process that used most. */
static tml_status share_peak_memory(tml_context *tml)
{
    const uint64_t mine = report_peak_memory(), size = ranks_count() * sizeof mine;
    uint64_t *all = tml_alloc(tml, size), most = 0;
    if (!all)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %" PRIu64 " bytes", size);
    tml_status status = ranks_gather(tml, &mine, 1, all);
    for (uint32_t r = 0; r < ranks_count() && status == TML_OK; r++)
        most = all[r] > most ? all[r] : most;
    if (status == TML_OK)
        report_set_peak_memory(most);
    tml_free(tml, all, size);
    return status;
}

/* Whether the system's page cache likely holds the volume. If so, counting first, which reads the
 * volume twice, takes less time than storing the mesh twice. */
static bool is_cached(const slabs *s)
{
    const uint64_t free_memory = system_free_memory();
    return !free_memory || slabs_size(s, s->streams[TML_SURFACE_MASK] != NULL,
                                      s->streams[TML_SURFACE_ATTRIBUTE] != NULL) < free_memory / 2;
}

int slabs_end(tml_context *tml, slabs *s, const slabs_options *options, tml_status status,
              tml_side failed, bool is_empty)
{
    measures_end(tml, &s->measures);
    s->is_empty = is_empty;
    if (failed == TML_SIDE_INDEX)
        return refuse_index(options);
    if (failed == TML_SIDE_SOURCE && s->reader && !options->is_asked)
        return cli_fail(s->reader, status); /* the same message as for a volume that is loaded */
    if (status == TML_OK && options->team && !is_empty)
        status = share_peak_memory(tml);
    if (is_empty && options->is_asked)
        return cli_error("the surface is empty, nothing was written; choose other "
                         "values (" CLI_PROGRAM " info shows what the file holds)");
    return cli_fail(tml, status);
}

void slabs_describe(tml_context *tml, slabs *s, const tml_surface_desc *surface,
                    const slabs_options *options, tml_surface_save_desc *out)
{
    const bool edits = surface->largest_component || surface->drop_degenerate;
    out->making = TML_MAKE_SLABS;
    out->slabs.surface = options->boundaries ? NULL : surface;
    out->slabs.boundaries = options->boundaries;
    out->slabs.write = edits ? NULL : measure_piece;
    out->slabs.user = s;
    out->slabs.memory = options->memory;
    out->slabs.slab_layers = options->layers;
    out->slabs.components = options->components;
    out->file.mesh.comment = "made by " CLI_PROGRAM;
    out->file.mesh.up = options->up;
    out->file.edit = edits ? measure_edited : NULL;
    out->file.user = s;
    out->file.team = ranks_team();
    out->volume = s->streams[TML_SURFACE_VOLUME];
    out->mask = s->streams[TML_SURFACE_MASK];
    out->attribute = s->streams[TML_SURFACE_ATTRIBUTE];
    out->count_first = is_cached(s);
    out->keep_empty = options->may_be_empty;
    memcpy(out->file.mesh.origin, options->origin, sizeof out->file.mesh.origin);
    s->tml = tml;
    s->measures = (measures){.is_off = options->team || !(options->components || surface->soup)};
}

int slabs_run(tml_context *tml, slabs *s, const tml_surface_desc *surface,
              const slabs_options *options, tml_surface_saved *out)
{
    tml_volume_index index = {0};
    tml_surface_save_desc desc = {0};
    slabs_describe(tml, s, surface, options, &desc);
    int code = options->index ? load_index(tml, s, options, &index) : CLI_OK;
    if (code == CLI_OK) {
        desc.index = options->index ? &index : NULL;
        tml_status status = tml_surface_save(tml, options->output, &desc, out);
        code = slabs_end(tml, s, options, status, out->failed, out->is_empty);
    }
    tml_volume_index_free(tml, &index);
    return code;
}
