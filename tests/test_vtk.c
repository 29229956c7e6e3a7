/* VTK's volumes: real files against the values that VTK itself found, made-up ones for every type,
 * order and place, damaged, cut and changed ones. */
#include <math.h>
#include <stdlib.h>

#include "test.h"

#include "memory_watch.h"

#include "io/points/points_internal.h"
#include "volume_check.h"
#include "warned.h"

/* ---- legacy ---------------------------------------------------------------------------------- */

/* clang-format off */
#define TEN "volumes/vti/ten_types_5x4x3_binary.vtk"
#define HEAD {33, 41, 25}, TML_I16, 0xf5071113, {2, 2, 2}, {-32, -40, -16}
static const volume_check shipped[] = {
    {TEN, "VTK", 0, 10, {5, 4, 3}, TML_I8, 0xc60b36ef, {1, 2, 3}, {0.5, -1, 10}},
    {TEN, "VTK", 7, 10, {5, 4, 3}, TML_U64, 0x6b00ea96, {1, 2, 3}, {0.5, -1, 10}},
    {"volumes/vti/volume_complex.vtk", "VTK", 0, 1, {3, 4, 6}, TML_I8, 0xc993b23d, {1, 1, 1}, {0, 0, 0}},
};
static const volume_check collected[] = {
    {"volumes/vti/head_i16_ascii.vtk", "VTK", 0, 1, HEAD},
    {"volumes/vti/head_i16_binary.vtk", "VTK", 0, 1, HEAD},
    {"volumes/vti/iron_protein_u8_68.vtk", "VTK", 0, 1, {68, 68, 68}, TML_U8, 0x88562b6e, {1, 1, 1}, {0, 0, 0}},
    {"volumes/vti/matrix_f32_ascii.vtk", "VTK", 0, 1, {10, 5, 1}, TML_F32, 0x419825e0, {1, 1, 1}, {0, 0, 0}},
};
/* clang-format on */

/* clang-format off */
#ifdef TML_XML
#define XML(name) "volumes/vti/" name ".vti", "VTI"
static const volume_check shipped_xml[] = {
    {XML("blocks_of_zlib"), 0, 2, {5, 4, 3}, TML_U16, 0xde83ac52, {1, 2, 3}, {0.5, -1, 10}},
    {XML("blocks_of_zlib"), 1, 2, {4, 3, 2}, TML_F64, 0x1c94c056, {1, 2, 3}, {1, 0, 11.5}},
    {XML("direction_turned_f32"), 0, 1, {5, 4, 3}, TML_F32, 0x6fe41d32, {1, 2, 3}, {5, 6, 7}},
    {XML("ten_types_5x4x3_be_base64"), 7, 10, {5, 4, 3}, TML_U64, 0x6b00ea96, {1, 2, 3}, {0.5, -1, 10}},
};
static const volume_check collected_xml[] = {
    {XML("cell_data_only_u8"), 0, 1, {5, 4, 3}, TML_U8, 0x77bddd00, {1, 1, 1}, {0.5, 0.5, 0.5}},
    {XML("chombo_cell_data_f64"), 0, 1, {16, 16, 16}, TML_F64, 0x80cc80d0, {0.5, 0.5, 0.5}, {0.25, 0.25, 0.25}},
    {XML("extent_not_at_zero_f32"), 0, 1, {5, 4, 3}, TML_F32, 0x6fe41d32, {1, 2, 3}, {8, 2, 37}},
    {XML("head_i16_appended_base64_zlib"), 0, 1, HEAD},
    {XML("head_i16_appended_raw"), 0, 1, HEAD},
    {XML("head_i16_appended_raw_be"), 0, 1, HEAD},
    {XML("head_i16_appended_raw_be_u64_zlib"), 0, 1, HEAD},
    {XML("head_i16_appended_raw_u64_zlib"), 0, 1, HEAD},
    {XML("head_i16_ascii"), 0, 1, HEAD},
    {XML("head_i16_inline_base64"), 0, 1, HEAD},
    {XML("head_i16_inline_zlib"), 0, 1, HEAD},
    {XML("hydrogen_f32_64"), 0, 1, {64, 64, 64}, TML_F32, 0x30bd7117, {1, 1, 1}, {0, 0, 0}},
    {XML("vase_u8"), 0, 1, {115, 101, 75}, TML_U8, 0x1e4dfed6, {1, 1, 1}, {0, 0, 0}},
    {XML("vectors_and_scalars_f32"), 0, 4, {5, 4, 3}, TML_F32, 0x6fe41d32, {1, 1, 1}, {0, 0, 0}},
    {XML("vectors_and_scalars_f32"), 2, 4, {5, 4, 3}, TML_F32, 0xd7abf518, {1, 1, 1}, {0, 0, 0}},
    {XML("volume_complex"), 0, 1, {3, 4, 6}, TML_I8, 0xc993b23d, {1, 1, 1}, {0, 0, 0}},
};
#endif
/* clang-format on */

TEST(shipped_files_have_the_values_that_another_reader_found)
{
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof shipped / sizeof shipped[0]; i++)
        check_volume(tml, test_data(shipped[i].path), &shipped[i]);
    tml_close(tml);
}

TEST(collected_files_have_the_values_that_another_reader_found)
{
    if (!test_full_data(collected[0].path))
        SKIP("TML_DATA is not set");
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof collected / sizeof collected[0]; i++) {
        CHECK(test_full_data(collected[i].path) != NULL);
        check_volume(tml, test_full_data(collected[i].path), &collected[i]);
    }
    tml_close(tml);
}

/* Value of array array's sample i in volumes that VTK wrote with ten arrays. */
static double ten_value(int array, int i)
{
    return array % 2 && array < 8 ? 2 * i : i - 30;
}

static void check_ten(tml_context *tml, const char *path)
{
    for (int array = 0; array < 10; array++) {
        tml_volume volume;
        tml_load_desc desc = {.frame = (uint32_t)array};
        static const tml_type types[] = {TML_I8,  TML_U8,  TML_I16, TML_U16, TML_I32,
                                         TML_U32, TML_I64, TML_U64, TML_F32, TML_F64};
        if (!CHECK_OK(tml, tml_volume_load(tml, path, &desc, &volume)))
            return;
        CHECK(volume.type == types[array] && volume.frame_count == 10);
        for (int i = 0; i < 60; i++)
            CHECK(tml_io_number((uint8_t *)volume.data + (size_t)i * tml_type_size(volume.type),
                                volume.type, IO_HOST_IS_BIG_ENDIAN) == ten_value(array, i));
        tml_volume_free(tml, &volume);
    }
}

TEST(each_array_of_a_file_is_a_frame)
{
    tml_context *tml = open_plain();
    check_ten(tml, test_data(TEN));
    tml_volume volume;
    CHECK_STATUS(tml_volume_load(tml, test_data(TEN), &(tml_load_desc){.frame = 10}, &volume),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "i1, u1, i2, u2, i4, u4, i8, u8, f4, f8") != NULL);
    tml_close(tml);
}

#define LEGACY "# vtk DataFile Version 3.0\na title\nASCII\nDATASET STRUCTURED_POINTS\n"
#define GRID   "DIMENSIONS 3 2 2\nSPACING 1 2 3\nORIGIN 5 6 7\n"
#define TWELVE "0 1 2 3 4 5 6 7 8 9 10 11"

/* The samples of a text file's frame, as whole numbers. */
static void expect_bytes(tml_context *tml, const char *file, uint32_t frame, const uint8_t *values,
                         size_t count)
{
    tml_volume volume;
    tml_load_desc desc = {.frame = frame};
    if (CHECK_OK(tml, load_exact(tml, "a.vtk", file, strlen(file), &desc, &volume)))
        CHECK(volume.size == count && memcmp(volume.data, values, count) == 0);
    else
        printf("  (%s)\n", file);
    tml_volume_free(tml, &volume);
}

TEST(legacy_arrays_of_points_and_cells)
{
    static const char file[] = LEGACY GRID
        "FIELD FieldData 1\nTIME 1 1 double\n2.5\nCELL_DATA 2\nSCALARS c unsigned_char\n"
        "LOOKUP_TABLE mine\n40 41\nLOOKUP_TABLE mine 1\n0 0 0 1\nPOINT_DATA 12\n"
        "VECTORS v unsigned_char\n0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 "
        "25 26 "
        "27 28 29 30 31 32 33 34 35\nMETADATA\nINFORMATION 0\n\nSCALARS s unsigned_char 1\n"
        "LOOKUP_TABLE default\n" TWELVE "\n";
    static const uint8_t scalars[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    static const uint8_t second[] = {1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 34};
    static const uint8_t cells[] = {40, 41};
    tml_context *tml = open_plain();
    expect_bytes(tml, file, 0, scalars, 12);
    expect_bytes(tml, file, 2, second, 12);
    expect_bytes(tml, file, 4, cells, 2);
    tml_volume volume;
    tml_load_desc desc = {.frame = 4};
    if (CHECK_OK(tml, load_exact(tml, "a.vtk", file, sizeof file - 1, &desc, &volume))) {
        const tml_grid *grid = &volume.grid; /* the cells' centres */
        CHECK(grid->dims[0] == 2 && grid->dims[1] == 1 && grid->dims[2] == 1);
        CHECK(grid->origin[0] == 5.5 && grid->origin[1] == 7 && grid->origin[2] == 8.5);
        CHECK_STR(volume.comment, "s, v, c (on cells); this is c");
    }
    tml_volume_free(tml, &volume);
    tml_close(tml);
}

/* Texts of a file are stepped over, in lines or with their lengths before them; scalars that are
 * bytes are written as colours, in text as fractions of 255. */
TEST(legacy_files_as_vtk_writes_them)
{
    static const char text[] = "# vtk DataFile Version 5.1\nvtk output\nASCII\nDATASET "
                               "STRUCTURED_POINTS\nFIELD FieldData 2\n"
                               "names 1 2 string\na%20b\n\nTimeValue 1 1 double\n3.5 "
                               "\nMETADATA\nINFORMATION 0\n\nDIMENSIONS 2 2 1\n"
                               "SPACING 1 2 3\nORIGIN 1 2 3\nPOINT_DATA 4\nCOLOR_SCALARS s 1\n0 "
                               "0.0392157 \n0.00392157 1 \n";
#define BINARY_TOP                                                                                 \
    "# vtk DataFile Version 5.1\nvtk output\nBINARY\nDATASET STRUCTURED_POINTS\nFIELD FieldData "  \
    "2\n"                                                                                          \
    "names 1 2 string\n\xc3"                                                                       \
    "a b\x80\x02xy\nTimeValue 1 1 double\n@\014\0\0\0\0\0\0\nDIMENSIONS 2 2 1\nSPACING 1 2 3\n"    \
    "ORIGIN 1 2 3\nPOINT_DATA 4\nCOLOR_SCALARS s 1\n"
    static const char binary[] = BINARY_TOP "\0\012\001\377\nMETADATA\nINFORMATION 0\n\n";
    static const uint8_t values[] = {0, 10, 1, 255};
    static const struct {
        const char *data;
        size_t size;
    } files[] = {{text, sizeof text - 1}, {binary, sizeof binary - 1}};
    tml_context *tml = open_plain();
    for (size_t i = 0; i < 2; i++) {
        tml_volume volume;
        if (!CHECK_OK(tml, load_exact(tml, "a.vtk", files[i].data, files[i].size, NULL, &volume)))
            continue;
        CHECK(volume.type == TML_U8 && volume.size == 4 && memcmp(volume.data, values, 4) == 0);
        CHECK_STR(volume.comment, "s");
        tml_volume_free(tml, &volume);
    }
    static const char beyond[] =
        LEGACY GRID "POINT_DATA 12\nCOLOR_SCALARS s 1\n1 1 1 1 1 1 1 1 1 1 1 2\n";
    expect_refusal(tml, "a.vtk", beyond, sizeof beyond - 1, TML_ERROR_FILE_FORMAT,
                   "number 11 is \"2\"");
    char cut[sizeof binary];
    memcpy(cut, binary, sizeof cut);
    *strstr(cut, "\xc3"
                 "a") = '\xff'; /* a text of 63 characters ends in what follows */
    tml_volume volume;
    CHECK(load_exact(tml, "a.vtk", cut, sizeof cut - 1, NULL, &volume) != TML_OK);
    tml_close(tml);
}

TEST(legacy_files_that_lie)
{
    static const struct {
        const char *file;
        tml_status status;
        const char *word;
    } cases[] = {
        {LEGACY "POINT_DATA 12\nSCALARS s char\nLOOKUP_TABLE default\n" TWELVE,
         TML_ERROR_FILE_FORMAT, "size is 0"},
        {LEGACY GRID "POINT_DATA 11\nSCALARS s char\nLOOKUP_TABLE default\n" TWELVE,
         TML_ERROR_FILE_FORMAT, "section 11"},
        {LEGACY GRID "POINT_DATA 11\nSCALARS s char\n0 1 2 3 4 5 6 7 8 9 10\n",
         TML_ERROR_FILE_FORMAT, "array s has 11 values, needs 12"},
        {LEGACY GRID "POINT_DATA 12\nSCALARS s char\n0 1 2 3 4 5 6 7 8 9 10 x\n",
         TML_ERROR_FILE_FORMAT, "number 11 is \"x\""},
        {LEGACY GRID "POINT_DATA 12\nSCALARS s char\n0 1 2 3 4 5 6 7 8 9 10 128\n",
         TML_ERROR_FILE_FORMAT, "128"},
        {LEGACY GRID "POINT_DATA 12\nSCALARS s bit\n" TWELVE, TML_ERROR_UNSUPPORTED, "no array"},
        {LEGACY GRID "POINT_DATA 12\n", TML_ERROR_UNSUPPORTED, "no array"},
        {LEGACY "DIMENSIONS 3 2 2\nSPACING 1 0 1\nPOINT_DATA 12\nSCALARS s char\n" TWELVE,
         TML_ERROR_FILE_FORMAT, "axis 1"},
        {LEGACY "DIMENSIONS 3000000000 3000000000 3000000000\nPOINT_DATA 2\nSCALARS s char\n1 2",
         TML_ERROR_FILE_FORMAT, "address space"},
    };
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_refusal(tml, "a.vtk", cases[i].file, strlen(cases[i].file), cases[i].status,
                       cases[i].word);
    tml_close(tml);
}

TEST(legacy_files_cut_and_changed)
{
    static const char text[] =
        LEGACY GRID "CELL_DATA 2\nFIELD f 1\nc 1 2 int\n7 8\nPOINT_DATA 12\nSCALARS s short\n"
                    "LOOKUP_TABLE default\n" TWELVE "\n";
    char binary[512];
    size_t size = (size_t)snprintf(binary, sizeof binary, "%s",
                                   "# vtk DataFile Version 3.0\nt\nBINARY\nDATASET "
                                   "STRUCTURED_POINTS\n" GRID
                                   "POINT_DATA 12\nSCALARS s short\nLOOKUP_TABLE default\n");
    size_t header = size;
    for (int i = 0; i < 24; i++)
        binary[size++] = (char)i;
    cut_and_change("a.vtk", text, sizeof text - 1, sizeof text - 30, 3, 1 << 20);
    cut_and_change("a.vtk", binary, size, header, 0, 1 << 20);
}

TEST(damaged_files_get_an_error)
{
    static const char *const none[] = {NULL};
    if (!test_full_data("damaged"))
        SKIP("TML_DATA is not set");
    check_damaged("vtk_points_", none, 1 << 20);
}

/* ---- XML ------------------------------------------------------------------------------------- */

#ifdef TML_XML
TEST(xml_files_have_the_values_that_another_reader_found)
{
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof shipped_xml / sizeof shipped_xml[0]; i++)
        check_volume(tml, test_data(shipped_xml[i].path), &shipped_xml[i]);
    check_ten(tml, test_data("volumes/vti/ten_types_5x4x3_be_base64.vti"));
    check_ten(tml, test_data("volumes/vti/ten_types_5x4x3_appended_raw.vti"));
    tml_volume volume;
    if (CHECK_OK(tml, tml_volume_load(tml, test_data("volumes/vti/direction_turned_f32.vti"), NULL,
                                      &volume))) {
        static const double direction[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1};
        CHECK(memcmp(volume.grid.direction, direction, sizeof direction) == 0);
        CHECK_STR(volume.comment, "s");
    }
    tml_volume_free(tml, &volume);
    tml_close(tml);
}

TEST(collected_xml_files_have_the_values_that_another_reader_found)
{
    if (!test_full_data(collected_xml[0].path))
        SKIP("TML_DATA is not set");
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof collected_xml / sizeof collected_xml[0]; i++) {
        CHECK(test_full_data(collected_xml[i].path) != NULL);
        check_volume(tml, test_full_data(collected_xml[i].path), &collected_xml[i]);
    }
    check_ten(tml, test_full_data("volumes/vti/ten_types_5x4x3_ascii.vti"));
    tml_close(tml);
}

/* Raw samples in this machine's order are read layer by layer, and others are refused with a
 * reason. */
TEST(raw_xml_files_are_read_layer_by_layer)
{
    tml_context *tml = open_plain();
    tml_volume info;
    tml_volume_stream *stream;
    int8_t layer[20];
    if (CHECK_OK(tml, tml_volume_stream_open(
                          tml, test_data("volumes/vti/ten_types_5x4x3_appended_raw.vti"), NULL,
                          &info, &stream))) {
        CHECK_OK(tml, tml_volume_stream_read(stream, 2, 1, layer));
        for (int i = 0; i < 20; i++)
            CHECK(layer[i] == i + 10);
    }
    tml_volume_stream_close(stream);
    CHECK_STATUS(tml_volume_stream_open(tml, test_data("volumes/vti/blocks_of_zlib.vti"), NULL,
                                        &info, &stream),
                 TML_ERROR_UNSUPPORTED);
    tml_close(tml);
}

#    define XML_START "<VTKFile type=\"ImageData\" "
#    define XML_GRID  "><ImageData WholeExtent=\"0 1 0 1 0 0\">"
#    define XML_PIECE "<Piece Extent=\"0 1 0 1 0 0\"><PointData>"
#    define XML_ARRAY "<DataArray type=\"UInt8\" Name=\"a\" format="
#    define XML_END   "</DataArray></PointData></Piece></ImageData></VTKFile>"

TEST(xml_files_that_lie)
{
    static const struct {
        const char *file;
        tml_status status;
        const char *word;
    } cases[] = {
        {XML_START "compressor=\"vtkLZ4DataCompressor\"" XML_GRID, TML_ERROR_UNSUPPORTED,
         "vtkZLibDataCompressor"},
        {XML_START "byte_order=\"Middle\"" XML_GRID, TML_ERROR_FILE_FORMAT, "byte_order"},
        {XML_START "header_type=\"UInt16\"" XML_GRID, TML_ERROR_FILE_FORMAT, "header_type"},
        {XML_START XML_GRID XML_PIECE XML_ARRAY "\"hex\">" XML_END, TML_ERROR_FILE_FORMAT,
         "format"},
        {XML_START XML_GRID XML_PIECE XML_ARRAY "\"ascii\">1 2 3" XML_END, TML_ERROR_FILE_FORMAT,
         "too few for 4 numbers"},
        {XML_START XML_GRID XML_PIECE XML_ARRAY "\"ascii\">1 2 3 4 5" XML_END,
         TML_ERROR_FILE_FORMAT, "more than the 4"},
        {XML_START XML_GRID XML_PIECE XML_ARRAY "\"ascii\"/>" XML_END, TML_ERROR_FILE_FORMAT,
         "mismatched tag"},
        {XML_START XML_GRID XML_PIECE XML_ARRAY "\"appended\">" XML_END, TML_ERROR_FILE_FORMAT,
         "no appended data"},
        {XML_START XML_GRID XML_PIECE XML_ARRAY "\"binary\">BQAAAAECAwQF" XML_END,
         TML_ERROR_FILE_FORMAT, "5 bytes, needs 4"},
        {XML_START XML_GRID XML_PIECE XML_ARRAY "\"binary\">BAAAAAECAwQ" XML_END,
         TML_ERROR_FILE_FORMAT, "base64"},
        {XML_START XML_GRID XML_PIECE XML_ARRAY "\"binary\">BA=AAAECAwQ=" XML_END,
         TML_ERROR_FILE_FORMAT, "base64"},
        {XML_START XML_GRID XML_PIECE "</PointData></Piece></ImageData></VTKFile>",
         TML_ERROR_UNSUPPORTED, "no array"},
        {XML_START XML_GRID "</ImageData></VTKFile>", TML_ERROR_FILE_FORMAT, "0 pieces"},
        {"<!DOCTYPE x []>" XML_START XML_GRID, TML_ERROR_FILE_FORMAT, "DOCTYPE"},
    };
    static const char good[] =
        XML_START XML_GRID XML_PIECE XML_ARRAY "\"binary\">\nBAAA AAEC\tAwQ=\n" XML_END;
    static const uint8_t values[] = {1, 2, 3, 4};
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_refusal(tml, "a.vti", cases[i].file, strlen(cases[i].file), cases[i].status,
                       cases[i].word);
    expect_bytes(tml, good, 0, values, 4);
    tml_close(tml);
}

/* Keys of information, comments and elements that are not known stand among an array's values in
 * real files, before them or behind; arrays of the file as a whole are none of the grid. */
TEST(xml_files_with_more_than_values)
{
#    define KEY                                                                                    \
        "<InformationKey name=\"UNITS_LABEL\" location=\"vtkDataArray\" length=\"1\"><Value "      \
        "index=\"0\">"                                                                             \
        "7 8 9</Value></InformationKey>"
    static const char *const files[] = {
        XML_START XML_GRID XML_PIECE XML_ARRAY "\"ascii\">\n1 2 3 4\n" KEY "\n" XML_END,
        XML_START XML_GRID XML_PIECE XML_ARRAY "\"ascii\">1 2 3 4" KEY KEY XML_END,
        XML_START XML_GRID XML_PIECE XML_ARRAY "\"ascii\">\n" KEY "\n" KEY " 1 2 3 4" XML_END,
        XML_START XML_GRID XML_PIECE XML_ARRAY
        "\"ascii\"><InformationKey name=\"x\"/>1 2 3 4" XML_END,
        XML_START XML_GRID XML_PIECE XML_ARRAY "\"ascii\"><!-- 9 9 -->1 2 3 4<!-- 9 -->" XML_END,
        XML_START XML_GRID XML_PIECE XML_ARRAY "\"binary\">\nBAAAAAECAwQ=\n" KEY "\n" XML_END,
        XML_START XML_GRID XML_PIECE XML_ARRAY "\"binary\">" KEY "BAAAAAECAwQ=" XML_END,
        XML_START XML_GRID
        "<FieldData><DataArray type=\"String\" Name=\"s\" NumberOfTuples=\"1\" format=\"ascii\">65 "
        "0"
        "</DataArray><DataArray type=\"UInt8\" Name=\"t\" NumberOfTuples=\"1\" format=\"ascii\">9"
        "</DataArray></FieldData>" XML_PIECE XML_ARRAY "\"ascii\">1 2 3 4" XML_END,
    };
    static const uint8_t values[] = {1, 2, 3, 4};
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        expect_bytes(tml, files[i], 0, values, 4);
    static const char few[] =
        XML_START XML_GRID XML_PIECE XML_ARRAY "\"ascii\">1 2 3" KEY "4" XML_END;
    expect_refusal(tml, "a.vti", few, sizeof few - 1, TML_ERROR_FILE_FORMAT,
                   "too few for 4 numbers");
    if (test_full_data("reports/vti_key.vti")) {
        tml_volume volume;
        if (CHECK_OK(tml,
                     tml_volume_load(tml, test_full_data("reports/vti_key.vti"), NULL, &volume)))
            for (unsigned i = 0; i < 120; i++)
                CHECK_EQ_U64(((uint8_t *)volume.data)[i], i % 6 * 10 + i / 6 % 5 * 3 + i / 30 * 7);
        tml_volume_free(tml, &volume);
    }
    tml_close(tml);
}

TEST(xml_arrays_beyond_what_is_held_are_left_out)
{
    static char text[65536];
    size_t size = (size_t)snprintf(text, sizeof text, "%s", XML_START XML_GRID XML_PIECE);
    for (int i = 0; i < 70; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s",
                                 XML_ARRAY "\"ascii\">1 2 3 4</DataArray>");
    size += (size_t)snprintf(text + size, sizeof text - size,
                             "</PointData></Piece></ImageData></VTKFile>");
    tml_context *tml = open_listening();
    tml_volume volume;
    if (CHECK_OK(tml, load_exact(tml, "a.vti", text, size, NULL, &volume)))
        CHECK_EQ_U64(volume.frame_count, 64);
    tml_volume_free(tml, &volume);
    CHECK_WARNED("arrays beyond its first 64 are left out: 6");
    const tml_load_desc strict = {.strict = true};
    CHECK_STATUS(load_exact(tml, "a.vti", text, size, &strict, &volume), TML_ERROR_FILE_FORMAT);
    tml_close(tml);
}

TEST(xml_files_cut_and_changed)
{
    /* sure: where the values end that are read */
    static const struct {
        const char *name, *sure;
    } files[] = {{"blocks_of_zlib.vti", "</DataArray></PointData>"},
                 {"direction_turned_f32.vti", "</DataArray>"},
                 {"ten_types_5x4x3_be_base64.vti", "</DataArray>"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[256], text[8192] = "";
        snprintf(path, sizeof path, "volumes/vti/%s", files[i].name);
        FILE *file = fopen(test_data(path), "rb");
        size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
        const char *sure = strstr(text, files[i].sure);
        if (CHECK(sure != NULL) && i) /* not well-formed until its last tag ends */
            cut_and_change("a.vti", text, size, (size_t)(sure - text), 1, 1 << 20);
        else if (sure) /* of appended data only what is read matters: the array on points */
            cut_and_change("a.vti", text, size, (size_t)(sure - text), strlen(strchr(sure, '_')),
                           1 << 20);
        if (file)
            fclose(file);
    }
}

TEST(damaged_xml_files_get_an_error)
{
    static const char *const readable[] = {"vti_offsets_all_same.vti", "vti_spacing_negative.vti",
                                           NULL};
    if (!test_full_data("damaged"))
        SKIP("TML_DATA is not set");
    check_damaged("vti_", readable, 1 << 20);
}
#else
TEST(without_expat_xml_files_are_refused)
{
    static const char file[] = "<VTKFile type=\"ImageData\"/>";
    tml_context *tml = open_plain();
    expect_refusal(tml, "a.vti", file, sizeof file - 1, TML_ERROR_UNSUPPORTED, "expat");
    tml_close(tml);
}
#endif

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
