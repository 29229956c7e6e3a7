/* The structure of legacy VTK files (Kitware: VTK File Formats, vtk.org), text or big-endian
 * binary, versions 1 to 5: which arrays a file has, and where their values are. Arrays are skipped
 * in small pieces, so a file may have any size. */
#ifndef TML_VTK_LEGACY_H
#define TML_VTK_LEGACY_H

#include "io/io_internal.h"

enum { VTK_LINE_SIZE = 1024, VTK_NAME_SIZE = 64 };

typedef enum vtk_place {
    VTK_NO_DATA, /* texture coordinates, colour tables, data of the whole data set */
    VTK_POSITIONS,
    VTK_POINT_DATA,
    VTK_CELL_DATA,
    VTK_POINT_COLORS, /* bytes in binary files, fractions in text */
    VTK_CELLS,        /* for each cell a count, then corners; up to version 4 */
    VTK_OFFSETS,      /* of the cells' corners, one more than cells; from 5.1 on */
    VTK_CONNECTIVITY, /* of VTK_OFFSETS: the corners */
    VTK_CELL_TYPES,
} vtk_place;

typedef struct vtk_array {
    char name[VTK_NAME_SIZE];
    char keyword[24]; /* first word of the section: POLYGONS, SCALARS ... */
    uint64_t cells;   /* of VTK_CELLS, VTK_OFFSETS: how many */
    vtk_place place;
    tml_type type;
    bool is_bit; /* eight per byte if the file is binary */
    uint64_t rows, columns;
    uint64_t offset, end; /* of the values */
} vtk_array;

typedef struct vtk_legacy {
    const io_file *file;
    uint64_t offset; /* of the next byte to read */
    bool is_binary;
    char dataset[32];
    uint64_t dims[3]; /* of structured data sets; 0: not given */
    double spacing[3], origin[3];
    void (*array)(void *user, const vtk_array *array); /* called per array, in the file's order */
    void *user;

    char keyword[24]; /* of the current section; place and rows likewise */
    vtk_place place;
    uint64_t rows;
    char line[VTK_LINE_SIZE];
} vtk_legacy;

/* Reads the four lines at a file's beginning. Errors: FILE_FORMAT, FILE_ACCESS. */
TML_MUST_CHECK tml_status tml_vtk_open(const io_file *file, vtk_legacy *out);
/* Reads the rest. Errors: as tml_vtk_open. */
TML_MUST_CHECK tml_status tml_vtk_read(vtk_legacy *vtk);

/* Types of cells, with VTK's numbers. */
enum {
    CELL_POLY_LINE = 4,
    CELL_TRIANGLE = 5,
    CELL_STRIP = 6,
    CELL_POLYGON = 7,
    CELL_PIXEL = 8,
    CELL_QUAD = 9,
};
/* Returns the type of all cells in a section of POLYDATA; 0 for CELLS, where each has its own. */
uint32_t tml_vtk_type_of_section(const char *keyword);
/* Returns how many cells other than vertices and lines a legacy VTK file has; 0 if it is not such a
 * file. faces_only: counts only flat faces. */
uint64_t tml_vtk_count_cells(const io_file *file, bool faces_only);

#endif
