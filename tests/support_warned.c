/* A context that keeps the warnings of its log. */
#include "test.h"

#include "warned.h"

char warned[1 << 16];

static void keep_warning(void *user, tml_log_level level, const char *message)
{
    size_t length = strlen(warned);
    (void)user;
    if (level == TML_LOG_WARNING)
        snprintf(warned + length, sizeof warned - length, "%s\n", message);
}

tml_context *open_listening(void)
{
    tml_context *tml = NULL;
    tml_open_desc desc = {.engine = TML_ENGINE_CPU, .threads = 1, .log = keep_warning};
    CHECK_OK(tml, tml_open(&desc, &tml));
    warned[0] = '\0';
    return tml;
}

bool test_warned(const char *file, int line, const char *word)
{
    bool good = word ? strstr(warned, word) != NULL : warned[0] == '\0';
    return good ||
           test_fail(file, line, "warned of \"%s\", needs \"%s\"", warned, word ? word : "");
}
