/* Files that are larger than memory: volumes read layer by layer against volumes loaded, meshes
 * written piece by piece against meshes saved, and both with surfaces in slabs between them: the
 * same file, bit for bit. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#include <trommel/surface.h>
#include <trommel/volumes.h>

#include "io/volumes/volume_internal.h"
#include "test.h"

#include "contexts.h"
#include "folder.h"
#include "low_bytes.h"
#include "memory_watch.h"

/* ---- volumes --------------------------------------------------------------------------------- */

/* Reads a file layers at a time and compares with loading it. */
static bool streams_alike(tml_context *tml, const char *path, const tml_load_desc *desc,
                          uint64_t layers, uint64_t skipped)
{
    tml_volume volume, info;
    tml_volume_stream *stream = NULL;
    if (!CHECK_OK(tml, tml_volume_load(tml, path, desc, &volume)))
        return false;
    bool good = CHECK_OK(tml, tml_volume_stream_open(tml, path, desc, &info, &stream));
    uint64_t count = volume.grid.dims[2], layer = volume.size / count;
    char *read = malloc(volume.size);
    memcpy(read, volume.data, skipped * layer);
    for (uint64_t z = skipped; z < count && good; z += layers) {
        uint64_t n = count - z < layers ? count - z : layers;
        good = CHECK_OK(tml, tml_volume_stream_read(stream, z, n, read + z * layer));
    }
    good = good && CHECK(memcmp(read, volume.data, volume.size) == 0) &&
           CHECK(memcmp(&info.grid, &volume.grid, sizeof info.grid) == 0) &&
           CHECK(info.type == volume.type && info.slope == volume.slope && !info.data) &&
           CHECK_STR(info.format, volume.format);
    if (stream && count)
        CHECK_STATUS(tml_volume_stream_read(stream, 0, 1, read), TML_ERROR_INVALID_ARGUMENT);
    const void *mapped;
    bool is_mapped = stream && tml_volume_stream_map(stream, &mapped) == TML_OK;
    for (uint64_t z = 0; is_mapped && z <= count; z += count) { /* let go, they are still there */
        tml_volume_stream_release(stream, z);
        CHECK_OK(tml, tml_volume_stream_prefetch(stream, count - z, z));
    }
    if (stream)
        CHECK_STATUS(tml_volume_stream_prefetch(stream, count, 1), TML_ERROR_INVALID_ARGUMENT);
    if (is_mapped)
        good = CHECK(memcmp(mapped, volume.data, volume.size) == 0) && good;
    if (!good)
        printf("  (%s, %" PRIu64 " layers, %" PRIu64 " skipped)\n", path, layers, skipped);
    tml_volume_stream_close(stream);
    tml_volume_free(tml, &volume);
    free(read);
    return good;
}

static void all_ways(tml_context *tml, const char *path, const tml_load_desc *desc)
{
    static const uint64_t ways[][2] = {{1, 0}, {3, 0}, {1000, 0}, {2, 1}, {5, 4}};
    tml_volume volume;
    if (!CHECK_OK(tml, tml_volume_load(tml, path, desc, &volume)))
        return;
    uint64_t count = volume.grid.dims[2];
    tml_volume_free(tml, &volume);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i][1] < count && !streams_alike(tml, path, desc, ways[i][0], ways[i][1]))
            return;
}

static const char *const shipped[] = {
    "volumes/fuel_crop.nii.gz",  "volumes/ball30_gz.nrrd",          "volumes/brain1_label.nrrd",
    "volumes/ct_lung_small.mha", "volumes/anatomical_be_int16.nii", "volumes/EMD-3197.map"};
enum { SHIPPED = sizeof shipped / sizeof *shipped };

/* The volumes of the collection that can be streamed, one after another; false at the end. */
static bool next_collected(DIR *directory, char path[1024])
{
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        struct stat info;
        char relative[300];
        snprintf(relative, sizeof relative, "volumes/%s", entry->d_name);
        const char *full = test_full_data(relative);
        if (entry->d_name[0] == '.' || !full || stat(full, &info) || !S_ISREG(info.st_mode))
            continue;
        snprintf(path, 1024, "%s", full);
        return true;
    }
    return false;
}

TEST(layers_are_those_of_the_loaded_volume)
{
    tml_context *tml = open_cpu(2);
    for (int i = 0; i < SHIPPED; i++)
        all_ways(tml, test_data(shipped[i]), NULL);
    DIR *directory = test_full_data("volumes") ? opendir(test_full_data("volumes")) : NULL;
    for (char path[1024]; next_collected(directory, path);) {
        tml_volume info;
        tml_volume_stream *stream = NULL;
        tml_status status = tml_volume_stream_open(tml, path, NULL, &info, &stream);
        tml_volume_stream_close(stream);
        if (status == TML_OK)
            all_ways(tml, path, NULL);
    }
    if (directory)
        closedir(directory);
    tml_close(tml);
}

enum { NX = 5, NY = 4, NZ = 6, SAMPLES = NX * NY * NZ };

static void fill(uint16_t *samples, size_t count)
{
    for (size_t i = 0; i < count; i++)
        samples[i] = (uint16_t)(i * 2654435761u >> 7);
}

/* Every way in which files hold samples that is not one run. */
TEST(layers_of_files_in_pieces_and_of_interleaved_ones)
{
    static uint16_t samples[3 * SAMPLES];
    static char file[sizeof samples + 512];
    tml_context *tml = open_cpu(2);
    fill(samples, 3 * SAMPLES);
    for (int z = 0; z < NZ;
         z++) { /* a slice a file, and two slices a file, by pattern and by list */
        char name[32];
        snprintf(name, sizeof name, "slice%02d.raw", z);
        write_file(name, samples + z * NX * NY, 2 * NX * NY);
        if (z % 2)
            continue;
        snprintf(name, sizeof name, "slab%d.raw", z / 2);
        write_file(name, samples + z * NX * NY, 4 * NX * NY);
    }
    static const char start[] = "NRRD0004\ntype: uint16\nendian: little\ndimension: 3\n"
                                "sizes: 5 4 6\nencoding: raw\n";
    static const char *const sources[] = {
        "data file: slice%02d.raw 0 5 1\n\n", "data file: slab%d.raw 0 2 1 3\n\n",
        ("data file: LIST\nslice05.raw\nslice04.raw\nslice03.raw\nslice02.raw\n"
         "slice01.raw\nslice00.raw\n"),
        "data file: LIST 3\nslab2.raw\nslab0.raw\nslab1.raw\n"};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        int size = snprintf(file, sizeof file, "%s%s", start, sources[i]);
        write_file("pieces.nhdr", file, (size_t)size);
        all_ways(tml, in_folder("pieces.nhdr"), NULL);
    }
    /* A file that is missing, and one that is cut short, are told before anything is read. */
    unlink(in_folder("slice03.raw"));
    int size = snprintf(file, sizeof file, "%s%s", start, sources[0]);
    write_file("pieces.nhdr", file, (size_t)size);
    tml_volume info;
    tml_volume_stream *stream;
    CHECK_STATUS(tml_volume_stream_open(tml, in_folder("pieces.nhdr"), NULL, &info, &stream),
                 TML_ERROR_FILE_ACCESS);
    CHECK(strstr(tml_last_error(tml), "slice03.raw") != NULL && !stream);
    write_file("slice03.raw", samples, 7);
    CHECK_STATUS(tml_volume_stream_open(tml, in_folder("pieces.nhdr"), NULL, &info, &stream),
                 TML_ERROR_FILE_FORMAT);

    /* Components beside one another, of a slice, of all; frames; big-endian; bytes at the end. */
    static const char *const layouts[] = {
        "dimension: 4\nsizes: 3 5 4 6\nkinds: vector domain domain domain\n",
        "dimension: 4\nsizes: 5 3 4 6\nkinds: domain vector domain domain\n",
        "dimension: 4\nsizes: 5 4 3 6\nkinds: domain domain vector domain\n",
        "dimension: 4\nsizes: 5 4 6 3\nkinds: domain domain domain list\n"};
    for (size_t i = 0; i < 2 * sizeof layouts / sizeof *layouts; i++) {
        size =
            snprintf(file, sizeof file, "NRRD0004\ntype: uint16\nendian: %s\n%sencoding: raw\n\n",
                     i % 2 ? "big" : "little", layouts[i / 2]);
        memcpy(file + size, samples, sizeof samples);
        write_file("vectors.nrrd", file, (size_t)size + sizeof samples);
        for (uint32_t frame = 0; frame < 3; frame++)
            all_ways(tml, in_folder("vectors.nrrd"), &(tml_load_desc){.frame = frame});
    }
    const tml_load_desc raw = {.dims = {NX, NY, NZ}, .type = TML_U16, .big_endian = IS_BIG_ENDIAN};
    write_file("plain.raw", samples, 2 * SAMPLES);
    all_ways(tml, in_folder("plain.raw"), &raw);
    gzFile zipped = gzopen(in_folder("zipped.raw.gz"), "wb");
    CHECK(gzwrite(zipped, samples, 2 * SAMPLES) == 2 * SAMPLES && gzclose(zipped) == Z_OK);
    all_ways(tml, in_folder("zipped.raw.gz"), &raw);

    /* Text is loaded whole. */
    size = snprintf(file, sizeof file,
                    "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 2 2\n"
                    "encoding: ascii\n\n1 2 3 4 5 6 7 8\n");
    write_file("text.nrrd", file, (size_t)size);
    CHECK_STATUS(tml_volume_stream_open(tml, in_folder("text.nrrd"), NULL, &info, &stream),
                 TML_ERROR_UNSUPPORTED);
    remove_files();
    tml_close(tml);
}

/* A gzip file whose end is missing is found out when it is reached, not before. */
TEST(a_stream_that_breaks_off)
{
    enum { SIDE = 128, LAYER = SIDE * SIDE };
    static uint16_t samples[LAYER * SIDE], out[LAYER * SIDE];
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    fill(samples, LAYER * SIDE);
    gzFile zipped = gzopen(in_folder("cut.raw.gz"), "wb");
    CHECK(gzwrite(zipped, samples, sizeof samples) > 0 && gzclose(zipped) == Z_OK);
    struct stat file;
    CHECK(stat(in_folder("cut.raw.gz"), &file) == 0 &&
          truncate(in_folder("cut.raw.gz"), file.st_size - 20) == 0);
    const tml_load_desc raw = {
        .dims = {SIDE, SIDE, SIDE}, .type = TML_U16, .big_endian = IS_BIG_ENDIAN};
    tml_volume info;
    tml_volume_stream *stream;
    if (CHECK_OK(tml, tml_volume_stream_open(tml, in_folder("cut.raw.gz"), &raw, &info, &stream))) {
        CHECK_OK(tml, tml_volume_stream_read(stream, 0, 2, out));
        CHECK(memcmp(out, samples, 4 * LAYER) == 0);
        CHECK_STATUS(tml_volume_stream_read(stream, 2, SIDE - 2, out), TML_ERROR_FILE_FORMAT);
        CHECK(strstr(tml_last_error(tml), "cut.raw.gz") != NULL);
        tml_volume_stream_close(stream);
    }
    remove_files();
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

/* What a file has lost since it was mapped is told before it is looked at. */
#ifndef _WIN32 /* which lets no one shorten it */
TEST(a_mapped_file_that_is_shortened)
{
    enum { SIDE = 64, LAYER = SIDE * SIDE };
    static uint16_t samples[LAYER * SIDE];
    tml_context *tml = open_cpu(1);
    fill(samples, LAYER * SIDE);
    write_file("long.raw", samples, sizeof samples);
    const tml_load_desc raw = {
        .dims = {SIDE, SIDE, SIDE}, .type = TML_U16, .big_endian = IS_BIG_ENDIAN};
    tml_volume info;
    tml_volume_stream *stream;
    const void *mapped;
    if (CHECK_OK(tml, tml_volume_stream_open(tml, in_folder("long.raw"), &raw, &info, &stream))) {
        CHECK_STATUS(tml_volume_stream_prefetch(stream, 0, 1), TML_ERROR_INVALID_ARGUMENT);
        CHECK_OK(tml, tml_volume_stream_map(stream, &mapped));
        CHECK_OK(tml, tml_volume_stream_prefetch(stream, 0, SIDE));
        CHECK(truncate(in_folder("long.raw"), LAYER * SIDE) == 0); /* half of it */
        CHECK_OK(tml, tml_volume_stream_prefetch(stream, 0, SIDE / 2));
        CHECK(memcmp(mapped, samples, LAYER * SIDE) == 0);
        tml_status status = tml_volume_stream_prefetch(stream, SIDE / 2, 1);
        if (status != TML_OK) /* a system that cannot tell */
            CHECK_STATUS(status, TML_ERROR_FILE_ACCESS);
        tml_volume_stream_close(stream);
    }
    remove_files();
    tml_close(tml);
}
#endif

/* Hundreds of slices take the memory of one, and one file is open at a time. */
TEST(slices_in_files_of_their_own_take_little_memory)
{
    enum { SIDE = 96, SLICES = 200, LAYER = SIDE * SIDE };
    static uint16_t slice[LAYER], read[2 * LAYER];
    static const char *const order = IS_BIG_ENDIAN ? "big" : "little";
    char name[64], list[SLICES * 16 + 200];
    int size = snprintf(list, sizeof list,
                        "NRRD0004\ntype: uint16\nendian: %s\ndimension: 3\nsizes: %d %d %d\n"
                        "encoding: raw\ndata file: LIST\n",
                        order, SIDE, SIDE, SLICES);
    for (int z = 0; z < SLICES; z++) {
        for (int i = 0; i < LAYER; i++)
            slice[i] = (uint16_t)(z * 31 + i);
        snprintf(name, sizeof name, "z%03d.raw", z);
        write_file(name, slice, sizeof slice);
        size += snprintf(list + size, sizeof list - (size_t)size, "%s\n", name);
    }
    write_file("list.nhdr", list, (size_t)size);
    size = snprintf(list, sizeof list,
                    "NRRD0004\ntype: uint16\nendian: %s\ndimension: 3\nsizes: %d %d %d\n"
                    "encoding: raw\ndata file: z%%03d.raw 0 %d 1\n\n",
                    order, SIDE, SIDE, SLICES, SLICES - 1);
    write_file("pattern.nhdr", list, (size_t)size);
    static const char *const headers[] = {"list.nhdr", "pattern.nhdr"};
    for (int way = 0; way < 2; way++) {
        memory_watch watch;
        tml_context *tml = open_watched(&watch);
        tml_volume info;
        tml_volume_stream *stream = NULL;
        bool good = CHECK_OK(
            tml, tml_volume_stream_open(tml, in_folder(headers[way]), NULL, &info, &stream));
        for (int z = 0; z < SLICES && good; z += 2) {
            good = CHECK_OK(tml, tml_volume_stream_read(stream, (uint64_t)z, 2, read));
            for (int i = 0; i < 2 * LAYER && good; i += 97)
                good = CHECK_EQ_U64(read[i], (uint16_t)((z + i / LAYER) * 31 + i % LAYER));
        }
        tml_volume_stream_close(stream);
        CHECK(watch.peak < 600 << 10); /* of 3.7 MB; decoders have buffers of 256 KiB */
        tml_close(tml);
        CHECK_EQ_U64(watch.live, 0);
    }
    remove_files();
}

/* ---- meshes ---------------------------------------------------------------------------------- */

enum { VERTICES = 1000, TRIANGLES = 1700, PIECE = 137 };

typedef struct mesh_data {
    float positions[3 * VERTICES], normals[3 * VERTICES], values[VERTICES];
    uint32_t narrow[3 * TRIANGLES];
    uint64_t wide[3 * TRIANGLES];
} mesh_data;

/* Two parts of the mesh, vertices and triangles up to here the first's. */
enum { PART_VERTICES = 400, PART_TRIANGLES = 600 };

static void mesh_make(mesh_data *m)
{
    for (uint64_t i = 0; i < VERTICES; i++) {
        for (int k = 0; k < 3; k++) {
            m->positions[3 * i + (uint64_t)k] = (float)((i * 7919 + (uint64_t)k * 31) % 977) / 7;
            m->normals[3 * i + (uint64_t)k] = k == 2 ? 1.0f : 0.0f;
        }
        m->values[i] = (float)i;
    }
    for (uint64_t i = 0; i < 3 * TRIANGLES; i++) {
        bool first = i < 3 * PART_TRIANGLES;
        m->wide[i] =
            first ? i * 13 % PART_VERTICES : PART_VERTICES + i * 17 % (VERTICES - PART_VERTICES);
        m->narrow[i] = (uint32_t)m->wide[i];
    }
}

/* Pieces of both parts in turn, numbered within the parts. */
static tml_status add_pieces(tml_mesh_stream *stream, const tml_mesh *whole, bool parts)
{
    uint64_t v[2] = {0, PART_VERTICES}, t[2] = {0, PART_TRIANGLES};
    const uint64_t v_end[2] = {PART_VERTICES, VERTICES}, t_end[2] = {PART_TRIANGLES, TRIANGLES};
    tml_status status = TML_OK;
    while (status == TML_OK &&
           (v[0] < v_end[0] || v[1] < v_end[1] || t[0] < t_end[0] || t[1] < t_end[1]))
        for (uint32_t p = 0; p < 2 && status == TML_OK; p++) {
            if (!parts && p == 1 && (v[0] < v_end[0] || t[0] < t_end[0]))
                continue; /* one part: the second half follows the first */
            uint64_t nv = v_end[p] - v[p] < PIECE ? v_end[p] - v[p] : PIECE;
            uint64_t nt = t_end[p] - t[p] < 2 * PIECE ? t_end[p] - t[p] : 2 * PIECE;
            uint64_t wide[6 * PIECE], base = parts && p ? PART_VERTICES : 0;
            uint32_t narrow[6 * PIECE];
            for (uint64_t i = 0; i < 3 * nt; i++) {
                wide[i] = (whole->indices64 ? ((const uint64_t *)whole->indices)[3 * t[p] + i]
                                            : ((const uint32_t *)whole->indices)[3 * t[p] + i]) -
                          base;
                narrow[i] = (uint32_t)wide[i];
            }
            tml_mesh piece = *whole;
            piece.positions += 3 * v[p];
            piece.normals = whole->normals ? whole->normals + 3 * v[p] : NULL;
            piece.values = whole->values ? whole->values + v[p] : NULL;
            piece.indices = whole->indices64 ? (void *)wide : narrow;
            if (whole->face_labels)
                piece.face_labels = (uint16_t *)whole->face_labels + 2 * t[p];
            tml_mesh_attribute attributes[TML_MESH_MAX_ATTRIBUTES];
            for (uint32_t k = 0; k < whole->attribute_count; k++) {
                attributes[k] = whole->attributes[k];
                attributes[k].data += v[p] * attributes[k].components;
            }
            piece.attributes = attributes;
            piece.vertex_count = nv;
            piece.triangle_count = nt;
            status = tml_mesh_stream_write(stream, parts ? p : 0, &piece);
            v[p] += nv;
            t[p] += nt;
        }
    return status;
}

TEST(pieces_make_the_file_that_the_whole_makes)
{
    static mesh_data m;
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    static const char *const endings[] = {"ply", "obj", "glb", "vtp", "stl"};
    static uint16_t labels[2 * TRIANGLES];
    for (uint32_t k = 0; k < 2 * TRIANGLES; k++)
        labels[k] = (uint16_t)(k * 40503);
    mesh_make(&m);
    tml_mesh_attribute attributes[] = {
        {"velocity", 3, m.positions}, {"mass", 1, m.values}, {"color", 3, m.normals}};
    for (int i = 0; i < 5 * 64; i++) {
        const uint32_t attribute_count = i / 5 & 32 ? 3 : 0;
        bool has_normals = i / 5 & 1, has_values = i / 5 & 2, wide = i / 5 & 4, parts = i / 5 & 8;
        bool has_counts = i / 5 & 16;
        bool in_place = has_counts && (i % 5 == 0 || i % 5 == 2 || i % 5 == 3);
        tml_mesh_part counts[2] = {{.vertex_count = parts ? PART_VERTICES : VERTICES,
                                    .triangle_count = parts ? PART_TRIANGLES : TRIANGLES},
                                   {.vertex_count = VERTICES - PART_VERTICES,
                                    .triangle_count = TRIANGLES - PART_TRIANGLES}};
        tml_mesh mesh = {.positions = m.positions,
                         .normals = has_normals ? m.normals : NULL,
                         .values = has_values ? m.values : NULL,
                         .indices = wide ? (void *)m.wide : m.narrow,
                         .indices64 = wide,
                         .vertex_count = VERTICES,
                         .triangle_count = TRIANGLES,
                         .origin = {wide ? 1e6 : 0, 0, 0.1 * wide},
                         .value_name = "density",
                         .comment = "made by a test",
                         .attributes = attributes,
                         .attribute_count = attribute_count,
                         .face_labels = has_values ? labels : NULL,
                         .face_label_type = TML_U16};
        tml_mesh_stream_desc desc = {.mesh = mesh};
        desc.mesh.parts = has_counts ? counts : NULL;
        desc.mesh.part_count = has_counts ? parts + 1u : 0;
        char whole[64], pieces[64];
        snprintf(whole, sizeof whole, "whole.%s", endings[i % 5]);
        snprintf(pieces, sizeof pieces, "pieces.%s", endings[i % 5]);
        tml_mesh_stream *stream;
        CHECK_OK(tml, tml_mesh_save(tml, in_folder(whole), &mesh));
        if (!CHECK_OK(tml, tml_mesh_stream_open(tml, in_folder(pieces), &desc, &stream)))
            break;
#ifdef _WIN32 /* where spools have names */
        CHECK(file_count() >= (in_place ? 2 : 1));
#else
        CHECK_EQ_U64(file_count(), in_place ? 2 : 1);
#endif
        CHECK_OK(tml, tml_mesh_stream_finish(stream, add_pieces(stream, &mesh, parts)));
        CHECK(test_same_files(in_folder(whole), in_folder(pieces)));
        CHECK_EQ_U64(file_count(), 2);
        remove_files();
    }
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

/* In pieces of one quad and more, of one part or two, in place or not; not beside triangles, nor in
 * what has none. */
TEST(quads_in_pieces_are_the_whole_file)
{
    static const char *const endings[] = {"ply", "vtp", "obj"};
    static mesh_data m;
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    tml_mesh_stream *stream;
    mesh_make(&m);
    for (int i = 0; i < 24; i++) {
        const bool wide = i / 3 & 1, parts = i / 3 & 2, has_counts = i / 3 & 4;
        const uint64_t first[2] = {PART_VERTICES / 4, (VERTICES - PART_VERTICES) / 4};
        tml_mesh_part counts[2] = {
            {.vertex_count = parts ? PART_VERTICES : VERTICES,
             .triangle_count = parts ? first[0] : first[0] + first[1]},
            {.vertex_count = VERTICES - PART_VERTICES, .triangle_count = first[1]}};
        uint64_t all[VERTICES] = {0}; /* of a part's vertices in turn, backwards */
        for (uint64_t q = 0; q < first[0] + first[1]; q++)
            for (uint64_t k = 0; k < 4; k++)
                all[4 * q + k] = q < first[0] ? PART_VERTICES - 1 - (4 * q + k)
                                              : VERTICES - 1 - (4 * (q - first[0]) + k);
        uint32_t narrow[VERTICES];
        for (uint64_t k = 0; k < VERTICES; k++)
            narrow[k] = (uint32_t)all[k];
        tml_mesh mesh = {.positions = m.positions,
                         .indices = wide ? (void *)all : narrow,
                         .indices64 = wide,
                         .vertex_count = VERTICES,
                         .triangle_count = first[0] + first[1],
                         .quads = true};
        const tml_mesh_stream_desc desc = {.mesh = {.indices64 = wide,
                                                    .quads = true,
                                                    .parts = has_counts ? counts : NULL,
                                                    .part_count = has_counts ? parts + 1u : 0}};
        char whole[64], pieces[64];
        snprintf(whole, sizeof whole, "whole.%s", endings[i % 3]);
        snprintf(pieces, sizeof pieces, "pieces.%s", endings[i % 3]);
        CHECK_OK(tml, tml_mesh_save(tml, in_folder(whole), &mesh));
        if (!CHECK_OK(tml, tml_mesh_stream_open(tml, in_folder(pieces), &desc, &stream)))
            break;
        uint64_t of_part[VERTICES];
        tml_status status = TML_OK;
        for (uint32_t p = 0; p < 2; p++) {
            const uint64_t v = p ? PART_VERTICES : 0, q = p ? first[0] : 0;
            const uint64_t base = parts ? v : 0;
            for (uint64_t k = 0; k < 4 * first[p]; k++) {
                if (wide)
                    of_part[k] = all[4 * q + k] - base;
                else
                    ((uint32_t *)(void *)of_part)[k] = narrow[4 * q + k] - (uint32_t)base;
            }
            tml_mesh piece = mesh;
            piece.positions = m.positions + 3 * v;
            piece.indices = of_part;
            piece.vertex_count = p ? VERTICES - PART_VERTICES : PART_VERTICES;
            piece.triangle_count = first[p];
            if (status == TML_OK)
                status = tml_mesh_stream_write(stream, parts ? p : 0, &piece);
        }
        CHECK_OK(tml, tml_mesh_stream_finish(stream, status));
        CHECK(test_same_files(in_folder(whole), in_folder(pieces)));
        remove_files();
        mesh.quads = false;
        mesh.triangle_count = 1;
        if (CHECK_OK(tml, tml_mesh_stream_open(tml, in_folder(pieces), &desc, &stream))) {
            CHECK_STATUS(tml_mesh_stream_write(stream, 0, &mesh), TML_ERROR_INVALID_ARGUMENT);
            CHECK_STATUS(tml_mesh_stream_finish(stream, TML_OK), TML_ERROR_INVALID_ARGUMENT);
        }
    }
    CHECK_STATUS(tml_mesh_stream_open(tml, in_folder("a.stl"),
                                      &(tml_mesh_stream_desc){.mesh.quads = true}, &stream),
                 TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "triangles only"));
    CHECK_STATUS(tml_mesh_stream_open(tml, in_folder("a.ply"),
                                      &(tml_mesh_stream_desc){.mesh.quads = true, .soup = true},
                                      &stream),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK_EQ_U64(file_count(), 0);
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

TEST(meshes_that_fail_leave_nothing)
{
    static mesh_data m;
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    tml_mesh_stream *stream;
    mesh_make(&m);
    tml_mesh mesh = {.positions = m.positions, .indices = m.narrow, .vertex_count = 100};
    mesh.triangle_count = 10; /* some of which name vertices that never come */
    const tml_mesh_stream_desc desc = {0}, with_normals = {.mesh.normals = m.normals};
    CHECK_STATUS(tml_mesh_stream_open(tml, in_folder("a.xyz"), &desc, &stream),
                 TML_ERROR_UNSUPPORTED);
    CHECK_STATUS(tml_mesh_stream_open(tml, in_folder("no/a.ply"), &desc, &stream),
                 TML_ERROR_FILE_ACCESS);
    if (CHECK_OK(tml, tml_mesh_stream_open(tml, in_folder("a.ply"), &desc, &stream))) {
        CHECK_OK(tml, tml_mesh_stream_write(stream, 0, &mesh));
        CHECK_STATUS(tml_mesh_stream_finish(stream, TML_OK), TML_ERROR_INVALID_ARGUMENT);
    }
    if (CHECK_OK(tml, tml_mesh_stream_open(tml, in_folder("a.ply"), &with_normals, &stream))) {
        CHECK_STATUS(tml_mesh_stream_write(stream, 0, &mesh), TML_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(tml_mesh_stream_finish(stream, TML_OK), TML_ERROR_INVALID_ARGUMENT);
    }
    if (CHECK_OK(tml, tml_mesh_stream_open(tml, in_folder("a.ply"), &desc, &stream)))
        CHECK_STATUS(tml_mesh_stream_finish(stream, TML_ERROR_CANCELLED), TML_ERROR_CANCELLED);
    /* Attributes: promised and not there, of other components, without data, not promised; none of
     * a name twice. */
    static tml_mesh_attribute three = {"a", 3, m.normals}, two = {"a", 2, m.normals},
                              without = {"a", 3, NULL}, twice[] = {{"a", 3, NULL}, {"a", 3, NULL}};
    for (uint32_t i = 0; i < 4; i++) {
        const tml_mesh_stream_desc promised = {
            .mesh = {.attributes = &without, .attribute_count = i < 3}};
        tml_mesh_attribute *const given[] = {NULL, &two, &without, &three};
        tml_mesh piece = mesh;
        piece.attributes = given[i];
        piece.attribute_count = i > 0;
        if (CHECK_OK(tml, tml_mesh_stream_open(tml, in_folder("a.ply"), &promised, &stream))) {
            CHECK_STATUS(tml_mesh_stream_write(stream, 0, &piece), TML_ERROR_INVALID_ARGUMENT);
            CHECK_STATUS(tml_mesh_stream_finish(stream, TML_OK), TML_ERROR_INVALID_ARGUMENT);
        }
    }
    CHECK_STATUS(tml_mesh_stream_open(
                     tml, in_folder("a.ply"),
                     &(tml_mesh_stream_desc){.mesh = {.attributes = twice, .attribute_count = 2}},
                     &stream),
                 TML_ERROR_INVALID_ARGUMENT);
    /* Labels: promised and not there, of another type; no integers, of soups. */
    static uint8_t labels[20];
    const tml_mesh_stream_desc labeled = {
        .mesh = {.face_labels = labels, .face_label_type = TML_U8}};
    for (uint32_t i = 0; i < 2; i++) {
        tml_mesh piece = mesh;
        piece.face_labels = i ? labels : NULL;
        piece.face_label_type = TML_I8;
        if (CHECK_OK(tml, tml_mesh_stream_open(tml, in_folder("a.ply"), &labeled, &stream))) {
            CHECK_STATUS(tml_mesh_stream_write(stream, 0, &piece), TML_ERROR_INVALID_ARGUMENT);
            CHECK_STATUS(tml_mesh_stream_finish(stream, TML_OK), TML_ERROR_INVALID_ARGUMENT);
        }
        const tml_mesh_stream_desc wrong = {
            .mesh = {.face_labels = labels, .face_label_type = i ? TML_F32 : TML_U8}, .soup = !i};
        CHECK_STATUS(tml_mesh_stream_open(tml, in_folder("a.ply"), &wrong, &stream),
                     TML_ERROR_INVALID_ARGUMENT);
    }
    /* In place: an index past the end, part 1, more than promised, less than promised. */
    tml_mesh_part places[] = {{.vertex_count = 100, .triangle_count = 10},
                              {.vertex_count = VERTICES, .triangle_count = 10},
                              {.vertex_count = VERTICES, .triangle_count = 9},
                              {.vertex_count = VERTICES, .triangle_count = 10}};
    static const char *const in_place[] = {"a.ply", "a.glb", "a.vtp"};
    for (uint32_t i = 0; i < 12; i++) {
        const tml_mesh_stream_desc counted = {.mesh = {.parts = &places[i % 4], .part_count = 1}};
        if (CHECK_OK(tml,
                     tml_mesh_stream_open(tml, in_folder(in_place[i / 4]), &counted, &stream))) {
            tml_status added = i % 4 < 3 ? TML_ERROR_INVALID_ARGUMENT : TML_OK;
            CHECK_STATUS(tml_mesh_stream_write(stream, i % 4 == 1, &mesh), added);
            CHECK_STATUS(tml_mesh_stream_finish(stream, TML_OK), TML_ERROR_INVALID_ARGUMENT);
        }
    }
    float infinite[9] = {[5] = INFINITY}; /* which no file is left of, in place or not */
    const tml_mesh corner = {.positions = infinite, .vertex_count = 3, .triangle_count = 1};
    tml_mesh_part one = {.vertex_count = 3, .triangle_count = 1};
    for (uint32_t i = 0; i < 2; i++) {
        const tml_mesh_stream_desc soup = {.mesh = {.parts = &one, .part_count = i}, .soup = true};
        if (CHECK_OK(tml, tml_mesh_stream_open(tml, in_folder("a.glb"), &soup, &stream)))
            CHECK_STATUS(tml_mesh_stream_finish(stream, tml_mesh_stream_write(stream, 0, &corner)),
                         TML_ERROR_INVALID_ARGUMENT);
    }
    CHECK_EQ_U64(file_count(), 0);
    static const char *const endings[] = {"ply", "obj", "glb", "vtp", "stl"}; /* no piece at all */
    for (int i = 0; i < 5; i++) {
        char name[2][32];
        const tml_mesh none = {.indices = i == 4 ? NULL : m.narrow};
        snprintf(name[0], sizeof name[0], "none.%s", endings[i]);
        snprintf(name[1], sizeof name[1], "no_pieces.%s", endings[i]);
        CHECK_OK(tml, tml_mesh_save(tml, in_folder(name[0]), &none));
        if (CHECK_OK(tml, tml_mesh_stream_open(tml, in_folder(name[1]),
                                               &(tml_mesh_stream_desc){.soup = i == 4}, &stream)))
            CHECK_OK(tml, tml_mesh_stream_finish(stream, TML_OK));
        CHECK(test_same_files(in_folder(name[0]), in_folder(name[1])));
    }
    remove_files();
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

/* ---- both ------------------------------------------------------------------------------------ */

typedef struct pipeline {
    tml_volume_stream *in;
    tml_mesh_stream *out;
} pipeline;

static tml_status pipe_read(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                            void *out)
{
    (void)source;
    return tml_volume_stream_read(((pipeline *)user)->in, first, count, out);
}

static tml_status pipe_write(void *user, const tml_surface_piece *piece)
{
    return tml_mesh_stream_write(((pipeline *)user)->out, piece->index, &piece->mesh);
}

static float promised[1]; /* normals that each piece has */

/* From file to file in slabs; the reader has a context of its own. */
static bool stream_surface(tml_context *tml, tml_context *reader, const char *from, const char *to,
                           const tml_surface_desc *surface, uint64_t layers)
{
    tml_volume info;
    pipeline pipe = {NULL, NULL};
    const tml_mesh_stream_desc mesh = {.mesh.normals =
                                           surface->normals != TML_NORMALS_NONE ? promised : NULL,
                                       .soup = surface->soup};
    if (!CHECK_OK(reader, tml_volume_stream_open(reader, from, NULL, &info, &pipe.in)))
        return false;
    bool good = CHECK_OK(tml, tml_mesh_stream_open(tml, to, &mesh, &pipe.out));
    tml_surface_desc in_slabs = *surface;
    in_slabs.volume = (tml_buffer){0, 0};
    tml_surface_slabs_desc desc = {.surface = &in_slabs,
                                   .type = info.type,
                                   .read = pipe_read,
                                   .write = pipe_write,
                                   .user = &pipe,
                                   .slab_layers = layers};
    tml_surface_result result = {0};
    if (good)
        good =
            CHECK_OK(tml, tml_mesh_stream_finish(pipe.out, tml_surface_slabs(tml, &desc, &result)));
    tml_surface_free(tml, &result);
    tml_volume_stream_close(pipe.in);
    return good;
}

static bool save_whole(tml_context *tml, const char *path, tml_surface_result *result, bool soup)
{
    void *arrays[3] = {NULL, NULL, NULL};
    const tml_buffer buffers[3] = {result->mesh.positions, result->mesh.normals,
                                   result->mesh.indices};
    for (int i = 0; i < 3; i++)
        if (!tml_buffer_is_none(buffers[i]))
            CHECK_OK(tml, tml_buffer_map(tml, buffers[i], &arrays[i]));
    const tml_mesh mesh = {.positions = arrays[0],
                           .normals = arrays[1],
                           .indices = soup ? NULL : arrays[2],
                           .vertex_count = result->vertex_count,
                           .triangle_count = result->triangle_count};
    return CHECK_OK(tml, tml_mesh_save(tml, path, &mesh));
}

/* Two values that samples have, one of them often. */
static void choose_isovalues(const tml_volume *volume, tml_context *tml, double isovalues[2])
{
    tml_buffer buffer, found;
    float range[2];
    const tml_buffer_desc lent = {.type = volume->type,
                                  .count = volume->size / tml_type_size(volume->type),
                                  .host = volume->data};
    const tml_surface_desc index = {.grid = volume->grid};
    tml_surface_desc desc = index;
    isovalues[0] = isovalues[1] = 0;
    CHECK_OK(tml, tml_buffer_create(tml, &lent, &buffer));
    desc.volume = buffer;
    if (CHECK_OK(tml, tml_surface_index(tml, &desc, &found))) {
        uint64_t bricks;
        double low = INFINITY, high = -INFINITY;
        tml_buffer_describe(tml, found, NULL, &bricks);
        for (uint64_t i = 0; i < bricks; i++) {
            CHECK_OK(tml, tml_buffer_read_range(tml, found, i, 1, range));
            low = fmin(low, isfinite(range[0]) ? (double)range[0] : low);
            high = fmax(high, isfinite(range[1]) ? (double)range[1] : high);
        }
        isovalues[0] = low + 0.3 * (high - low);
        isovalues[1] = low + 0.55 * (high - low);
        tml_buffer_destroy(tml, found);
    }
    tml_buffer_destroy(tml, buffer);
}

/* every: all thicknesses, else some. */
static void compare_surfaces(tml_context *tml, tml_context *reader, const char *path, bool every)
{
    tml_volume volume;
    double isovalues[2];
    if (!CHECK_OK(tml, tml_volume_load(tml, path, NULL, &volume)))
        return;
    choose_isovalues(&volume, tml, isovalues);
    for (int way = 0; way < 3; way++) { /* PLY of one surface; VTP of two, capped; STL */
        static const char *const names[][2] = {
            {"whole.ply", "slabs.ply"}, {"whole.vtp", "slabs.vtp"}, {"whole.stl", "slabs.stl"}};
        tml_surface_desc desc = {.grid = volume.grid,
                                 .iso = isovalues[0],
                                 .normals = way == 0   ? TML_NORMALS_SOBEL
                                            : way == 1 ? TML_NORMALS_CENTRAL
                                                       : TML_NORMALS_NONE,
                                 .isovalues = way == 1 ? isovalues : NULL,
                                 .isovalue_count = way == 1 ? 2 : 0,
                                 .caps = way == 1,
                                 .soup = way == 2};
        const tml_buffer_desc lent = {.type = volume.type,
                                      .count = volume.size / tml_type_size(volume.type),
                                      .host = volume.data};
        tml_surface_result result;
        CHECK_OK(tml, tml_buffer_create(tml, &lent, &desc.volume));
        bool go_on = CHECK_OK(tml, tml_surface(tml, &desc, &result)) &&
                     save_whole(tml, in_folder(names[way][0]), &result, desc.soup);
        uint64_t layers = volume.grid.dims[2];
        for (uint64_t n = 1; n <= layers && go_on; n += every || n < 3 ? 1
                                                        : n < layers   ? (layers - n + 1) / 2
                                                                       : 1) {
            go_on = stream_surface(tml, reader, path, in_folder(names[way][1]), &desc, n) &&
                    CHECK(test_same_files(in_folder(names[way][0]), in_folder(names[way][1])));
            if (!go_on)
                printf("  (%s, slabs of %" PRIu64 " layers)\n", path, n);
        }
        tml_surface_free(tml, &result);
        tml_buffer_destroy(tml, desc.volume);
    }
    tml_volume_free(tml, &volume);
    remove_files();
}

TEST(files_in_slabs_are_files_at_once)
{
    tml_context *tml = open_cpu(2), *reader = open_plain();
    for (int i = 0; i < SHIPPED; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s", test_data(shipped[i]));
        compare_surfaces(tml, reader, path, false);
    }
    tml_close(reader);
    tml_close(tml);
}

/* Each real volume there is, every thickness: minutes. */
TEST(every_collected_volume_in_slabs)
{
    if (!test_full_data("volumes") || !getenv("TML_EVERY_SLAB"))
        SKIP("TML_DATA names no collection, or TML_EVERY_SLAB is not set");
    DIR *directory = opendir(test_full_data("volumes"));
    CHECK(directory != NULL);
    tml_context *tml = open_cpu(2), *reader = open_plain();
    for (char path[1024]; next_collected(directory, path);) {
        tml_volume info;
        tml_volume_stream *stream = NULL;
        tml_status status = tml_volume_stream_open(tml, path, NULL, &info, &stream);
        tml_volume_stream_close(stream);
        printf("  %s %s\n", path, status == TML_OK ? "in slabs" : "cannot be read by layers");
        fflush(stdout); /* minutes pass */
        if (status == TML_OK)
            compare_surfaces(tml, reader, path, true);
    }
    if (directory)
        closedir(directory);
    tml_close(reader);
    tml_close(tml);
}

/* ---- large ones ------------------------------------------------------------------------------ */

/* Balls on a lattice, 0 between them: a file with holes, of which the disk holds a part. Not one
 * layer of the volume is at hand as a whole. */
static bool write_balls(const char *path, uint64_t side, uint64_t period)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    uint8_t *row = malloc(side);
    int64_t half = (int64_t)period / 2, radius = half - 3;
    bool good = file >= 0 && ftruncate(file, (off_t)(side * side * side)) == 0;
    for (uint64_t z = 0; z < side && good; z++)
        for (uint64_t y = 0; y < side && good; y++) {
            int64_t dz = (int64_t)(z % period) - half, dy = (int64_t)(y % period) - half;
            if (dz * dz + dy * dy >= radius * radius)
                continue;
            for (uint64_t x = 0; x < side; x++) {
                int64_t dx = (int64_t)(x % period) - half;
                int64_t left = radius * radius - dx * dx - dy * dy - dz * dz;
                row[x] = (uint8_t)(left > 0 ? 255 * left / (radius * radius) : 0);
            }
            good = pwrite(file, row, side, (off_t)((z * side + y) * side)) == (ssize_t)side;
        }
    free(row);
    return CHECK(good && close(file) == 0);
}

static tml_status keep_a_ball(void *user, tml_mesh *mesh)
{
    uint64_t components = 0;
    tml_status status = tml_mesh_clean(user, mesh, true, true, &components);
    CHECK_EQ_U64(components, 1);
    return status;
}

/* TML_BIG_SIDE=2048 makes a file of 8 GiB, TML_BIG_FILE says where, and it is kept. */
TEST(a_large_volume_goes_through_little_memory)
{
    const char *wanted = getenv("TML_BIG_SIDE"), *kept = getenv("TML_BIG_FILE");
    uint64_t side = wanted ? strtoull(wanted, NULL, 10) : 256, period = side / 8;
    char path[1024];
    snprintf(path, sizeof path, "%s", kept ? kept : in_folder("balls.raw"));
    if (!write_balls(path, side, period))
        return;
    memory_watch watch;
    tml_context *tml = open_watched(&watch), *reader = open_plain();
    const tml_load_desc raw = {.dims = {side, side, side}, .type = TML_U8};
    tml_volume info;
    pipeline pipe = {NULL, NULL};
    const tml_mesh_stream_desc mesh = {.mesh.normals = promised};
    const uint64_t memory = side * side * 24; /* of layers: a few, of the volume: a small part */
    CHECK_OK(reader, tml_volume_stream_open(reader, path, &raw, &info, &pipe.in));
    CHECK_OK(tml, tml_mesh_stream_open(tml, in_folder("balls.ply"), &mesh, &pipe.out));
    const tml_surface_slabs_desc desc = {
        .surface =
            &(tml_surface_desc){.grid = info.grid, .iso = 100, .normals = TML_NORMALS_CENTRAL},
        .type = TML_U8,
        .read = pipe_read,
        .write = pipe_write,
        .user = &pipe,
        .memory = memory};
    tml_surface_result result = {0};
    tml_status status = tml_surface_slabs(tml, &desc, &result);
    CHECK_OK(tml, tml_mesh_stream_finish(pipe.out, status));
    /* Every ball is closed, and all are alike: faces, edges and vertices of each add up to 2. */
    uint64_t balls = 512;
    CHECK_EQ_U64(result.triangle_count, 2 * (result.vertex_count - 2 * balls));
    CHECK_EQ_U64(result.vertex_count % balls, 0);
    CHECK(result.vertex_count > balls * 100);
    CHECK(watch.peak <= memory + (4 << 20));
    const uint64_t vertices = result.vertex_count, triangles = result.triangle_count;
    tml_surface_free(tml, &result);
    tml_volume_stream_close(pipe.in);
    /* One of them. What looks for it takes less than a byte a vertex, and some for a stretch. */
    const tml_mesh_stream_desc one = {.mesh.normals = promised, .edit = keep_a_ball, .user = tml};
    CHECK_OK(reader, tml_volume_stream_open(reader, path, &raw, &info, &pipe.in));
    CHECK_OK(tml, tml_mesh_stream_open(tml, in_folder("ball.ply"), &one, &pipe.out));
    status = tml_surface_slabs(tml, &desc, &result);
    CHECK_OK(tml, tml_mesh_stream_finish(pipe.out, status));
    CHECK(watch.peak <= memory + vertices + (12 << 20));
    tml_mesh_file ball;
    if (CHECK_OK(tml, tml_mesh_load(tml, in_folder("ball.ply"), NULL, &ball))) {
        CHECK_EQ_U64(ball.mesh.vertex_count, vertices / balls);
        CHECK_EQ_U64(ball.mesh.triangle_count, triangles / balls);
        tml_mesh_file_free(tml, &ball);
    }
    tml_surface_free(tml, &result);
    tml_volume_stream_close(pipe.in);
    tml_close(reader);
    tml_close(tml);
    remove_files();
}

int main(int argc, char **argv)
{
    return test_main_in_folder("slabs", argc, argv);
}
