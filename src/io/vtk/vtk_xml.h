/* VTK's XML files (Kitware: VTK XML Formats, docs.vtk.org): the pieces and arrays of a file, and
 * the arrays' values, as text, base64 or raw bytes, with or without zlib's compression in blocks.
 * expat parses the file up to the appended data, which are not XML. */
#ifndef TML_VTK_XML_H
#define TML_VTK_XML_H

#include "io/io_internal.h"

enum { VTK_XML_ARRAYS_MAX = 64, VTK_XML_NAME_SIZE = 64 };

/* How the bytes of an array are stored. */
typedef struct vtk_xml_coding {
    bool is_text, is_base64, is_compressed, has_long_sizes, big_endian;
} vtk_xml_coding;

typedef struct vtk_xml_array {
    char name[VTK_XML_NAME_SIZE];
    char section[16]; /* element that contains it: "PointData", "Polys" ... */
    tml_type type;    /* TML_TYPE_NONE: not numbers */
    uint64_t components;
    bool is_active; /* named by its section's Scalars or Normals */
    bool is_appended;
    uint64_t offset, end; /* in the file */
    vtk_xml_coding coding;
} vtk_xml_array;

typedef struct vtk_xml {
    char type[32]; /* "ImageData", "PolyData", "UnstructuredGrid" */
    vtk_xml_coding coding;
    uint32_t piece_count;
    int64_t whole[6], extent[6]; /* of an ImageData, and of its last piece */
    double origin[3], spacing[3], direction[9];
    uint64_t points, polys, strips,
        verts_and_lines; /* of the last piece of a PolyData or UnstructuredGrid */
    uint64_t cells;      /* of an UnstructuredGrid's last piece */
    vtk_xml_array arrays[VTK_XML_ARRAYS_MAX];
    uint32_t array_count;
} vtk_xml;

/* An array in memory, in the machine's byte order. Text becomes doubles, whatever the array's
 * type. */
typedef struct vtk_xml_values {
    io_block block;
    tml_type type;
    uint64_t count;
} vtk_xml_values;

/* Reads all but the values. type: what the file must be; NULL: any. Errors: FILE_FORMAT,
 * UNSUPPORTED, FILE_ACCESS, OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status tml_vtk_xml_open(const io_file *file, const char *type, vtk_xml *out);

/* Reads the size bytes of an array that is not text, in the file's byte order. out NULL: only
 * checks, roughly, that the file can hold them. Errors: FILE_FORMAT, FILE_ACCESS, OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status tml_vtk_xml_read(const io_file *file, vtk_xml_coding coding,
                                           uint64_t offset, uint64_t end, uint64_t size, void *out);
/* Moves *offset past the size before a raw, uncompressed array. Errors: FILE_FORMAT (another size),
 * FILE_ACCESS. */
TML_MUST_CHECK tml_status tml_vtk_xml_skip_size(const io_file *file, vtk_xml_coding coding,
                                                uint64_t size, uint64_t *offset);

/* Reads count values of an array. out->block is freed as a block; on failure there is nothing to
 * free. Errors: as tml_vtk_xml_read. */
TML_MUST_CHECK tml_status tml_vtk_xml_read_values(const io_file *file, const vtk_xml_array *array,
                                                  uint64_t count, vtk_xml_values *out);
double tml_vtk_xml_value(const vtk_xml_values *values, uint64_t i);

#endif
