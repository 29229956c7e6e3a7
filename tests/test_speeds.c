/* What --backend auto decides by: the decision, and what is kept of a measurement. */
#include "../cli/cache_file.c"
#include "../cli/speeds.c"
#ifdef _WIN32
#    include "../cli/system_windows.c"
static const char cache_home[] = "LOCALAPPDATA";
#else
#    include "../cli/system_posix.c"
static const char cache_home[] = "XDG_CACHE_HOME";
#endif
#include "test.h"

#include "folder.h"

static const speeds machine = {
    .volume = 1e-9,
    .points = 100e-9,
    .device_count = 2,
    .devices = {{.info = {.engine = TML_ENGINE_VULKAN, .name = "a GPU"},
                 .open = 0.5,
                 .pipelines = 2,
                 .to_device = 10e9,
                 .from_device = 5e9,
                 .pipelines_name = "vulkan-0123"},
                {.info = {.engine = TML_ENGINE_GL, .name = "an emulation", .is_software = true},
                 .open = 1e-3,
                 .to_device = 10e9,
                 .from_device = 10e9}},
};

static const speeds *reread(void)
{
    memset(&here, 0, sizeof here);
    return speeds_here();
}

/* The one file of the cache. */
static const char *kept_file(void)
{
    static char path[PATH_SIZE];
    char name[64];
    name_file(machine_hash(), name);
    CHECK(file_path(name, false, path));
    return path;
}

TEST(nothing_measured_is_the_developers_machine)
{
    setenv(cache_home, in_folder("none"), 1);
    const speeds *s = reread();
    CHECK(!s->is_measured && s->volume == 2e-9 && s->points == 150e-9);
    uint64_t seed = 1;
    for (int i = 0; i < 10000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const cli_work work = {(double)(seed >> 40) * 0x1p-20, 0.15 * (seed >> 7 & 1),
                               (double)(seed >> 30)};
        double threads = 1 + (double)(seed >> 9 & 63);
        bool expected = work.cpu_seconds * (1 / threads + work.serial) > 0.25 + work.bytes / 4e9;
        CHECK(speeds_prefer_gpu(s, &work, threads, i & 1) == expected);
    }
}

TEST(measured_figures_are_kept_for_this_machine)
{
    setenv(cache_home, folder, 1);
    CHECK(speeds_keep(&machine));
    const speeds *s = reread();
    CHECK(s->is_measured && s->volume == 1e-9 && s->points == 100e-9 && s->device_count == 2);
    CHECK(speeds_gpu(s) == &s->devices[0] && speeds_gpu(s)->open == 0.5);
    setenv("VK_DRIVER_FILES", "/another/driver.json", 1);
    CHECK(!reread()->is_measured);
    unsetenv("VK_DRIVER_FILES");
    CHECK(reread()->is_measured);
}

TEST(damaged_or_foreign_files_are_ignored)
{
    setenv(cache_home, folder, 1);
    CHECK(speeds_keep(&machine));
    FILE *file = fopen(kept_file(), "r+b");
    char byte = 0;
    CHECK(file && fseek(file, 200, SEEK_SET) == 0 && fread(&byte, 1, 1, file) == 1);
    byte ^= 1;
    CHECK(fseek(file, 200, SEEK_SET) == 0 && fwrite(&byte, 1, 1, file) == 1 && fclose(file) == 0);
    CHECK(!reread()->is_measured);
    CHECK(truncate(kept_file(), 100) == 0 && !reread()->is_measured);
    /* Whole files of something else, and of figures that cannot be. */
    char name[64];
    name_file(machine_hash(), name);
    CHECK(cache_file_write(name, "text", 4) && !reread()->is_measured);
    static kept_speeds other;
    other = (kept_speeds){machine_hash() + 1, sizeof other, machine};
    CHECK(cache_file_write(name, &other, sizeof other) && !reread()->is_measured);
    static const double bad[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++)
        for (int field = 0; field < 5; field++) {
            speeds s = machine;
            double *const fields[] = {&s.volume, &s.points, &s.devices[0].open,
                                      &s.devices[1].to_device, &s.devices[0].from_device};
            *fields[field] = bad[i];
            CHECK(speeds_keep(&s) && !reread()->is_measured);
        }
    speeds s = machine;
    s.device_count = SPEEDS_DEVICES + 1;
    CHECK(speeds_keep(&s) && !reread()->is_measured);
    s = machine;
    memset(s.devices[0].pipelines_name, 'x', sizeof s.devices[0].pipelines_name);
    CHECK(speeds_keep(&s) && !reread()->is_measured);
    CHECK(speeds_keep(&machine) && reread()->is_measured);
}

TEST(a_gpu_is_taken_where_it_pays)
{
    setenv(cache_home, in_folder("pays"), 1);
    speeds s = machine;
    const cli_work endless = {INFINITY, 0, 0};
    /* 0.5 to open and close it, 0.3 to copy 1e9 bytes both ways, 2 for pipelines that are not
     * kept. */
    const cli_work less = {4 * 0.79, 0, 1e9}, more = {4 * 0.81, 0, 1e9}, most = {4 * 2.81, 0, 1e9};
    CHECK(!speeds_prefer_gpu(&s, &more, 4, false) && speeds_prefer_gpu(&s, &most, 4, false));
    CHECK(cache_file_write("vulkan-0123", "x", 1));
    CHECK(!speeds_prefer_gpu(&s, &less, 4, false) && speeds_prefer_gpu(&s, &more, 4, false));
    CHECK(!speeds_prefer_gpu(&s, &more, 4, true) && speeds_prefer_gpu(&s, &most, 4, true));
    const cli_work serial = {1, 0.6, 0};
    CHECK(speeds_prefer_gpu(&s, &serial, 1e9, false));
    /* What could not be measured is not taken, nor what runs on the CPU. */
    CHECK(speeds_prefer_gpu(&s, &endless, 1, false));
    strcpy(s.devices[0].error, "hangs");
    CHECK(!speeds_gpu(&s) && !speeds_prefer_gpu(&s, &endless, 1, false));
}

static void remove_tree(const char *name)
{
    DIR *directory = opendir(name);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            char path[1024];
            snprintf(path, sizeof path, "%s/%s", name, entry->d_name);
            if (unlink(path) != 0)
                remove_tree(path);
        }
    if (directory)
        closedir(directory);
    rmdir(name);
}

int main(int argc, char **argv)
{
    if (!make_folder("speeds"))
        return 1;
    int result = test_main(argc, argv);
    remove_tree(folder);
    return result;
}
