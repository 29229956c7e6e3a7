/* Speeds of this machine, which --backend auto compares. They are those of the developers' machine,
 * or those that "trommel devices --measure" saved in the cache folder (cache_file.h). Saved speeds
 * are valid while processor, GPUs and drivers are the same. That is checked without opening a
 * driver, the slowest part. */
#ifndef CLI_SPEEDS_H
#define CLI_SPEEDS_H

#include <trommel/core.h>

#include "pipeline_cache.h"

/* A GPU, as one engine sees it. */
typedef struct speeds_device {
    tml_device_info info;
    double open;      /* seconds to open and close it, in a process of its own */
    double pipelines; /* seconds for compiling the first surface's and field's pipelines */
    double to_device, from_device;            /* bytes/s */
    char pipelines_name[PIPELINE_CACHE_NAME]; /* the file that caches them; "": none */
    char error[256];                          /* what failed on it; "": nothing */
} speeds_device;

enum { SPEEDS_DEVICES = 16 };
typedef struct speeds {
    bool is_measured;
    double volume; /* seconds per byte of a volume on one thread, with default normals */
    double points; /* seconds per byte of points on one thread, field included */
    uint32_t device_count;
    speeds_device devices[SPEEDS_DEVICES]; /* best first, in the order of tml_devices */
} speeds;

/* Estimate of the work that a GPU would take over from the CPU. */
typedef struct cli_work {
    double cpu_seconds; /* seconds on one thread */
    double serial;      /* share of that which more threads do not shorten */
    double bytes;       /* to copy to the GPU, and again back */
} cli_work;

/* Returns this machine's speeds, read once. */
const speeds *speeds_here(void);
/* Saves speeds. Returns false if they cannot be saved. */
bool speeds_keep(const speeds *s);
/* Returns the GPU that auto would open, never a software driver; NULL if none was measured. */
const speeds_device *speeds_gpu(const speeds *s);
/* Whether a GPU beats so many threads at the work. no_cache: it must compile its pipelines. */
bool speeds_prefer_gpu(const speeds *s, const cli_work *work, double threads, bool no_cache);

#endif
