/* Shared by the tests of volume formats. */

#include "test.h"

#include "memory_watch.h"

#include "volume_check.h"

void check_volume(tml_context *tml, const char *path, const volume_check *expected)
{
    tml_volume volume;
    tml_load_desc desc = {.frame = expected->frame};
    if (!path || !CHECK_OK(tml, tml_volume_load(tml, path, &desc, &volume)))
        return;
    bool good = CHECK_STR(volume.format, expected->format);
    good &= CHECK(volume.type == expected->type);
    good &= CHECK_EQ_U64(volume.frame_count, expected->frames);
    uint8_t *samples = volume.data;
    size_t size = tml_type_size(volume.type);
    for (size_t i = 0; IO_HOST_IS_BIG_ENDIAN && i < volume.size; i += size)
        for (size_t k = 0; k < size / 2; k++) {
            uint8_t first = samples[i + k];
            samples[i + k] = samples[i + size - 1 - k];
            samples[i + size - 1 - k] = first;
        }
    good &= CHECK_EQ_U64(crc32_z(0, samples, volume.size), expected->crc);
    for (int i = 0; i < 3; i++) {
        good &= CHECK_EQ_U64(volume.grid.dims[i], expected->dims[i]);
        good &= CHECK(fabs(volume.grid.spacing[i] - expected->spacing[i]) < 1e-5);
        good &= CHECK(fabs(volume.grid.origin[i] - expected->origin[i]) < 1e-5);
    }
    if (!good)
        printf("  (%s, frame %u)\n", path, (unsigned)expected->frame);
    tml_volume_free(tml, &volume);
}

tml_status load_exact(tml_context *tml, const char *name, const void *data, size_t size,
                      const tml_load_desc *desc, tml_volume *out)
{
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    tml_status status = tml_volume_load_memory(tml, name, copy, size, desc, out);
    free(copy);
    return status;
}

void expect_refusal(tml_context *tml, const char *name, const void *data, size_t size,
                    tml_status expected, const char *word)
{
    tml_volume volume;
    tml_status status = load_exact(tml, name, data, size, NULL, &volume);
    if (status != expected || !strstr(tml_last_error(tml), word) || volume.data)
        test_fail(__FILE__, __LINE__, "%s \"%s\", needs %s with \"%s\"", tml_status_name(status),
                  status ? tml_last_error(tml) : "", tml_status_name(expected), word);
    tml_volume_free(tml, &volume);
}

void cut_and_change(const char *name, const void *data, size_t size, size_t sure, size_t tail,
                    size_t memory)
{
    static const uint8_t values[] = {0, 0xff, 0x7f, '9', '<', '-'};
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    uint8_t *changed = malloc(size + 1);
    tml_volume volume;
    CHECK_OK(tml, load_exact(tml, name, data, size, NULL, &volume));
    tml_volume_free(tml, &volume);
    for (size_t cut = 0; cut < size; cut++) {
        if (load_exact(tml, name, data, cut, NULL, &volume) == TML_OK && cut >= sure &&
            cut + tail < size)
            test_fail(__FILE__, __LINE__, "%s loads from its first %zu bytes", name, cut);
        tml_volume_free(tml, &volume);
    }
    for (size_t at = 0; at < sure; at++)
        for (size_t i = 0; i < sizeof values; i++) {
            memcpy(changed, data, size);
            changed[at] = values[i];
            if (load_exact(tml, name, changed, size, NULL, &volume) == TML_OK)
                tml_volume_free(tml, &volume);
        }
    free(changed);
    CHECK(watch.largest <= memory);
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

void check_damaged(const char *start, const char *const *readable, size_t memory)
{
    char folder_path[512] = "";
    if (test_full_data("damaged"))
        snprintf(folder_path, sizeof folder_path, "%s", test_full_data("damaged"));
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    DIR *directory = *folder_path ? opendir(folder_path) : NULL;
    uint32_t count = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        const char *const *may = readable;
        tml_volume volume;
        if (strncmp(entry->d_name, start, strlen(start)) != 0)
            continue;
        while (*may && strcmp(*may, entry->d_name) != 0)
            may++;
        tml_status status =
            tml_volume_load(tml, test_path(folder_path, entry->d_name), NULL, &volume);
        if (status == TML_OK ? !*may : !strstr(tml_last_error(tml), entry->d_name))
            test_fail(__FILE__, __LINE__, "%s: %s %s", entry->d_name, tml_status_name(status),
                      status ? tml_last_error(tml) : "");
        tml_volume_free(tml, &volume);
        count++;
    }
    if (directory)
        closedir(directory);
    CHECK(count > 0);
    CHECK(watch.largest <= memory);
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}
