/* Command lines from tables: parsing, and help for a terminal. options_pages.c prints the same
 * tables as man pages and completions. The conventions are those of POSIX utility syntax and of
 * getopt_long. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"
#include "other_names.h"
#include "paths.h"
#include "system.h"

/* ---- numbers --------------------------------------------------------------------------------- */

bool opt_number(const char *text, double *out)
{
    char *end;
    if (isspace((unsigned char)text[0]))
        return false;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value))
        return false;
    *out = value;
    return true;
}

bool opt_count(const char *text, uint64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)text[0])) /* strtoull would take "-1" and make it huge */
        return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end != '\0' || errno == ERANGE)
        return false;
    *out = value;
    return true;
}

uint32_t opt_numbers_split(const char *text, char separator, double *out, uint32_t capacity)
{
    char word[64];
    for (uint32_t count = 0; count < capacity; text++) {
        const char *end = strchr(text, separator);
        size_t length = end ? (size_t)(end - text) : strlen(text);
        if (length >= sizeof word)
            return 0;
        memcpy(word, text, length);
        word[length] = '\0';
        if (!opt_number(word, &out[count++]))
            return 0;
        if (!end)
            return count;
        text = end;
    }
    return 0;
}

bool opt_ranges(const char *text, uint32_t count, uint64_t *first, uint64_t *last)
{
    for (uint32_t i = 0; i < count; i++) {
        char word[64];
        size_t length = strcspn(text, ",");
        if (length >= sizeof word || (text[length] == ',') != (i + 1 < count))
            return false;
        memcpy(word, text, length);
        word[length] = '\0';
        char *end = strchr(word, ':');
        if (!end)
            return false;
        *end++ = '\0';
        first[i] = 0;
        last[i] = UINT64_MAX;
        if ((*word && !opt_count(word, &first[i])) || (*end && !opt_count(end, &last[i])) ||
            last[i] <= first[i])
            return false;
        text += length + 1;
    }
    return true;
}

/* "512", "1.5G", "200MiB": bytes. */
static bool parse_bytes(const char *text, uint64_t *out)
{
    static const char units[] = "KMGT";
    char number[32];
    size_t length = strspn(text, "0123456789.");
    if (length == 0 || length >= sizeof number)
        return false;
    memcpy(number, text, length);
    number[length] = '\0';
    const char *unit = text + length;
    double scale = 1, value;
    const char *found = *unit ? strchr(units, toupper((unsigned char)*unit)) : NULL;
    if (found) {
        scale = ldexp(1, 10 * (int)(found - units + 1));
        unit++;
    }
    if (strcmp(unit, "") != 0 && strcmp(unit, "B") != 0 && strcmp(unit, "iB") != 0)
        return false;
    if (!opt_number(number, &value) || value * scale >= 0x1p63)
        return false;
    *out = (uint64_t)(value * scale);
    return true;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Appends "least to most", or "least or more", to a beginning. */
static int print_range(const opt *option, char *text, size_t size, const char *begin)
{
    if (isinf(option->most))
        return snprintf(text, size, "%s%.10g or more", begin, option->least);
    return snprintf(text, size, "%s%.10g to %.10g", begin, option->least, option->most);
}

void opt_describe(const opt_command *command, const opt *option, char *text)
{
    snprintf(text, OPT_TEXT_SIZE, "%s", option->help);
    const char *open = opt_describe_rules(command, option, text, " (");
    size_t used = strlen(text);
    if (option->least < option->most && used < OPT_TEXT_SIZE) {
        used += (size_t)print_range(option, text + used, OPT_TEXT_SIZE - used, open);
        open = "; ";
    }
    if (option->fallback && used < OPT_TEXT_SIZE) {
        used += (size_t)snprintf(text + used, OPT_TEXT_SIZE - used, "%sdefault: %s", open,
                                 option->fallback);
        open = "; ";
    }
    if (open[0] == ';' && used < OPT_TEXT_SIZE)
        snprintf(text + used, OPT_TEXT_SIZE - used, ")");
}

/* In any case, and with "_" for "-". */
static bool is_same_word(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (tolower((unsigned char)a[i]) != (b[i] == '_' ? '-' : tolower((unsigned char)b[i])))
            return false;
    return true;
}

/* Position in "none|forward|central" of the choice that is text, in any case, or that alone begins
 * with text; -1 if there is none. *start: receives the choice; may be NULL. */
static int find_choice(const char *choices, const char *text, const char **start)
{
    const size_t length = strlen(text);
    int found = -1, beginnings = 0;
    for (int i = 0;; i++) {
        const size_t width = strcspn(choices, "|");
        const bool begins = width >= length && length > 0 && is_same_word(choices, text, length);
        if (begins) {
            found = i;
            beginnings = width == length ? 1 : beginnings + 1;
            if (start)
                *start = choices;
        }
        if ((begins && width == length) || choices[width] == '\0')
            return beginnings == 1 && (width == length || length > 2) ? found : -1;
        choices += width + 1;
    }
}

/* ---- parsing --------------------------------------------------------------------------------- */

static bool is_in_range(const opt *option, double value)
{
    return option->least >= option->most || (value >= option->least && value <= option->most);
}

static bool parse_numbers(const opt *option, const char *text, opt_numbers *out)
{
    uint32_t most = option->count_most ? option->count_most : OPT_MAX_NUMBERS;
    char plain[OPT_TEXT_SIZE];
    size_t used = 0;
    for (; *text && used + 1 < sizeof plain; text++) /* "50%" of what goes to 100 */
        if (*text != '%' || option->most != 100 || used == 0)
            plain[used++] = *text;
    plain[used] = '\0';
    out->count = *text ? 0 : opt_numbers_split(plain, ',', out->values, most);
    for (uint32_t i = 0; i < out->count; i++)
        if (!is_in_range(option, out->values[i]))
            return false;
    return out->count >= 1 && out->count >= option->count_least;
}

/* Parses a number; "30%" if the option is a fraction, 0 to 1, or ends at 100. */
static bool parse_number(const opt *option, const char *text, double *out)
{
    char number[64];
    const size_t length = strlen(text);
    if (length < 2 || length > sizeof number || text[length - 1] != '%')
        return opt_number(text, out);
    snprintf(number, sizeof number, "%.*s", (int)length - 1, text);
    if ((option->most != 1 && option->most != 100) || !opt_number(number, out))
        return false;
    *out = option->most == 1 ? *out / 100 : *out;
    return true;
}

/* Stores text in the option's member. On failure, prints what was expected. */
static bool parse_value(const opt *option, const char *text, char *args, char *expected)
{
    void *member = args + option->offset;
    uint64_t count;
    double number;
    int choice;

    expected[0] = '\0';
    switch (option->kind) {
    case OPT_FLAG:
        *(bool *)member = true;
        return true;
    case OPT_TEXT:
    case OPT_INPUT:
    case OPT_OUTPUT:
        *(const char **)member = text;
        snprintf(expected, OPT_TEXT_SIZE, "%s", option->choices ? option->choices : "a text");
        return text[0] && (!option->choices || find_choice(option->choices, text, NULL) >= 0);
    case OPT_NUMBER:
        snprintf(expected, OPT_TEXT_SIZE, "a number such as 0.5 or 1e-3");
        if (!parse_number(option, text, &number) || !is_in_range(option, number))
            break;
        *(double *)member = number;
        return true;
    case OPT_COUNT:
        snprintf(expected, OPT_TEXT_SIZE, "a whole number such as 64");
        if (!opt_count(text, &count) || !is_in_range(option, (double)count))
            break;
        *(uint64_t *)member = count;
        return true;
    case OPT_BYTES:
        snprintf(expected, OPT_TEXT_SIZE, "a size such as 512M or 4G");
        return parse_bytes(text, member);
    case OPT_CHOICE:
        snprintf(expected, OPT_TEXT_SIZE, "%s", option->choices);
        choice = find_choice(option->choices, text, NULL);
        *(uint32_t *)member = choice < 0 ? 0 : (uint32_t)choice;
        return choice >= 0;
    case OPT_NUMBERS:
        snprintf(expected, OPT_TEXT_SIZE, "%s %s",
                 option->count_most == 1 ? "a number:" : "numbers separated by commas:",
                 option->argument);
        if (!parse_numbers(option, text, member))
            break;
        return true;
    case OPT_CUSTOM: {
        const char *wanted = option->parse(text, member);
        snprintf(expected, OPT_TEXT_SIZE, "%s", wanted ? wanted : "");
        return !wanted;
    }
    case OPT_END:
    case OPT_SECTION:
    case OPT_HELP:
        break;
    }
    if (option->least < option->most) {
        size_t used = strlen(expected);
        print_range(option, expected + used, OPT_TEXT_SIZE - used, ", ");
    }
    return false;
}

static bool is_option(const opt *option)
{
    return option->kind != OPT_SECTION;
}

uint32_t opt_distance(const char *a, const char *b)
{
    /* Levenshtein's distance, one row at a time. */
    enum { MOST = 63 };
    uint32_t row[MOST + 1];
    size_t width = strlen(b);
    if (width > MOST)
        return UINT32_MAX;
    for (size_t j = 0; j <= width; j++)
        row[j] = (uint32_t)j;
    for (size_t i = 0; a[i]; i++) {
        uint32_t diagonal = row[0];
        row[0] = (uint32_t)i + 1;
        for (size_t j = 1; j <= width; j++) {
            uint32_t change = diagonal + (a[i] != b[j - 1]);
            diagonal = row[j];
            uint32_t shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = change < shorter ? change : shorter;
        }
    }
    return row[width];
}

static const opt *find_name(const opt *const *list, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_option(list[i]) && strcasecmp(list[i]->name, name) == 0)
            return list[i];
    return NULL;
}

static const opt_command *const *known_commands; /* of the program; NULL at the end */

void opt_know_commands(const opt_command *const *commands)
{
    known_commands = commands;
}

/* The command, among all, that has this option as its own; NULL if there is none. */
static const opt_command *find_owner(const char *name)
{
    for (const opt_command *const *c = known_commands; c && *c; c++)
        for (const opt *option = (*c)->options; option && option->kind; option++)
            if (is_option(option) && strcmp(option->name, name) == 0)
                return *c;
    return NULL;
}

/* The option's name in this command; or if it has none, what to do instead (*note). */
static const opt *find_other_name(const opt *const *list, uint32_t count, const char *name,
                                  const char **note)
{
    const opt *found = NULL;
    const other_name *other = NULL;
    *note = NULL;
    while (!found && !*note && (other = other_name_find(other, name))) {
        found = other->name ? find_name(list, count, other->name) : NULL;
        *note = other->note;
    }
    return found;
}

static void refuse_unknown(const opt *const *list, uint32_t count, const char *name,
                           const opt *nearest)
{
    const char *note = NULL;
    const opt *other = find_name(list, count, name);
    other = other ? other : find_other_name(list, count, name, &note);
    const opt_command *owner = find_owner(name);
    if (other || (nearest && !owner && !note))
        cli_usage("unknown option --%s; did you mean --%s?", name, (other ? other : nearest)->name);
    else if (note)
        cli_usage("unknown option --%s; %s", name, note);
    else if (owner)
        cli_usage("unknown option --%s; it is one of '%s %s'", name, cli_this_program.name,
                  owner->name);
    else
        cli_usage("unknown option --%s", name);
}

/* The option whose long name equals the first length bytes of text, or alone begins with them. */
static const opt *find_long(const opt *const *list, uint32_t count, const char *text, size_t length)
{
    const opt *found = NULL, *second = NULL, *nearest = NULL;
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int)length, text);
    /* A more distant name does not help, and short names are close to each other. */
    uint32_t nearest_distance = length > 4 ? 3 : 2;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_option(list[i]))
            continue;
        if (strcmp(list[i]->name, name) == 0)
            return list[i];
        if (strncmp(list[i]->name, text, length) == 0) {
            second = found;
            found = list[i];
        }
        uint32_t distance = opt_distance(name, list[i]->name);
        if (distance < nearest_distance) {
            nearest_distance = distance;
            nearest = list[i];
        }
    }
    if (found && !second)
        return found;
    if (second)
        cli_usage("--%s may be --%s or --%s; write it out", name, second->name, found->name);
    else
        refuse_unknown(list, count, name, nearest);
    return NULL;
}

static const opt *find_letter(const opt *const *list, uint32_t count, char letter)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_option(list[i]) && list[i]->letter == letter)
            return list[i];
    const char name[2] = {letter, '\0'}, *note = NULL;
    const int other = isupper((unsigned char)letter) ? tolower((unsigned char)letter)
                                                     : toupper((unsigned char)letter);
    const opt *meant = NULL;
    for (uint32_t i = 0; i < count && !meant; i++)
        meant = is_option(list[i]) && list[i]->letter == other ? list[i] : NULL;
    if (meant)
        cli_usage("unknown option -%c; did you mean -%c (--%s)?", letter, other, meant->name);
    else if ((meant = find_other_name(list, count, name, &note)))
        cli_usage("unknown option -%c; did you mean --%s?", letter, meant->name);
    else if (note)
        cli_usage("unknown option -%c; %s", letter, note);
    else
        cli_usage("unknown option -%c", letter);
    return NULL;
}

/* Refuses a wrong ending: "--png: a.jpg does not end in .png". A long run must not fail at its end
 * because of an unknown ending. */
static opt_outcome refuse_ending(const opt *option, const char *text)
{
    const char *last = strrchr(option->endings, ' ');
    if (!last)
        cli_usage("--%s: %s does not end in %s", option->name, text, option->endings);
    else
        cli_usage("--%s: %s has no known ending; use %.*s or%s", option->name, text,
                  (int)(last - option->endings), option->endings, last);
    return OPT_REFUSED;
}

static opt_outcome take(const opt *option, const char *text, void *args)
{
    char expected[OPT_TEXT_SIZE];
    if (option->kind == OPT_OUTPUT && option->endings && *text && strcmp(text, "-") != 0 &&
        !path_ends_with(text, option->endings))
        return refuse_ending(option, text);
    if (parse_value(option, text, args, expected))
        return OPT_RUN;
    cli_usage("--%s: \"%s\" is not accepted; give %s", option->name, text, expected);
    return OPT_REFUSED;
}

/* The value as the table spells it, if it is one of choices, since conditions compare that
 * spelling. */
static const char *chosen(const opt *const *list, uint32_t count, const opt *option,
                          const char *value)
{
    static char values[OPT_MAX_OPTIONS][32];
    const char *choice;
    if (option->kind != OPT_CHOICE || find_choice(option->choices, value, &choice) < 0)
        return value;
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == option) {
            snprintf(values[i], sizeof values[i], "%.*s", (int)strcspn(choice, "|"), choice);
            return values[i];
        }
    return value;
}

/* "-iso 3": a long name behind a single dash, which would mean letters and their values. */
static bool refuses_one_dash(const opt *const *list, uint32_t count, const char *word)
{
    char name[64];
    const char *note;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    if (strlen(name) < 3)
        return false;
    const opt *meant = find_name(list, count, name);
    meant = meant ? meant : find_other_name(list, count, name, &note);
    if (meant)
        cli_usage("-%s: long names have two dashes; did you mean --%s?", name, meant->name);
    return meant != NULL;
}

/* "--output --iso 3": the next option stands where the value should. */
static bool is_known_option(const opt *const *list, uint32_t count, const char *word)
{
    char name[64];
    if (word[0] != '-' || word[1] != '-')
        return false;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    return find_name(list, count, name) != NULL;
}

/* Parses one word "--name", "--name=value" or "-xyz". The value may be the next word; *index then
 * advances past it. */
static opt_outcome take_word(const opt_command *command, const opt *const *list, uint32_t count,
                             int argc, char **argv, int *index, void *args)
{
    const char *word = argv[*index];
    bool is_long = word[1] == '-';
    word += is_long ? 2 : 1;
    if (!is_long && refuses_one_dash(list, count, word))
        return OPT_REFUSED;
    do {
        size_t length = is_long ? strcspn(word, "=") : 1;
        const opt *option =
            is_long ? find_long(list, count, word, length) : find_letter(list, count, *word);
        if (!option)
            return OPT_REFUSED;
        word += length;
        const char *value = "";
        if (opt_takes_value(option)) {
            if (*word == '\0' &&
                (*index + 1 == argc || is_known_option(list, count, argv[*index + 1]))) {
                cli_usage("--%s needs a value: %s", option->name, opt_value_name(option));
                return OPT_REFUSED;
            }
            value = *word ? word + is_long : argv[++*index];
            word = "";
        } else if (is_long && *word) {
            cli_usage("--%s takes no value", option->name);
            return OPT_REFUSED;
        }
        if (option->kind == OPT_HELP) {
            (is_long ? opt_print_help : opt_print_short_help)(command, stdout);
            return OPT_HELPED;
        }
        if (option->kind == OPT_OUTPUT && opt_is_given(option->name)) {
            cli_usage("--%s is given twice; it names one output", option->name);
            return OPT_REFUSED;
        }
        opt_outcome outcome = take(option, value, args);
        if (outcome != OPT_RUN)
            return outcome;
        opt_note(option, chosen(list, count, option, value));
    } while (!is_long && *word);
    return OPT_RUN;
}

/* The option for which the user probably meant an output name given as an operand: the operand ends
 * as that option's files do, and does not exist. */
static const opt *find_output_for(const opt *const *list, uint32_t count, const char *operand)
{
    system_file info;
    for (uint32_t i = 0; i < count; i++)
        if (list[i]->kind == OPT_OUTPUT && list[i]->endings && !opt_is_given(list[i]->name) &&
            path_ends_with(operand, list[i]->endings))
            return system_examine(operand, &info) ? NULL : list[i];
    return NULL;
}

/* The message for an operand that cannot be a file's name. Returns false if it can. */
static bool refuses_operand(const char *operand)
{
    double number;
    system_file info;
    static const char *const dashes[] = {"\xe2\x80\x93", "\xe2\x80\x94", "\xe2\x88\x92"};
    for (size_t i = 0; i < sizeof dashes / sizeof *dashes; i++)
        if (strncmp(operand, dashes[i], 3) == 0) {
            const char *name = operand + 3;
            while (strncmp(name, dashes[i], 3) == 0)
                name += 3;
            name += strspn(name, "-");
            cli_usage("\"%s\" begins with a long dash, as text programs make of \"--\"; write %s%s",
                      operand, strlen(name) > 1 ? "--" : "-", name);
            return true;
        }
    if (strstr(operand, "://")) {
        cli_usage("%s is an address; download it, for instance with curl -LO, and name the file",
                  operand);
        return true;
    }
    if ((opt_number(operand, &number) || strcmp(operand, ",") == 0) &&
        !system_examine(operand, &info)) {
        cli_usage(
            "\"%s\" is neither a file nor an option's value; numbers of one option are written "
            "with commas and without blanks, such as 1,1,2.5",
            operand);
        return true;
    }
    return false;
}

/* Refuses too few operands, too many, and words that cannot be operands. */
static opt_outcome check_operands(const opt_command *command, const opt *const *list,
                                  uint32_t option_count, uint32_t count, char **operands)
{
    uint32_t least = 0, most = 0;
    bool is_optional = !command->name;
    bool has_more = command->name && strstr(command->operands, "...");
    for (const char *at = command->operands; *at; at += strspn(at, " ")) {
        is_optional |= *at == '[';
        least += !is_optional;
        most += command->name || !most;
        at += strcspn(at, " ");
    }
    for (uint32_t i = 0; i < count && command->name; i++)
        if (refuses_operand(operands[i]))
            return OPT_REFUSED;
    const opt *output = count > least && (count > most || has_more)
                            ? find_output_for(list, option_count, operands[count - 1])
                            : NULL;
    if (count < least && command->examples)
        cli_usage("%s is missing, as in '%.*s'", command->operands,
                  (int)strcspn(command->examples + 2, "\n"), command->examples + 2);
    else if (count < least)
        cli_usage("%s is missing", command->operands);
    else if (output && output->letter)
        cli_usage("%s: inputs alone stand without an option; did you mean -%c %s?",
                  operands[count - 1], output->letter, operands[count - 1]);
    else if (output)
        cli_usage("%s: inputs alone stand without an option; did you mean --%s %s?",
                  operands[count - 1], output->name, operands[count - 1]);
    else if (count > most && !has_more)
        cli_usage("unexpected argument \"%s\"; takes %s", operands[most],
                  *command->operands ? command->operands : "options alone");
    else
        return OPT_RUN;
    return OPT_REFUSED;
}

opt_outcome opt_parse(const opt_command *command, int argc, char **argv, void *args,
                      uint32_t *operand_count)
{
    const opt *list[OPT_MAX_OPTIONS];
    uint32_t count = opt_list(command, list), operands = 0;
    bool options_ended = false;

    opt_begin_line(command);
    for (uint32_t i = 0; i < count; i++)
        if (list[i]->fallback && take(list[i], list[i]->fallback, args) != OPT_RUN)
            return OPT_REFUSED;
    for (int i = 1; i < argc; i++) {
        if (!options_ended && strcmp(argv[i], "--") == 0) {
            options_ended = true;
        } else if (options_ended || argv[i][0] != '-' || argv[i][1] == '\0') {
            argv[++operands] = argv[i];
        } else {
            opt_outcome outcome = take_word(command, list, count, argc, argv, &i, args);
            if (outcome != OPT_RUN)
                return outcome;
        }
    }
    *operand_count = operands;
    if (check_operands(command, list, count, operands, argv + 1) != OPT_RUN)
        return OPT_REFUSED;
    return opt_check_line(command) == CLI_OK ? OPT_RUN : OPT_REFUSED;
}

/* ---- help ------------------------------------------------------------------------------------ */

enum { HELP_COLUMN = 28, HELP_WIDTH = 84 };

/* Prints text in lines that end before HELP_WIDTH, broken between words. The first line starts at
 * column used, the others at indent. */
static void print_wrapped(FILE *out, const char *text, int used, int indent)
{
    int column = used;
    while (*text) {
        if (*text == '\n') { /* an empty line between paragraphs */
            fprintf(out, "\n\n%*s", indent, "");
            column = indent;
            text += strspn(text, "\n");
        }
        int length = (int)strcspn(text, " \n");
        if (column > indent && column + 1 + length > HELP_WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

/* Prints " -o, --output FILE", and returns its width. value: the name of the value. */
static int print_name(FILE *out, const opt *option, const char *value)
{
    int used = option->letter ? fprintf(out, "  -%c, --%s", option->letter, option->name)
                              : fprintf(out, "      --%s", option->name);
    if (opt_takes_value(option))
        used += fprintf(out, " %s", value);
    return used;
}

static void print_option(FILE *out, const opt_command *command, const opt *option)
{
    char text[OPT_TEXT_SIZE];
    int used = print_name(out, option, opt_value_name(option));
    if (used + 2 > HELP_COLUMN) {
        fputc('\n', out);
        used = 0;
    }
    fprintf(out, "%*s", HELP_COLUMN - used, "");
    opt_describe(command, option, text);
    print_wrapped(out, text, HELP_COLUMN, HELP_COLUMN);
}

static void print_usage(FILE *out, const opt_command *command)
{
    fprintf(out, "Usage: %s%s%s [OPTION...]%s%s\n\n", cli_this_program.name,
            command->name ? " " : "", command->name ? command->name : "",
            *command->operands ? " " : "", command->operands);
    fprintf(out, "%s.\n", command->summary);
}

void opt_print_short_help(const opt_command *command, FILE *out)
{
    const opt *list[OPT_MAX_OPTIONS];
    uint32_t count = opt_list(command, list);

    print_usage(out, command);
    fputc('\n', out);
    for (uint32_t i = 0; i < count; i++) {
        if (!list[i]->brief)
            continue;
        const char *value = opt_value_name(list[i]);
        bool is_long = value && strlen(value) > HELP_COLUMN + HELP_COLUMN / 2; /* many choices */
        int used = print_name(out, list[i], is_long ? "NAME" : value);
        const char *brief = *list[i]->brief ? list[i]->brief : list[i]->help;
        fprintf(out, "%*s%.*s\n", used + 2 > HELP_COLUMN ? 2 : HELP_COLUMN - used, "",
                (int)(brief == list[i]->brief ? strlen(brief) : strcspn(brief, ";")), brief);
    }
    fprintf(out, "      --help%*sall options, with defaults and ranges\n", HELP_COLUMN - 12, "");
}

void opt_print_help(const opt_command *command, FILE *out)
{
    const opt *list[OPT_MAX_OPTIONS];
    uint32_t count = opt_list(command, list);

    print_usage(out, command);
    if (command->about) {
        fputc('\n', out);
        print_wrapped(out, command->about, 0, 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        char heading[OPT_TEXT_SIZE];
        if (list[i]->kind == OPT_SECTION) {
            opt_describe(command, list[i], heading);
            fprintf(out, "\n%s:\n", heading);
        } else {
            print_option(out, command, list[i]);
        }
    }
    if (command->examples)
        fprintf(out, "\nExamples:\n%s", command->examples);
}
