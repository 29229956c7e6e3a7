/* Stores the pairs that depth-first descents find, in blocks of a common store. */
#include "collide/collide_pairs_depth.h"

static depth_block *store_block(const depth_call *call, uint32_t number)
{
    uint32_t store = 31 - (uint32_t)__builtin_clz(number / DEPTH_STORE_BLOCKS + 1);
    return &call->stores[store][number - (DEPTH_STORE_BLOCKS << store) + DEPTH_STORE_BLOCKS];
}

bool depth_store_is_empty(depth_call *call)
{
    return atomic_load_explicit(&call->blocks_taken, memory_order_relaxed) >= call->block_count;
}

/* Returns a place for one more pair; NULL if the store is empty. */
static tml_collide_pair *pair_place(depth_run *run)
{
    depth_call *call = run->call;
    if (run->last && run->last->count < DEPTH_BLOCK_PAIRS)
        return &run->last->pairs[run->last->count++];
    depth_block *block = run->last ? run->last->next : run->first;
    if (!block) {
        uint32_t number =
            depth_store_is_empty(call)
                ? UINT32_MAX
                : atomic_fetch_add_explicit(&call->blocks_taken, 1, memory_order_relaxed);
        if (number >= call->block_count)
            return NULL;
        block = store_block(call, number);
        block->next = NULL;
        *(run->last ? &run->last->next : &run->first) = block;
    }
    run->last = block;
    block->count = 1;
    return &block->pairs[0];
}

void depth_take(depth_run *run, uint32_t a_slot, uint32_t b_slot, bool is_sure)
{
    const collide_job *job = run->call->job;
    uint32_t a = job->a->ids[a_slot], b = job->b->ids[b_slot];
    tml_collide_class kind = TML_COLLIDE_CLASS_CROSSING;
    if (!is_sure) {
        run->unsure++;
        kind = collide_settle(job, run->pose, a_slot, b_slot);
    }
    if (!(job->classes >> kind & 1))
        return;
    run->count++;
    run->class_counts[kind]++;
    if (run->first_only) {
        run->is_over = true;
        uint32_t found = atomic_load_explicit(run->found, memory_order_relaxed);
        while (run->number < found &&
               !atomic_compare_exchange_weak_explicit(run->found, &found, run->number,
                                                      memory_order_relaxed, memory_order_relaxed))
            ;
    }
    if (job->want == TML_COLLIDE_WANT_COUNT)
        return;
    tml_collide_pair *place = pair_place(run);
    if (!place) {
        run->is_short = run->is_over = true;
        return;
    }
    bool is_turned = job->is_self && a > b;
    *place =
        (tml_collide_pair){is_turned ? b : a, is_turned ? a : b, run->pose_number, (uint32_t)kind};
}
