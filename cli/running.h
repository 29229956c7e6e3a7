/* Which command runs (cli_name). */
#ifndef CLI_RUNNING_H
#define CLI_RUNNING_H

#include <stdbool.h>

void cli_begin_command(const char *name);
/* Is one known yet? Else cli_name is the program's. */
bool cli_has_command(void);

#endif
