/* Advice for a user who names a file where another kind of file, or a command, belongs: what the
 * file is, and which command reads it. */
#ifndef CLI_FILE_ADVICE_H
#define CLI_FILE_ADVICE_H

#include "input_kind.h"

/* As cli_fail. But if a reader of kind `wanted` failed and path is of another kind, the message
 * says so and names a command that reads it.
 * wanted: TML_FILE_NONE: an array. */
int advice_fail(tml_context *tml, tml_status status, const char *path, tml_file_kind wanted);
/* Writes the end of a sentence "PATH is ..." about a file named as a command. False: no such
 * file. */
bool advice_of_file(const char *path, char *out, size_t size);

#endif
