/* What ImageJ, OME and tags say of a TIFF stack: units, spacing, which page of which file is which
 * layer, calibration, tables of colours. Each made-up file is a stack of known bytes, of which a
 * description is told. */
#include <math.h>
#include <stdlib.h>

#include "test.h"

#include "folder.h"
#include "made_files.h"
#include "memory_watch.h"
#include "warned.h"

#include "volume_check.h"

#if defined(TML_TIFF) && defined(TML_XML)

enum { WIDTH = 3, HEIGHT = 2, PAGE = WIDTH * HEIGHT, FILE_MOST = 32768 };

/* ---- made-up files --------------------------------------------------------------------------- */

typedef struct made_file {
    const char *description;
    int pages;
    uint8_t base;               /* page p is base + p everywhere */
    uint32_t resolution, scale; /* samples of so many units, in unit; 0: no tags */
    uint32_t unit;              /* TIFF's: 1 none, 2 inch, 3 centimetre */
    bool has_palette;
    uint32_t orientation; /* 0: no tag */
} made_file;

#    define PAGES(text, count, first)                                                              \
        {                                                                                          \
            .description = (text), .pages = (count), .base = (first)                               \
        }
#    define SPACED(text, count, samples, units, tag)                                               \
        {                                                                                          \
            .description = (text), .pages = (count), .resolution = (samples), .scale = (units),    \
            .unit = (tag)                                                                          \
        }

static uint8_t bytes[FILE_MOST];

static void put(size_t *size, uint32_t value, int count)
{
    for (int i = 0; i < count; i++)
        bytes[(*size)++] = (uint8_t)(value >> 8 * i);
}

static void put_tag(size_t *size, uint32_t tag, uint32_t kind, uint32_t count, uint32_t value)
{
    put(size, tag, 2);
    put(size, kind, 2);
    put(size, count, 4);
    put(size, value, 4);
}

static size_t make(const made_file *made)
{
    const char *description = made->description ? made->description : "";
    size_t size = 0, text = strlen(description) + 1;
    put(&size, 0x002a4949, 4);
    put(&size, 0, 4);
    for (int p = 0; p < made->pages; p++)
        for (int i = 0; i < PAGE; i++)
            put(&size, made->base + (uint32_t)p, 1);
    const uint32_t text_at = (uint32_t)size;
    memcpy(bytes + size, description, text);
    size += text + text % 2;
    const uint32_t resolution_at = (uint32_t)size;
    put(&size, made->resolution, 4);
    put(&size, made->scale, 4);
    const uint32_t table_at = (uint32_t)size;
    for (uint32_t i = 0; i < 768 && made->has_palette; i++)
        put(&size, i * 77 & 0xffff, 2);
    size_t link = 4;
    for (int p = 0; p < made->pages; p++) {
        size_t at = size;
        memcpy(bytes + link, &(uint32_t){(uint32_t)size}, 4);
        put(&size, 10 + (made->resolution ? 3 : 0) + made->has_palette + (made->orientation > 0),
            2);
        put_tag(&size, 256, 3, 1, WIDTH);
        put_tag(&size, 257, 3, 1, HEIGHT);
        put_tag(&size, 258, 3, 1, 8);
        put_tag(&size, 259, 3, 1, 1);
        put_tag(&size, 262, 3, 1, made->has_palette ? 3 : 1);
        put_tag(&size, 270, 2, (uint32_t)text, text_at);
        if (text <= 4)
            memcpy(bytes + size - 4, description, text);
        put_tag(&size, 273, 4, 1, 8 + (uint32_t)(p * PAGE));
        if (made->orientation)
            put_tag(&size, 274, 3, 1, made->orientation);
        put_tag(&size, 277, 3, 1, 1);
        put_tag(&size, 278, 3, 1, HEIGHT);
        put_tag(&size, 279, 4, 1, PAGE);
        if (made->resolution) {
            put_tag(&size, 282, 5, 1, resolution_at);
            put_tag(&size, 283, 5, 1, resolution_at);
            put_tag(&size, 296, 3, 1, made->unit);
        }
        if (made->has_palette)
            put_tag(&size, 320, 3, 768, table_at);
        link = size;
        put(&size, 0, 4);
        CHECK(size > at && size < FILE_MOST);
    }
    return size;
}

static void write_made(const char *name, const made_file *made)
{
    write_file(name, bytes, make(made));
}

static tml_status load_made(tml_context *tml, const made_file *made, uint32_t frame,
                            tml_volume *out)
{
    warned[0] = '\0';
    tml_load_desc desc = {.frame = frame};
    return load_exact(tml, "a.ome.tif", bytes, make(made), &desc, out);
}

/* The layers' samples, "0123" where layer z is made of bytes z. */
static bool check_layers(const tml_volume *v, const char *layers, uint8_t base)
{
    bool good = CHECK_EQ_U64(v->grid.dims[2], strlen(layers));
    for (size_t z = 0; good && layers[z]; z++)
        for (int i = 0; i < PAGE; i++)
            good &= ((const uint8_t *)v->data)[z * PAGE + (size_t)i] == base + layers[z] - '0';
    return CHECK(good);
}

static bool check_spacing(const tml_volume *v, double x, double y, double z, const char *unit)
{
    const double *s = v->grid.spacing, expected[3] = {x, y, z};
    bool good = CHECK_STR(v->unit, unit);
    for (int i = 0; i < 3; i++)
        good &= CHECK(fabs(s[i] - expected[i]) <= 1e-6 * fabs(expected[i]));
    if (!good)
        printf("  (%g %g %g %s)\n", s[0], s[1], s[2], v->unit);
    return good;
}

/* ---- OME ------------------------------------------------------------------------------------- */

#    define SIZES "SizeX=\"3\" SizeY=\"2\" Type=\"uint8\" SizeZ=\"4\" SizeC=\"1\" SizeT=\"1\""
#    define IN_OME(pixels, inside)                                                                 \
        "<OME><Image><Pixels DimensionOrder=\"XYZCT\" " pixels ">" inside "</Pixels></Image></"    \
        "OME>"

TEST(ome_is_read_as_xml)
{
    static const char *const texts[] = {
        IN_OME(SIZES " PhysicalSizeX=\"0.5\" PhysicalSizeY=\"0.5\" PhysicalSizeZ=\"3\"", ""),
        IN_OME(SIZES "\nPhysicalSizeX\t=\r\n \"0.5\"\nPhysicalSizeY = '0.5'\tPhysicalSizeZ= \"3\"",
               ""),
        IN_OME("PhysicalSizeZ='3' PhysicalSizeY='.5' PhysicalSizeX='5e-1' " SIZES, "<TiffData/>"),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- SizeZ=\"99\" PhysicalSizeX=\"7\" -->"
        "<o:OME "
        "xmlns:o=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\"><o:Image><o:Description>"
        "<![CDATA[<Pixels SizeZ=\"9\" PhysicalSizeX=\"7\"/>]]></o:Description><o:Pixels "
        "DimensionOrder=\"XYZCT\" " SIZES
        " PhysicalSizeX=\"0&#46;5\" PhysicalSizeXUnit=\"&#181;m\" "
        "PhysicalSizeY=\"500\" PhysicalSizeYUnit=\"nm\" PhysicalSizeZ=\"0.003\" "
        "PhysicalSizeZUnit=\"mm\"><o:TiffData IFD=\"0\" "
        "PlaneCount=\"4\"/></o:Pixels></o:Image></o:OME>",
        "\xef\xbb\xbf <OME><StructuredAnnotations><XMLAnnotation PhysicalSizeX=\"7\" "
        "SizeZ=\"2\"/></StructuredAnnotations><Image PhysicalSizeX=\"8\"><Pixels "
        "DimensionOrder=\"XYCTZ\" " SIZES " PhysicalSizeX=\"0.5\" PhysicalSizeXUnit=\"\xc2\xb5m\" "
        "PhysicalSizeY=\"0.5\" PhysicalSizeZ=\"3\"></Pixels></Image></OME>",
        /* bytes of Latin-1 */
        IN_OME(SIZES " PhysicalSizeX=\"0.5\" PhysicalSizeXUnit=\"\xb5m\" PhysicalSizeY=\"0.5\" "
                     "PhysicalSizeZ=\"3\"",
               ""),
    };
    tml_context *tml = open_listening();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tml_volume v;
        if (!CHECK_OK(tml, load_made(tml, &(made_file)PAGES(texts[i], 4, 0), 0, &v)))
            continue;
        bool good = check_spacing(&v, 0.5, 0.5, 3, "µm");
        good &= check_layers(&v, "0123", 0);
        good &= CHECK_STR(warned, "");
        if (!good)
            printf("  (text %zu)\n", i);
        tml_volume_free(tml, &v);
    }
    tml_close(tml);
}

TEST(ome_lengths_have_units)
{
    static const struct {
        const char *lengths;
        double x, y, z;
        const char *unit, *warning; /* NULL: none */
    } cases[] = {
        {"PhysicalSizeX='500' PhysicalSizeXUnit='nm' PhysicalSizeY='500' PhysicalSizeYUnit='nm' "
         "PhysicalSizeZ='3'",
         500, 500, 3000, "nm", NULL},
        {"PhysicalSizeX='0.5' PhysicalSizeY='500' PhysicalSizeYUnit='nm' PhysicalSizeZ='30000' "
         "PhysicalSizeZUnit='\u00c5'",
         0.5, 0.5, 3, "µm", NULL},
        {"PhysicalSizeX='1' PhysicalSizeXUnit='in' PhysicalSizeY='1' PhysicalSizeYUnit='in' "
         "PhysicalSizeZ='25.4' PhysicalSizeZUnit='mm'",
         1, 1, 1, "in", NULL},
        {"PhysicalSizeX='2' PhysicalSizeXUnit='pixel' PhysicalSizeY='2' PhysicalSizeYUnit='pixel' "
         "PhysicalSizeZ='4' PhysicalSizeZUnit='pixel'",
         2, 2, 4, "", NULL},
        {"PhysicalSizeX='0.5' PhysicalSizeY='0.5'", 0.5, 0.5, 1, "µm", "spacing along z"},
        {"PhysicalSizeX='500' PhysicalSizeXUnit='nm' PhysicalSizeY='500' PhysicalSizeYUnit='nm'",
         500, 500, 1000, "nm", "1000 is taken"},
        {"PhysicalSizeX='0.5' PhysicalSizeZ='3'", 0.5, 0.5, 3, "µm", "spacing along y"},
        {"", 1, 1, 1, "", NULL}};
    tml_context *tml = open_listening();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        tml_volume v;
        snprintf(text, sizeof text, IN_OME(SIZES " %s", ""), cases[i].lengths);
        const made_file made = PAGES(text, 4, 0);
        if (!CHECK_OK(tml, load_made(tml, &made, 0, &v)))
            continue;
        bool good = check_spacing(&v, cases[i].x, cases[i].y, cases[i].z, cases[i].unit);
        good &= CHECK(cases[i].warning ? strstr(warned, cases[i].warning) != NULL : !*warned);
        if (!good)
            printf("  (case %zu: %s)\n", i, warned);
        tml_volume_free(tml, &v);
        write_made("strict.tif", &made);
        CHECK_STATUS(
            tml_volume_load(tml, in_folder("strict.tif"), &(tml_load_desc){.strict = true}, &v),
            cases[i].warning ? TML_ERROR_FILE_FORMAT : TML_OK);
        tml_volume_free(tml, &v);
    }
    expect_refusal(
        tml, "a.tif", bytes,
        make(&(made_file)PAGES(IN_OME(SIZES " PhysicalSizeX='1' PhysicalSizeXUnit='cubit' "
                                            "PhysicalSizeY='1' PhysicalSizeZ='1'",
                                      ""),
                               4, 0)),
        TML_ERROR_UNSUPPORTED, "cubit");
    tml_close(tml);
}

#    define PLANE(z, c, t, ifd)                                                                    \
        "<TiffData FirstZ=\"" #z "\" FirstC=\"" #c "\" FirstT=\"" #t "\" IFD=\"" #ifd              \
        "\" PlaneCount=\"1\"/>"

TEST(tiff_data_says_which_page_is_which_layer)
{
    static const struct {
        const char *order, *sizes, *data;
        int pages;
        uint32_t frame, frames;
        const char *layers;
    } cases[] = {
        {"XYZCT", "4 1 1", PLANE(3, 0, 0, 0) PLANE(2, 0, 0, 1) PLANE(1, 0, 0, 2) PLANE(0, 0, 0, 3),
         4, 0, 1, "3210"},
        {"XYZCT", "4 1 1", PLANE(2, 0, 0, 3) PLANE(0, 0, 0, 1) PLANE(3, 0, 0, 0) PLANE(1, 0, 0, 2),
         4, 0, 1, "1230"},
        {"XYZCT", "4 1 1",
         "<TiffData IFD='2' PlaneCount='2'/><TiffData FirstZ='2' PlaneCount='2'/>", 4, 0, 1,
         "2301"},
        {"XYZCT", "4 1 1", "<TiffData IFD='2' NumPlanes='2'/><TiffData FirstZ='2' NumPlanes='2'/>",
         4, 0, 1, "2301"},
        {"XYZCT", "3 1 1", "<TiffData IFD='1' PlaneCount='3'/>", 4, 0, 1, "123"},
        {"XYZCT", "3 2 1", "<TiffData/>", 6, 1, 2, "345"},
        {"XYCZT", "3 2 1", "<TiffData/>", 6, 1, 2, "135"},
        {"XYCZT", "3 2 1", "", 6, 0, 2, "024"},
        {"XYTZC", "2 2 2", "", 8, 1, 4, "13"}, /* t = 1 of c = 0 */
        {"XYTZC", "2 2 2", "", 8, 2, 4, "46"}, /* t = 0 of c = 1 */
        {"XYTCZ", "2 2 2", "", 8, 3, 4, "37"},
        {"XYZTC", "2 2 2", "<TiffData IFD='0' PlaneCount='8'/>", 8, 1, 4, "23"},
        {"XYCTZ", "2 2 2",
         "<TiffData FirstZ='1' IFD='0' PlaneCount='4'/><TiffData IFD='4' PlaneCount='4'/>", 8, 2, 4,
         "62"},
        {"XYZCT", "2 1 3",
         PLANE(0, 0, 0, 5) PLANE(1, 0, 0, 4) PLANE(0, 0, 1, 3) PLANE(1, 0, 1, 2) PLANE(0, 0, 2, 1)
             PLANE(1, 0, 2, 0),
         6, 2, 3, "10"},
    };
    tml_context *tml = open_listening();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        tml_volume v;
        const char *s = cases[i].sizes;
        snprintf(
            text, sizeof text,
            "<OME><Image><Pixels SizeT='%c' SizeC='%c' SizeZ='%c' DimensionOrder='%s'>%s</Pixels>"
            "</Image></OME>",
            s[4], s[2], s[0], cases[i].order, cases[i].data);
        if (!CHECK_OK(tml, load_made(tml, &(made_file)PAGES(text, cases[i].pages, 0),
                                     cases[i].frame, &v)))
            continue;
        bool good = CHECK_EQ_U64(v.frame_count, cases[i].frames);
        good &= check_layers(&v, cases[i].layers, 0);
        if (!good)
            printf("  (case %zu)\n", i);
        tml_volume_free(tml, &v);
    }
    tml_close(tml);
}

TEST(ome_that_does_not_fit_is_refused)
{
    static const struct {
        const char *text;
        tml_status status;
        const char *word;
    } cases[] = {
        {IN_OME("SizeZ='4'", PLANE(0, 0, 0, 0)), TML_ERROR_FILE_FORMAT, "no page for layer 1"},
        {IN_OME("SizeZ='2'", "<TiffData IFD='7' PlaneCount='2'/>"), TML_ERROR_FILE_FORMAT,
         "needs page 7"},
        {IN_OME("SizeZ='1'", PLANE(0, 0, 0, 0) PLANE(0, 0, 0, 1)), TML_ERROR_FILE_FORMAT,
         "two pages"},
        {IN_OME("SizeZ='9'", "<TiffData/>"), TML_ERROR_FILE_FORMAT, "9 layers in 1 frames"},
        {IN_OME("SizeZ='four'", ""), TML_ERROR_FILE_FORMAT, "\"four\""},
        {IN_OME("SizeZ='99999999999'", ""), TML_ERROR_FILE_FORMAT, "than any file has"},
        {IN_OME("SizeC='4294967296' SizeT='4294967296'", ""), TML_ERROR_FILE_FORMAT, "more"},
        {IN_OME("SizeZ='4'", "<TiffData"), TML_ERROR_FILE_FORMAT, "no XML"},
        {"<!DOCTYPE OME [<!ENTITY a 'b'>]><OME/>", TML_ERROR_FILE_FORMAT, "DOCTYPE"},
        {"<OME><Image><Pixels DimensionOrder='XYZZT' SizeZ='4'/></Image></OME>",
         TML_ERROR_FILE_FORMAT, "XYZZT"},
        {IN_OME("SizeZ='4'", "<TiffData><UUID>urn:uuid:1</UUID></TiffData>"), TML_ERROR_UNSUPPORTED,
         "urn:uuid:1"},
        {IN_OME("SizeZ='4'", "<TiffData><UUID FileName='other.tif'>urn:uuid:1</UUID></TiffData>"),
         TML_ERROR_FILE_ACCESS, "other.tif"},
        {"<OME><BinaryOnly MetadataFile='x.companion.ome' UUID='urn:uuid:1'/></OME>",
         TML_ERROR_FILE_ACCESS, "x.companion.ome"},
    };
    tml_context *tml = open_listening();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_refusal(tml, "a.tif", bytes, make(&(made_file)PAGES(cases[i].text, 4, 0)),
                       cases[i].status, cases[i].word);
    tml_close(tml);
}

/* XML that is not OME's, and text that only speaks of it, say nothing. */
TEST(other_text_says_nothing)
{
    static const char *const texts[] = {"<MetaData><prop id=\"OME\" value=\"SizeZ=2\"/></MetaData>",
                                        "made from <OME SizeZ=\"2\">", "<OME-like, but no XML",
                                        "<OME></OME>"};
    tml_context *tml = open_listening();
    for (size_t i = 0; i < 2; i++) {
        tml_volume v;
        if (CHECK_OK(tml, load_made(tml, &(made_file)PAGES(texts[i], 4, 0), 0, &v)))
            check_layers(&v, "0123", 0);
        tml_volume_free(tml, &v);
    }
    tml_close(tml);
}

#    define PART(z, c, ifd, file)                                                                  \
        "<TiffData FirstZ='" #z "' FirstC='" #c "' IFD='" #ifd                                     \
        "' PlaneCount='1'><UUID FileName='" file ".tif'>\n urn:uuid:" file " </UUID></TiffData>"
#    define PARTS PART(0, 1, 1, "b") PART(1, 1, 0, "b") PART(0, 0, 0, "a") PART(1, 0, 1, "a")
#    define SET(uuid)                                                                              \
        "<OME UUID='urn:uuid:" uuid "'><Image><Pixels DimensionOrder='XYZCT' SizeZ='2' SizeC='2' " \
        "PhysicalSizeX='2'>" PARTS "</Pixels></Image></OME>"

TEST(planes_may_be_in_several_files)
{
    tml_context *tml = open_listening();
    tml_volume v;
    write_made("a.tif", &(made_file)PAGES(SET("a"), 2, 10));
    write_made("b.tif", &(made_file)PAGES(SET("b"), 2, 20));
    for (int file = 0; file < 2; file++)
        for (uint32_t frame = 0; frame < 2; frame++) {
            warned[0] = '\0';
            if (!CHECK_OK(tml, tml_volume_load(tml, in_folder(file ? "b.tif" : "a.tif"),
                                               &(tml_load_desc){.frame = frame}, &v)))
                continue;
            CHECK_EQ_U64(v.frame_count, 2);
            check_layers(&v, frame ? "10" : "01", frame ? 20 : 10);
            CHECK((strstr(warned, "one of the files") != NULL) == ((uint32_t)file != frame));
            tml_volume_free(tml, &v);
        }
    /* The folder, whose files have two pages each. */
    if (CHECK_OK(tml, tml_volume_load(tml, folder, &(tml_load_desc){.frame = 1}, &v)))
        check_layers(&v, "10", 20);
    tml_volume_free(tml, &v);
    /* A file that was renamed is known by its UUID. */
    remove_files();
    write_made("renamed.tif", &(made_file)PAGES(SET("a"), 2, 10));
    if (CHECK_OK(tml, tml_volume_load(tml, in_folder("renamed.tif"), NULL, &v)))
        check_layers(&v, "01", 10);
    tml_volume_free(tml, &v);
    CHECK_STATUS(tml_volume_load(tml, in_folder("renamed.tif"), &(tml_load_desc){.frame = 1}, &v),
                 TML_ERROR_FILE_ACCESS);
    CHECK(strstr(tml_last_error(tml), "\"b.tif\"") != NULL);
    /* The other file has fewer pages, or pages of another kind. */
    write_made("b.tif", &(made_file)PAGES("", 1, 20));
    CHECK_STATUS(tml_volume_load(tml, in_folder("renamed.tif"), &(tml_load_desc){.frame = 1}, &v),
                 TML_ERROR_FILE_FORMAT);
    write_file("b.tif", "no TIFF at all", 14);
    CHECK_STATUS(tml_volume_load(tml, in_folder("renamed.tif"), &(tml_load_desc){.frame = 1}, &v),
                 TML_ERROR_FILE_FORMAT);
    remove_files();
    tml_close(tml);
}

TEST(the_description_may_be_in_a_file_of_its_own)
{
    static const char only[] =
        "<OME UUID='urn:uuid:a'><BinaryOnly MetadataFile='set.companion.ome' "
        "UUID='urn:uuid:set'/></OME>";
    tml_context *tml = open_listening();
    tml_volume v;
    write_made("a.tif", &(made_file)PAGES(only, 2, 10));
    write_made("b.tif", &(made_file)PAGES(only, 2, 20));
    CHECK_STATUS(tml_volume_load(tml, in_folder("a.tif"), NULL, &v), TML_ERROR_FILE_ACCESS);
    CHECK(strstr(tml_last_error(tml), "set.companion.ome") != NULL);
    write_file("set.companion.ome", SET("set"), sizeof SET("set") - 1);
    for (uint32_t frame = 0; frame < 2; frame++) {
        if (CHECK_OK(tml, tml_volume_load(tml, in_folder("a.tif"), &(tml_load_desc){.frame = frame},
                                          &v)))
            check_layers(&v, frame ? "10" : "01", frame ? 20 : 10);
        tml_volume_free(tml, &v);
    }
    /* In the other TIFF file. */
    remove_files();
    write_made("b.tif", &(made_file)PAGES("<OME><BinaryOnly MetadataFile='a.tif'/></OME>", 2, 20));
    write_made("a.tif", &(made_file)PAGES(SET("a"), 2, 10));
    if (CHECK_OK(tml, tml_volume_load(tml, in_folder("b.tif"), &(tml_load_desc){.frame = 1}, &v)))
        check_layers(&v, "10", 20);
    tml_volume_free(tml, &v);
    write_made("a.tif", &(made_file)PAGES("<OME><BinaryOnly MetadataFile='b.tif'/></OME>", 2, 20));
    CHECK_STATUS(tml_volume_load(tml, in_folder("b.tif"), NULL, &v), TML_ERROR_FILE_FORMAT);
    remove_files();
    tml_close(tml);
}

/* Each file of a set may say an image of its own: that whose planes it has is read. */
TEST(of_several_images_that_in_the_file_is_read)
{
    static const char text[] =
        "<OME><Image><Pixels DimensionOrder='XYZCT' SizeZ='3'><TiffData><UUID "
        "FileName='b.tif'>x</UUID>"
        "</TiffData></Pixels></Image><Image><Pixels DimensionOrder='XYZCT' SizeZ='2' "
        "PhysicalSizeX='4'><TiffData IFD='1' PlaneCount='2'/></Pixels></Image></OME>";
    tml_context *tml = open_listening();
    tml_volume v;
    if (CHECK_OK(tml, load_made(tml, &(made_file)PAGES(text, 3, 0), 0, &v)))
        check_layers(&v, "12", 0);
    CHECK(strstr(warned, "2 images, of which number 2") != NULL);
    tml_volume_free(tml, &v);
    tml_close(tml);
}

/* Each request for memory fails once; nothing of what was had is lost. */
TEST(a_load_without_memory_loses_none)
{
    static const char *const only = "<OME><BinaryOnly MetadataFile='a.tif'/></OME>";
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    size_t live = watch.live;
    uint64_t failures = 0;
    write_made("a.tif", &(made_file)PAGES(SET("a"), 2, 10));
    write_made("b.tif", &(made_file)PAGES(only, 2, 20));
    for (tml_status status = TML_ERROR_OUT_OF_MEMORY; status != TML_OK && failures < 1000;) {
        tml_volume v;
        watch.fail_at = watch.count + ++failures;
        status = tml_volume_load(tml, in_folder("b.tif"), &(tml_load_desc){.frame = 1}, &v);
        CHECK(status == TML_OK || status == TML_ERROR_OUT_OF_MEMORY);
        tml_volume_free(tml, &v);
        CHECK_EQ_U64(watch.live, live);
    }
    CHECK(failures > 5 && failures < 1000);
    remove_files();
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

/* ---- ImageJ and tags ------------------------------------------------------------------------- */

TEST(spacing_has_the_unit_that_imagej_or_tags_say)
{
#    define IJ "ImageJ=1.53c\nimages=4\nslices=4\n"
    static const struct {
        made_file made;
        double x, z;
        const char *unit, *warning;
    } cases[] = {
        {SPACED(IJ "unit=micron\nspacing=3.0\n", 4, 2, 1, 1), 0.5, 3, "µm", NULL},
        {SPACED(IJ "unit=\\u00B5m\nspacing=3.0\n", 4, 2, 1, 1), 0.5, 3, "µm", NULL},
        {SPACED(IJ "unit=um\r\nspacing=3.0\r\n", 4, 2, 1, 1), 0.5, 3, "µm", NULL},
        {SPACED(IJ "spacing=3.0\nunit=inch\n", 4, 2, 1, 1), 0.5, 3, "in", NULL},
        {SPACED(IJ "unit=mm\nspacing=3.0\nzunit=\\u00B5m\n", 4, 2, 1, 1), 0.5, 0.003, "mm", NULL},
        {PAGES("SCIFIO=0.11.0\naxes=X,Y,Z\nlengths=3,2,4\nscales=0.5,0.5,3.0\nunits=um,um,um\n"
               "images=4\nslices=4\nunit=um\n",
               4, 0),
         0.5, 3, "µm", NULL},
        {PAGES("SCIFIO=0.11.0\naxes=X,Y,Channel,Z\nscales=0.5,0.5,9,3.0\nunits=mm,mm,null,um\n"
               "images=4\nslices=4\n",
               4, 0),
         0.5, 0.003, "mm", NULL},
        {PAGES("SCIFIO=0.11.0\naxes=X,Y\nscales=1.0,1.0\nunits=pixel,pixel\nimages=4\n", 4, 0), 1,
         1, "", NULL},
        {PAGES(IJ "unit=pixel\nspacing=3.0\n", 4, 0), 1, 3, "", NULL},
        {SPACED(IJ "unit=micron\n", 4, 2, 1, 1), 0.5, 1, "µm", "spacing along z"},
        {PAGES(IJ "unit=micron\nspacing=3\n", 4, 0), 1, 3, "µm", "spacing along x"},
        {SPACED(IJ "spacing=3.0\n", 4, 20, 1, 3), 0.05, 3, "cm", NULL},
        {SPACED("", 4, 20000, 1, 3), 0.00005, 0.00005, "cm", "spacing along z"},
        {SPACED("", 1, 20000, 1, 3), 0.00005, 0.00005, "cm", NULL},
        {SPACED("", 1, 25400, 1, 2), 1 / 25400.0, 1 / 25400.0, "in", NULL},
        {SPACED("", 4, 72, 1, 2), 1, 1, "", NULL},      /* of a screen */
        {SPACED("", 4, 11811, 100, 3), 1, 1, "", NULL}, /* 300 dots an inch */
        {SPACED("", 4, 5, 1, 1), 1, 1, "", NULL},
        {SPACED("", 4, 1, 1, 2), 1, 1, "", NULL},
        {SPACED("", 4, 1, 1, 3), 1, 1, "", NULL},
        {PAGES("", 4, 0), 1, 1, "", NULL},
    };
    tml_context *tml = open_listening();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tml_volume v;
        if (!CHECK_OK(tml, load_made(tml, &cases[i].made, 0, &v)))
            continue;
        bool good = check_spacing(&v, cases[i].x, cases[i].x, cases[i].z, cases[i].unit);
        good &= CHECK(cases[i].warning ? strstr(warned, cases[i].warning) != NULL : !*warned);
        if (!good)
            printf("  (case %zu: %s)\n", i, warned);
        tml_volume_free(tml, &v);
    }
    /* The remedy of the message keeps the unit where it repeats what the file says. */
    tml_volume v;
    warned[0] = '\0';
    tml_load_desc desc = {.spacing = {0.5, 0.5, 3}};
    if (CHECK_OK(tml, load_exact(tml, "a.tif", bytes, make(&cases[9].made), &desc, &v)))
        check_spacing(&v, 0.5, 0.5, 3, "µm");
    CHECK_STR(warned, "");
    tml_volume_free(tml, &v);
    desc = (tml_load_desc){.spacing = {500, 500, 3000}};
    if (CHECK_OK(tml, load_exact(tml, "a.tif", bytes, make(&cases[9].made), &desc, &v)))
        check_spacing(&v, 500, 500, 3000, "");
    tml_volume_free(tml, &v);
    tml_close(tml);
}

TEST(imagej_calibrates_values)
{
    static const struct {
        const char *lines;
        double slope, intercept;
        bool is_told;
    } cases[] = {{"cf=0\nc0=-32768.0\nc1=1.0\nvunit=gray value\n", 1, -32768, false},
                 {"c1=0.5\nc0=10\ncf=0\n", 0.5, 10, false},
                 {"cf=1\nc0=1\nc1=2\nc2=0\n", 2, 1, false},
                 {"cf=1\nc0=1\nc1=2\nc2=3\n", 1, 0, true},
                 {"cf=0\nc0=5\nc1=0\n", 1, 0, true},
                 {"cf=20\n", 1, 0, false},
                 {"cf=21\n", 1, 0, true},
                 {"c0=5\nc1=7\n", 1, 0, false}};
    tml_context *tml = open_listening();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        tml_volume v;
        snprintf(text, sizeof text, "ImageJ=1.53c\nimages=4\nslices=4\n%s", cases[i].lines);
        if (!CHECK_OK(tml, load_made(tml, &(made_file)PAGES(text, 4, 0), 0, &v)))
            continue;
        CHECK_NEAR(v.slope, cases[i].slope, 0);
        CHECK_NEAR(v.intercept, cases[i].intercept, 0);
        CHECK((strstr(warned, "calibration") != NULL) == cases[i].is_told);
        tml_volume_free(tml, &v);
    }
    /* The place of sample 0, counted in samples. */
    tml_volume v;
    if (CHECK_OK(tml, load_made(tml,
                                &(made_file)SPACED(
                                    IJ "spacing=3\nxorigin=2\nyorigin=-1\nzorigin=4\nunit=mm\n", 4,
                                    2, 1, 1),
                                0, &v))) {
        const double *o = v.grid.origin;
        CHECK(o[0] == -1 && o[1] == 0.5 && o[2] == -12);
    }
    tml_volume_free(tml, &v);
    tml_close(tml);
}

TEST(an_orientation_is_told)
{
    tml_context *tml = open_listening();
    for (uint32_t orientation = 0; orientation <= 8; orientation++) {
        const made_file made = {.description = "", .pages = 2, .orientation = orientation};
        tml_volume v;
        CHECK_OK(tml, load_made(tml, &made, 0, &v));
        CHECK((strstr(warned, "orientation") != NULL) == (orientation > 1));
        tml_volume_free(tml, &v);
    }
    tml_close(tml);
}

TEST(tables_of_colours_leave_the_numbers)
{
    tml_context *tml = open_listening();
    tml_volume v;
    if (CHECK_OK(tml, load_made(tml,
                                &(made_file){.description = IJ "unit=micron\nspacing=3\n",
                                             .pages = 4,
                                             .resolution = 2,
                                             .scale = 1,
                                             .unit = 1,
                                             .has_palette = true},
                                0, &v)))
        check_layers(&v, "0123", 0);
    CHECK_STR(warned, "");
    tml_volume_free(tml, &v);
    if (CHECK_OK(tml,
                 load_made(tml,
                           &(made_file){.description = "labels", .pages = 4, .has_palette = true},
                           0, &v)))
        check_layers(&v, "0123", 0);
    CHECK(strstr(warned, "table of colours") != NULL);
    tml_volume_free(tml, &v);
    expect_refusal(tml, "a.tif", bytes,
                   make(&(made_file){.description = "a picture", .pages = 1, .has_palette = true}),
                   TML_ERROR_UNSUPPORTED, "in colours");
    tml_close(tml);
}

/* ---- the files of the reports ---------------------------------------------------------------- */

TEST(reports)
{
    static const struct {
        const char *name;
        uint32_t frame;
        double spacing[3];
        const char *unit;
        double first[4]; /* sample of each layer, physical */
    } cases[] = {
        {"ome_units.ome.tif", 0, {500, 500, 3000}, "nm", {0, 7, 14, 21}},
        {"ome_lines.ome.tif", 0, {0.5, 0.5, 3}, "µm", {0, 7, 14, 21}},
        {"ome_order.ome.tif", 0, {1, 1, 1}, "", {0, 7, 14, 21}},
        {"ome_files/c0.ome.tif", 0, {1, 1, 1}, "", {0, 7, 14, 21}},
        {"ome_files/c1.ome.tif", 1, {1, 1, 1}, "", {50, 57, 64, 71}},
        {"imagej_colours.tif", 0, {0.5, 0.5, 3}, "µm", {0, 7, 14, 21}},
        {"imagej_signed.tif", 0, {0.5, 0.5, 3}, "µm", {-200, -172, -144, -116}},
    };
    if (!test_full_data("reports"))
        SKIP("TML_DATA is not set");
    tml_context *tml = open_listening();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[64];
        tml_volume v;
        snprintf(path, sizeof path, "reports/%s", cases[i].name);
        const double *s = cases[i].spacing;
        if (!CHECK_OK(tml, tml_volume_load(tml, test_full_data(path),
                                           &(tml_load_desc){.frame = cases[i].frame}, &v)))
            continue;
        bool good = check_spacing(&v, s[0], s[1], s[2], cases[i].unit);
        for (size_t z = 0; z < 4; z++) {
            size_t at = z * v.grid.dims[0] * v.grid.dims[1];
            double sample =
                v.type == TML_U16 ? ((const uint16_t *)v.data)[at] : ((const uint8_t *)v.data)[at];
            good &= CHECK_NEAR(v.slope * sample + v.intercept, cases[i].first[z], 0);
        }
        if (!good)
            printf("  (%s)\n", path);
        tml_volume_free(tml, &v);
    }
    tml_volume v;
    const char *path = test_full_data("reports/deflate_strip_longer_than_its_rows.tif");
    if (CHECK_OK(tml, tml_volume_load(tml, path, NULL, &v)))
        for (size_t i = 0; i < v.size; i++)
            CHECK(((const uint8_t *)v.data)[i] == 0);
    tml_volume_free(tml, &v);
    tml_close(tml);
}

/* ---- compressed strips ----------------------------------------------------------------------- */

TEST(strips_of_deflate_are_decoded_to_their_end)
{
    tml_context *tml = open_listening();
    for (size_t size = 200; size < 700; size += size < 250 || size > 260 ? 50 : 1) {
        tml_volume v;
        size_t file = made_deflate_tiff(bytes, size);
        tml_status status = load_exact(tml, "a.tif", bytes, file, NULL, &v);
        CHECK_STATUS(status, size < 256 ? TML_ERROR_FILE_FORMAT : TML_OK);
        for (size_t i = 0; status == TML_OK && i < v.size; i++)
            CHECK(((const uint8_t *)v.data)[i] == (uint8_t)(1 + i % 250));
        tml_volume_free(tml, &v);
    }
    tml_close(tml);
}

/* A picture of JPEG that is smaller than its strip leaves the rest of the strip unwritten. */
TEST(jpeg_in_a_strip_has_its_size)
{
    uint8_t jpeg[1024];
    FILE *file = fopen(TML_SOURCE_ROOT "/fuzz/seeds/picture/grey.jpg", "rb");
    size_t size = file ? fread(jpeg, 1, sizeof jpeg, file) : 0;
    if (file)
        fclose(file);
    static const int more[][2] = {{0, 0}, {0, -5}, {0, 5}, {5, 0}, {-5, 0}, {300, 300}};
    tml_context *tml = open_listening();
    for (int i = 0; i < 6 && CHECK(size > 100); i++) {
        tml_volume v;
        size_t made = made_tiff(bytes, 7, jpeg, size, (uint32_t)(24 + more[i][0]),
                                (uint32_t)(14 + more[i][1]));
        tml_status status = load_exact(tml, "a.tif", bytes, made, NULL, &v);
        tml_status expected = i < 2 ? TML_OK : TML_ERROR_FILE_FORMAT;
        CHECK(status == expected || status == TML_ERROR_UNSUPPORTED); /* libtiff without JPEG */
        tml_volume_free(tml, &v);
    }
    tml_close(tml);
}

/* Two strips of a row each that are not compressed; a byte less is no strip. */
TEST(strips_that_are_too_short_are_refused_or_told)
{
    tml_context *tml = open_listening();
    tml_volume v;
    for (uint32_t stored = WIDTH - 1; stored <= WIDTH; stored++) {
        size_t file = make(&(made_file){.description = "", .pages = 1});
        for (size_t at = 8; at + 12 <= file; at++) /* the tags of rows a strip and of sizes */
            if (memcmp(bytes + at, "\x16\1\3\0\1\0\0\0", 8) == 0)
                bytes[at + 8] = 1;
        const uint32_t lists[] = {8, 8 + WIDTH, stored, stored};
        for (size_t at = 8; at + 12 <= file; at++)
            for (int list = 0; list < 2; list++)
                if (memcmp(bytes + at, list ? "\x17\1\4\0\1" : "\x11\1\4\0\1", 5) == 0) {
                    bytes[at + 4] = 2;
                    memcpy(bytes + at + 8, &(uint32_t){(uint32_t)file + 8 * (uint32_t)list}, 4);
                }
        memcpy(bytes + file, lists, sizeof lists);
        CHECK_STATUS(load_exact(tml, "a.tif", bytes, file + sizeof lists, NULL, &v),
                     stored < WIDTH ? TML_ERROR_FILE_FORMAT : TML_OK);
        tml_volume_free(tml, &v);
    }
    /* libtiff calculates the size of a single strip. */
    size_t file = make(&(made_file){.description = "", .pages = 1});
    for (size_t at = 8; at + 12 <= file; at++)
        if (memcmp(bytes + at, "\x17\1\4\0\1", 5) == 0)
            bytes[at + 8] = PAGE - 1;
    warned[0] = '\0';
    if (CHECK_OK(tml, load_exact(tml, "a.tif", bytes, file, NULL, &v)))
        CHECK(strstr(warned, "wrong sizes of its strips") != NULL);
    tml_volume_free(tml, &v);
    tml_close(tml);
}

#else

TEST(nothing)
{
    SKIP("built without libtiff or expat");
}

#endif

int main(int argc, char **argv)
{
    return test_main_in_folder("tiff_text", argc, argv);
}
