/* What the messages of a command (cli_error, cli_warn ...) go by. */
#ifndef CLI_MESSAGES_H
#define CLI_MESSAGES_H

#include <stdbool.h>

/* quiet: warnings are not printed. */
void messages_begin(bool quiet, bool strict);
/* Before a context is opened; and the error that its log told when that failed, or "". */
void messages_begin_opening(bool quiet);
const char *messages_of_opening(void);

#endif
