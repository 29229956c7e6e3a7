/* Standard input and output in place of files.
 *
 * "-" as an input is standard input. As an output, "-.glb" is standard output in the format of that
 * ending, and "-" in the option's first format. Input that is not a file is spooled, since readers
 * examine a file more than once and map it. Output appears when it is complete, as files do;
 * everything else that the command prints then goes to standard error. */
#ifndef CLI_STANDARD_FILES_H
#define CLI_STANDARD_FILES_H

#include "options/options.h"

/* Whether an output's value means standard output. */
bool standard_is_output(const char *value);
/* Replaces "-" among operands and options by paths. Prints errors and returns an exit code. */
int standard_files_begin(const opt_command *command, void *args, char **operands,
                         uint32_t operand_count);
/* Writes standard output if code is CLI_OK. Removes spooled files. Returns code, or a failure's. */
int standard_files_end(int code);

#endif
