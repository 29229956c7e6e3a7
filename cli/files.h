/* Checks the files that a command line names: no output may also be an input. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "options/options.h"

/* Refuses an output that is also an input, which would be lost, or another output, whatever their
 * names. Operands are inputs; other files are options of kind OPT_INPUT and OPT_OUTPUT. For a
 * sequence, includes all frames' files, and checks that options apply to sequences and that outputs
 * have a number in their names.
 * Prints what is wrong and returns an exit code. */
int files_check(const opt_command *command, const void *args, char **operands,
                uint32_t operand_count);

#endif
