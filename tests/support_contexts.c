/* Contexts and buffers for tests. */
#include "test.h"

#include "contexts.h"

tml_context *open_cpu(uint32_t threads)
{
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = threads}, &tml));
    return tml;
}

tml_context *open_device(uint32_t number)
{
    enum { DEVICES = 16 };
    tml_device_info infos[DEVICES];
    uint32_t count = tml_devices(infos, DEVICES);
    tml_context *tml = NULL;
    char device[16];
    if (number >= count || number >= DEVICES)
        return NULL;
    snprintf(device, sizeof device, "%u", number);
    CHECK_OK(NULL,
             tml_open(&(tml_open_desc){.engine = infos[number].engine, .device = device}, &tml));
    return tml;
}

void fill_addresses(tml_context *tml)
{
    tml_buffer taken;
    while (tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U8, .count = PTRDIFF_MAX / 2},
                             &taken) == TML_OK)
        continue;
}

tml_buffer buffer_of(tml_context *tml, tml_type type, uint64_t count, const void *data)
{
    tml_buffer buffer = {0, 0};
    CHECK_OK(tml,
             tml_buffer_create(tml, &(tml_buffer_desc){.type = type, .count = count, .data = data},
                               &buffer));
    return buffer;
}

void counted_free(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    tml_platform_free(memory);
}

void *fetch(tml_context *tml, tml_buffer buffer, uint64_t count)
{
    tml_type type = TML_U8;
    tml_buffer_describe(tml, buffer, &type, NULL);
    void *out = malloc(count * tml_type_size(type) + 1);
    if (count)
        CHECK_OK(tml, tml_buffer_read_range(tml, buffer, 0, count, out));
    return out;
}
