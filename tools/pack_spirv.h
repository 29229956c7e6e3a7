/* SPIR-V as src/vulkan/vulkan_spirv.h packs it, for the build's tools. */
#ifndef TML_PACK_SPIRV_H
#define TML_PACK_SPIRV_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Packs a module of count words into out, which has room for PACK_SPIRV_MOST(count) words; returns
 * their number. A module with something that tools/pack_spirv.c does not know is copied. */
#define PACK_SPIRV_MOST(count) (4 + 2 * (count))
size_t pack_spirv(const uint32_t *code, size_t count, uint32_t *out);

/* Writes words as a C initialiser's numbers. */
void write_words(FILE *out, const uint32_t *words, size_t count);

#endif
