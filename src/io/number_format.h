/* Converts numbers to text, fast and the same in every locale. */
#ifndef TML_NUMBER_FORMAT_H
#define TML_NUMBER_FORMAT_H

#include <stddef.h>
#include <stdint.h>

/* Most characters that a function writes. No function writes a terminator. */
enum { NUMBER_TEXT_MAX = 32 };

/* Writes an integer. This and the others return the number of characters. */
size_t tml_format_u64(char *out, uint64_t value);
/* Writes the shortest decimal that reads back as the same float: "0.1", "-1.5e-12", "nan"; nine
 * digits below 1e-13 and from 1e22 on. */
size_t tml_format_f32(char *out, float value);
/* Writes value rounded to so many decimals, without trailing zeros. */
size_t tml_format_fixed(char *out, double value, int decimals);

#endif
