/* VTK's volumes: real files against the values that VTK itself found, made-up ones for every type, order and
 * place, damaged, cut and changed ones. */
#include <math.h>
#include <stdlib.h>

#include "test.h"

#include "memory_watch.h"

#include "io/points_internal.h"
#include "volume_check.h"

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
        tml_volume_load_desc desc = {.frame = (uint32_t)array};
        static const tml_type types[] = {TML_I8,  TML_U8,  TML_I16, TML_U16, TML_I32,
                                         TML_U32, TML_I64, TML_U64, TML_F32, TML_F64};
        if (!CHECK_OK(tml, tml_volume_load(tml, path, &desc, &volume)))
            return;
        CHECK(volume.type == types[array] && volume.frame_count == 10);
        for (int i = 0; i < 60; i++)
            CHECK(tml_points_number((uint8_t *)volume.data + (size_t)i * tml_type_size(volume.type),
                                    volume.type, IO_HOST_IS_BIG_ENDIAN) == ten_value(array, i));
        tml_volume_free(tml, &volume);
    }
}

TEST(each_array_of_a_file_is_a_frame)
{
    tml_context *tml = open_plain();
    check_ten(tml, test_data(TEN));
    tml_volume volume;
    CHECK_STATUS(
        tml_volume_load(tml, test_data(TEN), &(tml_volume_load_desc){.frame = 10}, &volume),
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
    tml_volume_load_desc desc = {.frame = frame};
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
    tml_volume_load_desc desc = {.frame = 4};
    if (CHECK_OK(tml, load_exact(tml, "a.vtk", file, sizeof file - 1, &desc, &volume))) {
        const tml_grid *grid = &volume.grid; /* the cells' centres */
        CHECK(grid->dims[0] == 2 && grid->dims[1] == 1 && grid->dims[2] == 1);
        CHECK(grid->origin[0] == 5.5 && grid->origin[1] == 7 && grid->origin[2] == 8.5);
        CHECK_STR(volume.comment, "s, v, c (on cells); this is c");
    }
    tml_volume_free(tml, &volume);
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

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
