/* Makes the sort's records from keys and tags, and splits records into keys and tags again. */
#include "cpu/cpu_sort_steps.h"

#include <string.h>

#include "kernels/kernel.h"
#include "kernels/kernel_end.h"
#include "kernels/sort.k.h"

/* LOOP(KEY, RECORD, FIELD, SHIFT) for the sizes of form's keys and records. FIELD: the part of a
 * record that holds the code, shifted left by SHIFT. */
#define BY_SIZES(form, LOOP)                                                                       \
    switch ((form)->key_size * 32 + (form)->record_size) {                                         \
    case 1 * 32 + 4:                                                                               \
        LOOP(uint8_t, uint32_t, , 0) break;                                                        \
    case 2 * 32 + 4:                                                                               \
        LOOP(uint16_t, uint32_t, , 0) break;                                                       \
    case 4 * 32 + 4:                                                                               \
        LOOP(uint32_t, uint32_t, , 0) break;                                                       \
    case 1 * 32 + 8:                                                                               \
        LOOP(uint8_t, uint64_t, , 32) break;                                                       \
    case 2 * 32 + 8:                                                                               \
        LOOP(uint16_t, uint64_t, , 32) break;                                                      \
    case 4 * 32 + 8:                                                                               \
        LOOP(uint32_t, uint64_t, , 32) break;                                                      \
    case 8 * 32 + 8:                                                                               \
        LOOP(uint64_t, uint64_t, , 0) break;                                                       \
    case 1 * 32 + 16:                                                                              \
        LOOP(uint8_t, sort_pair, .code, 0) break;                                                  \
    case 2 * 32 + 16:                                                                              \
        LOOP(uint16_t, sort_pair, .code, 0) break;                                                 \
    case 4 * 32 + 16:                                                                              \
        LOOP(uint32_t, sort_pair, .code, 0) break;                                                 \
    default:                                                                                       \
        LOOP(uint64_t, sort_pair, .code, 0) break;                                                 \
    }

/* LOOP(TAG) for unsigned integers of size bytes. */
#define BY_SIZE(size, LOOP)                                                                        \
    switch (size) {                                                                                \
    case 1:                                                                                        \
        LOOP(uint8_t) break;                                                                       \
    case 2:                                                                                        \
        LOOP(uint16_t) break;                                                                      \
    case 4:                                                                                        \
        LOOP(uint32_t) break;                                                                      \
    default:                                                                                       \
        LOOP(uint64_t) break;                                                                      \
    }

/* Converts a key to its code, or a code to its key. sign_of: the integer whose highest bit is the
 * key's sign. */
#define CODE_OF(UINT, key, sign_of)                                                                \
    (UINT) SORT_CODE(key, (UINT)SORT_SIGN((UINT)(sign_of), 8 * sizeof(UINT)), (UINT)flip,          \
                     (UINT)real_flip)

ALWAYS_INLINE void load_codes(const sort_form *form, uint64_t first, size_t count, void *out)
{
    const unsigned char *keys = form->keys + first * form->key_size;
    const uint64_t flip = form->flip, real_flip = form->real_flip;
#define LOAD_CODE(KEY, RECORD, FIELD, SHIFT)                                                       \
    for (size_t i = 0; i < count; i++) {                                                           \
        KEY key;                                                                                   \
        memcpy(&key, keys + i * sizeof key, sizeof key);                                           \
        ((RECORD *)out)[i] FIELD = (uint64_t)CODE_OF(KEY, key, key) << SHIFT;                      \
    }
    BY_SIZES(form, LOAD_CODE)
}

ALWAYS_INLINE void load_tags(const sort_form *form, uint64_t first, size_t count, void *out)
{
    const size_t size = form->value_size;
    const unsigned char *values = size ? form->values + first * size : NULL;
#define LOAD_TAG(TAG)                                                                              \
    for (size_t i = 0; i < count; i++) {                                                           \
        TAG tag;                                                                                   \
        memcpy(&tag, values + i * sizeof tag, sizeof tag);                                         \
        if (is_8)                                                                                  \
            ((uint64_t *)out)[i] |= tag;                                                           \
        else                                                                                       \
            ((sort_pair *)out)[i].tag = tag;                                                       \
    }
    const bool is_8 = form->record_size == 8;
    if (size)
        BY_SIZE(size, LOAD_TAG)
    else if (is_8)
        for (size_t i = 0; i < count; i++)
            ((uint64_t *)out)[i] |= first + i;
    else
        for (size_t i = 0; i < count; i++)
            ((sort_pair *)out)[i].tag = first + i;
}

ALWAYS_INLINE void load(const sort_form *form, uint64_t first, size_t count, void *out)
{
    load_codes(form, first, count, out);
    if (form->has_tag)
        load_tags(form, first, count, out);
}

ALWAYS_INLINE void keys_of(const sort_form *form, const void *records, size_t count, void *out)
{
    const uint64_t flip = form->flip, real_flip = form->real_flip;
#define STORE_KEY(KEY, RECORD, FIELD, SHIFT)                                                       \
    for (size_t i = 0; i < count; i++) {                                                           \
        KEY code = (KEY)(((const RECORD *)records)[i] FIELD >> SHIFT);                             \
        ((KEY *)out)[i] = CODE_OF(KEY, code, code ^ flip);                                         \
    }
    BY_SIZES(form, STORE_KEY)
}

ALWAYS_INLINE void tags_of(const sort_form *form, const void *records, size_t count, size_t size,
                           void *out)
{
#define TAG_OF_8(TAG)                                                                              \
    for (size_t i = 0; i < count; i++)                                                             \
        ((TAG *)out)[i] = (TAG)(uint32_t)((const uint64_t *)records)[i];
#define TAG_OF_16(TAG)                                                                             \
    for (size_t i = 0; i < count; i++)                                                             \
        ((TAG *)out)[i] = (TAG)((const sort_pair *)records)[i].tag;
    if (form->record_size == 8)
        BY_SIZE(size, TAG_OF_8)
    else
        BY_SIZE(size, TAG_OF_16)
}

SIMD_INSTANTIATE(void, load, (const sort_form *form, uint64_t first, size_t count, void *out),
                 load(form, first, count, out))
SIMD_INSTANTIATE(void, keys_of,
                 (const sort_form *form, const void *records, size_t count, void *out),
                 keys_of(form, records, count, out))
SIMD_INSTANTIATE(void, tags_of,
                 (const sort_form *form, const void *records, size_t count, size_t size, void *out),
                 tags_of(form, records, count, size, out))

void cpu_sort_load(const sort_form *form, uint64_t first, size_t count, void *out)
{
    static void (*const table[TML_SIMD_LEVELS])(const sort_form *, uint64_t, size_t, void *) =
        SIMD_EACH_LEVEL(load);
    table[tml_simd_level()](form, first, count, out);
}

void cpu_sort_keys(const sort_form *form, const void *records, size_t count, void *out)
{
    static void (*const table[TML_SIMD_LEVELS])(const sort_form *, const void *, size_t, void *) =
        SIMD_EACH_LEVEL(keys_of);
    table[tml_simd_level()](form, records, count, out);
}

void cpu_sort_tags(const sort_form *form, const void *records, size_t count, size_t size, void *out)
{
    static void (*const table[TML_SIMD_LEVELS])(const sort_form *, const void *, size_t, size_t,
                                                void *) = SIMD_EACH_LEVEL(tags_of);
    table[tml_simd_level()](form, records, count, size, out);
}
