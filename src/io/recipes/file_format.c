/* tml_file_format: the kind and the format of a file. */
#include <strings.h>

#include "io/io_internal.h"

/* If no kind is requested, a text with lines that begin with v is OBJ only if its name ends in
 * .obj: other text files look the same. */
static const char *sure_mesh_format(tml_context *tml, const char *path)
{
    const char *format = tml_mesh_format_of_file(tml, path), *ending = strrchr(path, '.');
    const bool is_obj = format && strcmp(format, "OBJ") == 0;
    return is_obj && !(ending && strcasecmp(ending, ".obj") == 0) ? NULL : format;
}

const char *tml_file_format(tml_context *tml, const char *path, tml_file_kind kind,
                            tml_file_kind *found)
{
    /* The most reliable tests come first: any text passes as points. */
    const struct {
        tml_file_kind kind;
        const char *(*format_of)(tml_context *tml, const char *path);
    } kinds[] = {
        {TML_FILE_PICTURE, tml_picture_format_of},
        {TML_FILE_INDEX, tml_volume_index_format_of},
        {TML_FILE_VOLUME, tml_volume_format_of},
        {TML_FILE_MESH, kind == TML_FILE_MESH ? tml_mesh_format_of_file : sure_mesh_format},
        {TML_FILE_POINTS, tml_points_format_of},
    };
    const char *format = NULL;
    tml_file_kind is = TML_FILE_NONE;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !format; i++) {
        if (kind != TML_FILE_NONE && kind != kinds[i].kind)
            continue;
        format = kinds[i].format_of(tml, path);
        is = format ? kinds[i].kind : TML_FILE_NONE;
    }
    if (found)
        *found = is;
    return format;
}
