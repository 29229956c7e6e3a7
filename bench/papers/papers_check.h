/* trommel-papers TABLE --check. */
#ifndef PAPERS_CHECK_H
#define PAPERS_CHECK_H

/* Checks the methods that a table measures, or those of all tables (NULL), on every available
 * engine, and prints each check. Returns the exit status: 0; 1 after a failure; 77 if there was no
 * engine to run on. */
int papers_check(const char *table);

#endif
