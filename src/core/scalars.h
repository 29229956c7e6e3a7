/* The kind of each scalar type in TML_SCALAR_LIST. A new type requires a SCALAR_KIND_ here. Code
 * that distinguishes types by kind and size asserts SCALAR_IS_KNOWN, so that the compiler lists all
 * places that a new type affects. */
#ifndef TML_SCALARS_H
#define TML_SCALARS_H

#include <trommel/core.h>

typedef enum tml_scalar_kind {
    SCALAR_UNSIGNED,
    SCALAR_SIGNED, /* two's complement */
    SCALAR_FLOAT,  /* IEEE 754 binary16, binary32 or binary64 */
    SCALAR_KINDS,
} tml_scalar_kind;

#define SCALAR_KIND_U8  SCALAR_UNSIGNED
#define SCALAR_KIND_I8  SCALAR_SIGNED
#define SCALAR_KIND_U16 SCALAR_UNSIGNED
#define SCALAR_KIND_I16 SCALAR_SIGNED
#define SCALAR_KIND_U32 SCALAR_UNSIGNED
#define SCALAR_KIND_I32 SCALAR_SIGNED
#define SCALAR_KIND_U64 SCALAR_UNSIGNED
#define SCALAR_KIND_I64 SCALAR_SIGNED
#define SCALAR_KIND_F16 SCALAR_FLOAT
#define SCALAR_KIND_F32 SCALAR_FLOAT
#define SCALAR_KIND_F64 SCALAR_FLOAT

/* Write TML_SCALAR_LIST(SCALAR_IS_KNOWN) next to code that distinguishes types by kind and by a
 * size of 1, 2, 4 or 8 bytes. */
#define SCALAR_IS_KNOWN(name, size, ctype)                                                         \
    _Static_assert(SCALAR_KIND_##name <= SCALAR_FLOAT &&                                           \
                       ((size) == 1 || (size) == 2 || (size) == 4 || (size) == 8),                 \
                   "this file does not know the type " #name);

/* Asserts that no two types have the same kind and size: equal case labels do not compile. */
static inline void tml_scalars_differ(unsigned kind_and_size)
{
    switch (kind_and_size) {
#define SCALAR_CASE(name, size, ctype) case (unsigned)SCALAR_KIND_##name << 8 | (size):
        TML_SCALAR_LIST(SCALAR_CASE)
#undef SCALAR_CASE
        break;
    default:
        break;
    }
}

/* type: a scalar, neither a vector nor a record. */
static inline tml_scalar_kind tml_scalar_kind_of(tml_type type)
{
    static const tml_scalar_kind kinds[TML_SCALAR_END] = {
#define SCALAR_KIND(name, size, ctype) [TML_##name] = SCALAR_KIND_##name,
        TML_SCALAR_LIST(SCALAR_KIND)
#undef SCALAR_KIND
    };
    return kinds[type];
}

#endif
