/* Numbers as files store them: of either byte order, of any scalar type, as text or binary. */
#include "io/io_internal.h"

void tml_io_to_host(void *data, size_t element_size, uint64_t count, bool big_endian)
{
    if (big_endian == IO_HOST_IS_BIG_ENDIAN)
        return;
    uint16_t *u16 = data;
    uint32_t *u32 = data;
    uint64_t *u64 = data;
    switch (element_size) {
    case 2:
        for (uint64_t i = 0; i < count; i++)
            u16[i] = __builtin_bswap16(u16[i]);
        break;
    case 4:
        for (uint64_t i = 0; i < count; i++)
            u32[i] = __builtin_bswap32(u32[i]);
        break;
    case 8:
        for (uint64_t i = 0; i < count; i++)
            u64[i] = __builtin_bswap64(u64[i]);
        break;
    default:
        break; /* single bytes have no order */
    }
}

double tml_io_number(const void *at, tml_type type, bool big_endian)
{
    switch (type) {
    case TML_U8:
        return *(const uint8_t *)at;
    case TML_I8:
        return *(const int8_t *)at;
    case TML_U16:
        return io_load_u16(at, big_endian);
    case TML_I16:
        return (int16_t)io_load_u16(at, big_endian);
    case TML_U32:
        return io_load_u32(at, big_endian);
    case TML_I32:
        return (int32_t)io_load_u32(at, big_endian);
    case TML_U64:
        return (double)io_load_u64(at, big_endian);
    case TML_I64:
        return (double)(int64_t)io_load_u64(at, big_endian);
    case TML_F32:
        return (double)io_load_f32(at, big_endian);
    default:
        return io_load_f64(at, big_endian);
    }
}

bool tml_io_next_number(io_text *text, io_number_form encoding, tml_type type, double *out)
{
    if (encoding == IO_NUMBERS_TEXT) {
        io_span word;
        return tml_io_word(text, &word) && tml_io_parse_f64(word, out);
    }
    size_t size = tml_type_size(type);
    if ((size_t)(text->end - text->at) < size)
        return false;
    *out = tml_io_number(text->at, type, encoding == IO_NUMBERS_BIG_ENDIAN);
    text->at += size;
    return true;
}
