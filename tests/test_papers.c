/* trommel-papers, as a program; where a build has none, what its --check calls. */
#include "papers_check.h"

#include "test.h"

#include "contexts.h"

#include <trommel/pictures.h>
#ifdef TML_GL
#    include "papers.h"

#    include "gl_driver.h"

#    include <trommel/kernel_begin.h>
TML_KERNEL(bool, is_third, (uint x), { return x % 3u == 0u; })
#    include <trommel/kernel_end.h>
#endif

/* What the program says; its exit status to *code. */
static const char *say(const char *before, const char *arguments, int *code)
{
    static char text[8192];
    char command[512];
    snprintf(command, sizeof command, "%s '%s' %s 2>&1", before, getenv("TML_PAPERS"), arguments);
    FILE *pipe = popen(command, "r");
    *code = -1;
    text[0] = '\0';
    if (CHECK(pipe != NULL)) {
        text[fread(text, 1, sizeof text - 1, pipe)] = '\0';
        *code = pclose(pipe);
    }
    return text;
}

/* Of 3 x 3 pixels blits see four: a bright one in the corner that they drop is in the mean by area
 * alone. Row by row 3 x 3 and 1 x 1 texels, enlarged to 63 x 63, so that the sheet has 128 pixels,
 * with gaps of 4. */
TEST(sheets_show_what_blits_drop)
{
    const char *program = getenv("TML_PAPERS");
    float pixels[27] = {0};
    int code;
    if (!program || !*program)
        SKIP("no program in this build");
#ifndef TML_PNG
    SKIP("built without libpng");
#endif
    pixels[6] = pixels[7] = pixels[8] = 1; /* PFM's first row is the lowest one */
    FILE *file = fopen("corner.pfm", "wb");
    if (!CHECK(file != NULL))
        return;
    fprintf(file, "PF\n3 3\n-1.0\n");
    fwrite(pixels, sizeof pixels, 1, file);
    fclose(file);
    say("", "averages --input corner.pfm --sheet corner.png", &code);
    CHECK_EQ_I64(code, 0);
    tml_context *tml = open_cpu(1);
    tml_picture sheet;
    if (CHECK_OK(tml, tml_picture_load(tml, "corner.png", NULL, &sheet))) {
        const uint8_t *rgba = sheet.data;
        CHECK(sheet.width == 130 && sheet.height == 130);
        CHECK_EQ_U64(rgba[sheet.channels * 67], 0);
        CHECK_EQ_U64(rgba[sheet.channels * (130 * 67 + 67)], 118); /* 0.18 in sRGB */
        tml_picture_free(tml, &sheet);
    }
    tml_close(tml);
    remove("corner.pfm");
    remove("corner.png");
}

static bool is_there(const char *name)
{
    FILE *file = fopen(name, "rb");
    return file && !fclose(file);
}

/* Before anything is opened or written: what does not belong to a table, and what would be lost. */
TEST(the_program_refuses_what_it_would_drop)
{
    static const char *const refused[][2] = {
        {"picture", "needs the name of a file"},
        {"picture p.txt", "p.txt needs the name of a file that ends in .png"},
        {"picture p.png --engine cpu", "--engine is not for this table"},
        {"picture p.png --repeats 3", "--repeats is not for this table"},
        {"picture p.png --method bitonic", "--method is no option"},
        {"filter --field gyroid", "--field is not for this table"},
        {"filter --count", "--count lacks its value"},
        {"filter --count 0", "--count 0 is no value"},
        {"filter --count 4K", "--count 4K is no value"},
        {"averages --input a.pfm --sheet a.pfm", "--sheet a.pfm is no value"},
        {"averages --input a.png --sheet a.png", "a.png would overwrite the input"},
        {"averages --input a.pfm --sheet a.png --sweep 1:2 --output a.svg", "exclude each other"},
        {"averages --sheet a.png", "--sheet needs --input"},
        {"averages --sweep 1:2", "need each other"},
        {"averages --input a.pfm --sweep 2:1 --output a.svg", "--sweep 2:1 is no value"},
    };
    const char *program = getenv("TML_PAPERS");
    int code;
    if (!program || !*program)
        SKIP("no program in this build");
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const char *text = say("", refused[i][0], &code);
        CHECK_EQ_I64(code, 2 << 8);
        if (!CHECK(strstr(text, refused[i][1]) != NULL))
            printf("%s: %s\n", refused[i][0], text);
    }
    CHECK(!is_there("p.txt") && !is_there("p.png") && !is_there("a.png") && !is_there("a.svg"));
}

/* Also where nothing is kept. */
TEST(the_program_paints_pyramids)
{
    const char *program = getenv("TML_PAPERS");
    tml_context *tml = NULL;
    tml_picture none, half;
    int code;
    if (!program || !*program)
        SKIP("no program in this build");
    if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL}, &tml))
        SKIP("no OpenGL ES device");
    tml_close(tml);
    say("", "picture none.png --count 1000 --keep 0", &code);
    CHECK_EQ_I64(code, 0);
    say("", "picture half.png --count 1000 --keep 50", &code);
    CHECK_EQ_I64(code, 0);
    tml = open_cpu(1);
    if (CHECK_OK(tml, tml_picture_load(tml, "none.png", NULL, &none)) &&
        CHECK_OK(tml, tml_picture_load(tml, "half.png", NULL, &half))) {
        CHECK_EQ_U64(none.size, half.size);
        CHECK(memcmp(none.data, half.data, none.size) != 0);
        tml_picture_free(tml, &none);
        tml_picture_free(tml, &half);
    }
    tml_close(tml);
    remove("none.png");
    remove("half.png");
}

/* A device without integer textures adds no rows, and takes none away. */
TEST(the_program_prints_its_tables)
{
    const char *program = getenv("TML_PAPERS"), *text;
    int code;
    if (!program || !*program)
        SKIP("no program in this build");
#ifdef TML_SANITIZED
    SKIP("what it calls has run above; its tables take a minute");
#endif
    text = say("", "filter --engine cpu --count 65536 --repeats 1", &code);
    CHECK_EQ_I64(code, 0);
    CHECK(strstr(text, "cpu, scan and search") && strstr(text, "cpu, look_back"));
    say("", "filters", &code);
    CHECK_EQ_I64(code, 2 << 8);
    text = say("", "floats --engine cpu --step 65537 --repeats 1", &code);
    CHECK_EQ_I64(code, 0);
    CHECK(strstr(text, "within 2 of a power of 2") && strstr(text, "370"));
    text = say("", "boxes --triangles 2000 --repeats 1", &code);
    CHECK_EQ_I64(code, 0);
    CHECK(strstr(text, "oriented, 15") && strstr(text, "tori, 64 poses at random"));
    text = say("", "images --triangles 2000 --repeats 1", &code);
    CHECK_EQ_I64(code, 0);
    CHECK(strstr(text, "linked tori, 2000 triangles each") && strstr(text, "2048 x 2048"));
    text = say("", "selves --engine cpu --repeats 1", &code);
    CHECK_EQ_I64(code, 0);
    CHECK(strstr(text, "192.0         62.0") != NULL);
    text = say("", "averages", &code);
    CHECK_EQ_I64(code, 0);
    CHECK(strstr(text, "1920 x 1080     93.7 %    2.3 %") != NULL);
    tml_context *tml = NULL;
    if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL}, &tml))
        SKIP("no OpenGL ES device");
    tml_close(tml);
    text = say("", "surface --field sphere --side 17 --repeats 1", &code);
    CHECK_EQ_I64(code, 0);
    CHECK(strstr(text, "sphere") && strstr(text, "classic soup"));
    text = say("MESA_GLES_VERSION_OVERRIDE=2.0", "filter --engine gl --count 65536 --repeats 1",
               &code);
    CHECK_EQ_I64(code, 0);
    /* Drivers other than Mesa's stay as they are. */
    CHECK(!strstr(text, "expected") == !strstr(text, "histopyramid, room for all"));
    bool has_rows = strstr(text, "gl, histopyramid") != NULL;
    CHECK(has_rows != (strstr(text, "no way to filter u32: tml_compact: path packed") != NULL));
    text = say("MESA_GLES_VERSION_OVERRIDE=2.0", "surface --side 17 --repeats 1", &code);
    CHECK_EQ_I64(code, has_rows ? 0 : 77 << 8);
    CHECK(has_rows || strstr(text, "on path packed"));
    text = say("VK_ICD_FILENAMES=none", "floats --engine vulkan --step 65537 --repeats 1", &code);
    CHECK(code == 77 << 8 || strstr(text, "vulkan"));
}

#ifdef TML_GL
static void run_filters(tml_context *tml)
{
    uint32_t records[100];
    for (uint32_t i = 0; i < 100; i++)
        records[i] = i;
    const papers_filter_desc desc = {.keep = TML_USE(is_third),
                                     .in = buffer_of(tml, TML_U32, 100, records),
                                     .out = buffer_of(tml, TML_U32, 100, NULL),
                                     .count = buffer_of(tml, TML_U32, 1, NULL)};
    for (int f = 0; f < PAPERS_FILTERS; f++)
        if (papers_filters[f].order == PAPERS_IN_Z_ORDER)
            CHECK_OK(tml, papers_filters[f].run(tml, &desc));
    papers_picture_desc picture = {.keep.kernel = TML_USE(is_third), .length = 100};
    uint32_t width, height;
    papers_picture_size(100, &width, &height);
    picture.keep.in[0] = desc.in;
    picture.rgba = malloc((size_t)width * height * 4);
    CHECK_OK(tml, papers_picture(tml, &picture));
    free(picture.rgba);
}

static void run_surfaces(tml_context *tml)
{
    float samples[6 * 5 * 4];
    for (int i = 0; i < 6 * 5 * 4; i++)
        samples[i] = (float)(i * 37 % 11);
    papers_surface_desc desc = {.volume = buffer_of(tml, TML_F32, 6 * 5 * 4, samples),
                                .dims = {6, 5, 4},
                                .iso = 5.5f,
                                .room = 2000,
                                .out = buffer_of(tml, TML_VEC(TML_F32, 3), 2000, NULL),
                                .out_normals = buffer_of(tml, TML_VEC(TML_F32, 3), 2000, NULL)};
    for (int form = 0; form < 6; form++) {
        desc.one_fetch = form % 2;
        desc.normals = (papers_normals)(form / 2);
        CHECK_OK(tml, papers_surface(tml, &desc));
    }
    desc.scattered = true;
    CHECK_OK(tml, papers_surface(tml, &desc));
}

/* The driver's own checks have nothing to say of what depends on textures, which leaves a lent
 * context as it was. */
TEST(programs_of_textures_are_clean)
{
    own_context own;
    if (!own_open(&own))
        SKIP("no OpenGL ES 3 through EGL");
    tml_context *tml;
    int32_t before[STATES], after[STATES];
    const tml_gl_desc desc = {.lend_current = true, .get_proc_address = find_wrapped};
    memset(&gl_driver, 0, sizeof gl_driver);
    debug_begin();
    state_take(before);
    if (CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &desc}, &tml))) {
        run_filters(tml);
        run_surfaces(tml);
        state_take(after);
        CHECK(memcmp(before, after, sizeof before) == 0);
        CHECK_EQ_U64(gl.GetError(), GL_NO_ERROR);
        CHECK_STR(debug_message, "");
        tml_close(tml);
    }
    CHECK_EQ_I64(gl_driver.live, 0);
    own_close(&own);
}
#endif

int main(int argc, char **argv)
{
    const char *program = getenv("TML_PAPERS");
    return program && *program ? test_main(argc, argv) : papers_check(NULL);
}
