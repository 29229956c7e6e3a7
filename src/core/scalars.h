/* What TML_SCALAR_LIST does not say of the scalar types. A type has to be added here before anything
 * that takes every type compiles; code that tells types apart by kind and size asserts that it knows
 * all of them, so that the compiler lists what else to add. */
#ifndef TML_SCALARS_H
#define TML_SCALARS_H

#include <trommel/core.h>

typedef enum tml_scalar_kind {
    SCALAR_UNSIGNED,
    SCALAR_SIGNED, /* two's complement */
    SCALAR_FLOAT,  /* of IEEE 754, the one of its size */
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

/* TML_SCALAR_LIST(SCALAR_IS_KNOWN) stands where types are told apart by kind and by sizes of 1, 2, 4
 * and 8 bytes. */
#define SCALAR_IS_KNOWN(name, size, ctype)                                                         \
    _Static_assert(SCALAR_KIND_##name <= SCALAR_FLOAT &&                                           \
                       ((size) == 1 || (size) == 2 || (size) == 4 || (size) == 8),                 \
                   "this file does not know the type " #name);

/* No two types have kind and size in common: equal labels do not compile. */
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

/* Of a scalar type. */
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
