/* The kernel layer, C side. A kernel file (src/kernels/NAME.k.h) holds formulas once, in the common
 * subset of C17, Vulkan GLSL 4.60 and GLSL ES 3.00. It includes nothing; NAME_PART.k.h may use what
 * NAME.k.h defines, and is included after it. C includes a kernel file by
 *
 *     #include "kernels/kernel.h"
 *     #include "kernels/NAME.k.h"      (any number of them)
 *     #include "kernels/kernel_end.h"
 *
 * and a shader is the text of #version, prelude_vulkan.glsl or prelude_es300.glsl,
 * prelude_common.glsl, the kernel files and a body. tests/test_kernels.c compiles every kernel file
 * in all three languages. Shaders alone define TML_GLSL.
 *
 * Kernel files use the macros of <trommel/kernel_begin.h>, as users' kernels do (FUNCTION, F U I,
 * VEC3, add3, min, floor, floatBitsToUint, popcount32, lowest_bit32, is_nan, is_inf ...), and
 * these:
 *
 *   ARGS_BEGIN(name) ARG_ADDRESS(a) ARG_VEC4(b) ARG_UINT(c) ARG_INT(d) ARG_FLOAT(e) ARGS_END(name)
 *       The arguments of a dispatch: a struct, passed by value and read as args.a. One struct
 *       serves C, Vulkan's push constants and GL's uniforms. Addresses first; at most 128 bytes.
 *   ADDRESS
 *       The type of an address: in C a pointer's value in 64 bits, in Vulkan a device address in a
 *       uvec2, in GL a highp usampler2D read with texelFetch.
 *   LOAD_F32(address, i), and F16 U32 I32 U16 I16 U8 I8
 *       Element i of an array, widened to float, uint or int. i has 64 bits in C, 32 on GPUs.
 *   tml_index, N(x)
 *       The type of an element's index, and the cast to it: 64 bits in C, 32 on GPUs, whose engines
 *       offset the addresses of longer arrays.
 *   ivec3, IVEC3(x, y, z)
 *       A triple of int, with members .x .y .z and no operators.
 *   tml_word_uvec4(words, i)
 *       Words 4 i to 4 i + 3 in one load, of an array that begins at a multiple of 16 bytes, as
 *       those that the library makes do; 0 past its end.
 *
 * Restrictions: no implicit conversions (1.0f, 1u, F(i)); conditions are bool; no pointers,
 * recursion, static, enum, brace initialisers, vector operators or swizzles; one declarator in a
 * declaration of a struct type; no name that GLSL reserves (sample, input, output, filter, active,
 * half, buffer, shared, common, partition, resource, patch, texture, noise ...). */
#include "kernels/kernel_types.h"

#include <trommel/kernel_begin.h>

#include "kernels/half.k.h"

#define ARGS_BEGIN(name) STRUCT_BEGIN(name)
#define ARGS_END(name)                                                                             \
    STRUCT_END(name)                                                                               \
    _Static_assert(sizeof(name) <= 128, "more than the push constants that every device has");
/* std430 aligns vec4 to 16 bytes. With _Alignas(16), C and Vulkan agree on all offsets. */
#define ARG_ADDRESS(name) tml_address name;
#define ARG_VEC4(name)    _Alignas(16) tml_vec4 name;
#define ARG_UINT(name)    uint32_t name;
#define ARG_INT(name)     int32_t name;
#define ARG_FLOAT(name)   float name;

#define ADDRESS        tml_address
#define N(x)           ((tml_index)(x))
#define ivec3          tml_ivec3
#define IVEC3(x, y, z) tml_make_ivec3(x, y, z)

#define LOAD_AS(T, address, i) (((const T *)(uintptr_t)(address))[i])
#define LOAD_F32(address, i)   LOAD_AS(float, address, i)
#define LOAD_F16(address, i)   tml_half_to_float(LOAD_AS(uint16_t, address, i))
#define LOAD_U32(address, i)   LOAD_AS(uint32_t, address, i)
#define LOAD_I32(address, i)   LOAD_AS(int32_t, address, i)
#define LOAD_U16(address, i)   ((uint32_t)LOAD_AS(uint16_t, address, i))
#define LOAD_I16(address, i)   ((int32_t)LOAD_AS(int16_t, address, i))
#define LOAD_U8(address, i)    ((uint32_t)LOAD_AS(uint8_t, address, i))
#define LOAD_I8(address, i)    ((int32_t)LOAD_AS(int8_t, address, i))
