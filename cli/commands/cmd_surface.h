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

/* Shared boundaries, and how often they are smoothed. */
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
    bool separate, quads; /* of labels' boundaries */
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
    double bounds[2][3]; /* both 0: the points' own */
    picture_options picture;
    float color[3];
    uint64_t slab_layers;
    const char *index;
    frame_range frames;
    bool resume;
} surface_args;

/* One surface, from its file to the files that it becomes. */
typedef struct surface_run {
    tml_context *tml;
    const surface_args *args;
    input in;
    tml_volume mask, attribute;
    void *mask_bytes; /* the mask where its file has no bytes; mask_size of them */
    size_t mask_size;
    tml_surface_desc desc;
    label_list labels;                 /* as the volume's type has them */
    double isovalues[OPT_MAX_NUMBERS]; /* in sample values */
    double range_lower, range_upper;   /* physical; lower > upper: not known */
    tml_surface_saved made;
    uint32_t told_stages; /* of made */
    summary summary;
    slabs slabs;
    bool in_slabs, may_be_slabs;
    const tml_team *team; /* shares the work; NULL: this process has all of it */
    bool is_frame;        /* of a sequence, in which a surface may well be empty */
    bool is_first;
    int code; /* of a hook that printed why */
} surface_run;

/* ---- cmd_surface_volume.c: functions that return int print what is wrong --------------------- */

/* Is the inside where samples are low? So it is with a negative slope, and with --flip; not of
 * labels. */
bool surface_is_inside_low(const surface_run *r, const tml_volume *volume);
/* What the file says of itself, and the isovalues or labels. */
int surface_describe_volume(surface_run *r);
/* Looks for the chosen labels in the volume, and tells of those that are not there. */
int surface_find_labels(surface_run *r);
int surface_load_volume(surface_run *r, const char *path);
/* Nothing found: says what the samples hold, which is what the user needs to choose again. */
int surface_explain_empty(surface_run *r);

/* ---- cmd_surface_picture.c ------------------------------------------------------------------- */

tml_status surface_draw_picture(surface_run *r, const tml_mesh *mesh);

/* ---- cmd_surface_mesh.c: in memory ----------------------------------------------------------- */

void surface_count_cells(surface_run *r);
void surface_choose(surface_run *r);
void surface_add_stages(surface_run *r);
/* Those before and after the surface that are new. */
void surface_add_later_stages(surface_run *r);
/* Are the labels' boundaries shared? */
bool surface_makes_net(const surface_args *a);
tml_surface_labels_desc surface_describe_boundaries(const surface_run *r);
/* Are components counted in memory, or in slabs? */
bool surface_counts_components(const surface_args *a);
/* A hook of the mesh: what the command alone does with it. */
tml_status surface_finish_mesh(void *user, tml_mesh *mesh);
/* After a mesh was made in memory: what else there is to write, and to tell. */
int surface_end_whole(surface_run *r);
/* A volume that is in memory. */
int surface_run_whole(surface_run *r);

/* ---- cmd_surface_slabs.c --------------------------------------------------------------------- */

/* Options that need the whole volume or mesh in memory, as what to do about them; NULL: there are
 * none. */
const char *surface_what_needs_all(const surface_run *r);
int surface_refuse_slabs(const surface_run *r, const char *obstacle);
/* Opens the volume for slabs where they are asked for, where it needs more memory than it may take,
 * or where they may be faster (surface_prefer_slabs). */
int surface_choose_slabs(surface_run *r, const char *path);
/* On the CPU, a mesh that can be written while its volume is read is done sooner, in a fraction of
 * the memory. So is one whose volume is inflated meanwhile. */
void surface_prefer_slabs(surface_run *r);
slabs_options surface_describe_slabs(const surface_run *r);
/* After a mesh was made in slabs. */
void surface_end_slabs(surface_run *r);
int surface_run_volume_slabs(surface_run *r);

/* ---- cmd_surface_points.c -------------------------------------------------------------------- */

/* Points: from their file to the mesh's. */
int surface_run_points(surface_run *r);

#endif
