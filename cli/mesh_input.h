/* The meshes that collide, subdivide and info read. */
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
    tml_mesh_buffers buffers; /* positions, indices: over the file's arrays where the engine can */
} mesh_input;

/* Loads path, adds the time to report (NULL: does not), and warns of what cannot be seen in the
 * result: outlines that cross themselves, what was left out. A mesh far from 0 gets an origin near
 * it, so that what is computed with it keeps its precision. On failure prints why and returns an
 * exit code; mesh_input_free is good then, too. */
int mesh_input_load(tml_context *tml, const char *path, tml_weld weld, const cli_common *common,
                    report *times, mesh_input *out);
/* The same with the origin given, such as another mesh's; NULL: the one that the reader chose. */
int mesh_input_load_at(tml_context *tml, const char *path, tml_weld weld, const cli_common *common,
                       report *times, const double *origin, mesh_input *out);
/* The tree over its triangles. */
tml_status mesh_input_tree(tml_context *tml, const mesh_input *in, bool skip_broken,
                           tml_tree **out);
void mesh_input_free(tml_context *tml, mesh_input *in);

/* Tells of it as the object key, for people in a line. */
void mesh_input_tell(const char *key, const char *label, const mesh_input *in);

#endif
