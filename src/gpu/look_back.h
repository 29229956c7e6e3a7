/* The policy of waiting on a GPU, in one table. By operation and kind of device, it says how often
 * a workgroup polls the state of another workgroup's tile before that tile counts as stuck, and
 * what the workgroup does then. A dispatch names its row (vk_dispatch_info.look), from which the
 * engine sets the shader's specialization constants. No other file has such numbers.
 *
 * There are two kinds of device. With forward progress (vk_caps.forward_progress), every workgroup
 * that has started keeps running, so a wait for its state ends. Without it, a silent workgroup may
 * itself be waiting for the polling workgroup to end, so polling longer is useless. When a tile is
 * stuck, a workgroup either
 *
 *   helps     it computes the state of that tile itself. Without forward progress there is no other
 *             way; with it, the code mostly costs registers (figures: compact.glsl)
 *   gives up  it sets a word, and the host's next call that waits returns TML_ERROR_STALLED */
#ifndef TML_LOOK_BACK_H
#define TML_LOOK_BACK_H

/* The numbers of the specialization constants, the same in every shader that looks back. */
#define LOOK_SPEC_LOOKS    101
#define LOOK_SPEC_GIVES_UP 102
#define LOOK_SPEC_TICKETS  103
#define LOOK_SPEC_LATE     104
#define LOOK_SPECS         4

#ifdef TML_GLSL
/* clang-format off */
layout(constant_id = LOOK_SPEC_LOOKS) const uint LOOKS = 16u; /* in vain, before a tile is stuck */
layout(constant_id = LOOK_SPEC_GIVES_UP) const bool GIVES_UP = false; /* on a stuck tile */
layout(constant_id = LOOK_SPEC_TICKETS) const bool TAKES_TICKETS = true;
layout(constant_id = LOOK_SPEC_LATE) const uint LATE = 0u; /* loads of a late tile (delay) */
/* clang-format on */
#else

#    include <stdbool.h>
#    include <stdint.h>

typedef enum look_operation {
    LOOK_NONE, /* the dispatch does not look back */
    LOOK_COMPACT,
    LOOK_PARTITION, /* of a short stream, in which a workgroup waits for all others */
    LOOK_SCAN,
    LOOK_SCAN_IN_PLACE,
    LOOK_SCAN_SEGMENTS,
    LOOK_EXPAND,
    LOOK_SORT,
    LOOK_PROBE, /* vulkan_probe.c: finds out whether a device makes progress */
    LOOK_OPERATIONS
} look_operation;

/* A poll is a round trip to memory, 0.7 us on an H200, where LOOKS_MOST polls take 0.7 s. A tile
 * takes some microseconds, so that is enough even on a shared device. It is also less than the time
 * after which watchdogs reset the device: 2 s (Windows) or some seconds (Linux, some drivers).
 * Waits for the same tile overlap. LOOKS_LONG polls take tens of milliseconds. */
enum { LOOKS_MOST = 1 << 20, LOOKS_LONG = 1 << 16 };

/* A device's properties, and whether a test requests late tiles. */
typedef struct look_device {
    bool makes_progress, begins_in_order, has_late_tiles;
} look_device;

/* The values of a dispatch's constants. */
typedef struct look_policy {
    uint32_t looks;
    bool gives_up;
    bool takes_tickets;
    uint32_t late;
} look_policy;

static inline look_policy look_policy_of(look_operation operation, const look_device *device)
{
    enum { HELP = false, GIVE_UP = true };
    /* Tickets assign tiles to workgroups in the order in which the workgroups start. They are
     * unnecessary if workgroups start in the order of their index (vk_caps.begins_in_order). A scan
     * with forward progress requires none either, since it helps the tiles of workgroups that have
     * not started. The shaders of expand and of the probe have no choice. */
    enum { IF_NO_ORDER, IF_NO_PROGRESS, ALWAYS };
    /* Late tiles are for tests: every other tile performs so many loads before it publishes, which
     * takes longer than all polls without forward progress. */
    static const struct {
        struct {
            uint32_t looks;
            bool gives_up;
        } with_progress, without;
        int tickets;
        uint32_t late;
    } rows[LOOK_OPERATIONS] = {
        /* clang-format off */
        /*                       with progress          without                tickets       late */
        [LOOK_COMPACT]       = {{LOOKS_MOST, GIVE_UP}, {16, HELP},            IF_NO_ORDER,    2000},
        [LOOK_PARTITION]     = {{1024, HELP},          {1024, HELP},          IF_NO_ORDER,    2000},
        [LOOK_SCAN]          = {{LOOKS_LONG, HELP},    {4, HELP},             IF_NO_PROGRESS, 1000},
        /* A workgroup cannot help, since elements may be overwritten. Chosen only with forward
         * progress. */
        [LOOK_SCAN_IN_PLACE] = {{LOOKS_MOST, GIVE_UP}, {LOOKS_MOST, GIVE_UP}, IF_NO_ORDER,    1000},
        [LOOK_SCAN_SEGMENTS] = {{LOOKS_MOST, GIVE_UP}, {LOOKS_MOST, GIVE_UP}, IF_NO_ORDER,    1000},
        [LOOK_EXPAND]        = {{1024, HELP},          {16, HELP},            ALWAYS,         0},
        [LOOK_SORT]          = {{LOOKS_MOST, GIVE_UP}, {16, HELP},            IF_NO_ORDER,    2000},
        /* 0 looks: progress is not tested if the driver is not known to guarantee it. */
        [LOOK_PROBE]         = {{LOOKS_MOST, GIVE_UP}, {0, GIVE_UP},          ALWAYS,         0},
        /* clang-format on */
    };
    bool has_progress = device->makes_progress;
    int tickets = rows[operation].tickets;
    return (look_policy){
        .looks = has_progress ? rows[operation].with_progress.looks : rows[operation].without.looks,
        .gives_up = has_progress ? rows[operation].with_progress.gives_up
                                 : rows[operation].without.gives_up,
        .takes_tickets = tickets == ALWAYS ||
                         (tickets == IF_NO_ORDER ? !device->begins_in_order : !has_progress),
        .late = device->has_late_tiles ? rows[operation].late : 0};
}

#endif
#endif
