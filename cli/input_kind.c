/* What a file holds, by its contents. */
#include "input_kind.h"

#include <stdio.h>
#include <string.h>

#include <trommel/pictures.h>
#include <trommel/points.h>
#include <trommel/volumes.h>

#include "paths.h"
#include "standard_names.h"
#include "system.h"

/* Does it begin as what 'index' makes? */
static bool is_index(const char *path)
{
    char start[7];
    system_file info;
    FILE *file = system_examine(path, &info) && info.is_regular ? fopen(path, "rb") : NULL;
    bool is = file && fread(start, 1, sizeof start, file) == sizeof start &&
              memcmp(start, "TMLINDX", sizeof start) == 0;
    if (file)
        fclose(file);
    return is;
}

/* What is sure comes first: any text passes for XYZ, and OBJ is told by its name alone. */
input_kind input_kind_of_file(tml_context *tml, const char *path)
{
    const char *mesh;
    if (tml_picture_format(tml, path))
        return INPUT_PICTURE;
    if (is_index(path))
        return INPUT_INDEX;
    if (tml_volume_format(tml, path))
        return INPUT_VOLUME;
    mesh = tml_mesh_format(tml, path);
    if (mesh &&
        (strcmp(mesh, "OBJ") != 0 || path_ends_with(path, ".obj") || standard_is_input(path)))
        return INPUT_MESH;
    return tml_points_format(tml, path) ? INPUT_POINTS : INPUT_NONE;
}
