/* The processes of an MPI job. Nothing else in the program knows MPI.
 *
 * Every collective operation begins by asking whether all processes still work (enter). A process
 * that failed takes part in that question once, from ranks_end, and so the others learn of the
 * failure wherever they are: none keeps waiting, and none starts another operation. A process in
 * long work polls from time to time for a message that says the same (ranks_go_on). Finally all
 * meet in ranks_end, where the failed process of the lowest rank prints its message.
 *
 * Source: Message Passing Interface Forum: MPI 3.1. 2015. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "ranks.h"
#include "running.h"

enum { MESSAGE_SIZE = 4096, TAG_FAILED = 1, TAG_DATA = 2, PATH_SIZE = 4096 };
/* MPI's counts are int. */
static const uint64_t piece_most = (uint64_t)1 << 30;

static struct {
    int rank, count, here;
    uint32_t threads, fair; /* share of the allowed processors; of the machine's */
    bool is_apart;          /* ranks_apart was called */
    bool has_failed;        /* some process; set by enter */
    bool was_told;          /* a message of failure came to this rank */
    bool has_message;       /* about this process's own failure */
    char message[MESSAGE_SIZE];
    MPI_Request *told; /* per rank: the message that this process failed */
    char told_byte;
    MPI_File file;
    bool is_open;
    char path[PATH_SIZE]; /* on rank 0, the unfinished file's; empty: none */
} job;

/* ---- failure --------------------------------------------------------------------------------- */

/* Waits without keeping a processor busy, as MPI's own waiting would: tests the request some times
 * at once, then between sleeps. */
static void sleep_until_done(MPI_Request *request)
{
    enum { LOOKS = 64, SHORTEST = 20 * 1000, LONGEST = 1000 * 1000 }; /* nanoseconds */
    int is_done = 0;
    struct timespec pause = {.tv_nsec = SHORTEST};
    for (int i = 0; i < LOOKS && !is_done; i++)
        MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
    while (!is_done) {
        nanosleep(&pause, NULL);
        pause.tv_nsec = 2 * pause.tv_nsec < LONGEST ? 2 * pause.tv_nsec : LONGEST;
        MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
    }
}

/* Asks whether all processes still work. A process that is early waits here, not in the operation
 * that follows. Returns false if one failed, which ends all collective operations. */
static bool enter(bool is_well)
{
    int failed = !is_well, any = 0;
    if (job.has_failed)
        return false;
    MPI_Request request;
    MPI_Iallreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    sleep_until_done(&request);
    job.has_failed = any != 0;
    return !job.has_failed;
}

static tml_status others_failed(tml_context *tml)
{
    return tml_error(tml, TML_ERROR_CANCELLED, "another process failed");
}

/* Notifies processes that are far from a collective operation. */
static void tell_others(void)
{
    if (job.told || job.has_failed || job.was_told)
        return;
    job.told = malloc((size_t)job.count * sizeof *job.told);
    for (int r = 0; r < job.count && job.told; r++) {
        job.told[r] = MPI_REQUEST_NULL;
        if (r != job.rank)
            MPI_Isend(&job.told_byte, 1, MPI_CHAR, r, TAG_FAILED, MPI_COMM_WORLD, &job.told[r]);
    }
}

bool ranks_keep_message(const char *message)
{
    if (job.count < 2)
        return false;
    if (!job.has_failed && !job.was_told && !job.has_message) {
        snprintf(job.message, sizeof job.message, "%s", message);
        job.has_message = true;
        tell_others();
    }
    return true;
}

bool ranks_go_on(void)
{
    int is_there = 0;
    if (job.count < 2)
        return true;
    if (!job.was_told && !job.has_failed)
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_FAILED, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    job.was_told = job.was_told || is_there;
    return !job.was_told && !job.has_failed;
}

void ranks_interrupted(void)
{
    if (job.path[0])
        unlink(job.path);
}

/* ---- collective operations ------------------------------------------------------------------- */

static tml_status scan(void *user, tml_context *tml, uint64_t count, const uint64_t *mine,
                       uint64_t *before, uint64_t *all)
{
    (void)user;
    if (!enter(true))
        return others_failed(tml);
    memset(before, 0, count * sizeof *before); /* MPI_Exscan leaves rank 0's unchanged */
    MPI_Exscan(mine, before, (int)count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(mine, all, (int)count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return TML_OK;
}

static tml_status gather(void *user, tml_context *tml, uint64_t count, const uint64_t *mine,
                         uint64_t *all)
{
    (void)user;
    if (!enter(true))
        return others_failed(tml);
    MPI_Allgather(mine, (int)count, MPI_UINT64_T, all, (int)count, MPI_UINT64_T, MPI_COMM_WORLD);
    return TML_OK;
}

static tml_status shift(void *user, tml_context *tml, bool down, const void *out, uint64_t out_size,
                        void *in, uint64_t in_size)
{
    (void)user;
    if (!enter(true))
        return others_failed(tml);
    int step = down ? -1 : 1, to = job.rank + step, from = job.rank - step;
    to = to < 0 || to == job.count ? MPI_PROC_NULL : to;
    from = from < 0 || from == job.count ? MPI_PROC_NULL : from;
    const char *out_at = out;
    char *in_at = in;
    while (out_size || in_size) { /* sender and receiver know each other's size */
        uint64_t n = out_size < piece_most ? out_size : piece_most;
        uint64_t k = in_size < piece_most ? in_size : piece_most;
        MPI_Sendrecv(out_at, (int)n, MPI_BYTE, n ? to : MPI_PROC_NULL, TAG_DATA, in_at, (int)k,
                     MPI_BYTE, k ? from : MPI_PROC_NULL, TAG_DATA, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        out_at += n;
        in_at += k;
        out_size -= n;
        in_size -= k;
    }
    return TML_OK;
}

static tml_status collect(void *user, tml_context *tml, uint32_t from, void *data, uint64_t size)
{
    (void)user;
    if (!enter(true))
        return others_failed(tml);
    bool sends = (uint32_t)job.rank == from, receives = job.rank == 0;
    char *at = data;
    for (uint64_t n; size && sends != receives; size -= n, at += n) {
        n = size < piece_most ? size : piece_most;
        if (sends)
            MPI_Send(at, (int)n, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD);
        else
            MPI_Recv(at, (int)n, MPI_BYTE, (int)from, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return TML_OK;
}

/* ---- one file -------------------------------------------------------------------------------- */

static tml_status file_error(tml_context *tml, int error, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0, class = MPI_ERR_OTHER;
    MPI_Error_class(error, &class);
    MPI_Error_string(error, text, &length);
    return tml_error(tml, TML_ERROR_FILE_ACCESS, "the file that all processes write %s: %s", what,
                     class == MPI_ERR_NO_SPACE || class == MPI_ERR_QUOTA ? "the disk is full"
                                                                         : text);
}

static tml_status open_file(void *user, tml_context *tml, const char *path)
{
    (void)user;
    if (!enter(true))
        return others_failed(tml);
    static char shared[PATH_SIZE]; /* the same on all ranks */
    snprintf(shared, sizeof shared, "%s", job.rank == 0 ? path : "");
    MPI_Bcast(shared, sizeof shared, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (job.rank == 0)
        memcpy(job.path, shared, sizeof job.path);
    int error = MPI_File_open(MPI_COMM_WORLD, shared, MPI_MODE_WRONLY, MPI_INFO_NULL, &job.file);
    job.is_open = error == MPI_SUCCESS;
    return job.is_open ? TML_OK : file_error(tml, error, "cannot be opened");
}

static tml_status write_file(void *user, tml_context *tml, uint64_t offset, const void *data,
                             uint64_t size)
{
    (void)user;
    if (!enter(true))
        return others_failed(tml);
    if (size > INT_MAX)
        return tml_error(tml, TML_ERROR_INTERNAL, "a write of %" PRIu64 " bytes", size);
    MPI_Status status;
    int count = 0;
    int error =
        MPI_File_write_at_all(job.file, (MPI_Offset)offset, data, (int)size, MPI_BYTE, &status);
    if (error == MPI_SUCCESS)
        MPI_Get_count(&status, MPI_BYTE, &count);
    if (error != MPI_SUCCESS || (uint64_t)count != size)
        return file_error(tml, error, "cannot be written");
    return TML_OK;
}

static int close_now(void)
{
    job.is_open = false;
    return MPI_File_close(&job.file);
}

static tml_status close_file(void *user, tml_context *tml)
{
    (void)user;
    if (!enter(true))
        return others_failed(tml);
    int error = close_now();
    return error == MPI_SUCCESS ? TML_OK : file_error(tml, error, "cannot be closed");
}

static tml_team team = {.scan = scan,
                        .gather = gather,
                        .shift = shift,
                        .collect = collect,
                        .open = open_file,
                        .write = write_file,
                        .close = close_file};

/* ---- begin and end --------------------------------------------------------------------------- */

/* Sets the threads to this process's share of the processors that its machine's processes may use
 * together, or to fewer if the launcher bound it to fewer. */
static void choose_threads(MPI_Comm machine)
{
    cpu_set_t mine, all;
    int count;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof mine, &mine) != 0)
        CPU_ZERO(&mine);
    MPI_Comm_size(machine, &count);
    MPI_Allreduce(&mine, &all, (int)sizeof all, MPI_BYTE, MPI_BOR, machine);
    int own = CPU_COUNT(&mine), share = CPU_COUNT(&all) / count;
    share = share > 0 ? share : 1;
    job.threads = (uint32_t)(own < share ? own : share);
    job.fair = online / count > 0 ? (uint32_t)(online / count) : 1;
}

void ranks_begin(int *argc, char ***argv)
{
    int level;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.count);
    MPI_Comm machine;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, job.rank, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &job.here);
    choose_threads(machine);
    MPI_Comm_free(&machine);
    team.rank = (uint32_t)job.rank;
    team.count = (uint32_t)job.count;
    if (job.rank > 0 && !freopen("/dev/null", "w", stdout)) /* only rank 0 prints */
        perror("/dev/null");
}

uint32_t ranks_count(void)
{
    return job.is_apart ? 1 : team.count;
}

void ranks_apart(void)
{
    job.is_apart = true;
}

uint32_t ranks_mine(void)
{
    return team.rank;
}

uint32_t ranks_here(void)
{
    return (uint32_t)job.here;
}

uint32_t ranks_threads(uint32_t *fair)
{
    *fair = job.threads < job.fair && job.rank == 0 ? job.fair : 0;
    return job.threads;
}

const tml_team *ranks_team(void)
{
    return ranks_count() > 1 ? &team : NULL;
}

const tml_team *ranks_job(void)
{
    return job.is_apart ? NULL : &team;
}

/* The report of each process at the end. */
typedef struct last_word {
    int code;
    int has_message;
    int has_told;
} last_word;

/* Receives the messages of failure that nobody has received. */
static void take_told(const last_word *words)
{
    char byte;
    for (int r = 0; r < job.count; r++)
        if (words[r].has_told && r != job.rank)
            MPI_Recv(&byte, 1, MPI_CHAR, r, TAG_FAILED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (job.told)
        MPI_Waitall(job.count, job.told, MPI_STATUSES_IGNORE);
    free(job.told);
    job.told = NULL;
}

/* Ends a failed job. All processes are here; the first one that failed by itself prints why. */
static int end_failed(int code)
{
    last_word mine = {code, job.has_message, job.told != NULL};
    last_word *words = calloc((size_t)job.count, sizeof *words);
    if (!words)
        MPI_Abort(MPI_COMM_WORLD, CLI_FAILED);
    MPI_Allgather(&mine, 3, MPI_INT, words, 3, MPI_INT, MPI_COMM_WORLD);
    int first = -1, with_message = 0;
    for (int r = job.count - 1; r >= 0; r--) {
        with_message += words[r].has_message;
        first = words[r].has_message ? r : first;
    }
    code = first >= 0 ? words[first].code : code;
    if (first >= 0) {
        char text[MESSAGE_SIZE];
        memcpy(text, job.message, sizeof text);
        MPI_Bcast(text, sizeof text, MPI_CHAR, first, MPI_COMM_WORLD);
        const char *colon = strstr(text, ": "), *after = colon ? strstr(colon + 2, ": ") : NULL;
        running_keep_failure(after ? after + 2 : text); /* for rank 0's JSON */
    }
    take_told(words);
    free(words);
    if (job.is_open)
        (void)close_now();
    ranks_interrupted();
    const char *text = job.message, *name = CLI_PROGRAM ": ";
    if (first == job.rank && with_message < job.count && strncmp(text, name, strlen(name)) == 0)
        fprintf(stderr, "%srank %d: %s", name, job.rank, text + strlen(name));
    else if (first == job.rank)
        fputs(text, stderr);
    return code ? code : CLI_FAILED;
}

int ranks_end(int code)
{
    bool is_well = enter(code == CLI_OK);
    if (job.count > 1 && !is_well)
        code = end_failed(code);
    else if (job.is_open)
        (void)close_now();
    fflush(stderr);
    MPI_Finalize();
    return code;
}
