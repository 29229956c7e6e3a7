/* Functions that are part of their callers: those of inner loops, each compiled for its caller's
 * instruction set. */
#ifndef TML_INLINE_H
#define TML_INLINE_H

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#endif
