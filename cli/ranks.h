/* The processes that run a command together: those of an MPI job, or this one alone. The commands
 * ask here, and nothing else in the program knows what a job is: ranks_one.c says that there is
 * one process, mpi/ranks_mpi.c asks MPI, and the build puts one of them in. */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include <trommel/files.h>

/* First of all; takes its own words from the command line. */
void ranks_begin(int *argc, char ***argv);
/* Last of all: the exit code of all. Where one of them failed, its message is printed, once. */
int ranks_end(int code);

uint32_t ranks_count(void);
uint32_t ranks_mine(void); /* this process: from 0 */
uint32_t ranks_here(void); /* this process among those of its machine: from 0 */
/* Threads for this process: its share of the machine's processors; 0: as the library chooses.
 * fair: the fair share, where the launcher gave it fewer and this process is to say so; else 0. */
uint32_t ranks_threads(uint32_t *fair);
/* For what they do together; NULL: this process is alone. */
const tml_team *ranks_team(void);
/* The same of an MPI job's only process, too, which then goes the way of several. */
const tml_team *ranks_job(void);

/* From here on each process works for itself, as though it were alone, until ranks_end. */
void ranks_apart(void);

/* Keeps a message of failure for ranks_end, and tells the others; false: print it now. */
bool ranks_keep_message(const char *message);
/* Did nobody fail? Asked now and then by whoever works for long. */
bool ranks_go_on(void);
/* In a handler of a signal that ends the job: takes half a file away. */
void ranks_interrupted(void);

/* count numbers of each rank, one rank after another. */
tml_status ranks_gather(tml_context *tml, const uint64_t *mine, uint64_t count, uint64_t *all);

#endif
