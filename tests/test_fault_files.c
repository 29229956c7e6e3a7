/* What readers and writers do when memory, the disk or the caller's patience ends, at any moment:
 * see faults.h. What was in a file's place stays there until the new one is complete, and nothing
 * is left beside it. */
#include "io/volumes/volume_internal.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <trommel/pictures.h>
#include <trommel/points.h>
#include <trommel/volumes.h>

#include "faults.h"
#include "folder.h"

/* ---- a disk that fails on request ------------------------------------------------------------ */

/* The linker gives the library's calls to the first of each pair, which calls the second
 * (--wrap). */
int __wrap_open(const char *path, int flags, ...);
int __real_open(const char *path, int flags, ...);
int __wrap_fstat(int fd, struct stat *out);
int __real_fstat(int fd, struct stat *out);
ssize_t __wrap_pread(int fd, void *out, size_t size, off_t offset);
ssize_t __real_pread(int fd, void *out, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *in, size_t size, off_t offset);
ssize_t __real_pwrite(int fd, const void *in, size_t size, off_t offset);
ssize_t __wrap_write(int fd, const void *in, size_t size);
ssize_t __real_write(int fd, const void *in, size_t size);
int __wrap_close(int fd);
int __real_close(int fd);
int __wrap_rename(const char *from, const char *to);
int __real_rename(const char *from, const char *to);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);

static bool fails(const char *call, int error)
{
    if (!fault_event(FAULT_DISK, call))
        return false;
    errno = error;
    return true;
}

/* How much of so many bytes goes through at once. */
static size_t shorter(const char *call, size_t size)
{
    return fault_event(FAULT_SHORT, call) && size > 1 ? size / 2 : size;
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return fails("open", EACCES) ? -1 : __real_open(path, flags, mode);
}

int __wrap_fstat(int fd, struct stat *out)
{
    return fails("fstat", EIO) ? -1 : __real_fstat(fd, out);
}

ssize_t __wrap_pread(int fd, void *out, size_t size, off_t offset)
{
    return fails("pread", EIO) ? -1 : __real_pread(fd, out, shorter("pread", size), offset);
}

ssize_t __wrap_pwrite(int fd, const void *in, size_t size, off_t offset)
{
    return fails("pwrite", ENOSPC) ? -1 : __real_pwrite(fd, in, shorter("pwrite", size), offset);
}

ssize_t __wrap_write(int fd, const void *in, size_t size)
{
    return fails("write", ENOSPC) ? -1 : __real_write(fd, in, shorter("write", size));
}

/* What close says, it says when the file is closed. */
int __wrap_close(int fd)
{
    int result = __real_close(fd);
    return fails("close", EIO) ? -1 : result;
}

int __wrap_rename(const char *from, const char *to)
{
    return fails("rename", EACCES) ? -1 : __real_rename(from, to);
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return fails("mmap", ENOMEM) ? MAP_FAILED
                                 : __real_mmap(at, size, protection, flags, fd, offset);
}

/* ---- files in a folder ----------------------------------------------------------------------- */

static const char old_contents[] = "what was there";

/* The place of a file that a writer is to replace. */
static const char *place_of(const char *name)
{
    write_file(name, old_contents, sizeof old_contents);
    return in_folder(name);
}

/* After a writer: either the new file, or the old one, and no other. */
static void take_file(fault_run *r, const char *name)
{
    static char data[1 << 20];
    FILE *file = fopen(in_folder(name), "rb");
    size_t size = file ? fread(data, 1, sizeof data, file) : 0;
    if (file)
        fclose(file);
    bool is_old = size == sizeof old_contents && memcmp(data, old_contents, size) == 0;
    FAULT_CHECK(is_old == (r->status != TML_OK));
    FAULT_CHECK(file_count() == 1);
    fault_hash(r, data, size);
    remove_files();
}

/* ---- volumes, arrays, bricks ----------------------------------------------------------------- */

enum { SIDE = 40, SAMPLES = SIDE * SIDE * SIDE };

static void run_volume_save(fault_run *r)
{
    static const char *const names[] = {"a.nrrd", "a.npy", "a.raw"};
    static uint16_t samples[SAMPLES];
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = (uint16_t)(i * 2654435761u >> 16);
    const tml_volume volume = {.data = samples,
                               .size = sizeof samples,
                               .type = TML_U16,
                               .grid = {.dims = {SIDE, SIDE, SIDE}, .spacing = {1, 2, 3}},
                               .slope = 1};
    for (int i = 0; i < 3 && r->status == TML_OK; i++) {
        const char *path = place_of(names[i]);
        FAULT_DO(r, tml_volume_save(r->tml, path, &volume));
        take_file(r, names[i]);
    }
}

static void load_volume(fault_run *r, const char *relative)
{
    tml_volume volume;
    memset(&volume, 0, sizeof volume);
    FAULT_DO(r, tml_volume_load(r->tml, test_data(relative), NULL, &volume));
    if (r->status != TML_OK)
        FAULT_CHECK(volume.data == NULL);
    fault_hash(r, volume.data, volume.size);
    if (r->status == TML_OK) {
        tml_value_histogram histogram;
        FAULT_DO(r, tml_value_histogram_make(r->tml, volume.data, volume.type,
                                             volume.size / tml_type_size(volume.type), &histogram));
        FAULT_CHECK(r->status == TML_OK || histogram.bins == NULL);
        if (r->status == TML_OK) {
            fault_hash(r, histogram.bins, histogram.bin_count * sizeof *histogram.bins);
            tml_value_histogram_free(r->tml, &histogram);
        }
    }
    tml_volume_free(r->tml, &volume);
}

static void run_volume_load(fault_run *r)
{
    load_volume(r, "volumes/fuel_crop.nii.gz");
    load_volume(r, "volumes/ball30_gz.nrrd");
    load_volume(r, "volumes/EMD-3197.map");
}

static void run_volume_stream(fault_run *r)
{
    static const char *const names[] = {"volumes/ball30_gz.nrrd",
                                        "volumes/anatomical_be_int16.nii"};
    for (int i = 0; i < 2 && r->status == TML_OK; i++) {
        tml_volume info;
        tml_volume_stream *stream = NULL;
        FAULT_DO(r, tml_volume_stream_open(r->tml, test_data(names[i]), NULL, &info, &stream));
        FAULT_CHECK((stream != NULL) == (r->status == TML_OK));
        if (r->status != TML_OK)
            return;
        uint64_t layers = info.grid.dims[2],
                 layer = info.grid.dims[0] * info.grid.dims[1] * tml_type_size(info.type);
        unsigned char *data = calloc(layers, layer);
        for (uint64_t z = 0; z < layers; z += 7) {
            uint64_t count = layers - z < 7 ? layers - z : 7;
            FAULT_DO(r, tml_volume_stream_read(stream, z, count, data + z * layer));
        }
        fault_hash(r, data, layers * layer);
        free(data);
        tml_volume_stream_close(stream);
    }
}

static void run_volume_map(fault_run *r)
{
    static uint8_t samples[SAMPLES];
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = (uint8_t)(i * 2654435761u >> 24);
    write_file("a.raw", samples, sizeof samples);
    tml_volume info;
    tml_volume_stream *stream = NULL;
    const void *mapped = NULL;
    const tml_load_desc desc = {.dims = {SIDE, SIDE, SIDE}, .type = TML_U8};
    FAULT_DO(r, tml_volume_stream_open(r->tml, in_folder("a.raw"), &desc, &info, &stream));
    FAULT_DO(r, tml_volume_stream_map(stream, &mapped));
    FAULT_DO(r, tml_volume_stream_prefetch(stream, 0, SIDE));
    if (r->status == TML_OK)
        fault_hash(r, mapped, SAMPLES);
    tml_volume_stream_close(stream);
    remove_files();
}

static void run_bricks(fault_run *r)
{
    static float ranges[2 * 100];
    for (int i = 0; i < 200; i++)
        ranges[i] = (float)i;
    tml_volume_index bricks = {.dims = {SIDE, SIDE, SIDE}, .type = TML_U16, .ranges = ranges},
                     loaded;
    bricks.count = tml_volume_index_count(bricks.dims);
    if (!CHECK(bricks.count == 100))
        return;
    const char *path = place_of("a.bricks");
    FAULT_DO(r, tml_volume_index_save(r->tml, path, &bricks));
    bool is_written = r->status == TML_OK;
    memset(&loaded, 0, sizeof loaded);
    FAULT_DO(r, tml_volume_index_load(r->tml, path, &loaded));
    FAULT_CHECK((loaded.ranges != NULL) == (r->status == TML_OK));
    fault_hash(r, loaded.ranges, loaded.count * 2 * sizeof(float));
    tml_volume_index_free(r->tml, &loaded);
    if (!is_written)
        take_file(r, "a.bricks");
    remove_files();
}

static void run_arrays(fault_run *r)
{
    static uint32_t numbers[30000];
    for (int i = 0; i < 30000; i++)
        numbers[i] = (uint32_t)i * 2654435761u;
    const tml_array array = {
        .data = numbers, .size = sizeof numbers, .type = TML_U32, .count = 30000};
    const char *path = place_of("a.npy");
    FAULT_DO(r, tml_array_save(r->tml, path, &array));
    if (r->status != TML_OK) {
        take_file(r, "a.npy");
        return;
    }
    tml_array loaded;
    memset(&loaded, 0, sizeof loaded);
    FAULT_DO(r, tml_array_load(r->tml, path, 0, UINT64_MAX, &loaded));
    FAULT_CHECK((loaded.data != NULL) == (r->status == TML_OK));
    fault_hash(r, loaded.data, loaded.size);
    tml_array_free(r->tml, &loaded);
    memset(&loaded, 0, sizeof loaded);
    FAULT_DO(r, tml_array_load(r->tml, path, 100, 777, &loaded));
    fault_hash(r, loaded.data, loaded.size);
    tml_array_free(r->tml, &loaded);
    remove_files();
}

static void run_array_stream(fault_run *r)
{
    static float numbers[30000];
    tml_array_stream *stream = NULL;
    for (int i = 0; i < 30000; i++)
        numbers[i] = (float)i;
    const char *path = place_of("a.npy");
    FAULT_DO(r, tml_array_stream_open(r->tml, path, TML_F32, 60000, NULL, &stream));
    FAULT_CHECK((stream != NULL) == (r->status == TML_OK));
    if (stream) {
        FAULT_DO(r, tml_array_stream_write(stream, 0, 30000, numbers));
        FAULT_DO(r, tml_array_stream_write(stream, 30000, 30000, numbers));
        r->status = tml_array_stream_finish(stream, r->status);
    }
    take_file(r, "a.npy");
}

/* ---- points and meshes ----------------------------------------------------------------------- */

static void run_points(fault_run *r)
{
    static const char *const names[] = {"points/bunny397.pcd", "points/points_cloudcompare.xyz",
                                        "points/points_zero_faces.ply", "points/simple_1065.las"};
    for (int i = 0; i < 4 && r->status == TML_OK; i++) {
        tml_points points;
        memset(&points, 0, sizeof points);
        FAULT_DO(r, tml_points_load(r->tml, test_data(names[i]), NULL, &points));
        FAULT_CHECK((points.positions != NULL) == (r->status == TML_OK));
        fault_hash(r, points.positions, points.count * 3 * sizeof(float));
        tml_points_free(r->tml, &points);
    }
}

enum { STRIP_VERTICES = 12000, STRIP_TRIANGLES = STRIP_VERTICES - 2 };

static struct {
    float positions[STRIP_VERTICES][3], normals[STRIP_VERTICES][3], values[STRIP_VERTICES];
    uint32_t indices[STRIP_TRIANGLES][3];
} strip;

static tml_mesh strip_mesh(uint64_t vertices)
{
    for (uint32_t i = 0; i < STRIP_VERTICES; i++) {
        const float p[3] = {(float)(i / 2), (float)(i % 2), (float)(i % 5) * 0.25f},
                    n[3] = {0, 0, 1};
        memcpy(strip.positions[i], p, sizeof p);
        memcpy(strip.normals[i], n, sizeof n);
        strip.values[i] = (float)i;
    }
    for (uint32_t i = 0; i < STRIP_TRIANGLES; i++) {
        const uint32_t t[3] = {i, i + 1 + i % 2, i + 2 - i % 2};
        memcpy(strip.indices[i], t, sizeof t);
    }
    return (tml_mesh){.positions = strip.positions[0],
                      .normals = strip.normals[0],
                      .values = strip.values,
                      .indices = strip.indices,
                      .vertex_count = vertices,
                      .triangle_count = vertices - 2};
}

static const char *const mesh_names[] = {"a.ply", "a.stl", "a.obj", "a.glb", "a.vtp"};
enum { MESH_NAMES = 5 };

static void run_points_to_mesh(fault_run *r)
{
    const tml_points_mesh_desc desc = {
        .kind = TML_POINTS_ANISOTROPIC,
        .field = {.radius = 0.02, .grid.spacing = {0.02, 0.02, 0.02}},
        .save = {.slabs.components = true, .smooth = 1}};
    tml_surface_saved result;
    memset(&result, 0, sizeof result);
    FAULT_DO(r, tml_points_to_mesh(r->tml, test_data("points/bunny397.pcd"), place_of("points.ply"),
                                   &desc, NULL, NULL, &result));
    FAULT_CHECK((result.surface.triangle_count > 0) == (r->status == TML_OK));
    tml_surface_saved_free(r->tml, &result);
    take_file(r, "points.ply");
}

static void run_mesh_save(fault_run *r)
{
    const tml_mesh mesh = strip_mesh(STRIP_VERTICES);
    for (int i = 0; i < MESH_NAMES && r->status == TML_OK; i++) {
        const char *path = place_of(mesh_names[i]);
        FAULT_DO(r, tml_mesh_save(r->tml, path, &mesh));
        take_file(r, mesh_names[i]);
    }
    if (r->status != TML_OK)
        return;
    static const double origin[3] = {1, 2, 3};
    const char *path = place_of("lines.obj");
    FAULT_DO(r, tml_lines_save(r->tml, path, strip.positions[0], 1000, origin));
    take_file(r, "lines.obj");
}

static tml_status edit_mesh(void *user, tml_mesh *mesh)
{
    return tml_mesh_clean(user, mesh, true, true, NULL);
}

/* Two parts, whose pieces come by turns. */
static void run_mesh_stream(fault_run *r)
{
    tml_mesh piece = strip_mesh(STRIP_VERTICES / 4);
    tml_mesh_attribute velocity = {"velocity", 3, strip.normals[0]};
    piece.attributes = &velocity;
    piece.attribute_count = 1;
    tml_mesh_part counts[2] = {
        {.vertex_count = 2 * piece.vertex_count, .triangle_count = 2 * piece.triangle_count},
        {.vertex_count = piece.vertex_count, .triangle_count = piece.triangle_count}};
    for (int i = 0; i < 2 * MESH_NAMES && r->status == TML_OK; i++) {
        const char *name = mesh_names[i % MESH_NAMES], *path = place_of(name);
        tml_mesh_stream_desc desc = {.mesh = piece};
        if (i == 0) {
            desc.edit = edit_mesh;
            desc.user = r->tml;
        }
        if (i >= MESH_NAMES) { /* in place, where the format allows */
            desc.mesh.parts = counts;
            desc.mesh.part_count = 2;
        }
        tml_mesh_stream *stream = NULL;
        FAULT_DO(r, tml_mesh_stream_open(r->tml, path, &desc, &stream));
        FAULT_CHECK((stream != NULL) == (r->status == TML_OK));
        if (stream) {
            for (uint32_t part = 0; part < 3; part++)
                FAULT_DO(r, tml_mesh_stream_write(stream, part % 2, &piece));
            r->status = tml_mesh_stream_finish(stream, r->status);
        }
        take_file(r, name);
    }
}

static void run_mesh_load(fault_run *r)
{
    const tml_mesh mesh = strip_mesh(300);
    bool was_armed = faults.is_armed;
    for (int i = 0; i < MESH_NAMES && r->status == TML_OK; i++) {
#ifndef TML_XML
        if (strcmp(mesh_names[i], "a.vtp") == 0)
            continue;
#endif
#ifndef TML_GLTF
        if (strcmp(mesh_names[i], "a.glb") == 0)
            continue;
#endif
        faults.is_armed = false;
        CHECK_OK(r->tml, tml_mesh_save(r->tml, in_folder(mesh_names[i]), &mesh));
        faults.is_armed = was_armed;
        tml_mesh_file file;
        memset(&file, 0, sizeof file);
        FAULT_DO(r, tml_mesh_load(r->tml, in_folder(mesh_names[i]),
                                  &(tml_load_desc){.weld = TML_WELD_ALWAYS}, &file));
        FAULT_CHECK((file.mesh.positions != NULL) == (r->status == TML_OK));
        fault_hash(r, file.mesh.positions, file.mesh.vertex_count * 3 * sizeof(float));
        fault_hash(r, file.mesh.indices, file.mesh.triangle_count * 3 * sizeof(uint32_t));
        tml_mesh_file_free(r->tml, &file);
        remove_files();
    }
}

/* ---- pictures -------------------------------------------------------------------------------- */

enum { WIDTH = 301, HEIGHT = 97 };

static void run_picture_save(fault_run *r)
{
    static const struct {
        const char *name;
        tml_type type;
        uint32_t size;
    } formats[] = {
#ifdef TML_PNG
        {"a.png", TML_U8, 1},
        {"b.png", TML_U16, 2},
#endif
        {"a.pfm", TML_F32, 4},
        {"a.hdr", TML_F32, 4}};
    static float pixels[WIDTH * HEIGHT * 3];
    for (int i = 0; i < WIDTH * HEIGHT * 3; i++)
        pixels[i] = (float)((uint32_t)i * 2654435761u >> 20);
    for (size_t i = 0; i < TML_ARRAY_SIZE(formats) && r->status == TML_OK; i++) {
        const tml_picture picture = {.data = pixels,
                                     .size = (size_t)WIDTH * HEIGHT * 3 * formats[i].size,
                                     .type = formats[i].type,
                                     .width = WIDTH,
                                     .height = HEIGHT,
                                     .channels = 3,
                                     .srgb = formats[i].type != TML_F32};
        const char *path = place_of(formats[i].name);
        FAULT_DO(r, tml_picture_save(r->tml, path, &picture));
        take_file(r, formats[i].name);
    }
}

static void run_picture_load(fault_run *r)
{
    static const char *const names[] = {
#ifdef TML_PNG
        "pictures/basn2c16.png",        "pictures/basn0g16.png",
#endif
        "pictures/old-rle_551x276.hdr", "pictures/image1_128x85.hdr", "pictures/datawindow_t08.exr",
    };
    for (size_t i = 0; i < TML_ARRAY_SIZE(names) && r->status == TML_OK; i++) {
        tml_picture picture;
        memset(&picture, 0, sizeof picture);
        FAULT_DO(r, tml_picture_load(r->tml, test_data(names[i]), NULL, &picture));
        if (r->status == TML_ERROR_UNSUPPORTED &&
            strstr(names[i], ".exr")) /* of a build without it */
            r->status = TML_OK;
        else
            FAULT_CHECK((picture.data != NULL) == (r->status == TML_OK));
        fault_hash(r, picture.data, picture.size);
        tml_picture_free(r->tml, &picture);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

static const fault_scenario scenarios[] = {
    {"volume_save", run_volume_save, 1, false},
    {"volume_load", run_volume_load, 1, false},
    {"volume_stream", run_volume_stream, 1, false},
    {"volume_map", run_volume_map, 1, false},
    {"bricks", run_bricks, 1, false},
    {"arrays", run_arrays, 1, false},
    {"array_stream", run_array_stream, 1, false},
    {"points", run_points, 1, false},
    {"points_to_mesh", run_points_to_mesh, 1, false},
    {"mesh_save", run_mesh_save, 1, false},
    {"mesh_stream", run_mesh_stream, 1, false},
    {"mesh_load", run_mesh_load, 1, false},
    {"picture_save", run_picture_save, 1, false},
    {"picture_load", run_picture_load, 1, false},
    {0},
};

int main(int argc, char **argv)
{
    fault_config configs[] = {
        {"files",
         1,
         1u << FAULT_MEMORY | 1u << FAULT_REPORT | 1u << FAULT_KERNEL | 1u << FAULT_DISK |
             1u << FAULT_SHORT,
         1,
         3,
         {.engine = TML_ENGINE_CPU},
         {0},
         0},
        {0},
    };
    if (!make_folder("faults"))
        return 1;
    int result = fault_main(argc, argv, configs, scenarios);
    remove_folder();
    return result;
}
