/* Implementation of ranks.h for a single process. */
#include "ranks.h"

void ranks_begin(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
}

int ranks_end(int code)
{
    return code;
}

uint32_t ranks_count(void)
{
    return 1;
}

uint32_t ranks_mine(void)
{
    return 0;
}

uint32_t ranks_here(void)
{
    return 0;
}

uint32_t ranks_threads(uint32_t *fair)
{
    *fair = 0;
    return 0;
}

const tml_team *ranks_team(void)
{
    return NULL;
}

const tml_team *ranks_job(void)
{
    return NULL;
}

void ranks_apart(void)
{
}

bool ranks_keep_message(const char *message)
{
    (void)message;
    return false;
}

bool ranks_go_on(void)
{
    return true;
}

void ranks_interrupted(void)
{
}
