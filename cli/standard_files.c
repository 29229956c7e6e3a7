/* Standard input and output in place of files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "ranks.h"
#include "report/fields.h"
#include "standard_files.h"
#include "standard_names.h"
#include "system.h"

static char folder[STANDARD_PATH]; /* of spooled output; empty: stdout is for the summary */

bool standard_is_output(const char *value)
{
    return value[0] == '-' && (value[1] == '\0' || (value[1] == '.' && !strchr(value, '/')));
}

/* ---- input ----------------------------------------------------------------------------------- */

static int take_input(const char **value)
{
    if (standard_paths.input[0])
        return cli_usage("\"-\" is named twice; standard input can be read once");
    if (isatty(STDIN_FILENO))
        return cli_usage("\"-\" is standard input, which is a terminal; pipe a file into it");
    if (!system_name_input(standard_paths.input, sizeof standard_paths.input)) {
        standard_paths.input[0] = '\0';
        return cli_error("standard input cannot be spooled in %s: %s; set TMPDIR to a folder "
                         "with room for it",
                         system_temporary_folder(), strerror(errno));
    }
    *value = standard_paths.input;
    return CLI_OK;
}

/* ---- output ---------------------------------------------------------------------------------- */

static int take_output(const opt *option, const char **value)
{
    char ending[64]; /* as given, or the option's first */
    const char *all = option->endings ? option->endings : "";
    snprintf(ending, sizeof ending, "%.*s", (*value)[1] ? 60 : (int)strcspn(all, " "),
             (*value)[1] ? *value + 1 : all);
    if (standard_paths.output[0])
        return cli_usage("two outputs are standard output; name a file for one");
    if (isatty(STDOUT_FILENO))
        return cli_usage("--%s: \"%s\" is standard output, which is a terminal; redirect it",
                         option->name, *value);
    if (!system_make_temporary(folder, sizeof folder - 64)) {
        folder[0] = '\0';
        return cli_error("standard output cannot be spooled in %s: %s; set TMPDIR to a folder "
                         "with room for it",
                         system_temporary_folder(), strerror(errno));
    }
    snprintf(standard_paths.output, sizeof standard_paths.output, "%.400s/out%.64s", folder,
             ending);
    if (!system_keep_output())
        return cli_error("standard output cannot be kept: %s", strerror(errno));
    *value = standard_paths.output;
    return CLI_OK;
}

/* ---- both ------------------------------------------------------------------------------------ */

static int take_option(const opt *option, void *args)
{
    const char **value = (const char **)(void *)((char *)args + option->offset);
    if (!*value)
        return CLI_OK;
    if (option->kind == OPT_INPUT && strcmp(*value, "-") == 0)
        return take_input(value);
    if (option->kind == OPT_OUTPUT && standard_is_output(*value))
        return option->names ? cli_usage("--%s: makes several files; \"-\" is one", option->name)
                             : take_output(option, value);
    return CLI_OK;
}

int standard_files_begin(const opt_command *command, void *args, char **operands,
                         uint32_t operand_count)
{
    const opt *options[OPT_MAX_OPTIONS];
    uint32_t count = opt_list(command, options);
    int code = CLI_OK;
    for (uint32_t i = 0; i < operand_count && code == CLI_OK; i++)
        if (strcmp(operands[i], "-") == 0) {
            const char *path = operands[i];
            code = take_input(&path);
            operands[i] = code == CLI_OK ? standard_paths.input : operands[i];
        }
    for (uint32_t i = 0; i < count && code == CLI_OK; i++)
        if (opt_is_file(options[i]))
            code = take_option(options[i], args);
    if (code == CLI_OK && (standard_paths.input[0] || standard_paths.output[0]) &&
        ranks_count() > 1)
        code = cli_usage("\"-\" is for one process; name files for several");
    return code;
}

int standard_files_end(int code)
{
    if (standard_paths.output[0]) {
        fflush(stdout);
        bool is_good = code != CLI_OK || system_write_output(standard_paths.output);
        int error = errno;
        if (!is_good && fields_are_text()) /* ends the summary's last line */
            fprintf(stderr, "\n");
        if (!is_good)
            code = cli_error("standard output cannot be written: %s", strerror(error));
    }
    if (folder[0])
        system_remove_folder(folder);
    return code;
}
