/* Files of volumes and arrays, whole and layer by layer; trommel-io, a second library. */
#include "reference.h"
#include <trommel/volumes.h>

/* A volume of 4 x 3 x 2 samples, 0 to 23, as a file that the examples read; remove() it. */
static void save_volume(tml_context *tml, const char *path)
{
    uint8_t samples[24];
    for (uint8_t i = 0; i < 24; i++)
        samples[i] = i;
    const tml_volume volume = {.data = samples,
                               .size = sizeof samples,
                               .type = TML_U8,
                               .grid = {.dims = {4, 3, 2}, .spacing = {1, 1, 2.5}},
                               .slope = 1};
    MUST(tml_volume_save(tml, path, &volume));
}

/* What a file says: samples, type, grid. And its format, without reading it. */
static void load(tml_context *tml)
{
    const char *path = "reference_load.nrrd";
    tml_volume volume;
    save_volume(tml, path);
    CHECK(!strcmp(tml_file_format(tml, path, TML_FILE_VOLUME, NULL), "NRRD"));
    MUST(tml_volume_load(tml, path, NULL, &volume));
    CHECK(volume.type == TML_U8 && volume.grid.dims[0] == 4 && volume.grid.spacing[2] == 2.5);
    CHECK(((const uint8_t *)volume.data)[23] == 23);
    tml_volume_free(tml, &volume);
    remove(path);
}

/* A file without a header: you say what is in it. */
static void load_raw(tml_context *tml)
{
    const char *path = "reference_load.raw";
    const tml_load_desc desc = {
        .dims = {4, 3, 2}, .type = TML_U8, .spacing = {1, 1, 2.5}, .memory_limit = 1 << 20};
    tml_volume volume;
    save_volume(tml, path);
    MUST(tml_volume_load(tml, path, &desc, &volume));
    CHECK(volume.size == 24 && volume.grid.spacing[2] == 2.5);
    tml_volume_free(tml, &volume);
    remove(path);
}

/* Samples that stand for other values, as the scanner's units: as these values. */
static void physical(tml_context *tml)
{
    const char *path = "reference_physical.nrrd";
    uint8_t samples[8] = {0, 2, 4, 2};
    const tml_volume stored = {.data = samples,
                               .size = sizeof samples,
                               .type = TML_U8,
                               .grid = {.dims = {2, 2, 2}, .spacing = {1, 1, 1}},
                               .slope = 0.5,
                               .intercept = -1024};
    tml_volume volume;
    MUST(tml_volume_save(tml, path, &stored));
    MUST(tml_volume_load(tml, path, NULL, &volume));
    MUST(tml_volume_convert(tml, &volume, TML_VALUES_PHYSICAL, &volume));
    CHECK(volume.type == TML_F32 && volume.slope == 1 && volume.intercept == 0);
    CHECK(((const float *)volume.data)[2] == -1022);
    tml_volume_free(tml, &volume);
    remove(path);
}

/* How often each value occurs, and the value that best divides low from high: a first isovalue. */
static void histogram(tml_context *tml)
{
    const uint8_t samples[] = {1, 2, 2, 3, 200, 201, 201, 202};
    tml_value_histogram values;
    MUST(tml_value_histogram_make(tml, samples, TML_U8, 8, &values));
    const double iso = values.otsu;
    CHECK(values.lower == 1 && values.upper == 202 && values.mean == 101.5);
    CHECK(iso > 3 && iso < 200);
    tml_value_histogram_free(tml, &values);
}

/* Labels that a file keeps as floats, or by a slope: as integers, which surfaces of labels take. */
static void labels(tml_context *tml)
{
    uint8_t samples[8] = {0, 2, 4, 2};
    const tml_volume half = {.data = samples,
                             .size = sizeof samples,
                             .type = TML_U8,
                             .grid = {.dims = {2, 2, 2}, .spacing = {1, 1, 1}},
                             .slope = 0.5};
    tml_volume made;
    CHECK(!tml_volume_has_labels(&half));
    MUST(tml_volume_convert(tml, &half, TML_VALUES_LABELS, &made));
    CHECK(made.type == TML_I32 && ((const int32_t *)made.data)[2] == 2);

    const uint64_t wanted[2] = {2, 9};
    bool is_there[2];
    uint64_t others[TML_LABELS_LISTED], count;
    MUST(tml_volume_find_labels(tml, &made, NULL, wanted, 2, is_there, others, &count));
    CHECK(is_there[0] && !is_there[1] && count <= TML_LABELS_LISTED);
    tml_volume_free(tml, &made);
}

/* ---- layer by layer ------------------------------------------------------------------------ */

/* A volume of any size: its header at once, its layers when they are needed. */
static void stream(tml_context *tml)
{
    const char *path = "reference_stream.nrrd";
    tml_volume info; /* without samples */
    tml_volume_stream *file;
    uint8_t layer[4 * 3];
    save_volume(tml, path);
    MUST(tml_volume_stream_open(tml, path, NULL, &info, &file));
    CHECK(info.grid.dims[2] == 2 && !info.compressed);
    MUST(tml_volume_stream_read(file, 1, 1, layer)); /* the second layer */
    CHECK(layer[0] == 12);
    tml_volume_stream_close(file);
    remove(path);
}

/* Raw samples as memory that the system reads when it is looked at. */
static void stream_mapped(tml_context *tml)
{
    const char *path = "reference_mapped.nrrd";
    tml_volume info;
    tml_volume_stream *file;
    const void *samples;
    save_volume(tml, path);
    MUST(tml_volume_stream_open(tml, path, NULL, &info, &file));
    MUST(tml_volume_stream_map(file, &samples));
    CHECK(((const uint8_t *)samples)[12] == 12);
    tml_volume_stream_close(file);
    remove(path);
}

/* The ranges of a volume's bricks, kept beside it. */
static void volume_index(tml_context *tml)
{
    const char *path = "reference_bricks.index";
    const float samples[24] = {[5] = 7};
    const tml_grid grid = {.dims = {4, 3, 2}};
    tml_buffer index;
    float ranges[2]; /* of one brick, of TML_BRICK_X x TML_BRICK_Y x TML_BRICK_Z samples at most */
    MUST(tml_surface_index(
        tml, &(tml_surface_desc){.volume = buffer_of(tml, TML_F32, 24, samples), .grid = grid},
        &index));
    MUST(tml_buffer_read(tml, index, ranges));
    const tml_volume_index made = {.dims = {4, 3, 2},
                                   .type = TML_F32,
                                   .ranges = ranges,
                                   .count = tml_volume_index_count(grid.dims)};
    tml_volume_index loaded;
    MUST(tml_volume_index_save(tml, path, &made));
    MUST(tml_volume_index_load(tml, path, &loaded));
    CHECK(loaded.count == 1 && loaded.ranges[0] == 0 && loaded.ranges[1] == 7);
    tml_volume_index_free(tml, &loaded);
    remove(path);
}

/* ---- to a mesh ------------------------------------------------------------------------------- */

/* A mesh file of a volume file, in one call: one isovalue, or by default a good one. */
static void volume_to_mesh(tml_context *tml)
{
    const char *path = "reference_to_mesh.nrrd", *mesh = "reference_to_mesh.ply";
    const double isovalues[] = {11.5};
    const tml_surface_desc surface = {
        .isovalues = isovalues, .isovalue_count = 1, .normals = TML_NORMALS_CENTRAL};
    const tml_volume_mesh_desc desc = {.save.slabs = {.surface = &surface, .components = true}};
    tml_volume info;
    tml_surface_saved saved;
    save_volume(tml, path);
    MUST(tml_volume_to_mesh(tml, path, mesh, &desc, &info, &saved));
    CHECK(saved.surface.triangle_count && saved.surface.components == 1);
    CHECK(info.grid.dims[2] == 2 && saved.isovalue == 11.5);
    tml_surface_saved_free(tml, &saved);
    remove(mesh);
    remove(path);
}

/* The same step by step: a stream that is open already, on a context of its own, and a look at each
 * piece. */
static tml_status count_piece(void *user, const tml_surface_piece *piece)
{
    *(uint64_t *)user += piece->mesh.vertex_count;
    return TML_OK;
}

static void save_surface(tml_context *tml)
{
    const char *path = "reference_save.nrrd", *mesh = "reference_save.ply";
    tml_context *reader;
    tml_volume info;
    tml_volume_stream *volume;
    uint64_t vertices = 0;
    save_volume(tml, path);
    MUST(tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &reader));
    MUST(tml_volume_stream_open(reader, path, NULL, &info, &volume));
    const tml_surface_desc surface = {.grid = info.grid, .iso = 11.5};
    const tml_surface_save_desc desc = {
        .slabs = {.surface = &surface, .write = count_piece, .user = &vertices},
        .file.mesh.comment = "by hand",
        .volume = volume,
        .count_first = true};
    tml_surface_saved saved;
    if (tml_surface_save(tml, mesh, &desc, &saved)) {
        const tml_side side =
            saved.failed; /* TML_SIDE_SOURCE: the volume, TML_SIDE_MESH: the mesh */
        fprintf(stderr, "%d: %s\n", (int)side, tml_last_error(tml));
    }
    CHECK(!saved.is_empty && saved.surface.vertex_count == vertices);
    tml_surface_saved_free(tml, &saved);
    tml_volume_stream_close(volume);
    tml_close(reader);
    remove(mesh);
    remove(path);
}

/* A surface whole in memory, smoothed, and written. */
static void save_whole(tml_context *tml)
{
    const char *mesh = "reference_whole.ply";
    const float samples[64] = {[21] = 1};
    const tml_surface_desc surface = {
        .volume = buffer_of(tml, TML_F32, 64, samples), .grid = {.dims = {4, 4, 4}}, .iso = 0.5};
    const tml_surface_save_desc desc = {.slabs = {.surface = &surface, .components = true},
                                        .file.mesh.comment = "by hand",
                                        .making = TML_MAKE_WHOLE,
                                        .smooth = 2};
    tml_surface_saved whole;
    MUST(tml_surface_save(tml, mesh, &desc, &whole));
    CHECK(whole.surface.triangle_count == 8 && whole.surface.components == 1);
    tml_surface_saved_free(tml, &whole);
    remove(mesh);
}

/* A closed mesh for each label, in a file of its own. */
static void files_of_labels(tml_context *tml)
{
    const char *path = "reference_labels.nrrd", *pattern = "reference_label_%d.stl";
    uint8_t samples[64] = {[21] = 3, [22] = 7};
    const tml_volume volume = {.data = samples,
                               .size = sizeof samples,
                               .type = TML_U8,
                               .grid = {.dims = {4, 4, 4}},
                               .slope = 1};
    const tml_surface_labels_desc labels = {.sharing = TML_LABELS_MANIFOLD};
    const tml_volume_mesh_desc desc = {.save.slabs.boundaries = &labels};
    tml_surface_saved saved;
    MUST(tml_volume_save(tml, path, &volume));
    CHECK(tml_path_number(pattern, 0, false, NULL, 0));
    MUST(tml_volume_to_mesh(tml, path, pattern, &desc, NULL, &saved));
    for (uint32_t p = 0; p < saved.surface.part_count; p++) {
        char name[64];
        CHECK(tml_path_number(pattern, saved.surface.parts[p].label, false, name, sizeof name));
        CHECK(remove(name) == 0); /* reference_label_3.stl, reference_label_7.stl */
    }
    tml_surface_saved_free(tml, &saved);
    remove(path);
}

int main(void)
{
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){load, load_raw, physical, histogram, labels, stream,
                                           stream_mapped, volume_index, volume_to_mesh,
                                           save_surface, save_whole, files_of_labels, NULL});
}
