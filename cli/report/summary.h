/* The final report of "trommel surface". */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include <trommel/surface.h>

#include "frames.h"
#include "input.h"
#include "labels.h"
#include "report/cell_counts.h"
#include "report/measures.h"
#include "report/report.h"
#include "simplify.h"

typedef struct summary {
    const input *in;
    tml_grid grid;      /* of the volume, or of the field that the points made */
    double radius;      /* of points; 0 for volumes */
    const char *origin; /* of the isovalue: "given", "Otsu's method", ... ; NULL: labels */
    const tml_surface_result *result;
    double slope, intercept; /* from samples to physical values */
    uint64_t cells;
    uint64_t cell_counts[CELL_COUNTS]; /* with 0 to 5 triangles; all 0: not counted */
    cells_by cells_by;                 /* what their picture's colours say */
    simplified simple;                 /* before is 0 if it was not requested */
    bool is_quads;
    const tml_mesh_part *labels; /* of the parts that are in files of their own; or NULL */
    const char *label_files;     /* their names, for tml_path_number */
    bool has_found;              /* labels that were not chosen were searched for */
    labels_found found;
    bool has_components;
    measures measures; /* of a mesh of one part */
    uint64_t bytes_in; /* of samples or points that the extraction read */
    double surface_seconds;
    report report;
} summary;

enum { SUMMARY_LABELS = 256 };
/* "2, 3, 5, 6, 7, 8 ... (20)": labels of the volume that were not chosen. */
char *summary_other_labels(const summary *s, char out[SUMMARY_LABELS]);
/* f: the frame that is reported, or NULL. For people, a frame is a row; the first row follows a
 * heading. */
void summary_tell(const summary *s, const frame *f, bool is_first);

#endif
