/* Volumes in legacy VTK files: STRUCTURED_POINTS. Each component of an array on points or cells is
 * a frame. */
#include <inttypes.h>

#include "io/volumes/volume_internal.h"
#include "io/vtk/vtk_legacy.h"

static void take_array(void *user, const vtk_array *from)
{
    volume_arrays *arrays = user;
    bool is_colour = from->place == VTK_POINT_COLORS; /* VTK writes scalars of bytes so */
    bool is_data = is_colour || from->place == VTK_POINT_DATA || from->place == VTK_CELL_DATA;
    if (!is_data || from->is_bit || from->columns == 0 || arrays->count == VOLUME_ARRAYS_MAX)
        return;
    volume_array *array = &arrays->array[arrays->count++];
    *array = (volume_array){.type = from->type,
                            .components = from->columns,
                            .tuples = from->rows,
                            .on_cells = from->place == VTK_CELL_DATA,
                            .is_fraction = is_colour,
                            .offset = from->offset,
                            .end = from->end};
    snprintf(array->name, sizeof array->name, "%s", from->name);
}

static bool is_vtk_volume(io_span head, const char *path)
{
    io_text text = io_text_of(head);
    io_span line, word;
    (void)path;
    if (!tml_io_starts_with(head, "# vtk DataFile"))
        return false;
    for (int i = 0; i < 3;) { /* version, title, encoding; empty lines may precede the third */
        if (!tml_io_line(&text, &line))
            return false;
        i += i < 2 || tml_io_trim(line).size > 0;
    }
    return tml_io_word(&text, &word) && tml_io_is_any_case(word, "DATASET") &&
           tml_io_word(&text, &word) && tml_io_is_any_case(word, "STRUCTURED_POINTS");
}

static tml_status vtk_volume_parse(const io_file *file, io_span head, const tml_load_desc *desc,
                                   volume_header *out)
{
    vtk_legacy vtk;
    volume_arrays arrays = {.count = 0};
    (void)head;
    tml_status status = tml_volume_not_gzip(file);
    TML_THEN(status, tml_vtk_open(file, &vtk));
    if (status != TML_OK)
        return status;
    vtk.array = take_array;
    vtk.user = &arrays;
    status = tml_vtk_read(&vtk);
    if (status != TML_OK)
        return status;
    for (uint32_t i = 0; i < arrays.count; i++)
        arrays.array[i].encoding =
            vtk.is_binary ? VOLUME_RAW : VOLUME_TEXT; /* binary bytes are not fractions */
    out->big_endian = true;
    memcpy(out->volume.grid.dims, vtk.dims, sizeof vtk.dims);
    memcpy(out->volume.grid.origin, vtk.origin, sizeof vtk.origin);
    status = volume_spacings(file, vtk.spacing, desc, out);
    return status == TML_OK ? tml_volume_choose(file, &arrays, desc, out) : status;
}

const volume_format tml_volume_vtk = {"VTK", is_vtk_volume, vtk_volume_parse};
