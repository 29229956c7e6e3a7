/* A contact sheet of a volume's slices, with an isovalue's line, to choose it by. */
#ifndef CLI_SLICES_H
#define CLI_SLICES_H

#include <trommel/extend.h>
#include <trommel/volumes.h>

/* Writes a PNG of up to 16 slices across z, in order, grey from lower to upper; samples at or above
 * iso beside such that are not are red, missing ones (NaN) blue. All three are physical
 * values. Of sides over 512 samples every second is taken, or every third ... Errors: those of
 * sheet_save. */
tml_status slices_save(tml_context *tml, const char *path, const tml_volume *volume, double iso,
                       double lower, double upper);

#endif
