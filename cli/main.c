/* The main function of each program with commands (program.c, bench/bench_program.c): finds the
 * command and the options that all commands share, runs it, and ends with its exit code. */
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "files.h"
#include "messages.h"
#include "other_names.h"
#include "ranks.h"
#include "report/fields.h"
#include "report/json_page.h"
#include "running.h"
#include "standard_files.h"
#include "system.h"

enum { MAX_COMMANDS = 32 };

static void print_commands(FILE *out)
{
    opt_print_help(cli_commands.options, out);
    fputs("\nCommands:\n", out);
    for (const cli_command *const *c = cli_commands.commands; *c; c++)
        fprintf(out, "  %-10s %s\n", (*c)->options.name, (*c)->options.summary);
}

/* Returns the command of that name. If there is none, prints an error that may suggest one. */
static const cli_command *find_command(const char *name)
{
    const cli_command *nearest = NULL;
    uint32_t nearest_distance = 3; /* larger distances are no help */
    for (const cli_command *const *c = cli_commands.commands; *c; c++) {
        uint32_t distance = opt_distance(name, (*c)->options.name);
        if (distance == 0 || strcasecmp(name, (*c)->options.name) == 0)
            return *c;
        if (distance < nearest_distance) {
            nearest_distance = distance;
            nearest = *c;
        }
    }
    const cli_moved *moved = cli_commands.moved;
    char text[1024];
    while (moved && moved->names && !other_name_is_among(moved->names, name))
        moved++;
    if (cli_commands.explain_file && cli_commands.explain_file(name, text, sizeof text))
        cli_usage("%s is %s", name, text);
    else if (moved && moved->names)
        cli_usage("%s is %s", name, moved->what);
    else if (nearest)
        cli_usage("unknown command \"%s\"; did you mean %s?", name, nearest->options.name);
    else if (strpbrk(name, "./\\"))
        cli_usage("%s is neither a command nor a file that is there", name);
    else
        cli_usage("unknown command \"%s\"; '%s --help' lists them", name, cli_this_program.name);
    return NULL;
}

/* Whether --json is given; also for an invalid command line. */
static bool asks_json(int argc, char **argv)
{
    bool asks = false;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        asks |= strcmp(argv[i], "--json") == 0;
    return asks;
}

static int run_on_context(const cli_command *command, const void *args, char **operands,
                          uint32_t operand_count)
{
    cli_work work = {0};
    int code = command->prepare ? command->prepare(args, operands, operand_count, &work) : CLI_OK;
    if (code != CLI_OK)
        return code;
    tml_context *tml = cli_open(args, &work);
    if (!tml)
        return CLI_FAILED;
    code = command->run_on(tml, args, operands);
    cli_close(tml);
    return code;
}

static int run_command(const cli_command *command, int argc, char **argv)
{
    uint32_t operand_count;
    const char *name = command->options.name;
    cli_begin_command(name);
    fields_begin(asks_json(argc, argv) ? FIELDS_JSON : FIELDS_NONE, name);
    if (ranks_count() > 1 && !command->takes_ranks)
        return cli_usage("is work for one process, %" PRIu32 " were started; use '%s %s'",
                         ranks_count(), cli_this_program.name, command->options.name);
    system_file file;
    if (argc == 2 && strcmp(argv[1], "help") == 0 && !system_examine(argv[1], &file)) {
        opt_print_help(&command->options, stdout);
        return CLI_OK;
    }
    void *args = calloc(1, command->args_size);
    if (!args)
        return cli_error("out of memory");
    opt_outcome outcome = opt_parse(&command->options, argc, argv, args, &operand_count);
    int code = outcome == OPT_REFUSED ? CLI_USAGE : CLI_OK;
    const cli_common *common = args;
    messages_begin(common->quiet, common->strict);
    fields_begin(common->json ? FIELDS_JSON : common->quiet ? FIELDS_NONE : FIELDS_TEXT, name);
    if (outcome == OPT_RUN)
        code = standard_files_begin(&command->options, args, argv + 1, operand_count);
    if (outcome == OPT_RUN && code == CLI_OK)
        code = files_check(&command->options, args, argv + 1, operand_count);
    if (outcome == OPT_RUN && code == CLI_OK)
        code = command->run ? command->run(args, argv + 1, operand_count)
                            : run_on_context(command, args, argv + 1, operand_count);
    code = standard_files_end(code);
    free(args);
    return code;
}

static int run_program(const opt_command *const *tables, int argc, char **argv)
{
    const opt_command *program = cli_commands.options;
    cli_program_args args = {0};
    uint32_t operand_count;

    opt_outcome outcome = opt_parse(program, argc, argv, &args, &operand_count);
    if (outcome == OPT_REFUSED)
        return CLI_USAGE;
    if (args.version)
        printf("%s %d.%d.%d\n", cli_this_program.name, TML_VERSION_MAJOR, TML_VERSION_MINOR,
               TML_VERSION_PATCH);
    if (operand_count && !args.man)
        return cli_usage("unexpected argument \"%s\"", argv[1]);
    const cli_command *command = operand_count ? find_command(argv[1]) : NULL;
    if (operand_count && !command)
        return CLI_USAGE;
    if (args.man)
        opt_print_man(program, tables, command ? &command->options : NULL, stdout);
    if (args.json_fields)
        json_page_print(stdout);
    if (args.completion)
        opt_print_completion(program, tables, args.completion, stdout);
    return CLI_OK;
}

static bool asks_help(const char *text)
{
    return strcmp(text, "help") == 0 || strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0;
}

int main(int argc, char **argv)
{
    system_begin(argc, argv);
    ranks_begin(&argc, &argv);
    fields_begin(asks_json(argc, argv) ? FIELDS_JSON : FIELDS_NONE, NULL);
    setlocale(LC_CTYPE, ""); /* for UTF-8 in the terminal; numbers stay in the C locale */
    const opt_command *tables[MAX_COMMANDS + 1] = {0};
    for (size_t i = 0; i < MAX_COMMANDS && cli_commands.commands[i]; i++)
        tables[i] = &cli_commands.commands[i]->options;
    opt_know_commands(tables);
    int code;
    if (argc < 2) {
        if (ranks_mine() == 0) {
            print_commands(stderr);
            fprintf(stderr, "\n%s: give a command, such as '%s %s --help'\n", cli_this_program.name,
                    cli_this_program.name, cli_commands.commands[0]->options.name);
        }
        code = CLI_USAGE;
    } else if (asks_help(argv[1]) && argc > 2) {
        const cli_command *command = find_command(argv[2]);
        if (command)
            (strcmp(argv[1], "-h") ? opt_print_help : opt_print_short_help)(&command->options,
                                                                            stdout);
        code = command ? CLI_OK : CLI_USAGE;
    } else if (asks_help(argv[1])) {
        print_commands(stdout);
        code = CLI_OK;
    } else if (argv[1][0] == '-') {
        code = run_program(tables, argc, argv);
    } else {
        const cli_command *command = find_command(argv[1]);
        code = command ? run_command(command, argc - 1, argv + 1) : CLI_USAGE;
    }
    /* A full disk or a closed pipe shows only here; an earlier error is remembered. */
    bool is_written = fflush(stdout) == 0 && !ferror(stdout);
    if (!is_written && code == CLI_OK)
        code = cli_error("cannot write the output: is the disk full?");
    code = ranks_end(code);
    fields_end(code, running_failure());
    is_written = fflush(stdout) == 0 && !ferror(stdout);
    return is_written || code != CLI_OK ? code : CLI_FAILED;
}
