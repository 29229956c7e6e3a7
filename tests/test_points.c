/* Point files: real files against values that other programs read from them (numpy, VTK), every
 * encoding of each format against one cloud that the test writes itself, and damaged files. */
#include <stdarg.h>
#include <strings.h>
#include <unistd.h>

#include "core/platform.h"
#include "io/points/lzf.h"
#include "io/points/points_internal.h"
#include "low_bytes.h"
#include "test.h"

/* ---- helpers --------------------------------------------------------------------------------- */

static tml_context *open_context(void)
{
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.threads = 1}, &tml));
    return tml;
}

/* A file in the making. */
typedef struct bytes {
    uint8_t *data;
    size_t size, capacity;
} bytes;

static void put(bytes *out, const void *data, size_t size)
{
    if (out->size + size > out->capacity) {
        out->capacity = 2 * (out->size + size);
        out->data = realloc(out->data, out->capacity);
    }
    if (size > 0)
        memcpy(out->data + out->size, data, size);
    out->size += size;
}

static void put_text(bytes *out, const char *format, ...) TML_FORMAT(2, 3);
static void put_text(bytes *out, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put(out, text, (size_t)length);
}

/* value as a scalar of that type and byte order. */
static void put_number(bytes *out, double value, tml_type type, bool big_endian)
{
    uint8_t raw[8];
    put(out, raw, put_scalar(raw, value, type, big_endian));
}

/* Reads from a copy of just the right size, so that a byte too far is found by the sanitizer. */
static tml_status parse(tml_context *tml, const void *data, size_t size, tml_points *out)
{
    io_file file;
    void *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    tml_io_open_memory(tml, "tml_points_load", "test", copy, size, &file);
    tml_status status = tml_points_read(&file, out);
    tml_io_close(&file);
    free(copy);
    return status;
}

/* ---- the cloud that the test writes ---------------------------------------------------------- */

/* Whole numbers within [-100, 100]: every type of signed number holds them exactly. */
static double cloud_position(uint64_t i, int axis)
{
    return (double)((i * 37 + (uint64_t)axis * 59 + i * i % 7) % 201) - 100.0;
}

static double cloud_radius(uint64_t i)
{
    return (double)(i % 5 + 1);
}

static double cloud_value(uint64_t i)
{
    return (double)(i % 100);
}

enum { HAS_RADII = 1, HAS_VALUES = 2 };

/* Parses a file that holds the first count points of the cloud. */
static void check_cloud(const char *what, const bytes *file, uint64_t count, int has,
                        const char *value_name)
{
    tml_context *tml = open_context();
    tml_points points;
    if (CHECK_OK(tml, parse(tml, file->data, file->size, &points))) {
        CHECK_EQ_U64(points.count, count);
        CHECK_EQ_U64(points.dropped, 0);
        CHECK(!points.radii == !(has & HAS_RADII && count > 0));
        CHECK(!points.values == !(has & HAS_VALUES && count > 0));
        CHECK_STR(points.value_name, value_name);
        for (uint64_t i = 0; i < points.count; i++) {
            bool same = true;
            for (int axis = 0; axis < 3; axis++)
                same &= (double)points.positions[3 * i + (uint64_t)axis] == cloud_position(i, axis);
            same &= !points.radii || (double)points.radii[i] == cloud_radius(i);
            same &= !points.values || (double)points.values[i] == cloud_value(i);
            if (!CHECK(same)) {
                printf("    %s: point %" PRIu64 "\n", what, i);
                break;
            }
        }
        tml_points_free(tml, &points);
        CHECK(!points.positions && points.count == 0);
    } else {
        printf("    %s\n", what);
    }
    tml_close(tml);
}

/* ---- writers of each format, for the test ---------------------------------------------------- */

static const struct {
    tml_type type;
    const char *ply, *vtk;
} scalar_names[] = {
    {TML_I8, "char", "char"},    {TML_I16, "short", "short"},   {TML_I32, "int32", "int"},
    {TML_F32, "float", "float"}, {TML_F64, "double", "double"},
};
enum { SCALAR_NAMES = sizeof scalar_names / sizeof scalar_names[0] };

static void put_value(bytes *out, double value, tml_type type, io_number_form encoding)
{
    if (encoding == IO_NUMBERS_TEXT)
        put_text(out, " %.17g", value);
    else
        put_number(out, value, type, encoding == IO_NUMBERS_BIG_ENDIAN);
}

/* Properties out of order, lists among them, an element before the vertices and one after. */
static void make_ply(bytes *out, uint64_t count, io_number_form encoding, int scalar,
                     const char *eol)
{
    static const char *const encodings[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    const char *type = scalar_names[scalar].ply;
    put_text(out, "ply%sformat %s 1.0%scomment test%s", eol, encodings[encoding], eol, eol);
    put_text(out, "element camera 2%sproperty list uchar double view%s", eol, eol);
    put_text(out, "element vertex %" PRIu64 "%s", count, eol);
    put_text(out, "property uchar red%sproperty %s z%sproperty list ushort int links%s", eol, type,
             eol, eol);
    put_text(out, "property %s x%sproperty %s radius%sproperty %s y%s", type, eol, type, eol, type,
             eol);
    put_text(out, "property float nx%sproperty %s density%sproperty int more%s", eol, type, eol,
             eol);
    put_text(out, "element face 0%sproperty list uchar int vertex_indices%send_header%s", eol, eol,
             eol);
    for (uint64_t i = 0; i < 2; i++) {
        put_value(out, (double)i, TML_U8, encoding);
        for (uint64_t k = 0; k < i; k++)
            put_value(out, 0.5, TML_F64, encoding);
    }
    for (uint64_t i = 0; i < count; i++) {
        tml_type t = scalar_names[scalar].type;
        put_value(out, 200.0, TML_U8, encoding);
        put_value(out, cloud_position(i, 2), t, encoding);
        put_value(out, (double)(i % 3), TML_U16, encoding);
        for (uint64_t k = 0; k < i % 3; k++)
            put_value(out, -1.0, TML_I32, encoding);
        put_value(out, cloud_position(i, 0), t, encoding);
        put_value(out, cloud_radius(i), t, encoding);
        put_value(out, cloud_position(i, 1), t, encoding);
        put_value(out, 0.25, TML_F32, encoding);
        put_value(out, cloud_value(i), t, encoding);
        put_value(out, 7.0, TML_I32, encoding);
        if (encoding == IO_NUMBERS_TEXT)
            put_text(out, "%s", eol);
    }
}

/* x y z w, a radius, three numbers, an index among strings, and a value. */
static void make_bgeo(bytes *out, uint64_t count)
{
    static const struct {
        const char *name;
        uint32_t size, type;
    } attributes[] = {{"pscale", 1, 0}, {"v", 3, 5}, {"kind", 1, 4}, {"heat", 1, 1}};
    const uint32_t numbers[] = {
        5, (uint32_t)count, 0, 0, 0, sizeof attributes / sizeof attributes[0], 0, 0, 0};
    put(out, "BgeoV", 5);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        put_number(out, numbers[i], TML_U32, true);
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        put_number(out, (double)strlen(attributes[i].name), TML_U16, true);
        put_text(out, "%s", attributes[i].name);
        put_number(out, attributes[i].size, TML_U16, true);
        put_number(out, attributes[i].type, TML_U32, true);
        for (uint32_t k = 0; k < attributes[i].size; k++)
            put_number(out, 2, TML_U32, true);
        if (attributes[i].type == 4) /* two strings */
            put(out, "\0\3one\0\0", 7);
    }
    for (uint64_t i = 0; i < count; i++) {
        for (int axis = 0; axis < 3; axis++)
            put_number(out, cloud_position(i, axis), TML_F32, true);
        put_number(out, 1, TML_F32, true);
        put_number(out, cloud_radius(i), TML_F32, true);
        for (int k = 0; k < 3; k++)
            put_number(out, 10 * k + (double)i, TML_F32, true);
        put_number(out, 0, TML_I32, true);
        put_number(out, cloud_value(i), TML_I32, true);
    }
}

static void put_vtu_array(bytes *out, const char *name, int components, uint64_t count,
                          double (*number)(uint64_t i, int component))
{
    put_text(out,
             "<DataArray type=\"Float32\" Name=\"%s\" NumberOfComponents=\"%d\" "
             "format=\"ascii\">",
             name, components);
    for (uint64_t i = 0; i < count; i++)
        for (int c = 0; c < components; c++)
            put_text(out, " %.9g", number(i, c));
    put_text(out, "</DataArray>");
}

static double vtu_radius(uint64_t i, int component)
{
    return cloud_radius(i) + component;
}

static double vtu_value(uint64_t i, int component)
{
    return cloud_value(i) + component;
}

static double vtu_velocity(uint64_t i, int component)
{
    return 10 * component + (double)i;
}

/* Values before positions, and arrays of cells, which do not count. */
static void make_vtu(bytes *out, uint64_t count)
{
    put_text(out,
             "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\">"
             "<UnstructuredGrid><Piece NumberOfPoints=\"%" PRIu64 "\" NumberOfCells=\"1\">"
             "<PointData>",
             count);
    put_vtu_array(out, "v", 3, count, vtu_velocity);
    put_vtu_array(out, "x", 1, count, vtu_value);
    put_vtu_array(out, "radius", 1, count, vtu_radius);
    put_vtu_array(out, "heat", 1, count, vtu_value);
    put_text(out, "</PointData><Points>");
    put_vtu_array(out, "Points", 3, count, cloud_position);
    put_text(out, "</Points><Cells>");
    put_vtu_array(out, "connectivity", 3, 1, vtu_value);
    put_text(out, "</Cells></Piece></UnstructuredGrid></VTKFile>");
}

/* LZF by search of everything in reach: slow and small. */
static void pack_lzf(bytes *out, const uint8_t *in, size_t size)
{
    size_t at = 0, literals = 0;
    while (at <= size) {
        size_t best = 0, distance = 0;
        for (size_t back = 1; at < size && back <= at && back <= 8192; back++) {
            size_t length = 0;
            while (at + length < size && length < 264 && in[at + length] == in[at + length - back])
                length++;
            if (length > best) {
                best = length;
                distance = back;
            }
        }
        bool is_match = best >= 3;
        if (literals > 0 && (is_match || literals == 32 || at == size)) {
            uint8_t control = (uint8_t)(literals - 1);
            put(out, &control, 1);
            put(out, in + at - literals, literals);
            literals = 0;
        }
        if (is_match) {
            uint8_t code[3] = {(uint8_t)((distance - 1) >> 8 | (best >= 9 ? 7 : best - 2) << 5)};
            size_t used = 1;
            if (best >= 9)
                code[used++] = (uint8_t)(best - 9);
            code[used++] = (uint8_t)(distance - 1);
            put(out, code, used);
            at += best;
        } else {
            at++;
            literals++;
        }
    }
}

enum { PCD_TEXT, PCD_ROWS, PCD_PACKED };

/* Fields: padding, y, a vector, z, x, value, radius. */
static double pcd_field(uint64_t i, int field)
{
    return field == 0   ? 1.0
           : field == 1 ? cloud_position(i, 1)
           : field == 2 ? 0.5
           : field == 3 ? cloud_position(i, 2)
           : field == 4 ? cloud_position(i, 0)
           : field == 5 ? cloud_value(i)
                        : cloud_radius(i);
}

static void make_pcd(bytes *out, uint64_t count, int encoding, const char *version)
{
    static const char *const encodings[] = {"ascii", "binary", "binary_compressed"};
    static const tml_type types[] = {TML_U8, TML_F32, TML_F32, TML_I16, TML_F64, TML_U32, TML_I8};
    static const int elements[] = {3, 1, 2, 1, 1, 1, 1};
    enum { FIELDS = 7 };
    bool is_new = strcmp(version, "0.7") == 0;
    put_text(out, "# .PCD v%s - Point Cloud Data file format\nVERSION %s\n", version, version);
    put_text(out, "%s _ y normal_x z x curvature radius\n", is_new ? "FIELDS" : "COLUMNS");
    put_text(out, "SIZE 1 4 4 2 8 4 1\nTYPE U F F I F U I\nCOUNT 3 1 2 1 1 1 1\n");
    put_text(out, "WIDTH %" PRIu64 "\n", count);
    if (is_new)
        put_text(out, "HEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS %" PRIu64 "\n", count);
    put_text(out, "DATA %s\n", encodings[encoding]);
    bytes packed = {0}, columns = {0};
    if (encoding == PCD_PACKED) {
        for (int field = 0; field < FIELDS; field++)
            for (uint64_t i = 0; i < count; i++)
                for (int e = 0; e < elements[field]; e++)
                    put_number(&columns, pcd_field(i, field), types[field], false);
        pack_lzf(&packed, columns.data, columns.size);
        put_number(out, (double)packed.size, TML_U32, false);
        put_number(out, (double)columns.size, TML_U32, false);
        put(out, packed.data, packed.size);
    }
    for (uint64_t i = 0; encoding != PCD_PACKED && i < count; i++) {
        for (int field = 0; field < FIELDS; field++)
            for (int e = 0; e < elements[field]; e++)
                put_value(out, pcd_field(i, field), types[field],
                          encoding == PCD_TEXT ? IO_NUMBERS_TEXT : IO_NUMBERS_LITTLE_ENDIAN);
        if (encoding == PCD_TEXT)
            put_text(out, "\n");
    }
    free(packed.data);
    free(columns.data);
}

static void set_number(bytes *out, size_t at, double value, tml_type type)
{
    bytes number = {0};
    put_number(&number, value, type, false);
    memcpy(out->data + at, number.data, number.size);
    free(number.data);
}

/* Coordinates in quarters with an offset; two variable length records; extra bytes in each
 * point. */
static void make_las(bytes *out, uint64_t count, int minor, int format)
{
    static const int record_sizes[] = {20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67};
    const int header_size = minor >= 4 ? 375 : minor == 3 ? 235 : 227;
    const int record_size = record_sizes[format] + 3;
    uint8_t zeros[400] = {0};
    put(out, zeros, (size_t)header_size);
    memcpy(out->data, "LASF", 4);
    out->data[24] = 1;
    out->data[25] = (uint8_t)minor;
    set_number(out, 94, header_size, TML_U16);
    set_number(out, 96, header_size + 54 + 10 + 54, TML_U32);
    set_number(out, 100, 2, TML_U32);
    out->data[104] = (uint8_t)format;
    set_number(out, 105, record_size, TML_U16);
    set_number(out, 107, minor >= 4 && format >= 6 ? 0.0 : (double)count, TML_U32);
    for (int axis = 0; axis < 3; axis++) {
        set_number(out, (size_t)(131 + 8 * axis), 0.25, TML_F64);
        set_number(out, (size_t)(155 + 8 * axis), 50.0 * axis, TML_F64);
    }
    if (minor >= 4)
        put_ordered(out->data + 247, &count, sizeof count, false);
    uint8_t record[54] = {0};
    memcpy(record + 2, "LASF_Projection", 15);
    record[20] = 10;
    put(out, record, sizeof record);
    put(out, zeros, 10);
    record[20] = 0;
    put(out, record, sizeof record);
    for (uint64_t i = 0; i < count; i++) {
        for (int axis = 0; axis < 3; axis++)
            put_number(out, (cloud_position(i, axis) - 50.0 * axis) * 4.0, TML_I32, false);
        put_number(out, cloud_value(i), TML_U16, false);
        put(out, zeros, (size_t)(record_size - 14));
    }
}

static void put_vtk_array(bytes *out, uint64_t count, int which, int scalar,
                          io_number_form encoding)
{
    for (uint64_t i = 0; i < count; i++)
        put_value(out, which == 0 ? cloud_radius(i) : cloud_value(i), scalar_names[scalar].type,
                  encoding);
    put_text(out, "\n");
}

/* Points, cells in the old or the new form, and attributes of every kind. */
static void make_vtk(bytes *out, uint64_t count, bool binary, int scalar, bool is_new)
{
    io_number_form encoding = binary ? IO_NUMBERS_BIG_ENDIAN : IO_NUMBERS_TEXT;
    const char *type = scalar_names[scalar].vtk;
    put_text(out, "# vtk DataFile Version %s\ntest\n%s\nDATASET %s\n", is_new ? "5.1" : "3.0",
             binary ? "BINARY" : "ASCII", is_new ? "UNSTRUCTURED_GRID" : "POLYDATA");
    put_text(out, "FIELD FieldData 1\nTIME 1 1 double\n");
    put_value(out, 0.5, TML_F64, encoding);
    put_text(out, "\nPOINTS %" PRIu64 " %s\n", count, type);
    for (uint64_t i = 0; i < count; i++)
        for (int axis = 0; axis < 3; axis++)
            put_value(out, cloud_position(i, axis), scalar_names[scalar].type, encoding);
    put_text(out, "\nMETADATA\nINFORMATION 1\nNAME L2 LOCATION vtk\nDATA 2 0 1\n\n");
    if (is_new) {
        put_text(out, "CELLS %" PRIu64 " %" PRIu64 "\nOFFSETS vtktypeint64\n", count + 1, count);
        for (uint64_t i = 0; i <= count; i++)
            put_value(out, (double)i, TML_I64, encoding);
        put_text(out, "\nCONNECTIVITY vtktypeint64\n");
        for (uint64_t i = 0; i < count; i++)
            put_value(out, (double)i, TML_I64, encoding);
        put_text(out, "\nCELL_TYPES %" PRIu64 "\n", count);
        for (uint64_t i = 0; i < count; i++)
            put_value(out, 1.0, TML_I32, encoding);
    } else {
        put_text(out, "VERTICES %" PRIu64 " %" PRIu64 "\n", count, 2 * count);
        for (uint64_t i = 0; i < 2 * count; i++)
            put_value(out, i % 2 ? (double)(i / 2) : 1.0, TML_I32, encoding);
    }
    /* A cell array of the same length must not be taken for the points'. */
    put_text(out, "\nCELL_DATA %" PRIu64 "\nSCALARS cells %s 1\nLOOKUP_TABLE default\n", count,
             type);
    put_vtk_array(out, count, 0, scalar, encoding);
    put_text(out, "POINT_DATA %" PRIu64 "\nVECTORS velocity float\n", count);
    for (uint64_t i = 0; i < 3 * count; i++)
        put_value(out, 1.0, TML_F32, encoding);
    put_text(out, "\nCOLOR_SCALARS tint 2\n");
    for (uint64_t i = 0; i < 2 * count; i++)
        put_value(out, 1.0, TML_U8, encoding);
    put_text(out, "\nTEXTURE_COORDINATES uv 2 double\n");
    for (uint64_t i = 0; i < 2 * count; i++)
        put_value(out, 0.25, TML_F64, encoding);
    put_text(out, "\nSCALARS density %s\nLOOKUP_TABLE default\n", type);
    put_vtk_array(out, count, 1, scalar, encoding);
    put_text(out, "FIELD more 2\npscale 1 %" PRIu64 " %s\n", count, type);
    put_vtk_array(out, count, 0, scalar, encoding);
    put_text(out, "other 1 %" PRIu64 " %s\n", count, type);
    put_vtk_array(out, count, 0, scalar, encoding);
}

/* ---- every encoding -------------------------------------------------------------------------- */

TEST(ply_of_every_encoding_and_type)
{
    static const char *const eols[] = {"\n", "\r\n", "\r"};
    for (int encoding = 0; encoding < 3; encoding++) {
        for (int scalar = 0; scalar < SCALAR_NAMES; scalar++) {
            for (int eol = 0; eol < 3; eol++) {
                bytes file = {0};
                make_ply(&file, 101, (io_number_form)encoding, scalar, eols[eol]);
                check_cloud(scalar_names[scalar].ply, &file, 101, HAS_RADII | HAS_VALUES,
                            "density");
                free(file.data);
            }
        }
    }
}

TEST(pcd_of_every_encoding_and_version)
{
    static const char *const versions[] = {".5", ".6", "0.7"};
    for (int encoding = 0; encoding < 3; encoding++) {
        for (int version = 0; version < 3; version++) {
            bytes file = {0};
            make_pcd(&file, 127, encoding, versions[version]);
            check_cloud(versions[version], &file, 127, HAS_RADII | HAS_VALUES, "curvature");
            free(file.data);
        }
    }
}

TEST(las_of_every_version_and_format)
{
    for (int minor = 0; minor <= 4; minor++) {
        for (int format = 0; format <= (minor < 2   ? 1
                                        : minor < 3 ? 3
                                        : minor < 4 ? 5
                                                    : 10);
             format++) {
            bytes file = {0};
            make_las(&file, 97, minor, format);
            check_cloud("LAS", &file, 97, HAS_VALUES, "intensity");
            free(file.data);
        }
    }
}

TEST(vtk_of_every_encoding_and_type)
{
    for (int scalar = 0; scalar < SCALAR_NAMES; scalar++) {
        for (int kind = 0; kind < 4; kind++) {
            bytes file = {0};
            make_vtk(&file, 89, kind & 1, scalar, kind & 2);
            check_cloud(scalar_names[scalar].vtk, &file, 89, HAS_RADII | HAS_VALUES, "density");
            free(file.data);
        }
    }
}

/* The sink keeps points in blocks of 65536. */
TEST(counts_on_the_seams)
{
    static const uint64_t counts[] = {0, 1, 2, 65535, 65536, 65537, 131072, 131101};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        bytes file = {0};
        make_pcd(&file, counts[k], PCD_ROWS, "0.7");
        check_cloud("seam", &file, counts[k], HAS_RADII | HAS_VALUES, "curvature");
        free(file.data);
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

TEST(text_in_every_guise)
{
    static const struct {
        const char *text;
        uint64_t count;
        double last[3], value; /* value NAN: none */
        const char *value_name;
    } cases[] = {
        {"1 2 3\n4 5 6\n", 2, {4, 5, 6}, NAN, ""},
        {"1 2 3\n4 5 6", 2, {4, 5, 6}, NAN, ""},
        {"\xef\xbb\xbf"
         "1 2 3\r\n4 5 6\r\n",
         2,
         {4, 5, 6},
         NAN,
         ""},
        {"# comment\n\n  1\t2\t3\t9\n// comment\n4 5 6 8 7\n", 2, {4, 5, 6}, 8, "column 4"},
        {"1,2,3,9\n4, 5 ,6, 8\n", 2, {4, 5, 6}, 8, "column 4"},
        {"1;2;3;9\n4;5;6;8\n", 2, {4, 5, 6}, 8, "column 4"},
        {"x,y,z\n1,2,3\n", 1, {1, 2, 3}, NAN, ""},
        {"\"id\",\"Z\",\"Y\",\"X\",\"density\"\n7,3,2,1,5\n", 1, {1, 2, 3}, 5, "density"},
        {"X Y Z R G B Intensity\n1 2 3 0 0 0 4\n", 1, {1, 2, 3}, 4, "Intensity"},
        {"//X;Y;Z;Scalar field\n1;2;3;4\n", 1, {1, 2, 3}, 4, "Scalar field"},
        {"# x y z\n1 2 3 4\n", 1, {1, 2, 3}, NAN, ""},
        {"# the x of y and z\n1 2 3 4\n", 1, {1, 2, 3}, 4, "column 4"},
        {"2\n1 2 3\n4 5 6\n", 2, {4, 5, 6}, NAN, ""},
        {"2\nwater 1 2 3\nO 1 2 3\nH 4 5 6\n", 2, {4, 5, 6}, NAN, ""},
        {"1\n\nC 1e1 -2.5 +3 0.5\n1\n\nC 7 7 7 7\n", 1, {10, -2.5, 3}, 0.5, "column 5"},
        {"1\n1 2 3 is what we want\nFe 4 5 6\n", 1, {4, 5, 6}, NAN, ""},
        {"x,y,z\n", 0, {0}, NAN, ""},
        {"1 2 3\r4 5 6\r", 2, {4, 5, 6}, NAN, ""},
        {"# x y z\r1 2 3\r\r4 5 6", 2, {4, 5, 6}, NAN, ""},
        {"1,5;2,5;3,5\n4,5;5;6,25\n", 2, {4.5, 5, 6.25}, NAN, ""},
        {"X;Y;Z;Wert\n1,5;2,5;3,5;1e1\n4,5;5,5;6,5;0,5\n", 2, {4.5, 5.5, 6.5}, 0.5, "Wert"},
        {"1,5 2,5 3,5\n4,5\t5 6,25\n", 2, {4.5, 5, 6.25}, NAN, ""},
        {"1, 2, 3\n4, 5, 6\n", 2, {4, 5, 6}, NAN, ""},
        {"1\t2\t3\n4\t5\t6\n", 2, {4, 5, 6}, NAN, ""},
        {"X (m),Y (m),Z (m)\n1,2,3\n", 1, {1, 2, 3}, NAN, ""},
        {"heat,Points:0,Points:1,Points:2\n7,1,2,3\n", 1, {1, 2, 3}, 7, "heat"},
        {"2\n1 2 3\n4 5 6\n1\n7 8 9\n", 3, {7, 8, 9}, NAN, ""}, /* two scans */
        {"1 2 3\f\n4 5 6\v\n", 2, {4, 5, 6}, NAN, ""},
        {"1 2 3\r\n4 5 6\r\n\x1a", 2, {4, 5, 6}, NAN, ""},
    };
    tml_context *tml = open_context();
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        tml_points points;
        bool good = CHECK_OK(tml, parse(tml, cases[k].text, strlen(cases[k].text), &points));
        good = good && CHECK_EQ_U64(points.count, cases[k].count) &&
               CHECK_STR(points.value_name, cases[k].value_name) && CHECK_STR(points.format, "XYZ");
        for (int axis = 0; good && points.count && axis < 3; axis++)
            good = CHECK_NEAR(points.positions[3 * points.count - 3 + (uint64_t)axis],
                              cases[k].last[axis], 0.0);
        if (good && points.count && CHECK(!points.values == !!isnan(cases[k].value)) &&
            points.values)
            good = CHECK_NEAR(points.values[points.count - 1], cases[k].value, 0.0);
        if (!good)
            printf("    in \"%s\"\n", cases[k].text);
        tml_points_free(tml, &points);
    }
    tml_close(tml);
}

/* ---- what is left out, and told -------------------------------------------------------------- */

static void keep_warning(void *user, tml_log_level level, const char *message)
{
    if (level == TML_LOG_WARNING)
        snprintf(user, 512, "%s", message);
}

static tml_status parse_strictly(tml_context *tml, const char *text, bool strict,
                                 const char *const *names, uint32_t name_count, tml_points *out)
{
    io_file file;
    tml_io_open_memory(tml, "tml_points_load", "test", text, strlen(text), &file);
    file.strict = strict;
    return tml_points_read_attributes(&file, names, name_count, out);
}

TEST(one_bad_row_is_left_out_and_told)
{
#define PCD_THREE                                                                                  \
    "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 3\n"       \
    "HEIGHT 1\nPOINTS 3\nDATA ascii\n"
    static const struct {
        const char *text;
        uint64_t count;
        const char *word;
    } cases[] = {
        {"1 2 3\n1 two 3\n4 5 6\n7 8 9\n", 3, "1 row is left out (line 2, column 2 is \"two\""},
        {"1 2 3\n4 5\n4 5 6\n#\n7\n7 8 9\n", 3, "2 rows are left out (line 2 has 2 columns"},
        {"x,y,z,w\r\n1,2,3,4\r\n1,2,3\r\n5,6,7,8\r\n", 2, "line 3 has 3 columns, needs at least 4"},
        {"Scan of a barn\nin two lines\n1 2 3\n", 1,
         "2 lines are left out before the points (line 1"},
        {"3\n1 2 3\nbad bad bad\n4 5 6\n", 2, "line 3, column 1"},
        {"1 2 3\nnan 2 3\n", 1, "1 point with a coordinate that is no finite float is left out"},
        {"1 2 3\n-nan(ind) 2 3\n1 1.#QNAN 3\n1.#J 1 3\n", 1, "3 points with a coordinate"},
        {PCD_THREE "1 2 3\n4 x 6\n7 8 9\n", 2, "1 row is left out (point 1 is no row of numbers)"},
        {"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty "
         "float z\n"
         "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 "
         "0\n3 0 1 2\n",
         3, "holds a mesh, whose vertices are read as points; its 1 face is left out"},
        {"# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0 0 0 1 0 0 0 1 "
         "0\n"
         "POLYGONS 1 4\n3 0 1 2\n",
         3, "its 1 face is left out"},
        {"# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 "
         "0 0 0 1 "
         "0 0 0 1\nCELLS 2 7\n4 0 1 2 3\n1 0\nCELL_TYPES 2\n10\n1\n",
         4, "its 1 cell is left out"},
    };
    char message[512];
    tml_context *tml = NULL;
    CHECK_OK(
        NULL,
        tml_open(&(tml_open_desc){.threads = 1, .log = keep_warning, .log_user = message}, &tml));
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        tml_points points;
        message[0] = '\0';
        bool good = CHECK_OK(tml, parse_strictly(tml, cases[k].text, false, NULL, 0, &points)) &&
                    CHECK_EQ_U64(points.count, cases[k].count) &&
                    CHECK(strstr(message, cases[k].word));
        tml_points_free(tml, &points);
        good &= CHECK_STATUS(parse_strictly(tml, cases[k].text, true, NULL, 0, &points),
                             TML_ERROR_FILE_FORMAT) &&
                CHECK(strstr(tml_last_error(tml), cases[k].word));
        if (!good)
            printf("    in \"%s\": %s\n", cases[k].text, message);
    }
    tml_close(tml);
}

/* What is asked for beside the positions does not decide which rows are points. */
TEST(a_missing_attribute_is_nan)
{
    static const char text[] = "x y z w a\n1 2 3 4 5\n4 5 6 7\n7 8 9 1 b\n7 8 9 1 6\n";
    static const char *const all[] = {"*"};
    char message[512] = "";
    tml_points points;
    tml_context *tml = NULL;
    CHECK_OK(
        NULL,
        tml_open(&(tml_open_desc){.threads = 1, .log = keep_warning, .log_user = message}, &tml));
    for (uint32_t k = 0; k < 2; k++)
        if (CHECK_OK(tml, parse_strictly(tml, text, false, all, k, &points))) {
            CHECK_EQ_U64(points.count, 4);
            CHECK(!k == !strstr(message, "2 numbers of attributes missing"));
            const float *a = points.attributes[1].data;
            CHECK(k ? a && a[0] == 5 && isnan(a[1]) && isnan(a[2]) && a[3] == 6 : !a);
            tml_points_free(tml, &points);
        }
    tml_close(tml);
}

/* "*": all attributes, as far as there is room. */
TEST(all_attributes_at_once)
{
    static const char *const all[] = {"*"};
    char message[512] = "", text[1024] = "x y z red green blue nx ny nz heat",
         row[256] = "1 2 3 255 0 51 0 0 1 9";
    char path[] = "/tmp/tml-points-XXXXXX.ply";
    close(mkstemps(path, 4));
    tml_context *tml = NULL;
    CHECK_OK(
        NULL,
        tml_open(&(tml_open_desc){.threads = 1, .log = keep_warning, .log_user = message}, &tml));
    for (int many = 0; many < 2; many++) {
        tml_points points, back;
        char file[2048];
        for (int i = 0; i < 30 && many; i++) {
            snprintf(text + strlen(text), sizeof text - strlen(text), " c%c%c", 'a' + i / 6,
                     'f' + i % 6);
            strcat(row, " 4");
        }
        snprintf(file, sizeof file, "%s\n%s\n%s\n", text, row, row);
        if (!CHECK_OK(tml, parse_strictly(tml, file, false, all, 1, &points)))
            continue;
        CHECK_EQ_U64(points.attribute_count, many ? 33 : 3);
        uint32_t numbers = 0;
        for (uint32_t i = 0; i < points.attribute_count; i++)
            numbers += points.attributes[i].data ? points.attributes[i].components : 0;
        CHECK_EQ_U64(numbers, many ? 32 : 7);
        CHECK(!many == !strstr(message, "attributes are left out"));
        CHECK_STATUS(parse_strictly(tml, file, true, all, 1, &back),
                     many ? TML_ERROR_FILE_FORMAT : TML_OK);
        tml_points_free(tml, &back);
        /* Saved, and read again: nothing is lost on the way. */
        CHECK_OK(tml, tml_points_save(tml, path, &points));
        const tml_load_desc desc = {.names = all, .name_count = 1};
        if (CHECK_OK(tml, tml_points_load(tml, path, &desc, &back))) {
            CHECK_EQ_U64(back.count, 2);
            CHECK_STR(back.value_name, "heat");
            CHECK_NEAR(back.values[1], 9, 0);
            for (uint32_t i = 0; i < 3; i++) {
                const char *name = (const char *const[]){"color", "normal", "heat"}[i];
                const tml_mesh_attribute *a = NULL, *b = NULL;
                for (uint32_t k = 0; k < points.attribute_count; k++)
                    if (strcmp(points.attributes[k].name, name) == 0)
                        a = &points.attributes[k];
                for (uint32_t k = 0; k < back.attribute_count; k++)
                    if (strcmp(back.attributes[k].name, name) == 0)
                        b = &back.attributes[k];
                if (CHECK(a && b) && CHECK_EQ_U64(a->components, b->components))
                    for (uint32_t c = 0; c < 2 * a->components; c++)
                        CHECK_NEAR(a->data[c], b->data[c], 1e-6);
            }
            tml_points_free(tml, &back);
        }
        tml_points_free(tml, &points);
    }
    remove(path);
    tml_close(tml);
}

TEST(reports)
{
    const char *path = test_full_data("reports/points_cr.xyz");
    if (!path)
        SKIP("TML_DATA names no collection of reports");
    tml_context *tml = open_context();
    tml_points points;
    if (CHECK_OK(tml, tml_points_load(tml, path, NULL, &points))) {
        CHECK_EQ_U64(points.count, 5);
        tml_points_free(tml, &points);
    }
    tml_close(tml);
}

/* ---- the finish ------------------------------------------------------------------------------ */

TEST(a_number_with_a_zero_byte_is_none)
{
    static const char row[] = "1,5;2,5;3\n", bad[] = "1\0"
                                                     "2,5;2,5;3\n";
    enum { ROWS = 200 }; /* past what tells the format, which is text alone */
    char text[ROWS * sizeof row + 64] = "x;y;z\n";
    for (int i = 0; i < ROWS; i++)
        strcat(text, row);
    size_t size = strlen(text);
    memcpy(text + size, bad, sizeof bad - 1);
    tml_context *tml = open_context();
    tml_points points;
    if (CHECK_OK(tml, parse(tml, text, size + sizeof bad - 1, &points))) {
        CHECK_EQ_U64(points.count, ROWS);
        tml_points_free(tml, &points);
    }
    tml_close(tml);
}

TEST(points_without_a_place_are_dropped_and_counted)
{
    const char *text = "1 2 3 1\nnan 0 0 2\n0 inf 0 3\n0 0 -Infinity 4\n1e39 0 0 5\n4 5 6 nan\n7,";
    tml_context *tml = open_context();
    tml_points points;
    if (CHECK_OK(tml, parse(tml, text, strlen(text) - 2, &points))) {
        CHECK_EQ_U64(points.count, 2);
        CHECK_EQ_U64(points.dropped, 4);
        CHECK_NEAR(points.positions[3], 4.0, 0.0);
        CHECK_NEAR(points.values[0], 1.0, 0.0);
        CHECK(isnan(points.values[1])); /* a value may be missing */
        tml_points_free(tml, &points);
    }
    const char *table = "x,y,z\n1,,3\n1,2,3\n";
    if (CHECK_OK(tml, parse(tml, table, strlen(table), &points))) {
        CHECK_EQ_U64(points.count, 1);
        CHECK_EQ_U64(points.dropped, 1);
        tml_points_free(tml, &points);
    }
    tml_close(tml);
}

TEST(origin_moves_only_when_floats_would_lose)
{
    static const struct {
        const char *text;
        double origin[3];
    } cases[] = {
        {"0.1 0.2 0.3\n1.7 0.2 0.3\n", {0, 0, 0}},
        {"100.1 0 0\n103.3 0 0\n", {0, 0, 0}}, /* 5 bits */
        {"665187.522077 5648349.895035 241.767693\n665171.3 5648381.899 233.5\n",
         {665180, 5648370, 240}},
        {"-665187.522077 5648349.895035 0\n-665171.3 5648381.899 0\n", {-665180, 5648370, 0}},
        /* floats hold these, but not what lies between them */
        {"4194304.5 0 0\n4194305.5 0 0\n", {4194305, 0, 0}},
        {"4194304 0 0\n", {0, 0, 0}}, /* nothing does */
        {"1234.5671 0 0\n1234.5672 0 0\n", {1234.56715, 0, 0}},
        {"0.1 0.2 0.3\n", {0, 0, 0}},
        {"1000000.1 0 0\n", {1000000, 0, 0}},
        {"nan 0 0\n", {0, 0, 0}},
    };
    tml_context *tml = open_context();
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        tml_points points;
        if (!CHECK_OK(tml, parse(tml, cases[k].text, strlen(cases[k].text), &points)))
            continue;
        for (int axis = 0; axis < 3; axis++)
            CHECK_NEAR(points.origin[axis], cases[k].origin[axis], 1e-4 * (k == 5));
        double x;
        if (points.count && CHECK(sscanf(cases[k].text, "%lf", &x) == 1))
            CHECK_NEAR(points.origin[0] + (double)points.positions[0], x, 1e-5);
        tml_points_free(tml, &points);
    }
    tml_close(tml);
}

/* ---- VTU and BGEO ---------------------------------------------------------------------------- */

/* Every beginning of a file is refused, and what it carries is there. */
static void check_attributes_and_beginnings(const bytes *file, const char *what)
{
    static const char *const names[] = {"v"};
    tml_context *tml = open_context();
    io_file memory;
    tml_points points;
    tml_io_open_memory(tml, "tml_points_load", "test", file->data, file->size, &memory);
    if (CHECK_OK(tml, tml_points_read_attributes(&memory, names, 1, &points))) {
        const float *v = points.attributes[0].data;
        CHECK_STR(points.attributes[0].name, "v");
        for (uint64_t i = 0; v && i < 3 * points.count; i++)
            CHECK_NEAR((double)v[i], 10 * (double)(i % 3) + (double)(i / 3), 0);
        CHECK(v != NULL);
        tml_points_free(tml, &points);
    }
    for (size_t size = 0; size < file->size; size++) {
        tml_status status = parse(tml, file->data, size, &points);
        if (!CHECK(status == TML_ERROR_FILE_FORMAT)) {
            printf("    %s: %zu of %zu bytes\n", what, size, file->size);
            break;
        }
    }
    tml_close(tml);
}

TEST(bgeo)
{
    static const uint64_t counts[] = {0, 1, 7, 70000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        bytes file = {0};
        make_bgeo(&file, counts[i]);
        check_cloud("bgeo", &file, counts[i], HAS_RADII | HAS_VALUES, "heat");
        if (counts[i] == 7)
            check_attributes_and_beginnings(&file, "bgeo");
        free(file.data);
    }
}

/* A byte of a good file changed: where, to what, and what is said. */
TEST(bgeo_that_lies)
{
    static const struct {
        size_t at;
        uint8_t byte;
        const char *word;
    } lies[] = {
        {8, 6, "version"},       /* version */
        {9, 0xff, "cut short"},  /* points */
        {25, 0xff, "cut short"}, /* attributes */
        {41, 0xff, "cut short"}, /* the first one's name */
        {54, 9, "type 9"},       /* and its type */
    };
    tml_context *tml = open_context();
    bytes file = {0};
    make_bgeo(&file, 5);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        tml_points points;
        uint8_t good = file.data[lies[i].at];
        file.data[lies[i].at] = lies[i].byte;
        tml_status status = parse(tml, file.data, file.size, &points);
        CHECK(status == TML_ERROR_FILE_FORMAT || status == TML_ERROR_UNSUPPORTED);
        if (!strstr(tml_last_error(tml), lies[i].word))
            test_fail(__FILE__, __LINE__, "\"%s\" is not in \"%s\"", lies[i].word,
                      tml_last_error(tml));
        file.data[lies[i].at] = good;
    }
    free(file.data);
    tml_close(tml);
}

#ifdef TML_XML
TEST(vtu)
{
    static const uint64_t counts[] = {1, 7, 3000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        bytes file = {0};
        make_vtu(&file, counts[i]);
        check_cloud("vtu", &file, counts[i], HAS_RADII | HAS_VALUES, "heat");
        if (counts[i] == 7)
            check_attributes_and_beginnings(&file, "vtu");
        free(file.data);
    }
}

TEST(vtu_that_lies)
{
#    define VTU(type, count, points)                                                               \
        "<VTKFile type=\"" type "\"><" type "><Piece NumberOfPoints=\"" count "\">" points         \
        "</Piece></" type "></VTKFile>"
#    define ARRAY(attributes, values)                                                              \
        "<Points><DataArray type=\"Float32\" " attributes ">" values "</DataArray></Points>"
    static const struct {
        const char *text, *word;
    } lies[] = {
        {VTU("ImageData", "1", ""), "six whole numbers"},
        {VTU("RectilinearGrid", "1", ""), "needs UnstructuredGrid"},
        {VTU("UnstructuredGrid", "1", ""), "no \"x\""},
        {VTU("UnstructuredGrid", "1", ARRAY("NumberOfComponents=\"2\"", "1 2")), "no \"x\""},
        {VTU("UnstructuredGrid", "2", ARRAY("NumberOfComponents=\"3\"", "1 2 3")), "too few"},
        {VTU("UnstructuredGrid", "2", ARRAY("NumberOfComponents=\"3\"", "1 2 3 4 x      6")),
         "no number"},
        {VTU("UnstructuredGrid", "18446744073709551615",
             ARRAY("NumberOfComponents=\"3\"", "1 2 3")),
         "values"},
        {VTU("UnstructuredGrid", "6148914691236517206", ARRAY("NumberOfComponents=\"3\"", "1 2 3")),
         "values"},
        {VTU("UnstructuredGrid", "1000000000000",
             ARRAY("NumberOfComponents=\"3\" format=\"binary\"", "AAAA")),
         "too few"},
        {VTU("UnstructuredGrid", "1", ARRAY("NumberOfComponents=\"3\" format=\"appended\"", "")),
         "no appended data"},
    };
    tml_context *tml = open_context();
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        tml_points points;
        tml_status status = parse(tml, lies[i].text, strlen(lies[i].text), &points);
        CHECK(status == TML_ERROR_FILE_FORMAT || status == TML_ERROR_UNSUPPORTED);
        if (!strstr(tml_last_error(tml), lies[i].word))
            test_fail(__FILE__, __LINE__, "\"%s\" is not in \"%s\"", lies[i].word,
                      tml_last_error(tml));
    }
    tml_close(tml);
}

/* The same particles in each of VTK's ways to store them. */
TEST(vtu_of_every_encoding)
{
    static const char *const names[] = {"ascii", "inline_base64", "appended_raw", "be_inline_zlib"};
    char path[100];
    if (!test_full_data("points/sph_double_dam_break_26.vtk"))
        SKIP("TML_DATA names no collection");
    tml_context *tml = open_context();
    tml_points legacy, points;
    CHECK_OK(tml, tml_points_load(tml, test_full_data("points/sph_double_dam_break_26.vtk"), NULL,
                                  &legacy));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        static const char *const velocity[] = {"velocity"};
        const tml_load_desc desc = {.names = velocity, .name_count = 1};
        snprintf(path, sizeof path, "points/vtu/double_dam_break_26_%s.vtu", names[i]);
        if (!CHECK_OK(tml, tml_points_load(tml, test_full_data(path), &desc, &points)))
            continue;
        CHECK_EQ_U64(points.count, legacy.count);
        CHECK(memcmp(points.positions, legacy.positions, 12 * legacy.count) == 0);
        tml_points_free(tml, &points);
    }
    tml_points_free(tml, &legacy);
    tml_close(tml);
}
#endif

/* ---- damage ---------------------------------------------------------------------------------- */

TEST(damaged_files_are_refused_with_a_reason)
{
#define PLY            "ply\nformat ascii 1.0\n"
#define XYZ_PROPERTIES "property float x\nproperty float y\nproperty float z\n"
#define PCD            "# .PCD v0.7\nVERSION 0.7\n"
#define PCD_XYZ        PCD "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\n"
#define VTK            "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\n"
    static const struct {
        const char *text, *word;
        tml_status status;
    } cases[] = {
        {"", "empty", TML_ERROR_FILE_FORMAT},
        {"\n# nothing\n", "no points", TML_ERROR_FILE_FORMAT},
        {"hello world\n", "needs x, y and z", TML_ERROR_FILE_FORMAT},
        {"1 2 3\n1 2\n", "line 2 has 2 columns", TML_ERROR_FILE_FORMAT},
        {"1 2 3\n1 two 3\n", "\"two\"", TML_ERROR_FILE_FORMAT},
        {"1,5;2,5;3.5.1\n", "\"3.5.1\"", TML_ERROR_FILE_FORMAT},
        {"1 2 3\n4 5", "line 2 has 2 columns, needs at least 3; it is the last one, has no end",
         TML_ERROR_FILE_FORMAT},
        {"a;b;c\n1;2;3\n", "needs x, y and z: rename three of the columns of line 1",
         TML_ERROR_FILE_FORMAT},
        {"3\n1 2 3\n4 5 6\n", "says 3 points, the file has 2", TML_ERROR_FILE_FORMAT},
        {"2\nc\nC 1 2 3\n", "says 2 points, the file has 1", TML_ERROR_FILE_FORMAT},
        {"\x01\x02\x03", "none of PLY", TML_ERROR_FILE_FORMAT},
        {"BgeoV", "cut short", TML_ERROR_FILE_FORMAT},
        {"\x7fNSJ", "classic .bgeo", TML_ERROR_UNSUPPORTED},
        {"\x1f\x8b\x08", "gunzip", TML_ERROR_UNSUPPORTED},
        {"glTF\x02", "a mesh", TML_ERROR_UNSUPPORTED},
        {PLY, "end_header", TML_ERROR_FILE_FORMAT},
        {PLY "end_header\n", "no element vertex", TML_ERROR_FILE_FORMAT},
        {"ply\nend_header\n", "no format", TML_ERROR_FILE_FORMAT},
        {"ply\nformat ascii 2.0\nend_header\n", "format ascii 2.0", TML_ERROR_FILE_FORMAT},
        {PLY "element vertex many\nend_header\n", "element vertex many", TML_ERROR_FILE_FORMAT},
        {PLY "property float x\nend_header\n", "property float x", TML_ERROR_FILE_FORMAT},
        {PLY "element vertex 1\nproperty half x\nend_header\n", "property half",
         TML_ERROR_FILE_FORMAT},
        {PLY "element vertex 1\nproperty list float int a\nend_header\n", "list float",
         TML_ERROR_FILE_FORMAT},
        {PLY "element vertex 1\nproperty float x\nend_header\n1\n", "no \"y\"",
         TML_ERROR_FILE_FORMAT},
        {PLY "element vertex 18446744073709551615\n" XYZ_PROPERTIES "end_header\n1 2 3\n",
         "truncated", TML_ERROR_FILE_FORMAT},
        {PLY "element vertex 2\n" XYZ_PROPERTIES "end_header\n1 2 3 4 x 6\n", "row 1 of 2",
         TML_ERROR_FILE_FORMAT},
        {PLY "element a 1\nproperty list int int b\nelement vertex 1\n" XYZ_PROPERTIES
             "end_header\n-1 1 2 3\n",
         "row 0 of 1 of element a", TML_ERROR_FILE_FORMAT},
        {PLY "element a 1\nproperty list int int b\nelement vertex 1\n" XYZ_PROPERTIES
             "end_header\n9000000 1 2 3\n",
         "row 0 of 1 of element a", TML_ERROR_FILE_FORMAT},
        {"ply\nformat binary_little_endian 1.0\nelement a 1\nproperty list int int b\nend_header\n"
         "\xff\xff\xff\x7f",
         "element a", TML_ERROR_FILE_FORMAT},
        {PCD, "no DATA", TML_ERROR_FILE_FORMAT},
        {PCD "DATA ascii\n", "no FIELDS", TML_ERROR_FILE_FORMAT},
        {PCD "FIELDS x y z\nSIZE 4 4\nDATA ascii\n", "SIZE 4 4", TML_ERROR_FILE_FORMAT},
        {PCD "FIELDS x y z\nSIZE 2 4 4\nTYPE F F F\nDATA ascii\n", "TYPE F and SIZE 2",
         TML_ERROR_FILE_FORMAT},
        {PCD_XYZ "WIDTH 2\nHEIGHT 2\nPOINTS 3\nDATA ascii\n", "WIDTH 2 x HEIGHT 2",
         TML_ERROR_FILE_FORMAT},
        {PCD_XYZ "WIDTH 5000000000\nHEIGHT 5000000000\nDATA ascii\n", "POINTS",
         TML_ERROR_FILE_FORMAT},
        {PCD_XYZ "WIDTH 5000000000\nDATA binary\n1234", "truncated", TML_ERROR_FILE_FORMAT},
        {PCD_XYZ "WIDTH 1\nDATA ascii\n1 2 three\n", "point 0 of 1", TML_ERROR_FILE_FORMAT},
        {PCD_XYZ "WIDTH 1\nDATA zip\n", "DATA zip", TML_ERROR_FILE_FORMAT},
        {PCD_XYZ "WIDTH 1\nDATA binary_compressed\n1234", "sizes", TML_ERROR_FILE_FORMAT},
        {PCD "FIELDS x y\nSIZE 4 4\nTYPE F F\nWIDTH 1\nDATA ascii\n1 2\n", "no \"z\"",
         TML_ERROR_FILE_FORMAT},
        {"# vtk DataFile Version 3.0\n", "first three lines", TML_ERROR_FILE_FORMAT},
        {"# vtk DataFile Version 3.0\nt\nTEXT\n", "ASCII nor BINARY", TML_ERROR_FILE_FORMAT},
        {"# vtk DataFile Version 3.0\nt\nASCII\nPOINTS 0 float\n", "DATASET",
         TML_ERROR_FILE_FORMAT},
        {"# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\n", "a volume",
         TML_ERROR_UNSUPPORTED},
        {VTK, "no POINTS", TML_ERROR_FILE_FORMAT},
        {VTK "POINTS 2 float\n1 2 3\n", "section POINTS", TML_ERROR_FILE_FORMAT},
        {VTK "POINTS 1 float\n1 2 x\n", "point 0 of 1", TML_ERROR_FILE_FORMAT},
        {VTK "POINTS 1 half\n1 2 3\n", "section POINTS", TML_ERROR_FILE_FORMAT},
        {VTK "POINTS 6148914691236517206 float\n1 2 3\n", "section POINTS", TML_ERROR_FILE_FORMAT},
        {VTK "POINTS 1 float\n1 2 3\nWHAT 1\n", "section WHAT", TML_ERROR_FILE_FORMAT},
        {"LASF", "header needs 227", TML_ERROR_FILE_FORMAT},
    };
    tml_context *tml = open_context();
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        tml_points points;
        bool good = CHECK_STATUS(parse(tml, cases[k].text, strlen(cases[k].text), &points),
                                 cases[k].status) &&
                    CHECK(strstr(tml_last_error(tml), cases[k].word)) && CHECK(!points.positions);
        if (!good)
            printf("    in \"%s\": %s\n", cases[k].text, tml_last_error(tml));
    }
    tml_close(tml);
}

TEST(damaged_las_is_refused_with_a_reason)
{
    static const struct {
        size_t at;
        double value;
        tml_type type;
        const char *word;
        tml_status status;
    } cases[] = {
        {104, 0x83, TML_U8, "las2las", TML_ERROR_UNSUPPORTED}, /* the compressed bit */
        {104, 11, TML_U8, "point format is 11", TML_ERROR_UNSUPPORTED},
        {24, 2, TML_U8, "version is 2.2", TML_ERROR_UNSUPPORTED},
        {94, 100, TML_U16, "header size is 100", TML_ERROR_FILE_FORMAT},
        {96, 100, TML_U32, "offset to point data is 100", TML_ERROR_FILE_FORMAT},
        {96, 4e9, TML_U32, "offset to point data", TML_ERROR_FILE_FORMAT},
        {105, 33, TML_U16, "record length is 33", TML_ERROR_FILE_FORMAT},
        {107, 4e9, TML_U32, "truncated", TML_ERROR_FILE_FORMAT},
    };
    tml_context *tml = open_context();
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        bytes file = {0};
        make_las(&file, 5, 2, 3);
        set_number(&file, cases[k].at, cases[k].value, cases[k].type);
        tml_points points;
        CHECK_STATUS(parse(tml, file.data, file.size, &points), cases[k].status);
        if (!CHECK(strstr(tml_last_error(tml), cases[k].word)))
            printf("    %s\n", tml_last_error(tml));
        free(file.data);
    }
    bytes file = {0};
    make_las(&file, 5, 2, 3);
    memcpy(file.data + 227 + 54 + 10 + 2, "laszip encoded", 14); /* the second record's user */
    tml_points points;
    CHECK_STATUS(parse(tml, file.data, file.size, &points), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "las2las"));
    free(file.data);
    tml_close(tml);
}

TEST(lzf_refuses_what_is_no_stream_of_that_size)
{
    uint8_t out[300];
    CHECK(tml_lzf_unpack((const uint8_t *)"\x02"
                                          "abc",
                         4, out, 3) &&
          memcmp(out, "abc", 3) == 0);
    /* A copy that overlaps itself: "ab", then 264 bytes from two back. */
    CHECK(tml_lzf_unpack((const uint8_t *)"\x01"
                                          "ab\xe0\xff\x01",
                         6, out, 266) &&
          out[265] == 'b');
    CHECK(tml_lzf_unpack((const uint8_t *)"", 0, out, 0));
    CHECK(!tml_lzf_unpack((const uint8_t *)"\x02"
                                           "abc",
                          4, out, 2)); /* more than promised */
    CHECK(!tml_lzf_unpack((const uint8_t *)"\x02"
                                           "abc",
                          4, out, 4)); /* less */
    CHECK(!tml_lzf_unpack((const uint8_t *)"\x03"
                                           "abc",
                          4, out, 4)); /* literals cut off */
    CHECK(!tml_lzf_unpack((const uint8_t *)"\x00"
                                           "a\x20\x01",
                          4, out, 4)); /* from before the start */
    CHECK(!tml_lzf_unpack((const uint8_t *)"\x00"
                                           "a\x20",
                          3, out, 4)); /* copy cut off */
    CHECK(!tml_lzf_unpack((const uint8_t *)"\x00"
                                           "a\xe0\x01",
                          4, out, 11)); /* long copy cut off */
}

/* Whatever the length, a beginning of a file is refused or holds no more than the file. */
TEST(every_prefix_is_safe)
{
    tml_context *tml = open_context();
    for (int kind = 0; kind < 11; kind++) {
        bytes file = {0};
        if (kind < 3)
            make_ply(&file, 9, (io_number_form)kind, 4, "\n");
        else if (kind < 6)
            make_pcd(&file, 9, kind - 3, "0.7");
        else if (kind < 10)
            make_vtk(&file, 9, kind & 1, 3, kind & 2);
        else
            make_las(&file, 9, 4, 7);
        for (size_t size = 0; size <= file.size; size++) {
            tml_points points;
            if (parse(tml, file.data, size, &points) == TML_OK)
                CHECK(points.count <= 9);
            else
                CHECK(tml_last_error(tml)[0]);
            tml_points_free(tml, &points);
        }
        free(file.data);
    }
    tml_close(tml);
}

/* ---- hooks ----------------------------------------------------------------------------------- */

/* Fails one allocation, and keeps count of what is alive. */
typedef struct failing_allocator {
    int64_t until_failure, alive;
} failing_allocator;

static void *failing_alloc(void *user, size_t size, size_t alignment)
{
    failing_allocator *state = user;
    void *memory = state->until_failure-- ? tml_platform_alloc(size, alignment) : NULL;
    state->alive += memory != NULL;
    return memory;
}

static void failing_free(void *user, void *memory, size_t size)
{
    (void)size;
    ((failing_allocator *)user)->alive--;
    tml_platform_free(memory);
}

TEST(failed_allocations_are_reported_and_leak_nothing)
{
    bytes file = {0};
    make_pcd(&file, 70000, PCD_ROWS, "0.7");
    bytes packed = {0};
    make_pcd(&packed, 100, PCD_PACKED, "0.7");
    for (int which = 0; which < 2; which++) {
        const bytes *chosen = which ? &packed : &file;
        tml_status status = TML_ERROR_OUT_OF_MEMORY;
        int failures = 0;
        for (int64_t nth = 0; nth < 100 && status != TML_OK; nth++) {
            failing_allocator state = {.until_failure = INT64_MAX};
            tml_context *tml = NULL;
            tml_open_desc desc = {.threads = 1, .allocator = {failing_alloc, failing_free, &state}};
            if (!CHECK_OK(NULL, tml_open(&desc, &tml)))
                break;
            int64_t alive = state.alive;
            state.until_failure = nth;
            tml_points points;
            status = parse(tml, chosen->data, chosen->size, &points);
            failures += status != TML_OK;
            if (status != TML_OK)
                CHECK_STATUS(status, TML_ERROR_OUT_OF_MEMORY);
            tml_points_free(tml, &points);
            CHECK_EQ_I64(state.alive, alive);
            tml_close(tml);
            CHECK_EQ_I64(state.alive, 0);
        }
        CHECK_OK(NULL, status);
        CHECK(failures >= 3);
    }
    free(file.data);
    free(packed.data);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static tml_status parse_attributes(tml_context *tml, const bytes *file, const char *const *names,
                                   uint32_t count, tml_points *out)
{
    io_file memory;
    void *copy = malloc(file->size ? file->size : 1);
    memcpy(copy, file->data, file->size);
    tml_io_open_memory(tml, "tml_points_load", "test", copy, file->size, &memory);
    tml_status status = tml_points_read_attributes(&memory, names, count, out);
    tml_io_close(&memory);
    free(copy);
    return status;
}

/* Reads the attribute name of text, and compares: components values of each point in expected. */
static void check_attribute(const char *text, const char *name, uint32_t components, uint64_t count,
                            const float *expected)
{
    tml_context *tml = open_context();
    bytes file = {0};
    tml_points points;
    put_text(&file, "%s", text);
    if (!CHECK_OK(tml, parse_attributes(tml, &file, &name, 1, &points)))
        printf("    of \"%s\"\n", name);
    CHECK_EQ_U64(points.count, count);
    const float *found = NULL;
    for (uint32_t a = 0; a < points.attribute_count; a++) {
        bool is_it = strcasecmp(points.attributes[a].name, name) == 0;
        CHECK(is_it == (points.attributes[a].data != NULL));
        if (is_it && CHECK_EQ_U64(points.attributes[a].components, components))
            found = points.attributes[a].data;
    }
    if (CHECK(found != NULL))
        for (uint64_t i = 0; i < count * components; i++)
            CHECK_NEAR((double)found[i], (double)expected[i], 1e-6);
    tml_points_free(tml, &points);
    free(file.data);
    tml_close(tml);
}

TEST(attributes_of_every_format)
{
    static const char ply[] =
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
        "property float z\nproperty float vx\nproperty float vy\nproperty float vz\n"
        "property uchar red\nproperty uchar green\nproperty uchar blue\nproperty float heat\n"
        "property float f_0\nproperty float f_1\nproperty float f_2\nproperty float nx\n"
        "property float ny\nend_header\n"
        "0 0 0 1 2 3 255 0 51 7 9 8 7 1 2\nnan 0 0 9 9 9 9 9 9 9 9 9 9 9 9\n"
        "1 1 1 -1 -2 -3 0 102 255 8 6 5 4 3 4\n";
    check_attribute(ply, "velocity", 3, 2, (const float[]){1, 2, 3, -1, -2, -3});
    check_attribute(ply, "COLOR", 3, 2, (const float[]){1, 0, 0.2f, 0, 0.4f, 1});
    check_attribute(ply, "heat", 1, 2, (const float[]){7, 8});
    check_attribute(ply, "f", 3, 2, (const float[]){9, 8, 7, 6, 5, 4});
    check_attribute(ply, "nx", 1, 2, (const float[]){1, 3});

    /* 0x00ff8000 = 16744448 as an integer; the float of those bits. */
    check_attribute("# .PCD v0.7\nVERSION 0.7\nFIELDS x y z rgb normal_x normal_y normal_z\n"
                    "SIZE 4 4 4 4 4 4 4\nTYPE F F F U F F F\nCOUNT 1 1 1 1 1 1 1\nWIDTH 1\n"
                    "HEIGHT 1\nPOINTS 1\nDATA ascii\n1 2 3 16744448 0 0 1\n",
                    "color", 3, 1, (const float[]){1, 128 / 255.0f, 0});
    check_attribute("# .PCD v0.7\nVERSION 0.7\nFIELDS x y z rgb normal_x normal_y normal_z\n"
                    "SIZE 4 4 4 4 4 4 4\nTYPE F F F F F F F\nCOUNT 1 1 1 1 1 1 1\nWIDTH 1\n"
                    "HEIGHT 1\nPOINTS 1\nDATA ascii\n1 2 3 2.3463969e-38 0 0 1\n",
                    "color", 3, 1, (const float[]){1, 128 / 255.0f, 0});
    check_attribute("# .PCD v0.7\nVERSION 0.7\nFIELDS x y z rgb normal_x normal_y normal_z\n"
                    "SIZE 4 4 4 4 4 4 4\nTYPE F F F U F F F\nCOUNT 1 1 1 1 1 1 1\nWIDTH 1\n"
                    "HEIGHT 1\nPOINTS 1\nDATA ascii\n1 2 3 16744448 0 0.5 1\n",
                    "normal", 3, 1, (const float[]){0, 0.5f, 1});

    check_attribute("x,y,z,R,G,B,t\n0,0,0,255,0,51,1\n1,1,1,0,102,255,2\n", "color", 3, 2,
                    (const float[]){1, 0, 0.2f, 0, 0.4f, 1});
    check_attribute("x y z r g b\n0 0 0 1 0 0.5\n", "color", 3, 1, (const float[]){1, 0, 0.5f});
    check_attribute("x y z Red Green Blue\n0 0 0 65535 0 257\n", "color", 3, 1,
                    (const float[]){1, 0, 257 / 65535.0f});
    check_attribute("0 0 0 5\n1 1 1 6\n", "column 4", 1, 2, (const float[]){5, 6});

    static const char vtk[] =
        "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 2 float\n0 0 0 1 1 1\n"
        "POINT_DATA 2\nSCALARS heat float 1\nLOOKUP_TABLE default\n3 4\n"
        "VECTORS flow float\n1 2 3 4 5 6\nCOLOR_SCALARS tint 3\n0.5 1 0 0 0.25 1\n"
        "FIELD more 2\nrgba 4 2 unsigned_char\n255 0 51 255 0 102 255 51\nwide 5 2 float\n"
        "1 2 3 4 5 6 7 8 9 10\n";
    check_attribute(vtk, "heat", 1, 2, (const float[]){3, 4});
    check_attribute(vtk, "flow", 3, 2, (const float[]){1, 2, 3, 4, 5, 6});
    char plain[sizeof vtk];
    memcpy(plain, vtk, sizeof vtk);
    *strstr(plain, "FIELD") = '\0';
    check_attribute(plain, "color", 3, 2, (const float[]){0.5f, 1, 0, 0, 0.25f, 1});
    snprintf(strstr(plain, "COLOR_SCALARS"), 200, "%s", strstr(vtk, "FIELD"));
    check_attribute(plain, "color", 4, 2, (const float[]){1, 0, 0.2f, 1, 0, 0.4f, 1, 0.2f});
}

TEST(attributes_of_binary_vtk)
{
    tml_context *tml = open_context();
    bytes file = {0};
    put_text(&file, "# vtk DataFile Version 3.0\nt\nBINARY\nDATASET POLYDATA\nPOINTS 2 float\n");
    for (int i = 0; i < 6; i++)
        put_number(&file, i, TML_F32, true);
    put_text(&file, "\nPOINT_DATA 2\nVECTORS flow double\n");
    for (int i = 0; i < 6; i++)
        put_number(&file, 10 + i, TML_F64, true);
    put_text(&file, "\nCOLOR_SCALARS tint 4\n");
    for (int i = 0; i < 8; i++)
        put_number(&file, 30 * i, TML_U8, true);
    put_text(&file, "\n");
    static const char *const names[] = {"color", "flow"};
    tml_points points;
    if (CHECK_OK(tml, parse_attributes(tml, &file, names, 2, &points)) &&
        CHECK_EQ_U64(points.attribute_count, 2)) {
        for (int i = 0; i < 6; i++)
            CHECK_NEAR((double)points.attributes[0].data[i], 10 + i, 0);
        for (int i = 0; i < 8; i++)
            CHECK_NEAR((double)points.attributes[1].data[i], 30 * i / 255.0, 1e-6);
    }
    tml_points_free(tml, &points);
    /* Every prefix is refused or has what it says. */
    for (size_t size = 0; size < file.size; size++) {
        bytes prefix = {file.data, size, 0};
        if (parse_attributes(tml, &prefix, names, 2, &points) == TML_OK)
            CHECK_EQ_U64(points.count, 2);
        tml_points_free(tml, &points);
    }
    free(file.data);
    tml_close(tml);
}

TEST(colors_of_every_las_format)
{
    static const int places[] = {0, 0, 20, 28, 0, 28, 0, 30, 30, 0, 30};
    static const char *const names[] = {"Intensity", "color"};
    enum { COUNT = 97 };
    tml_context *tml = open_context();
    for (int format = 0; format <= 10; format++) {
        bytes file = {0};
        tml_points points;
        make_las(&file, COUNT, 4, format);
        size_t first = 375 + 54 + 10 + 54, row = (file.size - first) / COUNT;
        for (size_t i = 0; i < COUNT && places[format]; i++)
            for (size_t c = 0; c < 3; c++)
                set_number(&file, first + row * i + (size_t)places[format] + 2 * c,
                           (double)(100 * i + c), TML_U16);
        tml_status status = parse_attributes(tml, &file, names, places[format] ? 2 : 1, &points);
        if (CHECK_OK(tml, status) && CHECK_EQ_U64(points.attribute_count, places[format] ? 2 : 1))
            for (uint64_t i = 0; i < COUNT; i++) {
                CHECK(points.attributes[0].data[i] == points.values[i]);
                for (uint64_t c = 0; c < 3 && places[format]; c++)
                    CHECK_NEAR((double)points.attributes[1].data[3 * i + c],
                               (double)(100 * i + c) / 65535.0, 1e-6);
            }
        tml_points_free(tml, &points);
        if (!places[format]) {
            CHECK_STATUS(parse_attributes(tml, &file, names, 2, &points),
                         TML_ERROR_INVALID_ARGUMENT);
            CHECK(strstr(tml_last_error(tml), "\"color\"; they have intensity") != NULL);
        }
        free(file.data);
    }
    tml_close(tml);
}

/* Across the sink's blocks, and where memory ends. */
TEST(attributes_go_through_blocks)
{
    static const char *const names[] = {"a", "b"};
    enum { COUNT = 65536 + 7 };
    bytes file = {0};
    put_text(&file,
             "ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty float x\n"
             "property float y\nproperty float z\nproperty int a\nproperty float b0\n"
             "property float b1\nproperty float b2\nend_header\n",
             COUNT);
    for (int i = 0; i < COUNT; i++)
        for (int c = 0; c < 7; c++)
            put_number(&file, c == 3 ? i : c * i, c == 3 ? TML_I32 : TML_F32, false);
    tml_status status = TML_ERROR_OUT_OF_MEMORY;
    for (int64_t nth = 0; nth < 100 && status != TML_OK; nth++) {
        failing_allocator state = {.until_failure = INT64_MAX};
        tml_context *tml = NULL;
        tml_open_desc desc = {.threads = 1, .allocator = {failing_alloc, failing_free, &state}};
        if (!CHECK_OK(NULL, tml_open(&desc, &tml)))
            break;
        int64_t alive = state.alive;
        state.until_failure = nth;
        tml_points points;
        status = parse_attributes(tml, &file, names, 2, &points);
        if (status != TML_OK)
            CHECK_STATUS(status, TML_ERROR_OUT_OF_MEMORY);
        for (uint64_t i = 0; i < points.count && status == TML_OK; i++)
            CHECK(points.attributes[0].data[i] == (float)i &&
                  points.attributes[1].data[3 * i] == (float)(4 * i) &&
                  points.attributes[1].data[3 * i + 2] == (float)(6 * i));
        tml_points_free(tml, &points);
        CHECK_EQ_I64(state.alive, alive);
        tml_close(tml);
    }
    CHECK_OK(NULL, status);
    free(file.data);
}

static bool cancel_in_points(void *user, const char *stage, double fraction)
{
    (void)user;
    return strcmp(stage, "points") != 0 || fraction < 0.4;
}

TEST(cancel)
{
    bytes file = {0};
    make_pcd(&file, 131072, PCD_ROWS, "0.7");
    tml_context *tml = NULL;
    tml_open_desc desc = {.threads = 1, .progress = cancel_in_points};
    if (CHECK_OK(NULL, tml_open(&desc, &tml))) {
        tml_points points;
        CHECK_STATUS(parse(tml, file.data, file.size, &points), TML_ERROR_CANCELLED);
        CHECK(!points.positions);
        tml_close(tml);
    }
    free(file.data);
}

/* ---- real files ------------------------------------------------------------------------------ */

/* Bounds, sums and first points as numpy and VTK read them. */
typedef struct real_file {
    const char *name, *format;
    uint64_t count;
    double lower[3], upper[3], sum[3], first[3];
    double value_sum; /* 0: no values */
} real_file;

static void check_real(const char *path, const real_file *expected)
{
    tml_context *tml = open_context();
    tml_points points;
    if (CHECK_OK(tml, tml_points_load(tml, path, NULL, &points))) {
        CHECK_STR(points.format, expected->format);
        CHECK_EQ_U64(points.count, expected->count);
        CHECK_EQ_U64(points.dropped, 0);
        for (int axis = 0; axis < 3; axis++) {
            double lower = INFINITY, upper = -INFINITY, sum = 0.0;
            for (uint64_t i = 0; i < points.count; i++) {
                double x = points.origin[axis] + (double)points.positions[3 * i + (uint64_t)axis];
                lower = fmin(lower, x);
                upper = fmax(upper, x);
                sum += x;
            }
            /* Half a float's last bit, relative to the cloud's own size. */
            double error = (expected->upper[axis] - expected->lower[axis]) / (1 << 22);
            CHECK_NEAR(lower, expected->lower[axis], error);
            CHECK_NEAR(upper, expected->upper[axis], error);
            CHECK_NEAR(sum, expected->sum[axis], error * (double)points.count);
            CHECK_NEAR(points.origin[axis] + (double)points.positions[axis], expected->first[axis],
                       error);
        }
        double value_sum = 0.0;
        for (uint64_t i = 0; points.values && i < points.count; i++)
            value_sum += (double)points.values[i];
        CHECK_NEAR(value_sum, expected->value_sum, 0.0);
        tml_points_free(tml, &points);
    }
    tml_close(tml);
}

/* clang-format off: one paragraph a file */
static const real_file shipped_files[] = {
    {"points/bunny397.pcd",
     "PCD",
     397,
     {-0.093938001, 0.037420001, -0.055025999},
     {0.059562001, 0.18449999, 0.057803001},
     {-11.545135008399994, 40.75310295699996, 10.83887706789201},
     {0.0054215998, 0.11349, 0.040748999},
     0.0},
    {"points/points_cloudcompare.xyz",
     "XYZ",
     101,
     {665171.37498, 5648298.096676, 228.049194},
     {665187.870931, 5648381.899135, 245.90329},
     {67183565.33200102, 570483336.1980717, 24474.772400999987},
     {665187.522077, 5648349.895035, 241.767693},
     8806.0},
    {"points/points_zero_faces.ply",
     "PLY",
     1024,
     {-138.55677795, -107.85254669, -42.19145966},
     {126.95053101, 101.54319, 125.62607574},
     {2253.1081026399975, 4035.7919974899964, 192.61063918000238},
     {-86.01312256, 39.38998413, -32.02719879},
     0.0},
    {"points/simple_1065.las",
     "LAS",
     1065,
     {635619.85, 848899.70, 406.59},
     {638982.55, 853535.43, 586.38},
     {678721022.97, 906580758.4899988, 462314.20},
     {637012.24, 849028.31, 431.66},
     81361.0},
    {"dam_break_4732.vtk",
     "VTK",
     4732,
     {-1.5152689218521118, -0.015251494012773037, -1.5150896310806274},
     {1.5152132511138916, 1.0168471336364746, 1.515228271484375},
     {-0.12150707351975143, 170.65269374502532, 1.7941075030830689},
     {0.002692208159714937, 0.2675342559814453, 0.03149385750293732},
     0.0},
};
/* clang-format on */

/* clang-format off: one paragraph a file */
static const real_file further_files[] = {
    {"points/lamppost1771.pcd",
     "PCD",
     1771,
     {-11.171875, -0.375, -5.447998},
     {-9.765625, 0.59375, 0.46699905},
     {-17894.46875, 131.0625, -3798.350834680798},
     {-10, 0, 0},
     0.0},
    {"points/points_agisoft.xyz",
     "XYZ",
     100,
     {665171.37498, 5648340.499471, 233.514072},
     {665187.870931, 5648381.899135, 245.90329},
     {66518380.618110016, 564835038.1013957, 24246.723206999988},
     {665187.522077, 5648349.895035, 241.767693},
     8699.0},
    {"points/sph_fluid_50.bgeo",
     "BGEO",
     4732,
     {-1.4983100891113281, -0.007562047801911831, -1.4975272417068481},
     {1.49959397315979, 0.1117788702249527, 1.4951143264770508},
     {-1.7871725241129752, 132.47229838687963, -1.1783924219780602},
     {-0.39979439973831177, 0.005495872348546982, -0.1513298600912094},
     0.0},
    {"points/sph_free_particles_125.vtk",
     "VTK",
     125,
     {154.84652709960938, 28.37706184387207, 128.5403594970703},
     {164.5175018310547, 35.465904235839844, 136.75938415527344},
     {19885.208129882812, 3976.464921951294, 16525.58458488},
     {158.80352783203125, 29.653087615966797, 131.12979125976562},
     0.0},
};
/* clang-format on */

TEST(shipped_files)
{
    for (size_t i = 0; i < sizeof shipped_files / sizeof shipped_files[0]; i++)
        check_real(test_data(shipped_files[i].name), &shipped_files[i]);
}

TEST(further_files)
{
    if (!test_full_data("points/lamppost1771.pcd"))
        SKIP("TML_DATA names no collection");
    for (size_t i = 0; i < sizeof further_files / sizeof further_files[0]; i++)
        check_real(test_full_data(further_files[i].name), &further_files[i]);
}

TEST(files_that_are_refused)
{
    static const struct {
        const char *name, *word;
        tml_status status;
    } cases[] = {
        {"malformed/assimp_empty.ply", "empty", TML_ERROR_FILE_FORMAT},
        {"malformed/trimesh_ply_empty_header.ply", "no element vertex", TML_ERROR_FILE_FORMAT},
        {"malformed/assimp_malformed.obj", "a mesh", TML_ERROR_UNSUPPORTED},
        {"malformed/trimesh_stl_empty_bin.stl", "a mesh", TML_ERROR_UNSUPPORTED},
        {"malformed/assimp_invalid.off", "a mesh", TML_ERROR_UNSUPPORTED},
    };
    if (!test_full_data(cases[0].name))
        SKIP("TML_DATA names no collection");
    tml_context *tml = open_context();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tml_points points;
        CHECK_STATUS(tml_points_load(tml, test_full_data(cases[i].name), NULL, &points),
                     cases[i].status);
        CHECK(strstr(tml_last_error(tml), cases[i].word));
    }
    tml_close(tml);
}

TEST(a_missing_file_is_an_access_error)
{
    tml_context *tml = open_context();
    tml_points points;
    CHECK_STATUS(tml_points_load(tml, "/nowhere/cloud.ply", NULL, &points), TML_ERROR_FILE_ACCESS);
    CHECK(strstr(tml_last_error(tml), "/nowhere/cloud.ply"));
    tml_close(tml);
}

/* Every combination of what points may have; the origin is added as doubles. */
TEST(saved_points_come_back)
{
    enum { MOST = 257 };
    static float positions[3 * MOST], radii[MOST], values[MOST];
    static const uint64_t counts[] = {0, 1, 2, MOST};
    tml_context *tml = open_context();
    char path[] = "/tmp/tml-points-XXXXXX.ply";
    close(mkstemps(path, 4));
    for (uint64_t i = 0; i < 3 * MOST; i++)
        positions[i] = (float)(i * 2654435761u % 1000) / 128 - 3;
    for (uint64_t i = 0; i < MOST; i++) {
        radii[i] = 1 + (float)i / 8;
        values[i] = (float)i / 4 - 20;
    }
    for (int c = 1; c < 32; c++) {
        tml_points back, points = {.positions = positions,
                                   .radii = c & 4 ? radii : NULL,
                                   .values = c & 8 ? values : NULL,
                                   .count = counts[c & 3],
                                   .origin = {c & 16 ? 5e5 : 0, 0, c & 16 ? -7 : 0},
                                   .value_name = "how hot"};
        CHECK_OK(tml, tml_points_save(tml, path, &points));
        tml_status status = tml_points_load(tml, path, NULL, &back);
        if (!CHECK(status == TML_OK || points.count == 0) || status != TML_OK)
            continue;
        CHECK_EQ_U64(back.count, points.count);
        if (points.count)
            CHECK(!back.radii == !points.radii && !back.values == !points.values);
        if (back.values)
            CHECK_STR(back.value_name, "how_hot");
        for (uint64_t i = 0; i < back.count; i++) {
            for (uint64_t k = 0; k < 3; k++)
                CHECK_NEAR(back.origin[k] + (double)back.positions[3 * i + k],
                           points.origin[k] + (double)positions[3 * i + k], 1e-6);
            CHECK(!back.radii || back.radii[i] == radii[i]);
            CHECK(!back.values || back.values[i] == values[i]);
        }
        tml_points_free(tml, &back);
    }
    tml_points none = {.count = 1};
    CHECK_STATUS(tml_points_save(tml, path, &none), TML_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(tml_points_save(tml, "a.xyz", &none), TML_ERROR_UNSUPPORTED);
    CHECK_STATUS(tml_points_save(tml, NULL, &none), TML_ERROR_UNSUPPORTED);
    remove(path);
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
