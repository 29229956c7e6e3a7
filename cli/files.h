/* The files that a command line names: which are read, which are written, and that no file is
 * both. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "options/options.h"

/* Is an output of the command, by whatever name, also an input, which would be lost, or another
 * output? Operands are inputs; options say what they are (OPT_INPUT, OPT_OUTPUT). Of a sequence,
 * all frames' files count. Prints what is wrong and returns an exit code. Also of sequences:
 * whether options are for one, and outputs have a number in their names. */
int files_check(const opt_command *command, const void *args, char **operands,
                uint32_t operand_count);

#endif
