/* trommel-bench files: whole commands, from files to files, compared with cat and installed
 * programs.
 *
 * Inputs are made in a scratch folder. Warm: the inputs are in the page cache. Cold: they are not,
 * which is verified before each run (mincore). The program itself is always in the page cache. All
 * programs write their outputs to the page cache. The disk of a virtual machine may have a cache of
 * its own. */
#include "bench_commands.h"
#include "bench_data.h"
#include "bench_meshes.h"
#include "bench_process.h"
#include "bench_report.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trommel/pictures.h>
#include <trommel/volumes.h>
#include <unistd.h>

typedef struct files_args {
    bench_args bench;
    const char *folder;
    const char *command;
    uint64_t side;
} files_args;

static const opt files_options[] = {
    {OPT_SECTION, .help = "Input"},
    {OPT_COUNT, "side", .brief = "", .argument = "N", .least = 16, .most = 2048, .fallback = "256",
     .offset = offsetof(files_args, side),
     .help = "samples along each side of the volumes; the picture has 15 N by 135 N / 16 pixels, "
             "each large mesh 8 N^2 triangles, the array N^3 / 2 numbers"},
    {OPT_TEXT, "folder", .argument = "DIR", .offset = offsetof(files_args, folder),
     .help = "where the scratch folder is made (default: TMPDIR, or /tmp)"},
    {OPT_INPUT, "command", .argument = "FILE", .offset = offsetof(files_args, command),
     .help = "the trommel to measure (default: the one beside this program)"},
    {OPT_SECTION, .help = "Measuring"},
    {OPT_COUNT, "repeats", .brief = "", .argument = "N", .least = 1, .most = 1000, .fallback = "7",
     .offset = offsetof(files_args, bench.repeats), .help = "runs of each row"},
    BENCH_SECONDS_OPTION(files_args),
    {0},
};

static const bench_column columns[] = {
    BENCH_COLUMN("cold_s", "cold ms", 1e3),
    BENCH_COLUMN("warm_s", "warm ms", 1e3),
    BENCH_COLUMN("warm_min_s", NULL, 1),
    BENCH_COLUMN("runs", NULL, 0),
    BENCH_COLUMN("bytes", NULL, 0),
    BENCH_COLUMN("bytes_per_second", "warm MB/s", 1e-6),
    BENCH_COLUMN("cat_cold_s", "cat cold ms", 1e3),
    BENCH_COLUMN("cat_warm_s", "cat warm ms", 1e3),
    BENCH_COLUMN("cat_ratio", "of warm cat", 1),
    {0},
};

/* ---- the commands ---------------------------------------------------------------------------- */

enum { MAX_WORDS = 32, MAX_PEERS = 2 };

/* Another program that makes the same result from the same inputs, in the file peer.*. */
typedef struct files_peer {
    const char *name, *words;
} files_peer;

#define VTK_SURFACE                                                                                \
    "import sys\n"                                                                                 \
    "from vtkmodules.vtkIOImage import vtkNrrdReader\n"                                            \
    "from vtkmodules.vtkFiltersCore import vtkFlyingEdges3D\n"                                     \
    "from vtkmodules.vtkIOPLY import vtkPLYWriter\n"                                               \
    "reader = vtkNrrdReader(); reader.SetFileName(sys.argv[1])\n"                                  \
    "edges = vtkFlyingEdges3D(); edges.SetInputConnection(reader.GetOutputPort())\n"               \
    "edges.ComputeScalarsOff(); edges.SetValue(0, float(sys.argv[2]))\n"                           \
    "writer = vtkPLYWriter(); writer.SetInputConnection(edges.GetOutputPort())\n"                  \
    "writer.SetFileName(sys.argv[3]); writer.SetFileTypeToBinary(); writer.Write()\n"

/* Words of a command line. $iso and $iso8 stand for the isovalues, $vtk for the program above. */
typedef struct files_case {
    const char *name, *words;
    const char *inputs[2];
    const char *output; /* NULL: it only prints */
    files_peer peers[MAX_PEERS];
} files_case;

static const files_case cases[] = {
    {"surface, f32 to PLY",
     "surface gyroid.nrrd --iso $iso -o out.ply",
     {"gyroid.nrrd"},
     "out.ply",
     {{"VTK", "/usr/bin/python3 -c $vtk gyroid.nrrd $iso peer.ply"}}},
    {"surface, f32 to PLY, no normals",
     "surface gyroid.nrrd --iso $iso --normals none -o out.ply",
     {"gyroid.nrrd"},
     "out.ply",
     {{0}}},
    {"surface, u8 to STL",
     "surface gyroid8.nrrd --iso $iso8 -o out.stl",
     {"gyroid8.nrrd"},
     "out.stl",
     {{0}}},
    {"collide, two PLY to CSV",
     "collide a.ply b.ply -o out.csv",
     {"a.ply", "b.ply"},
     "out.csv",
     {{0}}},
    {"subdivide, PLY to PLY, level 5",
     "subdivide torus.ply --levels 5 -o out.ply",
     {"torus.ply"},
     "out.ply",
     {{0}}},
    {"convert, PLY to GLB",
     "convert a.ply -o out.glb",
     {"a.ply"},
     "out.glb",
     {{"assimp", "assimp export a.ply peer.glb"}}},
    {"convert, PLY to OBJ",
     "convert a.ply -o out.obj",
     {"a.ply"},
     "out.obj",
     {{"assimp", "assimp export a.ply peer.obj"}}},
    {"exposure, PFM to PNG",
     "exposure picture.pfm -o out.png",
     {"picture.pfm"},
     "out.png",
     {{"ImageMagick", "convert picture.pfm peer.png"}}},
    {"exposure, PFM to HDR",
     "exposure picture.pfm -o out.hdr",
     {"picture.pfm"},
     "out.hdr",
     {{"ImageMagick", "convert picture.pfm peer.hdr"}}},
    {"compact, NPY to NPY",
     "compact numbers.npy --at-least 0.5 -o out.npy",
     {"numbers.npy"},
     "out.npy",
     {{0}}},
    {"info of a volume", "info gyroid.nrrd", {"gyroid.nrrd"}, NULL, {{0}}},
    {"info of a mesh", "info a.ply", {"a.ply"}, NULL, {{"assimp", "assimp info a.ply"}}},
};

/* ---- inputs ---------------------------------------------------------------------------------- */

static tml_status make_volume(tml_context *tml, uint64_t size, tml_type type, const char *path)
{
    tml_volume volume = {.type = type, .grid = {.dims = {size, size, size}, .spacing = {1, 1, 1}}};
    volume.size = size * size * size * tml_type_size(type);
    volume.data = tml_alloc(tml, volume.size);
    tml_status status = TML_OK;
    if (!volume.data || !bench_field_fill(tml, BENCH_GYROID, type, size, volume.data))
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "a volume needs %zu bytes", volume.size);
    else
        status = tml_volume_save(tml, path, &volume);
    tml_free(tml, volume.data, volume.size);
    return status;
}

/* A torus of 2 * around * across triangles, moved by a pose. */
static tml_status make_torus(tml_context *tml, uint32_t around, uint32_t across, const float *pose,
                             const char *path)
{
    bench_mesh torus;
    if (!bench_torus(0.3, around, across, &torus))
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a torus");
    for (uint32_t i = 0; pose && i < torus.vertex_count; i++) {
        float *v = torus.vertices + 3 * i, p[3] = {v[0], v[1], v[2]};
        for (int r = 0; r < 3; r++)
            v[r] = pose[4 * r] * p[0] + pose[4 * r + 1] * p[1] + pose[4 * r + 2] * p[2] +
                   pose[4 * r + 3];
    }
    tml_status status = tml_mesh_save(tml, path,
                                      &(tml_mesh){.positions = torus.vertices,
                                                  .indices = torus.indices,
                                                  .vertex_count = torus.vertex_count,
                                                  .triangle_count = torus.triangle_count});
    bench_mesh_free(&torus);
    return status;
}

/* Waves of light over four decades, with a grain of an eighth. */
static tml_status make_picture(tml_context *tml, uint32_t width, uint32_t height,
                               const uint32_t *hashes, const char *path)
{
    size_t count = (size_t)width * height * 3;
    float *data = tml_alloc(tml, count * sizeof *data);
    if (!data)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "a picture needs %zu bytes",
                         count * sizeof *data);
    for (size_t i = 0; i < count; i++) {
        double x = (double)(i / 3 % width) / width, y = (double)(i / 3) / width / height;
        double wave = sin(20 * x + (double)(i % 3)) + sin(15 * y + 9 * x);
        data[i] = (float)(exp(2.3 * wave) * (1 + (double)(hashes[i % 4096] >> 8) * 0x1p-27));
    }
    tml_status status = tml_picture_save(tml, path,
                                         &(tml_picture){.data = data,
                                                        .size = count * sizeof *data,
                                                        .type = TML_F32,
                                                        .width = width,
                                                        .height = height,
                                                        .channels = 3});
    tml_free(tml, data, count * sizeof *data);
    return status;
}

static tml_status make_numbers(tml_context *tml, uint64_t count, const char *path)
{
    tml_array array = {.type = TML_F32, .count = count, .size = count * sizeof(float)};
    array.data = tml_alloc(tml, array.size);
    if (!array.data)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "an array needs %zu bytes", array.size);
    bench_stream_fill(tml, count, array.data);
    for (uint64_t i = 0; i < count; i++)
        ((float *)array.data)[i] = (float)(((uint32_t *)array.data)[i] >> 8) * 0x1p-24f;
    tml_status status = tml_array_save(tml, path, &array);
    tml_free(tml, array.data, array.size);
    return status;
}

static tml_status make_inputs(tml_context *tml, uint64_t size)
{
    uint32_t hashes[4096], across = (uint32_t)size;
    float pose[12];
    bench_stream_fill(tml, 4096, hashes);
    bench_scene_pose(BENCH_LINKED, pose);
    tml_status status = make_volume(tml, size, TML_F32, "gyroid.nrrd");
    if (!status)
        status = make_volume(tml, size, TML_U8, "gyroid8.nrrd");
    if (!status)
        status = make_torus(tml, 4 * across, across, NULL, "a.ply");
    if (!status)
        status = make_torus(tml, 4 * across, across, pose, "b.ply");
    if (!status)
        status = make_torus(tml, 64, 32, NULL, "torus.ply");
    if (!status)
        status = make_picture(tml, 15 * across, 135 * across / 16, hashes, "picture.pfm");
    return status ? status : make_numbers(tml, size * size * size / 2, "numbers.npy");
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* A program, run on inputs that are in the page cache or not. */
typedef struct files_job {
    tml_context *tml;
    const files_case *what;
    char *words[MAX_WORDS + 8];
    const char *output; /* removed before each run; NULL: none */
    bool is_cold;
    bool is_kept; /* the inputs cannot be evicted from the page cache */
} files_job;

static bool prepare(void *user)
{
    files_job *job = user;
    for (int i = 0; i < 2 && job->what->inputs[i]; i++)
        if (!job->is_cold)
            bench_file_warm(job->what->inputs[i]);
        else if (!bench_file_cool(job->what->inputs[i]))
            job->is_kept = true;
    if (job->output)
        unlink(job->output);
    return true;
}

static bool run(void *user)
{
    const files_job *job = user;
    return bench_process_run(job->tml, job->words) == 0;
}

/* Splits words at spaces, in text, and replaces their placeholders. Returns the number of words. */
static uint32_t split(char *text, char **words)
{
    static char iso[32], iso8[32];
    uint32_t count = 0;
    snprintf(iso, sizeof iso, "%.9g", bench_field_iso(BENCH_GYROID, TML_F32));
    snprintf(iso8, sizeof iso8, "%.9g", bench_field_iso(BENCH_GYROID, TML_U8));
    for (char *word = strtok(text, " "); word && count < MAX_WORDS; word = strtok(NULL, " "))
        words[count++] = strcmp(word, "$iso") == 0    ? iso
                         : strcmp(word, "$iso8") == 0 ? iso8
                         : strcmp(word, "$vtk") == 0  ? (char *)(uintptr_t)VTK_SURFACE
                                                      : word;
    return count;
}

/* The options that apply to all commands, after the others. */
static void add_common(const cli_common *common, char **words, uint32_t count)
{
    static const char *const backends[] = {NULL, "cpu", "vulkan", "gl"};
    static const char *const paths[] = {NULL, "integer", "float", "float-packed", "packed"};
    static char threads[32], backend[32], memory[64], path[32];
    if (common->threads) {
        snprintf(threads, sizeof threads, "--threads=%llu", (unsigned long long)common->threads);
        words[count++] = threads;
    }
    if (backends[common->backend]) {
        snprintf(backend, sizeof backend, "--backend=%s", backends[common->backend]);
        words[count++] = backend;
    }
    if (common->gl_path) {
        snprintf(path, sizeof path, "--gl-path=%s", paths[common->gl_path]);
        words[count++] = path;
    }
    if (common->no_cache)
        words[count++] = (char *)(uintptr_t) "--no-cache";
    if (common->device_memory) {
        snprintf(memory, sizeof memory, "--device-memory=%llu",
                 (unsigned long long)common->device_memory);
        words[count++] = memory;
    }
    if (common->device) {
        words[count++] = (char *)(uintptr_t) "--device";
        words[count++] = (char *)(uintptr_t)common->device;
    }
    words[count] = NULL;
}

static uint64_t size_of(const char *path)
{
    struct stat info;
    return path && stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

/* ---- a row ----------------------------------------------------------------------------------- */

enum { OURS, CAT, PEERS, MAX_PROGRAMS = PEERS + MAX_PEERS };

/* A program's two jobs: warm and cold. */
typedef struct files_pair {
    files_job jobs[2];
    char text[512]; /* of the words */
    const char *name;
} files_pair;

static void make_pair(bench_session *session, const files_case *what, const char *words,
                      const char *output, const char *name, files_pair *pair)
{
    files_job *warm = &pair->jobs[0], *cold = &pair->jobs[1];
    pair->name = name;
    *warm = (files_job){.tml = session->tml, .what = what, .output = output};
    snprintf(pair->text, sizeof pair->text, "%s", words);
    uint32_t count = split(pair->text, warm->words);
    warm->words[count] = NULL;
    if (!output && what->output) /* a peer's, by its last word */
        warm->output = warm->words[count - 1];
    *cold = *warm;
    cold->is_cold = true;
}

/* Reads the inputs and writes as many bytes as the command: cat, twice. */
static void make_cat(bench_session *session, const files_case *what, files_pair *pair)
{
    static char script[256];
    snprintf(script, sizeof script, "cat %s %s >/dev/null%s%s%s", what->inputs[0],
             what->inputs[1] ? what->inputs[1] : "", what->output ? " && cat " : "",
             what->output ? what->output : "", what->output ? " >cat.out" : "");
    make_pair(session, what, "sh -c", "cat.out", "cat", pair);
    for (int i = 0; i < 2; i++) {
        pair->jobs[i].words[2] = script;
        pair->jobs[i].words[3] = NULL;
    }
}

static void print_pair(bench_session *session, const files_pair *pair, const bench_job *jobs,
                       const bench_job *cat, const files_job *cold_cat)
{
    const files_case *what = pair->jobs[0].what;
    double warm = jobs[0].time.median_s, cat_warm = cat[0].time.median_s;
    uint64_t bytes =
        size_of(what->inputs[0]) + size_of(what->inputs[1]) + size_of(pair->jobs[0].output);
    bench_row(session, pair->name, TML_OK,
              (const double[]){pair->jobs[1].is_kept ? NAN : jobs[1].time.median_s, warm,
                               jobs[0].time.min_s, jobs[0].time.runs, (double)bytes,
                               (double)bytes / warm, cold_cat->is_kept ? NAN : cat[1].time.median_s,
                               cat_warm, warm / cat_warm});
}

/* The first line that a program wrote to stderr. */
static const char *complaint(void)
{
    static char text[256];
    FILE *file = fopen("stderr.txt", "r");
    if (!file || !fgets(text, sizeof text, file))
        snprintf(text, sizeof text, "it printed nothing");
    if (file)
        fclose(file);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* Runs our command once, which makes the output that cat copies. Runs the peers, to find those that
 * are installed. */
static tml_status try_programs(bench_session *session, const files_case *what, files_pair *pairs,
                               uint32_t *count)
{
    files_job *ours = &pairs[OURS].jobs[0];
    prepare(ours);
    int code = bench_process_run(session->tml, ours->words);
    if (tml_is_cancelled(session->tml))
        return TML_ERROR_CANCELLED;
    if (code == CLI_USAGE) /* an earlier trommel */
        return tml_error(session->tml, TML_ERROR_UNSUPPORTED, "%s", complaint());
    if (code != 0 || (what->output && size_of(what->output) == 0))
        return tml_error(session->tml, TML_ERROR_INTERNAL, "%s: %s failed: %s", what->name,
                         ours->words[0], complaint());
    *count = PEERS;
    for (int i = 0; i < MAX_PEERS && what->peers[i].name; i++) {
        files_pair *pair = &pairs[*count];
        char name[64];
        make_pair(session, what, what->peers[i].words, NULL, NULL, pair);
        code = bench_process_run(session->tml, pair->jobs[0].words);
        if (tml_is_cancelled(session->tml))
            return TML_ERROR_CANCELLED;
        snprintf(name, sizeof name, "... by %s", what->peers[i].name);
        snprintf(pair->text + sizeof pair->text - sizeof name, sizeof name, "%s", name);
        pair->name = pair->text + sizeof pair->text - sizeof name;
        *count += code == 0;
    }
    return TML_OK;
}

static void measure(bench_session *session, const files_args *args, const char *command,
                    const files_case *what)
{
    static files_pair pairs[MAX_PROGRAMS];
    bench_job jobs[2 * MAX_PROGRAMS];
    char words[512];
    uint32_t count = 0;
    if (!bench_begins(&session->pace, what->name))
        return;
    memset(pairs, 0, sizeof pairs);
    snprintf(words, sizeof words, "trommel %s", what->words);
    make_pair(session, what, words, what->output, what->name, &pairs[OURS]);
    for (int i = 0; i < 2; i++) {
        char **own = pairs[OURS].jobs[i].words;
        uint32_t own_count = 0;
        while (own[own_count])
            own_count++;
        own[0] = (char *)(uintptr_t)command;
        add_common(&args->bench.common, own, own_count);
    }
    make_cat(session, what, &pairs[CAT]);
    tml_status status = try_programs(session, what, pairs, &count);
    for (uint32_t i = 0; i < 2 * count; i++)
        jobs[i] = (bench_job){
            .name = what->name, .run = run, .before = prepare, .user = &pairs[i / 2].jobs[i % 2]};
    if (!status && !bench_run(jobs, 2 * count, &session->pace))
        status = tml_is_cancelled(session->tml)
                     ? TML_ERROR_CANCELLED
                     : tml_error(session->tml, TML_ERROR_INTERNAL, "%s: a program failed: %s",
                                 what->name, complaint());
    if (status)
        bench_row(session, what->name, status, NULL);
    for (uint32_t i = 0; !status && i < count; i++)
        if (i != CAT)
            print_pair(session, &pairs[i], jobs + 2 * i, jobs + 2 * CAT, &pairs[CAT].jobs[1]);
    for (uint32_t i = 0; i < count; i++)
        if (pairs[i].jobs[0].output)
            unlink(pairs[i].jobs[0].output);
}

/* The absolute path of the trommel next to this program, or of the one that was named. */
static bool find_command(const files_args *args, char path[PATH_MAX])
{
    char self[PATH_MAX];
    if (args->command)
        return realpath(args->command, path) != NULL;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return false;
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash || (size_t)(slash - self) + sizeof "/trommel" > sizeof self)
        return false;
    strcpy(slash, "/trommel");
    return realpath(self, path) != NULL;
}

static int run_files(void *user, char **operands, uint32_t operand_count)
{
    files_args *args = user;
    static bench_session session;
    char command[PATH_MAX], folder[PATH_MAX];
    const cli_common wanted = args->bench.common;
    (void)operands, (void)operand_count;
    if (!find_command(args, command))
        return cli_error("there is no trommel to measure: name it by --command");
    args->bench.common.backend = TML_ENGINE_CPU; /* inputs are made on the host */
    args->bench.common.device = NULL;
    if (!bench_open(&session, &args->bench, "files", columns))
        return session.code;
    args->bench.common = wanted;
    if (!bench_folder_enter(args->folder, folder, sizeof folder)) {
        session.code = cli_error("cannot make a folder in %s: %s",
                                 args->folder ? args->folder : "TMPDIR", strerror(errno));
        return bench_close(&session);
    }
    tml_status status = make_inputs(session.tml, args->side);
    bench_fail(&session, status);
    bench_title(&session, "%s, N %llu, in %s", command, (unsigned long long)args->side, folder);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        measure(&session, args, command, &cases[i]);
    bench_folder_leave(folder);
    return bench_close(&session);
}

const cli_command bench_cmd_files = {
    {"files", "", "Measures whole commands from files to files, beside cat and installed programs",
     "Each command is run on generated files that are in the page cache (warm) and that are not "
     "(cold; - where the file system keeps them there), in turn with cat, which reads the same "
     "bytes and writes as many, and with what is installed of ImageMagick, assimp and VTK (for "
     "Python), which make something similar. Outputs are written to the page cache, by all alike.",
     "trommel-bench files --side 512 --threads 2\n"
     "  volumes of 512^3, pictures of 7680 x 4320, on two threads\n"
     "trommel-bench files --command build/old/bin/trommel\n"
     "  another trommel\n",
     files_options, .without = OPT_MEMORY},
    .args_size = sizeof(files_args),
    .run = run_files};
