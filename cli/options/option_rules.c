/* Which options may or must be given together: the conditions in an option table, checked for a
 * command line and described in help. */
#include <string.h>

#include "cli.h"
#include "options/options.h"

/* The latest command line. */
static struct {
    const opt *list[OPT_MAX_OPTIONS];
    const char *given[OPT_MAX_OPTIONS]; /* the value; "" of a flag; NULL: not given */
    uint32_t count;
} line;

/* By opt_input_kind. */
static const struct {
    const char *all, *one;
} kinds[] = {{"volumes", "a volume"},
             {"headerless volumes", "a headerless volume"},
             {"points", "points"},
             {"meshes", "a mesh"},
             {"indices", "an index"},
             {"pictures of integers", "a picture of integers"},
             {"pictures of floats", "a picture of floats"},
             {"sequences", "a sequence"},
             {"one input", "one input"}};

/* ---- terms ----------------------------------------------------------------------------------- */

/* "png" or "by=mean": an option, optionally with a value. The value is a pattern, as in a shell. */
typedef struct term {
    char name[32], value[64];
} term;

/* Reads a term. Returns the character that separates it from the next term: "|" before an
 * alternative, " " before another condition. */
static const char *read_term(const char *text, term *out)
{
    size_t length = strcspn(text, "| "), name = strcspn(text, "=| ");
    snprintf(out->name, sizeof out->name, "%.*s", (int)name, text);
    snprintf(out->value, sizeof out->value, "%.*s", name < length ? (int)(length - name - 1) : 0,
             name < length ? text + name + 1 : "");
    return text + length;
}

/* text: OPT_TEXT_SIZE bytes. */
static void append_word(char *text, const char *word)
{
    size_t used = strlen(text);
    snprintf(text + used, OPT_TEXT_SIZE - used, "%s", word);
}

static int find(const opt *const *list, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i]->kind != OPT_SECTION && strcmp(list[i]->name, name) == 0)
            return (int)i;
    return -1;
}

/* A star stands for any text. */
static bool matches(const char *pattern, const char *text)
{
    for (; *pattern != '*'; pattern++, text++)
        if (*pattern != *text || *pattern == '\0')
            return *pattern == *text;
    while (!matches(pattern + 1, text))
        if (*text++ == '\0')
            return false;
    return true;
}

/* Appends an option with its value: "--iso A:B:N" for "iso=*:*". A pattern is replaced by the form
 * of the option's value that matches it; a star, by the value's name. */
static void append_term(const opt *option, const term *t, char *out)
{
    char form[64] = "";
    const char *star = strchr(t->value, '*'), *all = star ? option->argument : "";
    size_t used = strlen(out);
    bool is_found = !star;
    if (!star)
        snprintf(form, sizeof form, "%s", t->value);
    for (const char *at = all; *at && !is_found; at += *at == '|') {
        size_t length = 0;
        for (; *at && *at != '|'; at++)
            if (*at != '[' && *at != ']' && length + 1 < sizeof form)
                form[length++] = *at;
        form[length] = '\0';
        is_found = matches(t->value, form);
    }
    if (!is_found)
        snprintf(form, sizeof form, "%.*s%s%s", (int)(star - t->value), t->value, all, star + 1);
    snprintf(out + used, OPT_TEXT_SIZE - used, "--%s%s%s", option->name, form[0] ? " " : "", form);
}

/* Is the option given? With a value: does the option have that value, including by default? */
static bool holds(const term *t)
{
    int i = find(line.list, line.count, t->name);
    if (i < 0 || !t->value[0])
        return i >= 0 && line.given[i];
    const char *value = line.given[i] ? line.given[i] : line.list[i]->fallback;
    return value && matches(t->value, value);
}

/* Appends "--png, --by mean or --ev" for the terms up to the next condition, except options that
 * the command lacks. Returns where the next condition begins. any: does one of the terms hold? */
static const char *list_terms(const opt *const *list, uint32_t count, const char *text, char *out,
                              bool *any)
{
    term terms[16];
    uint32_t found = 0;
    for (bool more = true; more; text++) {
        const char *end = read_term(text, &terms[found]);
        if (find(list, count, terms[found].name) >= 0 && found < 15)
            found++;
        more = *end == '|';
        text = *end ? end : end - 1;
    }
    for (uint32_t i = 0; i < found; i++) {
        append_word(out, i == 0 ? "" : i + 1 < found ? ", " : " or ");
        append_term(list[find(list, count, terms[i].name)], &terms[i], out);
        *any |= holds(&terms[i]);
    }
    return text;
}

/* An option's section. Its conditions apply to those of its options that have none. */
static const opt *section_of(const opt *const *list, uint32_t i)
{
    static const opt none;
    while (i && list[i]->kind != OPT_SECTION)
        i--;
    return list[i]->kind == OPT_SECTION ? list[i] : &none;
}

static const char *needs_of(const opt *const *list, uint32_t i)
{
    return list[i]->needs ? list[i]->needs : section_of(list, i)->needs;
}

static uint32_t applies_of(const opt *const *list, uint32_t i)
{
    return list[i]->applies ? list[i]->applies : section_of(list, i)->applies;
}

/* ---- checking -------------------------------------------------------------------------------- */

bool opt_is_given(const char *name)
{
    const int i = find(line.list, line.count, name);
    return i >= 0 && line.given[i];
}

/* Appends "-o NAME.ply or --png NAME.png" for the outputs one of which is required. Returns false
 * if the terms are of another kind. */
static bool list_outputs(const char *needs, char *out)
{
    term t;
    for (const char *at = needs; *at; at += *at == '|') {
        at = read_term(at, &t);
        const int i = find(line.list, line.count, t.name);
        if (*at == ' ' || i < 0 || line.list[i]->kind != OPT_OUTPUT || !line.list[i]->endings)
            return false;
        const opt *option = line.list[i];
        const size_t used = strlen(out);
        if (strncmp(option->name, "debug", 5) == 0)
            continue;
        char name[64];
        if (option->letter)
            snprintf(name, sizeof name, "-%c", option->letter);
        else
            snprintf(name, sizeof name, "--%s", option->name);
        const size_t first = strcspn(option->endings, " ");
        const char *others = option->endings + first;
        snprintf(out + used, OPT_TEXT_SIZE - used, "%s%s NAME%.*s%s%s%s", used ? ", or " : "", name,
                 (int)first, option->endings, *others ? " (or" : "", others, *others ? ")" : "");
    }
    return true;
}

static int check_needs(const char *subject, const char *needs)
{
    while (needs && *needs) {
        char text[OPT_TEXT_SIZE] = "", outputs[OPT_TEXT_SIZE] = "";
        bool any = false, are_outputs = !subject && list_outputs(needs, outputs);
        needs = list_terms(line.list, line.count, needs, text, &any);
        if (!any && text[0])
            return subject ? cli_usage("%s needs %s", subject, text)
                           : cli_usage("give %s", are_outputs ? outputs : text);
    }
    return CLI_OK;
}

static int check_excludes(const char *subject, const char *excludes)
{
    while (excludes && *excludes) {
        term t;
        char other[OPT_TEXT_SIZE] = "";
        excludes = read_term(excludes, &t);
        excludes += *excludes != '\0';
        if (!holds(&t))
            continue;
        append_term(line.list[find(line.list, line.count, t.name)], &t, other);
        return cli_usage("%s and %s exclude each other; leave one of them out", subject, other);
    }
    return CLI_OK;
}

void opt_begin_line(const opt_command *command)
{
    line.count = opt_list(command, line.list);
    memset(line.given, 0, sizeof line.given);
}

void opt_note(const opt *option, const char *value)
{
    for (uint32_t i = 0; i < line.count; i++)
        if (line.list[i] == option)
            line.given[i] = value;
}

int opt_check_line(const opt_command *command)
{
    int code = CLI_OK;
    for (uint32_t i = 0; i < line.count && code == CLI_OK; i++) {
        char subject[64];
        if (!line.given[i])
            continue;
        snprintf(subject, sizeof subject, "--%s", line.list[i]->name);
        code = check_excludes(subject, line.list[i]->excludes);
        CLI_THEN(code, check_needs(subject, needs_of(line.list, i)));
    }
    return code == CLI_OK ? check_needs(NULL, command->needs) : code;
}

/* "volumes" or "pictures of floats". */
static void list_kinds(uint32_t bits, char *text)
{
    const char *names[sizeof kinds / sizeof kinds[0]];
    size_t count = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        bool is_any = 1u << k == OPT_INTEGERS && bits & OPT_FLOATS; /* and then the floats */
        if (bits >> k & 1)
            names[count++] = is_any ? "pictures" : kinds[k].all;
        k += is_any && bits >> k & 1;
    }
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        append_word(text, i == 0 ? "" : i + 1 < count ? ", " : " or ");
        append_word(text, names[i]);
    }
}

int opt_check_input(uint32_t among, uint32_t is, const char *path)
{
    for (uint32_t i = 0; i < line.count; i++) {
        char wanted[OPT_TEXT_SIZE];
        uint32_t applies = line.given[i] ? applies_of(line.list, i) & among : 0;
        if (!applies || applies & is)
            continue;
        list_kinds(applies, wanted);
        const char *found = "something else";
        for (size_t k = sizeof kinds / sizeof kinds[0]; k-- > 0;)
            found = is >> k & 1 ? kinds[k].one : found;
        return path ? cli_usage("--%s is for %s; %s holds %s", line.list[i]->name, wanted, path,
                                found)
                    : cli_usage("--%s is for %s, not for %s", line.list[i]->name, wanted, found);
    }
    return CLI_OK;
}

/* ---- describing ------------------------------------------------------------------------------ */

static void append(char *text, const char **open, const char *word, const char *what)
{
    append_word(text, *open);
    append_word(text, word);
    append_word(text, what);
    *open = "; ";
}

/* Lists the options that this option excludes, and those that exclude it. */
static void list_excluded(const opt *const *list, uint32_t count, const opt *option, char *out)
{
    for (uint32_t i = 0; i < count; i++) {
        bool is_own = list[i] == option;
        for (const char *at = list[i]->excludes; at && *at; at += *at != '\0') {
            term t;
            at = read_term(at, &t);
            bool is_it = is_own
                             ? find(list, count, t.name) >= 0
                             : option->name && !option->group && strcmp(t.name, option->name) == 0;
            if (!is_it || (!is_own && t.value[0]))
                continue;
            append_word(out, out[0] ? ", " : "");
            append_term(is_own ? list[find(list, count, t.name)] : list[i],
                        is_own ? &t : &(term){0}, out);
        }
    }
}

const char *opt_describe_rules(const opt_command *command, const opt *option, char *text,
                               const char *open)
{
    const opt *list[OPT_MAX_OPTIONS];
    uint32_t count = opt_list(command, list);
    char part[OPT_TEXT_SIZE] = "", *last = strrchr(text, '(');
    bool any = false;
    if (last && strncmp(last, "(default: ", 10) == 0 && last[strlen(last) - 1] == ')') {
        last[strlen(last) - 1] = '\0'; /* which the conditions then follow */
        open = "; ";
    }
    list_kinds(option->applies, part);
    if (part[0])
        append(text, &open, "for ", part);
    for (const char *needs = option->needs; needs && *needs;) {
        part[0] = '\0';
        needs = list_terms(list, count, needs, part, &any);
        if (part[0])
            append(text, &open, "needs ", part);
    }
    part[0] = '\0';
    list_excluded(list, count, option, part);
    if (part[0])
        append(text, &open, "not with ", part);
    return open;
}
