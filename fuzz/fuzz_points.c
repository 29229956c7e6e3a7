/* Any bytes, read as points of each format: no crash, no hang, no memory beyond what the bytes hold. */
#include <stdlib.h>

#include "io/lzf.h"
#include "io/points_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tml_context *tml;
    if (!tml && tml_open(&(tml_open_desc){.threads = 1}, &tml) != TML_OK)
        abort();
    io_file file;
    tml_points points;
    tml_io_open_memory(tml, "tml_points_load", "fuzz", data, size, &file);
    tml_status status = tml_points_read(&file, &points);
    if (status == TML_OK) {
        if (points.count > LZF_RATIO_MAX * size) /* a point takes a byte at least, once unpacked */
            abort();
        for (uint64_t i = 0; i < 3 * points.count; i++)
            if (!(points.positions[i] - points.positions[i] == 0.0f)) /* NaN or infinite */
                abort();
    } else if (!tml_last_error(tml)[0]) {
        abort();
    }
    tml_points_free(tml, &points);
    tml_io_close(&file);
    return 0;
}
