/* Drives the real program (its path in TML_CLI): what it prints, writes and returns. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <trommel/image.h>
#include <trommel/kernel_math.h>
#include <trommel/meshes.h>
#include <trommel/pictures.h>

#include "test.h"

extern char **environ;

/* ---- running the program --------------------------------------------------------------------- */

enum { MAX_WORDS = 40, OUTPUT_SIZE = 1 << 20 };

static char folder[] = "/tmp/trommel-cli-XXXXXX";
static char out[OUTPUT_SIZE], err[OUTPUT_SIZE]; /* of the latest run */

/* A path in the test's folder, good until 32 more were made. */
static const char *in_folder(const char *name)
{
    static char paths[32][128];
    static unsigned next;
    char *path = paths[next++ % 32];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* Starts the program on the words of line, which blanks divide. */
static pid_t start(const char *line)
{
    char *words[MAX_WORDS + 1] = {0}, copy[4096];
    int count = 0;
    pid_t pid = -1;
    snprintf(copy, sizeof copy, "%s", line);
    words[count++] = getenv("TML_CLI");
    for (char *word = strtok(copy, " "); word && count < MAX_WORDS; word = strtok(NULL, " "))
        words[count++] = word;

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, in_folder("stdout.txt"),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, 2, in_folder("stderr.txt"),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (posix_spawn(&pid, words[0], &files, NULL, words, environ) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&files);
    return pid;
}

/* Waits; the exit status, or 128 + the signal that ended it. */
static int finish(pid_t pid)
{
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    test_read_text(in_folder("stdout.txt"), out, OUTPUT_SIZE);
    test_read_text(in_folder("stderr.txt"), err, OUTPUT_SIZE);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TML_FORMAT(1, 2) static int run(const char *format, ...)
{
    char line[4096];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    return finish(start(line));
}

/* A run that must end with the status code; shows its messages when it does not. Leaves the test
 * where the build lacks a library that the run needs. */
#define EXPECT(code, ...)                                                                          \
    do {                                                                                           \
        if (!expect(__FILE__, __LINE__, (code), run(__VA_ARGS__)))                                 \
            SKIP("%.*s", (int)strcspn(lacked(), "\n"), lacked());                                  \
    } while (0)
static const char *lacked(void)
{
    const char *text = strstr(err, "this library was built without");
    return text ? text : "";
}

/* False: what the run needs is not in this build. */
static bool expect(const char *file, int line, int expected, int code)
{
    if (code != expected && *lacked())
        return false;
    if (code != expected)
        test_fail(file, line, "exit status %d, not %d: %s", code, expected, err);
    return true;
}

static bool exists(const char *name)
{
    return access(in_folder(name), F_OK) == 0;
}

static bool same_files(const char *a, const char *b)
{
    return CHECK(test_same_files(in_folder(a), in_folder(b)));
}

static off_t size_of(const char *name)
{
    struct stat file;
    return stat(in_folder(name), &file) == 0 ? file.st_size : -1;
}

/* ---- a strict JSON reader -------------------------------------------------------------------- */

static const char *skip_blank(const char *s)
{
    return s + strspn(s, " \t\r\n");
}

static const char *json_value(const char *s, int depth);

static const char *json_string(const char *s)
{
    if (*s++ != '"')
        return NULL;
    while (*s != '"') {
        if ((unsigned char)*s < 0x20)
            return NULL;
        if (*s == '\\') {
            s++;
            if (*s == 'u') {
                if (strspn(s + 1, "0123456789abcdefABCDEF") < 4)
                    return NULL;
                s += 4;
            } else if (!strchr("\"\\/bfnrt", *s) || !*s) {
                return NULL;
            }
        }
        s++;
    }
    return s + 1;
}

static const char *json_digits(const char *s)
{
    size_t count = strspn(s, "0123456789");
    return count ? s + count : NULL;
}

static const char *json_number(const char *s)
{
    s += *s == '-';
    if (s[0] == '0' && s[1] >= '0' && s[1] <= '9')
        return NULL;
    s = json_digits(s);
    if (s && *s == '.')
        s = json_digits(s + 1);
    if (s && (*s == 'e' || *s == 'E')) {
        s++;
        s = json_digits(s + (*s == '+' || *s == '-'));
    }
    return s;
}

static const char *json_members(const char *s, int depth, char end)
{
    s = skip_blank(s + 1);
    if (*s == end)
        return s + 1;
    for (;;) {
        if (end == '}') {
            s = json_string(skip_blank(s));
            s = s ? skip_blank(s) : NULL;
            if (!s || *s++ != ':')
                return NULL;
        }
        s = json_value(s, depth + 1);
        s = s ? skip_blank(s) : NULL;
        if (!s)
            return NULL;
        if (*s == end)
            return s + 1;
        if (*s++ != ',')
            return NULL;
    }
}

static const char *json_value(const char *s, int depth)
{
    static const char *const words[] = {"true", "false", "null"};
    s = skip_blank(s);
    if (depth > 16)
        return NULL;
    if (*s == '{' || *s == '[')
        return json_members(s, depth, *s == '{' ? '}' : ']');
    if (*s == '"')
        return json_string(s);
    for (int i = 0; i < 3; i++)
        if (strncmp(s, words[i], strlen(words[i])) == 0)
            return s + strlen(words[i]);
    return json_number(s);
}

static bool is_json(const char *text)
{
    const char *end = json_value(text, 0);
    return end && *skip_blank(end) == '\0';
}

/* The number after the first "name": in the latest output; NaN when there is none. */
static double json_get(const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *found = strstr(out, key);
    return found ? strtod(found + strlen(key), NULL) : NAN;
}

/* The number after the last "name": in the latest output. */
static double json_get_last(const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *found = NULL;
    for (const char *at = out; (at = strstr(at, key)); at++)
        found = at;
    return found ? strtod(found + strlen(key), NULL) : NAN;
}

/* ---- data ------------------------------------------------------------------------------------ */

/* 255 inside a ball, falling off linearly through its surface: radius 10 samples, in 32^3. */
enum { BALL = 32 };

static uint8_t ball_at(int x, int y, int z)
{
    double dx = x - 15.5, dy = y - 15.5, dz = z - 15.5;
    double level = 128 + 20 * (10 - sqrt(dx * dx + dy * dy + dz * dz));
    return (uint8_t)(level < 0 ? 0 : level > 255 ? 255 : level);
}

static void write_file(const char *name, const void *header, size_t header_size, const void *data,
                       size_t size)
{
    FILE *file = fopen(in_folder(name), "wb");
    if (!CHECK(file != NULL))
        return;
    CHECK(header_size == 0 || fwrite(header, 1, header_size, file) == header_size);
    CHECK(fwrite(data, 1, size, file) == size);
    CHECK(fclose(file) == 0);
}

static const uint8_t *ball(bool inverted)
{
    static uint8_t samples[BALL * BALL * BALL];
    for (int i = 0; i < BALL * BALL * BALL; i++) {
        uint8_t value = ball_at(i % BALL, i / BALL % BALL, i / BALL / BALL);
        samples[i] = inverted ? (uint8_t)(255 - value) : value;
    }
    return samples;
}

static void make_ball(void)
{
    write_file("ball_32x32x32_uint8.raw", NULL, 0, ball(false), BALL * BALL * BALL);
}

/* A file of text in the folder. */
static const char *write_text(const char *name, const char *text)
{
    const char *path = in_folder(name);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    return path;
}

/* A NIfTI-1 volume of bytes with a scale. */
static void make_nifti(const char *name, const uint8_t *samples, float slope, float intercept)
{
    uint8_t header[352] = {0};
    int32_t size = 348;
    int16_t dims[8] = {3, BALL, BALL, BALL, 1, 1, 1, 1}, type = 2, bits = 8;
    float steps[8] = {1, 1, 1, 1, 1, 1, 1, 1}, offset = 352;
    memcpy(header, &size, 4);
    memcpy(header + 40, dims, sizeof dims);
    memcpy(header + 70, &type, 2);
    memcpy(header + 72, &bits, 2);
    memcpy(header + 76, steps, sizeof steps);
    memcpy(header + 108, &offset, 4);
    memcpy(header + 112, &slope, 4);
    memcpy(header + 116, &intercept, 4);
    memcpy(header + 344, "n+1", 4);
    write_file(name, header, sizeof header, samples, BALL * BALL * BALL);
}

/* Six times the signed volume that a binary STL encloses. */
static double stl_volume(const char *name)
{
    FILE *file = fopen(in_folder(name), "rb");
    uint32_t count = 0;
    double volume = 0;
    if (!file)
        return NAN;
    if (fseek(file, 80, SEEK_SET) != 0 || fread(&count, 4, 1, file) != 1)
        count = 0;
    for (uint32_t i = 0; i < count; i++) {
        float row[12];
        uint16_t attribute;
        if (fread(row, 4, 12, file) != 12 || fread(&attribute, 2, 1, file) != 1)
            break;
        const float *a = row + 3, *b = row + 6, *c = row + 9;
        volume += a[0] * ((double)b[1] * c[2] - (double)b[2] * c[1]) +
                  a[1] * ((double)b[2] * c[0] - (double)b[0] * c[2]) +
                  a[2] * ((double)b[0] * c[1] - (double)b[1] * c[0]);
    }
    fclose(file);
    return volume;
}

/* An NPY array of one dimension, version 1.0. */
static void make_npy(const char *name, const char *type, uint64_t count, const void *data,
                     size_t size)
{
    char header[128];
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    int length =
        snprintf(header + 10, sizeof header - 10,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRIu64 ",), }", type, count);
    header[10 + length] = ' ';
    header[127] = '\n';
    write_file(name, header, sizeof header, data, size);
}

static void write_grey(const char *name, uint32_t width, uint32_t height, const float *rows)
{
    char header[64];
    static float turned[64];
    for (uint32_t y = 0; y < height; y++) /* PFM begins at the bottom */
        memcpy(turned + (height - 1 - y) * width, rows + y * width, width * sizeof *rows);
    int size =
        snprintf(header, sizeof header, "Pf\n%" PRIu32 " %" PRIu32 "\n-1.0\n", width, height);
    write_file(name, header, (size_t)size, turned, (size_t)width * height * sizeof *turned);
}

/* The bytes of a file of the folder, at most OUTPUT_SIZE. */
static size_t read_bytes(const char *name, char *data)
{
    FILE *file = fopen(in_folder(name), "rb");
    size_t size = file ? fread(data, 1, OUTPUT_SIZE, file) : 0;
    if (file)
        fclose(file);
    return size;
}

/* The bytes of an NPY array's elements, at most size of them; returns how many. */
static size_t read_npy(const char *name, void *data, size_t size)
{
    uint8_t start_bytes[10];
    FILE *file = fopen(in_folder(name), "rb");
    size_t got = 0;
    if (file && fread(start_bytes, 1, 10, file) == 10 &&
        fseek(file, start_bytes[8] + 256 * start_bytes[9], SEEK_CUR) == 0)
        got = fread(data, 1, size, file);
    if (file)
        fclose(file);
    return got;
}

/* ---- the program ----------------------------------------------------------------------------- */

TEST(completions_are_scripts)
{
    EXPECT(0, "--completion bash");
    CHECK(strstr(out, "complete -F _trommel trommel") != NULL);
    CHECK(strstr(out, "none forward central sobel") != NULL);
    write_file("completion.bash", NULL, 0, out, strlen(out));
    char command[1200];
    if (access("/bin/bash", X_OK) == 0) {
        snprintf(command, sizeof command,
                 "/bin/bash -c 'source %s && COMP_WORDS=(trommel surface --nor) COMP_CWORD=2 && "
                 "_trommel && [ \"$COMPREPLY\" = --normals ]'",
                 in_folder("completion.bash"));
        CHECK(system(command) == 0);
        /* Files by the endings that an option or the operands take, in any case; all where there is
         * none. */
        static const char *const offered[][2] = {
            {"draw @", "m.PLY"},
            {"surface x --mask @", "v w.nrrd"},
            {"draw m.PLY -o @", "p.png"},
            {"compact @", "completion.bash,m.PLY,p.png,v w.nrrd"},
            {"reduce v@", "v w.nrrd"}};
        write_text("m.PLY", "");
        write_text("v w.nrrd", "");
        write_text("p.png", "");
        for (size_t i = 0; i < sizeof offered / sizeof offered[0]; i++) {
            snprintf(command, sizeof command,
                     "cd %s && /bin/bash -c 'source ./completion.bash && words=\"%s\" && read -r "
                     "-a COMP_WORDS <<<"
                     "\"trommel ${words%%@}\" && [ \"${words: -2}\" = v@ ] || COMP_WORDS+=(\"\"); "
                     "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _trommel; printf \"%%s\\n\" "
                     "\"${COMPREPLY[@]}\" | "
                     "grep -v std | sort | paste -sd, | grep -qx \"%s\"'",
                     folder, offered[i][0], offered[i][1]);
            if (!CHECK(system(command) == 0))
                printf("  (%s)\n", offered[i][0]);
        }
    }
    EXPECT(0, "--completion zsh");
    CHECK(strncmp(out, "#compdef trommel\n", 17) == 0);
    CHECK(strstr(out, ":index:_files -g \"(#i)*(.tmx)\"'") != NULL);
    EXPECT(0, "--completion fish");
    CHECK(strstr(out, "-l index -k -x -a '(__trommel_files .tmx)'") != NULL);
    EXPECT(2, "--completion tcsh");
}

/* A line in which "@" stands for the folder, "<" for input and ">" for output. */
static const char *fill_in(const char *line, const char *input, const char *output)
{
    static char filled[4096];
    size_t used = 0;
    for (; *line && used + 512 < sizeof filled; line++) {
        const char *piece = *line == '@' ? folder : *line == '<' ? input : output;
        if (strchr("@<>", *line))
            used += (size_t)snprintf(filled + used, sizeof filled - used, "%s", piece);
        else
            filled[used++] = *line;
    }
    filled[used] = '\0';
    return filled;
}

TEST(a_full_output_is_an_error)
{
    if (access("/dev/full", W_OK) != 0)
        SKIP("no /dev/full");
    char command[1200];
    snprintf(command, sizeof command, "'%s' --man >/dev/full 2>'%s'", getenv("TML_CLI"),
             in_folder("stderr.txt"));
    int status = system(command);
    test_read_text(in_folder("stderr.txt"), err, OUTPUT_SIZE);
    CHECK_EQ_I64(WEXITSTATUS(status), 1);
    CHECK(strstr(err, "cannot write the output") != NULL);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The same file under other names, all of which end as the name does. */
static int make_aliases(const char *name, char (*paths)[256])
{
    const char *ending = strrchr(name, '.'), *base = strrchr(folder, '/') + 1;
    char target[256];
    snprintf(target, sizeof target, "%s", in_folder(name));
    snprintf(paths[0], 256, "%s", target);
    snprintf(paths[1], 256, "%s/../%s/./%s", folder, base, name);
    snprintf(paths[2], 256, "%s/soft%s", folder, ending);
    snprintf(paths[3], 256, "%s/hard%s", folder, ending);
    snprintf(paths[4], 256, "%s/chain%s", folder, ending);
    unlink(paths[2]);
    unlink(paths[3]);
    unlink(paths[4]);
    CHECK(symlink(name, paths[2]) == 0);
    CHECK(link(target, paths[3]) == 0);
    CHECK(symlink(paths[2], paths[4]) == 0);
    return 5;
}

/* Every option of every command that names an output, once as each kind of input that the command
 * reads. */
TEST(no_output_is_an_input)
{
    static const struct {
        const char *input, *line; /* a file by that name is input and output */
    } cases[] = {
        {"v.ply", "surface < --iso 100 -o >"},
        {"v.stl", "surface @/other.nii --iso 100 --mask < -o >"},
        {"v.obj", "surface @/other.nii --iso 100 --attribute < -o >"},
        {"v.glb", "surface @/other.nii --iso 100 --index < -o >"},
        {"v.vtp", "surface @/other.nii < --iso 100 -o >"},
        {"v.png", "surface < --iso 100 --png >"},
        {"v.png", "surface < --iso 100 --debug-cells >"},
        {"v.ply", "surface < --iso 100 --slabs 4 -o >"},
        {"v.tmx", "index < -o >"},
        {"m.obj", "collide < @/other.obj --segments >"},
        {"m.obj", "collide @/other.obj < --segments >"},
        {"m.npy", "collide @/other.obj @/other.obj --pose < -o >"},
        {"m.csv", "collide < --self -o >"},
        {"m.json", "collide < --self -o >"},
        {"m.png", "collide < --self --png >"},
        {"m.png", "draw < -o >"},
        {"m.png", "draw @/other.obj --camera < -o >"},
        {"m.obj", "subdivide < --levels 1 -o >"},
        {"m.png", "subdivide < --levels 1 --png >"},
        {"p.pfm", "exposure < -o >"},
        {"p.svg", "exposure < --histogram >"},
        {"p.png", "exposure @/other.pfm --meter < -o >"},
        {"p_1.pfm", "mips < -o @/p.pfm"},
        {"a.npy", "compact < --at-least 1 -o >"},
        {"a.npy", "compact < --at-least 1 --memory 64 -o >"},
        {"a.npy", "scan < -o >"},
    };
    static char before[OUTPUT_SIZE], after[OUTPUT_SIZE];
    static const float ones[] = {1, 1};
    static const char one_triangle[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    make_nifti("other.nii", ball(false), 1, 0);
    write_text("other.obj", one_triangle);
    write_grey("other.pfm", 2, 1, ones);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *name = cases[i].input;
        char paths[5][256];
        switch (name[0]) {
        case 'v':
            make_nifti(name, ball(false), 1, 0);
            break;
        case 'm':
            write_text(name, one_triangle);
            break;
        case 'p':
            write_grey(name, 2, 1, ones);
            break;
        default:
            make_npy(name, "<f4", 2, ones, sizeof ones);
        }
        size_t size = read_bytes(name, before);
        int count = make_aliases(name, paths);
        for (int k = 0; k < count; k++) {
            const char *line = fill_in(cases[i].line, paths[0], paths[k]);
            if (!CHECK_EQ_I64(run("%s", line), 2) || !CHECK(strstr(err, "is an input, which")))
                printf("  line: %s\n  stderr: %s\n", line, err);
            CHECK(read_bytes(name, after) == size && memcmp(before, after, size) == 0);
        }
        for (int k = 0; k < count; k++)
            unlink(paths[k]);
    }
    /* Without --output, the index lies beside its volume. */
    make_nifti("v.nii", ball(false), 1, 0);
    CHECK(symlink("v.nii", in_folder("v.nii.tmx")) == 0);
    EXPECT(2, "index %s", in_folder("v.nii"));
    CHECK(strstr(err, "v.nii.tmx is an input") != NULL);
}

TEST(no_two_outputs_are_one_file)
{
    static const char *const lines[] = {
        "surface @/other.nii --iso 100 -o @/x.ply --png < --debug-cells >",
        "surface @/other.nii @/other.nii --iso 100 --png @/f_%02d.png --debug-cells @/f_%02d.png",
    };
    static const float ones[] = {1, 1};
    make_nifti("other.nii", ball(false), 1, 0);
    write_grey("other.pfm", 2, 1, ones);
    char same[256], up[256], target[256];
    snprintf(same, sizeof same, "%s", in_folder("same.png"));
    snprintf(up, sizeof up, "%s/../%s/same.png", folder, strrchr(folder, '/') + 1);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        EXPECT(2, "%s", fill_in(lines[i], same, same));
        CHECK(strstr(err, "are both") != NULL);
        EXPECT(2, "%s", fill_in(lines[i], same, up));
        CHECK(!exists("same.png") && !exists("x.ply") && !exists("f_00.png"));
    }
    write_file("same.png", NULL, 0, "old", 3); /* through a link, too, which is followed */
    snprintf(target, sizeof target, "%s", in_folder("to_same.png"));
    CHECK(symlink("same.png", target) == 0);
    EXPECT(2, "%s", fill_in(lines[0], same, target));
    CHECK(size_of("same.png") == 3);
    EXPECT(0, "surface %s --iso 100 --png %s --debug-cells %s -q", in_folder("other.nii"),
           in_folder("first.png"), in_folder("second.png"));
}

/* What a link leads to is written, tables like everything else. */
TEST(an_output_through_a_link_keeps_the_link)
{
    static const char *const names[] = {"linked.csv", "linked.obj"};
    struct stat info;
    write_text("triangle.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    for (int i = 0; i < 2; i++) {
        char link_name[64];
        snprintf(link_name, sizeof link_name, "to_%s", names[i]);
        write_file(names[i], NULL, 0, "", 0);
        CHECK(symlink(names[i], in_folder(link_name)) == 0);
    }
    EXPECT(0, "collide %s %s -q -o %s --segments %s", in_folder("triangle.obj"),
           in_folder("triangle.obj"), in_folder("to_linked.csv"), in_folder("to_linked.obj"));
    for (int i = 0; i < 2; i++) {
        char link_name[64];
        snprintf(link_name, sizeof link_name, "to_%s", names[i]);
        CHECK(lstat(in_folder(link_name), &info) == 0 && S_ISLNK(info.st_mode));
        CHECK(size_of(names[i]) > 0);
    }
}

/* ---- devices and info ------------------------------------------------------------------------ */

TEST(info_describes_a_volume)
{
    make_ball();
    EXPECT(0, "info %s --ascii", in_folder("ball_32x32x32_uint8.raw"));
    CHECK(strstr(out, "32 x 32 x 32 = 32,768 of u8") != NULL);
    CHECK(strstr(out, "Otsu") != NULL);
    EXPECT(0, "info %s --json", in_folder("ball_32x32x32_uint8.raw"));
    CHECK(is_json(out));
    CHECK_NEAR(json_get("min"), 0, 0);
    CHECK_NEAR(json_get("max"), 255, 0);
    const uint8_t *samples = ball(false);
    double mean = 0;
    for (int i = 0; i < BALL * BALL * BALL; i++)
        mean += samples[i];
    CHECK_NEAR(json_get("mean"), mean / (BALL * BALL * BALL), 1e-9);
}

/* Otsu's criterion by its definition: the threshold with the greatest variance between classes. */
TEST(otsu_divides_two_levels_in_the_middle)
{
    uint8_t samples[1000];
    for (int i = 0; i < 1000; i++)
        samples[i] = i < 700 ? 40 : 200;
    write_file("two_10x10x10_uint8.raw", NULL, 0, samples, sizeof samples);
    EXPECT(0, "info %s --json", in_folder("two_10x10x10_uint8.raw"));
    CHECK_NEAR(json_get("suggested_iso"), 120, 0.5);

    float wide[1000];
    for (int i = 0; i < 1000; i++)
        wide[i] = i == 5 ? NAN : i < 700 ? -1.0f : 3.0f;
    write_file("wide_10x10x10_float32.raw", NULL, 0, wide, sizeof wide);
    EXPECT(0, "info %s --json", in_folder("wide_10x10x10_float32.raw"));
    CHECK(is_json(out));
    CHECK_NEAR(json_get("suggested_iso"), 1, 0.01);
    CHECK_NEAR(json_get("nans"), 1, 0);
    CHECK_NEAR(json_get("min"), -1, 0);

    memset(samples, 7, sizeof samples);
    write_file("flat_10x10x10_uint8.raw", NULL, 0, samples, sizeof samples);
    EXPECT(0, "info %s --json", in_folder("flat_10x10x10_uint8.raw"));
    CHECK_NEAR(json_get("suggested_iso"), 7, 0);
}

TEST(info_describes_points)
{
    EXPECT(0, "info %s --json", test_data("dam_break_4732.vtk"));
    CHECK(is_json(out));
    CHECK_NEAR(json_get("points"), 4732, 0);
    CHECK_NEAR(json_get("suggested_radius"), 2 * json_get("sixth_neighbour_distance"), 1e-6);
    EXPECT(0, "info %s", test_data("dam_break_4732.vtk"));
    CHECK(strstr(out, "4,732") != NULL);
    /* On a line, two neighbours are one step away, two are two, and the sixth three. */
    char line[512] = "";
    for (int i = 0; i < 50; i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), "%d 0 0\n", i);
    write_file("line.xyz", NULL, 0, line, strlen(line));
    EXPECT(0, "info %s", in_folder("line.xyz"));
    CHECK(strstr(out, "3, the median distance to the sixth-nearest neighbour") != NULL);
}

#define CUBE_TEXT                                                                                  \
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"                     \
    "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"

TEST(info_describes_a_mesh)
{
    char path[128];
    snprintf(path, sizeof path, "%s", write_text("cube.obj", CUBE_TEXT "t crease 2/1/0 0 1 3\n"));
    EXPECT(0, "info %s", path);
    CHECK(strstr(out, "mesh, OBJ") && strstr(out, "6 of them with more than three corners"));
    CHECK(strstr(out, "characteristic 2: closed, 0 handles"));
    CHECK(err[0] == '\0');
    EXPECT(0, "info %s --json", path);
    CHECK(is_json(out));
    CHECK_NEAR(json_get("triangles"), 12, 0);
    CHECK_NEAR(json_get("volume"), 1, 1e-12);
    CHECK_NEAR(json_get("area"), 6, 1e-12);
    CHECK_NEAR(json_get("creases"), 1, 0);
    EXPECT(1, "info %s", write_text("bad.obj", "v 0 0 0\nf 1 1 2\n"));
    CHECK(strstr(err, "line 2: names vertex 2"));
}

/* ---- collide --------------------------------------------------------------------------------- */

/* a and b are 0.001 apart at 4,000,000, a and c meet. tests/cli/collide.t has the same in files
 * made there. */
TEST(collide_far_from_0_in_either_order)
{
    static const struct {
        const char *a, *b;
        double distance;
    } pairs[] = {{"far_a", "far_b", 0.001}, {"far_b", "far_a", 0.001}, {"far_a", "far_c", 0},
                 {"far_c", "far_a", 0},     {"far_b", "far_c", 0},     {"far_c", "far_b", 0}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char a[256], b[256];
        const char *path = test_full_data(pairs[i].a[4] == 'a'   ? "reports/far_a.obj"
                                          : pairs[i].a[4] == 'b' ? "reports/far_b.obj"
                                                                 : "reports/far_c.obj");
        if (!path)
            SKIP("TML_DATA names no reports");
        snprintf(a, sizeof a, "%s", path);
        snprintf(b, sizeof b, "%s", path);
        memcpy(strrchr(b, '/') + 1, pairs[i].b, 5);
        EXPECT(0, "collide %s %s --json", a, b);
        CHECK((json_get("pair_count") > 0) == (pairs[i].distance == 0));
        EXPECT(0, "collide %s %s --find distance --json", a, b);
        CHECK_NEAR(json_get_last("distance"), pairs[i].distance, 2e-8);
    }
}

TEST(collide_takes_poses_from_files)
{
    char cube[128], poses[128];
    snprintf(cube, sizeof cube, "%s", write_text("cube.obj", CUBE_TEXT));
    snprintf(poses, sizeof poses, "%s",
             write_text("poses.txt", "# three places\n1 0 0 0.5  0 1 0 0.5  0 0 1 0.5\n\n"
                                     "1,0,0,3, 0,1,0,0, 0,0,1,0\n"
                                     "1 0 0 -0.5 0 1 0 0.5 0 0 1 0.25 0 0 0 1\n"));
    EXPECT(0, "collide %s %s --pose %s --find count --json -o %s", cube, cube, poses,
           in_folder("counts.csv"));
    CHECK(is_json(out));
    CHECK_NEAR(json_get("poses"), 3, 0);
    CHECK_NEAR(json_get("poses_in_contact"), 2, 0);
    CHECK_NEAR(json_get("polygons"), 6, 0);
    static char text[OUTPUT_SIZE];
    test_read_text(in_folder("counts.csv"), text, OUTPUT_SIZE);
    CHECK(strncmp(text, "pose,pairs\n0,", 13) == 0 && strstr(text, "\n1,0\n2,"));
    double pairs = json_get("pair_count");

    EXPECT(0, "collide %s %s --pose %s -q -o %s", cube, cube, poses, in_folder("pairs.npy"));
    CHECK(out[0] == '\0' && err[0] == '\0');
    tml_context *tml = NULL;
    tml_array array;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &tml));
    if (CHECK_OK(tml, tml_array_load(tml, in_folder("pairs.npy"), 0, UINT64_MAX, &array))) {
        CHECK(array.type == TML_VEC(TML_U32, 4) && (double)array.count == pairs);
        tml_array_free(tml, &array);
    }
    /* The same poses as an array, of 3 x 4 and of 4 x 4. */
    const float rows[] = {1, 0, 0, 0.5f,  0, 1, 0, 0.5f, 0, 0, 1, 0.5f,  0, 0, 0, 1,
                          1, 0, 0, 3,     0, 1, 0, 0,    0, 0, 1, 0,     0, 0, 0, 1,
                          1, 0, 0, -0.5f, 0, 1, 0, 0.5f, 0, 0, 1, 0.25f, 0, 0, 0, 1};
    float packed[36];
    for (int i = 0; i < 36; i++)
        packed[i] = rows[i / 12 * 16 + i % 12];
    for (int is_square = 0; is_square < 2; is_square++) {
        tml_array matrices = {.data = is_square ? (void *)(uintptr_t)rows : packed,
                              .type = TML_VEC(TML_F32, 4),
                              .count = is_square ? 12 : 9};
        matrices.size = matrices.count * 16;
        CHECK_OK(tml, tml_array_save(tml, in_folder("poses.npy"), &matrices));
        EXPECT(0, "collide %s %s --pose %s --json", cube, cube, in_folder("poses.npy"));
        CHECK_NEAR(json_get("poses"), 3, 0);
        CHECK_NEAR(json_get("pair_count"), pairs, 0);
    }
    tml_close(tml);
    EXPECT(1, "collide %s %s --pose %s", cube, cube, write_text("poses.txt", "1 2 3\n"));
    CHECK(strstr(err, "line 1 is not a pose"));
    EXPECT(1, "collide %s %s --pose %s", cube, cube, write_text("poses.txt", "# none\n"));
    CHECK(strstr(err, "holds no pose"));
}

/* ---- subdivide ------------------------------------------------------------------------------- */

TEST(subdivide_divides_every_triangle)
{
    char path[128];
    snprintf(path, sizeof path, "%s", write_text("cube.obj", CUBE_TEXT));
    EXPECT(0, "subdivide %s --levels 2 --limit --normals limit -o %s --json", path,
           in_folder("s.ply"));
    CHECK(is_json(out));
    CHECK_NEAR(json_get("triangles"), 12, 0); /* the input's stands first */
    CHECK(strstr(out, "\"triangles\": 192") != NULL);
    CHECK(err[0] == '\0');
    CHECK_NEAR(json_get("polygons"), 6, 0);
    EXPECT(0, "info %s --json", in_folder("s.ply"));
    CHECK_NEAR(json_get("euler"), 2, 0);
    CHECK_NEAR(json_get("boundary_edges"), 0, 0);
    CHECK(strstr(out, "\"has_normals\": true") != NULL);
    CHECK(json_get("volume") > 0.1 && json_get("volume") < 0.9);
    /* All edges of a cube meet at 90 degrees: as creases for ever they keep it, but round its
     * corners off no more than their curves do. Diagonals stay smooth. */
    EXPECT(0, "subdivide %s --levels 3 --creases angle:60 -o %s --json", path, in_folder("c.obj"));
    CHECK_NEAR(json_get("sharp_edges"), 12, 0);
    EXPECT(0, "info %s --json", in_folder("c.obj"));
    CHECK_NEAR(json_get("volume"), 1, 1e-6);
}

TEST(subdivide_divides_where_it_is_needed)
{
    char path[128];
    snprintf(path, sizeof path, "%s",
             write_text("tagged.obj", CUBE_TEXT "vt 0 0\nt crease 2/1/0 0 1 2\n"));
    EXPECT(0, "subdivide %s --edge 0.3 -q -o %s --png %s --size 64x48", path, in_folder("e.obj"),
           in_folder("e.png"));
    CHECK(out[0] == '\0' && err[0] == '\0');
    CHECK(exists("e.png"));
    EXPECT(0, "info %s --json", in_folder("e.obj"));
    CHECK_NEAR(json_get("euler"), 2, 0);
    CHECK_NEAR(json_get("boundary_edges"), 0, 0);
    EXPECT(0, "subdivide %s --pixels 40 --camera 4,-5,3,0.5,0.5,0.5 --depth 5 -o %s", path,
           in_folder("p.ply"));
    CHECK(strstr(out, "of what was allowed"));
    EXPECT(0, "subdivide %s --distance 0.001 --budget 500 --json -o %s", path, in_folder("b.ply"));
    CHECK(strstr(out, "\"is_within_budget\": false"));
    /* Alone, a budget is for the deepest level: 12 triangles, 48, 192, 768. */
    static const struct {
        const char *options;
        double triangles;
    } budgets[] = {
        {"--budget 767", 192},           {"--budget 768", 768},           {"--budget 12", 12},
        {"--budget 767 --levels 1", 48}, {"--budget 100 --levels 5", 48}, {"--budget 0", 192}};
    for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; i++) {
        EXPECT(0, "subdivide %s %s -q -o %s", path, budgets[i].options, in_folder("b.ply"));
        EXPECT(0, "info %s --json", in_folder("b.ply"));
        CHECK_NEAR(json_get("faces"), budgets[i].triangles, 0);
    }
    EXPECT(1, "subdivide %s --budget 11 -o %s", path, in_folder("none.ply"));
    CHECK(strstr(err, "--budget is 11, needs 12 at least") != NULL);
    /* A camera from a file sees what one of numbers does. */
    EXPECT(0, "subdivide %s --pixels 60 --camera 0.5,0.5,4,0.5,0.5,0.5,30 -q -o %s", path,
           in_folder("numbers.ply"));
    EXPECT(0, "subdivide %s --pixels 60 --fov 30 --camera %s -q -o %s", path,
           write_text("pose.txt", "1 0 0 0.5\n0 1 0 0.5\n0 0 1 4\n0 0 0 1\n"),
           in_folder("file.ply"));
    same_files("numbers.ply", "file.ply");
    EXPECT(1, "subdivide %s --pixels 60 --camera %s -o %s", path, in_folder("gone.txt"),
           in_folder("none.ply"));
    /* Straight from the front the picture's camera has an angle of 0.46 and 7 % of its height free
     * on both sides of what is nearest. */
    snprintf(path, sizeof path, "%s", write_text("cube.obj", CUBE_TEXT));
    EXPECT(0, "subdivide %s --pixels 40 --view 0,0 --up z -q -o %s", path, in_folder("view.ply"));
    EXPECT(0,
           "subdivide %s --pixels 40 --up z --camera 0.5,-2.4830742,0.5,0.5,0.5,0.5,26.3560586 -q "
           "-o %s",
           path, in_folder("camera.ply"));
    same_files("view.ply", "camera.ply");
    EXPECT(0, "subdivide %s --pixels 40 --view 0,0 --up z -q -o %s --size 2400x1800", path,
           in_folder("camera.ply"));
    EXPECT(0, "info %s --json", in_folder("camera.ply"));
    double finer = json_get("faces");
    EXPECT(0, "info %s --json", in_folder("view.ply"));
    CHECK(finer > 2 * json_get("faces"));
    EXPECT(1, "subdivide %s --levels 1 -o %s",
           write_text("three.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0 -1 0\n"
                                   "f 1 2 3\nf 1 2 4\nf 2 1 5\n"),
           in_folder("none.ply"));
    CHECK(strstr(err, "edge 0-1"));
    CHECK(!exists("none.ply"));
}

/* ---- surface --------------------------------------------------------------------------------- */

TEST(surface_of_a_ball_is_one_closed_component)
{
    make_ball();
    const char *in = in_folder("ball_32x32x32_uint8.raw");
    EXPECT(0, "surface %s --iso 128 -o %s --json", in, in_folder("ball.stl"));
    CHECK(is_json(out));
    CHECK(err[0] == '\0');
    CHECK_NEAR(json_get("components"), 1, 0);
    CHECK_NEAR(json_get("cells"), 31 * 31 * 31, 0);
    /* Closed and of genus 0: F = 2 V - 4. */
    CHECK_NEAR(json_get("triangles"), 2 * json_get("vertices") - 4, 0);
    CHECK_EQ_I64(size_of("ball.stl"), 84 + 50 * (off_t)json_get("triangles"));
    /* Outward triangles enclose a positive volume near 4/3 pi r^3. */
    CHECK_NEAR(stl_volume("ball.stl") / 6, 4188.8, 60);
    EXPECT(0, "surface %s --iso 128 --flip -q -o %s", in, in_folder("ball.stl"));
    CHECK_NEAR(stl_volume("ball.stl") / 6, -4188.8, 60);
}

TEST(surface_writes_every_format_and_says_so)
{
    static const char *const names[] = {"m.ply", "m.stl", "m.obj", "m.glb", "m.vtp"};
    make_ball();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        CHECK_EQ_I64(
            run("surface %s -o %s", in_folder("ball_32x32x32_uint8.raw"), in_folder(names[i])), 0);
        CHECK(strstr(out, names[i]) != NULL);
        CHECK(strstr(out, "Otsu's method") != NULL);
        CHECK(size_of(names[i]) > 1000);
        CHECK(strchr(out, '\033') == NULL && err[0] == '\0'); /* no bar in a pipe */
    }
}

TEST(surface_options_reach_the_library)
{
    make_ball();
    const char *in = in_folder("ball_32x32x32_uint8.raw"), *mesh = in_folder("o.ply");
    EXPECT(0, "surface %s --iso 128 -o %s --json", in, mesh);
    double triangles = json_get("triangles"), whole = json_get("cells");
    EXPECT(0, "surface %s --iso 128 -o %s --json --soup", in, mesh);
    CHECK_NEAR(json_get("vertices"), 3 * triangles, 0);
    EXPECT(0, "surface %s --iso 128 -o %s --json --region :16,:,:", in, mesh);
    CHECK_NEAR(json_get("cells"), 15 * 31 * 31, 0);
    CHECK(json_get("triangles") < 0.6 * triangles && json_get("triangles") > 0.4 * triangles);
    EXPECT(0, "surface %s --iso 60,128,190 -o %s --json", in, mesh);
    CHECK(json_get("triangles") > 2.5 * triangles);
    CHECK_NEAR(json_get("cells"), whole, 0);
    EXPECT(0, "surface %s --labels 255 -o %s --json --drop-degenerate --largest", in, mesh);
    CHECK(is_json(out));
    CHECK_NEAR(json_get("value"), 255, 0);
    CHECK_EQ_I64(
        run("surface %s --iso 128 -o %s --json --indices64 --normals sobel --caps", in, mesh), 0);
    CHECK_NEAR(json_get("triangles"), triangles, 0);
    EXPECT(0, "surface %s --iso 128 -o %s --json --spacing 2,2,2 --threads 1", in,
           in_folder("o.stl"));
    CHECK_NEAR(stl_volume("o.stl") / 6, 8 * 4188.8, 480);
}

TEST(a_mask_and_an_attribute_of_the_same_size)
{
    uint8_t half[BALL * BALL * BALL];
    for (int i = 0; i < BALL * BALL * BALL; i++)
        half[i] = i % BALL < 16;
    make_ball();
    write_file("half_32x32x32_uint8.raw", NULL, 0, half, sizeof half);
    write_file("small_2x2x2_uint8.raw", NULL, 0, half, 8);
    const char *in = in_folder("ball_32x32x32_uint8.raw"), *mesh = in_folder("k.ply");
    EXPECT(0, "surface %s --iso 128 -o %s --json", in, mesh);
    double triangles = json_get("triangles");
    EXPECT(0, "surface %s --iso 128 -o %s --json --mask %s --attribute %s", in, mesh,
           in_folder("half_32x32x32_uint8.raw"), in);
    CHECK(json_get("triangles") < 0.6 * triangles && json_get("triangles") > 0.4 * triangles);
    EXPECT(1, "surface %s -o %s --mask %s", in, mesh, in_folder("small_2x2x2_uint8.raw"));
    CHECK(strstr(err, "--mask") && strstr(err, "needs 32 x 32 x 32"));
}

/* The same physical values stored upright, and upside down with a negative slope, are one
 * surface. */
TEST(a_negative_slope_does_not_turn_the_mesh_inside_out)
{
    make_nifti("up.nii", ball(false), 1, 0);
    CHECK_EQ_I64(
        run("surface %s --iso 127.5 -o %s --json", in_folder("up.nii"), in_folder("up.stl")), 0);
    double triangles = json_get("triangles");
    make_nifti("down.nii", ball(true), -1, 255);
    CHECK_EQ_I64(
        run("surface %s --iso 127.5 -o %s --json", in_folder("down.nii"), in_folder("down.stl")),
        0);
    CHECK_NEAR(json_get("iso"), 127.5, 1e-9);
    CHECK_NEAR(json_get("triangles"), triangles, 0);
    CHECK(stl_volume("up.stl") > 0);
    CHECK_NEAR(stl_volume("down.stl"), stl_volume("up.stl"), 1);
    EXPECT(0, "info %s --json", in_folder("down.nii"));
    CHECK_NEAR(json_get("min"), 0, 0);
    CHECK_NEAR(json_get("max"), 255, 0);
}

TEST(surface_from_points)
{
    EXPECT(0, "surface %s -o %s --json --resolution 64", test_data("dam_break_4732.vtk"),
           in_folder("water.ply"));
    CHECK(is_json(out));
    CHECK(json_get("triangles") > 1000);
    EXPECT(0, "surface %s -o %s --resolution 100", test_data("dam_break_4732.vtk"),
           in_folder("water.ply"));
    CHECK(err[0] == '\0' && strstr(out, "field of 100 x 43 x 100 samples") != NULL);
    EXPECT(0, "surface %s -o %s --resolution 20", test_data("dam_break_4732.vtk"),
           in_folder("water.ply"));
    CHECK(strstr(err, "too fine for the grid: the radius is raised from") != NULL);
    EXPECT(0, "surface %s -o %s -q --field distance --radius 0.05 --resolution 64",
           test_data("dam_break_4732.vtk"), in_folder("spheres.ply"));
    EXPECT(0, "surface %s -o %s --field density --radius 0.1 --cell 0.02 --json",
           test_data("dam_break_4732.vtk"), in_folder("dense.ply"));
    CHECK_NEAR(json_get("value"), 0.6, 1e-12);
    EXPECT(0, "info %s --json", in_folder("dense.ply"));
    CHECK_NEAR(json_get("volume"), 4732 * 0.05 * 0.05 * 0.05, 0.06); /* the particles' own */
    CHECK(json_get("boundary_edges") == 0);
    const double triangles = json_get("triangles"), volume = json_get("volume");
    EXPECT(0, "surface %s -o %s --field anisotropic --radius 0.1 --cell 0.02 --json",
           test_data("dam_break_4732.vtk"), in_folder("smooth.ply"));
    CHECK_NEAR(json_get("value"), 0.6, 1e-12);
    const double before = json_get("triangles");
    EXPECT(0, "info %s --json", in_folder("smooth.ply"));
    CHECK(json_get("boundary_edges") == 0 && json_get("triangles") < triangles);
    CHECK(json_get("volume") > volume / 2 &&
          json_get("volume") < volume); /* sheets, one layer thick */
    EXPECT(
        0,
        "surface %s -o %s --field anisotropic --radius 0.1 --cell 0.02 --collapse 0.4 --smooth 3",
        test_data("dam_break_4732.vtk"), in_folder("even.ply"));
    EXPECT(0, "info %s --json", in_folder("even.ply"));
    CHECK(json_get("boundary_edges") == 0 && json_get("nonmanifold_edges") == 0);
    CHECK(json_get("triangles") < 0.95 * before);
    EXPECT(2, "surface %s -o %s --collapse 0.4 --soup", test_data("dam_break_4732.vtk"),
           in_folder("none.ply"));
    EXPECT(2, "surface %s -o %s --field anisotropic --kernel poly6",
           test_data("dam_break_4732.vtk"), in_folder("none.ply"));
    EXPECT(2, "surface %s -o %s --field density --kernel poly6", test_data("dam_break_4732.vtk"),
           in_folder("none.ply"));
    EXPECT(2, "surface %s -o %s --labels all", test_data("dam_break_4732.vtk"),
           in_folder("none.ply"));
    CHECK(!exists("none.ply"));
}

/* A point's coordinates times cell are whole numbers, but for one: its edge's. */
static bool is_on_lattice(const double at[3], double cell)
{
    int whole = 0;
    for (int axis = 0; axis < 3; axis++)
        whole += fabs(at[axis] / cell - round(at[axis] / cell)) < 1e-4;
    return whole >= 2;
}

/* Frames whose points are counted from different origins have one lattice, that of the file's 0. */
TEST(cells_of_a_sequence_are_one_lattice)
{
    static char text[OUTPUT_SIZE];
    for (int frame = 0; frame < 3; frame++) {
        char name[32], *to = text;
        for (int i = 0; i < 60; i++)
            to += snprintf(to, 100, "%.3f %.3f %.3f\n", 1e6 + 100 * frame + 0.37 * i,
                           2e6 + 0.1 + 0.3 * (i % 7), 50 + 0.013 * frame + 0.2 * (i % 3));
        snprintf(name, sizeof name, "p%d.xyz", frame);
        write_text(name, text);
    }
    EXPECT(0, "surface %s --cell 0.25 --radius 0.7 -o %s", in_folder("p%d.xyz"),
           in_folder("p%d.obj"));
    CHECK(err[0] == '\0');
    for (int frame = 0; frame < 3; frame++) {
        char name[32];
        int vertices = 0, off = 0;
        double at[3];
        snprintf(name, sizeof name, "p%d.obj", frame);
        test_read_text(in_folder(name), text, OUTPUT_SIZE);
        for (const char *line = text; line; line = strchr(line, '\n')) {
            line += *line == '\n';
            if (sscanf(line, "v %lf %lf %lf", &at[0], &at[1], &at[2]) != 3)
                continue;
            vertices++;
            off += !is_on_lattice(at, 0.25);
        }
        CHECK(vertices > 200);
        CHECK_EQ_I64(off, 0);
    }
    /* Frames that choose their radius are told so. */
    EXPECT(0, "surface %s --cell 0.25 -o %s", in_folder("p%d.xyz"), in_folder("p%d.obj"));
    CHECK(strstr(err, "same --radius") != NULL);
}

/* What points carry comes to the vertices, in files and pictures. */
TEST(points_carry_attributes)
{
    static char text[OUTPUT_SIZE];
    char *to = text;
    to += snprintf(to, 100, "x y z vx vy vz r g b heat\n");
    for (int i = 0; i < 125; i++)
        to += snprintf(to, 100, "%d %d %d 1 2 %d 255 0 51 %d\n", i % 5, i / 5 % 5, i / 25, i % 5,
                       i / 25);
    write_text("carry.xyz", text);
    EXPECT(0, "info %s", in_folder("carry.xyz"));
    CHECK(strstr(out, "velocity (3), color (3), heat\n") != NULL);
    EXPECT(0, "surface %s --cell 0.5 --radius 2 --attribute color,velocity,heat -o %s --png %s",
           in_folder("carry.xyz"), in_folder("carry.ply"), in_folder("carry.png"));
    CHECK(exists("carry.png"));
    test_read_text(in_folder("carry.ply"), text, OUTPUT_SIZE);
    const char *at = strstr(text, "end_header\n");
    CHECK(at && strstr(text, "float nz\nproperty float velocity_x\nproperty float velocity_y\n"
                             "property float velocity_z\nproperty uchar red\nproperty uchar green\n"
                             "property uchar blue\nproperty float heat\n"));
    /* Rows of 43 bytes: position, normal, velocity, colour, heat. */
    double vertices = 0;
    CHECK(sscanf(strstr(text, "element vertex"), "element vertex %lf", &vertices) == 1);
    at += strlen("end_header\n");
    for (int i = 0; i < (int)vertices && i < 100; i++, at += 43) {
        float row[9], heat;
        memcpy(row, at, sizeof row);
        memcpy(&heat, at + 39, sizeof heat);
        CHECK_NEAR((double)row[6], 1, 1e-4);
        CHECK_NEAR((double)row[7], 2, 1e-4);
        CHECK(row[8] >= -1e-4f && row[8] <= 4.0001f && heat >= -1e-4f && heat <= 4.0001f);
        CHECK(memcmp(at + 36, "\xff\0\x33", 3) == 0);
    }
    EXPECT(0, "surface %s --cell 0.5 --radius 2 --attribute velocity --soup -o %s --png %s",
           in_folder("carry.xyz"), in_folder("carry.glb"), in_folder("carry.png"));
    EXPECT(1, "surface %s --attribute pressure -o %s", in_folder("carry.xyz"),
           in_folder("none.ply"));
    CHECK(strstr(err, "no attribute \"pressure\"; they have velocity, color, heat") != NULL);
    EXPECT(2, "surface %s --attribute heat -o %s", in_folder("carry.xyz"), in_folder("none.stl"));
    CHECK(!exists("none.ply") && !exists("none.stl"));
    /* In slabs the same: written in place, from corners, edited, of several isovalues. */
    static const char *const ways[][2] = {{"ply", ""},
                                          {"glb", "--soup"},
                                          {"vtp", "--iso 0.9,1.4"},
                                          {"ply", "--largest --drop-degenerate"}};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        char whole[16], slabs[16];
        snprintf(whole, sizeof whole, "whole.%s", ways[i][0]);
        snprintf(slabs, sizeof slabs, "slabs.%s", ways[i][0]);
        EXPECT(0, "surface %s --cell 0.5 --attribute color,heat %s -o %s", in_folder("carry.xyz"),
               ways[i][1], in_folder(whole));
        EXPECT(0, "surface %s --cell 0.5 --attribute color,heat %s -o %s --slabs %d",
               in_folder("carry.xyz"), ways[i][1], in_folder(slabs), (int)(3 + 5 * i));
        same_files(whole, slabs);
    }
}

TEST(points_in_bounds)
{
    const char *points = test_data("dam_break_4732.vtk");
    EXPECT(0, "surface %s --cell 0.05 --json -o %s", points, in_folder("all.ply"));
    double all = json_get("triangles");
    EXPECT(0, "surface %s --cell 0.05 --bounds :0.1,:,: --caps --json -o %s", points,
           in_folder("cut.ply"));
    CHECK(json_get("triangles") > 0.02 * all && json_get("triangles") < 0.98 * all);
    EXPECT(0, "info %s --json", in_folder("cut.ply"));
    CHECK_NEAR(json_get("boundary_edges"), 0, 0);
    /* Densities are those of all points: the parts' volumes are that of the whole. */
    double volume[3];
    static const char *const parts[3] = {":,:,:", ":0,:,:", "0:,:,:"};
    for (int i = 0; i < 3; i++) {
        EXPECT(0, "surface %s --field density --radius 0.1 --cell 0.03125 --bounds %s --caps -o %s",
               points, parts[i], in_folder("part.ply"));
        EXPECT(0, "info %s --json", in_folder("part.ply"));
        volume[i] = json_get("volume");
        CHECK(volume[i] > 0.1);
    }
    CHECK_NEAR(volume[1] + volume[2], volume[0], 1e-5 * volume[0]);
    EXPECT(1, "surface %s --cell 1e-7 -o %s", points, in_folder("none.ply"));
    CHECK(strstr(err, "samples, more than 2^40") != NULL);
    EXPECT(1, "surface %s --cell 0.002 --memory 1M -o %s --png %s", points, in_folder("none.ply"),
           in_folder("none.png"));
    CHECK(strstr(err, "needs") && strstr(err, "more than 1.0 MiB") &&
          strstr(err, "leave out --png"));
    make_ball();
    EXPECT(2, "surface %s --cell 1 -o %s", in_folder("ball_32x32x32_uint8.raw"),
           in_folder("none.ply"));
    EXPECT(2, "surface %s --iso 90 --bounds 0:1,:,: -o %s", in_folder("ball_32x32x32_uint8.raw"),
           in_folder("none.ply"));
    CHECK(strstr(err, "--bounds is for points") != NULL && !exists("none.ply"));
    EXPECT(0, "surface %s --iso 10:250:4 --json -o %s", in_folder("ball_32x32x32_uint8.raw"),
           in_folder("four.ply"));
    CHECK(strstr(out, "\"value\": 90") && strstr(out, "\"value\": 170"));
}

TEST(picture_alone)
{
    make_ball();
    EXPECT(0, "surface %s --png %s --size 64x48 --up -y --color #336699",
           in_folder("ball_32x32x32_uint8.raw"), in_folder("ball.png"));
    static char png[OUTPUT_SIZE];
    test_read_text(in_folder("ball.png"), png, OUTPUT_SIZE);
    CHECK(memcmp(png, "\x89PNG\r\n\x1a\n", 8) == 0);
    CHECK(memcmp(png + 16, "\0\0\0\x40\0\0\0\x30", 8) == 0);
    CHECK(!exists("ball.ply"));
}

/* Sixteen of 32 slices of 32 x 32, four beside and below each other with gaps of 4. */
TEST(picture_of_the_slices)
{
    tml_context *tml = NULL;
    tml_picture p;
    make_ball();
    EXPECT(0, "info %s --png %s --iso 100 --json", in_folder("ball_32x32x32_uint8.raw"),
           in_folder("slices.png"));
    CHECK(is_json(out) && strstr(out, "slices.png") != NULL);
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml));
    if (CHECK_OK(tml, tml_picture_load(tml, in_folder("slices.png"), NULL, &p))) {
        CHECK(p.width == 140 && p.height == 140 && p.channels >= 3);
        /* Slice 17 of the volume is the 9th tile: its line, and its grey. */
        const uint8_t *samples = ball(false) + 17 * BALL * BALL, *tile = p.data;
        tile += p.channels * (2 * 36 * 140);
        uint64_t lines = 0;
        int top = 0;
        for (int i = 0; i < BALL * BALL * BALL; i++)
            top = ball(false)[i] > top ? ball(false)[i] : top;
        for (uint64_t y = 0; y < BALL; y++)
            for (uint64_t x = 0; x < BALL; x++) {
                const uint8_t *at = tile + p.channels * (140 * y + x);
                bool is_in = samples[BALL * y + x] >= 100;
                bool is_line = (x + 1 < BALL && (samples[BALL * y + x + 1] >= 100) != is_in) ||
                               (y + 1 < BALL && (samples[BALL * (y + 1) + x] >= 100) != is_in);
                bool is_red = at[0] == 255 && at[1] == 50;
                CHECK(is_red == is_line);
                CHECK(is_line || at[1] == lrint(255.0 * samples[BALL * y + x] / top));
                lines += is_line;
            }
        CHECK(lines > 40);
        tml_picture_free(tml, &p);
    }
    tml_close(tml);
    EXPECT(2, "info %s --iso 100", in_folder("ball_32x32x32_uint8.raw"));
}

/* 31 slices of cells: six tiles of 31 and a gap after each, but for the last, both ways. */
TEST(picture_of_the_cells)
{
    make_ball();
    EXPECT(0, "surface %s --debug-cells %s", in_folder("ball_32x32x32_uint8.raw"),
           in_folder("cells.png"));
    static char png[OUTPUT_SIZE];
    test_read_text(in_folder("cells.png"), png, OUTPUT_SIZE);
    CHECK(memcmp(png, "\x89PNG\r\n\x1a\n", 8) == 0);
    CHECK(memcmp(png + 16, "\0\0\0\xbf\0\0\0\xbf", 8) == 0);
    /* A region is the whole picture: 9 slices of 10 x 4 cells, three beside and below each
     * other. */
    EXPECT(0, "surface %s --region 4:15,10:15,8:18 --debug-cells %s --json",
           in_folder("ball_32x32x32_uint8.raw"), in_folder("cells.png"));
    CHECK(strstr(out, "\"cells_by_triangles\"") != NULL);
    test_read_text(in_folder("cells.png"), png, OUTPUT_SIZE);
    CHECK(memcmp(png + 16, "\0\0\0\x20\0\0\0\x0e", 8) == 0);
    /* By place: those with triangles again, beside, in columns as high as the slices (14
     * pixels). */
    EXPECT(0, "surface %s --region 4:15,10:15,8:18 --debug-cells %s --by place --json",
           in_folder("ball_32x32x32_uint8.raw"), in_folder("cells.png"));
    double active = json_get("active_cells");
    char size[9] = {0, 0, 0, (char)(32 + 8 + (int)ceil(active / 14)), 0, 0, 0, 14, 0};
    CHECK(active > 20 && active < 500);
    test_read_text(in_folder("cells.png"), png, OUTPUT_SIZE);
    CHECK(memcmp(png + 16, size, 8) == 0);
    EXPECT(2, "surface %s --by place -o %s", in_folder("ball_32x32x32_uint8.raw"),
           in_folder("ball.ply"));
    EXPECT(2, "surface %s -o %s --debug-cells %s", test_data("dam_break_4732.vtk"),
           in_folder("points.ply"), in_folder("points.png"));
    CHECK(!exists("points.png") && !exists("points.ply"));
    /* Caps are not in it. */
    EXPECT(0, "surface %s --region 4:15,10:15,8:18 --caps -o %s --debug-cells %s --json",
           in_folder("ball_32x32x32_uint8.raw"), in_folder("caps.ply"), in_folder("caps.png"));
    static char plain[OUTPUT_SIZE];
    EXPECT(0, "surface %s --region 4:15,10:15,8:18 --debug-cells %s",
           in_folder("ball_32x32x32_uint8.raw"), in_folder("cells.png"));
    test_read_text(in_folder("cells.png"), plain, OUTPUT_SIZE);
    test_read_text(in_folder("caps.png"), png, OUTPUT_SIZE);
    CHECK(memcmp(png, plain, 64) == 0);
}

/* What is too wide is refused before there is a mesh; a region of it is not. */
TEST(pictures_of_cells_are_of_the_region)
{
    enum { WIDE = 20000 };
    static uint8_t samples[WIDE * 4 * 4];
    for (uint32_t i = 0; i < sizeof samples; i++)
        samples[i] = (uint8_t)(i % WIDE % 7 * 40);
    write_file("wide_20000x4x4_uint8.raw", NULL, 0, samples, sizeof samples);
    EXPECT(1, "surface %s --iso 100 -o %s --debug-cells %s", in_folder("wide_20000x4x4_uint8.raw"),
           in_folder("wide.ply"), in_folder("wide.png"));
    CHECK(strstr(err, "choose a smaller region") != NULL);
    CHECK(!exists("wide.ply") && !exists("wide.png"));
    EXPECT(0, "surface %s --iso 100 --region 0:100,:,: -o %s --debug-cells %s",
           in_folder("wide_20000x4x4_uint8.raw"), in_folder("wide.ply"), in_folder("wide.png"));
    static char png[OUTPUT_SIZE];
    test_read_text(in_folder("wide.png"), png, OUTPUT_SIZE);
    CHECK(memcmp(png + 16, "\0\0\0\x63", 4) == 0); /* 99 cells; the slices below each other */
}

/* The samples (or cells) of the ball that are kept, in order; returns how many. */
static uint64_t expect_places(bool is_crossed, int level, tml_uvec3 *places, uint8_t *values)
{
    const uint8_t *samples = ball(false);
    uint64_t count = 0;
    for (uint32_t i = 0; i < BALL * BALL * BALL; i++) {
        const tml_uvec3 at = {i % BALL, i / BALL % BALL, i / BALL / BALL};
        int inside = 0;
        bool is_cell = at.x + 1 < BALL && at.y + 1 < BALL && at.z + 1 < BALL;
        for (uint32_t k = 0; k < 8 && is_cell; k++)
            inside += samples[i + (k & 1) + BALL * ((k >> 1 & 1) + BALL * (k >> 2))] >= level;
        if (is_crossed ? inside % 8 != 0 : samples[i] >= level) {
            places[count] = at;
            values[count++] = samples[i];
        }
    }
    return count;
}

static void check_array(tml_context *tml, const char *name, tml_type type, uint64_t count,
                        const void *wanted)
{
    tml_array array = {0};
    if (CHECK_OK(tml, tml_array_load(tml, in_folder(name), 0, UINT64_MAX, &array))) {
        CHECK_EQ_U64(array.type, type);
        CHECK_EQ_U64(array.count, count);
        CHECK(array.count == count &&
              (!count || memcmp(array.data, wanted, count * tml_type_size(type)) == 0));
    }
    tml_array_free(tml, &array);
}

TEST(cells_and_samples_of_a_volume_as_rows)
{
    static const char *const backends[] = {"cpu", "vulkan", "gl"};
    static tml_uvec3 places[BALL * BALL * BALL];
    static uint8_t values[BALL * BALL * BALL];
    static uint64_t numbers[BALL * BALL * BALL];
    char in[256], rows[256], of[256]; /* in_folder's names do not last */
    snprintf(in, sizeof in, "%s", in_folder("ball_32x32x32_uint8.raw"));
    snprintf(rows, sizeof rows, "%s", in_folder("rows.npy"));
    snprintf(of, sizeof of, "%s", in_folder("values.npy"));
    tml_context *tml = NULL;
    make_ball();
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml));
    EXPECT(0, "surface %s --iso 100 -o %s --json", in, in_folder("ball.ply"));
    double active = json_get("active_cells");
    for (int b = 0; b < 3; b++) {
        if (run("devices") == 0 && !strstr(out, b == 1 ? "Vulkan" : b == 2 ? "OpenGL ES" : "cpu"))
            continue;
        uint64_t count = expect_places(true, 100, places, values);
        CHECK((double)count == active);
        EXPECT(0, "compact %s --crossed 100 --xyz --values %s -o %s --backend %s", in, of, rows,
               backends[b]);
        check_array(tml, "rows.npy", TML_VEC(TML_U32, 3), count, places);
        check_array(tml, "values.npy", TML_U8, count, values);
        for (uint64_t i = 0; i < count; i++)
            numbers[i] = places[i].x + BALL * (places[i].y + BALL * (uint64_t)places[i].z);
        EXPECT(0, "compact %s --crossed 100 --indices -o %s --backend %s", in, rows, backends[b]);
        check_array(tml, "rows.npy", TML_U64, count, numbers);
        count = expect_places(false, 101, places, values);
        EXPECT(0, "compact %s --at-least 100.5 --xyz -o %s --backend %s", in, rows, backends[b]);
        check_array(tml, "rows.npy", TML_VEC(TML_U32, 3), count, places);
    }
    EXPECT(0, "compact %s --crossed 1000 --xyz -o %s --json", in, rows);
    CHECK(json_get("kept") == 0);
    check_array(tml, "rows.npy", TML_VEC(TML_U32, 3), 0, places);
    EXPECT(2, "compact %s --crossed 1 --nonzero -o %s", in, rows);
    EXPECT(2, "compact %s --crossed 1 --values %s -o %s", in, of, rows);
    EXPECT(2, "compact %s --crossed 1 --xyz --values %s -o %s", in, rows, rows);
    tml_close(tml);
}

/* One number a triangle, ascending, of cells of the ball's volume. */
TEST(cells_of_the_triangles)
{
    make_ball();
    EXPECT(0, "surface %s --iso 100 --soup --cells %s -o %s", in_folder("ball_32x32x32_uint8.raw"),
           in_folder("cells.npy"), in_folder("soup.ply"));
    tml_array cells = {0};
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml));
    if (CHECK_OK(tml, tml_array_load(tml, in_folder("cells.npy"), 0, UINT64_MAX, &cells))) {
        const uint32_t *numbers = cells.data;
        CHECK_EQ_U64(cells.type, TML_U32);
        CHECK(cells.count > 1000);
        for (uint64_t i = 0; i < cells.count; i++)
            if (!CHECK(numbers[i] < 32 * 32 * 32 && (i == 0 || numbers[i - 1] <= numbers[i])))
                break;
        tml_array_free(tml, &cells);
    }
    tml_close(tml);
    EXPECT(2, "surface %s --iso 100 --cells %s -o %s --slabs 4",
           in_folder("ball_32x32x32_uint8.raw"), in_folder("x.npy"), in_folder("x.ply"));
    CHECK(!exists("x.npy") && !exists("x.ply"));
}

TEST(a_failed_run_keeps_the_old_file)
{
    make_ball();
    write_file("old.ply", NULL, 0, "old", 3);
    EXPECT(1, "surface %s --iso 700 -o %s", in_folder("ball_32x32x32_uint8.raw"),
           in_folder("old.ply"));
    CHECK_EQ_I64(size_of("old.ply"), 3);
}

static int count_entries(const char *path)
{
    DIR *directory = opendir(path);
    int count = 0;
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count - 2; /* . and .. */
}

/* Ctrl-C while the mesh is being written: exit status 130, and the folder as it was. */
TEST(an_interrupt_leaves_no_half_file)
{
    enum { SIDE = 128 };
    static uint8_t noise[SIDE * SIDE * SIDE];
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof noise; i++) {
        state = state * 1664525u + 1013904223u;
        noise[i] = (uint8_t)(state >> 24);
    }
    write_file("noise_128x128x128_uint8.raw", NULL, 0, noise, sizeof noise);
    const char *target = in_folder("cancelled");
    CHECK(mkdir(target, 0700) == 0 || errno == EEXIST);
    char line[4096];
    snprintf(line, sizeof line, "surface %s --iso 128 -o %s/noise.obj",
             in_folder("noise_128x128x128_uint8.raw"), target);
    pid_t pid = start(line);
    int status = 0;
    bool began = false;
    while (!began && waitpid(pid, &status, WNOHANG) == 0) {
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        began = count_entries(target) > 0;
    }
    if (!CHECK(began))
        return;
    kill(pid, SIGINT);
    int code = finish(pid);
    if (code == 0)
        SKIP("the run ended before the signal came");
    CHECK_EQ_I64(code, 130);
    CHECK(strstr(err, "cancelled") != NULL);
    CHECK_EQ_I64(count_entries(target), 0);
}

/* ---- volumes larger than memory -------------------------------------------------------------- */

/* What the summary counts, as JSON. */
static char *counts_of_summary(void)
{
    char *from = strstr(out, "\"iso\""), *to = strstr(out, "\"stages\"");
    return CHECK(from && to) ? strndup(from, (size_t)(to - from)) : strdup("");
}

/* A raw volume is read, worked on and written at once; a picture needs all of it. */
TEST(what_is_written_while_it_is_read_is_the_whole)
{
    enum { NX = 31, NY = 40, NZ = 37, COUNT = NX * NY * NZ };
    static float samples[COUNT];
    static uint8_t narrow[COUNT];
    static uint16_t wide[COUNT];
    for (int i = 0; i < COUNT; i++) {
        int x = i % NX, y = i / NX % NY, z = i / (NX * NY);
        samples[i] = sinf(0.4f * (float)x) + sinf(0.5f * (float)y) + sinf(0.6f * (float)z);
        samples[i] = rintf(32 * samples[i]) / 32; /* many are isovalues */
        narrow[i] = (uint8_t)(x < 22 ? x + 1 : 0);
        wide[i] = (uint16_t)(y < 30 ? 256 : 0);
    }
    write_file("waves_31x40x37_float32.raw", NULL, 0, samples, sizeof samples);
    write_file("narrow_31x40x37_uint8.raw", NULL, 0, narrow, sizeof narrow);
    write_file("wide_31x40x37_uint16.raw", NULL, 0, wide, sizeof wide);
    static const char *const ways[] = {"--iso 0.1",
                                       "--iso=-0.5,0.1,9,1.5 --normals forward",
                                       "",
                                       "--iso 0.1 --caps --indices64",
                                       "--iso 0.1,0.3 --soup --caps",
                                       "--iso 0.1 --mask %s",
                                       "--iso 0.1 --attribute %s --flip",
                                       "--mask %s",
                                       "--iso 1.5,0.125 --largest",
                                       "--iso 0.125 --drop-degenerate --attribute %s",
                                       "--iso 0.125,1.5,9 --largest --drop-degenerate --mask %s"};
    static const char *const endings[] = {"ply", "vtp", "stl", "glb", "obj"};
    enum { ENDINGS = sizeof endings / sizeof *endings };
    for (size_t i = 0; i < ENDINGS * sizeof ways / sizeof *ways; i++) {
        if (!test_takes(i, 6))
            continue;
        const char *ending = endings[i % ENDINGS];
        const size_t k = i / ENDINGS;
        char way[2000], whole[40], at_once[40];
        snprintf(whole, sizeof whole, "whole.%s", ending);
        snprintf(at_once, sizeof at_once, "at_once.%s", ending);
        snprintf(way, sizeof way, ways[k],
                 in_folder(k == 5             ? "narrow_31x40x37_uint8.raw"
                           : k == 6 || k == 9 ? "waves_31x40x37_float32.raw"
                                              : "wide_31x40x37_uint16.raw"));
        const char *volume = in_folder("waves_31x40x37_float32.raw");
        EXPECT(0, "surface %s %s --backend cpu --json -o %s --png %s --size 32x24", volume, way,
               in_folder(whole), in_folder("whole.png"));
        CHECK(strstr(out, "wait for samples") == NULL);
        char *expected = counts_of_summary();
        EXPECT(0, "surface %s %s --backend cpu --json -o %s", volume, way, in_folder(at_once));
        CHECK(strstr(out, "wait for samples") != NULL);
        char *counts = counts_of_summary();
        CHECK_STR(counts, expected);
        same_files(whole, at_once);
        free(counts);
        free(expected);
    }
}

/* What the filters look at is a mesh in files, of which little is in memory at a time. */
TEST(filters_take_little_memory)
{
    if (TEST_IS_SLOW)
        SKIP("sanitizers keep what was freed");
    enum { SIDE = 96 };
    static uint8_t noise[SIDE * SIDE * SIDE];
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof noise; i++) {
        state = state * 1664525u + 1013904223u;
        noise[i] = (uint8_t)(state >> 24);
    }
    write_file("noise_96x96x96_uint8.raw", NULL, 0, noise, sizeof noise);
    const char *volume = in_folder("noise_96x96x96_uint8.raw");
    EXPECT(0, "surface %s --iso 128 --largest --backend cpu --memory 16M --json -o %s", volume,
           in_folder("at_once.ply"));
    const double size = (double)size_of("at_once.ply");
    CHECK(size > 50e6);
    CHECK(json_get("peak_memory_bytes") < 0.9 * size);
    EXPECT(0, "surface %s --iso 128 --largest --backend cpu --json -o %s --png %s --size 32x24",
           volume, in_folder("whole.ply"), in_folder("whole.png"));
    CHECK(json_get("peak_memory_bytes") > 2 * size);
    same_files("whole.ply", "at_once.ply");
    unlink(in_folder("whole.ply"));
    unlink(in_folder("at_once.ply"));
}

/* A volume that is inflated while it is worked on fails as one that is loaded, and leaves
 * nothing. */
TEST(damaged_streams_fail_the_same_in_slabs)
{
    char command[1200];
    const char *cut = in_folder("cut_256x256x128_uint8.raw.gz");
    const char *flipped = in_folder("flipped_256x256x128_uint8.raw.gz");
    const char *engine = test_data("engine_256x256x128_uint8.raw.gz");
    snprintf(command, sizeof command,
             "head -c 1000000 '%s' >'%s'; cp '%s' '%s'; chmod u+w '%s'; "
             "printf x | dd of='%s' bs=1 seek=1500000 conv=notrunc 2>/dev/null",
             engine, cut, engine, flipped, flipped, flipped);
    CHECK(system(command) == 0);
    for (int i = 0; i < 2; i++) {
        const char *file = i ? flipped : cut;
        EXPECT(1, "surface %s --backend cpu --iso 100 -o %s --png %s", file, in_folder("none.ply"),
               in_folder("none.png"));
        char *whole_error = strdup(err);
        EXPECT(1, "surface %s --backend cpu --iso 100 -o %s", file, in_folder("none.ply"));
        CHECK_STR(err, whole_error);
        free(whole_error);
        CHECK(strstr(err, "compressed data are") != NULL && !exists("none.ply"));
    }
}

TEST(slabs_make_the_same_file)
{
    static const char *const ways[] = {
        "--iso 100 -o %s.ply", "--iso 60,100 --caps --normals sobel -o %s.vtp",
        "--iso 100 --region 10:90,:,5:60 --flip -o %s.stl",
        "--labels 0,255 --normals none -o %s.glb", "--iso 100 --soup --normals forward -o %s.obj"};
    static const char *const endings[] = {"ply", "vtp", "stl", "glb", "obj"};
    const char *engine = test_data("engine_256x256x128_uint8.raw.gz");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!test_takes(i, 5))
            continue;
        char way[200], whole[40], slabs[40];
        snprintf(whole, sizeof whole, "at_once.%s", endings[i]);
        snprintf(slabs, sizeof slabs, "in_slabs.%s", endings[i]);
        snprintf(way, sizeof way, ways[i], in_folder("at_once"));
        EXPECT(0, "surface %s --backend cpu %s --png %s", engine, way, in_folder("whole.png"));
        snprintf(way, sizeof way, ways[i], in_folder("in_slabs"));
        EXPECT(0, "surface %s --slabs %d %s", engine, (int)(5 + 20 * i), way);
        same_files(whole, slabs);
        EXPECT(0, "surface %s --backend cpu %s --json", engine, way); /* inflated meanwhile */
        CHECK(strstr(out, "wait for samples") != NULL);
        same_files(whole, slabs);
    }
    /* Without being asked, where memory is short: with a mask and values, too. */
    EXPECT(0, "surface %s --backend cpu --iso 100 --mask %s --attribute %s -o %s --png %s", engine,
           engine, engine, in_folder("at_once.ply"), in_folder("whole.png"));
    EXPECT(0, "surface %s --memory 9M --iso 100 --mask %s --attribute %s -o %s --json", engine,
           engine, engine, in_folder("in_slabs.ply"));
    CHECK(strstr(out, "wait for samples") != NULL);
    same_files("at_once.ply", "in_slabs.ply");
    /* Without being asked, where a volume lies in its file as it is; whatever the summary counts is
     * the same. */
    EXPECT(0, "surface %s --json --backend cpu --iso 100 -o %s --png %s", engine,
           in_folder("at_once.ply"), in_folder("whole.png"));
    char *whole_components = strdup(strstr(out, "\"components\""));
    whole_components[strcspn(whole_components, ",}")] = 0;
    char command[1024];
    snprintf(command, sizeof command, "gzip -dc '%s' > '%s'", engine,
             in_folder("plain_256x256x128_uint8.raw"));
    CHECK(system(command) == 0);
    EXPECT(0, "surface %s --json --backend cpu --iso 100 -o %s",
           in_folder("plain_256x256x128_uint8.raw"), in_folder("in_slabs.ply"));
    CHECK(strstr(out, "wait for samples") != NULL && strstr(out, whole_components) != NULL);
    free(whole_components);
    same_files("at_once.ply", "in_slabs.ply");
    EXPECT(1, "surface %s --backend cpu --iso 900 -o %s", in_folder("plain_256x256x128_uint8.raw"),
           in_folder("none.ply"));
    CHECK(strstr(err, "the values run from 0 to 255") != NULL);
    /* Of points: the field's layers. */
    const char *points = test_data("dam_break_4732.vtk");
    EXPECT(0, "surface %s --resolution 48 --backend cpu -o %s", points, in_folder("at_once.ply"));
    EXPECT(0, "surface %s --resolution 48 --slabs 5 -o %s", points, in_folder("in_slabs.ply"));
    same_files("at_once.ply", "in_slabs.ply");
}

TEST(an_index_leaves_the_surface_as_it_is)
{
    make_ball();
    const char *ball_file = in_folder("ball_32x32x32_uint8.raw"), *index = in_folder("ball.tmx");
    EXPECT(0, "index %s -o %s --json", ball_file, index);
    CHECK(is_json(out));
    CHECK_NEAR(json_get("bricks"), 64, 0);
    CHECK_NEAR(json_get("upper"), 255, 0);
    EXPECT(0, "surface %s --iso 100 -o %s --backend cpu", ball_file, in_folder("at_once.ply"));
    EXPECT(0, "surface %s --iso 100 -o %s --index %s", ball_file, in_folder("indexed.ply"), index);
    same_files("at_once.ply", "indexed.ply");
    /* Another volume's, an older one, a damaged one. */
    const char *engine = test_data("engine_256x256x128_uint8.raw.gz");
    EXPECT(1, "surface %s --iso 100 -o %s --index %s", engine, in_folder("x.ply"), index);
    CHECK(strstr(err, "another volume") != NULL);
    char command[300];
    snprintf(command, sizeof command, "touch -d 2001-01-01 %s", index);
    CHECK(system(command) == 0);
    EXPECT(1, "surface %s --iso 100 -o %s --index %s", ball_file, in_folder("x.ply"), index);
    CHECK(strstr(err, "older than") != NULL);
    FILE *file = fopen(index, "r+b");
    if (CHECK(file && fseek(file, 60, SEEK_SET) == 0 && fputc(0x55, file) != EOF))
        fclose(file);
    EXPECT(1, "surface %s --iso 100 -o %s --index %s", ball_file, in_folder("x.ply"), index);
    CHECK(strstr(err, "checksum") != NULL && !exists("x.ply"));
    ball_file = in_folder("ball_32x32x32_uint8.raw"); /* paths do not last for ever */
    EXPECT(1, "surface %s --iso 100 -o %s --index %s", ball_file, in_folder("x.ply"), ball_file);
    CHECK(strstr(err, "no index of bricks") != NULL);
}

/* What is found out half-way is told with its layers, and leaves nothing. */
/* Dims and type are the same; the samples tell, whether they are mapped or read. */
TEST(an_index_of_another_volume_is_refused)
{
    static const char *const options[] = {"", "--mask @/all.nii", "--backend vulkan"};
    static uint8_t ones[BALL * BALL * BALL], moved[BALL * BALL * BALL];
    char command[600], line[700];
    memset(ones, 1, sizeof ones);
    memcpy(moved, ball(false) + BALL * BALL, sizeof moved - BALL * BALL); /* one layer down */
    make_nifti("one.nii", ball(false), 1, 0);
    make_nifti("other.nii", moved, 1, 0);
    make_nifti("all.nii", ones, 1, 0);
    snprintf(command, sizeof command, "cd %s && gzip -kf one.nii other.nii", folder);
    if (!CHECK(system(command) == 0))
        return;
    bool has_vulkan = run("devices") == 0 && strstr(out, "Vulkan");
    EXPECT(0, "index %s -o %s -q", in_folder("one.nii"), in_folder("one.tmx"));
    EXPECT(0, "index %s -o %s -q", in_folder("other.nii.gz"), in_folder("other.tmx"));
    for (int i = 0; i < (has_vulkan ? 3 : 2); i++)
        for (int k = 0; k < 4; k++) {
            const char *ending = k % 2 ? ".gz" : "";
            snprintf(line, sizeof line,
                     "surface @/one.nii%s --iso 100 -q -o @/%s.ply --index @/%s.tmx %s", ending,
                     k < 2 ? "right" : "wrong", k < 2 ? "one" : "other", options[i]);
            EXPECT(k < 2 ? 0 : 1, "%s", fill_in(line, "", ""));
            if (k >= 2 && !CHECK(strstr(err, "other.tmx is of another volume than") != NULL))
                printf("  %s: %s\n", line, err);
        }
    CHECK(exists("right.ply") && !exists("wrong.ply"));
}

TEST(a_volume_that_breaks_off_names_its_layers)
{
    const char *engine = test_data("engine_256x256x128_uint8.raw.gz");
    const char *cut = in_folder("cut_256x256x128_uint8.raw.gz");
    char command[400];
    snprintf(command, sizeof command, "head -c 3000000 %s > %s", engine, cut);
    CHECK(system(command) == 0);
    CHECK(mkdir(in_folder("empty"), 0700) == 0);
    EXPECT(1, "surface %s --iso 100 --slabs 8 -o %s", cut, in_folder("empty/x.ply"));
    CHECK(strstr(err, "layers ") != NULL && strstr(err, "cut short") != NULL);
    CHECK_EQ_I64(count_entries(in_folder("empty")), 0);
    EXPECT(1, "surface %s --iso 900 --slabs 8 -o %s", engine, in_folder("empty/x.ply"));
    CHECK(strstr(err, "the surface is empty") != NULL);
    CHECK_EQ_I64(count_entries(in_folder("empty")), 0);
}

/* ---- sequences ------------------------------------------------------------------------------- */

/* Three frames of a volume, numbered 8 to 10, the second without a surface. */
static void make_sequence(void)
{
    static const uint8_t nothing[BALL * BALL * BALL];
    for (int i = 8; i <= 10; i++) {
        char name[64];
        snprintf(name, sizeof name, "s%02d_32x32x32_uint8.raw", i);
        write_file(name, NULL, 0, i == 9 ? nothing : ball(false), sizeof nothing);
    }
}

static bool touch(const char *name, const char *date)
{
    char command[300];
    snprintf(command, sizeof command, "touch -d %s %s", date, in_folder(name));
    return CHECK(system(command) == 0);
}

/* Linux keeps the largest resident memory over exec: a large program that starts this one must
 * not count. */
TEST(the_memory_peak_is_the_programs_own)
{
    const size_t size = (size_t)600 << 20;
    char *large = malloc(size);
    if (!large)
        SKIP("no memory for %zu bytes", size);
    memset(large, 1, size);
    EXPECT(0, "convert %s -o %s --json --backend cpu",
           write_text("small.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"), in_folder("small.ply"));
    CHECK(json_get("peak_memory_bytes") > 0 && json_get("peak_memory_bytes") < (double)(300 << 20));
    CHECK(large[size - 1] == 1);
    free(large);
}

TEST(frames_of_a_sequence_are_surfaces_of_their_own)
{
    make_sequence();
    char frames[128], meshes[128]; /* outlive many runs */
    snprintf(frames, sizeof frames, "%s", in_folder("s%02d_32x32x32_uint8.raw"));
    snprintf(meshes, sizeof meshes, "%s", in_folder("mesh%d.ply"));
    EXPECT(0, "surface %s --iso 100 -o %s --png %s --size 64x64 --json --backend cpu", frames,
           meshes, in_folder("mesh%03d.png"));
    CHECK(is_json(out) && exists("mesh010.png") && size_of("mesh9.ply") < 1000);
    CHECK_NEAR(json_get("frame"), 8, 0);
    CHECK_NEAR(json_get_last("frame"), 10, 0);
    EXPECT(0, "surface %s --iso 100 -o %s --backend cpu", in_folder("s08_32x32x32_uint8.raw"),
           in_folder("lone.ply"));
    same_files("lone.ply", "mesh8.ply");
    same_files("lone.ply", "mesh10.ply");
    /* In slabs; as a list, numbered from 0. */
    EXPECT(0, "surface %s --iso 100 -o %s --slabs 5 --frames 9-10", frames,
           in_folder("slabs%d.ply"));
    CHECK(strstr(out, "s09_32x32x32_uint8.raw") && !exists("slabs8.ply"));
    same_files("slabs9.ply", "mesh9.ply");
    same_files("slabs10.ply", "mesh10.ply");
    EXPECT(0, "surface %s %s --iso 100 -o %s -q --backend cpu", in_folder("s10_32x32x32_uint8.raw"),
           in_folder("s08_32x32x32_uint8.raw"), in_folder("list%d.ply"));
    CHECK(exists("list0.ply") && exists("list1.ply") && !exists("list2.ply"));

    /* One file has its own number, or 0. */
    EXPECT(0, "surface %s --iso 100 -o %s -q --backend cpu", in_folder("s10_32x32x32_uint8.raw"),
           in_folder("lone_%04d.ply"));
    CHECK(exists("lone_0000.ply") && !exists("lone_%04d.ply"));
    CHECK(rename(in_folder("lone_0000.ply"), in_folder("lone_0012.ply")) == 0);
    EXPECT(0, "surface %s --radius 1 -o %s -q --backend cpu", in_folder("lone_0012.ply"),
           in_folder("again_%03d.ply"));
    CHECK(exists("again_012.ply") && !exists("again_000.ply"));

    EXPECT(1, "surface %s --iso 100 -o %s --frames 9-11", frames, in_folder("none%d.ply"));
    CHECK(strstr(err, "s11_32x32x32") && strstr(err, "nothing was done") && !exists("none9.ply"));
    EXPECT(2, "surface %s --iso 100 -o %s", frames, in_folder("none.ply"));
    CHECK(strstr(err, "%04d") != NULL);
    EXPECT(2, "surface %s --iso 100 -o %s --frames 1-0", frames, meshes);
    EXPECT(2, "surface %s --iso 100 -o %s --frames 1-2", in_folder("s08_32x32x32_uint8.raw"),
           meshes);
    EXPECT(1, "surface %s --iso 100 -o %s", in_folder("t%02d.raw"), meshes);
    CHECK(strstr(err, "no file has such a name") != NULL);
}

TEST(a_sequence_goes_on_where_it_ended)
{
    make_sequence();
    char frames[128], meshes[128];
    snprintf(frames, sizeof frames, "%s", in_folder("s%02d_32x32x32_uint8.raw"));
    snprintf(meshes, sizeof meshes, "%s", in_folder("on%d.ply"));
    for (int i = 8; i <= 10; i++) { /* a clock's tick may be coarser than a run */
        char name[64];
        snprintf(name, sizeof name, "s%02d_32x32x32_uint8.raw", i);
        touch(name, "2001-01-01");
    }
    write_file("s10_32x32x32_uint8.raw", NULL, 0, "short", 5);
    EXPECT(1, "surface %s --iso 100 -o %s --slabs 5", frames, meshes);
    CHECK(strstr(err, "frame 10 (") && exists("on8.ply") && exists("on9.ply"));
    CHECK(!exists("on10.ply"));
    /* Frame 9's input becomes newer, frame 10 is mended: 8 is left alone. */
    off_t size = size_of("on8.ply");
    write_file("on8.ply", NULL, 0, "mine", 4);
    write_file("s10_32x32x32_uint8.raw", NULL, 0, ball(false), BALL * BALL * BALL);
    touch("s09_32x32x32_uint8.raw", "2101-01-01");
    EXPECT(0, "surface %s --iso 100 -o %s --slabs 5 --resume", frames, meshes);
    CHECK(strstr(out, "1 frame was there already") && strstr(out, "s09_") && strstr(out, "s10_"));
    CHECK_EQ_I64(size_of("on8.ply"), 4);
    CHECK_EQ_I64(size_of("on10.ply"), size);
    /* All outputs count, and all inputs. */
    EXPECT(0, "surface %s --iso 100 -o %s --slabs 5 --resume --frames 8-8 --mask %s", frames,
           meshes, in_folder("s09_32x32x32_uint8.raw"));
    CHECK(strstr(out, "s08_") && size_of("on8.ply") != 4);
    EXPECT(0, "surface %s --iso 100 -o %s --resume --frames 8-8 --json --backend cpu", frames,
           meshes);
    CHECK(is_json(out) && strstr(out, "\"skipped\": true"));
    EXPECT(0,
           "surface %s --iso 100 -o %s --png %s --size 64x64 --resume --frames 8-8 --backend cpu",
           frames, meshes, in_folder("on%d.png"));
    CHECK(exists("on8.png"));
    EXPECT(0, "surface %s --iso 100 -o %s --frames 8-8 --backend cpu", frames, meshes);
    CHECK(strstr(out, "already") == NULL);
    touch("s09_32x32x32_uint8.raw", "2001-01-01");
}

/* ---- streams --------------------------------------------------------------------------------- */

TEST(compact_keeps_a_range_in_order)
{
    float values[1001], kept[1001];
    uint64_t where[1001];
    for (int i = 0; i < 1001; i++)
        values[i] = (float)((i * 37) % 101) / 10;
    values[17] = NAN;
    make_npy("c.npy", "<f4", 1001, values, sizeof values);
    const char *in = in_folder("c.npy"), *to = in_folder("k.npy");
    EXPECT(0, "compact %s --at-least 2.5 --at-most 7.1 -o %s --json", in, to);
    CHECK(is_json(out));
    size_t expected = 0;
    for (int i = 0; i < 1001; i++) {
        if (values[i] >= 2.5f && values[i] <= 7.1f) {
            where[expected] = (uint64_t)i;
            kept[expected++] = values[i];
        }
    }
    float got[1001];
    CHECK_NEAR(json_get("kept"), (double)expected, 0);
    CHECK_EQ_U64(read_npy("k.npy", got, sizeof got), expected * sizeof *got);
    CHECK(memcmp(got, kept, expected * sizeof *got) == 0);

    uint64_t places[1001];
    EXPECT(0, "compact %s --at-least 2.5 --at-most 7.1 --indices -q -o %s", in, to);
    CHECK_EQ_U64(read_npy("k.npy", places, sizeof places), expected * sizeof *places);
    CHECK(memcmp(places, where, expected * sizeof *places) == 0);

    static const char *const methods[] = {"look-back", "reduce-then-scan", "histopyramid"};
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        memset(got, 0, sizeof got);
        EXPECT(0, "compact %s --at-least 2.5 --at-most 7.1 --method %s -o %s", in, methods[m], to);
        CHECK_EQ_U64(read_npy("k.npy", got, sizeof got), expected * sizeof *got);
        CHECK(memcmp(got, kept, expected * sizeof *got) == 0);
    }
}

TEST(compact_bounds_fit_every_type)
{
    int8_t small[] = {-3, -2, -1, 0, 1, 2, 3};
    make_npy("i8.npy", "|i1", 7, small, sizeof small);
    EXPECT(0, "compact %s --at-least -1.5 --at-most 1e9 -o %s --json", in_folder("i8.npy"),
           in_folder("k.npy"));
    CHECK_NEAR(json_get("kept"), 5, 0); /* -1 ... 3 */
    CHECK_EQ_I64(run("compact %s --at-least 0.2 --at-most 0.8 -o %s --json", in_folder("i8.npy"),
                     in_folder("k.npy")),
                 0);
    CHECK_NEAR(json_get("kept"), 0, 0);
    EXPECT(0, "compact %s --nonzero -o %s --json", in_folder("i8.npy"), in_folder("k.npy"));
    CHECK_NEAR(json_get("kept"), 6, 0);

    uint64_t big[] = {0, 1, UINT64_C(1) << 53, UINT64_MAX};
    make_npy("u64.npy", "<u8", 4, big, sizeof big);
    EXPECT(0, "compact %s --at-least 2 -o %s --json", in_folder("u64.npy"), in_folder("k.npy"));
    CHECK_NEAR(json_get("kept"), 2, 0);

    double fine[] = {0.1, nextafter(0.1, 1), 0.2, -INFINITY, NAN};
    make_npy("f64.npy", "<f8", 5, fine, sizeof fine);
    EXPECT(0, "compact %s --at-most 0.1 -o %s --json", in_folder("f64.npy"), in_folder("k.npy"));
    CHECK_NEAR(json_get("kept"), 2, 0);
    EXPECT(0, "compact %s --nonzero -o %s", in_folder("f64.npy"), in_folder("k.npy"));
    CHECK(strstr(out, "kept       5 (100 %)") != NULL);
}

TEST(scan_sums_in_64_bits)
{
    uint8_t ones[1000];
    uint64_t sums[1000];
    memset(ones, 255, sizeof ones);
    make_npy("ones.npy", "|u1", 1000, ones, sizeof ones);
    EXPECT(0, "scan %s -o %s --json", in_folder("ones.npy"), in_folder("s.npy"));
    CHECK(is_json(out));
    CHECK_EQ_U64(read_npy("s.npy", sums, sizeof sums), sizeof sums);
    for (uint64_t i = 0; i < 1000; i++)
        CHECK_EQ_U64(sums[i], 255 * i);
    EXPECT(0, "scan %s --inclusive -o %s", in_folder("ones.npy"), in_folder("s.npy"));
    CHECK_EQ_U64(read_npy("s.npy", sums, sizeof sums), sizeof sums);
    CHECK_EQ_U64(sums[999], 255000);

    int8_t negative[] = {-1, -2, 3};
    int64_t signed_sums[3];
    make_npy("neg.npy", "|i1", 3, negative, sizeof negative);
    EXPECT(0, "scan %s --inclusive -o %s", in_folder("neg.npy"), in_folder("s.npy"));
    CHECK_EQ_U64(read_npy("s.npy", signed_sums, sizeof signed_sums), sizeof signed_sums);
    CHECK_EQ_I64(signed_sums[0], -1);
    CHECK_EQ_I64(signed_sums[2], 0);
}

/* ---- the real thing -------------------------------------------------------------------------- */

/* ---- draw ------------------------------------------------------------------------------------ */

/* The alpha of a picture of the folder, as shares of 255: its sum, and its middle in pixels. */
static double covered(const char *name, double middle[2])
{
    tml_picture p;
    double sum = 0;
    middle[0] = middle[1] = 0;
    tml_context *tml;
    if (!CHECK(tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &tml) == TML_OK))
        return 0;
    if (CHECK_OK(tml, tml_picture_load(tml, in_folder(name), NULL, &p)) && CHECK(p.channels == 4)) {
        for (uint64_t i = 0; i < (uint64_t)p.width * p.height; i++) {
            double alpha = ((const uint8_t *)p.data)[4 * i + 3] / 255.0;
            sum += alpha;
            middle[0] += alpha * ((double)(i % p.width) + 0.5);
            middle[1] += alpha * ((double)(i / p.width) + 0.5);
        }
        middle[0] /= sum;
        middle[1] /= sum;
    }
    tml_picture_free(tml, &p);
    tml_close(tml);
    return sum;
}

/* A square of side 2 at y = 3, seen from (0.5, 0, 0) along y: 200 pixels of 90 degrees show 6 units
 * there. */
TEST(draw_takes_the_camera_that_is_given)
{
    char mesh[128], pose[128]; /* outlive many runs */
    double middle[2];
    snprintf(mesh, sizeof mesh, "%s",
             write_text("square.obj", "v -1 3 -1\nv 1 3 -1\nv 1 3 1\nv -1 3 1\nf 1 2 3 4\n"));
    snprintf(
        pose, sizeof pose, "%s",
        write_text("pose.txt", "[[1, 0, 0, 0.5], [0, 0, -1, 0],\n [0, 1, 0, 0], [0 0 0 1]]\n"));
    EXPECT(0, "draw %s --camera %s --up z --fov 90 --size 300x200 --background none -o %s", mesh,
           pose, in_folder("square.png"));
    CHECK(strstr(out, "4 vertices, 2 triangles, OBJ") != NULL);
    const double unit = 200 / 6.0;
    CHECK_NEAR(covered("square.png", middle), 4 * unit * unit, 30);
    CHECK_NEAR(middle[0], 150 - 0.5 * unit, 0.1);
    CHECK_NEAR(middle[1], 100, 0.1);

    EXPECT(0,
           "draw %s --camera 0.5,0,0,0.5,1,0,90 --up z --size 300x200 --background none -q -o %s",
           mesh, in_folder("numbers.png"));
    same_files("square.png", "numbers.png");

    /* Twice the axes are the same camera. A floor on both sides of the eye is cut where the eye
     * is. */
    write_text("pose.txt", "2,0,0,0.5,0,0,-2,0,0,2,0,0,0,0,0,1");
    EXPECT(0, "draw %s --camera %s --fov 90 --size 300x200 --background none -o %s --json", mesh,
           pose, in_folder("square.png"));
    CHECK(is_json(out) && json_get("triangles") == 2);
    CHECK_NEAR(covered("square.png", middle), 4 * unit * unit, 30);
    write_text("square.obj",
               "v -1e4 -1e4 -1\nv 1e4 -1e4 -1\nv 1e4 1e4 -1\nv -1e4 1e4 -1\nf 1 2 3 4\n");
    EXPECT(0, "draw %s --camera %s --fov 90 --size 300x200 --background none -o %s", mesh, pose,
           in_folder("square.png"));
    CHECK_NEAR(covered("square.png", middle), 300 * 100, 60); /* up to the horizon */
    CHECK_NEAR(middle[1], 150, 0.2);

    static const char *const bad[] = {"",
                                      "1 2 3",
                                      "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 nan",
                                      "1 0 0 0 0 1 0 0 0 0 -1 0 0 0 0 1",   /* mirrored */
                                      "1 0 0 0 0 2 0 0 0 0 1 0 0 0 0 1",    /* stretched */
                                      "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1",    /* no axes */
                                      "1 0 0 0 0 1 0 0 0 0 1 0 0 0 -1 0",   /* a projection */
                                      "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 7"}; /* one too many */
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_text("pose.txt", bad[i]);
        EXPECT(1, "draw %s --camera %s -o %s", mesh, pose, in_folder("none.png"));
        CHECK(strstr(err, "pose.txt: ") && strstr(err, "need") && !exists("none.png"));
    }
    EXPECT(1, "draw %s --camera %s -o %s", mesh, in_folder("gone.txt"), in_folder("none.png"));
    EXPECT(2, "draw %s --fov 30 -o %s", mesh, in_folder("none.png"));
    EXPECT(2, "draw %s --background mauve -o %s", mesh, in_folder("none.png"));
    CHECK(strstr(err, "studio, none, or a colour") != NULL);
    EXPECT(2, "draw %s", mesh);
}

/* Up is y in OBJ and z in PLY: a mast is a mast in both, and lies where another axis is said to be
 * up. */
TEST(draw_knows_what_is_up)
{
    static const char *const masts[] = {
        "v -1 0 0\nv 1 0 0\nv 0 9 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n",
        "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\n"
        "property float y\nproperty float z\nelement face 2\n"
        "property list uchar int vertex_indices\nend_header\n"
        "-1 0 0\n1 0 0\n0 0 9\n0 1 0\n3 0 1 2\n3 0 1 3\n"};
    double middle[2];
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "mast.ply" : "mast.obj";
        write_text(name, masts[i]);
        EXPECT(0, "draw %s/%s --view 0,0 --size 200x200 --background none -o %s/mast.png", folder,
               name, folder);
        CHECK(covered("mast.png", middle) > 1000 && middle[1] > 105); /* broad below */
        EXPECT(0, "draw %s/%s --view 0,0 --up %s --size 200x200 --background none -o %s/mast.png",
               folder, name, i ? "-z" : "-y", folder);
        CHECK(covered("mast.png", middle) > 1000 && middle[1] < 95);
    }
}

/* ---- pictures -------------------------------------------------------------------------------- */

/* Loads a picture of the test's folder; its first sample as a number, NaN on failure. */
static double first_sample(const char *name, tml_picture *p)
{
    tml_context *tml;
    double value = NAN;
    if (!CHECK(tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &tml) == TML_OK))
        return NAN;
    if (CHECK_OK(tml, tml_picture_load(tml, in_folder(name), NULL, p))) {
        float f;
        uint16_t u;
        memcpy(&f, p->data, p->type == TML_F32 ? sizeof f : 0);
        memcpy(&u, p->data, p->type == TML_U16 ? sizeof u : 0);
        value = p->type == TML_F32   ? (double)f
                : p->type == TML_U16 ? u
                                     : ((const uint8_t *)p->data)[0];
        tml_picture_free(tml, p);
    }
    tml_close(tml);
    return value;
}

/* A plot of grey.pfm: text that others read, marks that coincide as one, all that opens closes. */
static void check_plot(const char *name)
{
    char text[16384];
    FILE *file = fopen(in_folder(name), "r");
    if (!CHECK(file != NULL))
        return;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    CHECK(strncmp(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 40) == 0);
    CHECK(strstr(text, "</svg>\n") != NULL);
    CHECK(strstr(text, ">grey.pfm</text>") && strstr(text, ">pixels per 1/8 stop (%)</text>"));
    CHECK(strstr(text, ">luminance in stops (log2; 0 is a luminance of 1)</text>") != NULL);
    CHECK(strstr(text, ">mean (of logarithms) = median = middle grey</text>") ||
          strstr(text, ">mean (of logarithms) = middle grey</text>"));
    int open = 0, shut = 0;
    for (const char *at = text; (at = strchr(at, '<')) != NULL; at++) {
        shut += at[1] == '/' || strstr(at, "/>") == strchr(at, '>') - 1;
        open += at[1] != '/';
    }
    CHECK(open == shut);
}

TEST(exposure_measures_a_picture)
{
    static const float pixels[] = {1, 1, NAN, INFINITY, 0, -1};
    write_grey("grey.pfm", 3, 2, pixels);
    char path[128]; /* outlives many runs */
    snprintf(path, sizeof path, "%s", in_folder("grey.pfm"));
    EXPECT(0, "exposure %s --json --backend cpu", path);
    CHECK(is_json(out));
    static const char *const names[] = {"pixels",   "positive", "zero",
                                        "negative", "nans",     "infinities"};
    static const double counts[] = {6, 2, 1, 1, 1, 1};
    for (int i = 0; i < 6; i++)
        CHECK(json_get(names[i]) == counts[i]);
    CHECK(json_get("mean") == 0.25 && json_get("geometric_mean") == 1);
    CHECK_NEAR(json_get("scale"), 0.18, 1e-7);
    CHECK_NEAR(json_get("ev100"), 3, 1e-6);
    EXPECT(0, "exposure %s --json --backend cpu --ev +1 --key 0.1", path);
    CHECK_NEAR(json_get("scale"), 0.2, 1e-7);
    EXPECT(0, "exposure %s --json --backend cpu --ev100 5", path);
    CHECK_NEAR(json_get("scale"), 0.18 / 4, 1e-7);
    EXPECT(0, "exposure %s --json --backend cpu --region :2,0:1", path);
    CHECK(json_get("pixels") == 2 && json_get("min") == 1);
    EXPECT(0, "exposure %s --json --backend cpu --floor 0.5", path);
    CHECK_NEAR(json_get("log2_mean"), -0.5, 1e-6);
    /* A meter of two weights, the left one 0: only the third column weighs anything, 2 * 2 / 3
     * being 1. */
    static const float weights[] = {0, 1};
    write_grey("meter.pfm", 2, 1, weights);
    EXPECT(0, "exposure %s --json --backend cpu --meter %s", path, in_folder("meter.pfm"));
    CHECK(json_get("pixels") == 2 && json_get("nans") == 1 && json_get("weight") == 255);
    /* By itself: the brightest of its colours is 0.75. */
    const char *halves = test_path(TML_SOURCE_ROOT, "fuzz/seeds/picture/half_none.exr");
    if (run("info %s --json --backend cpu", halves) == 0) { /* else OpenEXR was left out */
        EXPECT(0, "exposure %s --json --backend cpu --meter %s", halves, halves);
        CHECK(json_get("weight") > 0 && json_get("weight") < 0.75 * 255 * 24 * 14);
    }
    /* A bright pixel in the middle of 5 x 5, four stops above the others, by the patterns. */
    static const char *const meters[] = {"average", "centre", "spot", "matrix"};
    float five[25];
    for (int i = 0; i < 25; i++)
        five[i] = i == 12 ? 16 : 1;
    write_grey("five.pfm", 5, 5, five);
    for (int meter = 0; meter <= TML_METER_MATRIX; meter++) {
        uint8_t mask[25];
        double sum = 0;
        CHECK(tml_meter_weights((tml_meter)meter, 5, 5, 5, 5, mask) == TML_OK);
        for (int i = 0; i < 25; i++)
            sum += meter ? mask[i] : 1;
        EXPECT(0, "exposure %s --json --backend cpu --meter %s", in_folder("five.pfm"),
               meters[meter]);
        CHECK(json_get("weight") == sum);
        CHECK_NEAR(json_get("log2_mean"), 4 * (meter ? mask[12] : 1) / sum, 1e-6);
    }
    write_grey("dark.pfm", 1, 1, &weights[0]);
    EXPECT(1, "exposure %s --backend cpu --meter %s", path, in_folder("dark.pfm"));
    CHECK(strstr(err, "black all over") != NULL);
    EXPECT(0, "exposure %s --backend cpu --histogram %s", path, in_folder("plot.svg"));
    CHECK(strstr(out, "EV100") && strstr(out, "16.7 % NaN") && strstr(out, "geometric") == NULL);
    check_plot("plot.svg");
    EXPECT(2, "exposure %s --backend cpu --histogram %s", path, in_folder("plot.png"));
    CHECK(strstr(err, "does not end in .svg") != NULL);
    EXPECT(0, "info %s --backend cpu", path);
    CHECK(strstr(out, "grey.pfm: picture") && strstr(out, "3 x 2, 1 x f32, PFM"));
    EXPECT(0, "info %s --json --backend cpu", path);
    CHECK(is_json(out) && json_get("width") == 3 && json_get("nans") == 1);
}

/* No pixel that could tell an exposure: it says so, and leaves the picture as it is. */
TEST(exposure_of_nothing_is_none)
{
    static const float pixels[] = {NAN, INFINITY, 0, -1};
    for (int i = 0; i < 4; i++) {
        write_grey("none.pfm", 1, 1, &pixels[i]);
        EXPECT(0, "exposure %s --clip 5,95 --backend cpu --histogram %s -o %s",
               in_folder("none.pfm"), in_folder("none.svg"), in_folder("none_out.png"));
        CHECK(strstr(out, "x 1,") && strstr(out, "no pixel has a logarithm"));
        CHECK(strstr(out, "clip") == NULL && exists("none.svg") && exists("none_out.png"));
        EXPECT(0, "exposure %s --json --backend cpu", in_folder("none.pfm"));
        CHECK(is_json(out) && json_get("scale") == 1 && json_get("log_weight") == 0);
        CHECK(strstr(out, "\"log2_mean\": null") != NULL);
    }
}

TEST(exposure_stays_within_limits)
{
    static const float bright = 16; /* EV100 is 7 */
    static const struct {
        const char *limits;
        double ev100;
    } cases[] = {{"-2,3", 3}, {"8,9", 8}, {"5,7.5", 7}, {"0,0", 0}, {"0,1", 1}, {"4,4", 4}};
    write_grey("bright.pfm", 1, 1, &bright);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        EXPECT(0, "exposure %s --json --backend cpu --limits %s", in_folder("bright.pfm"),
               cases[i].limits);
        CHECK_NEAR(json_get("ev100"), cases[i].ev100, 1e-6);
        CHECK_NEAR(json_get("log2_target"), 4, 1e-6);
        CHECK_NEAR(json_get("scale"), 0.18 * exp2(3 - cases[i].ev100), 1e-5);
    }
}

TEST(exposure_adapts_over_a_sequence)
{
    static const float dark = 1, bright = 16;
    write_grey("f0.pfm", 1, 1, &dark);
    write_grey("f1.pfm", 1, 1, &bright);
    char first[128], second[128];
    snprintf(first, sizeof first, "%s", in_folder("f0.pfm"));
    snprintf(second, sizeof second, "%s", in_folder("f1.pfm"));
    /* Four stops away: three in a second, and one is left. */
    EXPECT(0, "exposure %s %s --fps 1 --json --backend cpu", first, second);
    CHECK(is_json(out));
    CHECK_NEAR(json_get("log2_average"), 0, 1e-6);
    CHECK_NEAR(json_get_last("log2_target"), 4, 1e-6);
    CHECK_NEAR(json_get_last("log2_average"), 3, 1e-5);
    EXPECT(0, "exposure %s %s --fps 1 --adapt 1,2 --json --backend cpu", second, first);
    CHECK_NEAR(json_get_last("log2_average"), 2, 1e-5);
    EXPECT(0, "exposure %s %s --no-adapt --json --backend cpu", first, second);
    CHECK_NEAR(json_get_last("log2_average"), 4, 1e-5);
    EXPECT(0, "exposure %s %s --backend cpu", first, second);
    CHECK(strstr(out, "EV100") && strstr(out, "f1.pfm"));
    EXPECT(2, "exposure %s %s -o %s", first, second, in_folder("one.png"));
    CHECK(strstr(err, "%04d") != NULL && !exists("one.png"));
    EXPECT(0, "exposure %s -o %s --backend cpu --frames 1-1", in_folder("f%d.pfm"),
           in_folder("from%02d.png"));
    CHECK(exists("from01.png") && !exists("from00.png"));
}

TEST(exposure_writes_pictures)
{
    static const float grey[] = {4, 4, 4, 4, 4, 4};
    tml_picture p;
    write_grey("four.pfm", 3, 2, grey);
    char path[128]; /* outlives many runs */
    snprintf(path, sizeof path, "%s", in_folder("four.pfm"));
    EXPECT(0, "exposure %s -o %s --tone srgb --backend cpu", path, in_folder("four.png"));
    /* The key: 0.18, which sRGB codes as 0.4614. */
    CHECK(first_sample("four.png", &p) == 118 && p.data == NULL);
    EXPECT(0, "exposure %s -o %s --tone srgb --bits 16 --backend cpu", path, in_folder("four.png"));
    CHECK_NEAR(first_sample("four.png", &p), 65535 * (1.055 * pow(0.18, 1 / 2.4) - 0.055), 2);
    EXPECT(2, "exposure %s -o %s --bits 32", path, in_folder("deep.png"));
    EXPECT(2, "exposure %s -o %s --bits 8", path, in_folder("deep.exr"));
    EXPECT(2, "exposure %s -o %s --bits 16", path, in_folder("deep.hdr"));
    CHECK(!exists("deep.png") && !exists("deep.exr") && !exists("deep.hdr"));
    if (run("exposure %s -o %s --bits 16 --backend cpu", path, in_folder("half.exr")) == 0) {
        EXPECT(0, "info %s", in_folder("half.exr"));
        CHECK(strstr(out, "1 x f16, OpenEXR"));
        EXPECT(0, "exposure %s -o %s --backend cpu", path, in_folder("whole.exr"));
        EXPECT(0, "info %s", in_folder("whole.exr"));
        CHECK(strstr(out, "1 x f32, OpenEXR"));
    }
    EXPECT(0, "exposure %s -o %s --tone srgb --backend cpu", path, in_folder("four.hdr"));
    CHECK_NEAR(first_sample("four.hdr", &p), 0.18, 0.001);
    EXPECT(0, "exposure %s -o %s --tone reinhard --backend cpu", path, in_folder("back.pfm"));
    CHECK_NEAR(first_sample("back.pfm", &p), 0.18 / 1.18, 1e-4);
    EXPECT(0, "exposure %s %s -o %s/s%%03d.png --backend cpu", path, path, folder);
    CHECK(exists("s000.png") && exists("s001.png") && !exists("s002.png"));
    CHECK(strstr(err, "alpha") == NULL);
    snprintf(path, sizeof path, "%s", test_path(TML_SOURCE_ROOT, "fuzz/seeds/picture/rgba.png"));
    EXPECT(0, "exposure %s -o %s --backend cpu", path, in_folder("rgba.pfm"));
    CHECK(strstr(err, "warning: alpha was left out") != NULL);
    EXPECT(0, "exposure %s -o %s --backend cpu", path, in_folder("rgba.png"));
    CHECK(strstr(err, "alpha") == NULL);
}

TEST(mips_are_files_a_level)
{
    static const float ramp[] = {0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24};
    tml_picture p;
    write_grey("ramp.pfm", 5, 3, ramp);
    EXPECT(0, "mips %s -o %s --backend cpu", in_folder("ramp.pfm"), in_folder("ramp.pfm"));
    CHECK(first_sample("ramp_0.pfm", &p) == 0 && exists("ramp_1.pfm") && !exists("ramp_3.pfm"));
    CHECK_NEAR(first_sample("ramp_2.pfm", &p), 12, 1e-4); /* the mean */
    EXPECT(0, "mips %s -o %s --json --levels 2 --backend cpu", in_folder("ramp.pfm"),
           in_folder("two.hdr"));
    CHECK(is_json(out) && json_get_last("width") == 2 && json_get_last("height") == 1);
    CHECK(exists("two_1.hdr") && !exists("two_2.hdr"));
    CHECK(err[0] == '\0');
    /* Three levels of 5 x 3, 2 x 1 and 1 x 1, enlarged to at most 40 x 24, so that the sheet has
     * 128 pixels, with gaps of 4; the mean is 0.18. */
    EXPECT(0, "mips %s --sheet %s --backend cpu", in_folder("ramp.pfm"), in_folder("levels.png"));
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml));
    if (CHECK_OK(tml, tml_picture_load(tml, in_folder("levels.png"), NULL, &p))) {
        const uint8_t *rgba = p.data;
        uint64_t last = p.channels * (uint64_t)(44 + 44);
        CHECK(p.width == 128 && p.height == 24 && rgba[0] == 0);
        CHECK(rgba[last] == 118 && rgba[last + 1] == 118); /* 0.18 in sRGB */
        tml_picture_free(tml, &p);
    }
    tml_close(tml);
    EXPECT(2, "mips %s", in_folder("ramp.pfm"));
    static const float broken[] = {1, NAN, 1, 1};
    write_grey("broken.pfm", 2, 2, broken);
    EXPECT(0, "mips %s -o %s --backend cpu", in_folder("broken.pfm"), in_folder("broken.pfm"));
    CHECK(strstr(err, "warning: the picture has pixels that are NaN") != NULL);
}

/* Each kind there and back; what a format cannot hold is told. */
TEST(convert_keeps_what_the_formats_hold)
{
    char path[128], at[5][128];
    snprintf(path, sizeof path, "%s",
             write_text("tetra.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                     "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"));
    static const char *const meshes[] = {"t.ply", "t.stl", "t.glb", "t.vtp", "t.obj"};
    for (int i = 0; i < 5; i++)
        snprintf(at[i], sizeof at[i], "%s", in_folder(meshes[i]));
    for (int i = 0; i < 5; i++) {
        EXPECT(0, "convert %s -o %s --json", i ? at[i - 1] : path, at[i]);
        CHECK(is_json(out) && strstr(out, "\"kind\": \"mesh\""));
        EXPECT(0, "info %s --json", at[i]);
        CHECK_NEAR(json_get("volume"), 1.0 / 6, 1e-6);
    }
    make_nifti("scaled.nii", ball(false), 2, -3);
    EXPECT(0, "convert %s -o %s", in_folder("scaled.nii"), in_folder("v.nrrd"));
    CHECK(err[0] == '\0');
    EXPECT(0, "convert %s -o %s -q", in_folder("v.nrrd"), in_folder("v.mha"));
    EXPECT(0, "convert %s -o %s", in_folder("v.nrrd"), in_folder("v.npy"));
    CHECK(strstr(err, "values are 2 x sample -3; .nrrd does"));
    EXPECT(0, "convert %s -o %s -q", in_folder("v.mha"), in_folder("w.npy"));
    same_files("v.npy", "w.npy");
    write_text("p.xyz", "1 2 3\n4 5 6\n7 8 10\n");
    EXPECT(0, "convert %s -o %s", in_folder("p.xyz"), in_folder("p.ply"));
    EXPECT(0, "info %s --json", in_folder("p.ply"));
    CHECK(strstr(out, "\"kind\": \"points\"") && json_get("points") == 3);
    static const float row[] = {0, 0.5f, 1, 2, 1e5f, 6e4f};
    write_grey("f.pfm", 3, 2, row);
    EXPECT(1, "convert %s -o %s", in_folder("f.pfm"), in_folder("f.png"));
    CHECK(strstr(err, "trommel exposure") && !exists("f.png"));
    EXPECT(0, "convert %s -o %s", in_folder("f.pfm"), in_folder("f.hdr"));
    tml_picture p;
    if (run("convert %s -o %s", in_folder("f.pfm"), in_folder("f.exr")) == 0) {
        EXPECT(0, "convert %s -o %s", in_folder("f.exr"), in_folder("g.pfm"));
        same_files("f.pfm", "g.pfm");
    }
    EXPECT(0, "exposure %s -o %s -q", in_folder("f.pfm"), in_folder("e.png"));
    EXPECT(0, "convert %s -o %s", in_folder("e.png"), in_folder("e.pfm"));
    CHECK(first_sample("e.pfm", &p) == 0);
}

/* Runs a line of the shell in the folder, with "trommel" for the program. */
static int shell_run(const char *line)
{
    char text[4096];
    snprintf(text, sizeof text,
             "cd '%s'; trommel() { '%s' \"$@\"; }; { %s\n} >stdout.txt 2>stderr.txt", folder,
             getenv("TML_CLI"), line);
    int status = system(text);
    test_read_text(in_folder("stdout.txt"), out, OUTPUT_SIZE);
    test_read_text(in_folder("stderr.txt"), err, OUTPUT_SIZE);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* From pipes and from redirected files, to pipes and to files: the bytes that names would give. */
TEST(standard_input_and_output)
{
    make_ball();
    write_text("quad.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
    float numbers[] = {1, 5, 2, 7};
    make_npy("in.npy", "<f4", 4, numbers, sizeof numbers);
    CHECK_EQ_I64(shell_run("trommel surface ball_32x32x32_uint8.raw --iso 128 -o named.ply -q"), 0);
    CHECK_EQ_I64(
        shell_run("cat ball_32x32x32_uint8.raw | trommel surface - --dims 32,32,32 --type u8 "
                  "--iso 128 -o - >piped.ply"),
        0);
    same_files("named.ply", "piped.ply");
    CHECK(strstr(err, "standard output, "));
    CHECK_EQ_I64(shell_run("trommel surface - --dims 32,32,32 --type u8 --iso 128 --json -o -.ply "
                           "<ball_32x32x32_uint8.raw | cat >piped.ply"),
                 0);
    same_files("named.ply", "piped.ply");
    CHECK(is_json(err) && strstr(err, "\"file\": \"standard input\""));
    CHECK_EQ_I64(shell_run("cat quad.obj | trommel convert - -o -.stl -q | trommel info -"), 0);
    CHECK(strstr(out, "standard input: mesh, STL"));
    CHECK_EQ_I64(shell_run("cat in.npy | trommel compact - --at-least 3 -o - -q >out.npy"), 0);
    float kept[4] = {0};
    CHECK_EQ_U64(read_npy("out.npy", kept, sizeof kept), 8);
    CHECK(kept[0] == 5 && kept[1] == 7);
    /* What cannot be. */
    CHECK_EQ_I64(shell_run("trommel collide - - <quad.obj"), 2);
    CHECK(strstr(err, "named twice"));
    CHECK_EQ_I64(shell_run("trommel convert - -o quad.obj <quad.obj"), 2);
    CHECK(strstr(err, "is an input"));
    CHECK_EQ_I64(shell_run("trommel surface - -o - --png -.png <quad.obj"), 2);
    CHECK(strstr(err, "two outputs are standard output"));
    CHECK_EQ_I64(shell_run("trommel mips - -o - <quad.obj"), 2);
    CHECK_EQ_I64(shell_run("echo nothing | trommel convert - -o none.ply"), 1);
    CHECK(strstr(err, "standard input: ") && !exists("none.ply"));
    CHECK_EQ_I64(shell_run("trommel convert quad.obj -o -.ply >/dev/full"), 1);
    CHECK(strstr(err, "standard output cannot be written: No space left"));
    CHECK_EQ_I64(shell_run("TMPDIR=/nowhere trommel convert quad.obj -o -.ply | cat"), 0);
    CHECK(strstr(err, "set TMPDIR") && out[0] == '\0');
    CHECK_EQ_I64(shell_run("mkdir spool; TMPDIR=spool trommel convert quad.obj -o -.ply -q | cat; "
                           "TMPDIR=spool trommel info none - 2>/dev/null; rmdir spool"),
                 0);
}

/* A ball, and a square with texture coordinates that do not meet at its seam. */
TEST(simplify_leaves_fewer_triangles)
{
    make_ball();
    if (run("surface %s --iso 128 --simplify 0.25 -o %s --json",
            in_folder("ball_32x32x32_uint8.raw"), in_folder("few.ply")) == 1 &&
        strstr(err, "built without meshoptimizer"))
        SKIP("the build has no meshoptimizer");
    CHECK(is_json(out));
    double before = json_get("triangles_before"), error = json_get_last("error");
    CHECK(before > 1000 && error > 0 && error < 1);
    EXPECT(0, "info %s --json", in_folder("few.ply"));
    CHECK(json_get("faces") <= before / 4 && json_get("faces") > before / 8);
    CHECK_NEAR(json_get("boundary_edges"), 0, 0);
    CHECK_NEAR(json_get("euler"), 2, 0);
    CHECK(strstr(out, "\"has_normals\": true"));
    EXPECT(0, "surface %s --iso 128 --simplify 100 -o %s", in_folder("ball_32x32x32_uint8.raw"),
           in_folder("hundred.ply"));
    CHECK(strstr(out, "100 triangles of"));
    /* By an error, or by what is reached first; a ball has no triangles that meet. */
    const char *ball_file = in_folder("ball_32x32x32_uint8.raw");
    EXPECT(0, "surface %s --iso 128 --simplify-error 0.1 --check -o %s --json", ball_file,
           in_folder("near.ply"));
    double farthest = json_get("farthest");
    CHECK(is_json(out) && json_get_last("error") <= 0.1);
    CHECK(farthest > 0.01 && farthest < 0.5 && json_get("mean_distance") < 0.1);
    CHECK(json_get("mean_distance") > 0.001 && strstr(out, "\"pairs\": 0"));
    CHECK_NEAR(json_get("boundary_edges"), 0, 0);
    CHECK_NEAR(json_get("nonmanifold_edges"), 0, 0);
    EXPECT(0, "info %s --json", in_folder("near.ply"));
    double near = json_get("faces");
    EXPECT(0, "surface %s --iso 128 --simplify-error 0.1 --simplify 0.5 -o %s --json", ball_file,
           in_folder("half.ply"));
    CHECK(near < before / 4 && json_get_last("error") < 0.1);
    EXPECT(0, "info %s --json", in_folder("half.ply"));
    CHECK(json_get("faces") > 0.4 * before && json_get("faces") > 2 * near);
    EXPECT(0, "convert %s --simplify 1000000 -o %s", in_folder("half.ply"), in_folder("all.ply"));
    CHECK(strstr(out, "moved by about 0\n"));
    EXPECT(2, "surface %s --iso 128 --check -o %s", ball_file, in_folder("none.ply"));
    EXPECT(2, "surface %s --iso 128 --simplify-error 0 -o %s", ball_file, in_folder("none.ply"));
    EXPECT(2, "surface %s --labels all --simplify 0.5 -o %s", ball_file, in_folder("none.ply"));
    char text[8192];
    int used = 0,
        n = 5; /* n x n squares; the left and the right half have coordinates of their own */
    for (int i = 0; i <= n * (n + 2); i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "v %d %d 0\nvt %d %d\nvt %d %d\n",
                         i % (n + 1), i / (n + 1), i % (n + 1), i / (n + 1), 50 + i % (n + 1),
                         i / (n + 1));
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            int v[4] = {y * (n + 1) + x, y * (n + 1) + x + 1, (y + 1) * (n + 1) + x + 1,
                        (y + 1) * (n + 1) + x};
            used += snprintf(text + used, sizeof text - (size_t)used, "f");
            for (int k = 0; k < 4; k++)
                used += snprintf(text + used, sizeof text - (size_t)used, " %d/%d", v[k] + 1,
                                 2 * v[k] + 1 + (x >= 2));
            used += snprintf(text + used, sizeof text - (size_t)used, "\n");
        }
    write_text("sheet.obj", text);
    EXPECT(0, "convert %s --simplify 6 -o %s", in_folder("sheet.obj"), in_folder("plain.obj"));
    EXPECT(0, "info %s --json", in_folder("plain.obj"));
    CHECK(json_get("faces") < 20 && json_get("faces") >= 4);
    CHECK_NEAR(json_get("area"), 25, 1e-9);
    tml_context *tml = NULL;
    tml_mesh_file mesh;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.threads = 1}, &tml));
    if (CHECK_OK(tml, tml_mesh_load(tml, in_folder("plain.obj"), NULL, &mesh))) {
        const uint32_t *indices = mesh.mesh.indices, *uvs = mesh.mesh.uv_indices;
        for (uint64_t c = 0; CHECK(uvs != NULL) && c < 3 * mesh.mesh.triangle_count; c++) {
            const float *at = mesh.mesh.positions + 3 * indices[c],
                        *uv = mesh.mesh.uvs + 2 * uvs[c];
            const float *a = mesh.mesh.positions + 3 * indices[c / 3 * 3],
                        *b = mesh.mesh.positions + 3 * indices[c / 3 * 3 + 1],
                        *d = mesh.mesh.positions + 3 * indices[c / 3 * 3 + 2];
            bool is_right = a[0] + b[0] + d[0] > 6; /* of the seam, at 2 */
            CHECK(uv[0] == at[0] + (is_right ? 50 : 0) && uv[1] == at[1]);
        }
        tml_mesh_file_free(tml, &mesh);
    }
    tml_close(tml);
    EXPECT(2, "convert %s --simplify 0 -o %s", in_folder("sheet.obj"), in_folder("none.obj"));
    EXPECT(2, "convert %s --simplify 1.5 -o %s", in_folder("sheet.obj"), in_folder("none.obj"));
    EXPECT(2, "surface %s --iso 1,2 --simplify 0.5 -o %s", in_folder("ball_32x32x32_uint8.raw"),
           in_folder("none.ply"));
    EXPECT(2, "surface %s --iso 1 --slabs 2 --simplify 0.5 -o %s",
           in_folder("ball_32x32x32_uint8.raw"), in_folder("none.ply"));
    CHECK(!exists("none.obj") && !exists("none.ply"));
}

/* The rows of a PLY's vertices, of size bytes each; *faces: what follows them. */
static const char *ply_rows(const char *name, size_t size, char *text, int *count,
                            const char **faces)
{
    test_read_text(in_folder(name), text, OUTPUT_SIZE);
    const char *element = strstr(text, "element vertex"), *at = strstr(text, "end_header\n");
    *count = 0;
    if (!CHECK(element && at && sscanf(element, "element vertex %d", count) == 1))
        return NULL;
    at += strlen("end_header\n");
    *faces = at + size * (size_t)*count;
    return at;
}

TEST(simplify_keeps_what_vertices_carry)
{
    enum { ROW = 40 }; /* position, normal, velocity, heat */
    static char before[OUTPUT_SIZE], after[OUTPUT_SIZE];
    const char *faces;
    char *to = before;
    int count, count_after;
    to += snprintf(to, 100, "x y z vx vy vz heat\n");
    for (int i = 0; i < 125; i++)
        to += snprintf(to, 100, "%d %d %d %d 2 %d %d\n", i % 5, i / 5 % 5, i / 25, i / 25, i % 5,
                       i / 5 % 5);
    write_text("carried.xyz", before);
    EXPECT(0, "surface %s --cell 0.5 --radius 2 --attribute velocity,heat -o %s",
           in_folder("carried.xyz"), in_folder("carried.ply"));
    if (run("surface %s --cell 0.5 --radius 2 --attribute velocity,heat --simplify 0.3 -o %s "
            "--png %s",
            in_folder("carried.xyz"), in_folder("carried_few.ply"), in_folder("carried.png")) &&
        strstr(err, "built without meshoptimizer"))
        SKIP("the build has no meshoptimizer");
    const char *rows = ply_rows("carried.ply", ROW, before, &count, &faces);
    const char *kept = ply_rows("carried_few.ply", ROW, after, &count_after, &faces);
    CHECK(count_after > 50 && count_after < count / 2 && exists("carried.png"));
    for (int i = 0; rows && kept && i < count_after; i++) {
        int k = 0;
        while (k < count && memcmp(kept + ROW * i, rows + ROW * k, ROW) != 0)
            k++;
        if (!CHECK(k < count))
            break;
    }
}

/* A box of two labels, one of them negative, side by side: a closed mesh in a file for each. */
TEST(labels_are_files_of_their_own)
{
    static int8_t box[BALL * BALL * BALL];
    for (int i = 0; i < BALL * BALL * BALL; i++) {
        const int x = i % BALL, y = i / BALL % BALL, z = i / BALL / BALL;
        const bool is_in = x >= 8 && x < 24 && y >= 8 && y < 24 && z >= 8 && z < 24;
        box[i] = (int8_t)(!is_in ? 0 : x >= 16 ? 12 : -5);
    }
    write_file("box_32x32x32_int8.raw", NULL, 0, box, sizeof box);
    char in[256];
    snprintf(in, sizeof in, "%s", in_folder("box_32x32x32_int8.raw"));
    EXPECT(0, "surface %s --labels all --separate -o %s --json", in, in_folder("box%03d.ply"));
    CHECK(is_json(out) && strstr(out, "box-05.ply") && strstr(out, "box012.ply"));
    CHECK(exists("box-05.ply") && exists("box012.ply"));
    for (int label = 0; label < 2; label++) {
        EXPECT(0, "info %s --json", in_folder(label ? "box012.ply" : "box-05.ply"));
        CHECK_NEAR(json_get("vertices"), 1026, 0);
        CHECK_NEAR(json_get("faces"), 2 * 1024, 0); /* quads: 16 x 16 twice, 8 x 16 four times */
        CHECK_NEAR(json_get("boundary_edges"), 0, 0);
        CHECK_NEAR(json_get("nonmanifold_edges"), 0, 0);
        CHECK_NEAR(json_get("euler"), 2, 0);
        CHECK_NEAR(json_get("volume"), 8 * 16 * 16, 1e-2);
    }
    /* Without a number all of them are in one file; of the shared boundary there are fewer
     * quads. */
    EXPECT(0, "surface %s --labels all --separate --smooth 3 --quads -o %s", in,
           in_folder("both.ply"));
    EXPECT(0, "info %s --json", in_folder("both.ply"));
    CHECK_NEAR(json_get("vertices"), 2 * 1026, 0);
    CHECK_NEAR(json_get("faces"), 2 * 1024, 0);
    CHECK_NEAR(json_get("components"), 2, 0);
    EXPECT(0, "surface %s --labels all --quads -o %s --json", in, in_folder("shared.obj"));
    CHECK_NEAR(json_get("quads"), 2 * 1024 - 256, 0);
    EXPECT(0, "info %s --json", in_folder("shared.obj"));
    CHECK_NEAR(json_get("faces"), 2 * 1024 - 256, 0);
    EXPECT(1, "surface %s --labels all --quads -o %s", in, in_folder("shared.stl"));
    CHECK(strstr(err, "triangles only") && !exists("shared.stl"));
    /* In slabs, the same files. */
    static const char *const endings[] = {"ply", "vtp", "stl", "obj", "glb"};
    char whole[32], slabs[32];
    for (int e = 0; e < 5; e++) {
        snprintf(whole, sizeof whole, "whole.%s", endings[e]);
        snprintf(slabs, sizeof slabs, "slabs.%s", endings[e]);
        EXPECT(0, "surface %s --labels all --smooth 7 --caps -o %s --json", in, in_folder(whole));
        const double components = json_get("components");
        EXPECT(0, "surface %s --labels all --smooth 7 --caps --slabs %d -o %s --json", in,
               3 + 5 * e, in_folder(slabs));
        CHECK_NEAR(json_get("components"), components, 0);
        same_files(whole, slabs);
    }
    static const char *const of_quads[] = {"ply", "vtp", "obj"};
    for (int e = 0; e < 3; e++) {
        snprintf(whole, sizeof whole, "whole.%s", of_quads[e]);
        snprintf(slabs, sizeof slabs, "slabs.%s", of_quads[e]);
        EXPECT(0, "surface %s --labels all --smooth 7 --quads -o %s", in, in_folder(whole));
        EXPECT(0, "surface %s --labels all --smooth 7 --quads --slabs %d -o %s --json", in,
               3 + 5 * e, in_folder(slabs));
        CHECK_NEAR(json_get("quads"), 2 * 1024 - 256, 0);
        same_files(whole, slabs);
    }
    EXPECT(1, "surface %s --labels all --quads --slabs 3 -o %s", in, in_folder("shared.stl"));
    CHECK(strstr(err, "triangles only") && !exists("shared.stl"));
    EXPECT(2, "surface %s --iso 3 --smooth 7 --slabs 3 -o %s", in, in_folder("x.ply"));
    /* Of a sequence the number is the frame's. */
    EXPECT(0, "surface %s %s --labels all --separate -o %s", in, in, in_folder("frame%d.ply"));
    CHECK(exists("frame0.ply") && exists("frame1.ply"));
    EXPECT(2, "surface %s --labels all --separate --largest -o %s", in, in_folder("x.ply"));
    CHECK(strstr(err, "--separate of --labels and --largest"));
    EXPECT(2, "surface %s --separate -o %s", in, in_folder("x.ply"));
    EXPECT(2, "surface %s --labels all --separate --slabs 3 -o %s", in, in_folder("x.ply"));
}

/* Two boxes of 3 x 3 x 3 samples in 12 x 6 x 6 of background. */
enum { BOXES_X = 12, BOXES_YZ = 6, BOXES_COUNT = BOXES_X * BOXES_YZ * BOXES_YZ };

static int box_of(uint64_t i)
{
    const uint64_t x = i % BOXES_X, y = i / BOXES_X % BOXES_YZ, z = i / BOXES_X / BOXES_YZ;
    const bool is_in = y >= 1 && y < 4 && z >= 1 && z < 4;
    return !is_in ? 0 : x >= 1 && x < 4 ? 1 : x >= 6 && x < 9 ? 2 : 0;
}

TEST(labels_of_64_bits_are_exact)
{
    uint64_t ids[BOXES_COUNT];
    int64_t numbers[BOXES_COUNT];
    char in[512], signed_in[512];
    const uint64_t first = UINT64_C(720575940621234567);
    for (uint64_t i = 0; i < BOXES_COUNT; i++) {
        ids[i] = box_of(i) ? first + (uint64_t)box_of(i) - 1 : 0;
        numbers[i] = box_of(i) == 1 ? -3 : box_of(i);
    }
    write_file("ids_12x6x6_u64.raw", NULL, 0, ids, sizeof ids);
    write_file("signed_12x6x6_i64.raw", NULL, 0, numbers, sizeof numbers);
    snprintf(in, sizeof in, "%s --dims 12,6,6 --type u64", in_folder("ids_12x6x6_u64.raw"));
    snprintf(signed_in, sizeof signed_in, "%s --dims 12,6,6 --type i64",
             in_folder("signed_12x6x6_i64.raw"));
    EXPECT(0, "info %s --json", in);
    CHECK(strstr(out, "\"min\": 0,") && strstr(out, "\"max\": 720575940621234568,"));
    EXPECT(0, "info %s", signed_in);
    CHECK(strstr(out, "-3 to 2, mean"));
    EXPECT(0, "surface %s --labels 720575940621234568 -o %s --json", in, in_folder("one.obj"));
    CHECK(strstr(out, "\"value\": 720575940621234568,"));
    const double triangles = json_get("triangles");
    EXPECT(0, "surface %s --labels 720575940621234568,720575940621234567 -o %s --json", in,
           in_folder("two.obj"));
    CHECK(strstr(out, "\"value\": 720575940621234567,"));
    CHECK_NEAR(json_get("triangles"), 2 * triangles, 0);
    /* Labels have no low inside to be raised, which would make floats of them. */
    EXPECT(0, "surface %s --labels 720575940621234568 --caps --flip -o %s --json", in,
           in_folder("one.obj"));
    CHECK_NEAR(json_get("triangles"), triangles, 0);
    EXPECT(0, "surface %s --labels all --separate -o %s", in, in_folder("organ_%d.stl"));
    CHECK(exists("organ_720575940621234567.stl") && exists("organ_720575940621234568.stl"));
    CHECK(strstr(out, "720575940621234567, 720575940621234568"));
    /* PLY has 32 bits; what the message says works. */
    EXPECT(1, "surface %s --labels all --smooth 2 -o %s", in, in_folder("ids.ply"));
    CHECK(strstr(err, "label 720575940621234567 needs 64 bits") && strstr(err, "write .vtp"));
    CHECK(!exists("ids.ply"));
    EXPECT(1, "surface %s --labels all --smooth 2 --slabs 2 -o %s", in, in_folder("ids.ply"));
    CHECK(strstr(err, "needs 64 bits") && !exists("ids.ply"));
    EXPECT(0, "surface %s --labels all --smooth 2 -o %s", in, in_folder("ids.vtp"));
    EXPECT(0, "surface %s --labels all --smooth 2 -o %s", signed_in, in_folder("whole.ply"));
    EXPECT(0, "surface %s --labels all --smooth 2 --slabs 2 -o %s", signed_in,
           in_folder("slabs.ply"));
    same_files("whole.ply", "slabs.ply");
    static char text[OUTPUT_SIZE];
    const size_t size = read_bytes("whole.ply", text);
    CHECK(size > 400);
    text[400] = '\0';
    CHECK(strstr(text, "property int label\nproperty int other_label\n"));
    EXPECT(0, "surface %s --labels 2,-3 -o %s", signed_in, in_folder("both.obj"));
    CHECK(strstr(out, "-3, 2"));
    EXPECT(1, "surface %s --labels 18446744073709551613 -o %s", signed_in, in_folder("none.obj"));
    CHECK(strstr(err, "18446744073709551613 is no value of i64"));
    EXPECT(1, "surface %s --labels -3 -o %s", in, in_folder("none.obj"));
    EXPECT(2, "surface %s --labels 18446744073709551616 -o %s", in, in_folder("none.obj"));
}

TEST(labels_are_physical_values)
{
    static uint8_t box[BALL * BALL * BALL];
    static double floats[BALL * BALL * BALL];
    for (int i = 0; i < BALL * BALL * BALL; i++) {
        const int x = i % BALL, y = i / BALL % BALL, z = i / BALL / BALL;
        const bool is_in = y >= 8 && y < 24 && z >= 8 && z < 24;
        box[i] = (uint8_t)(!is_in ? 0 : x >= 4 && x < 12 ? 2 : x >= 16 && x < 24 ? 4 : 0);
        floats[i] = box[i] / 2.0;
    }
    make_nifti("plain.nii", box, 1, 0);
    EXPECT(0, "surface %s --labels 2,4 -o %s", in_folder("plain.nii"), in_folder("plain.obj"));
    make_nifti("half.nii", box, 0.5f, 0);
    EXPECT(0, "surface %s --labels 1,2 -o %s", in_folder("half.nii"), in_folder("half.obj"));
    same_files("plain.obj", "half.obj");
    make_nifti("tenth.nii", box, 0.1f, 0.1f); /* 0.1, 0.3, 0.5: no labels */
    EXPECT(1, "surface %s --labels 1 -o %s", in_folder("tenth.nii"), in_folder("none.obj"));
    CHECK(strstr(err, "sample 0,0,0 is 0.1") && strstr(err, "no whole number"));
    EXPECT(0, "surface %s --iso 0.2 -o %s", in_folder("tenth.nii"), in_folder("value.obj"));
    for (int i = 0; i < BALL * BALL * BALL; i++)
        box[i] = (uint8_t)(box[i] * 10); /* 20 and 40, by a tenth in 32 bits, which is not one */
    make_nifti("tenth.nii", box, 0.1f, 0);
    EXPECT(0, "surface %s --labels 2,4 -o %s", in_folder("tenth.nii"), in_folder("tenth.obj"));
    same_files("plain.obj", "tenth.obj");
    write_file("floats.raw", NULL, 0, floats, sizeof floats);
    char in[512];
    snprintf(in, sizeof in, "%s --dims 32,32,32 --type f64", in_folder("floats.raw"));
    EXPECT(0, "surface %s --labels 1,2 -o %s", in, in_folder("floats.obj"));
    same_files("plain.obj", "floats.obj");
    EXPECT(0, "surface %s --labels all --smooth 3 -o %s", in, in_folder("floats.ply"));
    EXPECT(1, "surface %s --labels 1 --slabs 4 -o %s", in, in_folder("none.obj"));
    CHECK(strstr(err, "leave out --slabs") && strstr(err, "f64"));
    floats[5 + BALL] = 0.25;
    write_file("floats.raw", NULL, 0, floats, sizeof floats);
    EXPECT(1, "surface %s --labels 1 -o %s", in, in_folder("none.obj"));
    CHECK(strstr(err, "sample 5,1,0 is 0.25"));
    /* What is not there is told, and so is what is there beside. */
    EXPECT(0, "surface %s --labels 2,7 -o %s", in_folder("plain.nii"), in_folder("some.obj"));
    CHECK(strstr(err, "warning: --labels: 7: no sample of"));
    CHECK(strstr(out, "others     4 (background)"));
    EXPECT(1, "surface %s --labels 2,7 -o %s --strict", in_folder("plain.nii"),
           in_folder("none.obj"));
    EXPECT(1, "surface %s --labels 7 -o %s", in_folder("plain.nii"), in_folder("none.obj"));
    CHECK(strstr(err, "the volume has 2, 4") && !exists("none.obj"));
}

TEST(labels_of_reports_are_read)
{
    static const struct {
        const char *file, *options;
    } rows[] = {{"labels_u64.npy", "--labels 720575940621234568 -o x.vtp"},
                {"labels_i64.npy", "--labels all --smooth 8 -o x.ply"},
                {"labels_i64.npy", "--labels all --separate -o x.ply"},
                {"labels_f64.nii", "--labels 1,2 -o x.ply"},
                {"labels_scaled.nii", "--labels 1,2 -o x.ply"}};
    if (!test_full_data("reports"))
        SKIP("TML_DATA has no reports");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char options[128];
        snprintf(options, sizeof options, "%s", rows[i].options);
        char *name = strstr(options, " -o ") + 4;
        char path[64];
        snprintf(path, sizeof path, "%s", name);
        *name = '\0';
        char file[512], in[64];
        snprintf(in, sizeof in, "reports/%s", rows[i].file);
        snprintf(file, sizeof file, "%s", test_full_data(in));
        EXPECT(0, "surface %s %s %s --json", file, options, in_folder(path));
        CHECK(strstr(err, "warning") == NULL);
        if (i == 0)
            CHECK_NEAR(json_get("triangles"), 188, 0);
    }
}

/* Cubes of one label that touch at an edge and at a corner: by place, as STL is read, a
 * manifold. */
TEST(a_separate_label_is_a_manifold_by_place)
{
    static uint8_t box[BALL * BALL * BALL];
    for (int i = 0; i < BALL * BALL * BALL; i++) {
        const int x = i % BALL, y = i / BALL % BALL, z = i / BALL / BALL;
        const bool first = x < 10 && y < 10 && z < 10, edge = x >= 10 && y >= 10 && z < 10,
                   corner = x >= 10 && x < 20 && y < 10 && z >= 10 && z < 20;
        box[i] = first || corner || (edge && x < 20 && y < 20);
    }
    make_nifti("touching.nii", box, 1, 0);
    for (int smooth = 0; smooth < 40; smooth += 13) {
        EXPECT(0, "surface %s --labels 1 --separate --smooth %d -o %s", in_folder("touching.nii"),
               smooth, in_folder("touching.stl"));
        EXPECT(0, "info %s --json", in_folder("touching.stl"));
        CHECK_NEAR(json_get("nonmanifold_edges"), 0, 0);
        CHECK_NEAR(json_get("boundary_edges"), 0, 0);
    }
}

/* A box of two labels, side by side: their sheets and what is outside keep their places, labels and
 * outlines. */
TEST(simplify_keeps_where_labels_meet)
{
    static uint8_t box[BALL * BALL * BALL];
    static char text[OUTPUT_SIZE];
    const char *face = NULL;
    int count = 0, faces = 0, seam = 0;
    for (int i = 0; i < BALL * BALL * BALL; i++) {
        int x = i % BALL, y = i / BALL % BALL, z = i / BALL / BALL;
        bool is_in = x >= 8 && x < 24 && y >= 8 && y < 24 && z >= 8 && z < 24;
        box[i] = (uint8_t)(is_in ? 1 + (x >= 16) : 0);
    }
    make_nifti("box.nii", box, 1, 0);
    if (run("surface %s --labels all --smooth 0 --simplify-error 0.01 -o %s", in_folder("box.nii"),
            in_folder("box.ply")) &&
        strstr(err, "built without meshoptimizer"))
        SKIP("the build has no meshoptimizer");
    const char *rows = ply_rows("box.ply", 12, text, &count, &face);
    CHECK(rows && sscanf(strstr(text, "element face"), "element face %d", &faces) == 1);
    CHECK(faces > 100 && faces < 1000); /* of 3,584 */
    double areas[3][3] = {{0}};
    for (int f = 0; f < faces; f++, face += 15) { /* 3, three corners, two labels */
        uint32_t corners[3];
        float at[3][3];
        uint8_t labels[2];
        memcpy(corners, face + 1, sizeof corners);
        memcpy(labels, face + 13, sizeof labels);
        for (int k = 0; k < 3; k++)
            memcpy(at[k], rows + 12 * corners[k], sizeof at[k]);
        double u[3], v[3];
        for (int k = 0; k < 3; k++) {
            u[k] = (double)(at[1][k] - at[0][k]);
            v[k] = (double)(at[2][k] - at[0][k]);
        }
        double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                       u[0] * v[1] - u[1] * v[0]};
        if (CHECK(labels[0] < 3 && labels[1] < 3))
            areas[labels[0]][labels[1]] += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
    }
    CHECK_NEAR(areas[1][2] + areas[2][1], 256, 1e-3);
    CHECK_NEAR(areas[1][0] + areas[0][1], 768, 1e-3);
    CHECK_NEAR(areas[2][0] + areas[0][2], 768, 1e-3);
    for (int i = 0; i < count; i++) {
        float at[3];
        memcpy(at, rows + 12 * i, sizeof at);
        bool is_edge = at[1] == 7.5f || at[1] == 23.5f || at[2] == 7.5f || at[2] == 23.5f;
        seam += at[0] == 15.5f && is_edge;
    }
    CHECK_EQ_I64(seam, 64);
}

/* A ball of 0 and 255: stairs, which go; how large it is stays. */
TEST(smooth_takes_stairs_away)
{
    static uint8_t stairs[BALL * BALL * BALL];
    for (int i = 0; i < BALL * BALL * BALL; i++)
        stairs[i] = ball_at(i % BALL, i / BALL % BALL, i / BALL / BALL) >= 128 ? 255 : 0;
    write_file("stairs_32x32x32_uint8.raw", NULL, 0, stairs, sizeof stairs);
    const char *volume = in_folder("stairs_32x32x32_uint8.raw");
    EXPECT(0, "surface %s --iso 128 -o %s --json", volume, in_folder("rough.ply"));
    double triangles = json_get("triangles");
    EXPECT(0, "info %s --json", in_folder("rough.ply"));
    double size = json_get("volume"), area = json_get("area");
    EXPECT(0, "surface %s --iso 128 --smooth 20 -o %s --json", volume, in_folder("soft.ply"));
    CHECK_NEAR(json_get("triangles"), triangles, 0);
    CHECK(strstr(out, "\"name\": \"smooth\""));
    EXPECT(0, "info %s --json", in_folder("soft.ply"));
    CHECK_NEAR(json_get("volume"), size, 0.02 * size);
    CHECK(json_get("area") < 0.97 * area);
    EXPECT(0, "convert %s --smooth 20 -o %s", in_folder("rough.ply"), in_folder("softer.ply"));
    CHECK(same_files("soft.ply", "softer.ply"));
    EXPECT(0, "convert %s --smooth 0 -o %s", in_folder("rough.ply"), in_folder("as_it_is.ply"));
    CHECK(same_files("rough.ply", "as_it_is.ply"));
    EXPECT(2, "surface %s --iso 128 --smooth 3 --soup -o %s", volume, in_folder("none.ply"));
    EXPECT(2, "surface %s --labels 255 --smooth 3 --flip -o %s", volume, in_folder("none.ply"));
    CHECK(strstr(err, "--flip") != NULL);
    EXPECT(2, "convert %s --smooth 2.5 -o %s", in_folder("rough.ply"), in_folder("none.ply"));
    CHECK(!exists("none.ply"));
}

/* A pool, whose bumps go, and a lone drop, which stays as it is. */
TEST(smooth_leaves_drops_alone)
{
    enum { ROW = 24, POOL = 12 * 12 * 4 }; /* position and normal */
    static char rough[OUTPUT_SIZE], soft[OUTPUT_SIZE];
    const char *faces;
    char *to = rough;
    int count, soft_count, drops = 0, moved = 0;
    uint32_t state = 1;
    for (int i = 0; i < POOL; i++) {
        double shift[3];
        for (int k = 0; k < 3; k++)
            shift[k] = ((state = state * 1664525u + 1013904223u) >> 16) % 100 / 250.0;
        to += snprintf(to, 100, "%.3f %.3f %.3f\n", i % 12 + shift[0], i / 12 % 12 + shift[1],
                       i / 144 + shift[2]);
    }
    snprintf(to, 100, "30 5 1\n");
    write_text("pool.xyz", rough);
    EXPECT(0, "surface %s --radius 2 --cell 0.25r -o %s", in_folder("pool.xyz"),
           in_folder("pool.ply"));
    EXPECT(0, "surface %s --radius 2 --cell 0.5 -o %s", in_folder("pool.xyz"),
           in_folder("same.ply"));
    CHECK(same_files("pool.ply", "same.ply"));
    EXPECT(0, "surface %s --radius 2 --cell 0.5 --smooth 10 -o %s", in_folder("pool.xyz"),
           in_folder("calm.ply"));
    EXPECT(0, "info %s --json", in_folder("pool.ply"));
    double area = json_get("area"), size = json_get("volume");
    EXPECT(0, "info %s --json", in_folder("calm.ply"));
    CHECK(json_get("area") < 0.97 * area);
    CHECK_NEAR(json_get("volume"), size, 0.1 * size);
    const char *from = ply_rows("pool.ply", ROW, rough, &count, &faces);
    const char *at = ply_rows("calm.ply", ROW, soft, &soft_count, &faces);
    CHECK_EQ_I64(count, soft_count);
    for (int i = 0; from && at && i < count && i < soft_count; i++) {
        float x[3];
        memcpy(x, from + ROW * i, sizeof x);
        bool is_same = memcmp(x, at + ROW * i, sizeof x) == 0;
        drops += x[0] > 20;
        moved += !is_same;
        if (!CHECK(x[0] < 20 || is_same))
            break;
    }
    CHECK(drops > 20 && moved > 500);
    /* The spacing decides the radius, and that the cell. */
    EXPECT(0, "surface %s --cell 0.2r -o %s --json", in_folder("pool.xyz"), in_folder("own.ply"));
    CHECK(json_get("radius") > 1.5 && json_get("radius") < 3);
    static const char *const wrong[] = {"2r", "r", "-1", "0r", "nanr", "0.5R", "infr"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        EXPECT(2, "surface %s --cell %s -o %s", in_folder("pool.xyz"), wrong[i],
               in_folder("none.ply"));
    CHECK(!exists("none.ply"));
}

TEST(convert_refuses_nonsense)
{
    make_nifti("n.nii", ball(false), 1, 0);
    char mesh[128];
    snprintf(mesh, sizeof mesh, "%s",
             write_text("m.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"));
    EXPECT(2, "convert %s -o %s", in_folder("n.nii"), in_folder("no.ply"));
    CHECK(strstr(err, "'trommel surface' makes a mesh"));
    EXPECT(2, "convert %s -o %s", mesh, in_folder("no.png"));
    CHECK(strstr(err, "not a format for a mesh"));
    EXPECT(2, "convert %s -o %s --up z", mesh, in_folder("no.ply"));
    EXPECT(2, "convert %s -o %s --frame 2", mesh, in_folder("no.ply"));
    EXPECT(2, "convert %s -o %s --weld always", in_folder("n.nii"), in_folder("no.nrrd"));
    EXPECT(2, "convert %s -o %s", mesh, mesh);
    EXPECT(2, "convert %s", mesh);
    EXPECT(1, "convert %s -o %s", in_folder("none"), in_folder("no.ply"));
    CHECK(!exists("no.ply") && !exists("no.nrrd") && !exists("no.png"));
}

/* Of whichever frame. */
TEST(picture_commands_spare_their_inputs)
{
    static const float ones[] = {1, 1};
    write_grey("in_0.pfm", 2, 1, ones);
    write_grey("in_1.pfm", 2, 1, ones);
    char first[128], second[128];
    snprintf(first, sizeof first, "%s", in_folder("in_0.pfm"));
    snprintf(second, sizeof second, "%s", in_folder("in_1.pfm"));
    CHECK(symlink("in_0.pfm", in_folder("link.pfm")) == 0);
    EXPECT(2, "exposure %s -o %s --backend cpu", first, first);
    EXPECT(2, "exposure %s -o %s --backend cpu", first, in_folder("link.pfm"));
    CHECK(strstr(err, "is an input") != NULL);
    EXPECT(2, "exposure %s %s -o %s --backend cpu", second, first, in_folder("in_%d.pfm"));
    EXPECT(2, "exposure %s -o %s --backend cpu", in_folder("in_%d.pfm"), in_folder("in_%01d.pfm"));
    write_text("both.png", "");
    CHECK(symlink("both.png", in_folder("both.svg")) == 0);
    EXPECT(2, "exposure %s -o %s --histogram %s --backend cpu", first, in_folder("both.png"),
           in_folder("both.svg"));
    CHECK(strstr(err, "are both") && unlink(in_folder("both.png")) == 0);
    EXPECT(2, "mips %s -o %s --backend cpu", second, in_folder("in.pfm"));
    CHECK(strstr(err, "in_1.pfm is an input") != NULL);
    tml_picture p;
    CHECK(first_sample("in_0.pfm", &p) == 1 && first_sample("in_1.pfm", &p) == 1);
    CHECK(!exists("both.png") && !exists("in_2.pfm"));
}

TEST(the_engine)
{
    const char *engine = test_data("engine_256x256x128_uint8.raw.gz");
    EXPECT(0, "surface %s --iso 80 -o %s --json", engine, in_folder("engine.ply"));
    CHECK(is_json(out));
    double vertices = json_get("vertices"), triangles = json_get("triangles");
    CHECK(triangles > 400000);
    char header[512] = {0}, wanted[64];
    FILE *file = fopen(in_folder("engine.ply"), "rb");
    if (!CHECK(file != NULL))
        return;
    CHECK(fread(header, 1, sizeof header - 1, file) > 100);
    fclose(file);
    snprintf(wanted, sizeof wanted, "element vertex %.0f\n", vertices);
    CHECK(strstr(header, wanted) != NULL);
    snprintf(wanted, sizeof wanted, "element face %.0f\n", triangles);
    CHECK(strstr(header, wanted) != NULL);
}

/* A volume of 8 MiB, with a mesh of 14, through 19 MiB of a device. */
TEST(a_volume_goes_through_a_small_device_in_slabs)
{
    const char *engine = test_data("engine_256x256x128_uint8.raw.gz");
    const char *whole = in_folder("whole.ply"), *slabs = in_folder("slabs.ply");
    static const char options[] = "--iso 100 --normals none --backend vulkan";
    if (run("devices") == 0 && !strstr(out, "Vulkan"))
        SKIP("there is no Vulkan device");
    EXPECT(0, "surface %s -o %s %s", engine, whole, options);
    EXPECT(0, "surface %s -o %s %s --device-memory 19M", engine, slabs, options);
    CHECK(size_of("whole.ply") > 0 && size_of("whole.ply") == size_of("slabs.ply"));
    char command[300];
    snprintf(command, sizeof command, "cmp %s %s", whole, slabs);
    CHECK(system(command) == 0);
    EXPECT(1, "surface %s -o %s %s --device-memory 4M", engine, slabs, options);
    CHECK(strstr(err, "the mesh is") != NULL);
}

static bool shell(const char *command)
{
    char line[600];
    snprintf(line, sizeof line, "cd %s && %s", folder, command);
    return system(line) == 0;
}

/* The same numbers by every path; a scan has none but integers. */
TEST(a_path_of_opengl_es_can_be_forced)
{
    static const char *const paths[] = {"integer", "float", "float-packed", "packed"};
    float numbers[1000], kept[1000];
    size_t count = 0;
    for (int i = 0; i < 1000; i++) {
        numbers[i] = (float)(i * 7919 % 1000) / 8;
        if (numbers[i] >= 60)
            kept[count++] = numbers[i];
    }
    make_npy("paths.npy", "<f4", 1000, numbers, sizeof numbers);
    make_npy("kept.npy", "<f4", count, kept, count * sizeof *kept);
    const char *in = in_folder("paths.npy"), *result = in_folder("path.npy");
    EXPECT(2, "compact %s -o %s --at-least 60 --gl-path packed --backend cpu", in, result);
    EXPECT(2, "compact %s -o %s --at-least 60 --gl-path bytes", in, result);
    if (run("devices") == 0 && !strstr(out, "OpenGL ES"))
        SKIP("there is no OpenGL ES device");
    for (int p = 0; p < 4; p++) {
        EXPECT(0, "compact %s -o %s --at-least 60 --gl-path %s", in, result, paths[p]);
        CHECK(shell("cmp path.npy kept.npy"));
    }
    EXPECT(1, "scan %s -o %s --gl-path packed", in, result);
    CHECK(strstr(err, "packed") != NULL);
}

/* What the driver compiled for a backend, in a file that begins with its name. */
static void compiled_is_kept(const char *backend)
{
    char line[300];
    static const uint32_t numbers[1000] = {5};
    make_npy("kept.npy", "<u4", 1000, numbers, sizeof numbers);
    snprintf(line, sizeof line, "scan %s -o %s --backend %s -q", in_folder("kept.npy"),
             in_folder("sums.npy"), backend);
    CHECK(shell("rm -rf cache"));
    setenv("XDG_CACHE_HOME", in_folder("cache/deep"), 1);
    EXPECT(0, "%s --no-cache", line);
    CHECK(!exists("cache/deep/trommel"));
    EXPECT(0, "%s", line);
    CHECK(shell("ls cache/deep/trommel/* > kept.txt && test $(wc -l < kept.txt) = 1"));
    CHECK(shell(strcmp(backend, "gl") == 0 ? "grep -q trommel/gl- kept.txt"
                                           : "grep -q trommel/vulkan- kept.txt"));
    CHECK(shell("cp $(cat kept.txt) good && cp sums.npy good.npy"));
    static const char *const damage[] = {
        ": > $(cat kept.txt)", "head -c 20 good > $(cat kept.txt)",
        "head -c 40 good > $(cat kept.txt)", "(cat good; echo) > $(cat kept.txt)",
        /* a byte of the data changed; and a size that is not the file's */
        "(head -c 30 good; printf x; tail -c +32 good) > $(cat kept.txt)",
        "(head -c 12 good; printf xxxx; tail -c +17 good) > $(cat kept.txt)"};
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        CHECK(shell(damage[i]));
        EXPECT(0, "%s", line);
        CHECK(err[0] == '\0' && shell("cmp sums.npy good.npy && cmp good $(cat kept.txt)"));
    }
    /* Nowhere to write to. */
    setenv("XDG_CACHE_HOME", in_folder("kept.npy"), 1);
    EXPECT(0, "%s", line);
    unsetenv("XDG_CACHE_HOME");
}

TEST(pipelines_are_kept_and_damaged_ones_ignored)
{
    if (run("devices") == 0 && !strstr(out, "Vulkan"))
        SKIP("there is no Vulkan device");
    compiled_is_kept("vulkan");
}

TEST(programs_of_opengl_are_kept_and_damaged_ones_ignored)
{
    if (run("devices") == 0 && !strstr(out, "OpenGL ES 3"))
        SKIP("there is no OpenGL ES 3 device");
    compiled_is_kept("gl");
}

TEST(what_auto_decides_by_is_measured_and_kept)
{
    setenv("XDG_CACHE_HOME", in_folder("speeds"), 1);
    EXPECT(0, "devices --measure");
    CHECK(strstr(out, "one thread makes surfaces") &&
          strstr(out, "Kept: --backend auto decides by these.\n"));
    CHECK(shell("ls speeds/trommel/speeds-* > kept.txt && test $(wc -l < kept.txt) = 1"));
    EXPECT(0, "devices --measure --json");
    CHECK(is_json(out) && strstr(out, "\"engine\": \"cpu\""));
    CHECK(json_get("volume_seconds_per_byte") > 1e-11 &&
          json_get("volume_seconds_per_byte") < 1e-6);
    CHECK(json_get("point_seconds_per_byte") > 1e-9 && json_get("point_seconds_per_byte") < 1e-4);
    CHECK(shell("ls speeds/trommel/speeds-* | cmp - kept.txt")); /* the same one */
    /* Not a word of them where they are damaged, or there is no place for them. */
    static const uint8_t samples[8] = {0, 0, 0, 0, 1, 1, 1, 1};
    make_npy("tiny.npy", "|u1", 8, samples, sizeof samples);
    CHECK(shell("echo >> $(cat kept.txt)"));
    EXPECT(0, "reduce %s", in_folder("tiny.npy"));
    CHECK(err[0] == '\0');
    setenv("XDG_CACHE_HOME", in_folder("tiny.npy"), 1);
    EXPECT(0, "devices --measure");
    CHECK(strstr(out, "Not kept: "));
    unsetenv("XDG_CACHE_HOME");
}

static void remove_folder(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command) != 0)
        printf("cannot remove %s\n", folder);
}

int main(int argc, char **argv)
{
    const char *program = getenv("TML_CLI");
    if (!program || access(program, X_OK) != 0) {
        printf("TML_CLI names no program\n");
        return TEST_EXIT_SKIPPED;
    }
    if (!mkdtemp(folder))
        return 1;
    atexit(remove_folder);
    return test_main(argc, argv);
}
