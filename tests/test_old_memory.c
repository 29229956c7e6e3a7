/* No reader's output depends on what memory held before. Every reader reads every test file, and
 * files that were cut and changed, in two processes whose memory is filled with different bytes:
 * malloc's, from which libtiff, libpng and OpenEXR take theirs, and the contexts'. All outputs must
 * be equal. What a decoder did not write shows as a difference.
 *
 * With TML_DATA a sample of the collection's files is read, which TML_SEED turns; TML_SWEEP=1 reads
 * all of them. */
#include <dirent.h>
#include <sys/stat.h>

#include "test.h"

#include "folder.h"
#include "made_files.h"

#include "core/platform.h"
#include "io/meshes/mesh_sink.h"
#include "io/pictures/picture_internal.h"
#include "io/points/points_internal.h"
#include "io/volumes/volume_internal.h"

enum {
    FILES_MOST = 4096,
    FILE_MOST = 512 << 10,    /* bytes of a file that is read at all */
    SWEEP_MOST = 32 << 20,    /* and with TML_SWEEP */
    CHANGED_MOST = 192 << 10, /* and of one that is changed */
    SAMPLE = 60,              /* files of the collection that a run without TML_SWEEP reads */
    LIMIT = 64 << 20,         /* bytes of an output */
};

/* ---- digests --------------------------------------------------------------------------------- */

static int fill_byte;

static void *filled_alloc(void *user, size_t size, size_t alignment)
{
    void *memory = tml_platform_alloc(size, alignment);
    (void)user;
    if (memory)
        memset(memory, fill_byte, size);
    return memory;
}

static void plain_free(void *user, void *memory, size_t size)
{
    (void)user, (void)size;
    tml_platform_free(memory);
}

static void add(uint32_t *digest, const void *data, size_t size)
{
    if (data)
        *digest = (uint32_t)crc32_z(*digest, data, size);
}

static void add_text(uint32_t *digest, const char *text)
{
    add(digest, text, strlen(text) + 1);
}

/* A message may have addresses of no file, so all of it counts, too. */
static void add_status(uint32_t *digest, tml_context *tml, tml_status status)
{
    add(digest, &status, sizeof status);
    if (status != TML_OK)
        add_text(digest, tml_last_error(tml));
}

static tml_status digest_volume(tml_context *tml, const char *name, const uint8_t *data,
                                size_t size, uint32_t *digest)
{
    tml_volume v;
    tml_load_desc desc = {.memory_limit = LIMIT};
    tml_status status = tml_volume_load_memory(tml, name, data, size, &desc, &v);
    add_status(digest, tml, status);
    if (status != TML_OK)
        return status;
    add(digest, v.data, v.size);
    add(digest, v.grid.dims, sizeof v.grid.dims);
    add(digest, v.grid.spacing, sizeof v.grid.spacing);
    add(digest, v.grid.origin, sizeof v.grid.origin);
    add(digest, v.grid.direction, sizeof v.grid.direction);
    add(digest, &v.slope, sizeof v.slope);
    add(digest, &v.intercept, sizeof v.intercept);
    add_text(digest, v.unit);
    add_text(digest, v.space);
    add_text(digest, v.comment);
    tml_volume_free(tml, &v);
    return status;
}

static tml_status digest_array(tml_context *tml, const char *name, const uint8_t *data, size_t size,
                               uint32_t *digest)
{
    tml_array array;
    tml_status status = tml_array_load_memory(tml, name, data, size, &array);
    add_status(digest, tml, status);
    if (status == TML_OK)
        add(digest, array.data, array.size);
    tml_array_free(tml, &array);
    return status;
}

static tml_status digest_picture(tml_context *tml, const char *name, const uint8_t *data,
                                 size_t size, uint32_t *digest)
{
    tml_picture p;
    tml_status status = tml_picture_load_memory(tml, name, data, size, LIMIT, &p);
    add_status(digest, tml, status);
    if (status == TML_OK) {
        add(digest, p.data, (size_t)p.width * p.height * p.channels * tml_type_size(p.type));
        add_text(digest, p.comment);
    }
    tml_picture_free(tml, &p);
    return status;
}

static tml_status digest_points(tml_context *tml, const char *name, const uint8_t *data,
                                size_t size, uint32_t *digest)
{
    io_file file;
    tml_points p;
    tml_io_open_memory(tml, "tml_points_load", name, data, size, &file);
    tml_status status = tml_points_read(&file, &p);
    add_status(digest, tml, status);
    if (status == TML_OK) {
        size_t count = (size_t)p.count;
        add(digest, p.positions, 3 * count * sizeof *p.positions);
        add(digest, p.radii, count * sizeof *p.radii);
        add(digest, p.values, count * sizeof *p.values);
        add(digest, p.origin, sizeof p.origin);
        for (uint32_t i = 0; i < p.attribute_count; i++)
            add_text(digest, p.attributes[i].name);
    }
    tml_points_free(tml, &p);
    tml_io_close(&file);
    return status;
}

static tml_status digest_mesh(tml_context *tml, const char *name, const uint8_t *data, size_t size,
                              uint32_t *digest)
{
    io_file file;
    tml_mesh_file m;
    tml_load_desc desc = {.memory_limit = LIMIT};
    tml_io_open_memory(tml, "tml_mesh_load", name, data, size, &file);
    tml_status status = tml_mesh_read(&file, &desc, &m);
    add_status(digest, tml, status);
    if (status == TML_OK) {
        size_t vertices = (size_t)m.mesh.vertex_count, triangles = (size_t)m.mesh.triangle_count;
        add(digest, m.mesh.positions, 3 * vertices * sizeof *m.mesh.positions);
        add(digest, m.mesh.normals, 3 * vertices * sizeof *m.mesh.normals);
        add(digest, m.mesh.values, vertices * sizeof *m.mesh.values);
        add(digest, m.mesh.indices, 3 * triangles * sizeof(uint32_t));
        add(digest, m.mesh.uvs, 2 * (size_t)m.mesh.uv_count * sizeof *m.mesh.uvs);
        add(digest, m.mesh.origin, sizeof m.mesh.origin);
        add(digest, m.faces, m.faces ? triangles * sizeof *m.faces : 0);
        add(digest, m.crease_sharpness, (size_t)m.crease_count * sizeof *m.crease_sharpness);
        for (uint32_t i = 0; i < m.mesh.attribute_count; i++) {
            const tml_mesh_attribute *a = &m.mesh.attributes[i];
            add(digest, a->data, vertices * a->components * sizeof *a->data);
        }
        add_text(digest, m.comment);
    }
    tml_mesh_file_free(tml, &m);
    tml_io_close(&file);
    return status;
}

typedef tml_status (*digest_call)(tml_context *tml, const char *name, const uint8_t *data,
                                  size_t size, uint32_t *digest);
static const digest_call digests[] = {digest_volume, digest_array, digest_picture, digest_points,
                                      digest_mesh};
enum { DIGESTS = sizeof digests / sizeof digests[0] };

/* ---- changed files --------------------------------------------------------------------------- */

/* Makes the checksums of a PNG right again, without which no change reaches its decoder. */
static void mend_png(uint8_t *data, size_t size)
{
    if (size < 8 || memcmp(data, "\x89PNG", 4) != 0)
        return;
    for (size_t at = 8; at + 12 <= size;) {
        size_t length = io_load_u32(data + at, true);
        if (length > size - at - 12)
            return;
        uint32_t sum = (uint32_t)crc32_z(0, data + at + 4, length + 4);
        for (int i = 0; i < 4; i++)
            data[at + 8 + length + (size_t)i] = (uint8_t)(sum >> (24 - 8 * i));
        at += length + 12;
    }
}

/* Changes a copy of a file by number: cut, with changed bytes, with a size that is larger, smaller,
 * 0 or huge. Returns its size. Changes are more frequent near the start, where headers are. */
static size_t change(uint8_t *data, size_t size, uint64_t seed)
{
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    uint64_t kind = test_random(&seed) % 5;
    if (size == 0)
        return 0;
    if (kind == 0)
        return test_random(&seed) % size;
    size_t near = test_random(&seed) % 2 && size > 512 ? 512 : size;
    for (uint64_t n = 1 + test_random(&seed) % 3; n > 0; n--) {
        uint8_t *at = data + test_random(&seed) % near;
        if (kind == 1)
            *at = values[test_random(&seed) % sizeof values];
        else if (kind == 2)
            *at ^= (uint8_t)(1u << test_random(&seed) % 8);
        else if (kind == 3)
            *at = (uint8_t)(*at + (test_random(&seed) % 2 ? 1 : -1));
        else
            *at = (uint8_t)test_random(&seed);
    }
    if (test_random(&seed) % 2)
        mend_png(data, size);
    return size;
}

/* Prints a line for each reader of a file and of its changes. The name is its last part, by whose
 * ending some formats are known. */
static void print_digests(tml_context *tml, const char *path, const uint8_t *data, size_t size)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    bool reads[DIGESTS], reads_some = false;
    uint64_t seed = crc32_z(0, data, size);
    for (int k = 0; k < DIGESTS; k++) {
        uint32_t digest = 0;
        reads[k] = digests[k](tml, name, data, size, &digest) == TML_OK;
        reads_some |= reads[k];
        printf("%s: whole, reader %d: %08x\n", path, k, digest);
    }
    int changes = size > CHANGED_MOST ? 0 : size > 16384 ? 12 : 48;
    changes = TEST_IS_SLOW ? changes / 4 : changes;
    for (int i = 0; i < changes; i++) {
        uint64_t turned = seed + test_seed() * 1000003 + (uint64_t)i;
        uint8_t *copy = malloc(size + 1);
        memcpy(copy, data, size);
        size_t changed = change(copy, size, turned);
        uint8_t *exact = malloc(changed ? changed : 1); /* what lies behind it counts, too */
        memcpy(exact, copy, changed);
        for (int k = 0; k < DIGESTS; k++) {
            uint32_t digest = 0;
            if (reads_some && !reads[k])
                continue;
            (void)digests[k](tml, name, exact, changed, &digest);
            printf("%s: change %d, reader %d: %08x\n", path, i, k, digest);
        }
        free(exact);
        free(copy);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct file_list {
    char *paths[FILES_MOST];
    size_t count;
} file_list;

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool sweeps(void)
{
    const char *sweep = getenv("TML_SWEEP");
    return sweep && *sweep;
}

static void list_files(const char *path, file_list *list)
{
    DIR *directory = path ? opendir(path) : NULL;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char full[1024];
        struct stat status;
        snprintf(full, sizeof full, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.' || stat(full, &status) != 0)
            continue;
        if (S_ISDIR(status.st_mode))
            list_files(full, list);
        else if (S_ISREG(status.st_mode) && status.st_size <= (sweeps() ? SWEEP_MOST : FILE_MOST) &&
                 list->count < FILES_MOST)
            list->paths[list->count++] = strdup(full);
    }
    if (directory)
        closedir(directory);
}

static void print_file(tml_context *tml, const char *path)
{
    struct stat status;
    FILE *file = fopen(path, "rb");
    if (!file)
        return;
    size_t size = fstat(fileno(file), &status) == 0 ? (size_t)status.st_size : 0;
    uint8_t *exact = malloc(size ? size : 1);
    size = fread(exact, 1, size, file);
    fclose(file);
    print_digests(tml, path, exact, size);
    free(exact);
}

/* All files of a folder, or so many of them by chance. */
static void print_folder(tml_context *tml, const char *path, size_t most)
{
    static file_list list;
    list.count = 0;
    list_files(path, &list);
    qsort(list.paths, list.count, sizeof *list.paths, compare_paths);
    uint64_t seed = test_seed();
    for (size_t i = 0; i < list.count; i++) {
        if (list.count <= most || test_random(&seed) % list.count < most)
            print_file(tml, list.paths[i]);
        free(list.paths[i]);
    }
}

/* The kinds that this test was made for: a strip of deflate that holds more than its rows, a
 * picture of JPEG that is smaller than its strip, and rows of OpenEXR that are too short. */
static void print_made(tml_context *tml)
{
    static const uint8_t row[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    uint8_t jpeg[MADE_FILE_MOST / 2];
    FILE *seed = fopen(TML_SOURCE_ROOT "/fuzz/seeds/picture/grey.jpg", "rb");
    size_t jpeg_size = seed ? fread(jpeg, 1, sizeof jpeg, seed) : 0;
    if (seed)
        fclose(seed);
    uint8_t file[MADE_FILE_MOST];
    char name[32];
    for (size_t more = 0; more < 500; more += 1 + more) {
        snprintf(name, sizeof name, "strip_%zu.tif", 256 + more);
        print_digests(tml, name, file, made_deflate_tiff(file, 256 + more));
    }
    print_digests(tml, "jpeg.tif", file, made_tiff(file, 7, jpeg, jpeg_size, 40, 30));
    for (uint32_t size = 1; size <= sizeof row; size++) {
        snprintf(name, sizeof name, "row_%u.exr", (unsigned)size);
        print_digests(tml, name, file, made_exr(file, 0, row, size, 0.6f));
    }
}

/* What a child prints. */
static int print_all(const char *fill)
{
    tml_context *tml = NULL;
    fill_byte = atoi(fill);
    tml_open_desc desc = {
        .engine = TML_ENGINE_CPU, .threads = 1, .allocator = {filled_alloc, plain_free, NULL}};
    if (tml_open(&desc, &tml) != TML_OK)
        return 1;
    volatile uint8_t *fresh = malloc(100);
    printf("malloc fills by %02x\n", fresh[50]);
    free((void *)(uintptr_t)fresh);
    print_made(tml);
    print_folder(tml, test_data("volumes"), FILES_MOST);
    print_folder(tml, test_data("pictures"), FILES_MOST);
    print_folder(tml, test_data("points"), FILES_MOST);
    print_folder(tml, test_data("malformed"), FILES_MOST);
    if (test_full_data("volumes")) {
        static const char *const folders[] = {"volumes", "pictures",  "hdr",
                                              "meshes",  "points",    "reports",
                                              "damaged", "malformed", "topology"};
        for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
            print_folder(tml, test_full_data(folders[i]),
                         sweeps() ? FILES_MOST : SAMPLE / (sizeof folders / sizeof folders[0]));
    }
    tml_close(tml);
    printf("all\n");
    return 0;
}

static const char *program;

#ifdef __GLIBC__
/* glibc fills what malloc returns and what free gets, by a byte. */
static FILE *start(int fill)
{
    char command[2048];
    snprintf(command, sizeof command,
             "MALLOC_PERTURB_=%d GLIBC_TUNABLES=glibc.malloc.perturb=%d exec '%s' --digests %d",
             fill, fill, program, fill);
    return popen(command, "r");
}

#endif

TEST(outputs_do_not_depend_on_what_memory_held)
{
#ifndef __GLIBC__
    SKIP("malloc cannot be made to fill memory here");
#else
    FILE *children[2] = {start(85), start(178)};
    static char lines[2][1024];
    size_t count = 0, different = 0;
    bool ends = !CHECK(children[0] && children[1]);
    while (!ends) {
        bool has[2];
        for (int i = 0; i < 2; i++)
            has[i] = fgets(lines[i], sizeof lines[i], children[i]) != NULL;
        ends = !CHECK(has[0] == has[1]) || !has[0];
        if (ends)
            break;
        if (count++ == 0) { /* what malloc fills by: without a difference the test sees nothing */
            CHECK(TEST_IS_SLOW || strcmp(lines[0], lines[1]) != 0);
            continue;
        }
        if (strcmp(lines[0], lines[1]) != 0 && different++ < 40)
            test_fail(__FILE__, __LINE__, "%.*s and %s", (int)strcspn(lines[0], "\n"), lines[0],
                      strrchr(lines[1], ' ') ? strrchr(lines[1], ' ') : "?");
        if (strcmp(lines[0], "all\n") == 0)
            ends = true;
    }
    CHECK_STR(lines[0], "all\n");
    for (int i = 0; i < 2; i++)
        CHECK(children[i] && pclose(children[i]) == 0);
    printf("  (%zu outputs, seed %" PRIu64 ")\n", count, test_seed());
#endif
}

int main(int argc, char **argv)
{
    program = argv[0];
    (void)program;
    if (argc == 3 && strcmp(argv[1], "--digests") == 0)
        return print_all(argv[2]);
    return test_main(argc, argv);
}
