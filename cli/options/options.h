/* Command lines from tables. One table describes a command's options. Parsing, defaults, --help,
 * the man page and the shells' completions all come from that table, so nothing is described twice.
 *
 * Long options may be shortened to a unique prefix, and take their value as "--iso 5" or "--iso=5".
 * Short options take it as "-o x" or "-ox", and short flags may be clustered. Options and operands
 * may be mixed; "--" ends the options. A number must be a whole word: "12abc" is refused. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The kind of an option's value, and the type of the member that receives it. */
typedef enum opt_kind {
    OPT_END = 0,
    OPT_SECTION, /* not an option: help is the heading of the options that follow */
    OPT_FLAG,    /* bool */
    OPT_TEXT,    /* const char *; one of choices, if there are any */
    OPT_INPUT,   /* const char *: a file that is read */
    OPT_OUTPUT,  /* const char *: a file that is written; endings lists its name's endings */
    OPT_NUMBER,  /* double */
    OPT_COUNT,   /* uint64_t */
    OPT_BYTES,   /* uint64_t; K, M, G, T are powers of 1024 */
    OPT_CHOICE,  /* uint32_t: position in choices */
    OPT_NUMBERS, /* opt_numbers: comma-separated */
    OPT_CUSTOM,  /* what parse makes of it */
    OPT_HELP,    /* prints help and ends, short help for its letter; receives nothing */
} opt_kind;

enum { OPT_MAX_NUMBERS = 64 };

typedef struct opt_numbers {
    double values[OPT_MAX_NUMBERS];
    uint32_t count;
} opt_numbers;

/* Parses text into member. On failure, returns what was expected: "three numbers such as
 * 1,1,2.5". */
typedef const char *(*opt_parse_fn)(const char *text, void *member);

/* For an output whose value is not its file's name: writes the name of file `number` to out.
 * Returns false if there are no more files. */
typedef bool (*opt_names_fn)(const void *args, char **operands, uint32_t number, char *out,
                             size_t size);

typedef struct opt {
    opt_kind kind;
    const char *name;     /* long name, without dashes */
    char letter;          /* short name, or 0 */
    const char *argument; /* the value's name in help: "V[,V2...]"; NULL for flags */
    const char *help;     /* lower case, no full stop; the default and range are added to it */
    size_t offset;        /* of the member in the command's argument struct */
    const char *fallback; /* default, in the command line's own notation; NULL: zero */
    const char *choices;  /* OPT_CHOICE: "none|forward|central" */
    double least, most;   /* numbers and counts: accepted range, when least < most */
    uint32_t count_least, count_most; /* OPT_NUMBERS: how many; 0: 1 to OPT_MAX_NUMBERS */
    opt_parse_fn parse;               /* OPT_CUSTOM */
    /* ".ply .stl"; NULL: any. OPT_OUTPUT: the accepted endings; OPT_INPUT: the endings that shells
     * offer, since an input's format is determined by its content. */
    const char *endings;
    opt_names_fn names; /* OPT_OUTPUT; NULL: the value is the name */
    /* the line in the short help; "": the help up to its ";"; NULL: not in the short help */
    const char *brief;

    /* Giving an option where it does not apply is a usage error. A section's conditions apply to
     * those of its options that have none of their own.
     *
     * needs: "png", "edge|pixels" (one of them), "output tone=agx" (both). A term may have a value,
     * which may be a pattern ("output=*.png"); the option's default then counts, too.
     * excludes: the same terms, none of which may hold; the other option need not repeat it.
     * Terms about options that the command lacks are ignored. */
    const char *needs, *excludes;
    uint32_t applies; /* opt_input_kind bits; 0: whatever the input is */
    uint32_t group;   /* opt_group bits, of shared options */
} opt;

/* The kinds of inputs, for opt_check_input. */
typedef enum opt_input_kind {
    OPT_VOLUME = 1 << 0,
    OPT_RAW = 1 << 1, /* of volumes, those without a header */
    OPT_POINTS = 1 << 2,
    OPT_MESH = 1 << 3,
    OPT_INDEX = 1 << 4,
    OPT_INTEGERS = 1 << 5, /* pictures */
    OPT_FLOATS = 1 << 6,
    OPT_SEQUENCE = 1 << 7,
    OPT_SINGLE = 1 << 8,
} opt_input_kind;
enum {
    OPT_PICTURE = OPT_INTEGERS | OPT_FLOATS,
    OPT_CONTENTS = OPT_VOLUME | OPT_RAW | OPT_POINTS | OPT_MESH | OPT_INDEX | OPT_PICTURE,
    OPT_NUMBER_OF = OPT_SEQUENCE | OPT_SINGLE,
};

/* Shared options that a command may be without. */
typedef enum opt_group { OPT_ENGINE = 1, OPT_MEMORY = 2, OPT_QUIET = 4, OPT_JSON = 8 } opt_group;

/* One command: everything that help and parsing need. */
typedef struct opt_command {
    const char
        *name; /* "surface"; NULL for the program itself, which also accepts a command's name */
    const char *operands; /* "IN", "A [B]", "[FILE...]", or "": how many it takes, by that */
    const char *summary;  /* one line, starts with a capital, no full stop */
    const char *about;    /* paragraphs, separated by an empty line; may be NULL */
    const char *examples; /* lines "command\n  what it does" ... ; may be NULL */
    const opt *options;   /* ends with {0}; those of cli_shared_options follow */
    const char *needs;    /* as an option's: what must be given */
    uint32_t without;     /* opt_group bits: shared options that it has not */
    const char *endings;  /* of its operands, as for an OPT_INPUT */
} opt_command;

typedef enum opt_outcome { OPT_RUN, OPT_HELPED, OPT_REFUSED } opt_outcome;

/* Registers the program's commands, NULL at the end; the list must outlive all parsing. A message
 * about an unknown option names the command that has it. */
void opt_know_commands(const opt_command *const *commands);

/* Fills args from argv[1 ...] and defaults. Moves the operands, operand_count of them, to the front
 * of argv[1 ...]. OPT_REFUSED: a message with a remedy was printed to stderr. */
opt_outcome opt_parse(const opt_command *command, int argc, char **argv, void *args,
                      uint32_t *operand_count);

/* Refuses options that were given but do not apply to this input. is: the input's kinds; among:
 * only options that apply to some of these kinds are checked. path: the input's; NULL: the check
 * does not concern its content. Prints the reason and returns an exit code. */
int opt_check_input(uint32_t among, uint32_t is, const char *path);

/* Is the option of that long name given on the latest command line? */
bool opt_is_given(const char *name);

/* Print the table: as text for a terminal, in full, or only its basic options, one line each; as a
 * man page, of the program (command NULL) or of one command; and as completions for a shell
 * ("bash", "zsh", "fish"). */
void opt_print_help(const opt_command *command, FILE *out);
void opt_print_short_help(const opt_command *command, FILE *out);
void opt_print_man(const opt_command *program, const opt_command *const *commands,
                   const opt_command *command, FILE *out);
void opt_print_completion(const opt_command *program, const opt_command *const *commands,
                          const char *shell, FILE *out);

/* Parses text as a number. Returns false if it is anything else; nan and infinities are refused. */
bool opt_number(const char *text, double *out);
bool opt_count(const char *text, uint64_t *out);
/* Splits text at commas (or another separator) into at most capacity numbers. Returns how many
 * there are; 0 if any is invalid. */
uint32_t opt_numbers_split(const char *text, char separator, double *out, uint32_t capacity);
/* Parses "0:64,10:,:": count ranges, from the first number up to, but not including, the last. A
 * missing first is 0, a missing last UINT64_MAX. */
bool opt_ranges(const char *text, uint32_t count, uint64_t *first, uint64_t *last);
/* How many single-letter edits turn one word into the other. */
uint32_t opt_distance(const char *a, const char *b);

/* ---- shared by options.c and options_pages.c ------------------------------------------------- */

enum { OPT_MAX_OPTIONS = 96, OPT_TEXT_SIZE = 1024 };

/* Writes the command's own options, then the shared ones, including sections, to list
 * (OPT_MAX_OPTIONS pointers). Returns how many. */
uint32_t opt_list(const opt_command *command, const opt **list);
bool opt_takes_value(const opt *option);
bool opt_is_file(const opt *option);
/* The value's name in help: argument, or the choices. */
const char *opt_value_name(const opt *option);
/* Writes help, followed by conditions, range and default, to text (OPT_TEXT_SIZE bytes). */
void opt_describe(const opt_command *command, const opt *option, char *text);
/* Appends the conditions. `open` precedes the first condition, "; " each further one. Returns what
 * must precede the next text. */
const char *opt_describe_rules(const opt_command *command, const opt *option, char *text,
                               const char *open);
/* Conditions are checked after the whole command line has been noted: begin, note each option,
 * check. opt_check_line prints the reason of a refusal, and returns an exit code. */
void opt_begin_line(const opt_command *command);
void opt_note(const opt *option, const char *value);
int opt_check_line(const opt_command *command);

#endif
