/* A contact sheet of a volume's slices that shows the outline of an isovalue, for choosing it. */
#ifndef CLI_SLICES_H
#define CLI_SLICES_H

#include <trommel/extend.h>
#include <trommel/volumes.h>

/* Writes a PNG of up to 16 slices across z, in order, grey from lower to upper. A sample that is at
 * least iso, next to one that is not, is red; missing samples (NaN) are blue. lower, upper and iso
 * are physical values. If a side exceeds 512 samples, only every second, third ... sample is drawn.
 * Errors: those of sheet_save. */
tml_status slices_save(tml_context *tml, const char *path, const tml_volume *volume, double iso,
                       double lower, double upper);

#endif
