/* Reads MRC2014 and CCP4 maps: a header of 1024 bytes, then samples. After Cheng et al.: MRC2014:
 * Extensions to the MRC format header for electron cryo-microscopy and tomography. 2015; IMOD's
 * note on its stamp for the sign of bytes.
 *
 * Columns, rows and sections may be any of the axes (MAPC, MAPR, MAPS). Lengths are angstroms. */
#include <math.h>

#include "io/volumes/volume_internal.h"

/* Byte offsets of the words in use. */
enum {
    HEADER_SIZE = 1024,
    AT_SIZE = 0,
    AT_MODE = 12,
    AT_START = 16,
    AT_SAMPLING = 28,
    AT_CELL = 40,
    AT_ANGLES = 52,
    AT_AXES = 64,
    AT_SPACE_GROUP = 88,
    AT_EXTENDED = 92,
    AT_VERSION = 108,
    AT_IMOD_STAMP = 152,
    AT_IMOD_FLAGS = 156,
    AT_ORIGIN = 196,
    AT_MAP = 208,
    AT_MACHINE = 212,
    AT_LABEL_COUNT = 220,
    AT_LABELS = 224,
    LABEL_SIZE = 80,
};

enum { FIRST_VERSION = 20140, IMOD_STAMP = 1146047817, STACK_GROUP = 401, STACK_GROUP_LAST = 630 };

static int32_t word(io_span head, size_t at, bool big_endian)
{
    return (int32_t)io_load_u32(head.text + at, big_endian);
}

static tml_type type_of_mode(int32_t mode)
{
    switch (mode) {
    case 0:
        return TML_I8;
    case 1:
        return TML_I16;
    case 2:
        return TML_F32;
    case 6:
        return TML_U16;
    case 12:
        return TML_F16;
    default:
        return TML_TYPE_NONE;
    }
}

/* Returns whether the header is plausible in this byte order: sizes from 1 to 2^24, mode from 0 to
 * 101. */
static bool is_plausible(io_span head, bool big_endian)
{
    const int32_t largest = 1 << 24;
    for (int i = 0; i < 3; i++) {
        int32_t size = word(head, AT_SIZE + 4 * (size_t)i, big_endian);
        if (size < 1 || size > largest)
            return false;
    }
    int32_t mode = word(head, AT_MODE, big_endian);
    return mode >= 0 && mode <= 101;
}

/* Chooses the byte order by the machine stamp; if that gives implausible sizes, by plausibility. */
static bool is_big_endian(io_span head)
{
    bool stamped = head.text[AT_MACHINE] == 0x11;
    return is_plausible(head, stamped)    ? stamped
           : is_plausible(head, !stamped) ? !stamped
                                          : stamped;
}

static bool is_mrc(io_span head, const char *path)
{
    if (head.size < HEADER_SIZE)
        return false;
    if (memcmp(head.text + AT_MAP, "MAP", 3) == 0)
        return true;
    static const char *const endings[] = {".mrc", ".map", ".ccp4", ".rec", ".st"};
    bool named = false;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        named = named || tml_volume_name_ends(path, endings[i]);
    return named && (is_plausible(head, false) || is_plausible(head, true));
}

/* Parses the order of the axes, the sizes, and the start of the map in the cell. */
static tml_status parse_axes(const io_file *file, io_span head, volume_header *out,
                             int32_t start[3])
{
    bool big = out->big_endian;
    int32_t map[3];
    uint32_t seen = 0;
    for (size_t k = 0; k < 3; k++) {
        map[k] = word(head, AT_AXES + 4 * k, big);
        seen |= map[k] >= 1 && map[k] <= 3 ? 1u << map[k] : 0;
    }
    bool unset = map[0] == 0 && map[1] == 0 && map[2] == 0;
    if (!unset && seen != 0xe)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "MAPC, MAPR, MAPS are %d, %d, %d, need 1, 2 and 3 in some order",
                            map[0], map[1], map[2]);
    for (size_t k = 0; k < 3; k++) {
        int axis = unset ? (int)k : map[k] - 1;
        int32_t size = word(head, AT_SIZE + 4 * k, big);
        if (size < 1)
            return tml_io_error(file, TML_ERROR_FILE_FORMAT, "size %zu is %d, needs 1 or more", k,
                                size);
        out->axis[k] = (uint8_t)axis;
        out->volume.grid.dims[axis] = (uint64_t)size;
        start[axis] = word(head, AT_START + 4 * k, big);
    }
    return TML_OK;
}

/* Computes unit vectors of the cell's axes: x along a, y in the plane of a and b. Returns false if
 * the angles make no cell. */
static bool cell_directions(const double angles[3], double columns[9])
{
    const double degree = 3.14159265358979323846 / 180;
    memcpy(columns, tml_volume_identity, 9 * sizeof *columns);
    if (angles[0] == 90 && angles[1] == 90 && angles[2] == 90)
        return true;
    double ca = cos(angles[0] * degree), cb = cos(angles[1] * degree);
    double cg = cos(angles[2] * degree), sg = sin(angles[2] * degree);
    double y = (ca - cb * cg) / sg, z = 1 - cb * cb - y * y;
    columns[1] = cg;
    columns[4] = sg;
    columns[2] = cb;
    columns[5] = y;
    columns[8] = sqrt(z);
    return sg > 0 && z > 0;
}

static tml_status mrc_parse_grid(const io_file *file, io_span head, const int32_t start[3],
                                 const tml_load_desc *desc, volume_header *out)
{
    bool big = out->big_endian;
    tml_grid *grid = &out->volume.grid;
    double spacing[3], angles[3], origin[3], columns[9];
    bool no_cell = true, has_origin = false;
    for (size_t i = 0; i < 3; i++) {
        double cell = (double)io_load_f32(head.text + AT_CELL + 4 * i, big);
        int32_t sampling = word(head, AT_SAMPLING + 4 * i, big);
        spacing[i] = cell / (sampling > 0 ? sampling : (double)grid->dims[i]);
        no_cell = no_cell && cell == 0;
        if (cell == 0 && grid->dims[i] == 1) /* one section has no spacing */
            spacing[i] = 1;
        double angle = (double)io_load_f32(head.text + AT_ANGLES + 4 * i, big);
        angles[i] = angle == 0 ? 90 : angle;
        origin[i] = (double)io_load_f32(head.text + AT_ORIGIN + 4 * i, big);
        has_origin = has_origin || origin[i] != 0;
    }
    if (no_cell) { /* some cameras write this */
        for (int i = 0; i < 3; i++)
            spacing[i] = 1;
        snprintf(out->volume.comment, sizeof out->volume.comment,
                 "no cell size in the header; spacing taken as 1");
        bool is_given = desc->spacing[0] != 0 && desc->spacing[1] != 0 && desc->spacing[2] != 0;
        tml_status told = is_given
                              ? TML_OK
                              : tml_io_warn(file, "has no cell size; its spacing is taken as 1 "
                                                  "(give desc.spacing), and its unit is not known");
        if (told != TML_OK)
            return told;
    } else {
        snprintf(out->volume.unit, sizeof out->volume.unit, "\u00c5");
    }
    if (!cell_directions(angles, columns))
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "cell angles are %g, %g, %g, which make no cell", angles[0], angles[1],
                            angles[2]);
    tml_status status = tml_volume_axes(file, columns, spacing, desc, out);
    for (int row = 0; row < 3 && status == TML_OK; row++) {
        grid->origin[row] = has_origin ? origin[row] : 0;
        for (int axis = 0; axis < 3 && !has_origin; axis++)
            grid->origin[row] +=
                grid->direction[3 * row + axis] * grid->spacing[axis] * start[axis];
        if (!isfinite(grid->origin[row]))
            status =
                tml_io_error(file, TML_ERROR_FILE_FORMAT, "origin[%d] is %g, needs a finite number",
                             row, grid->origin[row]);
    }
    return status;
}

static tml_status mrc_parse(const io_file *file, io_span head, const tml_load_desc *desc,
                            volume_header *out)
{
    tml_volume *volume = &out->volume;
    bool big = out->big_endian = is_big_endian(head);
    int32_t mode = word(head, AT_MODE, big), extended = word(head, AT_EXTENDED, big);
    volume->type = type_of_mode(mode);
    if (volume->type == TML_TYPE_NONE)
        return tml_io_error(
            file, TML_ERROR_UNSUPPORTED,
            "its mode is %d (expected 0, 1, 2, 6 or 12: 8- and 16-bit integers, 32- "
            "and 16-bit floats); convert it with IMOD's newstack -mode 2",
            mode);
    bool has_stamp = word(head, AT_IMOD_STAMP, big) == IMOD_STAMP;
    if (mode == 0 && has_stamp && !(word(head, AT_IMOD_FLAGS, big) & 1))
        volume->type = TML_U8;
    int32_t version = word(head, AT_VERSION, big); /* from 20140 on, bytes are signed */
    if (mode == 0 && !has_stamp && version < FIRST_VERSION) {
        tml_status told =
            tml_io_warn(file, "has bytes (mode 0) and does not say whether they have a "
                              "sign; taken as -128 to 127, as MRC2014 has them");
        if (told != TML_OK)
            return told;
    }
    if (extended < 0)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT, "NSYMBT is %d, needs 0 or more", extended);
    out->offset = HEADER_SIZE + (uint64_t)extended;
    int32_t start[3] = {0};
    tml_status status = parse_axes(file, head, out, start);
    if (status != TML_OK)
        return status;

    /* A stack of volumes: the sections of all volumes, MZ per volume. */
    uint64_t volumes = 1, *sections = &volume->grid.dims[2];
    int32_t group = word(head, AT_SPACE_GROUP, big), depth = word(head, AT_SAMPLING + 8, big);
    if (group >= STACK_GROUP && group <= STACK_GROUP_LAST && depth > 0 && out->axis[2] == 2 &&
        *sections % (uint64_t)depth == 0) {
        volumes = *sections / (uint64_t)depth;
        *sections = (uint64_t)depth;
    }
    int32_t labels = word(head, AT_LABEL_COUNT, big);
    io_span label = {head.text + AT_LABELS,
                     labels > 0 ? strnlen(head.text + AT_LABELS, LABEL_SIZE) : 0};
    tml_io_copy(volume->comment, sizeof volume->comment, tml_io_trim(label));
    status = tml_volume_layout(file, 1, 1, volumes, desc->frame, out);
    return status == TML_OK ? mrc_parse_grid(file, head, start, desc, out) : status;
}

const volume_format tml_volume_mrc = {"MRC", is_mrc, mrc_parse};
