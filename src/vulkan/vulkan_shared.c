/* Steps that operations share: fills, copies, lengths and passes, counts, look-back states. */
#include "core/call.h"
#include "vulkan/vulkan_device.h"
#include "vulkan_shaders.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"

#include "kernels/kernel_end.h"

#define GROUPS_OF(items) (((items) + VK_GROUP - 1) / VK_GROUP)

/* Words that one dispatch fills or copies. */
static const uint64_t part_words = (uint64_t)1 << 28;

tml_status vk_fill(tml_context *tml, vk_address at, uint64_t count, uint32_t value)
{
    tml_status status = TML_OK;
    for (uint64_t done = 0; done < count && status == TML_OK; done += part_words) {
        uint64_t part = TML_MIN_OF(count - done, part_words);
        const fill_args args = {.at = at + 4 * done, .count = (uint32_t)part, .value = value};
        status = vk_dispatch(tml, &(vk_dispatch_info){.module = &vk_shader_fill,
                                                      .args = &args,
                                                      .args_size = sizeof args,
                                                      .groups = GROUPS_OF(part)});
    }
    return status;
}

tml_status vk_copy(tml_context *tml, vk_address out, vk_address in, uint64_t size)
{
    uint64_t count = size / 4;
    tml_status status = TML_OK;
    for (uint64_t done = 0; done < count && status == TML_OK; done += part_words) {
        uint64_t part = TML_MIN_OF(count - done, part_words);
        const copy_args args = {
            .to = out + 4 * done, .from = in + 4 * done, .count = (uint32_t)part};
        status = vk_dispatch(tml, &(vk_dispatch_info){.module = &vk_shader_copy,
                                                      .args = &args,
                                                      .args_size = sizeof args,
                                                      .groups = GROUPS_OF(part)});
    }
    return status;
}

/* ---- lengths and passes ---------------------------------------------------------------------- */

vk_passes vk_passes_take(tml_context *tml, const tml_length *length, vk_arena *arena)
{
    return vk_passes_take_of(length, vk_caps_of(tml)->pass_items, arena);
}

vk_passes vk_passes_take_of(const tml_length *length, uint64_t items, vk_arena *arena)
{
    vk_passes passes = {.count = TML_MAX_OF(TML_CEIL_DIV(length->count, items), (uint64_t)1),
                        .bound = length->count,
                        .items = items};
    if (!tml_buffer_is_none(length->device)) {
        passes.total = vk_take(arena, 1, sizeof(uint64_t));
        passes.lengths = vk_take(arena, passes.count, VK_PASS_SIZE);
    }
    return passes;
}

_Static_assert(VK_PASS_SIZE == (1 + 3 * LENGTHS_GRIDS) * sizeof(uint32_t), "room for all");

static vk_address grids_of(const vk_passes *passes)
{
    return passes->lengths + sizeof(uint32_t) * passes->count;
}

tml_status vk_passes_read(tml_context *tml, vk_address from, bool wide, const vk_passes *passes)
{
    uint32_t pass_log2 = 0;
    while ((uint64_t)1 << pass_log2 < passes->items)
        pass_log2++;
    const lengths_args args = {.from = from,
                               .total = passes->total,
                               .lengths = passes->lengths,
                               .grids = grids_of(passes),
                               .bound_low = (uint32_t)passes->bound,
                               .bound_high = (uint32_t)(passes->bound >> 32),
                               .wide = wide,
                               .count = (uint32_t)passes->count,
                               .pass_log2 = pass_log2,
                               .grid_x = VK_GROUPS_X};
    return vk_dispatch(tml, &(vk_dispatch_info){.module = &vk_shader_lengths,
                                                .args = &args,
                                                .args_size = sizeof args,
                                                .groups = GROUPS_OF(passes->count)});
}

tml_status vk_passes_begin(tml_context *tml, const tml_length *length, const vk_passes *passes)
{
    if (!passes->lengths)
        return TML_OK;
    const tml_slot *slot = tml_slot_of(tml, length->device);
    return vk_passes_read(tml, vk_slot_address(slot) + length->device_index * slot->element_size,
                          slot->type == TML_U64, passes);
}

tml_status vk_passes_lend(tml_context *tml, const tml_length *length, vk_passes *passes)
{
    /* Bounds up to which empty workgroups cost less than a dispatch and its barrier. */
    const uint64_t most = vk_caps_of(tml)->is_software ? UINT64_C(1) << 16 : UINT64_C(1) << 22;
    const tml_slot *slot = tml_slot_of(tml, length->device);
    if (!passes->lengths || passes->count > 1 || passes->bound > most || slot->type != TML_U32)
        return vk_passes_begin(tml, length, passes);
    passes->lengths = vk_slot_address(slot) + length->device_index * slot->element_size;
    passes->is_lent = true;
    return TML_OK;
}

vk_pass vk_pass_at(const vk_passes *passes, uint64_t number)
{
    uint64_t first = number * passes->items;
    vk_pass pass = {.first = first,
                    .bound = (uint32_t)TML_MIN_OF(passes->bound - first, passes->items)};
    if (passes->lengths)
        pass.length = passes->lengths + sizeof(uint32_t) * number;
    if (passes->lengths && !passes->is_lent)
        pass.grids = grids_of(passes) + 3 * sizeof(uint32_t) * LENGTHS_GRIDS * number;
    return pass;
}

vk_address vk_pass_grid(const vk_pass *pass, uint32_t items)
{
    /* A few empty workgroups return sooner than the device can read an indirect grid. */
    enum { WORTH_A_GRID = 64 };
    uint32_t grid = 0;
    while (1u << (LENGTHS_GRID_LOG2 + grid) < items)
        grid++;
    assert(1u << (LENGTHS_GRID_LOG2 + grid) == items && grid < LENGTHS_GRIDS);
    return pass->grids && pass->bound / WORTH_A_GRID > items
               ? pass->grids + 3 * sizeof(uint32_t) * grid
               : 0;
}

/* ---- counts ---------------------------------------------------------------------------------- */

tml_status vk_first_read(tml_context *tml, tml_buffer out_first, vk_address to)
{
    const tml_slot *slot = tml_slot_of(tml, out_first);
    const lengths_args args = {.from = vk_slot_address(slot),
                               .total = to,
                               .bound_high = UINT32_C(1) << 31,
                               .wide = slot->type == TML_U64,
                               .pass_log2 = 1};
    return vk_dispatch(tml, &(vk_dispatch_info){.module = &vk_shader_lengths,
                                                .args = &args,
                                                .args_size = sizeof args,
                                                .groups = 1});
}

tml_status vk_store_count(tml_context *tml, tml_buffer out, vk_address from)
{
    return vk_store_end(tml, out, from, 0);
}

tml_status vk_store_end(tml_context *tml, tml_buffer out, vk_address from, vk_address base)
{
    if (tml_buffer_is_none(out))
        return TML_OK;
    const tml_slot *slot = tml_slot_of(tml, out);
    const store_count_args args = {
        .to = vk_slot_address(slot), .from = from, .base = base, .wide = slot->type == TML_U64};
    return vk_dispatch(tml, &(vk_dispatch_info){.module = &vk_shader_store_count,
                                                .args = &args,
                                                .args_size = sizeof args,
                                                .groups = 1});
}

static tml_status check_indirect(tml_context *tml, const tml_vulkan_indirect_desc *desc)
{
    static const tml_type count_types[] = {TML_U32, TML_U64, TML_TYPE_NONE};
    static const tml_type out_types[] = {TML_U32, TML_TYPE_NONE};
    static const uint32_t words[] = {3, 4, 5, 4, 5};
    static const char call[] = "tml_vulkan_indirect";
    if (tml->engine->kind != TML_ENGINE_VULKAN)
        return tml_error(tml, TML_ERROR_UNSUPPORTED, "%s: the context is not on Vulkan", call);
    if ((unsigned)desc->kind > TML_VULKAN_INDIRECT_INSTANCES_INDEXED)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: desc.kind is %d, needs 0 to 4", call,
                         (int)desc->kind);
    bool is_dispatch = desc->kind == TML_VULKAN_INDIRECT_DISPATCH,
         is_indexed = words[desc->kind] == 5;
    if ((is_dispatch && (desc->first || desc->first_instance)) ||
        (!is_indexed && desc->vertex_offset))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.%s is not 0, but desc.kind is %d, whose command has none; leave "
                         "it zeroed",
                         call,
                         is_dispatch && desc->first            ? "first"
                         : is_dispatch && desc->first_instance ? "first_instance"
                                                               : "vertex_offset",
                         (int)desc->kind);
    if (desc->count_index == UINT64_MAX || desc->out_index > UINT64_MAX - 5)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: an index is out of every range",
                         call);
    tml_status status =
        tml_check_buffer(tml, call, "desc.count", desc->count, count_types, desc->count_index + 1);
    return status ? status
                  : tml_check_buffer(tml, call, "desc.out", desc->out, out_types,
                                     desc->out_index + words[desc->kind]);
}

static tml_status indirect(tml_context *tml, const tml_vulkan_indirect_desc *desc)
{
    tml_status status = check_indirect(tml, desc);
    if (status != TML_OK)
        return status;
    const tml_slot *count = tml_slot_of(tml, desc->count);
    uint64_t limit = desc->limit ? desc->limit : UINT64_MAX;
    const indirect_args args = {.to = vk_address_of(tml, desc->out) + 4 * desc->out_index,
                                .from = vk_slot_address(count) +
                                        desc->count_index * count->element_size,
                                .kind = (uint32_t)desc->kind,
                                .wide = count->type == TML_U64,
                                .limit_low = (uint32_t)limit,
                                .limit_high = (uint32_t)(limit >> 32),
                                .group = TML_MAX_OF(desc->group, 1u),
                                .first = desc->first,
                                .vertex_offset = desc->vertex_offset,
                                .first_instance = desc->first_instance};
    return vk_dispatch(tml, &(vk_dispatch_info){.module = &vk_shader_indirect,
                                                .args = &args,
                                                .args_size = sizeof args,
                                                .groups = 1});
}

tml_status tml_vulkan_indirect(tml_context *tml, const tml_vulkan_indirect_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, indirect(tml, desc));
}

/* ---- look-back states ------------------------------------------------------------------------ */

static tml_status states_grow(tml_context *tml, uint32_t count)
{
    vk_device *device = vk_device_of(tml);
    uint32_t capacity = TML_MAX_OF(device->state_capacity, 1u << 16);
    while (capacity < count)
        capacity *= 2;
    tml_status status = TML_OK;
    for (int i = 0; i < 2 && status == TML_OK; i++) {
        vk_memory_discard(tml, device->states[i]);
        device->states[i] = NULL;
        device->state_capacity = 0;
        device->state_zeroed[i] = device->state_dirty[i] = 0;
        status = vk_memory_take(tml, "look-back states", VK_MEMORY_DEVICE,
                                (VkDeviceSize)capacity * 4, &device->states[i]);
    }
    if (status == TML_OK)
        device->state_capacity = capacity;
    return status;
}

/* Block n has state_zeroed[n] zero words, except that its last user wrote the first state_dirty[n]
 * of these. An operation zeroes the dirty words of the block that it does not use. */
tml_status vk_take_states(tml_context *tml, uint32_t count, vk_address own, vk_states *out)
{
    vk_device *device = vk_device_of(tml);
    *out = (vk_states){0};
    if (vk_is_recording(tml)) {
        *out = (vk_states){.words = own, .stalled = device->stalled->address};
        return vk_fill(tml, own, count, 0);
    }
    if (count > device->state_capacity) {
        tml_status status = states_grow(tml, count);
        if (status != TML_OK)
            return status;
    }
    uint32_t use = device->state_next, other = 1 - use;
    out->words = device->states[use]->address;
    out->stalled = device->stalled->address;
    if (device->state_dirty[use] || device->state_zeroed[use] < count) {
        uint32_t words = TML_MAX_OF(count, device->state_dirty[use]);
        tml_status status = vk_fill(tml, out->words, words, 0);
        if (status != TML_OK)
            return status;
        device->state_zeroed[use] = TML_MAX_OF(device->state_zeroed[use], words);
    }
    device->state_dirty[use] = TML_MAX_OF(count, device->state_dirty[use]);
    out->clear = device->states[other]->address;
    out->clear_count = device->state_dirty[other];
    device->state_dirty[other] = 0;
    device->state_next = other;
    return TML_OK;
}
