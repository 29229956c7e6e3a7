/* What the parts of fuzz_desc share: numbers from the input's bytes, the context that is tested,
 * buffers of it, and what is demanded of every call. */
#ifndef TML_FUZZ_DESC_H
#define TML_FUZZ_DESC_H

#include <trommel/trommel.h>

#include "fuzz/demand.h"
#include "tests/measured.h"

extern tml_context *tml;

/* ---- numbers: once the bytes are used up each is 0, which stands for what is usual ----------- */

uint8_t take(void);
bool take_bool(void);
bool seldom(void); /* one in sixteen */
uint64_t below(uint64_t bound);
uint64_t wild(void); /* around 0 and powers of two; bytes that are all alike */
uint64_t mostly(uint64_t usual);
double wild_float(void); /* also NaN, infinite, subnormal */
double mostly_float(double usual);
tml_type take_scalar(void);

/* ---- buffers --------------------------------------------------------------------------------- */

typedef enum contents {
    CONTENTS_ANY,    /* floats also NaN, infinite, huge */
    CONTENTS_FINITE, /* small ones */
    CONTENTS_BELOW,  /* integers, most of them below a bound */
} contents;

/* Mostly what it says. Else none, or one that is stale, foreign, wild, too small, of another type,
 * or in use already. */
tml_buffer make(tml_type type, uint64_t count, contents contents, uint64_t bound);
/* The same as what the next call may write. */
tml_buffer make_out(tml_type type, uint64_t count);
/* A buffer that is there as an output of the next call, too. */
tml_buffer as_out(tml_buffer buffer);
/* None (zero bytes: none), or make_out. */
tml_buffer maybe_out(tml_type type, uint64_t count);
/* None, or scratch of mostly that size. */
tml_buffer make_scratch(size_t size);
/* Puts elements of our own into it, if it is what it was to be. */
void put(tml_buffer buffer, tml_type type, uint64_t count, const void *elements);
/* What a call made: destroyed at the end. */
tml_buffer keep(tml_buffer buffer);
uint64_t count_of(tml_buffer buffer);
/* The elements, in place; NULL: no buffer. */
const void *elements_of(tml_buffer buffer);
/* Number i of u32 or u64 elements. */
uint64_t number_of(tml_buffer buffer, uint64_t i);

/* ---- demands --------------------------------------------------------------------------------- */

/* What is asked of every call's status, its message, and the buffers it was not to change. True: it
 * succeeded. */
bool ended_well(const char *call, tml_status status);
#define CALL(function, ...) ended_well(#function, function(__VA_ARGS__))

/* Adds to what has to be the same for any number of threads. */
void note(const void *bytes, size_t size);
void note_number(uint64_t number);
void note_buffer(tml_buffer buffer);
void note_nothing(void); /* the input's results may differ from thread to thread */

/* ---- parts: each makes a desc or a few, and calls -------------------------------------------- */

void desc_scan(void);
void desc_reduce(void);
void desc_histogram(void);
void desc_sort(void);
void desc_top_k(void);
void desc_gather(void);
void desc_search(void);
void desc_by_key(void);
void desc_compact(void);
void desc_expand(void);
void desc_unique(void);
void desc_segments(void);
void desc_map(void);
void desc_surface(void);
void desc_surface_labels(void);
void desc_surface_slabs(void);
void desc_surface_enqueue(void);
void desc_field(void);
void desc_mesh(void);
void desc_measure(void);
void desc_mips(void);
void desc_subdivide(void);
void desc_collide(void);
void desc_buffers(void);

#endif
