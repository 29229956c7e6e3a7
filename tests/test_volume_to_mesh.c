/* From a volume's file to a mesh's file in one call, against the same by hand: the volume loaded,
 * tml_surface or tml_surface_labels of all of it, the mesh saved. The files are the same, byte for
 * byte, on every engine that takes slabs. What fails leaves nothing, whichever side it is. */
#include <math.h>
#include <sys/stat.h>
#include <zlib.h>

#include <trommel/volumes.h>

#include "test.h"

#include "contexts.h"
#include "folder.h"
#include "low_bytes.h"
#include "memory_watch.h"

enum { NX = 23, NY = 14, SLAB = 6, NZ_MOST = 3 * SLAB, MOST = NX * NY * NZ_MOST };

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Waves that cross any plane, as samples of a type: the values are physical / slope. */
static void fill_samples(tml_type type, uint64_t nz, double slope, double intercept, void *out)
{
    for (uint64_t i = 0; i < NX * NY * nz; i++) {
        const double x = (double)(i % NX), y = (double)(i / NX % NY), z = (double)(i / (NX * NY));
        const double physical = 40 * (sin(0.5 * x) + cos(0.7 * y) + sin(0.9 * z + 0.3)) + 0.25;
        const double sample = (physical - intercept) / slope;
        if (type == TML_F32)
            ((float *)out)[i] = (float)sample;
        else if (type == TML_I16)
            ((int16_t *)out)[i] = (int16_t)lrint(sample);
        else
            ((uint8_t *)out)[i] = (uint8_t)(sample > 20 ? 2 : sample > 0 ? 7 : 0);
    }
}

static char samples_of_file[MOST * sizeof(float)];

static tml_volume volume_of(tml_type type, uint64_t nz, double slope, double intercept)
{
    fill_samples(type, nz, slope, intercept, samples_of_file);
    return (tml_volume){.data = samples_of_file,
                        .size = NX * NY * nz * tml_type_size(type),
                        .type = type,
                        .grid = {.dims = {NX, NY, nz},
                                 .spacing = {0.5, 0.25, 1.5},
                                 .origin = {4e6, -5e6, 100},
                                 .direction = {1, 0, 0, 0, 1, 0, 0, 0, 1}},
                        .slope = slope,
                        .intercept = intercept};
}

static void make_volume(tml_context *tml, const char *name, tml_type type, uint64_t nz,
                        double slope, double intercept)
{
    const tml_volume volume = volume_of(type, nz, slope, intercept);
    CHECK_OK(tml, tml_volume_save(tml, in_folder(name), &volume));
}

/* The same samples, gzipped behind a header. */
static void make_zipped(const char *name, uint64_t nz)
{
    const tml_volume volume = volume_of(TML_F32, nz, 1, 0);
    char header[512], path[64];
    snprintf(path, sizeof path, "%s.gz", name);
    const int size =
        snprintf(header, sizeof header,
                 "NRRD0004\ntype: float\ndimension: 3\nsizes: %d %d %d\n"
                 "spacings: 0.5 0.25 1.5\nendian: %s\nencoding: gzip\ndata file: %s\n\n",
                 NX, NY, (int)nz, IS_BIG_ENDIAN ? "big" : "little", path);
    write_file(name, header, (size_t)size);
    gzFile zipped = gzopen(in_folder(path), "wb");
    CHECK(gzwrite(zipped, volume.data, (unsigned)volume.size) > 0 && gzclose(zipped) == Z_OK);
}

/* The same samples as text, which nothing reads layer by layer. */
static void make_text(const char *name, uint64_t nz)
{
    const tml_volume volume = volume_of(TML_F32, nz, 1, 0);
    const float *samples = volume.data;
    FILE *file = fopen(in_folder(name), "w");
    if (!CHECK(file != NULL))
        return;
    fprintf(file,
            "NRRD0004\ntype: float\ndimension: 3\nsizes: %d %d %d\nspacings: 0.5 0.25 1.5\n"
            "encoding: ascii\n\n",
            NX, NY, (int)nz);
    for (uint64_t i = 0; i < NX * NY * nz; i++)
        fprintf(file, "%.9g\n", (double)samples[i]);
    fclose(file);
}

/* ---- by hand --------------------------------------------------------------------------------- */

static tml_buffer lend_volume(tml_context *tml, tml_type type, const tml_volume *v,
                              const void *data)
{
    tml_buffer buffer = {0, 0};
    CHECK_OK(tml, tml_buffer_create(tml,
                                    &(tml_buffer_desc){.type = type,
                                                       .count = v->size / tml_type_size(v->type),
                                                       .host = (void *)(uintptr_t)data},
                                    &buffer));
    return buffer;
}

static void *map_array(tml_context *tml, tml_buffer buffer)
{
    void *memory = NULL;
    if (!tml_buffer_is_none(buffer))
        CHECK_OK(tml, tml_buffer_map(tml, buffer, &memory));
    return memory;
}

/* The file that the whole volume makes. False: there is no triangle. */
static bool make_whole(tml_context *tml, const char *path, const char *out,
                       const tml_volume_mesh_desc *desc)
{
    static uint8_t marks[MOST];
    static float values[MOST * 6];
    tml_volume v, mask = {0}, attribute = {0};
    tml_surface_result result = {0};
    const tml_surface_desc *given = desc->save.slabs.surface;
    tml_surface_desc surface = given ? *given : (tml_surface_desc){.iso = 0};
    double isovalues[4];
    if (!CHECK_OK(tml, tml_volume_load(tml, path, NULL, &v)))
        return false;
    surface.grid = v.grid;
    surface.volume = lend_volume(tml, v.type, &v, v.data);
    surface.flip = surface.flip != (v.slope < 0);
    tml_grid_position_origin(&v.grid, surface.position_origin);
    for (uint32_t i = 0; i < surface.isovalue_count; i++)
        isovalues[i] = (given->isovalues[i] - v.intercept) / v.slope;
    if (surface.isovalues) {
        surface.isovalues = isovalues;
    } else {
        tml_value_histogram histogram;
        CHECK_OK(tml, tml_value_histogram_make(tml, v.data, v.type, v.size / tml_type_size(v.type),
                                               &histogram));
        surface.iso = histogram.otsu;
        tml_value_histogram_free(tml, &histogram);
    }
    if (desc->mask && CHECK_OK(tml, tml_volume_load(tml, desc->mask, NULL, &mask))) {
        for (uint64_t i = 0; i < mask.size / 2; i++)
            marks[i] = ((const int16_t *)mask.data)[i] != 0;
        surface.mask = lend_volume(tml, TML_U8, &mask, marks);
    }
    if (desc->attribute && CHECK_OK(tml, tml_volume_load(tml, desc->attribute, NULL, &attribute)))
        surface.attribute = lend_volume(tml, attribute.type, &attribute, attribute.data);
    bool is_there = CHECK_OK(tml, tml_surface(tml, &surface, &result)) && result.triangle_count;
    if (is_there) {
        const float *raw = map_array(tml, result.mesh.values);
        for (uint64_t i = 0; raw && i < result.vertex_count && CHECK(i < MOST * 6); i++)
            values[i] = (float)(attribute.slope * (double)raw[i] + attribute.intercept);
        tml_mesh mesh = {.positions = map_array(tml, result.mesh.positions),
                         .normals = map_array(tml, result.mesh.normals),
                         .values = raw ? values : NULL,
                         .indices = map_array(tml, result.mesh.indices),
                         .vertex_count = result.vertex_count,
                         .triangle_count = result.triangle_count,
                         .comment = desc->save.file.mesh.comment,
                         .value_name = desc->save.file.mesh.value_name,
                         .up = desc->save.file.mesh.up};
        memcpy(mesh.origin, surface.position_origin, sizeof mesh.origin);
        CHECK_OK(tml, tml_mesh_save(tml, out, &mesh));
    }
    tml_surface_free(tml, &result);
    tml_buffer_destroy(tml, surface.volume);
    tml_buffer_destroy(tml, surface.mask);
    tml_buffer_destroy(tml, surface.attribute);
    tml_volume_free(tml, &v);
    tml_volume_free(tml, &mask);
    tml_volume_free(tml, &attribute);
    return is_there;
}

static int compared; /* files with triangles */

/* One call makes the same file, or none where there is no triangle. */
static void compare(tml_context *tml, const char *name, const char *ending,
                    const tml_volume_mesh_desc *desc)
{
    char path[600], whole[600], slabs[600], file[32];
    snprintf(path, sizeof path, "%s", in_folder(name));
    snprintf(file, sizeof file, "whole%s", ending);
    snprintf(whole, sizeof whole, "%s", in_folder(file));
    snprintf(file, sizeof file, "slabs%s", ending);
    snprintf(slabs, sizeof slabs, "%s", in_folder(file));
    const bool is_there = make_whole(tml, path, whole, desc);
    tml_surface_saved result;
    bool good = CHECK_OK(tml, tml_volume_to_mesh(tml, path, slabs, desc, NULL, &result)) &&
                CHECK(result.is_empty == !is_there) && CHECK(result.failed == TML_SIDE_NONE);
    if (good && is_there)
        good = CHECK(test_same_files(whole, slabs)), compared++;
    else
        good = CHECK(access(slabs, F_OK) != 0) && good;
    tml_surface_saved_free(tml, &result);
    tml_volume_mesh_desc at_once = *desc;
    at_once.save.making = TML_MAKE_WHOLE;
    good = CHECK_OK(tml, tml_volume_to_mesh(tml, path, slabs, &at_once, NULL, &result)) &&
           CHECK(result.is_empty == !is_there && !result.is_mapped) &&
           CHECK(!is_there || test_same_files(whole, slabs)) && good;
    if (!good)
        printf("  (%s to %s)\n", name, ending);
    tml_surface_saved_free(tml, &result);
    unlink(whole);
    unlink(slabs);
}

/* ---- the same file --------------------------------------------------------------------------- */

/* One layer, a slab less a layer, a slab, a slab and a layer, and several: mapped, read and
 * loaded. */
static void compare_all(tml_context *tml)
{
    static const uint64_t depths[] = {1, 2, SLAB - 1, SLAB, SLAB + 1, NZ_MOST};
    static const double two[] = {-20, 15.5};
    compared = 0;
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        const uint64_t nz = depths[i];
        make_volume(tml, "f.nrrd", TML_F32, nz, 1, 0);
        make_volume(tml, "i.nrrd", TML_I16, nz, -0.5, 10);
        make_volume(tml, "mask.nrrd", TML_I16, nz, 32, 0); /* 0 where the wave is small */
        make_zipped("z.nhdr", nz);
        make_text("t.nrrd", nz);
        tml_surface_desc surface = {
            .isovalues = two, .isovalue_count = 1, .normals = TML_NORMALS_CENTRAL};
        tml_volume_mesh_desc desc = {.save.slabs = {.surface = &surface, .slab_layers = SLAB}};
        compare(tml, "f.nrrd", ".ply", &desc);
        compare(tml, "z.nhdr", ".ply", &desc);
        compare(tml, "t.nrrd", ".ply", &desc);
        desc.save.copy_samples = true;
        compare(tml, "f.nrrd", ".stl", &desc);
        desc.save.copy_samples = false;
        surface.isovalue_count = 2;
        surface.caps = nz != 2;
        desc.save.file.mesh.comment = "two";
        compare(tml, "f.nrrd", ".vtp", &desc);
        compare(tml, "f.nrrd", ".stl", &desc);
        surface.caps = false;
        compare(tml, "i.nrrd", ".glb", &desc);
        compare(tml, "i.nrrd", ".obj", &desc);
        desc.save.file.mesh.comment = NULL;
        surface = (tml_surface_desc){.normals = TML_NORMALS_SOBEL};
        compare(tml, "i.nrrd", ".ply", &desc); /* by Otsu's method, mapped and not */
        compare(tml, "z.nhdr", ".ply", &desc);
        char mask[600], attribute[600];
        snprintf(mask, sizeof mask, "%s", in_folder("mask.nrrd"));
        snprintf(attribute, sizeof attribute, "%s", in_folder("i.nrrd"));
        desc.mask = mask;
        desc.attribute = attribute;
        desc.save.file.mesh.value_name = "wave";
        compare(tml, "f.nrrd", ".ply", &desc);
        desc.save.copy_samples = true;
        compare(tml, "f.nrrd", ".vtp", &desc);
        compare(tml, "t.nrrd", ".ply", &desc); /* which brings the others to memory */
    }
    if (!CHECK(compared > 50))
        printf("  (%d files)\n", compared);
    remove_files();
}

TEST(one_call_makes_the_file_of_the_whole)
{
    tml_context *tml = open_cpu(2);
    compare_all(tml);
    tml_close(tml);
}

/* What the engine has of slabs is the same there. OpenGL has none, and says so. */
TEST(one_call_on_each_device)
{
    tml_context *tml;
    int seen = 0;
    for (uint32_t number = 0; (tml = open_device(number)) != NULL; number++) {
        tml_device_info device;
        tml_context_describe(tml, &device);
        if (device.engine == TML_ENGINE_VULKAN) {
            compare_all(tml);
        } else if (device.engine == TML_ENGINE_GL) {
            tml_surface_saved result;
            make_volume(tml, "f.nrrd", TML_F32, 4, 1, 0);
            CHECK_STATUS(tml_volume_to_mesh(tml, in_folder("f.nrrd"), in_folder("a.ply"), NULL,
                                            NULL, &result),
                         TML_ERROR_UNSUPPORTED);
            CHECK(result.failed == TML_SIDE_SURFACE);
            CHECK_EQ_U64(file_count(), 1);
            remove_files();
        }
        seen += device.engine != TML_ENGINE_CPU;
        tml_close(tml);
    }
    if (!seen)
        SKIP("there is no device but the CPU");
}

/* Labels, also such as have to be made of a scaled volume's samples. */
TEST(labels_are_those_of_the_whole)
{
    tml_context *tml = open_cpu(2);
    for (int way = 0; way < 2; way++) {
        const double slope = way ? 2 : 1;
        tml_volume v = volume_of(TML_U8, NZ_MOST, 1, 0), made;
        v.slope = slope;
        CHECK_OK(tml, tml_volume_save(tml, in_folder("l.nrrd"), &v));
        const tml_surface_labels_desc labels = {.smooth = 2, .caps = true};
        tml_surface_saved result;
        CHECK_OK(tml,
                 tml_volume_to_mesh(tml, in_folder("l.nrrd"), in_folder("slabs.ply"),
                                    &(tml_volume_mesh_desc){.save.slabs = {.boundaries = &labels,
                                                                           .slab_layers = SLAB,
                                                                           .components = true}},
                                    NULL, &result));
        CHECK(result.surface.components > 0 && result.is_mapped == !way);
        CHECK_OK(tml, tml_volume_convert(tml, &v, TML_VALUES_LABELS, &made));
        tml_surface_labels_desc whole = labels;
        tml_surface_result net;
        whole.grid = v.grid;
        whole.volume = lend_volume(tml, made.type, &made, made.data);
        tml_grid_position_origin(&v.grid, whole.position_origin);
        if (CHECK_OK(tml, tml_surface_labels(tml, &whole, &net))) {
            tml_mesh mesh = {.positions = map_array(tml, net.mesh.positions),
                             .indices = map_array(tml, net.mesh.indices),
                             .face_labels = map_array(tml, net.face_labels),
                             .face_label_type = made.type,
                             .vertex_count = net.vertex_count,
                             .triangle_count = net.triangle_count};
            memcpy(mesh.origin, whole.position_origin, sizeof mesh.origin);
            CHECK_OK(tml, tml_mesh_save(tml, in_folder("whole.ply"), &mesh));
            CHECK(test_same_files(in_folder("whole.ply"), in_folder("slabs.ply")));
        }
        tml_surface_free(tml, &net);
        tml_surface_saved_free(tml, &result);
        tml_buffer_destroy(tml, whole.volume);
        tml_volume_free(tml, &made);
    }
    remove_files();
    tml_close(tml);
}

/* Caps of an inside that is low in the samples enclose the same as those of its negative. */
TEST(caps_close_the_inside)
{
    static const double iso[] = {5};
    tml_context *tml = open_cpu(2);
    double volumes[2];
    for (int way = 0; way < 2; way++) {
        make_volume(tml, "v.nrrd", TML_I16, NZ_MOST, way ? -0.5 : 0.5, 0);
        const tml_surface_desc surface = {.isovalues = iso, .isovalue_count = 1, .caps = true};
        const tml_volume_mesh_desc desc = {.save.slabs.surface = &surface};
        tml_volume info;
        tml_surface_saved result;
        tml_mesh_file file;
        tml_mesh_stats stats;
        CHECK_OK(tml, tml_volume_to_mesh(tml, in_folder("v.nrrd"), in_folder("m.ply"), &desc, &info,
                                         &result));
        CHECK(result.isovalue == 5 && info.slope == (way ? 1 : 0.5));
        tml_surface_saved_free(tml, &result);
        if (!CHECK_OK(tml, tml_mesh_load(tml, in_folder("m.ply"), NULL, &file)))
            continue;
        const tml_mesh_buffers buffers = {
            .positions =
                buffer_of(tml, TML_VEC(TML_F32, 3), file.mesh.vertex_count, file.mesh.positions),
            .indices =
                buffer_of(tml, TML_VEC(TML_U32, 3), file.mesh.triangle_count, file.mesh.indices)};
        CHECK_OK(tml, tml_mesh_examine(tml, &buffers, false, &stats));
        volumes[way] = stats.volume;
        CHECK_EQ_U64(stats.boundary_edges, 0);
        tml_buffer_destroy(tml, buffers.positions);
        tml_buffer_destroy(tml, buffers.indices);
        tml_mesh_file_free(tml, &file);
    }
    CHECK(volumes[0] > 0);
    CHECK_NEAR(volumes[1], volumes[0], 1e-3 * volumes[0]);
    remove_files();
    tml_close(tml);
}

/* Filters and hooks of tml_surface_save: what filters leave is what tml_surface's own leave, a hook
 * sees every piece, and another sees the mesh after the filters. */
typedef struct seen {
    uint64_t vertices, edited;
} seen;

static tml_status see_piece(void *user, const tml_surface_piece *piece)
{
    ((seen *)user)->vertices += piece->mesh.vertex_count;
    return TML_OK;
}

static tml_status see_edited(void *user, tml_mesh *mesh)
{
    ((seen *)user)->edited = mesh->vertex_count;
    return TML_OK;
}

TEST(filters_and_hooks)
{
    static const double iso[] = {70};
    tml_context *tml = open_cpu(2), *reader = open_plain();
    tml_volume info;
    tml_volume_stream *stream = NULL;
    tml_surface_saved saved;
    seen s = {0, 0};
    make_volume(tml, "v.nrrd", TML_F32, NZ_MOST, 1, 0);
    const tml_surface_desc largest = {
        .isovalues = iso, .isovalue_count = 1, .largest_component = true};
    const tml_volume_mesh_desc desc = {.save.slabs = {.surface = &largest, .slab_layers = SLAB}};
    compare(tml, "v.nrrd", ".ply", &desc);
    CHECK_OK(reader, tml_volume_stream_open(reader, in_folder("v.nrrd"), NULL, &info, &stream));
    const tml_surface_desc surface = {.grid = info.grid, .iso = 70, .largest_component = true};
    tml_surface_save_desc save = {.slabs = {.surface = &surface,
                                            .write = see_piece,
                                            .user = &s,
                                            .slab_layers = SLAB,
                                            .components = true},
                                  .file = {.edit = see_edited, .user = &s},
                                  .volume = stream};
    CHECK_OK(tml, tml_surface_save(tml, in_folder("m.ply"), &save, &saved));
    CHECK(s.edited && s.edited < s.vertices && s.edited == saved.surface.vertex_count);
    CHECK_EQ_U64(saved.surface.components, 1);
    CHECK_EQ_U64(saved.surface.parts[0].vertex_count, s.edited);
    tml_surface_saved_free(tml, &saved);
    tml_volume_stream_close(stream);
    remove_files();
    tml_close(reader);
    tml_close(tml);
}

/* ---- failures -------------------------------------------------------------------------------- */

/* Fails with that status on that side, says what, and leaves the files that there were. */
static void fails(tml_context *tml, const char *name, const char *out,
                  const tml_volume_mesh_desc *desc, tml_status status, tml_side side,
                  const char *what)
{
    tml_surface_saved result;
    const size_t files = file_count();
    CHECK_STATUS(tml_volume_to_mesh(tml, in_folder(name), in_folder(out), desc, NULL, &result),
                 status);
    const bool is_side = CHECK(result.failed == side);
    const bool is_told = CHECK(strstr(tml_last_error(tml), what) != NULL);
    if (!is_side || !is_told)
        printf("  (%s to %s, side %d: %s)\n", name, out, (int)result.failed, tml_last_error(tml));
    CHECK(!result.surface.parts);
    CHECK_EQ_U64(file_count(), files);
}

TEST(what_fails_leaves_nothing)
{
    static const double iso[] = {0};
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    const tml_surface_desc surface = {.isovalues = iso, .isovalue_count = 1};
    const tml_volume_mesh_desc desc = {.save.slabs = {.surface = &surface, .slab_layers = 2}};
    struct stat file;
    make_volume(tml, "v.nrrd", TML_F32, NZ_MOST, 1, 0);
    make_zipped("z.nhdr", NZ_MOST);
    fails(tml, "none.nrrd", "m.ply", &desc, TML_ERROR_FILE_ACCESS, TML_SIDE_SOURCE, "none.nrrd");
    fails(tml, "v.nrrd", "no/m.ply", &desc, TML_ERROR_FILE_ACCESS, TML_SIDE_MESH, "no/m.ply");
    fails(tml, "v.nrrd", "m.xyz", &desc, TML_ERROR_UNSUPPORTED, TML_SIDE_MESH, "m.xyz");
    /* What was there stays. */
    write_file("m.ply", "before", 6);
    CHECK(stat(in_folder("z.nhdr.gz"), &file) == 0 &&
          truncate(in_folder("z.nhdr.gz"), file.st_size - 20) == 0);
    fails(tml, "z.nhdr", "m.ply", &desc, TML_ERROR_FILE_FORMAT, TML_SIDE_SOURCE, "z.nhdr");
    CHECK(stat(in_folder("m.ply"), &file) == 0 && file.st_size == 6);
    CHECK(stat(in_folder("v.nrrd"), &file) == 0 &&
          truncate(in_folder("v.nrrd"), file.st_size / 2) == 0);
    fails(tml, "v.nrrd", "m.ply", &desc, TML_ERROR_FILE_FORMAT, TML_SIDE_SOURCE, "v.nrrd");
    /* A mask of other dims; values without a number; labels of none. */
    make_volume(tml, "v.nrrd", TML_F32, NZ_MOST, 1, 0);
    make_volume(tml, "mask.nrrd", TML_U8, 3, 1, 0);
    char mask[600];
    snprintf(mask, sizeof mask, "%s", in_folder("mask.nrrd"));
    tml_volume_mesh_desc other = desc;
    other.mask = mask;
    fails(tml, "v.nrrd", "m.ply", &other, TML_ERROR_INVALID_ARGUMENT, TML_SIDE_SOURCE,
          "the mask needs the dims");
    tml_volume nan = volume_of(TML_F32, 3, 1, 0);
    for (int i = 0; i < NX * NY * 3; i++)
        ((float *)nan.data)[i] = NAN;
    CHECK_OK(tml, tml_volume_save(tml, in_folder("nan.nrrd"), &nan));
    fails(tml, "nan.nrrd", "m.ply", NULL, TML_ERROR_INVALID_ARGUMENT, TML_SIDE_SOURCE,
          "no sample is a finite number");
    static const tml_surface_labels_desc labels = {.smooth = 1};
    fails(tml, "v.nrrd", "m.ply", &(tml_volume_mesh_desc){.save.slabs.boundaries = &labels},
          TML_ERROR_INVALID_ARGUMENT, TML_SIDE_SURFACE, "");
    /* Each request for memory gets none, once. */
    tml_surface_saved result;
    bool is_done = false;
    for (uint64_t at = 1; !is_done && CHECK(at < 10000); at++) {
        watch.fail_at = watch.count + at;
        tml_status status =
            tml_volume_to_mesh(tml, in_folder("v.nrrd"), in_folder("n.ply"), &desc, NULL, &result);
        is_done = watch.count < watch.fail_at && status == TML_OK;
        if (status != TML_OK)
            CHECK_STATUS(status, TML_ERROR_OUT_OF_MEMORY);
        tml_surface_saved_free(tml, &result);
        CHECK((access(in_folder("n.ply"), F_OK) == 0) == (status == TML_OK));
        unlink(in_folder("n.ply"));
    }
    watch.fail_at = 0;
    remove_files();
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

/* Cancelled after so many reports of progress, at every place where it may be. */
typedef struct patience {
    uint64_t left, asked;
} patience;

static bool go_on(void *user, const char *stage, double fraction)
{
    patience *p = user;
    (void)stage;
    (void)fraction;
    p->asked++;
    return p->asked <= p->left;
}

TEST(cancelled_in_the_middle_it_leaves_nothing)
{
    static const double iso[] = {0};
    static const char *const names[] = {"v.nrrd", "z.nhdr"};
    patience p = {UINT64_MAX, 0};
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU,
                                             .threads = 2,
                                             .progress = go_on,
                                             .progress_user = &p},
                            &tml));
    make_volume(tml, "v.nrrd", TML_F32, NZ_MOST, 1, 0);
    make_zipped("z.nhdr", NZ_MOST);
    const size_t files = file_count();
    tml_surface_desc surface = {.isovalues = iso, .isovalue_count = 1};
    const tml_volume_mesh_desc desc = {.save.slabs = {.surface = &surface, .slab_layers = 2}};
    for (int way = 0; way < 4; way++) {
        bool is_done = false;
        surface.largest_component = way > 1;
        for (uint64_t left = 0; !is_done && CHECK(left < 10000); left++) {
            tml_surface_saved result;
            p = (patience){left, 0};
            tml_status status = tml_volume_to_mesh(tml, in_folder(names[way % 2]),
                                                   in_folder("m.ply"), &desc, NULL, &result);
            is_done = status == TML_OK;
            if (!is_done)
                CHECK_STATUS(status, TML_ERROR_CANCELLED);
            tml_surface_saved_free(tml, &result);
            CHECK_EQ_U64(file_count(), files + is_done);
        }
        unlink(in_folder("m.ply"));
    }
    remove_files();
    tml_close(tml);
}

TEST(what_goes_together)
{
    tml_context *tml = open_plain(), *reader = open_plain();
    tml_volume info;
    tml_volume_stream *own = NULL, *other = NULL;
    make_volume(tml, "v.nrrd", TML_F32, 4, 1, 0);
    CHECK_OK(tml, tml_volume_stream_open(tml, in_folder("v.nrrd"), NULL, &info, &own));
    CHECK_OK(reader, tml_volume_stream_open(reader, in_folder("v.nrrd"), NULL, &info, &other));
    const tml_surface_desc surface = {.grid = info.grid};
    const tml_surface_labels_desc labels = {.grid = info.grid};
    float ranges[2 * 8] = {0};
    const tml_volume_index bricks = {
        .dims = {NX, NY, 5}, .type = TML_F32, .ranges = ranges, .count = 8};
    tml_volume_index same = bricks; /* by its dims, and of other samples */
    same.dims[2] = 4;
    same.count = tml_volume_index_count(same.dims);
    const tml_surface_save_desc bad[] = {
        {.volume = other},
        {.slabs = {.surface = &surface, .boundaries = &labels}, .volume = other},
        {.slabs = {.surface = &surface}, .volume = own},
        {.slabs = {.surface = &surface}, .mask = other},
        {.slabs = {.boundaries = &labels}, .volume = other, .index = &bricks},
        {.slabs = {.surface = &surface}, .volume = other, .index = &bricks},
        {.slabs = {.surface = &surface}, .volume = other, .index = &same},
        {.slabs = {.surface = &surface}, .volume = other, .index = &same, .copy_samples = true}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tml_surface_saved saved;
        CHECK_STATUS(tml_surface_save(tml, in_folder("m.ply"), &bad[i], &saved),
                     TML_ERROR_INVALID_ARGUMENT);
        if (!CHECK(saved.failed == (i < 5 ? TML_SIDE_SURFACE : TML_SIDE_INDEX)))
            printf("  (%zu: %s)\n", i, tml_last_error(tml));
        CHECK_EQ_U64(file_count(), 1);
    }
    tml_volume_stream_close(own);
    tml_volume_stream_close(other);
    remove_files();
    tml_close(reader);
    tml_close(tml);
}

/* A volume that one slab holds is not counted before, unless its mesh is too large for one piece:
 * noise, of which each cell has some. */
TEST(a_mesh_of_one_piece_and_of_several)
{
    enum { SIDE = 24, SAMPLES = SIDE * SIDE * SIDE };
    static float samples[SAMPLES];
    tml_context *tml = open_cpu(2);
    uint32_t seed = 1;
    for (int i = 0; i < SAMPLES; i++) {
        seed = seed * 1664525 + 1013904223;
        samples[i] = (float)(seed >> 8) * 0x1p-24f;
    }
    const tml_volume volume = {.data = samples,
                               .size = sizeof samples,
                               .type = TML_F32,
                               .grid = {.dims = {SIDE, SIDE, SIDE}},
                               .slope = 1};
    CHECK_OK(tml, tml_volume_save(tml, in_folder("noise.raw"), &volume));
    const tml_load_desc load = {.dims = {SIDE, SIDE, SIDE}, .type = TML_F32};
    const double iso = 0.5;
    static const char *const endings[] = {"ply", "glb", "vtp", "obj"};
    for (int e = 0; e < 4; e++) {
        const uint64_t memories[] = {0, 20 * SAMPLES, 0};
        const uint64_t layers[] = {0, 0, 5};
        for (int way = 0; way < 3; way++) {
            char name[32], first[32];
            tml_surface_saved result;
            const tml_surface_desc surface = {
                .isovalues = &iso, .isovalue_count = 1, .normals = TML_NORMALS_FORWARD};
            const tml_volume_mesh_desc desc = {.load = &load,
                                               .save.slabs = {.surface = &surface,
                                                              .components = true,
                                                              .memory = memories[way],
                                                              .slab_layers = layers[way]}};
            snprintf(first, sizeof first, "noise_0.%s", endings[e]);
            snprintf(name, sizeof name, "noise_%d.%s", way, endings[e]);
            CHECK_OK(tml, tml_volume_to_mesh(tml, in_folder("noise.raw"), in_folder(name), &desc,
                                             NULL, &result));
            CHECK(result.is_mapped && result.surface.triangle_count > SAMPLES);
            CHECK(test_same_files(in_folder(name), in_folder(first)));
            tml_surface_saved_free(tml, &result);
        }
    }
    remove_files();
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main_in_folder("to-mesh", argc, argv);
}
