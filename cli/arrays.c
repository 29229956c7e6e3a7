/* See the header. */
#include "arrays.h"

#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "file_advice.h"
#include "ranks.h"
#include "report/fields.h"
#include "report/report.h"
#include "shares.h"
#include "stream_kernels.h"

int array_load_any(tml_context *tml, const char *path, uint64_t memory, array_input *out)
{
    memset(out, 0, sizeof *out);
    double start = cli_now();
    tml_status status = tml_array_load(tml, path, 0, UINT64_MAX, &out->array);
    if (status != TML_OK)
        return advice_fail(tml, status, path, TML_FILE_NONE);
    if (memory && out->array.size > memory)
        return cli_error("%s: has %zu bytes, --memory allows %" PRIu64, path, out->array.size,
                         memory);
    status =
        cli_lend(tml, out->array.type, out->array.count, out->array.data, "input", &out->buffer);
    out->seconds = cli_now() - start;
    return cli_fail(tml, status);
}

int array_load(tml_context *tml, const char *path, uint64_t memory, array_input *out)
{
    int code = array_load_any(tml, path, memory, out);
    if (code == CLI_OK && tml_type_components(out->array.type) != 1)
        return cli_error("%s: elements are %s, needs scalars; give the array one dimension", path,
                         tml_type_name(out->array.type));
    return code;
}

void array_unload(tml_context *tml, array_input *in)
{
    tml_buffer_destroy(tml, in->buffer);
    tml_array_free(tml, &in->array);
}

tml_status array_widen(tml_context *tml, array_input *in)
{
    tml_buffer wide;
    tml_type type;
    const tml_kernel *kernel = stream_widen(in->array.type, &type);
    if (!kernel)
        return TML_OK;
    tml_status status = cli_make_buffer(tml, type, in->array.count, NULL, "widened input", &wide);
    if (status != TML_OK)
        return status;
    status = tml_map(tml, &(tml_map_desc){.kernel = kernel, .in = {in->buffer}, .out = {wide}});
    if (status != TML_OK) {
        tml_buffer_destroy(tml, wide);
        return status;
    }
    tml_buffer_destroy(tml, in->buffer);
    in->buffer = wide;
    return TML_OK;
}

tml_status array_output(tml_context *tml, tml_type type, uint64_t count, tml_buffer *out)
{
    return cli_make_buffer(tml, type, count, NULL, "output", out);
}

tml_status array_save(tml_context *tml, const char *path, tml_buffer buffer, uint64_t count)
{
    tml_array array = {.type = TML_U32, .count = count};
    tml_buffer_describe(tml, buffer, &array.type, NULL);
    array.size = count * tml_type_size(array.type);
    tml_status status = count ? tml_buffer_map(tml, buffer, &array.data) : TML_OK;
    TML_THEN(status, tml_array_save(tml, path, &array));
    if (count && array.data)
        tml_buffer_unmap(tml, buffer);
    return status;
}

void array_tell(const char *path, const array_input *in)
{
    field_open("input", '{');
    field_text("file", NULL, NULL, path);
    field_count("file_bytes", NULL, NULL, (uint64_t)cli_file_size(path));
    field_text("kind", NULL, NULL, "array");
    field_text("format", NULL, NULL, "NPY");
    field_count("elements", "input", "%s", in->array.count);
    field_text("type", NULL, " of %s", tml_type_name(in->array.type));
    field_close('{');
}

void array_tell_run(const array_input *in, double seconds, const char *output)
{
    report r = {0};
    if (in->seconds > 0)
        report_add_stage(&r, "load", in->seconds);
    report_add_stage(&r, cli_name(), seconds);
    if (output)
        report_add_output(&r, output);
    report_tell(&r, (double)in->array.size, seconds);
}

/* ---- in parts -------------------------------------------------------------------------------- */

enum { PIECE_SIZE = 32 << 20, PIECES_IN_MEMORY = 8 };

bool array_parts_open(tml_context *tml, const char *path, uint64_t memory, array_parts *out,
                      int *code)
{
    tml_array array;
    uint64_t ranks = ranks_count(), mine = ranks_mine();
    *code = CLI_OK;
    tml_status status = tml_array_load(tml, path, 0, 0, &array);
    if (status != TML_OK) {
        *code = ranks > 1 ? cli_fail(tml, status) : CLI_OK;
        return ranks > 1; /* if alone, loading it whole reports what is wrong */
    }
    uint64_t total = array.total, size = tml_type_size(array.type), bytes = total * size;
    if (ranks == 1 && (!memory || bytes <= memory))
        return false;
    uint64_t room = memory ? memory / PIECES_IN_MEMORY : PIECE_SIZE;
    room = room < PIECE_SIZE ? room : PIECE_SIZE;
    *out = (array_parts){.tml = tml, .path = path};
    out->all.array = (tml_array){.type = array.type, .count = total, .size = (size_t)bytes};
    out->first = share_begin(total, mine, ranks);
    out->count = share_begin(total, mine + 1, ranks) - out->first;
    out->piece = room / size ? room / size : 1;
    out->rounds = ((total + ranks - 1) / ranks + out->piece - 1) / out->piece;
    return true;
}

tml_status array_parts_load(const array_parts *p, uint64_t k, bool is_wide, array_input *out,
                            uint64_t *at)
{
    uint64_t done = k * p->piece < p->count ? k * p->piece : p->count;
    uint64_t count = p->count - done < p->piece ? p->count - done : p->piece;
    memset(out, 0, sizeof *out);
    *at = p->first + done;
    tml_status status = tml_array_load(p->tml, p->path, *at, count, &out->array);
    out->array.count = count; /* also for an empty piece */
    TML_THEN(status,
             cli_lend(p->tml, out->array.type, count, out->array.data, "piece", &out->buffer));
    if (status == TML_OK && is_wide)
        status = array_widen(p->tml, out);
    if (status == TML_OK && !tml_progress(p->tml, cli_name(), (double)k / (double)p->rounds))
        status = tml_error(p->tml, TML_ERROR_CANCELLED, "cancelled");
    return status;
}

tml_status array_parts_save(const array_parts *p, tml_array_stream *to, tml_buffer from,
                            uint64_t at, uint64_t count)
{
    void *data;
    tml_status status = tml_buffer_map(p->tml, from, &data);
    if (status != TML_OK)
        return status;
    status = tml_array_stream_write(to, at, count, data);
    tml_buffer_unmap(p->tml, from);
    return status;
}

array_number array_number_of(tml_type type, const void *element)
{
    union {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
    } as;
    const size_t size = tml_type_size(type);
    const unsigned unused = 64 - 8 * (unsigned)size;
    memcpy(&as, element, size);
    if (tml_type_is_float(type))
        return (array_number){.real = size == 4 ? (double)as.f32 : as.f64};
    const uint64_t bits = size == 1 ? as.u8 : size == 2 ? as.u16 : size == 4 ? as.u32 : as.u64;
    return (array_number){
        .whole = tml_type_is_signed(type) ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits};
}

tml_type array_sum_type(tml_type type)
{
    if (type == TML_F64)
        return TML_F64;
    return tml_type_is_float(type) ? TML_F32 : tml_type_is_signed(type) ? TML_I64 : TML_U64;
}
