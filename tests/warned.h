/* A context of the CPU engine that keeps what its log warns of. Stands after test.h. */
#ifndef TML_TEST_WARNED_H
#define TML_TEST_WARNED_H

static char warned[4096]; /* one line a warning; tests empty it where they begin */

static inline void keep_warning(void *user, tml_log_level level, const char *message)
{
    size_t length = strlen(warned);
    (void)user;
    if (level == TML_LOG_WARNING)
        snprintf(warned + length, sizeof warned - length, "%s\n", message);
}

static inline tml_context *open_listening(void)
{
    tml_context *tml = NULL;
    tml_open_desc desc = {.engine = TML_ENGINE_CPU, .threads = 1, .log = keep_warning};
    CHECK_OK(tml, tml_open(&desc, &tml));
    warned[0] = '\0';
    return tml;
}

/* Does a warning have that word? word NULL: is there none? */
#define CHECK_WARNED(word) test_warned(__FILE__, __LINE__, word)
static inline bool test_warned(const char *file, int line, const char *word)
{
    bool good = word ? strstr(warned, word) != NULL : warned[0] == '\0';
    return good ||
           test_fail(file, line, "warned of \"%s\", needs \"%s\"", warned, word ? word : "");
}

#endif
