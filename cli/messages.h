/* Settings of a command's messages (cli_error, cli_warn ...). */
#ifndef CLI_MESSAGES_H
#define CLI_MESSAGES_H

#include <stdbool.h>

/* quiet: do not print warnings. strict: result of cli_is_strict. */
void messages_begin(bool quiet, bool strict);
/* messages_begin_opening: call it before a context is opened. messages_of_opening: the error that
 * was logged if that failed, or "". */
void messages_begin_opening(bool quiet);
const char *messages_of_opening(void);

#endif
