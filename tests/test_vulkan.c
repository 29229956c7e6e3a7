/* The Vulkan engine as a guest: lent instances, devices, buffers and command buffers; copies
 * through staging; and what it makes of drivers that fail. The operations themselves are in
 * test_stream, test_surface and test_field, which run them on every device. */
#include <stdlib.h>
#include <string.h>

#include "core/testing.h"
#include <trommel/trommel.h>
#include <trommel/vulkan.h>

#include "test.h"

#include "contexts.h"
#include "vulkan_driver.h"

static char message[1024];
static void keep_message(void *user, tml_log_level level, const char *text)
{
    (void)user;
    if (level == TML_LOG_ERROR)
        snprintf(message, sizeof message, "%s", text);
}

/* Leaves the test where nothing speaks Vulkan. */
#define NEED_DEVICE()                                                                              \
    if (!have_device())                                                                            \
    SKIP("no Vulkan device")

static bool have_device(void)
{
    tml_device_info devices[32];
    uint32_t count = tml_devices(devices, 32);
    for (uint32_t i = 0; i < count && i < 32; i++)
        if (devices[i].engine == TML_ENGINE_VULKAN)
            return true;
    return false;
}

/* ---- work to do ------------------------------------------------------------------------------ */

enum { COUNT = 40000 };

/* Uses everything that the engine's core has: copies both ways, a map, dispatches, a clock. */
static tml_status work(tml_context *tml, bool *right)
{
    uint32_t in[COUNT], back[COUNT], total[2] = {0, 0};
    tml_buffer a = {0}, b = {0}, sum = {0}, arguments = {0};
    for (uint32_t i = 0; i < COUNT; i++)
        in[i] = i % 7;
    double seconds;
    void *mapped = NULL;
    *right = false;
    tml_status status =
        tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = COUNT, .data = in}, &a);
    if (status == TML_OK)
        status = tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = COUNT}, &b);
    if (status == TML_OK)
        status = tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U64, .count = 1}, &sum);
    if (status == TML_OK)
        status =
            tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = 4}, &arguments);
    if (status == TML_OK)
        status = tml_time_begin(tml);
    if (status == TML_OK)
        status = tml_scan(tml, &(tml_scan_desc){.in = a, .out = b});
    if (status == TML_OK)
        status = tml_reduce(tml, &(tml_reduce_desc){.in = a, .folds = {{TML_FOLD_SUM, sum}}});
    if (status == TML_OK)
        status = tml_time_end(tml, &seconds);
    if (status == TML_OK)
        status = tml_vulkan_indirect(
            tml, &(tml_vulkan_indirect_desc){
                     .kind = TML_VULKAN_INDIRECT_DRAW, .count = sum, .out = arguments});
    size_t cache_size = 0;
    if (status == TML_OK)
        status = tml_cache(tml, NULL, &cache_size);
    if (status == TML_OK)
        status = tml_buffer_read(tml, b, back);
    if (status == TML_OK)
        status = tml_buffer_map(tml, arguments, &mapped);
    if (status == TML_OK) {
        memcpy(total, mapped, sizeof total);
        tml_buffer_unmap(tml, arguments);
        uint32_t running = 0;
        *right = true;
        for (uint32_t i = 0; i < COUNT; i++) {
            *right = *right && back[i] == running;
            running += in[i];
        }
        *right = *right && total[0] == running && total[1] == 1;
    }
    tml_buffer_destroy(tml, a);
    tml_buffer_destroy(tml, b);
    tml_buffer_destroy(tml, sum);
    tml_buffer_destroy(tml, arguments);
    return status;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static tml_status open_testing(const tml_vulkan_desc *vulkan, const tml_testing *testing,
                               tml_context **out)
{
    const tml_open_desc desc = {
        .engine = TML_ENGINE_VULKAN, .vulkan = vulkan, .threads = 1, .log = keep_message};
    message[0] = '\0';
    return tml_open_testing(&desc, testing, out);
}

static tml_status open_with(const tml_vulkan_desc *desc, tml_context **out)
{
    return open_testing(desc, NULL, out);
}

TEST(staged_copies_equal_mapped_ones)
{
    NEED_DEVICE();
    for (int staged = 0; staged < 2; staged++) {
        tml_context *tml;
        bool right;
        CHECK(open_testing(NULL, &(tml_testing){.vulkan_staging = staged}, &tml) == TML_OK);
        CHECK(work(tml, &right) == TML_OK);
        CHECK(right);
        /* Larger than both halves of the ring, and an odd rest. */
        size_t size = ((size_t)20 << 20) + 5;
        uint8_t *in = malloc(size), *back = malloc(size);
        for (size_t i = 0; i < size; i++)
            in[i] = (uint8_t)(i * 2654435761u >> 13);
        memset(back, 0, size);
        tml_buffer buffer;
        CHECK(tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U8, .count = size, .data = in},
                                &buffer) == TML_OK);
        CHECK(tml_buffer_read(tml, buffer, back) == TML_OK);
        CHECK(memcmp(in, back, size) == 0);
        void *mapped;
        CHECK(tml_buffer_map(tml, buffer, &mapped) == TML_OK);
        CHECK(memcmp(in, mapped, size) == 0);
        ((uint8_t *)mapped)[size - 1] ^= 0xff;
        tml_buffer_unmap(tml, buffer);
        CHECK(tml_buffer_read_range(tml, buffer, size - 1, 1, back) == TML_OK);
        CHECK((back[0] ^ in[size - 1]) == 0xff);
        CHECK(tml_buffer_write(tml, buffer, 3, 5, "hello") == TML_OK);
        CHECK(tml_buffer_read_range(tml, buffer, 2, 7, back) == TML_OK);
        CHECK(back[0] == in[2] && memcmp(back + 1, "hello", 5) == 0 && back[6] == in[8]);
        free(in);
        free(back);
        tml_close(tml);
    }
}

/* Every call that can fail does, once, in each of three ways: a status, a message, nothing left.
 * Under sanitizers, which take ten times as long, each in one of the three. */
TEST(every_failing_call_is_a_status)
{
    NEED_DEVICE();
    static const VkResult failures[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY,
                                        VK_ERROR_DEVICE_LOST};
#ifdef TML_SANITIZED
    const uint32_t ways = sizeof failures / sizeof *failures;
#else
    const uint32_t ways = 1;
#endif
    vulkan_driver.real_instance = loader();
    for (uint32_t f = 0; f < sizeof failures / sizeof *failures; f++) {
        uint32_t fail_at = 1 + f % ways, survived = 0;
        for (bool done = false; !done; fail_at += ways) {
            vulkan_driver.calls = 0;
            vulkan_driver.fail_at = fail_at;
            vulkan_driver.failure = failures[f];
            vulkan_driver.failed = NULL;
            vulkan_driver.live = 0;
            tml_context *tml = NULL;
            bool right = false;
            tml_status status =
                open_testing(&(tml_vulkan_desc){.get_instance_proc_addr = get_instance},
                             &(tml_testing){.vulkan_staging = true}, &tml);
            if (status == TML_OK)
                status = work(tml, &right);
            done = vulkan_driver.failed == NULL;
            if (done) {
                CHECK(status == TML_OK && right);
            } else if (status == TML_OK) {
                survived++; /* a call whose failure costs nothing, such as one while destroying */
                if (!CHECK(right))
                    printf("  %s failed as call %u and was not seen\n", vulkan_driver.failed,
                           fail_at);
            } else {
                CHECK(message[0] != '\0');
            }
            tml_close(tml);
            if (vulkan_driver.live != 0)
                printf("%d objects left after %s failed\n", vulkan_driver.live,
                       vulkan_driver.failed);
            CHECK(vulkan_driver.live == 0);
        }
        CHECK(fail_at > 20);
        CHECK(survived < 10);
    }
    vulkan_driver.fail_at = 0;
}

TEST(what_is_missing_is_said)
{
    NEED_DEVICE();
    tml_context *tml;
    vulkan_driver.real_instance = loader();
    const tml_vulkan_desc desc = {.get_instance_proc_addr = get_instance};
    vulkan_driver.missing = "vkCmdDispatch";
    CHECK(open_with(&desc, &tml) == TML_ERROR_NO_DEVICE);
    CHECK(strstr(message, "vkCmdDispatch") != NULL);
    vulkan_driver.missing = "vkCreateInstance";
    CHECK(open_with(&desc, &tml) == TML_ERROR_NO_DEVICE);
    CHECK(strstr(message, "vkCreateInstance") != NULL);
    vulkan_driver.missing = NULL;
    vulkan_driver.no_addresses = true;
    CHECK(open_with(&desc, &tml) == TML_ERROR_NO_DEVICE);
    CHECK(strstr(message, "lacks bufferDeviceAddress") != NULL);
    vulkan_driver.no_addresses = false;
    vulkan_driver.lanes = 128;
    CHECK(open_with(&desc, &tml) == TML_ERROR_NO_DEVICE);
    CHECK(strstr(message, "lacks full subgroups of 128 invocations") != NULL);
    vulkan_driver.lanes = 0;
    CHECK(open_with(&(tml_vulkan_desc){.device = (VkDevice)(uintptr_t)16}, &tml) ==
          TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(message, "needs all or none") != NULL);
    CHECK(open_testing(NULL, &(tml_testing){.vulkan_pass_items = 65537}, &tml) ==
          TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(message, "pass_items is 65537") != NULL);
}

TEST(a_missing_loader_is_said)
{
    tml_context *tml;
    if (loader())
        SKIP("there is a Vulkan loader; CTest runs this without");
    CHECK(open_with(NULL, &tml) == TML_ERROR_NO_DEVICE);
    CHECK(strstr(message, "libvulkan.so.1") != NULL);
    CHECK(tml_open(NULL, &tml) == TML_OK); /* on another engine */
    tml_close(tml);
}

TEST(a_missing_driver_is_said)
{
    NEED_DEVICE();
#ifdef _WIN32
    SKIP("Wine's Vulkan does not see variables that its programs set");
#endif
    static const char *const names[] = {"VK_ICD_FILENAMES", "VK_DRIVER_FILES"};
    char *saved[2];
    for (int i = 0; i < 2; i++) {
        const char *value = getenv(names[i]);
        saved[i] = value ? strdup(value) : NULL;
        setenv(names[i], "none", 1);
    }
    tml_context *tml;
    CHECK(open_with(NULL, &tml) == TML_ERROR_NO_DEVICE);
    CHECK(strstr(message, "driver") != NULL);
    for (int i = 0; i < 2; i++) {
        if (saved[i])
            setenv(names[i], saved[i], 1);
        else
            unsetenv(names[i]);
        free(saved[i]);
    }
}

TEST(memory_has_a_limit)
{
    NEED_DEVICE();
    tml_context *tml;
    tml_buffer small, large;
    CHECK(open_with(&(tml_vulkan_desc){.memory_limit = (uint64_t)64 << 20}, &tml) == TML_OK);
    CHECK(tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U8, .count = 1000}, &small) ==
          TML_OK);
    CHECK(tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U8, .count = (uint64_t)80 << 20},
                            &large) == TML_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(strstr(tml_last_error(tml), "limit") != NULL);
    CHECK(tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U8, .count = (uint64_t)30 << 20},
                            &large) == TML_OK);
    tml_buffer_destroy(tml, large);
    CHECK(tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U8, .count = (uint64_t)32 << 20},
                            &large) == TML_OK);
    tml_close(tml);
}

/* ---- a host program -------------------------------------------------------------------------- */

/* A program with a Vulkan device of its own. */
typedef struct host {
    PFN_vkGetInstanceProcAddr get;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkBuffer buffer; /* 1 MiB, host-visible */
    VkDeviceMemory memory;
    uint32_t *mapped;
} host;

#define INSTANCE_CALL(h, name) ((PFN_vk##name)(h)->get((h)->instance, "vk" #name))

static bool host_open(host *h)
{
    h->get = loader();
    VkPhysicalDeviceFeatures features = {0};
    VkPhysicalDeviceSubgroupSizeControlFeatures size_control = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &size_control};
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)h->get(NULL, "vkCreateInstance");
    uint32_t one = 1;
    if (create(&info, NULL, &h->instance) != VK_SUCCESS ||
        INSTANCE_CALL(h, EnumeratePhysicalDevices)(h->instance, &one, &h->physical) < 0 ||
        !tml_vulkan_features(h->get, h->instance, h->physical, &features, &features12,
                             &size_control))
        return false;
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                       .pNext = &features12,
                                       .queueCreateInfoCount = 1,
                                       .pQueueCreateInfos = &queue,
                                       .pEnabledFeatures = &features};
    if (INSTANCE_CALL(h, CreateDevice)(h->physical, &device, NULL, &h->device) != VK_SUCCESS)
        return false;
    INSTANCE_CALL(h, GetDeviceQueue)(h->device, 0, 0, &h->queue);
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    INSTANCE_CALL(h, CreateCommandPool)(h->device, &pool, NULL, &h->pool);
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = h->pool,
        .commandBufferCount = 1};
    INSTANCE_CALL(h, AllocateCommandBuffers)(h->device, &commands, &h->commands);

    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 1 << 20,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    INSTANCE_CALL(h, CreateBuffer)(h->device, &buffer, NULL, &h->buffer);
    VkPhysicalDeviceMemoryProperties types;
    INSTANCE_CALL(h, GetPhysicalDeviceMemoryProperties)(h->physical, &types);
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while ((types.memoryTypes[type].propertyFlags & wanted) != wanted)
        type++;
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryRequirements needs;
    INSTANCE_CALL(h, GetBufferMemoryRequirements)(h->device, h->buffer, &needs);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .pNext = &flags,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = type};
    void *mapped = NULL;
    INSTANCE_CALL(h, AllocateMemory)(h->device, &memory, NULL, &h->memory);
    INSTANCE_CALL(h, BindBufferMemory)(h->device, h->buffer, h->memory, 0);
    INSTANCE_CALL(h, MapMemory)(h->device, h->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    h->mapped = mapped;
    return mapped != NULL;
}

static void host_run(host *h)
{
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &h->commands};
    INSTANCE_CALL(h, QueueSubmit)(h->queue, 1, &submit, VK_NULL_HANDLE);
    INSTANCE_CALL(h, QueueWaitIdle)(h->queue);
}

static void host_close(host *h)
{
    INSTANCE_CALL(h, DestroyBuffer)(h->device, h->buffer, NULL);
    INSTANCE_CALL(h, FreeMemory)(h->device, h->memory, NULL);
    INSTANCE_CALL(h, DestroyCommandPool)(h->device, h->pool, NULL);
    INSTANCE_CALL(h, DestroyDevice)(h->device, NULL);
    INSTANCE_CALL(h, DestroyInstance)(h->instance, NULL);
}

/* Everything lent: a scan over the caller's buffer, recorded into the caller's commands, run twice
 * on other data without another call to the library. */
TEST(a_frame_of_the_callers)
{
    NEED_DEVICE();
    host h = {0};
    CHECK(host_open(&h));
    tml_context *tml;
    const tml_vulkan_desc desc = {.get_instance_proc_addr = h.get,
                                  .instance = h.instance,
                                  .physical_device = h.physical,
                                  .device = h.device,
                                  .queue = h.queue};
    CHECK(open_with(&desc, &tml) == TML_OK);
    tml_buffer in, out, flags, kept, count, arguments;
    const tml_vulkan_memory first = {h.buffer, 0}, second = {h.buffer, 1 << 18},
                            third = {h.buffer, 1 << 19}, fourth = {h.buffer, 3 << 18};
    CHECK(tml_buffer_create(tml,
                            &(tml_buffer_desc){.type = TML_U32, .count = COUNT, .vulkan = &first},
                            &in) == TML_OK);
    CHECK(tml_buffer_create(tml,
                            &(tml_buffer_desc){.type = TML_U32, .count = COUNT, .vulkan = &second},
                            &out) == TML_OK);
    CHECK(tml_buffer_create(tml,
                            &(tml_buffer_desc){.type = TML_U8, .count = COUNT, .vulkan = &third},
                            &flags) == TML_OK);
    CHECK(tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = 4, .vulkan = &fourth},
                            &arguments) == TML_OK);
    CHECK(tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = COUNT}, &kept) ==
          TML_OK);
    CHECK(tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = 1}, &count) ==
          TML_OK);
    const tml_scan_desc scan = {.in = in, .out = out};
    const tml_compact_desc compact = {
        .keep.flags = flags, .payloads[0] = {in, kept}, .count = count};
    const tml_vulkan_indirect_desc indirect = {
        .kind = TML_VULKAN_INDIRECT_DRAW, .count = count, .group = 3, .out = arguments};

    /* Without scratch it must refuse rather than allocate. */
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    INSTANCE_CALL(&h, BeginCommandBuffer)(h.commands, &begin);
    CHECK(tml_vulkan_record(tml, h.commands, NULL, NULL) == TML_OK);
    size_t scratch = SCRATCH_OF(tml, tml_scan(tml, &scan));
    if (scratch)
        CHECK(tml_scan(tml, &scan) == TML_ERROR_SCRATCH_TOO_SMALL);
    CHECK(tml_sync(tml) == TML_ERROR_INVALID_ARGUMENT);
    CHECK(tml_vulkan_record_end(tml) == TML_OK);
    CHECK(tml_vulkan_record_end(tml) == TML_ERROR_INVALID_ARGUMENT);
    INSTANCE_CALL(&h, EndCommandBuffer)(h.commands);
    CHECK(tml_scan(tml, &scan) == TML_OK);
    CHECK(tml_compact(tml, &compact) == TML_OK);
    CHECK(tml_sync(tml) == TML_OK);

    INSTANCE_CALL(&h, BeginCommandBuffer)(h.commands, &begin);
    CHECK(tml_vulkan_record(tml, h.commands, NULL, NULL) == TML_OK);
    CHECK(tml_scan(tml, &scan) == TML_OK);
    CHECK(tml_compact(tml, &compact) == TML_OK);
    CHECK(tml_vulkan_indirect(tml, &indirect) == TML_OK);
    CHECK(tml_vulkan_record_end(tml) == TML_OK);
    INSTANCE_CALL(&h, EndCommandBuffer)(h.commands);
    for (uint32_t frame = 0; frame < 3; frame++) {
        uint8_t *flag = (uint8_t *)(h.mapped + (1 << 17));
        uint32_t keep = 0;
        for (uint32_t i = 0; i < COUNT; i++) {
            h.mapped[i] = i * (frame + 1);
            flag[i] = i % (frame + 2) == 1;
            keep += flag[i];
        }
        host_run(&h);
        uint32_t running = 0;
        bool right = true;
        for (uint32_t i = 0; i < COUNT; i++) {
            right = right && h.mapped[(1 << 16) + i] == running;
            running += h.mapped[i];
        }
        CHECK(right);
        CHECK(h.mapped[3 << 16] == 3 * keep && h.mapped[(3 << 16) + 1] == 1);
    }
    uint64_t number;
    CHECK(tml_buffer_read_count(tml, count, &number) == TML_OK && number == COUNT / 4);
    tml_close(tml);
    host_close(&h);
}

/* Recorded once, each submission appends to what the ones before it left: the cursor is on the
 * device. */
TEST(frames_append)
{
    NEED_DEVICE();
    enum { ROOM = 2 * COUNT / 3, FRAMES = 4 };
    static uint32_t got[ROOM], ranks[ROOM];
    host h = {0};
    CHECK(host_open(&h));
    tml_context *tml;
    const tml_vulkan_desc desc = {.get_instance_proc_addr = h.get,
                                  .instance = h.instance,
                                  .physical_device = h.physical,
                                  .device = h.device,
                                  .queue = h.queue};
    CHECK(open_with(&desc, &tml) == TML_OK);
    const uint32_t zero = 0;
    const tml_vulkan_memory at = {h.buffer, 1 << 19};
    tml_buffer flags;
    CHECK_OK(tml,
             tml_buffer_create(
                 tml, &(tml_buffer_desc){.type = TML_U8, .count = COUNT, .vulkan = &at}, &flags));
    tml_buffer kept = buffer_of(tml, TML_U32, ROOM, NULL),
               rank = buffer_of(tml, TML_U32, ROOM, NULL);
    tml_buffer count = buffer_of(tml, TML_U32, 1, &zero), total = buffer_of(tml, TML_U64, 1, NULL);
    const tml_compact_desc compact = {
        .keep.flags = flags, .indices = kept, .count = count, .out_first = count};
    const tml_expand_desc expand = {
        .counts = flags, .source = rank, .out_first = count, .total = total};
    CHECK_OK(tml, tml_compact(tml, &compact));
    CHECK_OK(tml, tml_expand(tml, &expand));
    CHECK_OK(tml, tml_buffer_write(tml, count, 0, 1, &zero));
    CHECK_OK(tml, tml_sync(tml));

    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    INSTANCE_CALL(&h, BeginCommandBuffer)(h.commands, &begin);
    CHECK_OK(tml, tml_vulkan_record(tml, h.commands, NULL, NULL));
    CHECK_OK(tml, tml_expand(tml, &expand));
    CHECK_OK(tml, tml_compact(tml, &compact));
    CHECK_OK(tml, tml_vulkan_record_end(tml));
    INSTANCE_CALL(&h, EndCommandBuffer)(h.commands);
    uint64_t end = 0, cursor = 0, sum = 0;
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        uint8_t *flag = (uint8_t *)(h.mapped + (1 << 17));
        for (uint32_t i = 0; i < COUNT; i++)
            flag[i] = i % 5 == frame;
        host_run(&h);
        uint64_t before = end;
        CHECK_OK(tml, tml_buffer_read_count(tml, count, &cursor));
        CHECK_OK(tml, tml_buffer_read_count(tml, total, &sum));
        CHECK_OK(tml, tml_buffer_read(tml, kept, got));
        CHECK_OK(tml, tml_buffer_read(tml, rank, ranks));
        for (uint32_t i = frame; i < COUNT; i += 5, end++)
            CHECK(end >= ROOM || (got[end] == i && ranks[end] == i));
        CHECK_EQ_U64(cursor, end);
        CHECK_EQ_U64(sum, end);
        CHECK(before < end);
    }
    CHECK(end > ROOM);
    tml_close(tml);
    host_close(&h);
}

/* What the command of a kind holds, from a count that was clamped already. */
static uint32_t indirect_of(const tml_vulkan_indirect_desc *desc, uint32_t count, uint32_t out[5])
{
    uint32_t group = desc->group ? desc->group : 1;
    if (desc->kind == TML_VULKAN_INDIRECT_DISPATCH) {
        uint64_t groups = ((uint64_t)count + group - 1) / group;
        out[0] = (uint32_t)(groups < 65535 ? groups : 65535);
        out[1] = groups ? (uint32_t)((groups + out[0] - 1) / out[0]) : 0;
        out[2] = 1;
        return 3;
    }
    bool is_instances = desc->kind == TML_VULKAN_INDIRECT_INSTANCES ||
                        desc->kind == TML_VULKAN_INDIRECT_INSTANCES_INDEXED;
    bool is_indexed = desc->kind == TML_VULKAN_INDIRECT_DRAW_INDEXED ||
                      desc->kind == TML_VULKAN_INDIRECT_INSTANCES_INDEXED;
    uint64_t elements = (uint64_t)count * group;
    while (elements > UINT32_MAX)
        elements = UINT32_MAX / group * (uint64_t)group;
    uint32_t words = 0;
    out[words++] = is_instances ? group : (uint32_t)elements;
    out[words++] = is_instances ? count : 1;
    out[words++] = desc->first;
    if (is_indexed)
        out[words++] = (uint32_t)desc->vertex_offset;
    out[words++] = desc->first_instance;
    return words;
}

TEST(indirect_arguments_of_every_kind)
{
    NEED_DEVICE();
    enum { AT = 3, WORDS = 12 };
    static const uint64_t counts[] = {0, 1, 65535, 65536, 1000003, UINT32_MAX, UINT32_MAX + 7ull};
    static const uint64_t limits[] = {0, 1000, UINT64_MAX};
    static const uint32_t groups[] = {0, 36};
    tml_context *tml;
    CHECK_OK(NULL, open_with(NULL, &tml));
    for (int wide = 0; wide < 2; wide++)
        for (int i = 0; i < 5 * 7 * 3 * 2; i++) {
            uint64_t count = counts[i / 5 % 7], limit = limits[i / 35 % 3];
            if (!wide && count > UINT32_MAX)
                continue;
            tml_vulkan_indirect_desc desc = {.kind = (tml_vulkan_indirect_kind)(i % 5),
                                             .count_index = 1,
                                             .limit = limit,
                                             .group = groups[i / 105],
                                             .out_index = AT};
            if (desc.kind != TML_VULKAN_INDIRECT_DISPATCH)
                desc.first = 60, desc.first_instance = (uint32_t)i;
            if (desc.kind == TML_VULKAN_INDIRECT_DRAW_INDEXED ||
                desc.kind == TML_VULKAN_INDIRECT_INSTANCES_INDEXED)
                desc.vertex_offset = -5 - i;
            const uint32_t narrow[2] = {9, (uint32_t)count};
            const uint64_t whole[2] = {9, count};
            uint32_t got[WORDS], expected[WORDS];
            memset(expected, 0xa5, sizeof expected);
            desc.count =
                buffer_of(tml, wide ? TML_U64 : TML_U32, 2, wide ? (const void *)whole : narrow);
            desc.out = buffer_of(tml, TML_U32, WORDS, expected);
            uint64_t clamped = limit && limit < count ? limit : count;
            indirect_of(&desc, clamped < UINT32_MAX ? (uint32_t)clamped : UINT32_MAX,
                        expected + AT);
            CHECK_OK(tml, tml_vulkan_indirect(tml, &desc));
            CHECK_OK(tml, tml_buffer_read(tml, desc.out, got));
            CHECK(!memcmp(got, expected, sizeof got));
            tml_buffer_destroy(tml, desc.count);
            tml_buffer_destroy(tml, desc.out);
        }
    tml_vulkan_indirect_desc desc = {.count = buffer_of(tml, TML_U32, 1, NULL),
                                     .out = buffer_of(tml, TML_U32, 5, NULL),
                                     .kind = TML_VULKAN_INDIRECT_DRAW,
                                     .vertex_offset = 1};
    CHECK_STATUS(tml_vulkan_indirect(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    CHECK_STR(tml_last_error(tml),
              "tml_vulkan_indirect: desc.vertex_offset is not 0, but desc.kind is 1, whose command "
              "has none; leave it zeroed");
    desc.kind = TML_VULKAN_INDIRECT_DISPATCH, desc.vertex_offset = 0, desc.first_instance = 1;
    CHECK_STATUS(tml_vulkan_indirect(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "desc.first_instance is not 0") != NULL);
    tml_close(tml);
}

TEST(a_lent_device_must_fit)
{
    NEED_DEVICE();
    host h = {0};
    CHECK(host_open(&h));
    vulkan_driver.real_instance = h.get;
    tml_context *tml;
    tml_vulkan_desc desc = {.get_instance_proc_addr = get_instance,
                            .instance = h.instance,
                            .physical_device = h.physical,
                            .device = h.device,
                            .queue = h.queue,
                            .queue_family = 31};
    CHECK(open_with(&desc, &tml) == TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(message, "queue_family is 31") != NULL);
    desc.queue_family = 0;
    vulkan_driver.sizes_vary = true;
    CHECK(open_with(&desc, &tml) == TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(message, "has_size_control is false") != NULL);
    desc.has_size_control = true;
    CHECK(open_with(&desc, &tml) == TML_OK);
    tml_close(tml);
    vulkan_driver.sizes_vary = false;
    host_close(&h);
}

/* The threads of an llvmpipe that is opened next; NULL: as before. Returns what reset_threads
 * needs. */
static char *set_threads(const char *count)
{
    const char *old = getenv("LP_NUM_THREADS");
    char *saved = old ? strdup(old) : NULL;
    if (count)
        setenv("LP_NUM_THREADS", count, 1);
    return saved;
}

static void reset_threads(char *saved)
{
    if (saved)
        setenv("LP_NUM_THREADS", saved, 1);
    else
        unsetenv("LP_NUM_THREADS");
    free(saved);
}

/* With one thread workgroups follow one another, whatever the driver says: tml_open finds that out,
 * and scans in place do not wait. */
TEST(progress_that_is_not_made)
{
    NEED_DEVICE();
    char *saved = set_threads("0");
    vulkan_driver.real_instance = loader();
    vulkan_driver.claims_progress = true;
    tml_context *tml;
    CHECK(open_with(&(tml_vulkan_desc){.get_instance_proc_addr = get_instance}, &tml) == TML_OK);
    tml_device_info info;
    tml_context_describe(tml, &info);
    bool is_llvmpipe = strstr(info.name, "llvmpipe") != NULL;
    tml_buffer buffer = buffer_of(tml, TML_U32, COUNT, NULL);
    tml_status status = tml_scan(
        tml, &(tml_scan_desc){.in = buffer, .out = buffer, .method = TML_METHOD_LOOK_BACK});
    tml_close(tml);
    vulkan_driver.claims_progress = false;
    reset_threads(saved);
    if (!is_llvmpipe)
        SKIP("only llvmpipe can be had with one thread");
    CHECK(status == TML_ERROR_UNSUPPORTED);
}

/* Is buffer the running sum of ones, and does reading it go well? */
static bool are_sums_of_ones(tml_context *tml, tml_buffer buffer)
{
    uint32_t back[COUNT];
    bool right = tml_buffer_read(tml, buffer, back) == TML_OK;
    for (uint32_t i = 0; i < COUNT; i++)
        right = right && back[i] == i;
    return right;
}

/* A workgroup that waits in vain: each call that waits says so, the next time all goes well. */
TEST(a_wait_in_vain_is_a_status)
{
    NEED_DEVICE();
    uint32_t ones[COUNT], back[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        ones[i] = 1;
    vulkan_driver.real_instance = loader();
    vulkan_driver.no_patience = true;
    for (int way = 0; way < 3; way++) {
        tml_context *tml;
        const tml_vulkan_desc desc = {.get_instance_proc_addr = get_instance};
        const tml_testing testing = {.vulkan_staging = way == 1};
        CHECK(open_testing(&desc, &testing, &tml) == TML_OK);
        tml_buffer buffer = buffer_of(tml, TML_U32, COUNT, ones);
        const tml_scan_desc scan = {.in = buffer, .out = buffer};
        CHECK(tml_scan(tml, &scan) == TML_OK);
        void *mapped = NULL;
        tml_status status = way == 0   ? tml_sync(tml)
                            : way == 1 ? tml_buffer_read(tml, buffer, back)
                                       : tml_buffer_map(tml, buffer, &mapped);
        CHECK(status == TML_ERROR_STALLED && !mapped);
        CHECK(strstr(tml_last_error(tml), "scan") != NULL);
        CHECK(tml_sync(tml) == TML_OK);
        CHECK(tml_vulkan_check(tml) == TML_OK);
        CHECK(way != 0 || tml_buffer_write(tml, buffer, 0, COUNT, ones) == TML_OK);
        CHECK(way != 0 || tml_scan(tml, &scan) == TML_OK);
        CHECK(way != 0 || are_sums_of_ones(tml, buffer));
        tml_close(tml);
    }
    vulkan_driver.no_patience = false;
}

/* Whether a tile meets a silent one is chance: what is compacted is right, or a status says no.
 * Where nothing is said to keep workgroups moving, late tiles are counted by others, as those of a
 * short partition are everywhere. */
TEST(compact_is_right_or_says_no)
{
    NEED_DEVICE();
    uint8_t third[COUNT];
    uint32_t numbers[COUNT], back[COUNT], stalls = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        numbers[i] = i;
        third[i] = i % 3 == 0;
    }
    vulkan_driver.real_instance = loader();
    for (int moving = 0; moving < 2; moving++) {
        vulkan_driver.no_patience = moving;
        vulkan_driver.looks = moving;
        tml_context *tml;
        const tml_vulkan_desc desc = {.get_instance_proc_addr = get_instance};
        const tml_testing testing = {.vulkan_late_tiles = !moving, .vulkan_resident = 8};
        CHECK(open_testing(&desc, &testing, &tml) == TML_OK);
        tml_buffer in = buffer_of(tml, TML_U32, COUNT, numbers),
                   flags = buffer_of(tml, TML_U8, COUNT, third),
                   out = buffer_of(tml, TML_U32, COUNT, NULL);
        tml_compact_desc compact = {
            .keep.flags = flags, .payloads[0] = {in, out}, .method = TML_METHOD_LOOK_BACK};
        for (int run = 0; run < 12; run++) {
            bool both = run % 2;
            CHECK(tml_buffer_write(tml, out, 0, COUNT, numbers) == TML_OK);
            compact.partition = both;
            CHECK(tml_compact(tml, &compact) == TML_OK);
            tml_status status = tml_buffer_read(tml, out, back);
            CHECK(status == TML_OK || (moving && !both && status == TML_ERROR_STALLED));
            stalls += status == TML_ERROR_STALLED;
            uint32_t kept = (COUNT + 2) / 3;
            for (uint32_t i = 0; i < kept && status == TML_OK; i++)
                CHECK(back[i] == 3 * i);
            for (uint32_t i = kept; i < COUNT && both; i++)
                CHECK(back[i] == (i - kept) / 2 * 3 + (i - kept) % 2 + 1);
        }
        for (uint32_t i = 0; i < COUNT;
             i++) /* what decides is loaded again by whoever counts for another */
            back[i] = i / 3;
        CHECK(tml_buffer_write(tml, in, 0, COUNT, back) == TML_OK);
        for (int run = 0; run < 6 && !moving; run++) {
            tml_buffer count = buffer_of(tml, TML_U32, 1, NULL);
            CHECK_OK(tml,
                     tml_unique(tml, &(tml_unique_desc){.in = in, .values = out, .count = count}));
            CHECK_OK(tml, tml_buffer_read(tml, out, back));
            for (uint32_t i = 0; i < (COUNT + 2) / 3; i++)
                CHECK(back[i] == i);
            tml_buffer_destroy(tml, count);
        }
        tml_close(tml);
    }
    CHECK(stalls <= 1);
    vulkan_driver.no_patience = false;
    vulkan_driver.looks = 0;
}

/* The same of sorts; where nothing is said to keep workgroups moving, no wait is in vain, and late
 * tiles are done by others. */
TEST(sort_is_right_or_says_no)
{
    NEED_DEVICE();
    uint32_t keys[COUNT], back[COUNT], stalls = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        keys[i] = (uint32_t)(i * UINT64_C(7919) % COUNT);
    vulkan_driver.real_instance = loader();
    for (int moving = 0; moving < 2; moving++) {
        vulkan_driver.no_patience = moving;
        vulkan_driver.looks = 1;
        tml_context *tml;
        const tml_vulkan_desc desc = {.get_instance_proc_addr = get_instance};
        const tml_testing testing = {.vulkan_late_tiles = !moving};
        CHECK(open_testing(&desc, &testing, &tml) == TML_OK);
        tml_buffer in = buffer_of(tml, TML_U32, COUNT, keys),
                   out = buffer_of(tml, TML_U32, COUNT, NULL);
        for (int run = 0; run < 20; run++) {
            const tml_sort_desc sort = {.keys = in,
                                        .sorted = out,
                                        .method = run % 2 ? TML_METHOD_REDUCE_THEN_SCAN
                                                          : TML_METHOD_LOOK_BACK};
            CHECK(tml_buffer_write(tml, out, 0, COUNT, keys) == TML_OK);
            CHECK(tml_sort(tml, &sort) == TML_OK);
            tml_status status = tml_buffer_read(tml, out, back);
            CHECK(status == TML_OK || (moving && status == TML_ERROR_STALLED));
            stalls += status == TML_ERROR_STALLED;
            for (uint32_t i = 0; i < COUNT && status == TML_OK; i++)
                CHECK(back[i] == i);
        }
        tml_close(tml);
    }
    CHECK(stalls <= 1);
    vulkan_driver.no_patience = false;
    vulkan_driver.looks = 0;
}

static uint64_t scrambled(uint64_t i)
{
    i = (i + 1) * 0x9e3779b97f4a7c15u;
    return i ^ i >> 29;
}

/* A scan of numbers that fill all bits of the type: right, or what reading it returned. */
static tml_status scan_is_right(tml_context *tml, tml_type type, bool in_place)
{
    static uint64_t in64[COUNT], back64[COUNT];
    static uint32_t in32[COUNT], back32[COUNT];
    for (uint64_t i = 0; i < COUNT; i++)
        in32[i] = (uint32_t)(in64[i] = scrambled(i));
    bool is_wide = type == TML_U64;
    tml_buffer in = buffer_of(tml, type, COUNT, is_wide ? (void *)in64 : in32),
               out = in_place ? in : buffer_of(tml, type, COUNT, NULL);
    CHECK(tml_scan(tml, &(tml_scan_desc){.in = in, .out = out, .method = TML_METHOD_LOOK_BACK}) ==
          TML_OK);
    tml_status status = tml_buffer_read(tml, out, is_wide ? (void *)back64 : back32);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < COUNT && !status; sum += in64[i++])
        CHECK(is_wide ? back64[i] == sum : back32[i] == (uint32_t)sum);
    tml_buffer_destroy(tml, in);
    if (!in_place)
        tml_buffer_destroy(tml, out);
    return status;
}

/* Segments of so many elements in turns, from element 3 on; the last one ends at COUNT - 5 or, out
 * of range, past the end. More offsets than elements are needed where a turn is empty. */
enum { SHAPES = 8, OFFSETS_MOST = 4 * COUNT };
static const uint32_t segment_shapes[SHAPES][3] = {
    {1, 1, 1},          {2, 0, 1},     {10, 11, 0},  {100, 1, 8192}, {20000, 9000, 30000},
    {8192, 8192, 4096}, {COUNT, 0, 0}, {0, 0, 30000}};

static uint32_t make_offsets(int shape, uint64_t *offsets)
{
    uint32_t n = 0;
    offsets[n++] = 3;
    while (offsets[n - 1] < COUNT - 5 && n < OFFSETS_MOST - 1) {
        bool is_early = shape == SHAPES - 1 && n < 3 * COUNT; /* many in the same place */
        uint64_t next = offsets[n - 1] + (is_early ? 0 : segment_shapes[shape][n % 3]);
        offsets[n++] = next < COUNT - 5 ? next : COUNT - 5;
    }
    if (shape & 1)
        offsets[n++] = COUNT + 1;
    return n;
}

/* The same of segments; offsets have the type's size. */
static tml_status segments_are_right(tml_context *tml, tml_type type, int shape, bool in_place)
{
    static uint64_t in64[COUNT], back64[COUNT], offsets64[OFFSETS_MOST];
    static uint32_t in32[COUNT], back32[COUNT], offsets32[OFFSETS_MOST];
    bool is_wide = type == TML_U64, inclusive = shape & 2;
    for (uint64_t i = 0; i < COUNT; i++)
        in32[i] = (uint32_t)(in64[i] = scrambled(i));
    uint32_t n = make_offsets(shape, offsets64);
    for (uint32_t i = 0; i < n; i++)
        offsets32[i] = (uint32_t)offsets64[i];
    void *numbers = is_wide ? (void *)in64 : in32;
    tml_buffer in = buffer_of(tml, type, COUNT, numbers),
               out = in_place ? in : buffer_of(tml, type, COUNT, numbers),
               offsets = buffer_of(tml, type, n, is_wide ? (void *)offsets64 : offsets32);
    const tml_scan_desc scan = {
        .in = in, .segments.offsets = offsets, .inclusive = inclusive, .out = out};
    CHECK(tml_scan(tml, &scan) == TML_OK);
    tml_status status = tml_buffer_read(tml, out, is_wide ? (void *)back64 : back32);
    for (uint32_t s = 0; s + 1 < n && offsets64[s + 1] <= COUNT; s++) {
        uint64_t sum = 0;
        for (uint64_t i = offsets64[s]; i < offsets64[s + 1]; i++) {
            uint64_t through = sum + in64[i], expected = inclusive ? through : sum;
            in64[i] = expected;
            in32[i] = (uint32_t)expected;
            sum = through;
        }
    }
    for (uint32_t i = 0; i < COUNT && !status; i++)
        CHECK(is_wide ? back64[i] == in64[i] : back32[i] == in32[i]);
    tml_buffer_destroy(tml, in);
    tml_buffer_destroy(tml, offsets);
    if (!in_place)
        tml_buffer_destroy(tml, out);
    return status;
}

/* Opens a context where tiles are late. Moving: it believes in forward progress, and waits for less
 * than the 65535 iterations that llvmpipe grants; there tiles follow one another. */
static tml_context *open_with_late_tiles(bool moving)
{
    tml_context *tml;
    const tml_vulkan_desc desc = {.get_instance_proc_addr = get_instance};
    char *saved = set_threads(moving ? "0" : NULL);
    vulkan_driver.no_patience = moving;
    vulkan_driver.looks = 0;
    CHECK(open_testing(&desc, &(tml_testing){.vulkan_late_tiles = true}, &tml) == TML_OK);
    vulkan_driver.looks = 5000;
    reset_threads(saved);
    return tml;
}

/* Tiles that publish late, or an aggregate alone: others add what is there, wait, or do their work.
 * Where tiles run side by side on a busy machine, a wait may be in vain; then again. */
TEST(late_tiles_of_scans)
{
    NEED_DEVICE();
    vulkan_driver.real_instance = loader();
    uint32_t stalls = 0;
    for (int moving = 0; moving < 2; moving++) {
        tml_context *tml = open_with_late_tiles(moving);
        for (int run = 0; run < 4 + 4 * SHAPES; run++) {
            tml_type type = run & 1 ? TML_U64 : TML_U32;
            bool in_place = (run & 2) && (moving || run >= 4);
            tml_status status = run < 4 ? scan_is_right(tml, type, in_place)
                                        : segments_are_right(tml, type, run / 4 - 1, in_place);
            CHECK(status == TML_OK || (moving && status == TML_ERROR_STALLED));
            if (status == TML_ERROR_STALLED && stalls++ < 100) {
                tml_close(tml);
                tml = open_with_late_tiles(moving);
                run--;
            }
        }
        tml_close(tml);
    }
    CHECK(stalls < 100);
    vulkan_driver.no_patience = false;
    vulkan_driver.looks = 0;
}

/* A scan that waits in vain within the caller's commands, where no call waits. */
TEST(a_frame_that_waits_in_vain)
{
    NEED_DEVICE();
    host h = {0};
    CHECK(host_open(&h));
    vulkan_driver.real_instance = h.get;
    vulkan_driver.no_patience = true;
    tml_context *tml;
    const tml_vulkan_desc desc = {.get_instance_proc_addr = get_instance,
                                  .instance = h.instance,
                                  .physical_device = h.physical,
                                  .device = h.device,
                                  .queue = h.queue};
    CHECK(open_with(&desc, &tml) == TML_OK);
    uint32_t ones[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        ones[i] = 1;
    tml_buffer in = buffer_of(tml, TML_U32, COUNT, ones),
               out = buffer_of(tml, TML_U32, COUNT, NULL);
    /* Makes room for states; here each workgroup adds up all the tiles before its own. */
    CHECK(tml_scan(tml, &(tml_scan_desc){.in = in, .out = out, .method = TML_METHOD_LOOK_BACK}) ==
          TML_OK);
    CHECK(are_sums_of_ones(tml, out));
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const tml_scan_desc in_place = {.in = in, .out = in};
    for (int frame = 0; frame < 2; frame++) {
        INSTANCE_CALL(&h, BeginCommandBuffer)(h.commands, &begin);
        if (frame == 1)
            CHECK(tml_reserve(tml, SCRATCH_OF(tml, tml_scan(tml, &in_place))) == TML_OK);
        CHECK(tml_vulkan_record(tml, h.commands, NULL, NULL) == TML_OK);
        CHECK(tml_scan(tml, &in_place) == TML_OK);
        CHECK(tml_vulkan_record_end(tml) == TML_OK);
        INSTANCE_CALL(&h, EndCommandBuffer)(h.commands);
        CHECK(tml_vulkan_check(tml) == TML_OK);
        host_run(&h);
        CHECK(tml_vulkan_check(tml) == (frame == 0 ? TML_ERROR_STALLED : TML_OK));
        CHECK(tml_vulkan_check(tml) == TML_OK);
        if (frame == 0)
            CHECK(tml_buffer_write(tml, in, 0, COUNT, ones) == TML_OK);
        else
            CHECK(are_sums_of_ones(tml, in));
    }
    tml_close(tml);
    host_close(&h);
    vulkan_driver.no_patience = false;
}

/* ---- what was recorded stays valid ----------------------------------------------------------- */

/* One operation of each kind that has scratch, over streams of several tiles, and what it
 * writes. */
enum { LONG = 100000, OUTPUTS = 12 };
typedef struct streams {
    tml_buffer in, flags, counts, offsets;
    tml_buffer out[OUTPUTS]; /* u32: LONG elements */
    tml_buffer totals;       /* u64: a number an operation */
} streams;

static bool streams_open(tml_context *tml, streams *s)
{
    uint32_t *in = malloc(LONG * sizeof *in), *offsets = malloc(LONG * sizeof *offsets);
    uint8_t *flags = malloc(LONG), *counts = malloc(LONG);
    for (uint32_t i = 0; i < LONG; i++) {
        in[i] = i / 3 * 2654435761u >> 20;
        flags[i] = in[i] % 3 == 0;
        counts[i] = in[i] % 2;
        offsets[i] = i;
    }
    *s = (streams){.in = buffer_of(tml, TML_U32, LONG, in),
                   .flags = buffer_of(tml, TML_U8, LONG, flags),
                   .counts = buffer_of(tml, TML_U8, LONG, counts),
                   .offsets = buffer_of(tml, TML_U32, LONG / 2, offsets),
                   .totals = buffer_of(tml, TML_U64, OUTPUTS, NULL)};
    for (uint32_t i = 0; i < OUTPUTS; i++)
        s->out[i] = buffer_of(tml, TML_U32, LONG, in);
    free(in);
    free(offsets);
    free(flags);
    free(counts);
    return !tml_buffer_is_none(s->totals);
}

/* X(name of the call, its desc) */
#define RECORDED(X)                                                                                \
    X(reduce, .in = s->in, .folds = {{TML_FOLD_SUM, s->totals}})                                   \
    X(scan, .in = s->in, .out = s->out[0])                                                         \
    X(scan, .in = s->in, .out = s->out[1], .method = TML_METHOD_LOOK_BACK)                         \
    X(compact, .keep.flags = s->flags, .payloads[0] = {s->in, s->out[2]})                          \
    X(compact, .keep.flags = s->flags, .payloads[0] = {s->in, s->out[3]},                          \
      .method = TML_METHOD_LOOK_BACK)                                                              \
    X(compact, .keep.flags = s->flags, .payloads[0] = {s->in, s->out[4]}, .partition = true)       \
    X(expand, .counts = s->counts, .source = s->out[5])                                            \
    X(expand, .counts = s->counts, .source = s->out[6], .method = TML_METHOD_LOOK_BACK)            \
    X(unique, .in = s->in, .values = s->out[7])                                                    \
    X(reduce, .in = s->in, .segments.offsets = s->offsets, .folds = {{TML_FOLD_MAX, s->out[8]}})   \
    X(scan, .in = s->in, .segments.offsets = s->offsets, .out = s->out[9])                         \
    X(sort, .keys = s->in, .sorted = s->out[10])                                                   \
    X(sort, .keys = s->in, .indices = s->out[11], .method = TML_METHOD_LOOK_BACK)

enum {
#define ONE(call, ...) +1
    RECORDED_COUNT = 0 RECORDED(ONE)
#undef ONE
};

/* Operation number i, or the scratch that it says it needs. */
static tml_status streams_run(tml_context *tml, const streams *s, int number)
{
    int n = 0;
#define RUN(call, ...)                                                                             \
    if (n++ == number)                                                                             \
        return tml_##call(tml, &(tml_##call##_desc){__VA_ARGS__});
    RECORDED(RUN)
#undef RUN
    return TML_ERROR_INTERNAL;
}

static size_t streams_scratch(tml_context *tml, const streams *s, int number)
{
    int n = 0;
#define SIZE(call, ...)                                                                            \
    if (n++ == number)                                                                             \
        return SCRATCH_OF(tml, tml_##call(tml, &(tml_##call##_desc){__VA_ARGS__}));
    RECORDED(SIZE)
#undef SIZE
    return 0;
}

/* A sum over all that the operations wrote. */
static uint64_t streams_hash(tml_context *tml, const streams *s)
{
    static uint32_t words[LONG];
    uint64_t hash = 0, total = 0;
    CHECK_OK(tml, tml_buffer_read_range(tml, s->totals, 0, 1, &total));
    for (int b = 0; b < OUTPUTS; b++) {
        CHECK_OK(tml, tml_buffer_read(tml, s->out[b], words));
        for (uint32_t i = 0; i < LONG; i++)
            hash = (hash ^ words[i]) * 0x100000001b3ull;
    }
    return hash ^ total;
}

static void streams_clear(tml_context *tml, const streams *s)
{
    static const uint32_t zeros[LONG];
    CHECK_OK(tml, tml_buffer_write(tml, s->totals, 0, OUTPUTS, zeros));
    for (int b = 0; b < OUTPUTS; b++)
        CHECK_OK(tml, tml_buffer_write(tml, s->out[b], 0, LONG, zeros));
}

static tml_context *guest_of(const host *h)
{
    vulkan_driver.real_instance = h->get;
    const tml_vulkan_desc desc = {.get_instance_proc_addr = get_instance,
                                  .instance = h->instance,
                                  .physical_device = h->physical,
                                  .device = h->device,
                                  .queue = h->queue};
    tml_context *tml = NULL;
    CHECK(open_with(&desc, &tml) == TML_OK);
    return tml;
}

static const VkCommandBufferBeginInfo begin_info = {
    .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};

/* The scratch sizes are all that a fresh context has to reserve. */
static VkResult lose_at_a_poll(const char *name)
{
    return strcmp(name, "vkGetFenceStatus") == 0 ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

TEST(a_poll_of_a_lost_device_says_so)
{
    NEED_DEVICE();
    CHECK(loader() != NULL);
    vulkan_driver.real_instance = loader();
    tml_context *tml;
    CHECK_OK(NULL, open_with(&(tml_vulkan_desc){.get_instance_proc_addr = get_instance}, &tml));
    tml_buffer words = buffer_of(tml, TML_U32, COUNT, NULL);
    tml_read read;
    bool done = true;
    uint32_t word;
    CHECK_OK(tml, tml_buffer_read_begin(tml, words, 5, 1, &read));
    vulkan_driver.ask = lose_at_a_poll;
    CHECK_STATUS(tml_buffer_read_poll(tml, read, &word, &done), TML_ERROR_DEVICE_LOST);
    vulkan_driver.ask = NULL;
    CHECK(!done);
    CHECK_STATUS(tml_buffer_read_poll(tml, read, &word, &done), TML_ERROR_INVALID_HANDLE);
    CHECK_STATUS(tml_buffer_read_begin(tml, words, 5, 1, &read), TML_ERROR_DEVICE_LOST);
    tml_close(tml);
}

TEST(recording_needs_what_scratch_size_says)
{
    NEED_DEVICE();
    host h = {0};
    CHECK(host_open(&h));
    for (int op = 0; op < RECORDED_COUNT; op++) {
        tml_context *tml = guest_of(&h);
        streams s;
        if (!CHECK(tml && streams_open(tml, &s)))
            break;
        size_t size = streams_scratch(tml, &s, op);
        CHECK_OK(tml, tml_reserve(tml, size));
        CHECK_EQ_U64(test_reserved(tml), size);
        INSTANCE_CALL(&h, BeginCommandBuffer)(h.commands, &begin_info);
        CHECK_OK(tml, tml_vulkan_record(tml, h.commands, NULL, NULL));
        CHECK_OK(tml, streams_run(tml, &s, op));
        CHECK_OK(tml, tml_vulkan_record_end(tml));
        INSTANCE_CALL(&h, EndCommandBuffer)(h.commands);
        host_run(&h);
        uint64_t recorded = streams_hash(tml, &s);
        CHECK_OK(tml, streams_run(tml, &s, op));
        CHECK_EQ_U64(streams_hash(tml, &s), recorded);
        tml_close(tml);
    }
    host_close(&h);
}

/* Submitted again and again while the context works and grows, it writes the same and nothing
 * else. */
TEST(recorded_work_stays_valid)
{
    NEED_DEVICE();
    enum { ROUNDS = 5, CANARIES = 8, CANARY = 4096 };
    static uint32_t canary[CANARY], back[CANARY];
    for (uint32_t i = 0; i < CANARY; i++)
        canary[i] = 0xabababab;
    host h = {0};
    CHECK(host_open(&h));
    tml_context *tml = guest_of(&h);
    streams s, own;
    CHECK(streams_open(tml, &s) && streams_open(tml, &own));
    streams_clear(tml, &own);
    size_t most = 0;
    for (int op = 0; op < RECORDED_COUNT; op++) {
        size_t size = streams_scratch(tml, &s, op);
        most = size > most ? size : most;
        CHECK_OK(tml, streams_run(tml, &own, op));
    }
    uint64_t expected = streams_hash(tml, &own);
    CHECK_OK(tml, tml_reserve(tml, most));

    INSTANCE_CALL(&h, BeginCommandBuffer)(h.commands, &begin_info);
    CHECK_OK(tml, tml_vulkan_record(tml, h.commands, NULL, NULL));
    for (int op = 0; op < RECORDED_COUNT; op++)
        CHECK_OK(tml, streams_run(tml, &s, op));
    CHECK_STATUS(tml_vulkan_forget_recordings(tml), TML_ERROR_INVALID_ARGUMENT);
    CHECK_OK(tml, tml_vulkan_record_end(tml));
    INSTANCE_CALL(&h, EndCommandBuffer)(h.commands);

    tml_buffer canaries[ROUNDS * CANARIES];
    for (int round = 0; round < ROUNDS; round++) {
        streams_clear(tml, &s);
        host_run(&h);
        CHECK_EQ_U64(streams_hash(tml, &s), expected);
        for (int op = 0; op < RECORDED_COUNT; op++)
            CHECK_OK(tml, streams_run(tml, &own, (op + round) % RECORDED_COUNT));
        CHECK_EQ_U64(streams_hash(tml, &own), expected);
        CHECK_OK(tml, tml_reserve(tml, test_reserved(tml) + most / 2));
        for (int c = 0; c < CANARIES; c++)
            canaries[round * CANARIES + c] = buffer_of(tml, TML_U32, CANARY, canary);
    }
    host_run(&h);
    for (int c = 0; c < ROUNDS * CANARIES; c++) {
        CHECK_OK(tml, tml_buffer_read(tml, canaries[c], back));
        CHECK(memcmp(back, canary, sizeof back) == 0);
    }
    CHECK_OK(tml, tml_vulkan_check(tml));
    CHECK_OK(tml, tml_vulkan_forget_recordings(tml));
    for (int op = 0; op < RECORDED_COUNT; op++)
        CHECK_OK(tml, streams_run(tml, &own, op));
    CHECK_EQ_U64(streams_hash(tml, &own), expected);
    tml_close(tml);
    host_close(&h);
}

/* What is kept for recordings takes no more than the arena, and is given back when they are
 * forgotten. */
TEST(kept_scratch_is_bounded)
{
    NEED_DEVICE();
    enum { STEPS = 12, STEP = 24 << 20 }; /* each arena in a block of its own */
    host h = {0};
    CHECK(host_open(&h));
    tml_context *tml = guest_of(&h);
    tml_buffer in = buffer_of(tml, TML_U32, COUNT, NULL), out = buffer_of(tml, TML_U64, 1, NULL);
    const tml_reduce_desc reduce = {.in = in, .folds = {{TML_FOLD_SUM, out}}};
    CHECK_OK(tml, tml_reduce(tml, &reduce));
    CHECK_OK(tml, tml_sync(tml));
    int most = 0, before = vulkan_driver.live;
    for (int step = 1; step <= STEPS; step++) {
        CHECK_OK(tml, tml_reserve(tml, (size_t)step * STEP));
        INSTANCE_CALL(&h, BeginCommandBuffer)(h.commands, &begin_info);
        CHECK_OK(tml, tml_vulkan_record(tml, h.commands, NULL, NULL));
        CHECK_OK(tml, tml_reduce(tml, &reduce));
        CHECK_OK(tml, tml_vulkan_record_end(tml));
        INSTANCE_CALL(&h, EndCommandBuffer)(h.commands);
        most = vulkan_driver.live - before > most ? vulkan_driver.live - before : most;
    }
    CHECK(most <= 2 * 5); /* 1, 2, 4, 8, 16 steps: a buffer and its memory each */
    CHECK_OK(tml, tml_vulkan_forget_recordings(tml));
    CHECK_OK(tml, tml_sync(tml));
    CHECK_EQ_I64(vulkan_driver.live - before, 2);
    tml_close(tml);
    host_close(&h);
}

/* Each by the name of the call, and with what to do. */
TEST(what_cannot_be_recorded_says_so)
{
    NEED_DEVICE();
    host h = {0};
    CHECK(host_open(&h));
    tml_context *tml = guest_of(&h);
    uint64_t number;
    uint32_t word = 0;
    void *mapped;
    static const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    static const uint32_t triangle[3] = {0, 1, 2};
    tml_buffer words = buffer_of(tml, TML_U32, 64, NULL),
               volume = buffer_of(tml, TML_F32, 64, NULL),
               points = buffer_of(tml, TML_VEC(TML_F32, 3), 3, positions),
               corners = buffer_of(tml, TML_VEC(TML_U32, 3), 1, triangle);
    tml_tree *tree = NULL;
    tml_collide_result pairs;
    tml_surface_result surface;
    CHECK_OK(tml,
             tml_tree_create(tml, &(tml_tree_desc){.vertices = points, .indices = corners}, &tree));
    INSTANCE_CALL(&h, BeginCommandBuffer)(h.commands, &begin_info);
    CHECK_OK(tml, tml_vulkan_record(tml, h.commands, NULL, NULL));
#define REFUSED(call, text)                                                                        \
    CHECK_STATUS(call, TML_ERROR_INVALID_ARGUMENT);                                                \
    CHECK(strstr(tml_last_error(tml), text) != NULL)
    REFUSED(tml_buffer_read(tml, words, &word), "tml_buffer_read cannot be recorded");
    REFUSED(tml_buffer_read_count(tml, words, &number), "tml_buffer_read_count cannot be recorded");
    tml_read reading;
    REFUSED(tml_buffer_read_begin(tml, words, 0, 1, &reading),
            "tml_buffer_read_begin cannot be recorded");
    REFUSED(tml_buffer_write(tml, words, 0, 1, &word), "tml_buffer_write cannot be recorded");
    REFUSED(tml_buffer_map(tml, words, &mapped), "tml_buffer_map cannot be recorded");
    REFUSED(tml_sync(tml), "tml_sync cannot be recorded");
    REFUSED(
        tml_surface(tml, &(tml_surface_desc){.volume = volume, .grid.dims = {4, 4, 4}}, &surface),
        "tml_surface cannot be recorded into a command buffer; record tml_surface_enqueue");
    REFUSED(tml_collide(tml, &(tml_collide_desc){.a = tree}, &pairs),
            "tml_collide cannot be recorded");
    REFUSED(tml_vulkan_record(tml, h.commands, NULL, NULL), "tml_vulkan_record cannot be recorded");
#undef REFUSED
    CHECK_STATUS(tml_reserve(tml, 1 << 20), TML_ERROR_SCRATCH_TOO_SMALL);
    CHECK(strstr(tml_last_error(tml), "tml_reserve: ") != NULL);
    CHECK_OK(tml, tml_vulkan_record_end(tml));
    INSTANCE_CALL(&h, EndCommandBuffer)(h.commands);
    CHECK_OK(tml, tml_buffer_read_count(tml, words, &number));
    tml_tree_destroy(tml, tree);
    tml_close(tml);
    host_close(&h);
}

TEST(a_pipeline_cache_comes_back)
{
    NEED_DEVICE();
    tml_context *tml;
    bool right;
    size_t size = 0;
    CHECK(open_with(&(tml_vulkan_desc){0}, &tml) == TML_OK);
    CHECK(work(tml, &right) == TML_OK);
    CHECK(tml_cache(tml, NULL, &size) == TML_OK && size >= 32);
    unsigned char *data = calloc(size, 1);
    CHECK(tml_cache(tml, data, &size) == TML_OK);
    unsigned char header[32]; /* to know whose it is needs no more room than that */
    size_t header_size = sizeof header;
    CHECK_OK(tml, tml_cache(tml, header, &header_size));
    CHECK(header_size == sizeof header && memcmp(header, data, sizeof header) == 0);
    tml_close(tml);
    CHECK(open_with(&(tml_vulkan_desc){0}, &tml) == TML_OK);
    CHECK_OK(tml, tml_cache_add(tml, data, size));
    CHECK(work(tml, &right) == TML_OK && right);
    CHECK_OK(tml, tml_cache_add(tml, data, size)); /* with pipelines and in use */
    CHECK(work(tml, &right) == TML_OK && right);
    tml_close(tml);
    /* Neither a part of a header nor rubbish is fed to the driver as though it were a cache. */
    CHECK(open_with(&(tml_vulkan_desc){0}, &tml) == TML_OK);
    CHECK_OK(tml, tml_cache_add(tml, data, 31));
    memset(data, 0xa5, size);
    CHECK_OK(tml, tml_cache_add(tml, data, size));
    CHECK_OK(tml, tml_cache_add(tml, data, 0));
    CHECK(work(tml, &right) == TML_OK && right);
    tml_close(tml);
    free(data);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
