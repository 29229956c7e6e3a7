/* Surfaces in slabs, from files to a file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "slabs.h"
#include "stream_kernels.h"

uint64_t slabs_free_memory(void)
{
    unsigned long long kilobytes = 0;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return (uint64_t)kilobytes * 1024;
}

/* ---- volumes --------------------------------------------------------------------------------- */

bool slabs_open(const char *path, const tml_volume_load_desc *desc, slabs *out)
{
    *out = (slabs){.slope = 1};
    const tml_open_desc open = {.engine = TML_ENGINE_CPU, .threads = 1};
    if (tml_open(&open, &out->reader) != TML_OK)
        return false;
    if (tml_volume_stream_open(out->reader, path, desc, &out->info[0], &out->streams[0]) == TML_OK)
        return true;
    slabs_close(out);
    return false;
}

int slabs_open_like(slabs *s, tml_surface_source source, const char *option, const char *path)
{
    tml_volume *info = &s->info[source];
    tml_status status = tml_volume_stream_open(s->reader, path, NULL, info, &s->streams[source]);
    if (status != TML_OK)
        return cli_fail("surface", s->reader, status);
    s->slope = source == TML_SURFACE_ATTRIBUTE ? info->slope : s->slope;
    s->intercept = source == TML_SURFACE_ATTRIBUTE ? info->intercept : s->intercept;
    return input_check_like("surface", option, path, info, &s->info[0]);
}

uint64_t slabs_size(const slabs *s, bool has_mask, bool has_attribute)
{
    uint64_t count = input_sample_count(&s->info[0]);
    uint64_t each =
        tml_type_size(s->info[0].type) + (has_mask ? 1 : 0) + (has_attribute ? sizeof(float) : 0);
    return count * each + count / 3; /* what tml_surface needs beside it */
}

void slabs_close(slabs *s)
{
    for (int i = 0; i < SLABS_SOURCES; i++)
        tml_volume_stream_close(s->streams[i]);
    tml_close(s->reader);
    *s = (slabs){0};
}

/* ---- callbacks ------------------------------------------------------------------------------- */

/* On the reading thread, which has the reader's context to itself. */
static tml_status read_layers(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                              void *out)
{
    slabs *s = user;
    const tml_volume *info = &s->info[source];
    size_t sample_size = tml_type_size(info->type);
    if (source != TML_SURFACE_MASK || sample_size == 1)
        return tml_volume_stream_read(s->streams[source], first, count, out);
    /* A mask's samples become bytes that are 0 or not, a layer at a time. */
    uint64_t layer = info->grid.dims[0] * info->grid.dims[1];
    void *samples = tml_alloc(s->reader, layer * sample_size);
    if (!samples)
        return tml_error(s->reader, TML_OUT_OF_MEMORY, "no memory for a layer of the mask");
    tml_status status = TML_OK;
    for (uint64_t z = 0; z < count && status == TML_OK; z++) {
        status = tml_volume_stream_read(s->streams[source], first + z, 1, samples);
        if (status == TML_OK)
            status = cli_map(s->reader, stream_nonzero(info->type), info->type, layer, samples,
                             TML_U8, (uint8_t *)out + z * layer);
    }
    tml_free(s->reader, samples, layer * sample_size);
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
            return tml_error(s->tml, TML_OUT_OF_MEMORY, "no memory for %" PRIu64 " values", count);
        }
    }
    for (uint64_t i = 0; i < count; i++)
        s->values[i] = (float)(s->slope * (double)values[i] + s->intercept);
    return TML_OK;
}

static tml_status write_piece(void *user, const tml_surface_piece *piece)
{
    slabs *s = user;
    if (piece->layer_first > 0) /* the one below is still looked at */
        tml_volume_stream_let_go(s->streams[0], piece->layer_first - 1);
    tml_mesh mesh = {.positions = piece->positions,
                     .normals = piece->normals,
                     .indices = piece->indices,
                     .indices64 = piece->indices64,
                     .vertex_count = piece->vertex_count,
                     .triangle_count = piece->triangle_count};
    if (piece->values) {
        tml_status status = scale_values(s, piece->values, piece->vertex_count);
        if (status != TML_OK)
            return status;
        mesh.values = s->values;
    }
    return tml_mesh_stream_add(s->out, piece->part, &mesh);
}

/* The filters look at the whole mesh, which by then lies in files. */
static tml_status edit_mesh(void *user, tml_mesh_arrays *mesh)
{
    slabs *s = user;
    uint64_t needed = 16 * mesh->vertex_count + mesh->triangle_count;
    if (s->options->memory && needed > s->options->memory)
        return tml_error(s->tml, TML_OUT_OF_MEMORY,
                         "--largest and --drop-degenerate need %" PRIu64
                         " bytes for a mesh of %" PRIu64 " vertices; give more --memory",
                         needed, mesh->vertex_count);
    tml_status status =
        tml_mesh_clean(s->tml, mesh, s->options->largest, s->options->drop_degenerate);
    s->result->vertex_count = mesh->vertex_count;
    s->result->triangle_count = mesh->triangle_count;
    for (uint32_t p = 0, k = 0; p < s->result->part_count; p++) /* empty ones had no piece */
        if (s->result->parts[p].vertex_count) {
            double value = s->result->parts[p].value;
            s->result->parts[p] = mesh->parts[k++];
            s->result->parts[p].value = value;
        }
    return status;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* An index that is older than its volume, or another's, would make a wrong surface without a word. */
static int load_index(tml_context *tml, const slabs *s, const slabs_options *options,
                      tml_buffer *out)
{
    tml_bricks bricks;
    const tml_volume *info = &s->info[0];
    tml_status status = tml_bricks_load(tml, options->index, &bricks);
    if (status != TML_OK)
        return cli_fail("surface", tml, status);
    struct stat volume, index;
    bool is_older = stat(options->path, &volume) == 0 && stat(options->index, &index) == 0 &&
                    (index.st_mtim.tv_sec < volume.st_mtim.tv_sec ||
                     (index.st_mtim.tv_sec == volume.st_mtim.tv_sec &&
                      index.st_mtim.tv_nsec < volume.st_mtim.tv_nsec));
    bool is_other =
        memcmp(bricks.dims, info->grid.dims, sizeof bricks.dims) != 0 || bricks.type != info->type;
    int code = CLI_OK;
    if (is_older || is_other)
        code = cli_error(
            "surface", "--index: %s is %s %s; make it again with \"" CLI_PROGRAM " index\"",
            options->index, is_other ? "of another volume than" : "older than", options->path);
    const tml_buffer_desc desc = {.type = TML_VEC(TML_F32, 2),
                                  .count = bricks.count,
                                  .data = bricks.ranges,
                                  .label = "index"};
    if (code == CLI_OK)
        code = cli_fail("surface", tml, tml_buffer_create(tml, &desc, out));
    tml_bricks_free(tml, &bricks);
    return code;
}

/* The file's own bytes as the volume, with the index of its bricks: what is not looked at is not read. */
static int use_index(tml_context *tml, slabs *s, const slabs_options *options,
                     tml_surface_desc *surface)
{
    int code = load_index(tml, s, options, &surface->index);
    const void *samples;
    if (code != CLI_OK || s->streams[TML_SURFACE_MASK] || s->streams[TML_SURFACE_ATTRIBUTE] ||
        tml_volume_stream_map(s->streams[0], &samples) != TML_OK)
        return code; /* then the index saves computing, not reading */
    return cli_fail("surface", tml,
                    cli_lend_input(tml, s->info[0].type, input_sample_count(&s->info[0]), samples,
                                   "volume", &surface->volume));
}

/* The library's message, with the reader's own where reading failed. */
static int explain(tml_context *tml, const slabs *s, tml_status status)
{
    const char *why = cli_last_error(s->reader);
    if (status == TML_OK || status == TML_CANCELLED || !*why ||
        !strstr(cli_last_error(tml), "desc.read"))
        return cli_fail("surface", tml, status);
    return cli_error("surface", "%s: %s", cli_last_error(tml), why);
}

int slabs_run(tml_context *tml, slabs *s, const tml_surface_desc *surface,
              const slabs_options *options, tml_surface_result *result)
{
    tml_surface_stream_desc desc = {.surface = *surface,
                                    .read = read_layers,
                                    .write = write_piece,
                                    .user = s,
                                    .memory = options->memory,
                                    .slab_layers = options->layers};
    desc.surface.largest_component = desc.surface.drop_degenerate = false; /* edit_mesh does that */
    /* Three vertices a sample at most. */
    desc.surface.indices64 = surface->indices64 || input_sample_count(&s->info[0]) > UINT32_MAX / 3;
    s->tml = tml;
    s->options = options;
    s->result = result;
    int code = options->index ? use_index(tml, s, options, &desc.surface) : CLI_OK;
    if (code == CLI_OK && tml_is_none(desc.surface.volume)) {
        desc.type = s->info[0].type;
        desc.has_mask = s->streams[TML_SURFACE_MASK] != NULL;
        desc.attribute_type = s->streams[TML_SURFACE_ATTRIBUTE] ? s->info[2].type : TML_TYPE_NONE;
    }
    tml_mesh_stream_desc mesh = {.normals = surface->normals != TML_NORMALS_NONE,
                                 .values = s->streams[TML_SURFACE_ATTRIBUTE] != NULL,
                                 .soup = desc.surface.soup,
                                 .indices64 = desc.surface.indices64,
                                 .comment = "made by " CLI_PROGRAM,
                                 .edit = options->largest || options->drop_degenerate ? edit_mesh
                                                                                      : NULL,
                                 .user = s};
    memcpy(mesh.origin, options->origin, sizeof mesh.origin);
    if (code == CLI_OK)
        code = cli_fail("surface", tml, tml_mesh_stream_open(tml, options->output, &mesh, &s->out));
    if (code == CLI_OK) {
        tml_status status = tml_surface_stream(tml, &desc, result);
        bool is_empty = status == TML_OK && result->triangle_count == 0;
        if (is_empty) /* no file of nothing */
            (void)!tml_mesh_stream_finish(s->out, TML_CANCELLED);
        else
            status = tml_mesh_stream_finish(s->out, status);
        code = explain(tml, s, status);
        if (is_empty)
            code = cli_error("surface", "the surface is empty, nothing was written; choose other "
                                        "values (" CLI_PROGRAM " info shows what the file holds)");
    }
    tml_free(tml, s->values, s->values_size);
    tml_buffer_destroy(tml, desc.surface.volume);
    tml_buffer_destroy(tml, desc.surface.index);
    return code;
}
