/* The name of the running command (cli_name), and why it failed. */
#ifndef CLI_RUNNING_H
#define CLI_RUNNING_H

#include <stdbool.h>

void cli_begin_command(const char *name);
/* Whether a command is known. If not, cli_name returns the program's name. */
bool cli_has_command(void);

/* Keeps an error message for the JSON, unless there already is one. */
void running_keep_failure(const char *message);
/* Returns the first error message; "" if there is none. */
const char *running_failure(void);

#endif
