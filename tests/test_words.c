/* The fields that the library's messages name, against the program's table of what its users know
 * instead. */
#include <dirent.h>
#include <sys/stat.h>

#include "../cli/options/words.c"
#include "test.h"

static const char *said(const char *message)
{
    static char text[256];
    return words_for_users(message, text, sizeof text);
}

TEST(fields_become_options)
{
    CHECK_STR(said("a.nrrd: desc.frame is 20, needs less than 1"),
              "a.nrrd: --frame is 20, needs less than 1");
    CHECK_STR(said("take the others away, or set desc.fix."),
              "take the others away, or set --fix.");
    CHECK_STR(said("desc.spacing[1] is 0; desc.dims,desc.type"),
              "--spacing[1] is 0; --dims,--type");
    CHECK_STR(said("7, the count; skip_broken leaves them out"),
              "7, the count; --skip-broken leaves them out");
    /* Files may be called so. */
    CHECK_STR(said("./desc.fix: mydesc.fix /desc.dims skip_broken.ply desc.fixed"),
              "./desc.fix: mydesc.fix /desc.dims skip_broken.ply desc.fixed");
    CHECK_STR(said(""), "");
    char small[8];
    CHECK_STR(words_for_users("desc.memory_limit", small, sizeof small), "--memor");
    CHECK_STR(words_for_users("some words", small, sizeof small), "some wo");
}

/* Has it a row, or is it, or what it is a member of, never named? */
static bool is_known(const char *name, size_t length)
{
    for (const char *at = words_never; *at; at += strspn(at, " ")) {
        size_t own = strcspn(at, " ");
        if (own <= length && memcmp(at, name, own) == 0 && (own == length || name[own] == '.'))
            return true;
        at += own;
    }
    return find(name, length) != NULL;
}

/* The names after desc. in the literals of a line of C. */
static int check_line(const char *path, int number, const char *line)
{
    int found = 0;
    bool in_literal = false;
    for (const char *at = line; *at; at++) {
        if (*at == '\\' && in_literal && at[1])
            at++;
        else if (*at == '"')
            in_literal = !in_literal;
        if (!in_literal || strncmp(at, "desc.", 5) != 0 || (at > line && is_inside(at[-1])))
            continue;
        size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_.");
        while (at[length - 1] == '.')
            length--;
        if (length < 5)
            continue; /* the name is put in when the program runs */
        found++;
        if (!is_known(at, length))
            test_fail(path, number, "%.*s has no row in cli/options/words.c", (int)length, at);
    }
    return found;
}

/* The name of a row of a desc's table. ROW(keys, DESC_IN, ...), OUT(keys, ...) and
 * DESC_ROW(tml_sort_desc, keys, ...) are desc.keys. */
static int check_row(const char *path, int number, const char *line)
{
    static const char inside[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";
    const char *at = strstr(line, "] = ");
    const char *begin = at ? strchr(at, '(') : NULL;
    if (!begin || (strncmp(begin - 3, "ROW", 3) != 0 && strncmp(begin - 3, "OUT", 3) != 0))
        return 0;
    at = begin + 1;
    size_t length = strspn(at, inside);
    if (strncmp(at, "tml_", 4) == 0 && at[length] == ',') {
        at += length + strspn(at + length, ", ");
        length = strspn(at, inside);
    }
    char name[64];
    if (length == 0 || length > sizeof name - sizeof "desc.")
        return 0;
    snprintf(name, sizeof name, "desc.%.*s", (int)length, at);
    if (!is_known(name, strlen(name)))
        test_fail(path, number, "%s has no row in cli/options/words.c", name);
    return 1;
}

static int check_folder(const char *path)
{
    static char line[4096];
    char below[1024];
    int found = 0;
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        struct stat info;
        const char *dot = strrchr(entry->d_name, '.');
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.' || stat(below, &info) != 0)
            continue;
        if (S_ISDIR(info.st_mode))
            found += check_folder(below);
        FILE *file = S_ISREG(info.st_mode) && dot && (!strcmp(dot, ".c") || !strcmp(dot, ".h"))
                         ? fopen(below, "r")
                         : NULL;
        for (int number = 1; file && fgets(line, sizeof line, file); number++)
            found += check_line(below, number, line) + check_row(below, number, line);
        if (file)
            fclose(file);
    }
    if (folder)
        closedir(folder);
    return found;
}

TEST(no_field_is_without_a_word)
{
    /* There are about 200 today; none would be a wrong folder. */
    CHECK(check_folder(TML_SOURCE_ROOT "/src") > 100);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
