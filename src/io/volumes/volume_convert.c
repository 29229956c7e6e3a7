/* Converts a volume's stored samples to physical values, or to labels (volume_labels.c). */
#include "io/volumes/volume_internal.h"
#include "kernels/kernel.h"
#include "kernels/kernel_end.h"

enum { BLOCK = 1 << 16 };

typedef struct physical_job {
    const tml_volume *from;
    void *out;
    tml_type type;
    uint64_t count;
} physical_job;

static double stored_sample(const tml_volume *v, uint64_t i)
{
    const char *at = (const char *)v->data + i * tml_type_size(v->type);
    return v->type == TML_F16 ? (double)tml_half_to_float(io_load_u16(at, IO_HOST_IS_BIG_ENDIAN))
                              : tml_io_number(at, v->type, IO_HOST_IS_BIG_ENDIAN);
}

static void physical_block(void *argument, uint32_t block)
{
    const physical_job *job = argument;
    const tml_volume *v = job->from;
    uint64_t first = (uint64_t)block * BLOCK;
    uint64_t end = first + BLOCK < job->count ? first + BLOCK : job->count;
    for (uint64_t i = first; i < end; i++) {
        double value = v->slope * stored_sample(v, i) + v->intercept;
        if (job->type == TML_F32)
            ((float *)job->out)[i] = (float)value;
        else
            ((double *)job->out)[i] = value;
    }
}

static const char call[] = "tml_volume_convert";

static tml_status make_physical(tml_context *tml, const tml_volume *volume, tml_volume *out)
{
    bool is_narrow = tml_type_size(volume->type) <= 2 || volume->type == TML_F32;
    const uint64_t *dims = volume->grid.dims;
    physical_job job = {.from = volume,
                        .type = is_narrow ? TML_F32 : TML_F64,
                        .count = dims[0] * dims[1] * dims[2]};
    size_t size = (size_t)(job.count * tml_type_size(job.type));
    job.out = job.count <= PTRDIFF_MAX / sizeof(double) ? tml_alloc(tml, size) : NULL;
    if (!job.out)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu bytes", call, size);
    tml_parallel_for(tml, (uint32_t)((job.count + BLOCK - 1) / BLOCK), physical_block, &job);
    *out = *volume;
    out->data = job.out;
    out->size = size;
    out->type = job.type;
    out->slope = 1;
    out->intercept = 0;
    return TML_OK;
}

tml_status tml_volume_convert(tml_context *tml, const tml_volume *volume, tml_volume_values values,
                              tml_volume *out)
{
    tml_volume made = {0};
    tml_status status = values == TML_VALUES_LABELS ? tml_volume_make_labels(tml, volume, &made)
                                                    : make_physical(tml, volume, &made);
    if (out == volume && status != TML_OK)
        return status;
    if (out == volume)
        tml_volume_free(tml, out);
    *out = made;
    return status;
}
