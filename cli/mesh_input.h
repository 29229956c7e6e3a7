/* Loads the meshes of collide, subdivide and info. */
#ifndef CLI_MESH_INPUT_H
#define CLI_MESH_INPUT_H

#include <trommel/meshes.h>
#include <trommel/surface.h>

#include "cli.h"
#include "report/report.h"

typedef struct mesh_input {
    const char *path;
    uint64_t file_size;
    tml_mesh_file file;
    tml_mesh_buffers buffers; /* positions, indices; over the file's arrays if the engine can */
} mesh_input;

/* Loads a mesh and makes its buffers. A mesh far from 0 gets an origin near it, so that
 * computations keep their precision. Warns of what the result does not show: outlines that cross
 * themselves, omitted elements.
 * times: receives the loading time; may be NULL.
 * Returns: an exit code; prints why on failure. mesh_input_free is valid after a failure, too. */
int mesh_input_load(tml_context *tml, const char *path, tml_weld weld, const cli_common *common,
                    report *times, mesh_input *out);
/* As mesh_input_load, with a given origin, such as another mesh's. NULL: the reader's choice. */
int mesh_input_load_at(tml_context *tml, const char *path, tml_weld weld, const cli_common *common,
                       report *times, const double *origin, mesh_input *out);
/* Makes a tree over the mesh's triangles. */
tml_status mesh_input_tree(tml_context *tml, const mesh_input *in, bool skip_broken,
                           tml_tree **out);
void mesh_input_free(tml_context *tml, mesh_input *in);

/* Reports the mesh as the object `key`, and as a line for people. */
void mesh_input_tell(const char *key, const char *label, const mesh_input *in);

#endif
