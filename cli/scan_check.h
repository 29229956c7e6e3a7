/* Do points look like a scan: samples of a surface, where a field of blobs makes no
 * reconstruction of it? */
#ifndef CLI_SCAN_CHECK_H
#define CLI_SCAN_CHECK_H

#include <trommel/io.h>

/* Warns where points have normals, or lie on a surface instead of filling space; not where they
 * move or have radii. */
void scan_check(const char *name, const tml_points *points);

#endif
