/* Shared by the CPU engine's files only (programs use cpu_parts.h): decoupled look-back, kernels
 * run on blocks, folds, scans, keep bits, and the packing of kept elements. */
#ifndef TML_CPU_INTERNAL_H
#define TML_CPU_INTERNAL_H

#include "cpu/cpu_parts.h"

/* ---- lengths and counts --------------------------------------------------------------------- */

/* The stream's current length: the value of length->device, at most the bound; without a device
 * length, the bound. */
uint64_t cpu_length(const tml_context *tml, const tml_length *length);

/* Is none of count + 1 offsets, u32 or u64, less than its predecessor? */
bool cpu_offsets_rise(tml_context *tml, const tml_slot *offsets, uint64_t count);

/* Loads elements [first, first + count) of a u32 or u64 buffer. */
void cpu_load_indices(const tml_slot *slot, uint64_t first, size_t count, tml_index *out);

/* The index of the first output element (desc.out_first): 0 without a buffer, at most 2^63. */
uint64_t cpu_first(const tml_context *tml, tml_buffer out_first);

/* Stores value to element index of a u32 or u64 buffer; a u32 saturates. Does nothing if there is
 * no buffer. */
void cpu_store_u64(const tml_context *tml, tml_buffer buffer, uint64_t index, uint64_t value);
#define cpu_store_count(tml, buffer, value) cpu_store_u64(tml, buffer, 0, value)

/* ---- decoupled look-back --------------------------------------------------------------------- */

/* A value of a fold or scan: u or i modulo 2^64, or f. */
typedef union cpu_number {
    uint64_t u;
    int64_t i;
    double f;
} cpu_number;

/* a + b modulo 2^64 or as floats, or the larger one. */
enum { CPU_ADD_INTEGERS, CPU_ADD_REALS, CPU_MOST };
static inline cpu_number cpu_add(cpu_number a, cpu_number b, unsigned how)
{
    if (how == CPU_MOST)
        return a.u > b.u ? a : b;
    return how == CPU_ADD_REALS ? (cpu_number){.f = a.f + b.f} : (cpu_number){.u = a.u + b.u};
}

/* Decoupled look-back (Merrill, Garland 2016). A tile publishes its aggregate, then its inclusive
 * prefix. To find its exclusive prefix, a tile walks back over aggregates to the nearest inclusive
 * prefix, and adds the aggregates after that prefix in ascending order. So a float result is that
 * of sequential addition, wherever the walk ended. */
typedef struct cpu_link {
    _Atomic uint32_t state; /* LINK_EMPTY (0), LINK_SUM or LINK_PREFIX */
    cpu_number sum;         /* the tile's aggregate; valid from LINK_SUM on */
    cpu_number prefix;      /* the inclusive prefix; valid from LINK_PREFIX on */
} cpu_link;

/* Publishes a tile's aggregate and returns its exclusive prefix. Links must be zeroed before. */
cpu_number cpu_look_back(cpu_link *links, uint64_t tile, cpu_number sum, unsigned how);

/* ---- kernels on blocks ---------------------------------------------------------------------- */

/* Items in a block, over which a kernel runs at a time: the kernel's inputs, results and widened
 * copies stay in the first-level cache. A multiple of 64. */
enum { CPU_BLOCK = 1024 };

/* A kernel bound to its inputs. */
typedef struct cpu_call {
    const tml_kernel *kernel;
    tml_params params;
    struct cpu_column {
        const unsigned char *memory; /* NULL: no array parameter, or an empty buffer */
        tml_type element;
        size_t element_size;
        bool widen;
        bool is_words;    /* read as a whole, not element by element */
        uint32_t number;  /* index among the array parameters */
    } in[TML_MAX_PARAMS]; /* by parameter */
} cpu_call;

/* One worker's widened inputs. */
typedef struct cpu_call_space {
    uint32_t widened[TML_MAX_INPUTS][CPU_BLOCK];
} cpu_call_space;

/* Binds a checked kernel. */
void cpu_call_bind(const tml_context *tml, const tml_kernel *kernel, const tml_params *params,
                   const tml_buffer in[TML_MAX_INPUTS], cpu_call *out);
/* Runs items [first, first + count), count <= CPU_BLOCK, into out (the kernel's result type). */
void cpu_call_run(const cpu_call *call, cpu_call_space *space, uint64_t first, size_t count,
                  void *out);
/* The same into all outputs of a kernel that may have several. */
void cpu_call_run_outs(const cpu_call *call, cpu_call_space *space, uint64_t first, size_t count,
                       void *const outs[TML_MAX_OUTS]);
/* The same for items at arbitrary indices (expand's emit kernel). Arrays are gathered at index[i],
 * which is also the kernel's tml_index; rank[i] is its tml_rank. */
typedef struct cpu_gather_space {
    cpu_call_space call;
    _Alignas(64) unsigned char gathered[TML_MAX_INPUTS][CPU_BLOCK * 16]; /* f32x4 is the largest */
} cpu_gather_space;
void cpu_call_run_at(const cpu_call *call, cpu_gather_space *space, const tml_index *index,
                     const tml_rank *rank, size_t count, void *const outs[TML_MAX_OUTS]);

/* Widens count elements to the types of kernel parameters: f16 to float, u8 and u16 to uint32_t, i8
 * and i16 to int32_t. */
void cpu_widen(tml_type element, const void *in, size_t count, void *out);

/* ---- places in a sorted stream (cpu_search.c) ------------------------------------------------ */

enum { CPU_SEARCH_BLOCK = 256 };
typedef struct cpu_search {
    const void *sorted;
    const unsigned char *queries;
    size_t size; /* of an element */
    uint64_t sorted_length, flip, real_flip, minus_zero;
    bool upper;
} cpu_search;
void cpu_search_bind(const tml_context *tml, const tml_search_resolved *resolved, cpu_search *out);
/* The bins of queries [first, first + count) (tml_search_resolved.as_bins). */
void cpu_search_bins(const cpu_search *s, uint64_t first, size_t count, uint32_t *bins);

/* ---- folds (cpu_fold.c) --------------------------------------------------------------------- */

/* Elements in a fold's block; fixes the addition order of float sums. */
#define CPU_FOLD_BLOCK ((uint64_t)64 << 10)

/* A tml_fold bound to a buffer of scalars, or to a component of vectors. */
typedef struct cpu_fold {
    tml_fold kind;
    tml_type type; /* of the scalar */
    const unsigned char *in;
    size_t size; /* from one element to the next */
    size_t (*find)(const void *in, size_t size, size_t count, cpu_number value);
    cpu_number (*block)(const void *scalars, size_t count);
} cpu_fold;
typedef struct cpu_total { /* begins zeroed */
    cpu_number value;
    uint64_t first; /* extremes: first element of the block that holds value */
    bool started;
} cpu_total;

void cpu_fold_bind(const tml_context *tml, tml_fold kind, tml_buffer in, uint32_t component,
                   cpu_fold *out);
/* For scalars: folds elements [first, first + count), count <= CPU_FOLD_BLOCK. */
cpu_number cpu_fold_block(const cpu_fold *fold, uint64_t first, size_t count);
/* Combines total with the result of the next block, which begins at first. */
void cpu_fold_join(const cpu_fold *fold, cpu_total *total, uint64_t first, cpu_number value);
/* Writes the result of elements [first, end) as one out_type, once all their blocks are joined. */
void cpu_fold_store(const cpu_fold *fold, const cpu_total *total, uint64_t first, uint64_t end,
                    void *out, tml_type out_type);
/* Folds elements [first, end) in this thread, and writes the result. */
void cpu_fold_range(const cpu_fold *fold, uint64_t first, uint64_t end, void *out,
                    tml_type out_type);

/* ---- scans (cpu_scan.c) --------------------------------------------------------------------- */

/* Items in a tile of a scan: a tile of doubles takes 32 KiB, about a first-level cache. This number
 * fixes the addition order of float sums. */
enum { CPU_SCAN_TILE = 4096 };

/* A scan bound to its buffers. sums has integers of out's size, or doubles for floats; sums[0] is
 * 0. */
typedef void (*cpu_scan_tile_fn)(const void *in, size_t count, void *sums);
typedef void (*cpu_scan_add_fn)(const void *sums, cpu_number before, size_t count, void *out);
typedef struct cpu_scan {
    cpu_scan_tile_fn tile;
    cpu_scan_add_fn add;
    bool inclusive, is_real, stream;
    unsigned how;                    /* sums are joined by cpu_add */
    uint64_t flip, real_flip, least; /* CPU_MOST: sums are codes, as in tml_scan_resolved */
    const unsigned char *in;
    unsigned char *out;
    size_t in_size, out_size, sum_size;
} cpu_scan;
/* One worker's tile. CPU_SCAN_SLACK more elements allow a vector of that length to begin at any sum
 * and at any element of ready. */
enum { CPU_SCAN_SLACK = 16 };
typedef struct cpu_scan_space {
    _Alignas(64) uint64_t sums[CPU_SCAN_TILE + 1 + CPU_SCAN_SLACK];
    _Alignas(64) uint64_t ready[CPU_SCAN_TILE + CPU_SCAN_SLACK]; /* results, of out's type */
} cpu_scan_space;

void cpu_scan_bind(const tml_context *tml, tml_buffer in, tml_buffer out, bool inclusive,
                   cpu_scan *scan);
/* Scans elements [first, first + count), count <= CPU_SCAN_TILE, from zero into space. Returns the
 * sum. */
cpu_number cpu_scan_read(const cpu_scan *scan, cpu_scan_space *space, uint64_t first, size_t count);
/* Writes the sums of cpu_scan_read from space to out. Adds before, the exclusive prefix, to
 * each. */
void cpu_scan_write(const cpu_scan *scan, cpu_scan_space *space, uint64_t first, size_t count,
                    cpu_number before);

/* ---- what is kept --------------------------------------------------------------------------- */

/* Source of keep bits, one per item in 64-bit words: a kernel, byte flags or a bit mask. */
typedef struct cpu_keep {
    cpu_call call; /* call.kernel NULL: flags or mask */
    const unsigned char *flags;
    const unsigned char *mask;
} cpu_keep;
typedef struct cpu_keep_space {
    cpu_call_space call;
    _Alignas(64) uint8_t results[CPU_BLOCK];
} cpu_keep_space;

void cpu_keep_bind(const tml_context *tml, const tml_keep *keep, cpu_keep *out);
/* Keep bits of items [first, first + count): first is a multiple of 64, count <= CPU_BLOCK; the
 * last word's bits past count are zero. */
void cpu_keep_words(const cpu_keep *keep, cpu_keep_space *space, uint64_t first, size_t count,
                    uint64_t *words);

/* Compaction by keep bits that the caller of this function provides (cpu_compact.c). Uses desc's
 * payloads, indices, length and method, but neither its keep nor its count. Returns the number of
 * kept items. */
size_t cpu_compact_by_scratch_size(tml_context *tml, const tml_compact_desc *desc);
uint64_t cpu_compact_by(tml_context *tml, const tml_compact_desc *desc, const cpu_keep *keep,
                        void *scratch);

/* ---- mask words, packing, copies (cpu_compress.c) ------------------------------------------- */

/* Bit i of words is bytes[i] != 0; the last word's bits past count are zero. */
void cpu_bits_of_bytes(const uint8_t *bytes, size_t count, uint64_t *words);
/* Number of set bits in count words. */
uint64_t cpu_count_bits(const uint64_t *words, size_t count);

/* Packs the elements whose bits are set, in order, and returns their number. May overwrite up to
 * CPU_SLACK bytes behind them. cpu_compress_for selects a function for elements of 1 to 64
 * bytes. */
enum { CPU_SLACK = 64 };
typedef size_t (*cpu_compress_fn)(const void *in, const uint64_t *words, size_t count, size_t size,
                                  void *out);
cpu_compress_fn cpu_compress_for(size_t element_size);

#endif
