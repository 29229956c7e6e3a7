/* The option tables as man pages (man(7) macros) and as completions for bash, zsh and fish. */
#include <ctype.h>
#include <string.h>

#include "cli.h"

/* ---- man page -------------------------------------------------------------------------------- */

/* Escapes characters that roff would interpret. A dash becomes one that can be copied into a
 * shell. */
static void print_roff(FILE *out, const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '-')
            fputs("\\-", out);
        else if (*text == '\\')
            fputs("\\e", out);
        else
            fputc(*text, out);
        line_start = *text == '\n';
    }
}

/* Paragraphs: an empty line becomes a paragraph macro. */
static void print_paragraphs(FILE *out, const char *text)
{
    while (*text) {
        char line[2 * OPT_TEXT_SIZE];
        size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        print_roff(out, line);
        fputc('\n', out);
        text += length;
        if (strncmp(text, "\n\n", 2) == 0)
            fputs(".PP\n", out);
        text += strspn(text, "\n");
    }
}

static void print_man_option(FILE *out, const opt_command *command, const opt *option)
{
    char text[OPT_TEXT_SIZE];
    fputs(".TP\n", out);
    if (option->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", out);
    print_roff(out, option->name);
    fputs("\\fR", out);
    if (opt_takes_value(option)) {
        fputs(" \\fI", out);
        print_roff(out, opt_value_name(option));
        fputs("\\fR", out);
    }
    fputc('\n', out);
    opt_describe(command, option, text);
    print_roff(out, text);
    fputc('\n', out);
}

static void print_man_options(FILE *out, const opt_command *command)
{
    const opt *list[OPT_MAX_OPTIONS];
    uint32_t count = opt_list(command, list);
    for (uint32_t i = 0; i < count; i++) {
        char heading[OPT_TEXT_SIZE];
        if (list[i]->kind == OPT_SECTION) {
            opt_describe(command, list[i], heading);
            fputs(".SS ", out);
            print_roff(out, heading);
            fputc('\n', out);
        } else {
            print_man_option(out, command, list[i]);
        }
    }
}

/* The parts in which the program's page differs from a command's: the heading and the synopsis. */
static void print_man_head(FILE *out, const char *upper, const char *name, const char *summary,
                           const char *words)
{
    fprintf(out, ".TH %s 1 \"\" \"" CLI_PROGRAM " %d.%d.%d\" \"User Commands\"\n.SH NAME\n", upper,
            TML_VERSION_MAJOR, TML_VERSION_MINOR, TML_VERSION_PATCH);
    print_roff(out, name);
    fputs(" \\- ", out);
    print_roff(out, summary);
    fprintf(out, "\n.SH SYNOPSIS\n.B %s\n", words);
}

static void print_man_program(FILE *out, const opt_command *program,
                              const opt_command *const *commands)
{
    print_man_head(out, "TROMMEL", CLI_PROGRAM, program->summary, CLI_PROGRAM);
    fputs("\\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIOPERAND\\fR...]\n.SH DESCRIPTION\n", out);
    print_paragraphs(out, program->about);
    for (size_t i = 0; commands[i]; i++) {
        fprintf(out, ".TP\n.BR " CLI_PROGRAM "\\-%s (1)\n", commands[i]->name);
        print_roff(out, commands[i]->summary);
        fputs(".\n", out);
    }
    fputs(".SH OPTIONS\n", out);
    print_man_options(out, program);
}

static void print_man_command(FILE *out, const opt_command *command)
{
    char name[64], upper[64], words[64];
    snprintf(name, sizeof name, CLI_PROGRAM "-%s", command->name);
    snprintf(words, sizeof words, CLI_PROGRAM " %s", command->name);
    for (size_t i = 0; i == 0 || upper[i - 1]; i++)
        upper[i] = (char)toupper((unsigned char)name[i]);
    print_man_head(out, upper, name, command->summary, words);
    fputs("[\\fIOPTION\\fR...]\n.I \"", out);
    print_roff(out, command->operands);
    fputs("\"\n.SH DESCRIPTION\n", out);
    print_paragraphs(out, command->about ? command->about : command->summary);
    fputs(".SH OPTIONS\n", out);
    print_man_options(out, command);
    if (command->examples) {
        fputs(".SH EXAMPLES\n.nf\n", out);
        print_roff(out, command->examples);
        fputs(".fi\n", out);
    }
}

void opt_print_man(const opt_command *program, const opt_command *const *commands,
                   const opt_command *command, FILE *out)
{
    if (command)
        print_man_command(out, command);
    else
        print_man_program(out, program, commands);
    fputs(".SH EXIT STATUS\n.TP\n.B 0\nDone.\n.TP\n.B 1\nIt failed; a message says why.\n.TP\n"
          ".B 2\nThe command line is wrong.\n.TP\n.B 3\nDone, and what \\-\\-fail\\-if names was "
          "found.\n.TP\n.B 130\nCancelled by Ctrl\\-C.\n.SH SEE ALSO\n",
          out);
    const char *separator = ""; /* between references */
    if (command) {
        fputs(".BR " CLI_PROGRAM " (1)", out);
        separator = ",\n";
    }
    for (size_t i = 0; commands[i]; i++) {
        if (commands[i] == command)
            continue;
        fprintf(out, "%s.BR " CLI_PROGRAM "\\-%s (1)", separator, commands[i]->name);
        separator = ",\n";
    }
    fputc('\n', out);
}

/* ---- completions ----------------------------------------------------------------------------- */

/* Prints begin, the endings with `between` between each two, and end; nothing if there are no
 * endings. */
static void print_endings(FILE *out, const char *endings, const char *begin, const char *between,
                          const char *end)
{
    if (!endings)
        return;
    fputs(begin, out);
    for (const char *at = endings; *at; at++)
        fputs(*at == ' ' ? between : (const char[]){*at, '\0'}, out);
    fputs(end, out);
}

/* "a|b|c" as "a b c". */
static void print_choices(FILE *out, const char *choices)
{
    for (; *choices; choices++)
        fputc(*choices == '|' ? ' ' : *choices, out);
}

/* The completions that a shell may offer for the option's value: choices, files, or none. */
static void print_bash_value(FILE *out, const opt_command *command, const opt *option)
{
    if (!opt_takes_value(option))
        return;
    fprintf(out, "        %s:--%s", command->name ? command->name : "*", option->name);
    if (option->letter)
        fprintf(out, "|%s:-%c", command->name ? command->name : "*", option->letter);
    if (option->choices) {
        fputs(") COMPREPLY=($(compgen -W '", out);
        print_choices(out, option->choices);
        fputs("' -- \"$word\")); return ;;\n", out);
    } else if (opt_is_file(option)) {
        fputs(") _" CLI_PROGRAM "_files", out);
        print_endings(out, option->endings, " ", " ", "");
        fputs("; return ;;\n", out);
    } else {
        fputs(") return ;;\n", out);
    }
}

static void print_bash_words(FILE *out, const opt_command *command)
{
    const opt *list[OPT_MAX_OPTIONS];
    uint32_t count = opt_list(command, list);
    for (uint32_t i = 0; i < count; i++)
        if (list[i]->kind != OPT_SECTION)
            fprintf(out, " --%s", list[i]->name);
}

static void print_bash(const opt_command *program, const opt_command *const *commands, FILE *out)
{
    const opt *list[OPT_MAX_OPTIONS];
    fputs("# bash completion for " CLI_PROGRAM ", made by: " CLI_PROGRAM " --completion bash\n"
          "# Folders and the files of these endings; all files where there are none.\n"
          "_" CLI_PROGRAM "_files() {\n"
          "    local ending IFS=$'\\n'\n"
          "    COMPREPLY=()\n"
          "    for ending; do\n"
          "        COMPREPLY+=($(compgen -f -X \"!*$ending\" -- \"$word\")"
          " $(compgen -f -X \"!*${ending^^}\" -- \"$word\"))\n"
          "    done\n"
          "    ((${#COMPREPLY[@]})) && COMPREPLY+=($(compgen -d -- \"$word\"))\n"
          "    ((${#COMPREPLY[@]})) || COMPREPLY=($(compgen -f -- \"$word\"))\n"
          "}\n"
          "_" CLI_PROGRAM "() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command=${COMP_WORDS[1]} options= endings=\n"
          "    compopt -o filenames 2>/dev/null\n"
          "    case $command:$before in\n",
          out);
    for (size_t c = 0; commands[c]; c++) {
        uint32_t count = opt_list(commands[c], list);
        for (uint32_t i = 0; i < count; i++)
            print_bash_value(out, commands[c], list[i]);
    }
    for (const opt *option = program->options; option->kind != OPT_END; option++)
        print_bash_value(out, program, option);
    fputs("    esac\n    case $command in\n", out);
    for (size_t c = 0; commands[c]; c++) {
        fprintf(out, "        %s) endings='", commands[c]->name);
        print_endings(out, commands[c]->endings, "", " ", "");
        fputs("' options='", out);
        print_bash_words(out, commands[c]);
        fputs("' ;;\n", out);
    }
    fputs("    esac\n    if ((COMP_CWORD == 1)); then\n        COMPREPLY=($(compgen -W 'help", out);
    for (size_t c = 0; commands[c]; c++)
        fprintf(out, " %s", commands[c]->name);
    print_bash_words(out, program);
    fputs("' -- \"$word\"))\n"
          "    elif [[ $word == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
          "    else\n"
          "        _" CLI_PROGRAM "_files $endings\n"
          "    fi\n"
          "}\n"
          "complete -F _" CLI_PROGRAM " " CLI_PROGRAM "\n",
          out);
}

/* Writes text inside single quotes. special: characters that also require a backslash. */
static void print_quoted(FILE *out, const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr(special, *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

static void print_zsh_files(FILE *out, const char *endings)
{
    fputs("_files", out);
    print_endings(out, endings, " -g \"(#i)*(", "|", ")\"");
}

static void print_zsh_option(FILE *out, const opt *option)
{
    if (option->kind == OPT_SECTION)
        return;
    for (int is_long = option->letter ? 0 : 1; is_long < 2; is_long++) {
        fputs(" \\\n        '", out);
        if (is_long)
            fprintf(out, "--%s%s[", option->name, opt_takes_value(option) ? "=" : "");
        else
            fprintf(out, "-%c%s[", option->letter, opt_takes_value(option) ? "+" : "");
        print_quoted(out, option->help, "[]\\:");
        fputc(']', out);
        if (opt_takes_value(option)) {
            fprintf(out, ":%s:", option->name);
            if (option->choices) {
                fputc('(', out);
                print_choices(out, option->choices);
                fputc(')', out);
            } else if (opt_is_file(option)) {
                print_zsh_files(out, option->endings);
            }
        }
        fputc('\'', out);
    }
}

static void print_zsh(const opt_command *program, const opt_command *const *commands, FILE *out)
{
    fputs("#compdef " CLI_PROGRAM "\n# made by: " CLI_PROGRAM " --completion zsh\n"
          "local -a commands=(\n",
          out);
    for (size_t c = 0; commands[c]; c++) {
        fprintf(out, "    '%s:", commands[c]->name);
        print_quoted(out, commands[c]->summary, "\\:");
        fputs("'\n", out);
    }
    fputs(")\nif ((CURRENT == 2)); then\n    _describe command commands\n    _arguments", out);
    for (const opt *option = program->options; option->kind != OPT_END; option++)
        print_zsh_option(out, option);
    fputs("\n    return\nfi\nshift words\n((CURRENT--))\ncase $words[1] in\n", out);
    for (size_t c = 0; commands[c]; c++) {
        const opt *list[OPT_MAX_OPTIONS];
        uint32_t count = opt_list(commands[c], list);
        fprintf(out, "%s)\n    _arguments -S", commands[c]->name);
        for (uint32_t i = 0; i < count; i++)
            print_zsh_option(out, list[i]);
        fputs(" \\\n        '*:file:", out);
        print_zsh_files(out, commands[c]->endings);
        fputs("' ;;\n", out);
    }
    fputs("esac\n", out);
}

static void print_fish_files(FILE *out, const char *endings)
{
    print_endings(out, endings, " -k -x -a '(__" CLI_PROGRAM "_files ", " ", ")'");
}

static void print_fish_option(FILE *out, const opt *option, const char *condition)
{
    if (option->kind == OPT_SECTION)
        return;
    fprintf(out, "complete -c " CLI_PROGRAM " -n '%s' -l %s", condition, option->name);
    if (option->letter)
        fprintf(out, " -s %c", option->letter);
    if (option->choices) {
        fputs(" -x -a '", out);
        print_choices(out, option->choices);
        fputc('\'', out);
    } else if (opt_takes_value(option)) {
        print_fish_files(out, option->endings);
        if (!option->endings)
            fputs(opt_is_file(option) ? " -r -F" : " -x", out);
    }
    fputs(" -d '", out);
    print_quoted(out, option->help, "\\");
    fputs("'\n", out);
}

static void print_fish(const opt_command *program, const opt_command *const *commands, FILE *out)
{
    fputs(
        "# fish completion for " CLI_PROGRAM ", made by: " CLI_PROGRAM " --completion fish\n"
        "# Files of these endings first, then folders, then the others.\n"
        "function __" CLI_PROGRAM "_files\n"
        "    set -l files (complete -C \"__fish_command_without_completions \"(commandline -ct))\n"
        "    set -l endings (string join \"|\" (string escape --style=regex -- $argv))\n"
        "    string match -ri -- \"^.*(?:$endings)\\$\" $files\n"
        "    string match -r -- \"^.*/\\$\" $files\n"
        "    string join -- \\n $files\n"
        "end\n",
        out);
    for (const opt *option = program->options; option->kind != OPT_END; option++)
        print_fish_option(out, option, "__fish_use_subcommand");
    for (size_t c = 0; commands[c]; c++) {
        const opt *list[OPT_MAX_OPTIONS];
        uint32_t count = opt_list(commands[c], list);
        char condition[96];
        fprintf(out, "complete -c " CLI_PROGRAM " -n __fish_use_subcommand -f -a %s -d '",
                commands[c]->name);
        print_quoted(out, commands[c]->summary, "\\");
        fputs("'\n", out);
        snprintf(condition, sizeof condition, "__fish_seen_subcommand_from %s", commands[c]->name);
        if (commands[c]->endings) {
            fprintf(out, "complete -c " CLI_PROGRAM " -n '%s'", condition);
            print_fish_files(out, commands[c]->endings);
            fputs("\n", out);
        }
        for (uint32_t i = 0; i < count; i++)
            print_fish_option(out, list[i], condition);
    }
}

void opt_print_completion(const opt_command *program, const opt_command *const *commands,
                          const char *shell, FILE *out)
{
    if (strcmp(shell, "zsh") == 0)
        print_zsh(program, commands, out);
    else if (strcmp(shell, "fish") == 0)
        print_fish(program, commands, out);
    else
        print_bash(program, commands, out);
}
