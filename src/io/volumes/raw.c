/* Reads volumes without a header. Dims and type come from the caller, or from a name as in the Open
 * SciVis collection: engine_256x256x128_uint8.raw. */
#include <inttypes.h>

#include "io/volumes/volume_internal.h"

bool tml_volume_raw_from_name(const char *path, tml_load_desc *out)
{
    static const struct {
        const char *name;
        tml_type type;
    } types[] = {{"uint8", TML_U8},    {"int8", TML_I8},    {"uint16", TML_U16},
                 {"int16", TML_I16},   {"uint32", TML_U32}, {"int32", TML_I32},
                 {"uint64", TML_U64},  {"int64", TML_I64},  {"float16", TML_F16},
                 {"float32", TML_F32}, {"float64", TML_F64}};
    if (!tml_volume_name_ends(path, ".raw"))
        return false;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    tml_load_desc found = *out;
    uint32_t parts = 0;
    /* The name's parts between '_' and '.': one is 256x256x128, one a type's name. */
    while (*name) {
        io_span part = {name, strcspn(name, "_.")};
        uint64_t dims[3];
        size_t start = 0;
        int axis = 0;
        for (; axis < 3 && start <= part.size; axis++) {
            const char *x = memchr(part.text + start, 'x', part.size - start);
            size_t end = x && axis < 2 ? (size_t)(x - part.text) : part.size;
            if (!tml_io_parse_u64((io_span){part.text + start, end - start}, &dims[axis]))
                break;
            start = end + 1;
        }
        if (axis == 3) {
            memcpy(found.dims, dims, sizeof dims);
            parts |= 1;
        }
        for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
            if (tml_io_is(part, types[i].name)) {
                found.type = types[i].type;
                parts |= 2;
            }
        name += part.size + (name[part.size] != '\0');
    }
    if (parts == 3)
        *out = found;
    return parts == 3;
}

tml_status tml_volume_raw_parse(const io_file *file, bool compressed, const tml_load_desc *desc,
                                volume_header *out)
{
    uint64_t sample_size = tml_type_size(desc->type);
    if (tml_type_components(desc->type) != 1)
        return tml_io_error(file, TML_ERROR_INVALID_ARGUMENT,
                            "desc.type is %s, needs a scalar type such as TML_U8 or TML_F32",
                            tml_type_name(desc->type));
    tml_volume *volume = &out->volume;
    volume->type = desc->type;
    memcpy(volume->grid.dims, desc->dims, sizeof desc->dims);
    out->big_endian = desc->big_endian;
    if (desc->dims[0] == 0 || desc->dims[1] == 0 || desc->dims[2] == 0)
        return tml_io_error(file, TML_ERROR_INVALID_ARGUMENT,
                            "desc.dims is %" PRIu64 " x %" PRIu64 " x %" PRIu64
                            ", needs three sizes above 0",
                            desc->dims[0], desc->dims[1], desc->dims[2]);
    tml_status status = tml_volume_layout(file, 1, 1, 1, 0, out);
    if (status != TML_OK)
        return status;

    /* Samples can be read with wrong dims or type; only the file's size reveals that. In a
     * compressed file the stream's end does, but not how many volumes there are. */
    uint64_t size = out->samples * sample_size;
    out->offset = desc->skip;
    out->is_exact = true;
    uint64_t stored = file->size > desc->skip ? file->size - desc->skip : 0;
    if (compressed && desc->frame)
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "desc.frame is %" PRIu32 ", needs 0 in a compressed raw file; gunzip "
                            "it first",
                            desc->frame);
    if (!compressed && (stored == 0 || stored % size != 0))
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "holds %" PRIu64 " bytes after the skip of %" PRIu64 ", needs %" PRIu64
                            " (%" PRIu64 " x %" PRIu64 " x %" PRIu64 " x %s) or a multiple; check "
                            "desc.dims, desc.type and desc.skip",
                            stored, desc->skip, size, desc->dims[0], desc->dims[1], desc->dims[2],
                            tml_type_name(desc->type));
    if (!compressed)
        status = tml_volume_layout(file, 1, 1, stored / size, desc->frame, out);
    return status == TML_OK ? volume_spacings(file, (const double[3]){1, 1, 1}, desc, out) : status;
}
