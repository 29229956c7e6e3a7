/* Standard input and output in the place of files. "-" as an input is standard input; as an output,
 * "-.glb" is standard output in the format of that ending, and "-" in the option's first format.
 * What is read is spooled, unless it is a file anyway, since readers look at a file more than once
 * and map it; what is written appears when it is complete, as files do. Then everything that the
 * command says goes to standard error. */
#ifndef CLI_STANDARD_FILES_H
#define CLI_STANDARD_FILES_H

#include "options/options.h"

/* Of an output's value: is it standard output? */
bool standard_is_output(const char *value);
/* Puts paths of files in the place of "-" among operands and options. Prints what is wrong and
 * returns an exit code. */
int standard_files_begin(const opt_command *command, void *args, char **operands,
                         uint32_t operand_count);
/* Writes standard output where code is CLI_OK, and removes what was spooled; returns code, or a
 * failure's. */
int standard_files_end(int code);

#endif
