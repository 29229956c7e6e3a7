/* Contexts whose warnings a test looks at; include after test.h. */
#ifndef WARNINGS_H
#define WARNINGS_H

static char warnings[1 << 16]; /* a line each, since open_kept or since the test emptied it */

static inline void keep_warning(void *user, tml_log_level level, const char *message)
{
    (void)user;
    const size_t used = strlen(warnings);
    if (level == TML_LOG_WARNING)
        snprintf(warnings + used, sizeof warnings - used, "%s\n", message);
}

static inline tml_context *open_kept(void)
{
    tml_context *tml = NULL;
    const tml_open_desc desc = {.engine = TML_ENGINE_CPU, .threads = 1, .log = keep_warning};
    CHECK_OK(NULL, tml_open(&desc, &tml));
    warnings[0] = '\0';
    return tml;
}

#endif
