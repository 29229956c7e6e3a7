/* Unpacks packed SPIR-V (vulkan_spirv.h). */
#include "vulkan/vulkan_spirv.h"

#include <string.h>

/* Bytes of a stream, from at to end. */
typedef struct spirv_stream {
    const uint32_t *words;
    size_t at, end;
} spirv_stream;

size_t vk_spirv_words(const uint32_t *packed, size_t size)
{
    size_t words = size / sizeof *packed; /* whole ones: streams are read by words */
    if (words < PACKED_HEADER || packed[0] != PACKED_SPIRV)
        return 0;
    /* Each word of the module but the first takes a byte at least. */
    uint64_t bytes = (uint64_t)packed[2] + packed[3];
    bool fits = bytes <= (words - PACKED_HEADER) * sizeof *packed;
    return fits && packed[1] >= SPIRV_HEADER && packed[1] <= bytes + 1 ? packed[1] : 0;
}

static bool read_number(spirv_stream *stream, uint32_t *out)
{
    uint32_t number = 0;
    for (int shift = 0; shift < 35 && stream->at < stream->end; shift += 7) {
        uint32_t byte = stream->words[stream->at / 4] >> 8 * (stream->at % 4) & 0xff;
        stream->at++;
        number |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = number;
            return true;
        }
    }
    return false;
}

/* Unpacks the words behind an instruction's first. */
static bool unpack_words(spirv_stream streams[2], spirv_model *model, uint32_t opcode,
                         uint32_t length, uint32_t *out)
{
    for (uint32_t place = 1; place < length; place++) {
        uint32_t code;
        if (!read_number(&streams[place >= SPIRV_FIRST_STREAM], &code))
            return false;
        spirv_context *context = spirv_context_of(model, opcode, place);
        out[place] = spirv_expected(model, context) + spirv_unzigzag(code);
        spirv_learn(model, context, length, place, out[place]);
    }
    return true;
}

bool vk_spirv_unpack(const uint32_t *packed, spirv_model *model, uint32_t *out)
{
    size_t count = packed[1], first = PACKED_HEADER * sizeof *packed, second = first + packed[2];
    spirv_stream streams[2] = {{packed, first, second}, {packed, second, second + packed[3]}};
    memset(model, 0, sizeof *model);
    out[0] = SPIRV_MAGIC;
    bool ok = unpack_words(streams, model, 0, SPIRV_HEADER, out);
    for (size_t i = SPIRV_HEADER; ok && i < count;) {
        uint32_t head = 0;
        ok = read_number(&streams[0], &head);
        uint32_t opcode = head >> 1, *length = &model->lengths[opcode % SPIRV_OPCODES];
        if (ok && head & 1)
            ok = read_number(&streams[0], length);
        ok = ok && opcode <= 0xffff && *length >= 1 && *length <= 0xffff && *length <= count - i;
        if (!ok)
            break;
        out[i] = *length << 16 | opcode;
        ok = unpack_words(streams, model, opcode, *length, out + i);
        i += *length;
    }
    return ok && streams[0].at == streams[0].end && streams[1].at == streams[1].end;
}
