/* Element types: tables generated from the lists of core.h. */
#include <string.h>

#include "core/core_internal.h"
#include "core/scalars.h"

/* Names of a scalar type and its 2-, 3- and 4-vectors, so that no name is built at run time. */
static const struct {
    const char *names[5];
    size_t size;
} scalars[TML_SCALAR_END] = {[TML_TYPE_NONE] = {{"none"}, 0},
#define LOWER_U8  "u8"
#define LOWER_I8  "i8"
#define LOWER_U16 "u16"
#define LOWER_I16 "i16"
#define LOWER_U32 "u32"
#define LOWER_I32 "i32"
#define LOWER_U64 "u64"
#define LOWER_I64 "i64"
#define LOWER_F16 "f16"
#define LOWER_F32 "f32"
#define LOWER_F64 "f64"
#define SCALAR_ROW(name, bytes, ctype)                                                             \
    [TML_##name] = {{NULL, LOWER_##name, LOWER_##name "x2", LOWER_##name "x3", LOWER_##name "x4"}, \
                    bytes},
                             TML_SCALAR_LIST(SCALAR_ROW)
#undef SCALAR_ROW
};

static bool is_record(tml_type type)
{
    uint32_t size = type >> 8;
    return (type & 0xff) == 0xff && size >= 1 && size <= 64;
}

size_t tml_type_size(tml_type type)
{
    if (is_record(type))
        return type >> 8;
    return scalars[tml_type_scalar(type)].size * tml_type_components(type);
}

const char *tml_type_name(tml_type type)
{
    if (is_record(type))
        return "record";
    tml_type scalar = tml_type_scalar(type);
    return scalar == TML_TYPE_NONE ? "none" : scalars[scalar].names[tml_type_components(type)];
}

tml_type tml_type_from_name(const char *name)
{
    for (uint32_t scalar = 1; name && scalar < TML_SCALAR_END; scalar++)
        for (uint32_t n = 1; n <= 4; n++)
            if (strcmp(name, scalars[scalar].names[n]) == 0)
                return n == 1 ? scalar : TML_VEC(scalar, n);
    return TML_TYPE_NONE;
}

/* The queries of core.h: signed integers are even, and floats come last. */
#define IS_KNOWN(name, size, ctype)                                                                \
    _Static_assert((TML_##name >= TML_F16) == (SCALAR_KIND_##name == SCALAR_FLOAT) &&              \
                       (SCALAR_KIND_##name == SCALAR_FLOAT ||                                      \
                        (TML_##name % 2 == 0) == (SCALAR_KIND_##name == SCALAR_SIGNED)),           \
                   "core.h does not know the type " #name);
TML_SCALAR_LIST(IS_KNOWN)
#undef IS_KNOWN
