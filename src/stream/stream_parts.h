/* STREAM_OP(name, type, "no names"): the operation stream_name, in the file of its call, with the
 * type of its resolved desc, what an engine without it lacks, in words, and the engines' parts.
 * _FLOAT: the tier of floats in textures has one, too. */
#ifndef TML_STREAM_PARTS_H
#define TML_STREAM_PARTS_H

#include "stream/stream_internal.h"

#ifdef TML_VULKAN
#    define STREAM_VULKAN(name) [PART_VULKAN] = &vk_op_##name,
#else
#    define STREAM_VULKAN(name)
#endif
#ifdef TML_GL
#    define STREAM_GL(name)       [PART_GL] = &gl_op_##name,
#    define STREAM_GL_FLOAT(name) [PART_GL_FLOAT] = &gl_op_float_##name,
#else
#    define STREAM_GL(name)
#    define STREAM_GL_FLOAT(name)
#endif

#define STREAM_OP(name, type, without)                                                             \
    extern const tml_engine_op cpu_op_##name, vk_op_##name, gl_op_##name;                          \
    const stream_op stream_##name = {                                                              \
        without, sizeof(type), {[PART_CPU] = &cpu_op_##name, STREAM_VULKAN(name) STREAM_GL(name)}}
#define STREAM_OP_FLOAT(name, type, without)                                                       \
    extern const tml_engine_op cpu_op_##name, vk_op_##name, gl_op_##name, gl_op_float_##name;      \
    const stream_op stream_##name = {                                                              \
        without,                                                                                   \
        sizeof(type),                                                                              \
        {[PART_CPU] = &cpu_op_##name, STREAM_VULKAN(name) STREAM_GL(name) STREAM_GL_FLOAT(name)}}

#endif
