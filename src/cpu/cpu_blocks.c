/* Shared parts of the CPU engine's operations: lengths and counts in buffers, tiles by ticket,
 * decoupled look-back, kernels run block by block, and the three sources of keep bits.
 *
 * After: Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled Look-back. 2016. */
#include "cpu/cpu_internal.h"

#include <string.h>

#include "kernels/kernel.h"
#include "kernels/kernel_end.h"

/* ---- buffers -------------------------------------------------------------------------------- */

void *cpu_memory(const tml_context *tml, tml_buffer buffer)
{
    const tml_slot *slot = tml_slot_of(tml, buffer);
    return slot ? slot->memory : NULL;
}

uint64_t cpu_length(const tml_context *tml, const tml_length *length)
{
    const tml_slot *slot = tml_slot_of(tml, length->device);
    if (!slot)
        return length->count;
    tml_index value;
    cpu_load_indices(slot, length->device_index, 1, &value);
    return TML_MIN_OF(value, length->count);
}

void cpu_load_indices(const tml_slot *slot, uint64_t first, size_t count, tml_index *out)
{
    if (slot->type == TML_U32)
        for (size_t i = 0; i < count; i++)
            out[i] = ((const uint32_t *)slot->memory)[first + i];
    else
        memcpy(out, (const uint64_t *)slot->memory + first, count * sizeof *out);
}

uint64_t cpu_first(const tml_context *tml, tml_buffer out_first)
{
    const tml_length first = {.count = UINT64_C(1) << 63, .device = out_first};
    return tml_buffer_is_none(out_first) ? 0 : cpu_length(tml, &first);
}

void cpu_store_u64(const tml_context *tml, tml_buffer buffer, uint64_t index, uint64_t value)
{
    const tml_slot *slot = tml_slot_of(tml, buffer);
    if (!slot)
        return;
    if (slot->type == TML_U32)
        ((uint32_t *)slot->memory)[index] = (uint32_t)TML_MIN_OF(value, (uint64_t)UINT32_MAX);
    else
        ((uint64_t *)slot->memory)[index] = value;
}

/* ---- scratch -------------------------------------------------------------------------------- */

void *cpu_arena_take(cpu_arena *arena, uint64_t count, size_t element_size)
{
    uint64_t size;
    size_t offset = arena->size;
    if (!tml_mul(count, element_size, &size) || size > SIZE_MAX - TML_ALIGNMENT - offset) {
        arena->size = SIZE_MAX - TML_ALIGNMENT; /* no arena can be so large: OUT_OF_MEMORY */
        return NULL;
    }
    arena->size = TML_ALIGN_UP(offset + (size_t)size, (size_t)TML_ALIGNMENT);
    return arena->memory ? arena->memory + offset : NULL;
}

/* ---- tiles in parallel ---------------------------------------------------------------------- */

uint32_t cpu_workers(const tml_context *tml, uint64_t tile_count)
{
    uint32_t concurrency = tml_concurrency(tml);
    return tile_count < concurrency ? (uint32_t)tile_count : concurrency;
}

void cpu_run_tiles(tml_context *tml, cpu_tickets *tickets, uint64_t tile_count, tml_task_fn worker,
                   void *job)
{
    atomic_init(&tickets->next, 0);
    tickets->count = tile_count;
    tml_parallel_for(tml, cpu_workers(tml, tile_count), worker, job);
}

bool cpu_take_tile(cpu_tickets *tickets, uint64_t *tile)
{
    /* Relaxed: a ticket does not order memory accesses; tiles exchange values through links. */
    *tile = atomic_fetch_add_explicit(&tickets->next, 1, memory_order_relaxed);
    return *tile < tickets->count;
}

tml_status cpu_finish(tml_context *tml, const char *call)
{
    if (tml_is_cancelled(tml))
        return tml_error(tml, TML_ERROR_CANCELLED, "%s: cancelled; its outputs are undefined",
                         call);
    return TML_OK;
}

enum { LINK_EMPTY, LINK_SUM, LINK_PREFIX };

/* Waits until a predecessor's link has at least this state. The predecessor's worker is running
 * (see cpu_tickets) but may be preempted, so after a short spin this thread yields its
 * processor. */
static uint32_t await(cpu_link *link, uint32_t state)
{
    enum { SPINS_BEFORE_YIELD = 256 };
    for (uint32_t spins = 0;; spins++) {
        /* Acquire, paired with the release in publish: makes the aggregate or prefix visible, and
         * orders the predecessor's reads of its tile before writes here (compaction in place). */
        uint32_t seen = atomic_load_explicit(&link->state, memory_order_acquire);
        if (seen >= state)
            return seen;
        if (spins >= SPINS_BEFORE_YIELD)
            tml_thread_yield();
#if SIMD_X86
        else
            _mm_pause();
#endif
    }
}

static void publish(cpu_link *link, uint32_t state)
{
    atomic_store_explicit(&link->state, state, memory_order_release);
}

cpu_number cpu_look_back(cpu_link *links, uint64_t tile, cpu_number sum, unsigned how)
{
    cpu_number before = {0};
    if (tile > 0) {
        links[tile].sum = sum;
        publish(&links[tile], LINK_SUM);
        uint64_t known = tile - 1;
        while (await(&links[known], LINK_SUM) != LINK_PREFIX) /* tile 0 publishes only a prefix */
            known--;
        before = links[known].prefix;
        while (++known < tile)
            before = cpu_add(before, links[known].sum, how);
    }
    links[tile].prefix = cpu_add(before, sum, how);
    publish(&links[tile], LINK_PREFIX);
    return before;
}

/* ---- kernels on blocks ---------------------------------------------------------------------- */

/* Plain loops, which every compiler vectorises. */
#define WIDEN(From, To, expression)                                                                \
    for (size_t i = 0; i < count; i++) {                                                           \
        From x = ((const From *)in)[i];                                                            \
        ((To *)out)[i] = expression;                                                               \
    }                                                                                              \
    break

ALWAYS_INLINE void widen(tml_type element, const void *restrict in, size_t count,
                         void *restrict out)
{
    switch (element) {
    case TML_F16:
        WIDEN(uint16_t, float, tml_half_to_float(x));
    case TML_U8:
        WIDEN(uint8_t, uint32_t, x);
    case TML_U16:
        WIDEN(uint16_t, uint32_t, x);
    case TML_I8:
        WIDEN(int8_t, int32_t, x);
    case TML_I16:
        WIDEN(int16_t, int32_t, x);
    default:
        assert(!"widen: the type is not widened");
    }
}
SIMD_INSTANTIATE(void, widen, (tml_type element, const void *in, size_t count, void *out),
                 widen(element, in, count, out))

void cpu_widen(tml_type element, const void *in, size_t count, void *out)
{
    static void (*const table[TML_SIMD_LEVELS])(tml_type, const void *, size_t, void *) =
        SIMD_EACH_LEVEL(widen);
    table[tml_simd_level()](element, in, count, out);
}

void cpu_call_bind(const tml_context *tml, const tml_kernel *kernel, const tml_params *params,
                   const tml_buffer in[TML_MAX_INPUTS], cpu_call *out)
{
    *out = (cpu_call){.kernel = kernel, .params = *params};
    uint32_t next = 0;
    for (uint32_t p = 0; p < kernel->param_count; p++) {
        if (!tml_param_is_array(kernel->params[p]))
            continue;
        const tml_slot *slot = tml_slot_of(tml, in[next]);
        bool is_words = kernel->params[p] == TML_PARAM_WORDS;
        out->in[p] =
            (struct cpu_column){slot->memory,       slot->type,
                                slot->element_size, !is_words && slot->type != kernel->params[p],
                                is_words,           next++};
    }
}

static const void *widened(const struct cpu_column *column, const void *in, size_t count,
                           uint32_t *space)
{
    if (!column->widen)
        return in;
    cpu_widen(column->element, in, count, space);
    return space;
}

void cpu_call_run(const cpu_call *call, cpu_call_space *space, uint64_t first, size_t count,
                  void *out)
{
    cpu_call_run_outs(call, space, first, count, (void *const[TML_MAX_OUTS]){out});
}

void cpu_call_run_outs(const cpu_call *call, cpu_call_space *space, uint64_t first, size_t count,
                       void *const outs[TML_MAX_OUTS])
{
    tml_kernel_block block = {.params = &call->params,
                              .out = outs[0],
                              .outs = {outs[0], outs[1], outs[2], outs[3]},
                              .first = first,
                              .count = count,
                              .simd = tml_simd_level()};
    for (uint32_t p = 0; p < call->kernel->param_count; p++) {
        const struct cpu_column *column = &call->in[p];
        if (column->is_words)
            block.in[p] = column->memory;
        else if (column->memory)
            block.in[p] = widened(column, column->memory + first * column->element_size, count,
                                  space->widened[column->number]);
    }
    call->kernel->run(&block);
}

#define GATHER(size)                                                                               \
    for (size_t i = 0; i < count; i++)                                                             \
    memcpy(out + i * (size), in + index[i] * (size), size)

void cpu_gather(const void *from, size_t size, const tml_index *index, size_t count, void *to)
{
    const unsigned char *in = from;
    unsigned char *out = to;
    switch (size) { /* a copy of constant size is one or two moves */
    case 1:
        GATHER(1);
        break;
    case 2:
        GATHER(2);
        break;
    case 4:
        GATHER(4);
        break;
    case 8:
        GATHER(8);
        break;
    case 12:
        GATHER(12);
        break;
    case 16:
        GATHER(16);
        break;
    default:
        GATHER(size);
    }
}

void cpu_call_run_at(const cpu_call *call, cpu_gather_space *space, const tml_index *index,
                     const tml_rank *rank, size_t count, void *const outs[TML_MAX_OUTS])
{
    tml_kernel_block block = {.index = index,
                              .rank = rank,
                              .params = &call->params,
                              .out = outs[0],
                              .outs = {outs[0], outs[1], outs[2], outs[3]},
                              .count = count,
                              .simd = tml_simd_level()};
    for (uint32_t p = 0; p < call->kernel->param_count; p++) {
        const struct cpu_column *column = &call->in[p];
        uint32_t a = column->number;
        if (column->is_words)
            block.in[p] = column->memory;
        if (column->is_words || !column->memory)
            continue;
        cpu_gather(column->memory, column->element_size, index, count, space->gathered[a]);
        block.in[p] = widened(column, space->gathered[a], count, space->call.widened[a]);
    }
    call->kernel->run(&block);
}

/* ---- what is kept --------------------------------------------------------------------------- */

void cpu_keep_bind(const tml_context *tml, const tml_keep *keep, cpu_keep *out)
{
    *out = (cpu_keep){.flags = cpu_memory(tml, keep->flags), .mask = cpu_memory(tml, keep->mask)};
    if (keep->kernel)
        cpu_call_bind(tml, keep->kernel, &keep->params, keep->in, &out->call);
}

void cpu_keep_words(const cpu_keep *keep, cpu_keep_space *space, uint64_t first, size_t count,
                    uint64_t *words)
{
    if (keep->call.kernel) {
        cpu_call_run(&keep->call, &space->call, first, count, space->results);
        cpu_bits_of_bytes(space->results, count, words);
    } else if (keep->flags) {
        cpu_bits_of_bytes(keep->flags + first, count, words);
    } else {
        const uint32_t *halves = (const uint32_t *)(const void *)keep->mask + first / 32;
        size_t half_count = (count + 31) / 32;
        for (size_t w = 0; w < (count + 63) / 64; w++) {
            uint64_t high = 2 * w + 1 < half_count ? halves[2 * w + 1] : 0;
            words[w] = halves[2 * w] | high << 32;
        }
        if (count % 64)
            words[count / 64] &= ~(UINT64_MAX << count % 64);
    }
}
