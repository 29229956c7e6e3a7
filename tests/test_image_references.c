/* What the library and the program measure in real pictures, against what tests/reference_images.py
 * found, which reads the files by code of its own and measures in double. */
#include <trommel/image.h>
#include <trommel/pictures.h>

#include "test.h"

/* ---- the references -------------------------------------------------------------------------- */

enum { NAME_SIZE = 96, MOST_REFERENCES = 64, PERCENT_COUNT = 5 };
static const int percents[PERCENT_COUNT] = {1, 5, 50, 95, 99};

/* A line of references.txt. size: a colour's magnitude that the value's error is relative to. */
typedef struct reference {
    char file[NAME_SIZE], luminance[NAME_SIZE];
    uint64_t pixels, positive, zero, negative, nan, infinite;
    struct {
        double value, size;
    } least, most, mean, deviation;
    double log2_mean, log2_percentiles[PERCENT_COUNT];
} reference;

static bool parse(const char *line, reference *r)
{
    int used = 0;
    if (sscanf(line,
               "%95s %95s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %lf %lf %lf %lf %lf %lf %lf %lf %lf%n",
               r->file, r->luminance, &r->pixels, &r->positive, &r->zero, &r->negative, &r->nan,
               &r->infinite, &r->least.value, &r->least.size, &r->most.value, &r->most.size,
               &r->mean.value, &r->mean.size, &r->deviation.value, &r->deviation.size,
               &r->log2_mean, &used) != 17)
        return false;
    char *at = (char *)(uintptr_t)line + used;
    for (int i = 0; i < PERCENT_COUNT; i++)
        r->log2_percentiles[i] = strtod(at, &at);
    return *at == '\n';
}

static reference references[MOST_REFERENCES];
static size_t read_references(void)
{
    FILE *file = fopen(test_data("pictures/references.txt"), "r");
    char line[1024];
    size_t count = 0;
    if (!CHECK(file != NULL))
        return 0;
    while (fgets(line, sizeof line, file))
        if (line[0] != '#' && CHECK(count < MOST_REFERENCES) &&
            CHECK(parse(line, &references[count])))
            count++;
    fclose(file);
    return count;
}

/* Where the file is: shipped with the sources or in the whole collection. NULL: nowhere. */
static const char *path_of(const reference *r, bool *is_shipped)
{
    const char *name = strrchr(r->file, '/') + 1;
    char shipped[NAME_SIZE + 16];
    snprintf(shipped, sizeof shipped, "pictures/%s", name);
    *is_shipped = true;
    if (strncmp(r->file, "fuzz/", 5) == 0)
        return test_path(TML_SOURCE_ROOT, r->file);
    if (access(test_data(shipped), R_OK) == 0)
        return test_data(shipped);
    *is_shipped = false;
    return test_full_data(r->file);
}

/* ---- comparison ------------------------------------------------------------------------------ */

/* float_means: an engine that computes means in float. */
static void compare(const char *who, const reference *r, const tml_image_stats *s, bool float_means)
{
    int before = test_failures;
    double rounding = 0x1p-22; /* what three roundings leave of a luminance, and some */
    double n = (double)r->pixels, tree = float_means ? (log2(n) + 32.0) * 0x1p-24 : 0.0;
    CHECK_EQ_U64(s->pixels, r->pixels);
    CHECK_EQ_U64(s->positive, r->positive);
    CHECK_EQ_U64(s->zero, r->zero);
    CHECK_EQ_U64(s->negative, r->negative);
    CHECK_EQ_U64(s->nan, r->nan);
    CHECK_EQ_U64(s->infinite, r->infinite);
    CHECK_EQ_U64(s->weight, r->positive + r->zero + r->negative);
    CHECK_EQ_U64(s->log_weight, r->positive);
    CHECK_NEAR(s->min, r->least.value, rounding * r->least.size);
    CHECK_NEAR(s->max, r->most.value, rounding * r->most.size);
    CHECK_NEAR(s->mean, r->mean.value, (rounding + tree) * r->mean.size);
    if (r->deviation.value < 0x1p63) /* its square is stored as floats */
        CHECK_NEAR(s->deviation, r->deviation.value,
                   (float_means ? 1e-4 : rounding) * r->deviation.size);
    CHECK_NEAR(s->log2_mean, r->log2_mean, 0x1p-20);
    CHECK_NEAR(s->geometric_mean, exp2(r->log2_mean), 0x1p-20 * exp2(r->log2_mean));
    double high = s->histogram_low + s->bin_width * TML_HISTOGRAM_BINS;
    for (int i = 0; i < PERCENT_COUNT; i++) {
        double wanted = fmin(fmax(r->log2_percentiles[i], s->histogram_low), high);
        CHECK_NEAR(tml_image_percentile(s, percents[i]), wanted, s->bin_width);
    }
    if (test_failures > before)
        printf("    %s, %s of %s\n", who, r->luminance, r->file);
}

/* ---- the library ----------------------------------------------------------------------------- */

#ifdef TML_PNG
enum { HAS_PNG = true };
#else
enum { HAS_PNG = false };
#endif

static bool has_exr(tml_context *tml)
{
    tml_picture p;
    tml_status status = tml_picture_load(
        tml, test_path(TML_SOURCE_ROOT, "fuzz/seeds/picture/half_none.exr"), NULL, &p);
    if (status == TML_OK)
        tml_picture_free(tml, &p);
    return status == TML_OK;
}

static void measure(tml_context *tml, const tml_picture *p, const reference *r, const char *who,
                    bool float_means)
{
    tml_buffer buffer = {0}, stats = {0};
    static tml_image_stats measured;
    bool is_max = strcmp(r->luminance, "max-rgb") == 0;
    CHECK_OK(tml, tml_buffer_create(tml,
                                    &(tml_buffer_desc){.type = p->type,
                                                       .count = p->size / tml_type_size(p->type),
                                                       .data = p->data},
                                    &buffer));
    CHECK_OK(tml,
             tml_buffer_create(
                 tml, &(tml_buffer_desc){.type = TML_U32, .count = TML_IMAGE_STATS_WORDS}, &stats));
    tml_image_measure_desc desc = {.image = {.buffer = buffer,
                                             .width = p->width,
                                             .height = p->height,
                                             .channels = p->channels,
                                             .srgb = p->srgb},
                                   .luminance.kind =
                                       is_max ? TML_LUMINANCE_MAX_RGB : TML_LUMINANCE_REC709,
                                   .stats = stats};
    if (CHECK_OK(tml, tml_image_measure(tml, &desc)) &&
        CHECK_OK(tml, tml_image_stats_read(tml, stats, &measured)))
        compare(who, r, &measured, float_means);
    tml_buffer_destroy(tml, buffer);
    tml_buffer_destroy(tml, stats);
}

static void measure_all(const tml_device_info *info, uint32_t device)
{
    char name[8];
    bool is_cpu = info->engine == TML_ENGINE_CPU, is_shipped;
    tml_context *tml = NULL;
    snprintf(name, sizeof name, "%u", device);
    if (!CHECK_OK(NULL, tml_open(&(tml_open_desc){.device = name}, &tml)))
        return;
    size_t count = read_references(), measured = 0;
    bool reads_exr = has_exr(tml);
    for (size_t i = 0; i < count; i++) {
        const char *path = path_of(&references[i], &is_shipped);
        tml_picture p;
        if (!path || (!is_shipped && !is_cpu) || (!reads_exr && strstr(path, ".exr")) ||
            (!HAS_PNG && strstr(path, ".png")))
            continue;
        if (!CHECK_OK(tml, tml_picture_load(tml, path, NULL, &p)))
            continue;
        measure(tml, &p, &references[i], info->name, !is_cpu);
        measured++;
        tml_picture_free(tml, &p);
    }
    printf("  %s: %zu of %zu\n", info->name, measured, count);
    CHECK(measured >= (HAS_PNG ? 12 : 8));
    tml_close(tml);
}

TEST(devices_measure_what_the_reference_does)
{
    enum { MOST_DEVICES = 8 };
    tml_device_info infos[MOST_DEVICES];
    uint32_t count = tml_devices(infos, MOST_DEVICES);
    for (uint32_t d = 0; d < count && d < MOST_DEVICES; d++)
        measure_all(&infos[d], d);
}

/* ---- the program ----------------------------------------------------------------------------- */

static double json_number(const char *json, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *found = strstr(json, key);
    return found && CHECK(strncmp(found + strlen(key), "null", 4) != 0)
               ? strtod(found + strlen(key), NULL)
               : NAN;
}

static uint64_t json_count(const char *json, const char *name)
{
    return (uint64_t)json_number(json, name);
}

static tml_image_stats stats_of(const char *json, const reference *r)
{
    tml_image_stats s = {.pixels = json_count(json, "pixels"),
                         .positive = json_count(json, "positive"),
                         .zero = json_count(json, "zero"),
                         .negative = json_count(json, "negative"),
                         .nan = json_count(json, "nans"),
                         .infinite = json_count(json, "infinities"),
                         .weight = json_count(json, "weight"),
                         .log_weight = json_count(json, "log_weight"),
                         .min = json_number(json, "min"),
                         .max = json_number(json, "max"),
                         .mean = json_number(json, "mean"),
                         .log2_mean = json_number(json, "log2_mean"),
                         .geometric_mean = json_number(json, "geometric_mean"),
                         .histogram_low = json_number(json, "low"),
                         .bin_width = json_number(json, "bin_width")};
    if (r->deviation.value < 0x1p63)
        s.deviation = json_number(json, "deviation");
    const char *at = strstr(json, "\"bins\": [");
    at = at ? strchr(at, '[') : json;
    for (int bin = 0; bin < TML_HISTOGRAM_BINS; bin++) {
        char *end;
        s.histogram[bin] = strtoull(at + 1, &end, 10);
        at = end;
    }
    return s;
}

TEST(the_program_says_what_the_reference_does)
{
    const char *program = getenv("TML_CLI");
    if (!program || !*program)
        SKIP("TML_CLI names no program");
    static char json[1 << 16], command[4096];
    bool is_shipped, reads_exr = false;
    tml_context *tml = NULL;
    if (CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml)))
        reads_exr = has_exr(tml);
    tml_close(tml);
    size_t count = read_references();
    for (size_t i = 0; i < count; i++) {
        const char *path = path_of(&references[i], &is_shipped);
        if (!path || (!reads_exr && strstr(path, ".exr")) || (!HAS_PNG && strstr(path, ".png")))
            continue;
        snprintf(command, sizeof command,
                 "\"%s\" exposure --json --backend cpu --luminance %s \"%s\"", program,
                 references[i].luminance, path);
        FILE *output = popen(command, "r");
        if (!CHECK(output != NULL))
            return;
        json[fread(json, 1, sizeof json - 1, output)] = '\0';
        if (!CHECK_EQ_I64(pclose(output), 0))
            continue;
        const tml_image_stats stats = stats_of(json, &references[i]);
        compare("the program", &references[i], &stats, false);
    }
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
