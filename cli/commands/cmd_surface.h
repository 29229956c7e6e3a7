/* trommel surface: what its files share. */
#ifndef CMD_SURFACE_H
#define CMD_SURFACE_H

#include <trommel/points.h>
#include <trommel/volumes.h>

#include "cli.h"
#include "draw/picture_options.h"
#include "draw/render.h"
#include "frames.h"
#include "input.h"
#include "labels.h"
#include "report/summary.h"
#include "slabs.h"

/* --smooth: whether it is given, and how often to smooth. */
typedef struct smoothing {
    bool is_asked;
    uint32_t iterations;
} smoothing;

/* Spacing of a field's samples: a length, or a share of the radius. */
typedef struct cell_size {
    double size;
    bool is_in_radii;
} cell_size;

typedef struct surface_args {
    cli_common common;
    input_options input;
    const char *output, *png, *debug_cells, *cells;
    uint32_t cells_by;
    opt_numbers iso;
    label_list labels;
    smoothing smooth;
    bool separate, quads; /* for labels' boundaries */
    tml_region region;
    const char *mask, *attribute;
    uint32_t normals;  /* tml_normals */
    uint32_t topology; /* tml_topology */
    bool soup, caps, flip, indices64, drop_degenerate, largest;
    double collapse;
    simplify_goal simplify;
    uint32_t points_kind; /* tml_points_field */
    uint32_t kernel;      /* tml_field_kernel */
    double radius;
    cell_size cell;
    uint64_t resolution;
    double bounds[2][3]; /* both 0: the points' own bounds */
    picture_options picture;
    float color[3];
    uint64_t slab_layers;
    const char *index;
    frame_range frames;
    bool resume;
} surface_args;

/* The state of one surface, from its input file to its output files. */
typedef struct surface_run {
    tml_context *tml;
    const surface_args *args;
    input in;
    tml_volume mask, attribute;
    void *mask_bytes; /* mask_size bytes, made if the mask's file has no bytes */
    size_t mask_size;
    tml_surface_desc desc;
    label_list labels;                 /* chosen for the volume's type */
    double isovalues[OPT_MAX_NUMBERS]; /* as sample values */
    double range_lower, range_upper;   /* physical; lower > upper: unknown */
    tml_surface_saved made;
    uint32_t told_stages; /* how many of made.stages are reported */
    summary summary;
    slabs slabs;
    bool in_slabs, may_be_slabs;
    const tml_team *team; /* shares the work; NULL: this process works alone */
    bool is_frame;        /* the surface belongs to a sequence and may be empty */
    bool is_first;
    int code; /* exit code of a hook that printed why it failed */
} surface_run;

/* ---- cmd_surface_volume.c: functions that return int print what is wrong --------------------- */

/* Whether the inside is at low samples (negative slope or --flip, not both; never for labels). */
bool surface_is_inside_low(const surface_run *r, const tml_volume *volume);
/* Takes the file's description, and chooses isovalues or labels. */
int surface_describe_volume(surface_run *r);
/* Finds which chosen labels the volume has, and reports the missing ones. */
int surface_find_labels(surface_run *r);
int surface_load_volume(surface_run *r, const char *path);
/* Reports an empty surface, with the range of samples, which the user needs for another choice. */
int surface_explain_empty(surface_run *r);

/* ---- cmd_surface_picture.c ------------------------------------------------------------------- */

tml_status surface_draw_picture(surface_run *r, const tml_mesh *mesh);

/* ---- cmd_surface_mesh.c: in memory ----------------------------------------------------------- */

void surface_count_cells(surface_run *r);
void surface_choose(surface_run *r);
void surface_add_stages(surface_run *r);
/* Reports new stages before and after the surface itself. */
void surface_add_later_stages(surface_run *r);
/* Whether the labels' boundaries are shared. */
bool surface_makes_net(const surface_args *a);
tml_surface_labels_desc surface_describe_boundaries(const surface_run *r);
/* Whether components are counted. */
bool surface_counts_components(const surface_args *a);
/* The mesh's edit hook: simplifies, measures and draws it. */
tml_status surface_finish_mesh(void *user, tml_mesh *mesh);
/* After a mesh was made in memory: writes and reports the rest. */
int surface_end_whole(surface_run *r);
/* Makes the mesh of a volume in memory. */
int surface_run_whole(surface_run *r);

/* ---- cmd_surface_slabs.c --------------------------------------------------------------------- */

/* Returns how to change options that need the whole volume or mesh in memory; NULL: none. */
const char *surface_what_needs_all(const surface_run *r);
int surface_refuse_slabs(const surface_run *r, const char *obstacle);
/* Opens the volume for slabs if they are requested, if it needs more memory than allowed, or if
 * slabs may be faster (surface_prefer_slabs). */
int surface_choose_slabs(surface_run *r, const char *path);
/* Decides for slabs on the CPU if the volume can be mapped or is compressed. The mesh is then
 * written while the volume is read or inflated: sooner, and in a fraction of the memory. */
void surface_prefer_slabs(surface_run *r);
slabs_options surface_describe_slabs(const surface_run *r);
/* After a mesh was made in slabs: reports it. */
void surface_end_slabs(surface_run *r);
int surface_run_volume_slabs(surface_run *r);

/* ---- cmd_surface_points.c -------------------------------------------------------------------- */

/* Makes a mesh from a file of points. */
int surface_run_points(surface_run *r);

#endif
