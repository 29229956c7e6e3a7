/* Shared by the tests of a program. */
#include "test.h"

_Atomic int test_failures;
char test_skip_reason[256];

TML_FORMAT(3, 4) bool test_fail(const char *file, int line, const char *format, ...)
{
    if (atomic_fetch_add(&test_failures, 1) < TEST_PRINTED_FAILURES) {
        va_list arguments;
        va_start(arguments, format);
        printf("  %s:%d: ", file, line);
        vprintf(format, arguments);
        putchar('\n');
        va_end(arguments);
    }
    return false;
}

const char *test_path(const char *root, const char *relative)
{
    static char paths[8][1024];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", root, relative);
    return path;
}

void test_read_text(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "rb");
    size_t length = file ? fread(text, 1, size - 1, file) : 0;
    text[length] = '\0';
    if (file)
        fclose(file);
}

bool test_same_files(const char *a, const char *b)
{
    FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
    static char x[65536], y[65536];
    bool same = f && g;
    for (size_t n = 1; same && n;) {
        n = fread(x, 1, sizeof x, f);
        same = fread(y, 1, sizeof y, g) == n && memcmp(x, y, n) == 0;
    }
    if (f)
        fclose(f);
    if (g)
        fclose(g);
    return same;
}

const char *test_full_data(const char *relative)
{
    const char *root = getenv("TML_DATA");
    const char *path = root && *root ? test_path(root, relative) : NULL;
    return path && access(path, R_OK) == 0 ? path : NULL;
}

/* Is the number-th test of the program requested? TML_SHARE=4 selects every fourth test, beginning
 * at one that TML_SEED selects, and TML_SHARE=-4 the rest. */
static bool test_is_wanted(const char *name, uint64_t number, int argc, char **argv)
{
    const char *text = getenv("TML_SHARE");
    const long share = text ? strtol(text, NULL, 10) : 0;
    if (share && ((number + test_seed()) % (uint64_t)labs(share) == 0) != (share > 0))
        return false;
    for (int i = 1; i < argc; i++)
        if (strstr(name, argv[i]))
            return true;
    return argc < 2;
}

int test_run(const test_case *first, int argc, char **argv)
{
    int passed = 0, failed = 0, skipped = 0;
    uint64_t number = 0;
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* printed lines survive a crash */
    for (const test_case *test = first; test; test = test->next) {
        if (!test_is_wanted(test->name, number++, argc, argv))
            continue;
        test_failures = 0;
        test_skip_reason[0] = '\0';
        time_t start = time(NULL);
        test->run();
        char took[24] = "";
        if (time(NULL) > start + 1)
            snprintf(took, sizeof took, " (%d s)", (int)(time(NULL) - start));
        if (test_failures) {
            failed++;
            printf("FAIL %s (%d)\n", test->name, test_failures);
        } else if (test_skip_reason[0]) {
            skipped++;
            printf("skip %s: %s\n", test->name, test_skip_reason);
        } else {
            passed++;
            printf("ok %s%s\n", test->name, took);
        }
    }
    printf("%d passed, %d failed, %d skipped", passed, failed, skipped);
    if (getenv("TML_SHARE"))
        printf(", of %" PRIu64 " (TML_SHARE=%s, TML_SEED=%" PRIu64 ")", number, getenv("TML_SHARE"),
               test_seed());
    putchar('\n');
    return failed ? 1 : skipped && !passed ? TEST_EXIT_SKIPPED : 0;
}
