/* The cells of legacy VTK files: their types and their number. */
#include <strings.h>

#include "io/vtk/vtk_legacy.h"

uint32_t tml_vtk_type_of_section(const char *keyword)
{
    return strcasecmp(keyword, "POLYGONS") == 0          ? CELL_POLYGON
           : strcasecmp(keyword, "TRIANGLE_STRIPS") == 0 ? CELL_STRIP
           : strcasecmp(keyword, "CELLS") == 0           ? 0
                                                         : CELL_POLY_LINE;
}

typedef struct vtk_look {
    uint64_t polygons;
    vtk_array types;
} vtk_look;

static void look_at_array(void *user, const vtk_array *array)
{
    vtk_look *look = user;
    if ((array->place == VTK_CELLS || array->place == VTK_OFFSETS) &&
        tml_vtk_type_of_section(array->keyword) >= CELL_STRIP)
        look->polygons += array->cells;
    if (array->place == VTK_CELL_TYPES)
        look->types = *array;
}

/* Counts a grid's cells whose type is from CELL_TRIANGLE to last. Reads the file in pieces. */
static uint64_t count_cells(const io_file *file, const vtk_array *types, io_number_form encoding,
                            double last)
{
    uint64_t count = 0, at = types->offset;
    char piece[8192];
    while (at < types->end) {
        const uint64_t left = types->end - at;
        size_t size = left < sizeof piece ? (size_t)left : sizeof piece;
        if (tml_io_read_quietly(file, at, piece, size) != 0)
            return count;
        if (size < left && encoding == IO_NUMBERS_TEXT) /* the last number may go on */
            while (size > 1 && piece[size - 1] > ' ')
                size--;
        io_text text = io_text_of((io_span){piece, size});
        double type;
        while (tml_io_next_number(&text, encoding, types->type, &type))
            count += type >= CELL_TRIANGLE && type <= last;
        at += size;
    }
    return count;
}

uint64_t tml_vtk_count_cells(const io_file *file, bool faces_only)
{
    vtk_legacy vtk;
    vtk_look look = {.polygons = 0};
    if (tml_vtk_open(file, &vtk) != TML_OK || (strcasecmp(vtk.dataset, "POLYDATA") != 0 &&
                                               strcasecmp(vtk.dataset, "UNSTRUCTURED_GRID") != 0))
        return 0;
    vtk.array = look_at_array;
    vtk.user = &look;
    if (tml_vtk_read(&vtk) != TML_OK && look.polygons == 0 && look.types.rows == 0)
        return 0;
    if (strcasecmp(vtk.dataset, "UNSTRUCTURED_GRID") == 0 && look.types.rows > 0)
        return count_cells(file, &look.types,
                           vtk.is_binary ? IO_NUMBERS_BIG_ENDIAN : IO_NUMBERS_TEXT,
                           faces_only ? CELL_QUAD : 255);
    return look.polygons;
}
