/* Undefines the macros of kernel.h. */
#undef ARGS_BEGIN
#undef ARGS_END
#undef ARG_ADDRESS
#undef ARG_VEC4
#undef ARG_UINT
#undef ARG_INT
#undef ARG_FLOAT
#undef ADDRESS
#undef N
#undef ivec3
#undef IVEC3
#undef LOAD_AS
#undef LOAD_F32
#undef LOAD_F16
#undef LOAD_U32
#undef LOAD_I32
#undef LOAD_U16
#undef LOAD_I16
#undef LOAD_U8
#undef LOAD_I8

#include <trommel/kernel_end.h>
