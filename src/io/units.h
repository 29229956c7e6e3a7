/* Units of length as files spell them. */
#ifndef TML_IO_UNITS_H
#define TML_IO_UNITS_H

#include "io/io_internal.h"

/* Writes the name of a unit of length, as tml_volume.unit has it: "µm" for "micron", "um" and
 * "μm". A text that is no known unit is copied without the blanks about it, cut where it does not
 * fit. */
void tml_io_unit(io_span text, char *out, size_t size);
/* How many of one unit another is: 1000 from "mm" to "µm". Both are names or other spellings; 0
 * where one is not known. */
double tml_io_unit_ratio(const char *from, const char *to);

#endif
