/* Which command runs (cli_name), and why it failed. */
#ifndef CLI_RUNNING_H
#define CLI_RUNNING_H

#include <stdbool.h>

void cli_begin_command(const char *name);
/* Is one known yet? Else cli_name is the program's. */
bool cli_has_command(void);

/* Keeps a message of failure, unless there is one, for the JSON. */
void running_keep_failure(const char *message);
/* The first message of failure; "": there is none. */
const char *running_failure(void);

#endif
