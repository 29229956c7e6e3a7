/* The counts of tml_expand, from the caller or from a kernel; and the number of outputs that
 * fit. */
#include <string.h>

#include "cpu/cpu_internal.h"
#include "cpu/cpu_locate.h"

void cpu_counts_bind(const tml_context *tml, const tml_expand_desc *desc, cpu_counts *out)
{
    *out = (cpu_counts){.memory = NULL};
    if (desc->count_kernel) {
        cpu_call_bind(tml, desc->count_kernel, &desc->params, desc->in, &out->call);
    } else {
        out->memory = cpu_memory(tml, desc->counts);
        out->size = tml_slot_of(tml, desc->counts)->element_size;
    }
}

void cpu_counts_read(const cpu_counts *counts, cpu_call_space *space, uint64_t first, size_t n,
                     uint32_t *out)
{
    if (counts->call.kernel) {
        cpu_call_run(&counts->call, space, first, n, out);
        return;
    }
    const unsigned char *in = counts->memory + first * counts->size;
    if (counts->size == sizeof(uint32_t))
        memcpy(out, in, n * sizeof *out);
    else
        cpu_widen(counts->size == 1 ? TML_U8 : TML_U16, in, n, out);
}

uint64_t cpu_expand_limit(const tml_context *tml, const tml_expand_desc *desc, uint64_t first,
                          uint64_t total)
{
    uint64_t capacity = tml_expand_capacity(tml, desc);
    return TML_MIN_OF(total, capacity - TML_MIN_OF(capacity, first));
}
