/* What a file holds, by its contents. */
#ifndef CLI_INPUT_KIND_H
#define CLI_INPUT_KIND_H

#include <trommel/files.h>

/* As tml_file_format; OBJ from standard input has no name. TML_FILE_NONE: nothing that is known, or
 * a file that cannot be read. */
tml_file_kind input_kind_of_file(tml_context *tml, const char *path);

#endif
