/* The Vulkan engine's table. */
#include "vulkan/vulkan_device.h"

static uint64_t slot_address(const tml_slot *slot)
{
    return vk_slot_address(slot);
}

static bool is_lent(const tml_open_desc *desc)
{
    return desc->vulkan && desc->vulkan->device;
}

static tml_status wait_for_all(tml_context *tml)
{
    tml_status status = tml_refuse_recording(tml, NULL, NULL);
    TML_THEN(status, vk_sync(tml));
    return status == TML_OK ? vk_take_stall(tml) : status;
}

static tml_status map_slot(tml_context *tml, tml_slot *slot, void **out)
{
    tml_status status = wait_for_all(tml);
    return status == TML_OK ? vk_map(tml, slot, out) : status;
}

static tml_status read_slot(tml_context *tml, tml_slot *slot, uint64_t offset, size_t size,
                            void *out)
{
    tml_status status = vk_read(tml, slot, offset, size, out);
    return status == TML_OK ? vk_take_stall(tml) : status;
}

/* Without forward progress, look-back is still correct, but many workgroups read a predecessor's
 * tile a second time (fallback). */
static bool avoids(const tml_context *tml, tml_method method)
{
    return method == TML_METHOD_LOOK_BACK && !vk_caps_of(tml)->forward_progress;
}

const tml_engine tml_vulkan_engine = {
    .kind = TML_ENGINE_VULKAN,
    .part = PART_VULKAN,
    .name = "vulkan",
    .devices = vk_devices,
    .is_lent = is_lent,
    .open = vk_open,
    .close = vk_close,
    .buffer_create = vk_buffer_create,
    .buffer_destroy = vk_buffer_destroy,
    .lay = vk_buffer_lay,
    .read = read_slot,
    .write = vk_write,
    .put = vk_put,
    .read_begin = vk_read_begin,
    .read_poll = vk_read_poll,
    .read_free = vk_read_free,
    .map = map_slot,
    .unmap = vk_unmap,
    .sync = wait_for_all,
    .scratch_resize = vk_scratch_resize,
    .compiles = true,
    .cache_get = vk_cache_get,
    .cache_add = vk_cache_add,
    .time_begin = vk_time_begin,
    .time_end = vk_time_end,
    .is_recording = vk_is_recording,
    .address = slot_address,
    .avoids = avoids,
    .learn = vk_kernels_learn,
};
