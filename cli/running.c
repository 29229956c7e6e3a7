/* The running command's name, its clock, and why it failed. */
#include "running.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "system.h"

static const char *running; /* the command's name; NULL: none yet */
static char failure[2048];  /* its first error message, for JSON */

const char *cli_name(void)
{
    return running ? running : cli_this_program.name;
}

void cli_begin_command(const char *name)
{
    running = name;
}

bool cli_has_command(void)
{
    return running;
}

void running_keep_failure(const char *message)
{
    if (!failure[0])
        snprintf(failure, sizeof failure, "%.*s", (int)strcspn(message, "\n"), message);
}

const char *running_failure(void)
{
    return failure;
}

double cli_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double cli_file_size(const char *path)
{
    system_file info;
    return system_examine(path, &info) ? (double)info.size : 0;
}
