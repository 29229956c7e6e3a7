/* Labels of a volume: converts its physical values to integers, and finds which labels occur. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trommel/extend.h>

#include "io/volumes/volume_internal.h"
#include "kernels/kernel.h"
#include "kernels/kernel_end.h"

#define CALL "tml_volume_convert"

/* PARTS is fixed, so that the first faulty sample does not depend on the number of threads. */
enum { PARTS = 64 };

/* A whole number from -2^63 to 2^64 - 1; below 0, bits is an int64_t. */
typedef struct whole {
    uint64_t bits;
    bool is_negative;
} whole;

typedef enum fault { NO_FAULT, NOT_WHOLE, TOO_LARGE, NOT_EXACT } fault;

typedef struct labels_part {
    int64_t least;
    uint64_t most;
    uint64_t wrong; /* number of the first faulty sample */
    fault fault;
    bool is_coarse; /* a label is so large that the float type lacks whole numbers there */
} labels_part;

typedef struct labels_job {
    const tml_volume *volume;
    uint64_t count;
    bool is_float, is_scaled;
    double dense; /* up to here the float type has every whole number */
    labels_part parts[PARTS];
    tml_type type;
    void *out;
} labels_job;

static uint64_t part_first(const labels_job *job, uint32_t part)
{
    const uint64_t each = job->count / PARTS, rest = job->count % PARTS;
    return each * part + (part < rest ? part : rest);
}

static whole integer_at(const tml_volume *v, uint64_t i)
{
    int64_t x;
    switch (v->type) {
    case TML_U8:
        return (whole){((const uint8_t *)v->data)[i], false};
    case TML_U16:
        return (whole){((const uint16_t *)v->data)[i], false};
    case TML_U32:
        return (whole){((const uint32_t *)v->data)[i], false};
    case TML_U64:
        return (whole){((const uint64_t *)v->data)[i], false};
    case TML_I8:
        x = ((const int8_t *)v->data)[i];
        break;
    case TML_I16:
        x = ((const int16_t *)v->data)[i];
        break;
    case TML_I32:
        x = ((const int32_t *)v->data)[i];
        break;
    default: /* I64 */
        x = ((const int64_t *)v->data)[i];
        break;
    }
    return (whole){(uint64_t)x, x < 0};
}

static double float_at(const tml_volume *v, uint64_t i)
{
    return v->type == TML_F16   ? (double)tml_half_to_float(((const uint16_t *)v->data)[i])
           : v->type == TML_F32 ? (double)((const float *)v->data)[i]
                                : ((const double *)v->data)[i];
}

static double value_of(whole x)
{
    return x.is_negative ? (double)(int64_t)x.bits : (double)x.bits;
}

static double physical_at(const labels_job *job, uint64_t i)
{
    const tml_volume *v = job->volume;
    return v->slope * (job->is_float ? float_at(v, i) : value_of(integer_at(v, i))) + v->intercept;
}

/* Computes the label of sample i. A slope that a file stores in 32 bits, such as 0.1, is not exact:
 * a value as near to a whole number as the slope's rounding is that number. */
static fault label_at(const labels_job *job, uint64_t i, whole *out)
{
    const tml_volume *v = job->volume;
    whole stored = {0, false};
    if (!job->is_float) {
        stored = integer_at(v, i);
        if (!job->is_scaled) {
            *out = stored;
            return NO_FAULT;
        }
        if (fabs(value_of(stored)) > 0x1p53)
            return NOT_EXACT;
    }
    double value = job->is_float ? float_at(v, i) : value_of(stored);
    if (job->is_scaled) {
        const double size = fabs(v->slope * value) + fabs(v->intercept);
        const double scaled = v->slope * value + v->intercept, near = rint(scaled);
        value = fabs(scaled - near) <= size * 0x1p-23 ? near : scaled;
        if (fabs(value) > 0x1p53)
            return NOT_EXACT;
    }
    if (value != floor(value) || isinf(value)) /* NaN is unequal to everything */
        return isinf(value) ? TOO_LARGE : NOT_WHOLE;
    if (value < -0x1p63 || value >= 0x1p64)
        return TOO_LARGE;
    *out = value < 0 ? (whole){(uint64_t)(int64_t)value, true} : (whole){(uint64_t)value, false};
    return NO_FAULT;
}

static void examine_part(void *argument, uint32_t index)
{
    labels_job *job = argument;
    labels_part part = {.least = INT64_MAX, .wrong = UINT64_MAX};
    const uint64_t end = part_first(job, index + 1);
    for (uint64_t i = part_first(job, index); i < end; i++) {
        whole label;
        part.fault = label_at(job, i, &label);
        if (part.fault) {
            part.wrong = i;
            break;
        }
        if (label.is_negative)
            part.least = (int64_t)label.bits < part.least ? (int64_t)label.bits : part.least;
        else
            part.most = label.bits > part.most ? label.bits : part.most;
        part.is_coarse = part.is_coarse || (job->is_float && fabs(value_of(label)) > job->dense);
    }
    job->parts[index] = part;
}

static void convert_part(void *argument, uint32_t index)
{
    labels_job *job = argument;
    const uint64_t end = part_first(job, index + 1);
    for (uint64_t i = part_first(job, index); i < end; i++) {
        whole label = {0, false};
        (void)label_at(job, i, &label);
        if (job->type == TML_I32)
            ((int32_t *)job->out)[i] = (int32_t)(int64_t)label.bits;
        else
            ((uint64_t *)job->out)[i] = label.bits;
    }
}

static tml_status refuse(tml_context *tml, const labels_job *job, const labels_part *part)
{
    const tml_volume *v = job->volume;
    const uint64_t *dims = v->grid.dims, i = part->wrong;
    char place[96], scale[96] = "";
    snprintf(place, sizeof place, "sample %" PRIu64 ",%" PRIu64 ",%" PRIu64, i % dims[0],
             i / dims[0] % dims[1], i / dims[0] / dims[1]);
    if (job->is_scaled)
        snprintf(scale, sizeof scale, " (%.17g x stored %+.17g)", v->slope, v->intercept);
    if (part->fault == NOT_WHOLE)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         CALL ": %s is %.17g%s, which is no whole number, and labels are; take a "
                              "surface at a value in place of labels, or round the samples first",
                         place, physical_at(job, i), scale);
    if (part->fault == TOO_LARGE)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         CALL ": %s is %.17g%s, and labels are from -2^63 to 2^64 - 1; give such "
                              "samples another number first",
                         place, physical_at(job, i), scale);
    return tml_error(tml, TML_ERROR_UNSUPPORTED,
                     CALL ": %s is beyond 2^53%s, where a slope or intercept makes no exact label; "
                          "store labels without them",
                     place, scale);
}

/* The smallest type of 32 or 64 bits that has all labels. */
static tml_type type_of(int64_t least, uint64_t most)
{
    return least >= INT32_MIN && most <= INT32_MAX ? TML_I32
           : most <= INT64_MAX                     ? TML_I64
           : least >= 0                            ? TML_U64
                                                   : TML_TYPE_NONE;
}

static tml_status find_type(tml_context *tml, labels_job *job)
{
    int64_t least = 0;
    uint64_t most = 0;
    bool is_coarse = false;
    tml_parallel_for(tml, PARTS, examine_part, job);
    for (int p = 0; p < PARTS; p++) {
        if (job->parts[p].fault)
            return refuse(tml, job, &job->parts[p]);
        least = job->parts[p].least < least ? job->parts[p].least : least;
        most = job->parts[p].most > most ? job->parts[p].most : most;
        is_coarse = is_coarse || job->parts[p].is_coarse;
    }
    job->type = job->is_float || job->is_scaled ? type_of(least, most) : job->volume->type;
    if (!job->type)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         CALL ": labels from %" PRId64 " to %" PRIu64 " fit no integer type", least,
                         most);
    if (is_coarse)
        tml_log(tml, TML_LOG_WARNING,
                CALL ": labels beyond %.0f are of type %s, which has not every number there: two "
                     "that were close may have become one when they were stored",
                job->dense, tml_type_name(job->volume->type));
    return TML_OK;
}

tml_status tml_volume_make_labels(tml_context *tml, const tml_volume *volume, tml_volume *out)
{
    const uint64_t *dims = volume->grid.dims;
    labels_job job = {.volume = volume, .is_float = tml_type_is_float(volume->type)};
    memset(out, 0, sizeof *out);
    if (tml_type_size(volume->type) == 0 || tml_type_scalar(volume->type) != volume->type)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         CALL ": volume.type is %s, needs a scalar type",
                         tml_type_name(volume->type));
    job.count = volume->size / tml_type_size(volume->type);
    if (!dims[0] || !dims[1] || job.count / dims[0] / dims[1] < dims[2])
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         CALL ": volume.size is %zu bytes, needs %" PRIu64 " x %" PRIu64
                              " x %" PRIu64 " samples of %s",
                         volume->size, dims[0], dims[1], dims[2], tml_type_name(volume->type));
    job.count = dims[0] * dims[1] * dims[2];
    job.is_scaled = volume->slope != 1 || volume->intercept != 0;
    job.dense = volume->type == TML_F16 ? 0x1p11 : volume->type == TML_F32 ? 0x1p24 : 0x1p53;
    tml_status status = find_type(tml, &job);
    if (status != TML_OK)
        return status;
    const size_t size = tml_type_size(job.type);
    job.out = tml_alloc_array(tml, job.count, size);
    if (!job.out)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                         CALL ": no memory for %" PRIu64 " labels of %s", job.count,
                         tml_type_name(job.type));
    if (job.is_float || job.is_scaled)
        tml_parallel_for(tml, PARTS, convert_part, &job);
    else
        memcpy(job.out, volume->data, (size_t)job.count * size);
    *out = *volume;
    out->data = job.out;
    out->size = (size_t)job.count * size;
    out->type = job.type;
    out->slope = 1;
    out->intercept = 0;
    return TML_OK;
}

/* ---- which labels there are ------------------------------------------------------------------ */

/* A hash set of labels with open addressing; 0 marks an empty slot. */
enum { SET_LOG2 = 17, SET_SIZE = 1 << SET_LOG2, SET_MOST = SET_SIZE / 2 };

static uint64_t label_bits_at(const unsigned char *row, uint64_t x, size_t size)
{
    uint64_t bits = 0;
    switch (size) {
    case 1:
        return row[x];
    case 2: {
        uint16_t two;
        memcpy(&two, row + 2 * x, 2);
        return two;
    }
    case 4: {
        uint32_t four;
        memcpy(&four, row + 4 * x, 4);
        return four;
    }
    default:
        memcpy(&bits, row + 8 * x, 8);
        return bits;
    }
}

/* Returns the end of a run of equal samples, which are compared eight bytes at a time. */
static uint64_t label_run_end(const unsigned char *row, uint64_t x, uint64_t end, size_t size)
{
    static const uint64_t repeat[9] = {[1] = UINT64_C(0x0101010101010101),
                                       [2] = UINT64_C(0x0001000100010001),
                                       [4] = UINT64_C(0x0000000100000001),
                                       [8] = 1};
    const uint64_t label = label_bits_at(row, x, size), eight = label * repeat[size],
                   each = 8 / size;
    for (x++; x + each <= end; x += each) {
        uint64_t next;
        memcpy(&next, row + x * size, 8);
        if (next != eight)
            break;
    }
    while (x < end && label_bits_at(row, x, size) == label)
        x++;
    return x;
}

typedef struct label_search {
    uint64_t *slots;
    const uint64_t *labels;
    uint32_t label_count;
    bool *is_there;
    uint64_t *others;
    uint64_t other_count; /* at most SET_MOST */
    bool has_more;
} label_search;

static void meet_label(label_search *s, uint64_t label)
{
    for (uint32_t i = 0; i < s->label_count; i++)
        if (s->labels[i] == label) {
            s->is_there[i] = true;
            return;
        }
    uint64_t at = label * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SET_LOG2);
    if (label == 0 || s->has_more)
        return;
    while (s->slots[at] && s->slots[at] != label)
        at = (at + 1) % SET_SIZE;
    if (s->slots[at])
        return;
    if (s->other_count == SET_MOST) {
        s->has_more = true;
        return;
    }
    s->slots[at] = label;
    if (s->other_count < TML_LABELS_LISTED)
        s->others[s->other_count] = label;
    s->other_count++;
}

/* Is there nothing left to find? */
static bool has_met_all(const label_search *s)
{
    bool has_all = s->has_more;
    for (uint32_t i = 0; i < s->label_count; i++)
        has_all = has_all && s->is_there[i];
    return has_all;
}

static void search_labels(label_search *s, const tml_volume *volume, const uint64_t first[3],
                          const uint64_t end[3])
{
    const size_t size = tml_type_size(volume->type);
    const unsigned unused = 64 - 8 * (unsigned)size;
    const bool is_signed = tml_type_is_signed(volume->type);
    uint64_t last = 0;
    bool is_begun = false;
    for (uint64_t z = first[2]; z < end[2] && !has_met_all(s); z++)
        for (uint64_t y = first[1]; y < end[1]; y++) {
            const unsigned char *row = (const unsigned char *)volume->data +
                                       (z * volume->grid.dims[1] + y) * volume->grid.dims[0] * size;
            for (uint64_t x = first[0]; x < end[0];) {
                uint64_t label = label_bits_at(row, x, size);
                if (is_signed)
                    label = (uint64_t)((int64_t)(label << unused) >> unused);
                if (!is_begun || label != last)
                    meet_label(s, label);
                is_begun = true;
                last = label;
                x = label_run_end(row, x, end[0], size);
            }
        }
}

tml_status tml_volume_find_labels(tml_context *tml, const tml_volume *volume,
                                  const tml_region *region, const uint64_t *labels,
                                  uint32_t label_count, bool *is_there,
                                  uint64_t others[TML_LABELS_LISTED], uint64_t *other_count)
{
    static const tml_region all;
    const tml_region *part = region ? region : &all;
    uint64_t first[3], end[3];
    label_search s = {NULL, labels, label_count, is_there, others, 0, false};
    for (uint32_t i = 0; i < label_count; i++)
        is_there[i] = false;
    *other_count = 0;
    memset(others, 0, TML_LABELS_LISTED * sizeof *others);
    if (!tml_volume_has_labels(volume))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_volume_find_labels: volume has samples of %s, slope %g and intercept "
                         "%g, needs labels; make them with tml_volume_convert",
                         tml_type_name(volume->type), volume->slope, volume->intercept);
    for (int a = 0; a < 3; a++) {
        const uint64_t dim = volume->grid.dims[a];
        first[a] = part->first[a] < dim ? part->first[a] : dim;
        end[a] =
            part->count[a] && part->count[a] < dim - first[a] ? first[a] + part->count[a] : dim;
    }
    s.slots = tml_alloc_array(tml, SET_SIZE, sizeof *s.slots);
    if (!s.slots)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_volume_find_labels: no memory for a table of labels");
    memset(s.slots, 0, SET_SIZE * sizeof *s.slots);
    search_labels(&s, volume, first, end);
    tml_free(tml, s.slots, SET_SIZE * sizeof *s.slots);
    *other_count = s.other_count + s.has_more;
    return TML_OK;
}
