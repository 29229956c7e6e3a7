/* Drives trommel-mpi under mpirun: several processes make the file that one makes, bit for bit, and
 * where one of them fails, its message is the job's, and there is no file. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>

#include <trommel/files.h>

#include "test.h"

#include "folder.h"

enum { TEXT_MAX = 1 << 16 };

static char messages[TEXT_MAX], printed[TEXT_MAX]; /* of the latest run */

/* Runs a program, or as many processes of the other, by the shell; returns the exit code. */
static int run(int ranks, const char *words)
{
    char line[4096];
    if (ranks)
        snprintf(line, sizeof line, "%s -n %d %s %s >%s 2>%s </dev/null", getenv("TML_MPIRUN"),
                 ranks, getenv("TML_CLI_MPI"), words, in_folder("stdout.txt"),
                 in_folder("stderr.txt"));
    else
        snprintf(line, sizeof line, "%s %s >%s 2>%s </dev/null", getenv("TML_CLI"), words,
                 in_folder("stdout.txt"), in_folder("stderr.txt"));
    int status = system(line);
    test_read_text(in_folder("stdout.txt"), printed, sizeof printed);
    test_read_text(in_folder("stderr.txt"), messages, sizeof messages);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool same_files(const char *one, const char *many)
{
    return test_same_files(in_folder(one), in_folder(many));
}

/* What the summary counts, as JSON: cells, vertices, triangles, components, parts. Not whether the
 * mesh is closed, its area and volume, which shares do not tell. */
static char *counts_of_summary(void)
{
    static const char *const measures[] = {"  \"closed\": ", "  \"area\": ", "  \"volume\": "};
    char *from = strstr(printed, "\"active_cells\""), *to = strstr(printed, "\"stages\"");
    char *counts = CHECK(from && to) ? strndup(from, (size_t)(to - from)) : strdup("");
    for (int i = 0; i < 3; i++) {
        char *line = strstr(counts, measures[i]), *end = line ? strchr(line, '\n') : NULL;
        if (end)
            memmove(line, end + 1, strlen(end + 1) + 1);
    }
    return counts;
}

/* The same command, by one process and by several. words: with %s for the input's path. */
static void alike_of(const char *input, int ranks, const char *words, const char *ending)
{
    char arguments[2048], line[2560], one[32], many[32];
    snprintf(one, sizeof one, "one.%s", ending);
    snprintf(many, sizeof many, "many.%s", ending);
    unlink(in_folder(one));
    unlink(in_folder(many));
    snprintf(arguments, sizeof arguments, words, input, input);
    snprintf(line, sizeof line, "surface %s --json -o %s", arguments, in_folder(one));
    if (!CHECK_EQ_U64(run(0, line), 0))
        printf("  (%s: %s)\n", line, messages);
    char *counts = counts_of_summary();
    snprintf(line, sizeof line, "surface %s --json -o %s", arguments, in_folder(many));
    if (!CHECK_EQ_U64(run(ranks, line), 0))
        printf("  (%d: %s: %s)\n", ranks, line, messages);
    if (!CHECK(same_files(one, many)))
        printf("  (%d processes: %s)\n", ranks, arguments);
    char *joined = counts_of_summary();
    if (!CHECK_STR(joined, counts))
        printf("  (%d processes: %s)\n", ranks, arguments);
    free(joined);
    free(counts);
    /* One process speaks, and no file is left over. */
    char *more = strstr(printed, "\"vertices\"");
    CHECK(more && printed[0] == '{' && printed[strlen(printed) - 1] == '\n');
    CHECK(strstr(printed + 1, "\n{") == NULL);
}

/* Waves that cross every layer. */
enum { NX = 21, NY = 17, NZ = 40 };
static int phase; /* of the waves: none like another */
static void write_waves(const char *name, int layers)
{
    static uint8_t samples[NX * NY * NZ];
    for (int z = 0, i = 0; z < layers; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++, i++)
                samples[i] =
                    (uint8_t)(100 + ((x * x + 3 * y * z + 7 * z) % 37) - 2 * ((x + z + phase) % 9));
    write_file(name, samples, (size_t)(NX * NY * layers));
}

TEST(files_are_those_of_one_process)
{
    alike_of(test_data("volumes/fuel_crop.nii.gz"), 1, "%s --iso 30", "ply");
    alike_of(test_data("volumes/fuel_crop.nii.gz"), 4, "%s --iso 30,60 --normals sobel --caps",
             "ply");
    alike_of(test_data("volumes/ct_lung_small.mha"), 2, "%s --iso=-500 --attribute %s --flip",
             "vtp");
    alike_of(test_data("volumes/brain1_label.nrrd"), 4, "%s --labels 1,2,3 --caps", "vtp");
    static const char *const endings[] = {"ply", "vtp", "stl", "obj", "glb"};
    for (int i = 0; i < 5; i++) /* shared boundaries: a share looks far into its neighbours */
        alike_of(test_data("volumes/brain1_label.nrrd"), 2 + i % 3,
                 i % 2 ? "%s --labels all --smooth 5 --caps" : "%s --labels 1 --smooth 0",
                 endings[i]);
    alike_of(test_data("volumes/brain1_label.nrrd"), 3, "%s --labels all --quads", "ply");
    alike_of(test_data("volumes/brain1_label.nrrd"), 2, "%s --labels all --quads --caps", "obj");
    alike_of(test_data("volumes/ct_lung_small.mha"), 4, "%s --iso=-500,0", "stl");
}

TEST(files_that_rank_0_writes)
{
    alike_of(test_data("volumes/EMD-3197.map"), 2, "%s --iso 1 --soup", "glb");
    alike_of(test_data("volumes/ct_lung_small.mha"), 4, "%s --iso=-500 --largest --drop-degenerate",
             "ply");
    alike_of(test_data("volumes/fuel_crop.nii.gz"), 2, "%s --iso 30,60", "obj");
}

/* The names of the stages, one after another. */
static char *stages_of_summary(void)
{
    static char names[TEXT_MAX];
    size_t size = 0;
    for (char *at = strstr(printed, "\"stages\""); at && (at = strstr(at, "\"name\": "));) {
        size_t length = strcspn(++at, "\n");
        memcpy(names + size, at, length);
        size += length;
    }
    names[size] = '\0';
    return names;
}

/* So that one process and two can be compared. What several refuse, one does as though there were
 * no job. */
TEST(one_process_goes_the_way_of_several)
{
    static const char *const ways[] = {"%s --iso 30 --caps", "%s --iso 30 --largest",
                                       "%s --iso 30,60 --soup", "%s --labels 50"};
    static const char *const endings[] = {"ply", "glb", "stl", "obj"};
    for (int i = 0; i < 4; i++) {
        alike_of(test_data("volumes/fuel_crop.nii.gz"), 2, ways[i], endings[i]);
        char *several = strdup(stages_of_summary());
        alike_of(test_data("volumes/fuel_crop.nii.gz"), 1, ways[i], endings[i]);
        CHECK(strstr(several, "wait for samples") != NULL);
        CHECK_STR(stages_of_summary(), several);
        free(several);
    }
    alike_of(test_data("dam_break_4732.vtk"), 1, "%s --resolution 40", "vtp");
    alike_of(test_data("volumes/fuel_crop.nii.gz"), 1, "%s", "ply");
    alike_of(test_data("volumes/fuel_crop.nii.gz"), 1, "%s --iso 30 --simplify 0.1", "ply");
    char line[1024];
    snprintf(line, sizeof line, "surface %s --iso 30 -o %s", test_data("volumes/fuel_crop.nii.gz"),
             "/nowhere/a.ply");
    CHECK_EQ_U64(run(1, line), 1);
    CHECK(strstr(messages, "trommel: surface: ") != NULL && strstr(messages, "rank") == NULL);
    write_waves("w0_21x17x40_uint8.raw", NZ);
    snprintf(line, sizeof line, "surface %s --iso 110 -q -o %s --frames 0-0",
             in_folder("w%d_21x17x40_uint8.raw"), in_folder("many%d.ply"));
    CHECK_EQ_U64(run(1, line), 0);
    remove_files();
}

TEST(points_become_a_field_in_shares)
{
    alike_of(test_data("dam_break_4732.vtk"), 2, "%s --resolution 60 --normals sobel", "ply");
    alike_of(test_data("dam_break_4732.vtk"), 4, "%s --resolution 60 --caps --flip", "stl");
    char carry[8000], line[1024], *to = carry;
    to += snprintf(to, 100, "x y z vx vy vz r g b heat\n");
    for (int i = 0; i < 125; i++)
        to += snprintf(to, 100, "%d %d %d 1 %d 2 255 %d 51 %d\n", i % 5, i / 5 % 5, i / 25, i % 7,
                       i, i % 11);
    write_file("carry.xyz", carry, (size_t)(to - carry));
    static const char *const ways[][2] = {{"ply", ""}, {"vtp", "--soup"}, {"glb", "--largest"}};
    for (int i = 0; i < 3; i++) {
        snprintf(line, sizeof line, "%%s --cell 0.5 --attribute velocity,color,heat %s",
                 ways[i][1]);
        alike_of(in_folder("carry.xyz"), 2 + i, line, ways[i][0]);
    }
    snprintf(line, sizeof line, "surface %s --index x.tmx -o %s", test_data("dam_break_4732.vtk"),
             in_folder("new.ply"));
    CHECK_EQ_U64(run(2, line), 2);
    CHECK(strstr(messages, "--index is for volumes") != NULL);
    remove_files();
}

TEST(frames_go_round)
{
    enum { FRAMES = 5 };
    char line[1024], one[32], many[32], name[64];
    for (phase = 0; phase < FRAMES; phase++) {
        snprintf(name, sizeof name, "w%d_21x17x40_uint8.raw", phase);
        write_waves(name, NZ);
    }
    phase = 0;
    for (int ranks = 0; ranks <= 4; ranks += 2) {
        snprintf(line, sizeof line, "surface %s --iso 110 -q -o %s",
                 in_folder("w%d_21x17x40_uint8.raw"),
                 in_folder(ranks ? "many%d.ply" : "one%d.ply"));
        if (!CHECK_EQ_U64(run(ranks, line), 0))
            printf("  (%d: %s: %s)\n", ranks, line, messages);
        for (int i = 0; i < FRAMES && ranks; i++) {
            snprintf(one, sizeof one, "one%d.ply", i);
            snprintf(many, sizeof many, "many%d.ply", i);
            CHECK(same_files(one, many));
            unlink(in_folder(many));
        }
    }
    remove_files();
}

/* What differs from run to run, lines with times and memory, is taken out. */
static void drop_times(char *text)
{
    static const char *const fields[] = {"\"seconds\"", "\"peak_memory_bytes\"", "per_second"};
    char *to = text;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n") + 1;
        bool is_kept = true;
        for (int i = 0; i < 3; i++) {
            const char *found = strstr(line, fields[i]);
            is_kept = is_kept && !(found && found < line + length);
        }
        if (is_kept) {
            memmove(to, line, length);
            to += length;
        }
        line += length;
    }
    *to = '\0';
}

/* Pictures get brighter, each by its own amount, so that the exposure follows; the last round has
 * none for some. */
TEST(pictures_go_round_and_their_exposure_follows)
{
    enum { FRAMES = 7, WIDTH = 24, HEIGHT = 16, HEADER = 16 };
    static char expected[TEXT_MAX];
    static const char *const ways[] = {"--json --fps 2", "--fps 2 --meter spot",
                                       "--json --no-adapt --clip 5,95"};
    char line[1024], name[32], one[32];
    struct {
        char header[HEADER];
        float pixels[WIDTH * HEIGHT];
    } picture = {.header = "Pf\n24 16\n-1.000"};
    picture.header[HEADER - 1] = '\n';
    for (int f = 0; f < FRAMES; f++) {
        for (int i = 0; i < WIDTH * HEIGHT; i++)
            picture.pixels[i] = (float)((i * 37 + f * f * 11) % 101 + 1) * (float)(1 << f) / 64;
        snprintf(name, sizeof name, "p%d.pfm", f);
        write_file(name, &picture, sizeof picture);
    }
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
        for (int ranks = 0; ranks <= 4; ranks += 2) {
            snprintf(line, sizeof line, "exposure %s %s --backend cpu -o %s", in_folder("p%d.pfm"),
                     ways[w], in_folder("out%d.png"));
            if (!CHECK_EQ_U64(run(ranks, line), 0))
                printf("  (%d: %s: %s)\n", ranks, line, messages);
            drop_times(printed);
            if (ranks == 0)
                strcpy(expected, printed);
            else if (!CHECK(strcmp(expected, printed) == 0))
                printf("  (%d: %s: %s)\n", ranks, line, printed);
            for (int f = 0; f < FRAMES; f++) {
                snprintf(name, sizeof name, "out%d.png", f);
                snprintf(one, sizeof one, "one%d.png", f);
                if (ranks == 0)
                    CHECK(rename(in_folder(name), in_folder(one)) == 0);
                else
                    CHECK(same_files(one, name) && unlink(in_folder(name)) == 0);
            }
        }
    /* The second process's picture is none. */
    write_file("p1.pfm", "Pf\n", 3);
    CHECK_EQ_U64(run(2, line), 1);
    if (!CHECK(strstr(messages, "trommel: rank 1: exposure: ") && strstr(messages, "p1.pfm")))
        printf("  (%s)\n", messages);
    CHECK(access(in_folder("out1.png"), F_OK) != 0 && access(in_folder("out3.png"), F_OK) != 0);
    remove_files();
}

TEST(shares_follow_an_index_and_some_are_empty)
{
    char line[1024];
    write_waves("waves_21x17x40_uint8.raw", NZ);
    snprintf(line, sizeof line, "index %s", in_folder("waves_21x17x40_uint8.raw"));
    CHECK_EQ_U64(run(0, line), 0);
    snprintf(line, sizeof line,
             "%%s --iso 110 --index %s --region :,:,3:", in_folder("waves_21x17x40_uint8.raw.tmx"));
    alike_of(in_folder("waves_21x17x40_uint8.raw"), 4, line, "ply");
    write_waves("waves_21x17x3_uint8.raw", 3);
    alike_of(in_folder("waves_21x17x3_uint8.raw"), 4, "%s --iso 110 --soup", "ply");
    remove_files();
}

/* The same words for one process, which has the array whole, for one that takes it in pieces, and
 * for three. */
static void arrays_alike(const char *command, const char *options)
{
    static char expected[TEXT_MAX];
    char line[1024];
    bool has_file = strcmp(command, "reduce") != 0;
    for (int i = 0; i < 3; i++) {
        snprintf(line, sizeof line, "%s %s %s %s %s %s", command, in_folder("in.npy"), options,
                 i == 1 ? "--memory 64K" : "", has_file ? "-q -o" : "",
                 has_file ? in_folder(i ? "many.npy" : "one.npy") : "");
        if (!CHECK_EQ_U64(run(i == 2 ? 3 : 0, line), 0))
            printf("  (%s: %s)\n", line, messages);
        if (i == 0)
            strcpy(expected, printed);
        else if (!CHECK(has_file ? same_files("one.npy", "many.npy")
                                 : strcmp(expected, printed) == 0))
            printf("  (%s)\n", line);
    }
}

TEST(arrays_in_shares)
{
    enum { COUNT = 100003 };
    static int32_t whole[COUNT];
    static float real[COUNT];
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml));
    for (int i = 0; i < COUNT; i++) {
        whole[i] = (int32_t)((uint32_t)i * 2654435761u >> 8) - (1 << 23);
        real[i] = (float)(whole[i] % 1000); /* whose sums are exact */
    }
    tml_array array = {.data = whole, .size = sizeof whole, .type = TML_I32, .count = COUNT};
    CHECK_OK(tml, tml_array_save(tml, in_folder("in.npy"), &array));
    arrays_alike("reduce", "");
    arrays_alike("compact", "--at-least 5000000 --indices");
    arrays_alike("scan", "");
    arrays_alike("scan", "--start 1000");
    arrays_alike("scan", "--fold max --inclusive --start 4000000");
    real[COUNT - 7] = -1e6f;
    array = (tml_array){.data = real, .size = sizeof real, .type = TML_F32, .count = COUNT};
    CHECK_OK(tml, tml_array_save(tml, in_folder("in.npy"), &array));
    arrays_alike("reduce", "");
    arrays_alike("compact", "--at-most 10");
    arrays_alike("scan", "--fold min");
    remove_files();
    tml_close(tml);
}

static bool has_output(const char *name)
{
    return access(in_folder(name), F_OK) == 0;
}

TEST(a_process_that_fails_ends_the_job)
{
    /* Data that are cut short: those who read only the beginning see nothing of it. */
    enum { SIDE = 160 };
    static uint8_t samples[SIDE * SIDE * SIDE];
    for (size_t i = 0; i < sizeof samples; i++)
        samples[i] = (uint8_t)(i * 2654435761u >> 13);
    gzFile zipped = gzopen(in_folder("cut_160x160x160_uint8.raw.gz"), "wb1");
    CHECK(gzwrite(zipped, samples, sizeof samples) > 0 && gzclose(zipped) == Z_OK);
    struct stat info;
    CHECK(stat(in_folder("cut_160x160x160_uint8.raw.gz"), &info) == 0 &&
          truncate(in_folder("cut_160x160x160_uint8.raw.gz"), info.st_size * 4 / 5) == 0);
    write_file("kept.ply", "kept", 4);
    char line[1024];
    snprintf(line, sizeof line, "surface %s --iso 128 -o %s",
             in_folder("cut_160x160x160_uint8.raw.gz"), in_folder("kept.ply"));
    CHECK_EQ_U64(run(4, line), 1);
    if (!CHECK(strstr(messages, "trommel: rank 3: surface: ") && strstr(messages, "cut short")))
        printf("  (%s)\n", messages);
    struct stat kept;
    CHECK(stat(in_folder("kept.ply"), &kept) == 0 && kept.st_size == 4);
    CHECK_EQ_U64(file_count(), 4); /* the input, kept.ply, stdout.txt, stderr.txt */

    /* A failure that all have is told once. */
    snprintf(line, sizeof line, "surface %s --iso 1 -o %s", in_folder("none.nrrd"),
             in_folder("new.ply"));
    CHECK_EQ_U64(run(2, line), 1);
    const char *first = strstr(messages, "trommel: surface: ");
    CHECK(first && strstr(first, "none.nrrd") && !strstr(first + 1, "trommel: "));
    CHECK(!has_output("new.ply"));
    remove_files();
}

/* Only rank 0 finds out, when all surfaces are made. */
TEST(a_file_that_cannot_be_written_leaves_nothing)
{
    char line[1024];
    write_waves("waves_21x17x40_uint8.raw", NZ);
    CHECK(mkdir(in_folder("new.ply"), 0777) == 0);
    snprintf(line, sizeof line, "surface %s --iso 110 -o %s", in_folder("waves_21x17x40_uint8.raw"),
             in_folder("new.ply"));
    CHECK_EQ_U64(run(3, line), 1);
    if (!CHECK(strstr(messages, "trommel: rank 0: surface: ") && strstr(messages, "is a folder")))
        printf("  (%s)\n", messages);
    CHECK_EQ_U64(file_count(), 4); /* the input, the folder, stdout.txt, stderr.txt */
    rmdir(in_folder("new.ply"));
    remove_files();
}

TEST(what_is_not_for_several_processes_says_so)
{
    char line[1024];
    snprintf(line, sizeof line, "info %s", test_data("volumes/fuel_crop.nii.gz"));
    CHECK_EQ_U64(run(2, line), 2);
    CHECK(strstr(messages, "trommel: info: is work for one process, 2 were started") != NULL);
    remove_files();
}

TEST(no_output_is_an_input_of_several_processes)
{
    char line[1024];
    write_waves("waves_21x17x40_uint8.raw", NZ);
    CHECK(symlink("waves_21x17x40_uint8.raw", in_folder("waves.ply")) == 0);
    snprintf(line, sizeof line, "surface %s --iso 110 -o %s", in_folder("waves_21x17x40_uint8.raw"),
             in_folder("waves.ply"));
    CHECK_EQ_U64(run(3, line), 2);
    const char *first = strstr(messages, " is an input, which would be lost");
    if (!CHECK(first && !strstr(first + 2, " is an input")))
        printf("  (%s)\n", messages);
    struct stat kept;
    CHECK(stat(in_folder("waves_21x17x40_uint8.raw"), &kept) == 0 && kept.st_size == NX * NY * NZ);
    remove_files();
}

int main(int argc, char **argv)
{
    if (!getenv("TML_CLI") || !getenv("TML_CLI_MPI") || !getenv("TML_MPIRUN"))
        return 77;
    return test_main_in_folder("mpi", argc, argv);
}
