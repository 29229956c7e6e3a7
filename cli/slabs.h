/* The files of a surface that goes through in slabs: up to three volumes in, a mesh out, none of them ever
 * whole in memory. */
#ifndef CLI_SLABS_H
#define CLI_SLABS_H

#include <trommel/io.h>
#include <trommel/surface.h>

#include "input.h"
#include "report/measures.h"

enum { SLABS_SOURCES = 3 }; /* tml_surface_source */

typedef struct mask_bytes {
    uint8_t *data;
    size_t size;
} mask_bytes;

typedef struct slabs {
    tml_context *reader; /* that of the thread which reads */
    tml_volume info[SLABS_SOURCES];
    tml_volume_stream *streams[SLABS_SOURCES]; /* NULL: not given */
    double slope, intercept;                   /* of the attribute */
    char why[512];                             /* it could not be opened */
    /* While it runs. */
    const void *mapped[SLABS_SOURCES];
    uint64_t at_work[SLABS_SOURCES]; /* first layer of the slab at work */
    mask_bytes mask[2];              /* of two slabs, where its samples are none */
    int mask_turn;
    tml_mesh_stream *out;
    float *values;
    size_t values_size;
    tml_context *tml;
    const struct slabs_options *options;
    bool is_empty;
    const tml_bricks *bricks; /* what is read is held against them; NULL: there are none */
    tml_surface_result *result;
    measures measures, edited; /* of a mesh of one part, by one process; and as filters left it */
} slabs;

/* Opens the volume. False, with out->why, where it is none that can be read layer by layer. */
bool slabs_open(const char *path, const tml_volume_load_desc *desc, slabs *out);
/* Opens a mask or attribute; prints what is wrong and returns an exit code. */
int slabs_open_like(slabs *s, tml_surface_source source, const char *option, const char *path);
/* Can all of the files be used where they lie, as mapped memory? */
bool slabs_can_map(slabs *s);
/* No files, but a field of this grid. */
void slabs_of_field(const tml_grid *grid, slabs *out);
/* Bytes that all of it would take in memory at once, mesh not counted. */
uint64_t slabs_size(const slabs *s, bool has_mask, bool has_attribute);

typedef struct slabs_options {
    uint64_t memory;   /* to keep to; 0: as the library chooses */
    uint64_t layers;   /* of a slab; 0: as memory allows */
    const char *index; /* a file that trommel index made; NULL: none */
    const char *path, *output;
    double origin[3];
    tml_up up;
    bool largest, drop_degenerate;
    bool may_be_empty; /* writes an empty mesh, else says that there is no surface */
    /* By the user, or by memory that is short. Else messages are those of a volume at once, and that
     * there is no surface is left to the caller, by slabs.is_empty. */
    bool is_asked;
    bool components;      /* counts them */
    const tml_team *team; /* shares the layers (ranks.h); NULL: there is none */
    const tml_surface_labels_desc
        *boundaries; /* instead of the surface, whose region it has; or NULL */
    /* Of points: what they carry, one buffer each, and its names; the mesh has its means. */
    const tml_mesh_attribute *attributes;
    const tml_buffer *carried;
    uint32_t attribute_count;
} slabs_options;

/* From the volume's layers to a mesh file. surface: as for tml_surface_slabs. Of a team's processes, each takes some
 * layers, and the result is that of all. Prints what is wrong and returns an exit code. */
int slabs_run(tml_context *tml, slabs *s, const tml_surface_desc *surface,
              const slabs_options *options, tml_surface_result *result);
void slabs_close(slabs *s);

#endif
