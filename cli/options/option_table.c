/* The rows of an option table. */
#include "cli.h"

uint32_t opt_list(const opt_command *command, const opt **list)
{
    uint32_t count = 0;
    const opt *tables[] = {command->options, command->name ? cli_shared_options : NULL};
    for (int t = 0; t < 2; t++)
        for (const opt *option = tables[t]; option && option->kind != OPT_END; option++)
            if (count < OPT_MAX_OPTIONS && !(option->group & command->without))
                list[count++] = option;
    return count;
}

bool opt_takes_value(const opt *option)
{
    return option->kind != OPT_FLAG && option->kind != OPT_HELP && option->kind != OPT_SECTION;
}

bool opt_is_file(const opt *option)
{
    return option->kind == OPT_INPUT || option->kind == OPT_OUTPUT;
}

const char *opt_value_name(const opt *option)
{
    return option->argument ? option->argument : option->choices;
}
