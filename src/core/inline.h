/* ALWAYS_INLINE, for functions of inner loops: each is compiled as a part of its caller, for the
 * caller's instruction set. */
#ifndef TML_INLINE_H
#define TML_INLINE_H

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#endif
