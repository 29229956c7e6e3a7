/* Determines what a file holds, by its contents. */
#ifndef CLI_INPUT_KIND_H
#define CLI_INPUT_KIND_H

#include <trommel/files.h>

/* As tml_file_format, but also recognises OBJ from standard input, which has no name.
 * TML_FILE_NONE: of no known kind, or unreadable. */
tml_file_kind input_kind_of_file(tml_context *tml, const char *path);

#endif
