/* A context of the CPU engine that keeps what its log warns of. Stands after test.h. */
#ifndef TML_TEST_WARNED_H
#define TML_TEST_WARNED_H

extern char warned[1 << 16]; /* one line a warning; tests empty it where they begin */

tml_context *open_listening(void);

/* Does a warning have that word? word NULL: is there none? */
#define CHECK_WARNED(word) test_warned(__FILE__, __LINE__, word)

bool test_warned(const char *file, int line, const char *word);

#endif
