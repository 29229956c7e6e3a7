/* A user's kernel in a GPU engine's shader. Shaders that take one are templates, in which the line
 *
 *     #include "kernel_glue.glsl"
 *
 * is replaced by the kernel's own text and what joins it to the template. After that line a template
 * has
 *
 *   KERNEL_RESULT kernel_at(uint i, uint index, uint rank)
 *       The kernel's value for element i of the arrays; index and rank are what it sees as
 *       tml_index and tml_rank.
 *   KERNEL_RESULT kernel_of_word(uint word, uint i, uint index, uint rank)
 *       The same with element i of array 0 already loaded, as its bits. Only where the constant
 *       KERNEL_BY_WORD is true: array 0 has elements of 4 bytes.
 *   KERNEL_RESULT   the type: bool, float, int, uint, vec2 ... vec4, uvec2 ... uvec4, double, int64,
 *                   uint64
 *   KERNEL_SIZE     bytes of a result in memory: 1 (bool), 4, 8, 12, 16
 *   KERNEL_WORDS    uint, uvec2, uvec3 or uvec4, as kernel_words(KERNEL_RESULT) gives; not for bool
 *
 * Before it, a template includes kernel_values.glsl, and has KERNEL_TYPE_0 ... 3 (how arrays 0 ... 3
 * are read: their tml_type), kernel_params(), for each type kernel_load_TYPE(type, array, i), and
 * KERNEL_ARRAY_0 ... 3, the arrays as tml_words. */
#ifndef TML_KERNEL_GLUE_H
#define TML_KERNEL_GLUE_H

#include <trommel/kernel.h>

/* Where a kernel stands, for the compiler's messages; file NULL: GLSL that takes no names. */
typedef struct kernel_place {
    const char *file;
    unsigned line;
} kernel_place;

/* Writes the whole shader as snprintf would: at most capacity bytes, ended by a zero; returns the
 * length that it has without the zero. head: #version and what else stands first. array: how array n
 * is called before its number, "args.in". */
size_t kernel_glue(const tml_kernel *kernel, const char *head, const char *array,
                   kernel_place place, const char *text, char *out, size_t capacity);

/* Is this a word of the kernel's text or of its library's? */
bool kernel_has_word(const tml_kernel *kernel, const char *word);
/* Does the kernel's text use double, or integers of 64 bits? */
bool kernel_uses_float64(const tml_kernel *kernel);
bool kernel_uses_int64(const tml_kernel *kernel);
/* Does it read whole arrays (tml_words)? */
bool kernel_uses_words(const tml_kernel *kernel);
/* Are parameters or the result vectors of integers? */
bool kernel_uses_uvec(const tml_kernel *kernel);

/* Are they the same in GLSL: text and library? */
bool kernel_is_same(const tml_kernel *kernel, const char *glsl, const char *library);

#endif
