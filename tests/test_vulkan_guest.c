/* What a Vulkan program may lend beside its device, and say about its queue: an allocator, a
 * pipeline cache, a lock, families that share, barriers of its choice, semaphores; pipelines made
 * ahead; names for debuggers; and what loaders of layered drivers want to be told. */
#include <pthread.h>
#include <string.h>

#include <trommel/trommel.h>
#include <trommel/vulkan.h>

#include "test.h"

#include "vulkan_host.h"

/* ---- a spy between the library and Vulkan ---------------------------------------------------- */

enum { BARRIERS = 64, CALLS = 64 };

static struct {
    PFN_vkGetInstanceProcAddr real_instance;
    PFN_vkGetDeviceProcAddr real_device;
    VkMemoryBarrier barriers[BARRIERS];
    VkPipelineStageFlags from[BARRIERS], to[BARRIERS];
    uint32_t barrier_count;
    uint32_t pipelines, allocations, buffers, shared_buffers, dispatches;
    VkPipelineCache cache;               /* of the last pipeline */
    uint32_t families[16], family_count; /* of the last shared buffer */
    const char *labels[CALLS];
    uint32_t label_count;
    int label_depth, label_depth_most;
    uint32_t named_pipelines, named_buffers;
    bool is_layered; /* the loader hides a device from those who do not ask */
    bool asked_for_it, made_with_subset, made_with_timelines;
} spy;

static VKAPI_ATTR void VKAPI_CALL
spy_CmdPipelineBarrier(VkCommandBuffer a, VkPipelineStageFlags from, VkPipelineStageFlags to,
                       VkDependencyFlags d, uint32_t e, const VkMemoryBarrier *memory, uint32_t g,
                       const VkBufferMemoryBarrier *h, uint32_t i, const VkImageMemoryBarrier *j)
{
    if (spy.barrier_count < BARRIERS) {
        spy.barriers[spy.barrier_count] = *memory;
        spy.from[spy.barrier_count] = from;
        spy.to[spy.barrier_count] = to;
    }
    spy.barrier_count++;
    VK(CmdPipelineBarrier)(a, from, to, d, e, memory, g, h, i, j);
}

static VKAPI_ATTR void VKAPI_CALL spy_CmdDispatch(VkCommandBuffer a, uint32_t b, uint32_t c,
                                                  uint32_t d)
{
    spy.dispatches++;
    VK(CmdDispatch)(a, b, c, d);
}

static VKAPI_ATTR VkResult VKAPI_CALL spy_CreateComputePipelines(
    VkDevice a, VkPipelineCache b, uint32_t c, const VkComputePipelineCreateInfo *d,
    const VkAllocationCallbacks *e, VkPipeline *f)
{
    spy.pipelines++;
    spy.cache = b;
    return VK(CreateComputePipelines)(a, b, c, d, e, f);
}

static VKAPI_ATTR VkResult VKAPI_CALL spy_AllocateMemory(VkDevice a, const VkMemoryAllocateInfo *b,
                                                         const VkAllocationCallbacks *c,
                                                         VkDeviceMemory *d)
{
    spy.allocations++;
    return VK(AllocateMemory)(a, b, c, d);
}

/* The device has one family: what it is told is that nothing is shared. */
static VKAPI_ATTR VkResult VKAPI_CALL spy_CreateBuffer(VkDevice a, const VkBufferCreateInfo *b,
                                                       const VkAllocationCallbacks *c, VkBuffer *d)
{
    VkBufferCreateInfo info = *b;
    spy.buffers++;
    if (info.sharingMode == VK_SHARING_MODE_CONCURRENT) {
        spy.shared_buffers++;
        spy.family_count = info.queueFamilyIndexCount;
        memcpy(spy.families, info.pQueueFamilyIndices,
               info.queueFamilyIndexCount * sizeof(uint32_t));
        info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
        info.queueFamilyIndexCount = 0;
    }
    return VK(CreateBuffer)(a, &info, c, d);
}

static VKAPI_ATTR VkResult VKAPI_CALL
spy_SetDebugUtilsObjectNameEXT(VkDevice a, const VkDebugUtilsObjectNameInfoEXT *info)
{
    (void)a;
    CHECK(info->objectHandle != 0 && info->pObjectName && info->pObjectName[0]);
    spy.named_pipelines += info->objectType == VK_OBJECT_TYPE_PIPELINE;
    spy.named_buffers += info->objectType == VK_OBJECT_TYPE_BUFFER;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL spy_CmdBeginDebugUtilsLabelEXT(VkCommandBuffer a,
                                                                 const VkDebugUtilsLabelEXT *label)
{
    (void)a;
    spy.label_depth++;
    spy.label_depth_most =
        spy.label_depth > spy.label_depth_most ? spy.label_depth : spy.label_depth_most;
    if (spy.label_count < CALLS)
        spy.labels[spy.label_count] = label->pLabelName;
    spy.label_count++;
}

static VKAPI_ATTR void VKAPI_CALL spy_CmdEndDebugUtilsLabelEXT(VkCommandBuffer a)
{
    (void)a;
    spy.label_depth--;
}

/* Adds a name to a list of extensions, as vkEnumerate...ExtensionProperties gives it. */
static VkResult list_with(VkResult listed, const char *name, uint32_t *count,
                          VkExtensionProperties *out, uint32_t room)
{
    if (listed == VK_SUCCESS && spy.is_layered && out && *count < room)
        snprintf(out[(*count)++].extensionName, VK_MAX_EXTENSION_NAME_SIZE, "%s", name);
    return listed;
}

static VKAPI_ATTR VkResult VKAPI_CALL spy_EnumerateInstanceExtensionProperties(
    const char *layer, uint32_t *count, VkExtensionProperties *out)
{
    const uint32_t room = *count;
    PFN_vkEnumerateInstanceExtensionProperties real =
        (PFN_vkEnumerateInstanceExtensionProperties)spy.real_instance(
            NULL, "vkEnumerateInstanceExtensionProperties");
    return list_with(real(layer, count, out), "VK_KHR_portability_enumeration", count, out, room);
}

static VKAPI_ATTR VkResult VKAPI_CALL spy_EnumerateDeviceExtensionProperties(
    VkPhysicalDevice a, const char *layer, uint32_t *count, VkExtensionProperties *out)
{
    const uint32_t room = *count;
    return list_with(VK(EnumerateDeviceExtensionProperties)(a, layer, count, out),
                     "VK_KHR_portability_subset", count, out, room);
}

static VKAPI_ATTR VkResult VKAPI_CALL spy_CreateInstance(const VkInstanceCreateInfo *a,
                                                         const VkAllocationCallbacks *b,
                                                         VkInstance *c)
{
    VkInstanceCreateInfo info = *a;
    for (uint32_t i = 0; i < a->enabledExtensionCount; i++)
        spy.asked_for_it |=
            strcmp(a->ppEnabledExtensionNames[i], "VK_KHR_portability_enumeration") == 0 &&
            (a->flags & VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR);
    info.flags = 0;
    info.enabledExtensionCount = 0;
    VkResult result =
        ((PFN_vkCreateInstance)spy.real_instance(NULL, "vkCreateInstance"))(&info, b, c);
    host.instance = result == VK_SUCCESS ? *c : VK_NULL_HANDLE;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL spy_CreateDevice(VkPhysicalDevice a,
                                                       const VkDeviceCreateInfo *b,
                                                       const VkAllocationCallbacks *c, VkDevice *d)
{
    VkDeviceCreateInfo info = *b;
    for (uint32_t i = 0; i < b->enabledExtensionCount; i++)
        spy.made_with_subset |=
            strcmp(b->ppEnabledExtensionNames[i], "VK_KHR_portability_subset") == 0;
    for (const VkBaseInStructure *next = b->pNext; next; next = next->pNext)
        if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)
            spy.made_with_timelines =
                ((const VkPhysicalDeviceVulkan12Features *)(const void *)next)->timelineSemaphore;
    info.enabledExtensionCount = 0;
    return VK(CreateDevice)(a, &info, c, d);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL spy_device(VkDevice device, const char *name);

static PFN_vkVoidFunction spied(PFN_vkVoidFunction real, const char *name)
{
#define SPY(f)                                                                                     \
    if (strcmp(name, "vk" #f) == 0)                                                                \
        return (PFN_vkVoidFunction)spy_##f;
    SPY(CmdPipelineBarrier)
    SPY(CmdDispatch)
    SPY(CreateComputePipelines)
    SPY(AllocateMemory)
    SPY(CreateBuffer)
    SPY(SetDebugUtilsObjectNameEXT)
    SPY(CmdBeginDebugUtilsLabelEXT)
    SPY(CmdEndDebugUtilsLabelEXT)
    SPY(EnumerateInstanceExtensionProperties)
    SPY(EnumerateDeviceExtensionProperties)
    SPY(CreateInstance)
    SPY(CreateDevice)
#undef SPY
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
        spy.real_device = (PFN_vkGetDeviceProcAddr)real;
        return (PFN_vkVoidFunction)spy_device;
    }
    return real;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL spy_device(VkDevice device, const char *name)
{
    return spied(spy.real_device(device, name), name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL spy_instance(VkInstance instance, const char *name)
{
    return spied(spy.real_instance(instance, name), name);
}

static tml_vulkan_desc spied_desc(void)
{
    memset(&spy, 0, sizeof spy);
    spy.real_instance = host.get;
    tml_vulkan_desc desc = host_desc();
    desc.get_instance_proc_addr = spy_instance;
    return desc;
}

/* ---- work to do ------------------------------------------------------------------------------ */

enum { COUNT = 30000 };

#define NEED_HOST()                                                                                \
    if (!host_open_any())                                                                          \
    SKIP("no Vulkan device")

static tml_status open_on(const tml_vulkan_desc *desc, tml_context **out)
{
    return tml_open(&(tml_open_desc){.engine = TML_ENGINE_VULKAN, .vulkan = desc, .threads = 1},
                    out);
}

typedef struct job {
    tml_buffer flags, kept, count;
    tml_compact_desc compact;
} job;

/* Keeps the indices of every third flag. */
static job job_on(tml_context *tml)
{
    static uint8_t flags[COUNT];
    job j;
    for (uint32_t i = 0; i < COUNT; i++)
        flags[i] = i % 3 == 0;
    CHECK_OK(tml,
             tml_buffer_create(
                 tml, &(tml_buffer_desc){.type = TML_U8, .count = COUNT, .data = flags}, &j.flags));
    CHECK_OK(tml,
             tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = COUNT}, &j.kept));
    CHECK_OK(tml, tml_buffer_create(
                      tml, &(tml_buffer_desc){.type = TML_U32, .count = 1, .data = &(uint32_t){7}},
                      &j.count));
    j.compact = (tml_compact_desc){.keep.flags = j.flags, .indices = j.kept, .count = j.count};
    return j;
}

static bool job_is_right(tml_context *tml, const job *j)
{
    static uint32_t kept[COUNT];
    uint64_t count = 0;
    CHECK_OK(tml, tml_buffer_read_count(tml, j->count, &count));
    CHECK_OK(tml, tml_buffer_read(tml, j->kept, kept));
    bool right = count == COUNT / 3;
    for (uint32_t i = 0; i < count && i < COUNT; i++)
        right = right && kept[i] == 3 * i;
    return right;
}

static bool works(tml_context *tml)
{
    const job j = job_on(tml);
    CHECK_OK(tml, tml_compact(tml, &j.compact));
    const bool right = job_is_right(tml, &j);
    tml_buffer_destroy(tml, j.flags);
    tml_buffer_destroy(tml, j.kept);
    tml_buffer_destroy(tml, j.count);
    return right;
}

/* ---- an allocator ---------------------------------------------------------------------------- */

typedef struct pool {
    int live, made, fail_at;
    bool unmapped;    /* forgets to map */
    tml_context *tml; /* which is called from within, and must refuse */
    tml_status refused;
} pool;

/* Memory at an offset of a larger allocation, as allocators give it. */
static VkResult pool_create(void *user, const VkBufferCreateInfo *info, uint32_t memory_type,
                            tml_vulkan_allocation *out)
{
    enum { BEFORE = 1 << 16 };
    pool *p = user;
    if (++p->made == p->fail_at)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    if (p->tml)
        p->refused = tml_sync(p->tml);
    VkMemoryRequirements needs;
    CHECK(VK(CreateBuffer)(host.device, info, NULL, &out->buffer) == VK_SUCCESS);
    VK(GetBufferMemoryRequirements)(host.device, out->buffer, &needs);
    CHECK(needs.memoryTypeBits >> memory_type & 1 && BEFORE % needs.alignment == 0);
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .pNext = &flags,
                                           .allocationSize = BEFORE + needs.size,
                                           .memoryTypeIndex = memory_type};
    VkDeviceMemory memory;
    VkPhysicalDeviceMemoryProperties types;
    CHECK(VK(AllocateMemory)(host.device, &allocate, NULL, &memory) == VK_SUCCESS);
    CHECK(VK(BindBufferMemory)(host.device, out->buffer, memory, BEFORE) == VK_SUCCESS);
    VK(GetPhysicalDeviceMemoryProperties)(host.physical, &types);
    if (types.memoryTypes[memory_type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT &&
        !p->unmapped) {
        CHECK(VK(MapMemory)(host.device, memory, 0, VK_WHOLE_SIZE, 0, &out->mapped) == VK_SUCCESS);
        out->mapped = (char *)out->mapped + BEFORE;
    }
    VkDeviceMemory *kept = malloc(sizeof *kept);
    *kept = memory;
    out->allocation = kept;
    p->live++;
    return VK_SUCCESS;
}

static void pool_destroy(void *user, const tml_vulkan_allocation *allocation)
{
    pool *p = user;
    VkDeviceMemory *memory = allocation->allocation;
    VK(DestroyBuffer)(host.device, allocation->buffer, NULL);
    VK(FreeMemory)(host.device, *memory, NULL);
    free(memory);
    p->live--;
}

TEST(memory_comes_from_the_callers_allocator)
{
    NEED_HOST();
    tml_context *tml;
    pool p = {0};
    tml_vulkan_desc desc = spied_desc();
    desc.allocator = (tml_vulkan_allocator){pool_create, pool_destroy, &p};
    CHECK_OK(NULL, open_on(&desc, &tml));
    p.tml = tml;
    tml_buffer large;
    CHECK_OK(tml,
             tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U8, .count = (uint64_t)40 << 20},
                               &large));
    CHECK(works(tml));
    CHECK(p.refused == TML_ERROR_INVALID_ARGUMENT); /* a hook calls nothing */
    p.tml = NULL;
    CHECK(p.made > 0 && p.live > 0 && spy.allocations == 0 && spy.buffers == 0);
    tml_close(tml);
    CHECK(p.live == 0);
    const int made = p.made;
    for (int n = 1; n <= made; n++) {
        p = (pool){.fail_at = n};
        tml_status status = open_on(&desc, &tml);
        if (status == TML_OK) {
            status = tml_buffer_create(
                tml, &(tml_buffer_desc){.type = TML_U8, .count = (uint64_t)40 << 20}, &large);
            if (status == TML_OK) /* of later ones */
                status = p.made < n ? TML_ERROR_OUT_OF_DEVICE_MEMORY : TML_OK;
            tml_close(tml);
        }
        CHECK(status == TML_ERROR_OUT_OF_DEVICE_MEMORY);
        CHECK(p.live == 0);
    }
    p = (pool){.unmapped = true}; /* the probe's word is the host's, too */
    CHECK(open_on(&desc, &tml) != TML_OK);
    CHECK(p.live == 0);
    host_take_back(NULL);
}

/* ---- what makes no sense --------------------------------------------------------------------- */

static void no_lock(void *user)
{
    (void)user;
}

TEST(what_is_lent_in_part_is_refused)
{
    NEED_HOST();
    static const uint32_t families[9];
    const VkPipelineCache some_cache = (VkPipelineCache)1;
    const struct {
        const char *word;
        bool lends;
        tml_vulkan_desc desc;
    } cases[] = {
        {"allocator.destroy", true, {.allocator.create = pool_create}},
        {"unlock_queue", true, {.lock_queue = no_lock}},
        {"lock_queue", true, {.unlock_queue = no_lock}},
        {"at most 8", true, {.sharing_families = families, .sharing_family_count = 9}},
        {"sharing_families NULL", true, {.sharing_family_count = 1}},
        {"need a lent device", false, {.pipeline_cache = some_cache}},
        {"need a lent device", false, {.allocator = {pool_create, pool_destroy, NULL}}},
        {"need a lent device", false, {.sharing_families = families, .sharing_family_count = 1}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tml_vulkan_desc desc = cases[i].desc;
        const tml_vulkan_desc lent = host_desc();
        if (cases[i].lends) {
            desc.get_instance_proc_addr = lent.get_instance_proc_addr;
            desc.instance = lent.instance;
            desc.physical_device = lent.physical_device;
            desc.device = lent.device;
            desc.queue = lent.queue;
            desc.has_size_control = lent.has_size_control;
        }
        tml_context *tml = NULL;
        CHECK(open_on(&desc, &tml) == TML_ERROR_INVALID_ARGUMENT);
        if (!strstr(tml_last_error(NULL), cases[i].word))
            test_fail(__FILE__, __LINE__, "case %zu: %s", i, tml_last_error(NULL));
    }
    host_take_back(NULL);
}

/* ---- a pipeline cache, families -------------------------------------------------------------- */

TEST(pipelines_are_made_with_the_callers_cache)
{
    NEED_HOST();
    tml_context *tml;
    tml_vulkan_desc desc = spied_desc();
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    size_t size = 0, told = 0;
    CHECK(VK(CreatePipelineCache)(host.device, &info, NULL, &desc.pipeline_cache) == VK_SUCCESS);
    for (int i = 0; i < 2; i++) { /* the second time it is still there */
        spy.cache = VK_NULL_HANDLE;
        CHECK_OK(NULL, open_on(&desc, &tml));
        CHECK(works(tml) && spy.cache == desc.pipeline_cache);
        CHECK_OK(tml, tml_cache(tml, NULL, &told));
        tml_close(tml);
    }
    CHECK(VK(GetPipelineCacheData)(host.device, desc.pipeline_cache, &size, NULL) == VK_SUCCESS);
    CHECK(told == size);
    VK(DestroyPipelineCache)(host.device, desc.pipeline_cache, NULL);
    host_take_back(NULL);
}

TEST(buffers_are_shared_with_families)
{
    NEED_HOST();
    tml_context *tml;
    tml_vulkan_desc desc = spied_desc();
    const uint32_t others[] = {host.family, host.family + 3, host.family + 5};
    desc.sharing_families = others;
    desc.sharing_family_count = 3;
    CHECK_OK(NULL, open_on(&desc, &tml));
    CHECK(works(tml));
    CHECK(spy.buffers > 0 && spy.shared_buffers == spy.buffers && spy.family_count == 3);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(spy.families[i] == others[i]);
    tml_close(tml);
    desc.sharing_family_count = 1; /* with itself alone: exclusive */
    spy.buffers = spy.shared_buffers = 0;
    CHECK_OK(NULL, open_on(&desc, &tml));
    CHECK(works(tml));
    CHECK(spy.buffers > 0 && spy.shared_buffers == 0);
    tml_close(tml);
    host_take_back(NULL);
}

/* ---- a queue that others use ----------------------------------------------------------------- */

typedef struct queue_lock {
    pthread_mutex_t mutex;
    int depth, locked; /* guarded by it */
    atomic_bool over;
    int others; /* submissions of the other thread */
} queue_lock;

static void lock(void *user)
{
    queue_lock *l = user;
    pthread_mutex_lock(&l->mutex);
    CHECK(l->depth++ == 0);
    l->locked++;
}

static void unlock(void *user)
{
    queue_lock *l = user;
    CHECK(--l->depth == 0);
    pthread_mutex_unlock(&l->mutex);
}

static void *submit_others(void *user)
{
    queue_lock *l = user;
    const VkSubmitInfo nothing = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO};
    while (!atomic_load(&l->over)) {
        pthread_mutex_lock(&l->mutex);
        CHECK(VK(QueueSubmit)(host.queue, 1, &nothing, VK_NULL_HANDLE) == VK_SUCCESS);
        l->others++;
        pthread_mutex_unlock(&l->mutex);
    }
    return NULL;
}

TEST(a_queue_is_locked_around_submissions)
{
    NEED_HOST();
    tml_context *tml;
    pthread_t other;
    queue_lock l = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    tml_vulkan_desc desc = host_desc(), told;
    desc.lock_queue = lock;
    desc.unlock_queue = unlock;
    desc.queue_user = &l;
    CHECK(pthread_create(&other, NULL, submit_others, &l) == 0);
    CHECK_OK(NULL, open_on(&desc, &tml));
    for (int i = 0; i < 20; i++)
        CHECK(works(tml));
    CHECK_OK(tml, tml_vulkan_handles(tml, &told));
    CHECK(told.lock_queue == lock && told.unlock_queue == unlock && told.queue_user == &l);
    atomic_store(&l.over, true);
    pthread_join(other, NULL);
    tml_close(tml);
    CHECK(l.locked >= 20 && l.depth == 0 && l.others > 0);
    host_take_back(NULL);
}

/* ---- semaphores ------------------------------------------------------------------------------ */

static VkSemaphore timeline(void)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    CHECK(VK(CreateSemaphore)(host.device, &info, NULL, &semaphore) == VK_SUCCESS);
    return semaphore;
}

static uint64_t value_of(VkSemaphore semaphore)
{
    uint64_t value = UINT64_MAX;
    CHECK(VK(GetSemaphoreCounterValue)(host.device, semaphore, &value) == VK_SUCCESS);
    return value;
}

static bool reaches(VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &semaphore,
                                      .pValues = &value};
    return VK(WaitSemaphores)(host.device, &wait, (uint64_t)60 * 1000 * 1000 * 1000) == VK_SUCCESS;
}

/* The host holds the work back, and lets it go. */
TEST(work_begins_after_a_semaphore_and_sets_another)
{
    NEED_HOST();
    tml_context *tml;
    const tml_vulkan_desc desc = host_desc();
    CHECK_OK(NULL, open_on(&desc, &tml));
    VkSemaphore go = timeline(), done = timeline();
    const job j = job_on(tml);
    CHECK_OK(tml, tml_sync(tml));
    CHECK_OK(tml, tml_vulkan_after(tml, go, 5));
    CHECK_OK(tml, tml_compact(tml, &j.compact));
    CHECK_OK(tml, tml_vulkan_signal(tml, done, 9));
    const struct timespec moment = {.tv_nsec = 50 * 1000 * 1000};
    nanosleep(&moment, NULL);
    CHECK(value_of(done) == 0);
    const VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = go, .value = 5};
    CHECK(VK(SignalSemaphore)(host.device, &signal) == VK_SUCCESS);
    CHECK(reaches(done, 9));
    CHECK(job_is_right(tml, &j));
    /* Nothing is enqueued: it is set all the same. */
    CHECK_OK(tml, tml_vulkan_signal(tml, done, 10));
    CHECK(reaches(done, 10));
    tml_close(tml);
    CHECK(VK(QueueWaitIdle)(host.queue) == VK_SUCCESS);
    VK(DestroySemaphore)(host.device, go, NULL);
    VK(DestroySemaphore)(host.device, done, NULL);
    host_take_back(NULL);
}

/* Two contexts on one device, one of which makes what the other one keeps; binary semaphores. */
TEST(two_contexts_take_turns)
{
    NEED_HOST();
    tml_context *maker, *keeper;
    const tml_vulkan_desc desc = host_desc();
    CHECK_OK(NULL, open_on(&desc, &maker));
    CHECK_OK(NULL, open_on(&desc, &keeper));
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore made;
    CHECK(VK(CreateSemaphore)(host.device, &info, NULL, &made) == VK_SUCCESS);
    const job j = job_on(maker);
    tml_buffer kept, sums;
    tml_vulkan_memory at;
    CHECK_OK(maker, tml_vulkan_buffer(maker, j.kept, &at, NULL));
    CHECK_OK(keeper, tml_buffer_create(
                         keeper, &(tml_buffer_desc){.type = TML_U32, .count = COUNT, .vulkan = &at},
                         &kept));
    CHECK_OK(keeper,
             tml_buffer_create(keeper, &(tml_buffer_desc){.type = TML_U64, .count = 1}, &sums));
    CHECK_OK(maker, tml_compact(maker, &j.compact));
    CHECK_OK(maker, tml_vulkan_signal(maker, made, 0));
    CHECK_OK(keeper, tml_vulkan_after(keeper, made, 0));
    CHECK_OK(keeper, tml_reduce(keeper, &(tml_reduce_desc){.in = kept,
                                                           .length = {.count = COUNT / 3},
                                                           .folds = {{TML_FOLD_SUM, sums}}}));
    uint64_t sum = 0;
    CHECK_OK(keeper, tml_buffer_read(keeper, sums, &sum));
    CHECK_EQ_U64(sum, 3 * ((uint64_t)(COUNT / 3) * (COUNT / 3 - 1) / 2));
    tml_close(keeper);
    tml_close(maker);
    CHECK(VK(QueueWaitIdle)(host.queue) == VK_SUCCESS);
    VK(DestroySemaphore)(host.device, made, NULL);
    host_take_back(NULL);
}

TEST(semaphores_that_cannot_be)
{
    NEED_HOST();
    tml_context *tml;
    const tml_vulkan_desc desc = host_desc();
    CHECK_OK(NULL, open_on(&desc, &tml));
    VkSemaphore some = timeline(), all[8];
    CHECK(tml_vulkan_after(tml, VK_NULL_HANDLE, 1) == TML_ERROR_INVALID_ARGUMENT);
    CHECK(tml_vulkan_signal(tml, VK_NULL_HANDLE, 1) == TML_ERROR_INVALID_ARGUMENT);
    for (int i = 0; i < 8; i++) {
        all[i] = timeline();
        CHECK_OK(tml, tml_vulkan_after(tml, all[i], 0));
    }
    CHECK(tml_vulkan_after(tml, some, 0) == TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "8 semaphores") != NULL);
    CHECK_OK(tml, tml_vulkan_signal(tml, some, 1)); /* takes the eight */
    CHECK_OK(tml, tml_vulkan_after(tml, some, 1));
    CHECK(works(tml));
    VkCommandBuffer commands = host_commands();
    host_begin(commands);
    CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
    CHECK(tml_vulkan_after(tml, some, 1) == TML_ERROR_INVALID_ARGUMENT);
    CHECK(tml_vulkan_signal(tml, some, 2) == TML_ERROR_INVALID_ARGUMENT);
    CHECK_OK(tml, tml_vulkan_record_end(tml));
    tml_close(tml);
    CHECK(VK(QueueWaitIdle)(host.queue) == VK_SUCCESS);
    for (int i = 0; i < 8; i++)
        VK(DestroySemaphore)(host.device, all[i], NULL);
    VK(DestroySemaphore)(host.device, some, NULL);
    host_take_back(NULL);
}

/* ---- barriers -------------------------------------------------------------------------------- */

static void record_between(tml_context *tml, const job *j, const tml_vulkan_barrier *before,
                           const tml_vulkan_barrier *after)
{
    VkCommandBuffer commands = host_commands();
    host_begin(commands);
    spy.barrier_count = 0;
    CHECK_OK(tml, tml_vulkan_record(tml, commands, before, after));
    CHECK_OK(tml, tml_compact(tml, &j->compact));
    CHECK_OK(tml, tml_vulkan_record_end(tml));
    const uint32_t recorded = spy.barrier_count; /* copies have theirs */
    CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
    CHECK_OK(tml, tml_buffer_write(tml, j->count, 0, 1, &(uint32_t){0}));
    CHECK_OK(tml, tml_sync(tml));
    host_submit(commands);
    CHECK(job_is_right(tml, j));
    spy.barrier_count = recorded;
}

TEST(recordings_begin_and_end_with_the_callers_barriers)
{
    NEED_HOST();
    tml_context *tml;
    tml_vulkan_desc desc = spied_desc();
    CHECK_OK(NULL, open_on(&desc, &tml));
    const job j = job_on(tml);
    const tml_vulkan_barrier all = {0}, none = {.none = true},
                             drawn = {.stages = VK_PIPELINE_STAGE_VERTEX_SHADER_BIT,
                                      .access = VK_ACCESS_SHADER_READ_BIT},
                             both = {.none = true, .access = VK_ACCESS_SHADER_READ_BIT};
    const VkAccessFlags any = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    CHECK_OK(tml, tml_compact(tml, &j.compact));
    CHECK_OK(tml, tml_sync(tml));
    record_between(tml, &j, &all, &all);
    const uint32_t with_both = spy.barrier_count;
    CHECK(with_both >= 2 && with_both < BARRIERS);
    CHECK(spy.from[0] == VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    CHECK(spy.to[with_both - 1] ==
          (VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT));
    CHECK(spy.barriers[with_both - 1].dstAccessMask == any);
    record_between(tml, &j, &drawn, &drawn);
    CHECK(spy.barrier_count == with_both);
    CHECK(spy.from[0] == VK_PIPELINE_STAGE_VERTEX_SHADER_BIT &&
          spy.barriers[0].srcAccessMask == VK_ACCESS_SHADER_READ_BIT);
    CHECK(spy.to[with_both - 1] == VK_PIPELINE_STAGE_VERTEX_SHADER_BIT &&
          spy.barriers[with_both - 1].dstAccessMask == VK_ACCESS_SHADER_READ_BIT);
    record_between(tml, &j, &none, &none);
    CHECK(spy.barrier_count == with_both - 2);
    VkCommandBuffer commands = host_commands();
    host_begin(commands);
    CHECK(tml_vulkan_record(tml, commands, &both, &all) == TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "before.none") != NULL);
    CHECK(tml_vulkan_record(tml, commands, &all, &both) == TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "after.none") != NULL);
    CHECK(tml_vulkan_record(tml, VK_NULL_HANDLE, &all, &all) == TML_ERROR_INVALID_ARGUMENT);
    CHECK(works(tml)); /* none of these began a recording */
    tml_close(tml);
    host_take_back(NULL);
}

/* ---- ahead of time --------------------------------------------------------------------------- */

TEST(what_is_prepared_is_recorded_without_more)
{
    NEED_HOST();
    tml_context *tml;
    tml_vulkan_desc desc = spied_desc();
    CHECK_OK(NULL, open_on(&desc, &tml));
    const job j = job_on(tml);
    uint64_t count;
    CHECK_OK(tml, tml_sync(tml));
    tml_prepared prepared;
    CHECK(tml_prepare_end(tml, &prepared) == TML_ERROR_INVALID_ARGUMENT);
    CHECK_OK(tml, tml_prepare_begin(tml));
    CHECK(tml_prepare_begin(tml) == TML_ERROR_INVALID_ARGUMENT);
    spy.dispatches = spy.pipelines = 0;
    CHECK_OK(tml, tml_compact(tml, &j.compact));
    CHECK(tml_buffer_read_count(tml, j.count, &count) == TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "tml_prepare_end") != NULL);
    CHECK_OK(tml, tml_prepare_end(tml, &prepared));
    CHECK_EQ_U64(test_reserved(tml), 0);
    CHECK_OK(tml, tml_reserve(tml, prepared.scratch_size));
    CHECK(spy.pipelines > 0 && spy.dispatches == 0);
    CHECK_OK(tml, tml_buffer_read_count(tml, j.count, &count));
    CHECK_EQ_U64(count, 7); /* as it was */

    VkCommandBuffer commands = host_commands();
    spy.pipelines = spy.allocations = 0;
    host_begin(commands);
    CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
    CHECK_OK(tml, tml_compact(tml, &j.compact));
    CHECK_OK(tml, tml_vulkan_record_end(tml));
    CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
    CHECK(spy.pipelines == 0 && spy.allocations == 0 && spy.dispatches > 0);
    host_submit(commands);
    CHECK(job_is_right(tml, &j));
    tml_close(tml);
    host_take_back(NULL);
}

/* ---- debuggers ------------------------------------------------------------------------------- */

static uint32_t times_labelled(const char *name)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < spy.label_count && i < CALLS; i++)
        times += strcmp(spy.labels[i], name) == 0;
    return times;
}

TEST(debuggers_see_names)
{
    NEED_HOST();
    tml_context *tml;
    tml_vulkan_desc desc = spied_desc();
    CHECK_OK(NULL, open_on(&desc, &tml));
    const job j = job_on(tml);
    tml_buffer ten;
    CHECK_OK(tml, tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U8, .count = 10}, &ten));
    const tml_gather_desc gather = {
        .indices = j.kept, .length = {.count = 10}, .payloads = {{j.flags, ten}}};
    CHECK_OK(tml, tml_compact(tml, &j.compact));
    CHECK_OK(tml, tml_compact(tml, &j.compact)); /* the same region, until it is submitted */
    CHECK_OK(tml, tml_sync(tml));
    CHECK(times_labelled("tml_compact") == 1 && spy.label_depth == 0);
    CHECK(spy.named_pipelines == spy.pipelines && spy.named_buffers == spy.buffers);
    VkCommandBuffer commands = host_commands();
    host_begin(commands);
    CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
    CHECK_OK(tml, tml_compact(tml, &j.compact));
    CHECK_OK(tml, tml_gather(tml, &gather));
    CHECK_OK(tml, tml_vulkan_record_end(tml));
    CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
    CHECK(times_labelled("tml_compact") == 2 && times_labelled("tml_gather") == 1);
    CHECK(spy.label_depth == 0 && spy.label_depth_most == 1);
    tml_close(tml);
    host_take_back(NULL);
}

/* ---- layered drivers ------------------------------------------------------------------------- */

TEST(layered_drivers_are_asked_for)
{
    NEED_HOST();
    PFN_vkGetInstanceProcAddr get = host.get;
    host_take_back(NULL);
    tml_context *tml;
    memset(&spy, 0, sizeof spy);
    spy.real_instance = host.get = get;
    spy.is_layered = true;
    CHECK_OK(NULL, open_on(&(tml_vulkan_desc){.get_instance_proc_addr = spy_instance}, &tml));
    CHECK(spy.asked_for_it && spy.made_with_subset && spy.made_with_timelines);
    CHECK(works(tml));
    tml_close(tml);
    memset(&host, 0, sizeof host);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
