/* Units of length in files. */
#ifndef TML_IO_UNITS_H
#define TML_IO_UNITS_H

#include "io/io_internal.h"

/* Writes the name of a unit of length, as in tml_volume.unit:
 * "µm" for "micron", "um" and "μm". An unknown unit is copied without the blanks around it. Names
 * are cut at size. */
void tml_io_unit(io_span text, char *out, size_t size);
/* Returns the ratio of two units: 1000 from "mm" to "µm". Any spelling will do; 0 if one is
 * unknown. */
double tml_io_unit_ratio(const char *from, const char *to);

#endif
