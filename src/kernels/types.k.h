/* The scalar types of tml_type in shaders: their numbers, sizes and kinds.
 * src/surface/surface_limits.c checks them against TML_SCALAR_LIST. A new type also needs a case in
 * key_of, raw_is_nan, number_of and crossing_of of src/surface/gpu. */
#define TYPE_U8  1u
#define TYPE_I8  2u
#define TYPE_U16 3u
#define TYPE_I16 4u
#define TYPE_U32 5u
#define TYPE_I32 6u
#define TYPE_U64 7u
#define TYPE_I64 8u
#define TYPE_F16 9u
#define TYPE_F32 10u
#define TYPE_F64 11u

/* Two bits per type: log2 of its size in bytes. */
#define TYPE_SIZES_LOG2      0x00e7e940u
#define TYPE_SIZE_LOG2(type) ((TYPE_SIZES_LOG2 >> (2u * (type))) & 3u)
/* One bit a type. */
#define TYPES_SIGNED         0x00000154u /* signed integers */
#define TYPES_FLOAT          0x00000e00u
#define TYPE_IS_SIGNED(type) (((TYPES_SIGNED >> (type)) & 1u) != 0u)
#define TYPE_IS_FLOAT(type)  (((TYPES_FLOAT >> (type)) & 1u) != 0u)
