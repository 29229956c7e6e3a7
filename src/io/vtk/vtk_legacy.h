/* The frame of legacy VTK files (Kitware: VTK File Formats, vtk.org), as text or big-endian binary,
 * versions 1 to 5: which arrays a file has, and where their values lie. Arrays are stepped over in
 * small pieces, so that a file of any size may be looked at. */
#ifndef TML_VTK_LEGACY_H
#define TML_VTK_LEGACY_H

#include "io/io_internal.h"

enum { VTK_LINE_SIZE = 1024, VTK_NAME_SIZE = 64 };

typedef enum vtk_place {
    VTK_NO_DATA, /* of cells' corners, colours, the data set as a whole */
    VTK_POSITIONS,
    VTK_POINT_DATA,
    VTK_CELL_DATA,
    VTK_POINT_COLORS, /* bytes in binary files, fractions in text */
    VTK_CELLS,        /* counts of corners, each followed by them; up to version 4 */
    VTK_OFFSETS,      /* of the cells' corners, one more than cells; from version 5.1 on */
    VTK_CONNECTIVITY, /* the corners */
    VTK_CELL_TYPES,
} vtk_place;

typedef struct vtk_array {
    char name[VTK_NAME_SIZE];
    char keyword[24]; /* that the section begins with: POLYGONS, SCALARS ... */
    uint64_t cells;   /* of VTK_CELLS and VTK_OFFSETS */
    vtk_place place;
    tml_type type;
    bool is_bit; /* eight in a byte where the file is binary */
    uint64_t rows, columns;
    uint64_t offset, end; /* of the values */
} vtk_array;

typedef struct vtk_legacy {
    const io_file *file;
    uint64_t offset; /* of what comes next */
    bool is_binary;
    char dataset[32];
    uint64_t dims[3]; /* of structured data sets; 0: not said */
    double spacing[3], origin[3];
    void (*array)(void *user, const vtk_array *array); /* called for each in the file's order */
    void *user;

    char keyword[24]; /* of the section at work, and its place */
    vtk_place place;
    uint64_t rows;
    char line[VTK_LINE_SIZE];
} vtk_legacy;

/* Reads the four lines that every file begins with. Errors: FILE_FORMAT, FILE_ACCESS. */
TML_MUST_CHECK tml_status tml_vtk_open(const io_file *file, vtk_legacy *out);
/* Goes through the rest. Errors likewise. */
TML_MUST_CHECK tml_status tml_vtk_read(vtk_legacy *vtk);

/* Kinds of cells, as VTK numbers them. */
enum {
    CELL_POLY_LINE = 4,
    CELL_TRIANGLE = 5,
    CELL_STRIP = 6,
    CELL_POLYGON = 7,
    CELL_PIXEL = 8,
    CELL_QUAD = 9,
};
/* The type of all cells of a section of POLYDATA; 0: of UNSTRUCTURED_GRID, each has one. */
uint32_t tml_vtk_type_of_section(const char *keyword);
/* How many polygons, strips and the like a legacy VTK file has, or also cells that are no flat
 * faces; 0 where it is no such file. Vertices and lines do not count. */
uint64_t tml_vtk_count_cells(const io_file *file, bool faces_only);

#endif
