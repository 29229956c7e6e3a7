/* How fast this machine is at what --backend auto weighs: figures of the machine that Trommel is
 * developed on, or those that "trommel devices --measure" keeps in the cache folder (cache_file.h).
 * These count as long as processor, GPUs and drivers are those that were measured, which is told
 * without opening a driver, as that takes longest. */
#ifndef CLI_SPEEDS_H
#define CLI_SPEEDS_H

#include <trommel/core.h>

#include "pipeline_cache.h"

/* A GPU, as one engine sees it. */
typedef struct speeds_device {
    tml_device_info info;
    double open;      /* seconds to open it and to close it again, in a process of its own */
    double pipelines; /* seconds that the driver's compiler takes at the first surface and field */
    double to_device, from_device;            /* bytes/s */
    char pipelines_name[PIPELINE_CACHE_NAME]; /* the file that keeps them; "": none */
    char error[256];                          /* what cannot be done on it; "": nothing */
} speeds_device;

enum { SPEEDS_DEVICES = 16 };
typedef struct speeds {
    bool is_measured;
    double volume; /* seconds that one thread takes for a byte of a volume, with default normals */
    double points; /* and for one of a point, field included */
    uint32_t device_count;
    speeds_device devices[SPEEDS_DEVICES]; /* best first, as tml_devices lists them */
} speeds;

/* What a GPU would take over from the CPU, as far as it can be known beforehand. */
typedef struct cli_work {
    double cpu_seconds; /* that it takes on one thread */
    double serial;      /* the share of that which more threads do not shorten */
    double bytes;       /* to copy to the GPU, and as many back */
} cli_work;

/* This machine's, read once. */
const speeds *speeds_here(void);
/* Keeps them. False: there is no place for them. */
bool speeds_keep(const speeds *s);
/* The GPU that auto would open: no software driver. NULL: none was measured. */
const speeds_device *speeds_gpu(const speeds *s);
/* Does a GPU shorten the work that so many threads would do? no_cache: it has to compile its
 * pipelines. */
bool speeds_prefer_gpu(const speeds *s, const cli_work *work, double threads, bool no_cache);

#endif
