/* The engines' parts for image operations. */
#include "image/image_internal.h"

#define IMAGE_PARTS(engine)                                                                        \
    {                                                                                              \
        .measure = &engine##_op_image_measure, .expose = &engine##_op_image_expose,                \
        .tonemap = &engine##_op_image_tonemap, .mips = &engine##_op_image_mips,                    \
        .check_texture = engine##_image_check_texture                                              \
    }

extern const tml_engine_op cpu_op_image_measure, cpu_op_image_expose, cpu_op_image_tonemap,
    cpu_op_image_mips, vk_op_image_measure, vk_op_image_expose, vk_op_image_tonemap,
    vk_op_image_mips, gl_op_image_measure, gl_op_image_expose, gl_op_image_tonemap,
    gl_op_image_mips;

#define cpu_image_check_texture NULL

const image_parts image_parts_of[PART_COUNT] = {
    [PART_CPU] = IMAGE_PARTS(cpu),
#ifdef TML_VULKAN
    [PART_VULKAN] = IMAGE_PARTS(vk),
#endif
#ifdef TML_GL
    [PART_GL] = IMAGE_PARTS(gl),
#endif
};
