/* The processes that run a command together: those of an MPI job, or this one alone. Commands use
 * only this header; nothing else knows of jobs. The build includes one implementation: ranks_one.c
 * for one process, mpi/ranks_mpi.c for MPI. */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include <trommel/files.h>

/* Call it first. Removes its own words from the command line. */
void ranks_begin(int *argc, char ***argv);
/* Call it last. Returns the exit code of all. If one failed, its message is printed, once. */
int ranks_end(int code);

uint32_t ranks_count(void);
uint32_t ranks_mine(void); /* this process's number, from 0 */
uint32_t ranks_here(void); /* its number among those of its machine, from 0 */
/* Returns this process's threads: its share of the machine's processors; 0: the library chooses.
 * fair: the fair share, if the launcher gave it fewer and it should warn of that; else 0. */
uint32_t ranks_threads(uint32_t *fair);
/* The team of all processes; NULL: this process is alone. */
const tml_team *ranks_team(void);
/* As ranks_team, but also for the only process of an MPI job, which then works as several do. */
const tml_team *ranks_job(void);

/* From here to ranks_end, each process works as if it were alone. */
void ranks_apart(void);

/* Keeps an error message for ranks_end, and notifies the others. False: print it now. */
bool ranks_keep_message(const char *message);
/* Whether no process has failed. Long work asks this from time to time. */
bool ranks_go_on(void);
/* Call it in the handler of a signal that ends the job. Removes the unfinished file. */
void ranks_interrupted(void);

/* Gathers `count` numbers from each rank, in the order of ranks. */
tml_status ranks_gather(tml_context *tml, const uint64_t *mine, uint64_t count, uint64_t *all);

#endif
