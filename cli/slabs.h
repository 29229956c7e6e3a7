/* The files of a surface that goes through in slabs: up to three volumes in, a mesh out, none of
 * them ever whole in memory. */
#ifndef CLI_SLABS_H
#define CLI_SLABS_H

#include <trommel/surface.h>
#include <trommel/volumes.h>

#include "input.h"
#include "report/measures.h"

enum { SLABS_SOURCES = 3 }; /* tml_surface_source */

typedef struct slabs {
    tml_context *tml;    /* that of the surface */
    tml_context *reader; /* that of the thread which reads */
    tml_volume info[SLABS_SOURCES];
    tml_volume_stream *streams[SLABS_SOURCES]; /* NULL: not given */
    const void *mapped[SLABS_SOURCES];
    char why[512]; /* it could not be opened */
    bool is_empty;
    measures measures; /* of a mesh of one part, by one process */
} slabs;

/* Opens the volume. False, with out->why, where it is none that can be read layer by layer. */
bool slabs_open(const char *path, const tml_load_desc *desc, slabs *out);
/* Opens a mask or attribute; prints what is wrong and returns an exit code. */
int slabs_open_like(slabs *s, tml_surface_source source, const char *option, const char *path);
/* Can all of the files be used where they lie, as mapped memory? */
bool slabs_can_map(slabs *s);
/* Bytes that all of it would take in memory at once, mesh not counted. */
uint64_t slabs_size(const slabs *s, bool has_mask, bool has_attribute);

typedef struct slabs_options {
    uint64_t memory;   /* to keep to; 0: as the library chooses */
    uint64_t layers;   /* of a slab; 0: as memory allows */
    const char *index; /* a file that trommel index made; NULL: none */
    const char *path, *output;
    double origin[3];
    tml_up up;
    bool may_be_empty; /* writes an empty mesh, else says that there is no surface */
    bool is_asked; /* by the user, or by memory that is short; else the caller says that there is no
                        * surface, by slabs.is_empty */
    bool components;      /* counts them */
    const tml_team *team; /* shares the layers (ranks.h); NULL: there is none */
    const tml_surface_labels_desc
        *boundaries; /* instead of the surface, whose region it has; or NULL */
} slabs_options;

/* How tml_surface_save is to save a surface in slabs, with what measures the mesh meanwhile in s.
 * surface: as for tml_surface_slabs. What is not set in out stays. */
void slabs_describe(tml_context *tml, slabs *s, const tml_surface_desc *surface,
                    const slabs_options *options, tml_surface_save_desc *out);
/* What came of it: prints what is wrong and returns an exit code. */
int slabs_end(tml_context *tml, slabs *s, const slabs_options *options, tml_status status,
              tml_side failed, bool is_empty);
/* From the volume's layers to a mesh file. surface: as for tml_surface_slabs. Of a team's
 * processes, each takes some layers, and the result is that of all. Prints what is wrong and
 * returns an exit code. */
int slabs_run(tml_context *tml, slabs *s, const tml_surface_desc *surface,
              const slabs_options *options, tml_surface_saved *out);
void slabs_close(slabs *s);

#endif
