/* The JSON of glTF, which jsmn splits into tokens. jsmn allocates no memory and calls no functions.
 * Every number of a token is checked here before it is used. */
#include "io/meshes/gltf.h"

#ifdef TML_GLTF
#    include <math.h>

io_span tml_gltf_text(const gltf_reader *reader, int token)
{
    const jsmntok_t *t = &reader->tokens[token];
    return (io_span){reader->json.text + t->start, (size_t)(t->end - t->start)};
}

tml_status tml_gltf_bad(const gltf_reader *reader, int token, const char *what)
{
    return tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT, "byte %d of the JSON: %s",
                        token >= 0 ? reader->tokens[token].start : 0, what);
}

int tml_gltf_skip(const gltf_reader *reader, int token)
{
    int end = reader->tokens[token].end;
    do
        token++;
    while (token < reader->token_count && reader->tokens[token].start < end);
    return token;
}

int tml_gltf_member(const gltf_reader *reader, int object, const char *name)
{
    if (object < 0 || reader->tokens[object].type != JSMN_OBJECT)
        return -1;
    int end = reader->tokens[object].end;
    for (int key = object + 1; key < reader->token_count && reader->tokens[key].start < end;
         key = tml_gltf_skip(reader, key)) {
        const jsmntok_t *t = &reader->tokens[key];
        if (t->type == JSMN_STRING && t->size == 1 && tml_io_is(tml_gltf_text(reader, key), name) &&
            key + 1 < reader->token_count)
            return key + 1;
        if (t->type == JSMN_STRING && t->size == 1)
            key++; /* the loop skips the value */
    }
    return -1;
}

tml_status tml_gltf_get_number(const gltf_reader *reader, int object, const char *name,
                               uint64_t fallback, uint64_t *out)
{
    double number;
    int token = tml_gltf_member(reader, object, name);
    *out = fallback;
    if (token < 0)
        return TML_OK;
    if (reader->tokens[token].type != JSMN_PRIMITIVE ||
        !tml_io_parse_f64(tml_gltf_text(reader, token), &number) || !(number >= 0) ||
        number > 9007199254740992.0 || number != floor(number))
        return tml_gltf_bad(reader, token, "needs a whole number from 0 on");
    *out = (uint64_t)number;
    return TML_OK;
}

tml_status tml_gltf_get_numbers(const gltf_reader *reader, int object, const char *name, int count,
                                double *out, bool *is_there)
{
    int token = tml_gltf_member(reader, object, name);
    *is_there = token >= 0;
    if (token < 0)
        return TML_OK;
    if (reader->tokens[token].type != JSMN_ARRAY || reader->tokens[token].size != count)
        return tml_gltf_bad(reader, token,
                            "needs an array of as many numbers as its name asks for");
    for (int i = 0; i < count; i++) {
        int item = token + 1 + i;
        if (item >= reader->token_count || reader->tokens[item].type != JSMN_PRIMITIVE ||
            !tml_io_parse_f64(tml_gltf_text(reader, item), &out[i]) || !isfinite(out[i]))
            return tml_gltf_bad(reader, token, "needs finite numbers");
    }
    return TML_OK;
}

tml_status tml_gltf_make_list(gltf_reader *reader, const char *name, gltf_list *out)
{
    int array = tml_gltf_member(reader, 0, name);
    if (array < 0)
        return TML_OK;
    if (reader->tokens[array].type != JSMN_ARRAY)
        return tml_gltf_bad(reader, array, "needs an array");
    uint64_t count = (uint64_t)reader->tokens[array].size;
    out->tokens = tml_io_alloc(reader->sink->file, count * sizeof *out->tokens);
    if (!out->tokens)
        return count ? TML_ERROR_OUT_OF_MEMORY : TML_OK;
    out->count = count;
    int end = reader->tokens[array].end, item = array + 1;
    uint64_t i = 0;
    for (; i < count && item < reader->token_count && reader->tokens[item].start < end; i++) {
        out->tokens[i] = item;
        item = tml_gltf_skip(reader, item);
    }
    return i == count ? TML_OK : tml_gltf_bad(reader, array, "is no well-formed array");
}

tml_status tml_gltf_get_element(const gltf_reader *reader, const gltf_list *list, uint64_t number,
                                const char *what, int *out)
{
    if (number >= list->count)
        return tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT,
                            "names %s %llu, the file has %llu (counted from 0)", what,
                            (unsigned long long)number, (unsigned long long)list->count);
    *out = list->tokens[number];
    return TML_OK;
}

tml_status tml_gltf_tokenize(gltf_reader *reader)
{
    const io_file *file = reader->sink->file;
    jsmn_parser parser;
    if (reader->json.size > INT32_MAX)
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "has %zu bytes of JSON, needs less than 2^31", reader->json.size);
    jsmn_init(&parser);
    int count = jsmn_parse(&parser, reader->json.text, reader->json.size, NULL, 0);
    if (count > 0) {
        uint64_t size = (uint64_t)count * sizeof *reader->tokens;
        if (reader->sink->memory_limit && size > reader->sink->memory_limit)
            return tml_io_error(file, TML_ERROR_OUT_OF_MEMORY,
                                "needs %llu bytes for its JSON, desc.memory_limit is %llu",
                                (unsigned long long)size,
                                (unsigned long long)reader->sink->memory_limit);
        reader->tokens = tml_io_alloc(file, size);
        if (!reader->tokens)
            return TML_ERROR_OUT_OF_MEMORY;
        reader->token_count = count;
        jsmn_init(&parser);
        int again = jsmn_parse(&parser, reader->json.text, reader->json.size, reader->tokens,
                               (unsigned)count);
        count = again == count ? count : again < 0 ? again : JSMN_ERROR_INVAL;
    }
    if (count <= 0 || reader->tokens[0].type != JSMN_OBJECT ||
        tml_gltf_skip(reader, 0) != reader->token_count)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "is no JSON object; it goes wrong at byte %u", parser.pos);
    for (int i = 0; i < count; i++) /* jsmn does not close a bracket by one of another kind */
        if (reader->tokens[i].start < 0 || reader->tokens[i].end < reader->tokens[i].start)
            return tml_gltf_bad(reader, 0, "is not closed");
    return TML_OK;
}

#endif
