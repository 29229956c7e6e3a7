#include "speeds.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache_file.h"
#include "system.h"

/* Measured over whole commands on an H200 and 16 cores of a Xeon, with cached pipelines. */
static const speeds defaults = {
    .volume = 2e-9,
    .points = 150e-9,
    .device_count = 1,
    .devices = {{.open = 0.25, .to_device = 8e9, .from_device = 8e9}},
};

/* ---- which machine this is ------------------------------------------------------------------- */

/* Hashes the lines of a file; with a key, only the first line that begins with it. */
static uint64_t hash_file(uint64_t hash, const char *path, const char *key)
{
    char line[1024];
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0) {
            hash = cache_file_hash(hash, line, strlen(line));
            if (key[0])
                break;
        }
    if (file)
        fclose(file);
    return hash;
}

/* Hashes a folder's entries, in any order: their names, with_times also their sizes and times, and
 * the files within them that `inside` lists, up to NULL. */
static uint64_t hash_folder(const char *path, bool with_times, const char *const *inside)
{
    uint64_t sum = 0;
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char file[1024];
        system_file info;
        if (entry->d_name[0] == '.')
            continue;
        uint64_t hash = cache_file_hash(CACHE_FILE_HASH, entry->d_name, strlen(entry->d_name));
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (with_times && system_examine(file, &info)) {
            const int64_t age[] = {(int64_t)info.size, info.changed};
            hash = cache_file_hash(hash, age, sizeof age);
        }
        for (const char *const *name = inside; *name; name++) {
            snprintf(file, sizeof file, "%s/%s/%s", path, entry->d_name, *name);
            hash = hash_file(hash, file, "");
        }
        sum += hash;
    }
    if (folder)
        closedir(folder);
    return sum;
}

/* Hashes processor, GPUs, and drivers by the manifests that they install for their loaders. */
static uint64_t machine_hash(void)
{
    static const char *const manifests[] = {"/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d",
                                            "/usr/share/glvnd/egl_vendor.d",
                                            "/etc/glvnd/egl_vendor.d"};
    static const char *const variables[] = {"VK_ICD_FILENAMES", "VK_DRIVER_FILES",
                                            "VK_ADD_DRIVER_FILES",
                                            "__EGL_VENDOR_LIBRARY_FILENAMES"};

    static const char *const nothing[] = {NULL},
                             *const pci[] = {"device/vendor", "device/device", NULL},
                             *const nvidia[] = {"information", NULL};
    uint64_t hash = hash_file(CACHE_FILE_HASH, "/proc/cpuinfo", "model name");
    hash = hash_file(hash, "/proc/driver/nvidia/version", "");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        hash = cache_file_hash(hash, value ? value : "", value ? strlen(value) + 1 : 0);
    }
    uint64_t folders[sizeof manifests / sizeof *manifests + 3];
    size_t count = 0;
    for (; count < sizeof manifests / sizeof *manifests; count++)
        folders[count] = hash_folder(manifests[count], true, nothing);
    folders[count++] = hash_folder("/dev/dri", false, nothing);
    folders[count++] = hash_folder("/sys/class/drm", false, pci);
    folders[count++] = hash_folder("/proc/driver/nvidia/gpus", false, nvidia);
    return cache_file_hash(hash, folders, sizeof folders);
}

/* ---- keeping --------------------------------------------------------------------------------- */

/* A file's contents: the struct as in memory. Each version of the program has its own file. */
typedef struct kept_speeds {
    uint64_t machine, size;
    speeds speeds;
} kept_speeds;

static void name_file(uint64_t machine, char out[64])
{
    snprintf(out, 64, "speeds-%016" PRIx64, machine);
}

static bool is_rate(double x)
{
    return isfinite(x) && x > 0;
}

static bool is_sound(const speeds *s)
{
    bool sound = is_rate(s->volume) && is_rate(s->points) && s->device_count <= SPEEDS_DEVICES;
    for (uint32_t i = 0; sound && i < s->device_count; i++) {
        const speeds_device *d = &s->devices[i];
        sound = d->error[0] || (is_rate(d->open) && d->pipelines >= 0 && is_rate(d->to_device) &&
                                is_rate(d->from_device));
        sound = sound && !d->error[sizeof d->error - 1] &&
                !d->pipelines_name[sizeof d->pipelines_name - 1];
    }
    return sound;
}

static speeds here;

const speeds *speeds_here(void)
{
    if (here.device_count || here.is_measured)
        return &here;
    here = defaults;
    char name[64];
    uint64_t machine = machine_hash();
    name_file(machine, name);
    size_t size;
    kept_speeds *kept = cache_file_read(name, &size);
    if (kept && size == sizeof *kept && kept->machine == machine && kept->size == size &&
        is_sound(&kept->speeds)) {
        here = kept->speeds;
        here.is_measured = true;
    }
    free(kept);
    return &here;
}

bool speeds_keep(const speeds *s)
{
    char name[64];
    kept_speeds kept;
    memset(&kept, 0, sizeof kept); /* including padding */
    kept.machine = machine_hash();
    kept.size = sizeof kept;
    kept.speeds = *s;
    name_file(kept.machine, name);
    return cache_file_write(name, &kept, sizeof kept);
}

/* ---- deciding -------------------------------------------------------------------------------- */

const speeds_device *speeds_gpu(const speeds *s)
{
    for (uint32_t i = 0; i < s->device_count; i++)
        if (!s->devices[i].info.is_software && !s->devices[i].error[0])
            return &s->devices[i];
    return NULL;
}

bool speeds_prefer_gpu(const speeds *s, const cli_work *work, double threads, bool no_cache)
{
    const speeds_device *gpu = speeds_gpu(s);
    if (!gpu)
        return false;
    double seconds = gpu->open + work->bytes / gpu->to_device + work->bytes / gpu->from_device;
    if (no_cache || !gpu->pipelines_name[0] || !cache_file_exists(gpu->pipelines_name))
        seconds += gpu->pipelines;
    return work->cpu_seconds * (1 / threads + work->serial) > seconds;
}
