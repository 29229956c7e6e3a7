/* A sort on the CPU: declarations that cpu_sort.c and cpu_sort_segments.c share. */
#ifndef TML_CPU_SORT_JOB_H
#define TML_CPU_SORT_JOB_H

#include "cpu/cpu_sort_steps.h"

enum {
    SORT_BLOCK = 1024, /* records loaded or stored at a time: they stay in the first-level cache */
    SORT_CHUNK = 64 * 1024, /* the least elements per worker */
};

/* One worker's memory. Members that only a split uses are NULL in a sort without one. */
typedef struct sort_space {
    sort_heads *heads;
    uint32_t (*tables)[SORT_BINS]; /* SORT_TABLES; zeroed between counts */
    sort_pair *block;
    sort_rows rows;
    unsigned char *halves[2]; /* of a range, and CPU_SLACK bytes */
    unsigned char *leaf;      /* its sorted records */
} sort_space;

/* A payload that is gathered by index. */
typedef struct sort_gather {
    const unsigned char *in;
    unsigned char *out; /* for a payload in place: separate room, copied to place at the end */
    unsigned char *place;
    size_t size;
} sort_gather;

typedef struct sort_job {
    tml_context *tml;
    cpu_tickets tickets;
    cpu_tickets ranges; /* some bins each */
    const sort_loops *loops;
    size_t leaf; /* elements sorted without halving */
    sort_form form;
    bool is_plain; /* records are the keys as they are */
    bool is_whole; /* records of equal sort bits are equal */
    uint64_t length;
    unsigned char *sorted, *values, *indices;
    size_t index_size;
    sort_gather gathers[TML_MAX_PAYLOADS];
    uint32_t gather_count;
    /* scratch */
    unsigned char *records[2];
    sort_space *spaces;
    uint64_t *counts; /* chunks x SORT_BINS */
    uint64_t *differ; /* per chunk: the bits in which its codes differ from the first code */
    /* the current step: splits or stores records [first, first + count) */
    uint64_t chunks, first, count;
    const unsigned char *from; /* the range's records; NULL: the source */
    unsigned char *to;
    sort_digit digit;
    const uint64_t *bounds; /* of ranges by bin */
    unsigned low;
    uint64_t wide; /* larger ranges are split by all workers */
    _Atomic bool is_stopped;
} sort_job;

bool cpu_sort_supports(tml_context *tml, const void *resolved);

/* Binds a sort's buffers, and takes its scratch. */
void cpu_sort_lay_out(tml_context *tml, const tml_sort_resolved *resolved, cpu_arena *arena,
                      sort_job *job);

/* The bits that records are sorted by. */
static inline void cpu_sort_bits(const sort_job *job, const tml_sort_desc *desc, unsigned *low,
                                 unsigned *high)
{
    *low = desc->first_bit + job->form.code_shift;
    *high = *low + desc->bit_count;
}

/* Sort elements [first, first + count), all elements or a segment, by bits [low, high): by one
 * worker (cpu_sort_alone), or by all of them (cpu_sort_together). */
void cpu_sort_alone(sort_job *job, sort_space *space, uint64_t first, uint64_t count, unsigned low,
                    unsigned high);
void cpu_sort_together(sort_job *job, uint64_t first, uint64_t count, unsigned low, unsigned high);

/* Writes sorted records to the outputs, from element first on. */
void cpu_sort_store(const sort_job *job, uint64_t first, uint64_t count,
                    const unsigned char *records);

/* Has the context's owner cancelled the call? */
bool cpu_sort_is_stopped(sort_job *job);

/* The last step: copies payloads that are sorted in place. Returns the call's status. */
tml_status cpu_sort_end(sort_job *job);

#endif
