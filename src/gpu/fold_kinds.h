/* The constants that gpu/fold.glsl needs, for each fold and type. */
#ifndef TML_FOLD_KINDS_H
#define TML_FOLD_KINDS_H

#include <trommel/stream.h>

#include "gpu/fold_layout.k.h"

typedef struct fold_constants {
    uint32_t kind, size_log2;
    bool is_signed, is_float, is_largest;
    uint32_t to;
    bool is_mean;
} fold_constants;

static inline uint32_t fold_kind_of(tml_fold fold, tml_type type)
{
    switch (fold) {
    case TML_FOLD_SUM:
    case TML_FOLD_MEAN:
        if (type == TML_F64)
            return FOLD_DOUBLE;
        if (tml_type_is_float(type))
            return FOLD_REAL;
        if (tml_type_size(type) < sizeof(uint64_t))
            return FOLD_SUM;
        return fold == TML_FOLD_SUM ? FOLD_SUM64 : FOLD_REAL; /* a 64-bit sum would overflow */
    case TML_FOLD_MIN:
    case TML_FOLD_MAX:
        return FOLD_BEST;
    default:
        return FOLD_WHERE;
    }
}

static inline uint32_t fold_to_of(uint32_t kind, tml_type out_type)
{
    if (kind == FOLD_BEST)
        return FOLD_TO_SAME;
    switch (out_type) {
    case TML_F32:
        return FOLD_TO_F32;
    case TML_F64:
        return FOLD_TO_F64;
    case TML_U32:
        return FOLD_TO_U32;
    default:
        return FOLD_TO_U64;
    }
}

static inline fold_constants fold_constants_of(tml_fold fold, tml_type in_type, tml_type out_type)
{
    bool is_float = tml_type_is_float(in_type);
    uint32_t kind = fold_kind_of(fold, in_type);
    return (fold_constants){
        .kind = kind,
        .size_log2 = (uint32_t)__builtin_ctzll(tml_type_size(in_type)),
        .is_signed = !is_float && tml_type_is_signed(in_type),
        .is_float = is_float,
        .is_largest = fold == TML_FOLD_MAX || fold == TML_FOLD_ARGMAX,
        .to = fold_to_of(kind, out_type),
        .is_mean = fold == TML_FOLD_MEAN,
    };
}

#endif
