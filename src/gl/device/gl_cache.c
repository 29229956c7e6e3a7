/* Reuse of compiled programs by later contexts, as the driver's binaries (glGetProgramBinary,
 * OpenGL ES 3.0).
 *
 * Format: a header with the driver's hash; then the programs, each with the hash of its text, a
 * checksum, the driver's format and the binary, padded to eight bytes. Added data are kept
 * unchanged, and searched when a program is needed. If the driver refuses a binary, the program is
 * compiled. */
#include "core/call.h"
#include "gl/device/gl_device.h"

#include <string.h>

typedef struct cache_head {
    char magic[8];
    uint64_t driver; /* hash of its vendor, name and version */
} cache_head;
static const char magic[8] = "tmlglpr1";

typedef struct cache_entry {
    uint64_t key[2];
    uint64_t checksum;
    uint32_t format, size; /* size: bytes of the binary that follows */
} cache_entry;
_Static_assert(sizeof(cache_head) == 16 && sizeof(cache_entry) == 32, "no padding");

static size_t padded(uint32_t size)
{
    return ((size_t)size + 7) & ~(size_t)7;
}

/* ---- hashes ---------------------------------------------------------------------------------- */

void gl_cache_hash(uint64_t hash[2], const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++) {
        hash[0] = (hash[0] ^ bytes[i]) * 0x100000001b3u; /* FNV-1a */
        hash[1] = ((hash[1] << 5 | hash[1] >> 59) ^ bytes[i]) * 0x517cc1b727220a95u;
    }
}

static uint64_t checksum_of(const void *data, size_t size)
{
    uint64_t hash[2] = GL_CACHE_HASH;
    gl_cache_hash(hash, data, size);
    return hash[0];
}

void gl_cache_open(gl_device *d)
{
    static const GLenum strings[] = {GL_VENDOR, GL_RENDERER, GL_VERSION,
                                     GL_SHADING_LANGUAGE_VERSION};
    uint64_t hash[2] = GL_CACHE_HASH;
    for (size_t i = 0; i < TML_ARRAY_SIZE(strings); i++) {
        const char *text = (const char *)d->fn.GetString(strings[i]);
        gl_cache_hash(hash, text ? text : "", text ? strlen(text) + 1 : 1);
    }
    d->driver_hash = hash[0];
    GLint formats = 0;
    if (d->is_es3 && d->fn.GetProgramBinary && d->fn.ProgramBinary && d->fn.ProgramParameteri)
        d->fn.GetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &formats);
    d->has_binaries = formats > 0;
}

void gl_cache_close(gl_device *d)
{
    while (d->caches) {
        gl_cache *cache = d->caches;
        d->caches = cache->next;
        tml_free(d->tml, cache, sizeof *cache + cache->size);
    }
}

/* ---- what was added -------------------------------------------------------------------------- */

/* The program's position in the added data; NULL if it is not there. */
static uint8_t *gl_cache_find(const gl_device *d, const uint64_t key[2], cache_entry *out)
{
    for (gl_cache *cache = d->caches; cache; cache = cache->next)
        for (size_t at = 0; at < cache->size; at += sizeof *out + padded(out->size)) {
            memcpy(out, cache->bytes + at, sizeof *out);
            if (out->key[0] == key[0] && out->key[1] == key[1])
                return cache->bytes + at;
        }
    return NULL;
}

/* Discards the errors of a driver that refuses a binary: the caller did nothing wrong. */
static void forget_errors(const gl_device *d)
{
    for (int i = 0; i < 8 && d->fn.GetError() != GL_NO_ERROR; i++)
        ;
}

bool gl_cache_link(gl_device *d, const uint64_t key[2], GLuint program)
{
    cache_entry entry;
    uint8_t *place = gl_cache_find(d, key, &entry);
    if (!place)
        return false;
    gl_errors_note(d);
    d->fn.ProgramBinary(program, entry.format, place + sizeof entry, (GLsizei)entry.size);
    forget_errors(d);
    GLint linked = GL_FALSE;
    d->fn.GetProgramiv(program, GL_LINK_STATUS, &linked);
    if (!linked)
        memset(place, 0, sizeof entry.key); /* the compiled one takes its place */
    return linked;
}

/* Bytes of whole programs in data. */
static size_t sound_size(const uint8_t *data, size_t size)
{
    size_t at = 0;
    cache_entry entry;
    while (size - at >= sizeof entry) {
        memcpy(&entry, data + at, sizeof entry);
        const uint8_t *binary = data + at + sizeof entry;
        if (entry.size > INT32_MAX || size - at - sizeof entry < padded(entry.size) ||
            checksum_of(binary, entry.size) != entry.checksum)
            break;
        at += sizeof entry + padded(entry.size);
    }
    return at;
}

tml_status gl_cache_add(tml_context *tml, const void *data, size_t size)
{
    gl_device *d = gl_device_of(tml);
    cache_head head;
    if (!d->has_binaries || size < sizeof head)
        return TML_OK;
    memcpy(&head, data, sizeof head);
    if (memcmp(head.magic, magic, sizeof magic) != 0 || head.driver != d->driver_hash)
        return TML_OK;
    const uint8_t *programs = (const uint8_t *)data + sizeof head;
    size = sound_size(programs, size - sizeof head);
    gl_cache *cache = tml_alloc(tml, sizeof *cache + size);
    if (!cache)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "tml_cache_add: no memory for %zu bytes",
                         size);
    *cache = (gl_cache){.next = d->caches, .size = size};
    memcpy(cache->bytes, programs, size);
    d->caches = cache;
    return TML_OK;
}

/* ---- what is given --------------------------------------------------------------------------- */

typedef struct writer {
    uint8_t *out; /* NULL: only the size is computed */
    size_t room, size;
} writer;

/* Room for so many bytes; NULL if there is none, or if only the size is computed. */
static uint8_t *gl_cache_take(writer *w, size_t size)
{
    uint8_t *place = w->out && w->room - w->size >= size ? w->out + w->size : NULL;
    if (place || !w->out)
        w->size += size;
    return place;
}

static void give_added(const gl_device *d, writer *w)
{
    for (const gl_cache *cache = d->caches; cache; cache = cache->next) {
        cache_entry entry, first;
        for (size_t at = 0; at < cache->size; at += sizeof entry + padded(entry.size)) {
            memcpy(&entry, cache->bytes + at, sizeof entry);
            bool is_refused = !(entry.key[0] | entry.key[1]);
            if (is_refused || gl_cache_find(d, entry.key, &first) != cache->bytes + at)
                continue;
            uint8_t *place = gl_cache_take(w, sizeof entry + padded(entry.size));
            if (place)
                memcpy(place, cache->bytes + at, sizeof entry + padded(entry.size));
        }
    }
}

static void give_program(const gl_device *d, const gl_program *program, writer *w)
{
    GLint size = 0;
    d->fn.GetProgramiv(program->name, GL_PROGRAM_BINARY_LENGTH, &size);
    if (size <= 0)
        return;
    const size_t before = w->size, most = sizeof(cache_entry) + padded((uint32_t)size);
    uint8_t *place = gl_cache_take(w, most);
    if (!place)
        return;
    GLenum format = 0;
    GLsizei length = 0;
    memset(place, 0, most);
    d->fn.GetProgramBinary(program->name, size, &length, &format, place + sizeof(cache_entry));
    if (length <= 0 || length > size) {
        w->size = before;
        return;
    }
    cache_entry entry = {.key = {program->key[0], program->key[1]},
                         .checksum = checksum_of(place + sizeof entry, (size_t)length),
                         .format = format,
                         .size = (uint32_t)length};
    memcpy(place, &entry, sizeof entry);
    w->size = before + sizeof entry + padded(entry.size);
}

tml_status gl_cache_get(tml_context *tml, void *data, size_t *size)
{
    gl_device *d = gl_device_of(tml);
    writer w = {.out = data, .room = data ? *size : 0};
    cache_head head = {.driver = d->driver_hash};
    memcpy(head.magic, magic, sizeof magic);
    uint8_t *place = gl_cache_take(&w, sizeof head);
    if (place)
        memcpy(place, &head, sizeof head);
    if (d->has_binaries && (place || !data)) {
        tml_status status = gl_enter(tml);
        if (status != TML_OK)
            return status;
        give_added(d, &w);
        gl_errors_note(d);
        cache_entry entry;
        for (const gl_program *p = d->programs; p; p = p->next)
            if (p->is_ready && !gl_cache_find(d, p->key, &entry))
                give_program(d, p, &w);
        forget_errors(d);
        gl_leave(tml);
    }
    *size = w.size;
    return TML_OK;
}
