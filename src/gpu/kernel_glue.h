/* A user's kernel in a GPU engine's shader. Shaders with a kernel are templates, in which the line
 *
 *     #include "kernel_glue.glsl"
 *
 * is replaced by the kernel's text and the glue between kernel and template. After that line a
 * template has
 *
 *   KERNEL_RESULT kernel_at(uint i, uint index, uint rank)
 *       The kernel's value for element i of the arrays. index and rank are its tml_index and
 *       tml_rank.
 *   KERNEL_RESULT kernel_of_word(uint word, uint i, uint index, uint rank)
 *       The same with element i of array 0 already loaded, as its bits. Only if the constant
 *       KERNEL_BY_WORD is true: array 0 has elements of 4 bytes.
 *   KERNEL_RESULT   the type: bool, float, int, uint, vec2 ... vec4, uvec2 ... uvec4, double,
 *                   int64, uint64
 *   KERNEL_SIZE     bytes of a result in memory: 1 (bool), 4, 8, 12, 16
 *   KERNEL_WORDS    uint, uvec2, uvec3 or uvec4: the type of kernel_words(KERNEL_RESULT); not for
 *                   bool
 *   KERNEL_OUTS     1, or how many outputs the kernel has (TML_KERNEL_OUTS). KERNEL_RESULT is then
 *                   a struct, and KERNEL_SIZE and KERNEL_WORDS are of the first output, which is no
 *                   bool
 *   KERNEL_OUT_k(r) output k of a result
 *
 *
 * An engine begins the text with KERNEL_LINES, which the preludes read, too.
 *
 * Before it, a template includes kernel_values.glsl and defines KERNEL_TYPE_0 ... 3 (the tml_type
 * of the elements of arrays 0 ... 3), kernel_params(), kernel_load_TYPE(type, array, i) for each
 * type, and KERNEL_ARRAY_0 ... 3, the arrays as tml_words. */
#ifndef TML_KERNEL_GLUE_H
#define TML_KERNEL_GLUE_H

#include <trommel/kernel.h>

/* A kernel's position in the source, for the compiler's messages. file NULL: this version of GLSL
 * has no file names. */
typedef struct kernel_place {
    const char *file;
    unsigned line;
} kernel_place;

/* Writes the complete shader as snprintf does: at most capacity bytes, with the terminating zero.
 * Returns the length without the zero. head: #version and other first lines. array: the name of
 * array n before its number, "args.in". */
size_t kernel_glue(const tml_kernel *kernel, const char *head, const char *array,
                   kernel_place place, const char *text, char *out, size_t capacity);

/* Does the kernel's text use double, or 64-bit integers? */
bool kernel_uses_float64(const tml_kernel *kernel);
bool kernel_uses_int64(const tml_kernel *kernel);
/* Does the kernel have parameters that are whole arrays (tml_words)? */
bool kernel_uses_words(const tml_kernel *kernel);
/* Does the kernel use the matrix of its tml_params, "p.m"? */
bool kernel_uses_matrix(const tml_kernel *kernel);
/* Are parameters or the result vectors of integers? */
bool kernel_uses_uvec(const tml_kernel *kernel);

/* KERNEL_MATRIX: defined for kernels with a matrix. */
#define KERNEL_LINES(kernel) (kernel_uses_matrix(kernel) ? "#define KERNEL_MATRIX\n" : "")

/* Do both have the same text and library in GLSL? */
bool kernel_is_same(const tml_kernel *kernel, const char *glsl, const char *library);

#endif
