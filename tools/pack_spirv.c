/* Packs SPIR-V (src/vulkan/vulkan_spirv.h).
 *
 * Where ids are numbered in the order in which they appear, differences between them are small, and
 * alike in modules that have functions in common. That needs to be told which words are ids: by the
 * tables of SPIR-V's specification, section 3.56 ("Instructions"), as far as compilers of GLSL make
 * use of it. */
#include "pack_spirv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "vulkan/vulkan_spirv.h"

/* ---- ids ------------------------------------------------------------------------------------- */

/* The words behind the first of an instruction: i an id, n a number, s a string, m memory operands,
 * of which those with ids are not known here, o the opcode of an OpSpecConstantOp. The last two
 * repeat. */
static const struct {
    uint16_t first, last; /* opcodes */
    const char *words;
} forms[] = {
    {1, 1, "ii"},         {10, 10, "nn"},     {11, 11, "inn"},      {12, 12, "iiinii"},
    {14, 14, "nn"},       {15, 15, "nisii"},  {16, 16, "inn"},      {17, 17, "nn"},
    {19, 20, "ii"},       {21, 22, "inn"},    {23, 25, "iinn"},     {28, 30, "ii"},
    {32, 32, "inii"},     {33, 33, "ii"},     {39, 39, "inn"},      {41, 42, "ii"},
    {43, 43, "iinn"},     {44, 44, "ii"},     {48, 49, "ii"},       {50, 50, "iinn"},
    {51, 51, "ii"},       {52, 52, "iioii"},  {54, 54, "iinii"},    {55, 57, "ii"},
    {59, 59, "iinii"},    {61, 61, "iiimn"},  {62, 62, "iimn"},     {65, 65, "ii"},
    {71, 72, "inn"},      {77, 78, "ii"},     {79, 79, "iiiinn"},   {80, 80, "ii"},
    {81, 81, "iiinn"},    {82, 82, "iiiinn"}, {83, 84, "ii"},       {95, 95, "iiiinii"},
    {109, 122, "ii"},     {124, 152, "ii"},   {154, 191, "ii"},     {194, 205, "ii"},
    {224, 225, "ii"},     {227, 242, "ii"},   {245, 245, "ii"},     {246, 246, "iinn"},
    {247, 247, "inn"},    {248, 249, "ii"},   {250, 250, "iiinn"},  {251, 251, "iini"},
    {252, 255, "ii"},     {333, 341, "ii"},   {342, 342, "iiinii"}, {343, 348, "ii"},
    {349, 364, "iiinii"},
};

static const char *form_of(uint32_t opcode)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (opcode >= forms[i].first && opcode <= forms[i].last)
            return forms[i].words;
    return NULL;
}

/* OpSource, OpSourceExtension, OpName, OpMemberName, OpLine, OpNoLine, OpModuleProcessed */
static bool is_debugging(uint32_t opcode)
{
    return (opcode >= 3 && opcode <= 6) || opcode == 8 || opcode == 317 || opcode == 330;
}

static bool ends_string(uint32_t word)
{
    return !(word & 0xff) || !(word >> 8 & 0xff) || !(word >> 16 & 0xff) || !(word >> 24);
}

/* New numbers of ids, from 1 on. */
typedef struct id_map {
    uint32_t *numbers; /* 0: has none yet */
    uint32_t bound, next;
} id_map;

/* Is word, whose letter in its form this is, of a kind that is known? Numbers it, if it is an
 * id. */
static bool number_word(id_map *ids, char letter, uint32_t *word)
{
    if (letter == 'm')
        return *word < 8; /* Volatile, Aligned, Nontemporal */
    if (letter == 'o')
        return *word != 79 && *word != 81 && *word != 82; /* these have numbers for operands */
    if (letter != 'i')
        return true;
    if (*word >= ids->bound)
        return false;
    if (!ids->numbers[*word])
        ids->numbers[*word] = ids->next++;
    *word = ids->numbers[*word];
    return true;
}

static bool number_ids(id_map *ids, uint32_t *instruction, uint32_t length)
{
    const char *form = form_of(*instruction & 0xffff);
    if (!form)
        return false;
    for (uint32_t i = 1; i < length; i++) {
        if (!number_word(ids, *form, &instruction[i]))
            return false;
        if (*form == 's' && !ends_string(instruction[i]))
            continue;
        form += form[1] ? 1 : -1;
    }
    return true;
}

/* Copies a module without names and lines, and with its ids numbered anew; returns its words, or 0
 * where it has something that is not known here. */
static size_t normalize(const uint32_t *code, size_t count, id_map *ids, uint32_t *out)
{
    size_t used = SPIRV_HEADER;
    memcpy(out, code, SPIRV_HEADER * sizeof *out);
    for (size_t i = SPIRV_HEADER, length; i < count; i += length) {
        length = code[i] >> 16;
        if (length == 0 || length > count - i)
            return 0;
        if (is_debugging(code[i] & 0xffff))
            continue;
        memcpy(out + used, code + i, length * sizeof *out);
        if (!number_ids(ids, out + used, (uint32_t)length))
            return 0;
        used += length;
    }
    out[3] = ids->next; /* the bound */
    return used;
}

/* ---- streams --------------------------------------------------------------------------------- */

typedef struct byte_stream {
    unsigned char *bytes;
    size_t size;
} byte_stream;

static void put_number(byte_stream *stream, uint32_t number)
{
    for (; number >= 0x80; number >>= 7)
        stream->bytes[stream->size++] = (unsigned char)(number | 0x80);
    stream->bytes[stream->size++] = (unsigned char)number;
}

static void put_words(byte_stream streams[2], spirv_model *model, uint32_t opcode, uint32_t length,
                      const uint32_t *words)
{
    for (uint32_t place = 1; place < length; place++) {
        spirv_context *context = spirv_context_of(model, opcode, place);
        put_number(&streams[place >= SPIRV_FIRST_STREAM],
                   spirv_zigzag(words[place] - spirv_expected(model, context)));
        spirv_learn(model, context, length, place, words[place]);
    }
}

static void put_module(byte_stream streams[2], spirv_model *model, const uint32_t *code,
                       size_t count)
{
    put_words(streams, model, 0, SPIRV_HEADER, code);
    for (size_t i = SPIRV_HEADER; i < count; i += code[i] >> 16) {
        uint32_t opcode = code[i] & 0xffff, length = code[i] >> 16;
        uint32_t *usual = &model->lengths[opcode % SPIRV_OPCODES];
        put_number(&streams[0], opcode << 1 | (*usual != length));
        if (*usual != length)
            put_number(&streams[0], length);
        *usual = length;
        put_words(streams, model, opcode, length, code + i);
    }
}

static size_t join_streams(const byte_stream streams[2], size_t count, uint32_t *out)
{
    const uint32_t head[PACKED_HEADER] = {PACKED_SPIRV, (uint32_t)count, (uint32_t)streams[0].size,
                                          (uint32_t)streams[1].size};
    size_t words = PACKED_HEADER + (streams[0].size + streams[1].size + 3) / 4, at = 0;
    memset(out, 0, words * sizeof *out);
    memcpy(out, head, sizeof head);
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < streams[s].size; i++, at++)
            out[PACKED_HEADER + at / 4] |= (uint32_t)streams[s].bytes[i] << 8 * (at % 4);
    return words;
}

size_t pack_spirv(const uint32_t *code, size_t count, uint32_t *out)
{
    id_map ids = {NULL, count >= SPIRV_HEADER ? code[3] : 0, 1};
    uint32_t *normal = malloc((count + 1) * sizeof *normal);
    spirv_model *model = calloc(1, sizeof *model);
    byte_stream streams[2] = {{malloc(6 * count + 1), 0}, {malloc(6 * count + 1), 0}};
    ids.numbers = calloc((size_t)ids.bound + 1, sizeof *ids.numbers);
    size_t packed = 0;
    if (normal && model && streams[0].bytes && streams[1].bytes && ids.numbers &&
        count >= SPIRV_HEADER && code[0] == SPIRV_MAGIC) {
        size_t left = normalize(code, count, &ids, normal);
        if (left) {
            put_module(streams, model, normal, left);
            packed = join_streams(streams, left, out);
        }
    }
    free(normal);
    free(model);
    free(streams[0].bytes);
    free(streams[1].bytes);
    free(ids.numbers);
    if (!packed)
        memcpy(out, code, (packed = count) * sizeof *out);
    return packed;
}

void write_words(FILE *out, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(out, i % 12 == 11 || i + 1 == count ? "%u,\n" : "%u,", (unsigned)words[i]);
}
