/* What a file is that was named where another kind, or a command, belongs, and which commands
 * take it. */
#ifndef CLI_FILE_ADVICE_H
#define CLI_FILE_ADVICE_H

#include "input_kind.h"

/* As cli_fail; but where a reader of one kind could not make anything of path and it is of
 * another kind, the message says so and names a command that takes it. wanted: TML_FILE_NONE: an
 * array. */
int advice_fail(tml_context *tml, tml_status status, const char *path, tml_file_kind wanted);
/* The end of a sentence "PATH is ..." about a file in the place of a command. False: there is no
 * such file. */
bool advice_of_file(const char *path, char *out, size_t size);

#endif
