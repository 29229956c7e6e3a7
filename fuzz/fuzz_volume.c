/* Any bytes, read as volumes and arrays of each format: no crash, no hang, and what loads is what
 * the headers promise: as many samples as dims say, steps of finite length. */
#include <math.h>
#include <stdlib.h>

#include "io/volumes/volume_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_volume(const tml_volume *volume)
{
    const tml_grid *grid = &volume->grid;
    uint64_t bytes = tml_type_size(volume->type);
    for (int i = 0; i < 3; i++) {
        bytes *= grid->dims[i];
        if (!(grid->spacing[i] > 0 && isfinite(grid->spacing[i]) && isfinite(grid->origin[i])))
            abort();
    }
    for (int i = 0; i < 9; i++)
        if (!(fabs(grid->direction[i]) <= 1.0001))
            abort();
    if (bytes == 0 || bytes != volume->size || !isfinite(volume->slope) ||
        !isfinite(volume->intercept))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The names decide where the content does not, and where a pair's samples are looked for. */
    static const char *const names[] = {"fuzz.hdr", "fuzz.mhd", "fuzz.mrc", "fuzz_3x3x3_int16.raw"};
    static tml_context *tml;
    if (!tml && tml_open(&(tml_open_desc){.threads = 1}, &tml) != TML_OK)
        abort();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        /* A list may name one file many times: the one thing that multiplies what is there. */
        tml_load_desc desc = {.frame = i == 1, .memory_limit = 64 << 20};
        tml_volume volume;
        if (tml_volume_load_memory(tml, names[i], data, size, &desc, &volume) == TML_OK)
            check_volume(&volume);
        else if (!tml_last_error(tml)[0] || volume.data)
            abort();
        tml_volume_free(tml, &volume);
    }
    tml_array array;
    if (tml_array_load_memory(tml, "fuzz.npy", data, size, &array) == TML_OK &&
        array.size != array.count * tml_type_size(array.type))
        abort();
    tml_array_free(tml, &array);
    return 0;
}
