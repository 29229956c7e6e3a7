/* trommel-papers TABLE --check. */
#ifndef PAPERS_CHECK_H
#define PAPERS_CHECK_H

/* Checks what a table measures, or all of them (NULL), on every engine that is there; prints each
 * check. Returns the exit status: 0, 1 after a failure, 77 if there was nothing to run on. */
int papers_check(const char *table);

#endif
