/* Surfaces in slabs, from up to three volume files to a mesh file, none completely in memory. */
#ifndef CLI_SLABS_H
#define CLI_SLABS_H

#include <trommel/surface.h>
#include <trommel/volumes.h>

#include "input.h"
#include "report/measures.h"

enum { SLABS_SOURCES = 3 }; /* [tml_surface_source] */

typedef struct slabs {
    tml_context *tml;    /* the surface's context */
    tml_context *reader; /* context of the thread that reads */
    tml_volume info[SLABS_SOURCES];
    tml_volume_stream *streams[SLABS_SOURCES]; /* NULL: not given */
    const void *mapped[SLABS_SOURCES];
    char why[512]; /* why slabs_open failed */
    bool is_empty;
    measures measures; /* only for a mesh of one part, by one process */
} slabs;

/* Opens the volume. Returns false, with out->why, if it cannot be read layer by layer. */
bool slabs_open(const char *path, const tml_load_desc *desc, slabs *out);
/* Opens a mask or attribute. Prints what is wrong and returns an exit code. */
int slabs_open_like(slabs *s, tml_surface_source source, const char *option, const char *path);
/* Maps all files into memory. Returns false if one cannot be mapped. */
bool slabs_can_map(slabs *s);
/* Returns the bytes that all inputs together would need in memory, without the mesh. */
uint64_t slabs_size(const slabs *s, bool has_mask, bool has_attribute);

typedef struct slabs_options {
    uint64_t memory;   /* limit in bytes; 0: the library's choice */
    uint64_t layers;   /* per slab; 0: as memory allows */
    const char *index; /* index file, made by trommel index; NULL: none */
    const char *path, *output;
    double origin[3];
    tml_up up;
    bool may_be_empty; /* write an empty mesh; false: report that there is no surface */
    bool is_asked;   /* requested by the user or for lack of memory; false: if there is no surface,
                    * the caller reports it (slabs.is_empty) */
    bool components; /* count them */
    const tml_team *team; /* shares the layers (ranks.h); NULL: one process */
    const tml_surface_labels_desc
        *boundaries; /* make these in place of the surface, whose region they have; or NULL */
} slabs_options;

/* Sets in out how tml_surface_save is to save a surface in slabs, and to measure the mesh into s
 * meanwhile. Leaves other fields of out unchanged. surface: as for tml_surface_slabs. */
void slabs_describe(tml_context *tml, slabs *s, const tml_surface_desc *surface,
                    const slabs_options *options, tml_surface_save_desc *out);
/* Completes a save: prints what is wrong and returns an exit code. */
int slabs_end(tml_context *tml, slabs *s, const slabs_options *options, tml_status status,
              tml_side failed, bool is_empty);
/* Makes a mesh file from the volume's layers. A team's processes each take some layers; the result
 * is that of all. Prints what is wrong and returns an exit code.
 * surface: as for tml_surface_slabs. */
int slabs_run(tml_context *tml, slabs *s, const tml_surface_desc *surface,
              const slabs_options *options, tml_surface_saved *out);
void slabs_close(slabs *s);

#endif
