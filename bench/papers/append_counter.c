/* Unordered append: kept elements take the next number of one atomic counter. The chapter says of
 * future hardware that "a central running sum register" would make filtering linear, and "destroy
 * any order". Such hardware exists now. Here a subgroup, or on the CPU a block of records, asks for
 * as many numbers as it keeps, so outputs are in order only within a subgroup or block. The row
 * shows the cost of the library's order. Fragment shaders of OpenGL ES 3.0 have no atomics.
 *
 * After: Horn: Stream Reduction Operations for GPGPU Applications. GPU Gems 2, chapter 36, section
 * 4. 2005. */
#include "papers_internal.h"

#include <stdatomic.h>

#include "core/core_internal.h"
#ifdef TML_VULKAN
#    include "vulkan/vulkan_parts.h"
/* Arguments are in the language of kernels/kernel.h. */
#    include "kernels/kernel.h"
#    include "vulkan/append_args.k.h"
/* It ends here. */
#    include "kernels/kernel_end.h"
#    include "papers_vulkan_shaders.h"
#endif

/* ---- on the host ----------------------------------------------------------------------------- */

enum { BLOCK = 1024 };

typedef struct append_job {
    const uint32_t *flags, *in;
    uint32_t *out;
    uint64_t count, room;
    _Atomic uint32_t counter;
} append_job;

static void append_block(void *argument, uint32_t block)
{
    append_job *job = argument;
    uint64_t first = (uint64_t)block * BLOCK, end = TML_MIN_OF(first + BLOCK, job->count);
    uint32_t kept = 0;
    for (uint64_t i = first; i < end; i++)
        kept += job->flags[i];
    uint64_t at = atomic_fetch_add_explicit(&job->counter, kept, memory_order_relaxed);
    for (uint64_t i = first; i < end && at < job->room; i++)
        if (job->flags[i])
            job->out[at++] = job->in[i];
}

static tml_status append_on_host(tml_context *tml, const papers_filter_desc *desc, uint64_t room)
{
    const tml_buffer buffers[] = {desc->space->words[0], desc->in, desc->out, desc->count};
    uint32_t *at[4] = {NULL};
    append_job job = {.count = desc->space->count, .room = room};
    tml_status status = TML_OK;
    for (int i = 0; i < 4 && !status; i++) {
        void *memory;
        status = tml_buffer_map(tml, buffers[i], &memory);
        at[i] = status ? NULL : memory;
    }
    if (!status) {
        job.flags = at[0];
        job.in = at[1];
        job.out = at[2];
        tml_parallel_for(tml, (uint32_t)TML_CEIL_DIV(job.count, (uint64_t)BLOCK), append_block,
                         &job);
        *at[3] = atomic_load(&job.counter);
    }
    for (int i = 0; i < 4 && at[i]; i++)
        tml_buffer_unmap(tml, buffers[i]);
    return status;
}

/* ---- on a GPU -------------------------------------------------------------------------------- */

#ifdef TML_VULKAN
static tml_status append_on_vulkan(tml_context *tml, const papers_filter_desc *desc, uint64_t room)
{
    const append_args args = {.flags = vk_address_of(tml, desc->space->words[0]),
                              .from = vk_address_of(tml, desc->in),
                              .to = vk_address_of(tml, desc->out),
                              .counter = vk_address_of(tml, desc->count),
                              .count = (uint32_t)desc->space->count,
                              .room = (uint32_t)TML_MIN_OF(room, UINT32_MAX)};
    tml_status status = vk_fill(tml, args.counter, 1, 0);
    return status ? status
                  : vk_dispatch(tml,
                                &(vk_dispatch_info){
                                    .module = &vk_shader_append,
                                    .args = &args,
                                    .args_size = sizeof args,
                                    .groups = TML_CEIL_DIV(desc->space->count, (uint64_t)VK_GROUP),
                                });
}
#endif

tml_status papers_append_filter(tml_context *tml, const papers_filter_desc *desc)
{
    uint64_t room = 0;
    tml_buffer_describe(tml, desc->out, NULL, &room);
    if (tml->engine->kind == TML_ENGINE_GL)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "append: fragment shaders of OpenGL ES 3.0 have no atomic counter");
    tml_status status = papers_count(tml, desc);
#ifdef TML_VULKAN
    if (!status && tml->engine == &tml_vulkan_engine)
        return append_on_vulkan(tml, desc, room);
#endif
    return status ? status : append_on_host(tml, desc, room);
}
