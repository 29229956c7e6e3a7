/* Any bytes, read as points of each format: no crash, no hang, no memory beyond what the bytes
 * hold. */
#include <stdlib.h>
#include <strings.h>

#include "io/points/points_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same points with the attributes that they have. */
static void read_attributes(const io_file *file, const tml_points *without)
{
    enum { MOST = POINT_FLOATS_MAX / 4 }; /* of four numbers each */
    const char *names[MOST];
    uint32_t count = without->attribute_count < MOST ? without->attribute_count : MOST;
    for (uint32_t i = 0; i < count; i++)
        names[i] = without->attributes[i].name;
    tml_points points;
    if (tml_points_read_attributes(file, names, count, &points) == TML_OK) {
        if (points.count != without->count || points.attribute_count != without->attribute_count)
            abort();
        for (uint32_t i = 0; i < count && points.count; i++) { /* the first of a name */
            const tml_mesh_attribute *a = &points.attributes[i];
            bool is_first = true;
            for (uint32_t k = 0; k < i; k++)
                is_first = is_first && strcasecmp(a->name, points.attributes[k].name) != 0;
            if (is_first && !a->data)
                abort();
        }
    }
    tml_points_free(file->tml, &points);
}

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
        if (points.count >
            1032 * size) /* a point takes a byte at least, once Deflate's are unpacked */
            abort();
        for (uint64_t i = 0; i < 3 * points.count; i++)
            if (!(points.positions[i] - points.positions[i] == 0.0f)) /* NaN or infinite */
                abort();
        read_attributes(&file, &points);
    } else if (!tml_last_error(tml)[0]) {
        abort();
    }
    tml_points_free(tml, &points);
    tml_io_close(&file);
    return 0;
}
