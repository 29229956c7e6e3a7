/* A context of the CPU engine that keeps the warnings of its log. Include after test.h. */
#ifndef TML_TEST_WARNED_H
#define TML_TEST_WARNED_H

extern char warned[1 << 16]; /* one line per warning; tests empty it as they begin */

tml_context *open_listening(void);

/* Checks that a warning contains word; NULL: that there is no warning. */
#define CHECK_WARNED(word) test_warned(__FILE__, __LINE__, word)

bool test_warned(const char *file, int line, const char *word);

#endif
