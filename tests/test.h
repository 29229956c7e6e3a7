/* A small test framework. Each test program is one C file:
 *
 *     #include "test.h"
 *     TEST(scan_of_nothing_is_nothing) { CHECK_OK(tml, tml_scan(...)); CHECK_EQ_U64(total, 0); }
 *     int main(int argc, char **argv) { return test_main(argc, argv); }
 *
 * A failed check prints file, line and values and fails its test; the test goes on. SKIP leaves the
 * test; skips are counted separately from passes. A program's arguments are parts of names: only
 * tests whose name contains one of them run, and of those the share that TML_SHARE selects. The
 * exit status is 1 after a failure, 77 if all tests were skipped (CTest shows it as skipped), and
 * otherwise 0. */
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
/* Of the whole program (support_test.c), because helpers in other files check, too. Failures are
 * atomic because tasks on several threads may check. */
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

/* Records a failure, and prints where and what. Returns false. */
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
/* A call that must fail with exactly this status. */
#define CHECK_STATUS(call, expected)                                                               \
    test_status(__FILE__, __LINE__, #call, NULL, (call), (expected))

/* Returns from the test function, and counts it as skipped. */
#define SKIP(...)                                                                                  \
    do {                                                                                           \
        snprintf(test_skip_reason, sizeof test_skip_reason, __VA_ARGS__);                          \
        return;                                                                                    \
    } while (0)

/* Returns root/relative, valid until eight more paths are made. */
const char *test_path(const char *root, const char *relative);

/* Reads a file's first size - 1 bytes as text; none if there is no file. */
void test_read_text(const char *path, char *text, size_t size);

/* Do both files exist, with the same contents? */
bool test_same_files(const char *a, const char *b);

/* Returns the path of a file of the subset that is shipped with the sources. */
static inline const char *test_data(const char *relative)
{
    const char *root = getenv("TML_TEST_DATA");
    return test_path(root ? root : "tests/data", relative);
}

/* Returns the path of a file of the whole collection, which TML_DATA names; NULL if there is
 * none. */
const char *test_full_data(const char *relative);

/* Runs the requested tests of a list; returns the exit status. */
int test_run(const test_case *first, int argc, char **argv);

/* Runs the requested tests of this file. */
static inline int test_main(int argc, char **argv)
{
    return test_run(test_first, argc, argv);
}

#endif
