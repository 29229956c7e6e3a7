/* Volumes in VTK XML ImageData (.vti). Each component of an array on points or cells is a frame. */
#include <inttypes.h>

#include "io/volumes/volume_internal.h"

static bool is_vti(io_span head, const char *path)
{
    size_t size = head.size < 4096 ? head.size : 4096;
    const char *start = tml_io_find((io_span){head.text, size}, "<VTKFile");
    if (!start || *head.text != '<')
        return size && *head.text == '<' && tml_volume_name_ends(path, ".vti");
    size -= (size_t)(start - head.text);
    const char *end = memchr(start, '>', size);
    return tml_volume_name_ends(path, ".vti") ||
           tml_io_find((io_span){start, end ? (size_t)(end - start) : size}, "\"ImageData\"") !=
               NULL;
}

static tml_status vti_parse_grid(const io_file *file, const vtk_xml *xml, const tml_load_desc *desc,
                                 volume_header *out)
{
    tml_grid *grid = &out->volume.grid;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t *whole = xml->whole + 2 * axis, *extent = xml->extent + 2 * axis;
        if (extent[0] < whole[0] || extent[1] > whole[1])
            return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                "its piece goes from %" PRId64 " to %" PRId64
                                " along axis %d, out of WholeExtent, %" PRId64 " to %" PRId64,
                                extent[0], extent[1], axis, whole[0], whole[1]);
        grid->dims[axis] = (uint64_t)(extent[1] - extent[0]) + 1;
    }
    memcpy(grid->origin, xml->origin, sizeof xml->origin);
    tml_status status = tml_volume_axes(file, xml->direction, xml->spacing, desc, out);
    for (int row = 0; row < 3; row++) /* origin is at index 0, even if the piece begins elsewhere */
        for (int axis = 0; axis < 3; axis++)
            grid->origin[row] += grid->direction[3 * row + axis] * grid->spacing[axis] *
                                 (double)xml->extent[2 * axis];
    return status;
}

static void take_arrays(const vtk_xml *xml, volume_arrays *arrays)
{
    for (uint32_t i = 0; i < xml->array_count; i++) {
        const vtk_xml_array *from = &xml->arrays[i];
        bool on_cells = strcmp(from->section, "CellData") == 0;
        if (from->type == TML_TYPE_NONE || (!on_cells && strcmp(from->section, "PointData") != 0))
            continue;
        volume_array *array = &arrays->array[arrays->count++];
        *array = (volume_array){.type = from->type,
                                .components = from->components,
                                .tuples = VOLUME_TUPLES_UNSAID,
                                .on_cells = on_cells,
                                .is_active = from->is_active,
                                .offset = from->offset,
                                .end = from->end,
                                .encoding = VOLUME_VTK_XML,
                                .coding = from->coding};
        if (from->coding.is_text)
            array->encoding = VOLUME_TEXT;
        else if (!from->coding.is_base64 && !from->coding.is_compressed)
            array->encoding = VOLUME_RAW;
        memcpy(array->name, from->name, sizeof array->name);
    }
}

static tml_status vti_parse(const io_file *file, io_span head, const tml_load_desc *desc,
                            volume_header *out)
{
    (void)head;
    tml_status status = tml_volume_not_gzip(file);
    if (status != TML_OK)
        return status;
    vtk_xml *xml = tml_io_alloc(file, sizeof *xml);
    volume_arrays *arrays = tml_io_alloc(file, sizeof *arrays);
    status = xml && arrays ? tml_vtk_xml_open(file, "ImageData", xml) : TML_ERROR_OUT_OF_MEMORY;
    TML_THEN(status, vti_parse_grid(file, xml, desc, out));
    if (status == TML_OK) {
        arrays->count = 0;
        take_arrays(xml, arrays);
        out->big_endian = xml->coding.big_endian;
        out->is_exact = true;
        status = tml_volume_choose(file, arrays, desc, out);
    }
    if (status == TML_OK && out->encoding == VOLUME_RAW)
        status = tml_vtk_xml_skip_size(
            file, out->coding, out->samples * tml_type_size(out->volume.type), &out->offset);
    tml_free(file->tml, xml, sizeof *xml);
    tml_free(file->tml, arrays, sizeof *arrays);
    return status;
}

const volume_format tml_volume_vti = {"VTI", is_vti, vti_parse};
