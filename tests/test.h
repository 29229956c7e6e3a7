/* A small test framework. Each test program is one C file:
 *
 *     #include "test.h"
 *     TEST(scan_of_nothing_is_nothing) { CHECK_OK(tml, tml_scan(...)); CHECK_EQ_U64(total, 0); }
 *     int main(int argc, char **argv) { return test_main(argc, argv); }
 *
 * A failed check prints file, line and values, fails its test and goes on. SKIP leaves the test and
 * is counted apart: a skip is never a pass. A program's arguments are parts of names: only tests
 * whose name contains one of them run, and of those the share that TML_SHARE asks for. The exit
 * status is 0 when all is well, 1 after a failure, and 77 (what CTest shows as skipped) when
 * nothing ran but skips. */
#ifndef TEST_H
#define TEST_H

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <trommel/extend.h>

#include "measured.h"
#include "seed.h"
#ifdef _WIN32
#    include "on_windows.h"
#endif

typedef struct test_case {
    const char *name;
    void (*run)(void);
    struct test_case *next;
} test_case;

/* The tests of this file. */
static test_case *test_first, **test_last __attribute__((unused)) = &test_first;
/* Of the program (support_test.c): helpers in other files check, too. Failures are atomic because
 * checks may stand in tasks that run on several threads. */
extern _Atomic int test_failures;
extern char test_skip_reason[256];

/* More failures than this in one test are counted, not printed. */
enum { TEST_PRINTED_FAILURES = 12, TEST_EXIT_SKIPPED = 77 };

#define TEST(name)                                                                                 \
    static void test_##name(void);                                                                 \
    __attribute__((constructor)) static void test_register_##name(void)                            \
    {                                                                                              \
        static test_case self = {#name, test_##name, NULL};                                        \
        *test_last = &self;                                                                        \
        test_last = &self.next;                                                                    \
    }                                                                                              \
    static void test_##name(void)

/* Records a failure and prints where and what. Always false. */
TML_FORMAT(3, 4) bool test_fail(const char *file, int line, const char *format, ...);

static inline bool test_true(const char *file, int line, const char *what, bool value)
{
    return value || test_fail(file, line, "%s", what);
}

static inline bool test_eq_u64(const char *file, int line, const char *what, uint64_t a, uint64_t b)
{
    return a == b || test_fail(file, line, "%s: %" PRIu64 " != %" PRIu64, what, a, b);
}

static inline bool test_eq_i64(const char *file, int line, const char *what, int64_t a, int64_t b)
{
    return a == b || test_fail(file, line, "%s: %" PRId64 " != %" PRId64, what, a, b);
}

/* Equal values, infinities included, are near at any tolerance; NaN is near nothing. */
static inline bool test_near(const char *file, int line, const char *what, double a, double b,
                             double tolerance)
{
    return a == b || fabs(a - b) <= tolerance ||
           test_fail(file, line, "%s: %.17g and %.17g differ by more than %g", what, a, b,
                     tolerance);
}

static inline bool test_str(const char *file, int line, const char *what, const char *a,
                            const char *b)
{
    return (a && b && strcmp(a, b) == 0) ||
           test_fail(file, line, "%s: \"%s\" != \"%s\"", what, a ? a : "(null)", b ? b : "(null)");
}

static inline bool test_status(const char *file, int line, const char *what, const tml_context *tml,
                               tml_status status, tml_status expected)
{
    return status == expected ||
           test_fail(file, line, "%s: %s, not %s: %s", what, tml_status_name(status),
                     tml_status_name(expected), tml ? tml_last_error(tml) : "");
}

/* Each check is an expression that is true when it passed: if (!CHECK(p)) return; */
#define CHECK(condition) test_true(__FILE__, __LINE__, #condition, (condition))
#define CHECK_EQ_U64(a, b)                                                                         \
    test_eq_u64(__FILE__, __LINE__, #a " == " #b, (uint64_t)(a), (uint64_t)(b))
#define CHECK_EQ_I64(a, b)    test_eq_i64(__FILE__, __LINE__, #a " == " #b, (int64_t)(a), (int64_t)(b))
#define CHECK_NEAR(a, b, tol) test_near(__FILE__, __LINE__, #a " ~ " #b, (a), (b), (tol))
#define CHECK_STR(a, b)       test_str(__FILE__, __LINE__, #a " == " #b, (a), (b))
/* A call of the library that must succeed. tml is the context whose message is shown, or NULL. */
#define CHECK_OK(tml, call) test_status(__FILE__, __LINE__, #call, (tml), (call), TML_OK)
/* A call that must fail with just this status. */
#define CHECK_STATUS(call, expected)                                                               \
    test_status(__FILE__, __LINE__, #call, NULL, (call), (expected))

/* Leaves the test function it stands in. */
#define SKIP(...)                                                                                  \
    do {                                                                                           \
        snprintf(test_skip_reason, sizeof test_skip_reason, __VA_ARGS__);                          \
        return;                                                                                    \
    } while (0)

/* root/relative in one of a few rotating buffers: good until eight more paths were made. */
const char *test_path(const char *root, const char *relative);

/* The file's first size - 1 bytes as text; none of a file that is not there. */
void test_read_text(const char *path, char *text, size_t size);

/* Are both files there, and the same? */
bool test_same_files(const char *a, const char *b);

/* A file of the subset that is shipped with the sources. */
static inline const char *test_data(const char *relative)
{
    const char *root = getenv("TML_TEST_DATA");
    return test_path(root ? root : "tests/data", relative);
}

/* A file of the whole collection that TML_DATA names; NULL where there is none. */
const char *test_full_data(const char *relative);

/* Runs the tests of a list that are asked for; returns the exit status. */
int test_run(const test_case *first, int argc, char **argv);

/* Those of this file. */
static inline int test_main(int argc, char **argv)
{
    return test_run(test_first, argc, argv);
}

#endif
