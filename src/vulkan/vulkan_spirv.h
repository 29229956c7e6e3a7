/* Packed SPIR-V. The build's tools pack modules (tools/pack_spirv.c), and the engine unpacks a
 * module when it creates a pipeline. Packed modules take a third of the space; zipped, a quarter of
 * the space of zipped SPIR-V.
 *
 * Format, in words: PACKED_SPIRV; the module's number of words; the bytes of two streams; then the
 * streams' bytes, four per word, the least significant first. A stream consists of varints, 7 bits
 * per byte, the least significant first. For each instruction, the first stream holds
 *     opcode << 1 | changed, and if changed, the number of words, which otherwise is that of the
 *     last instruction with the same opcode
 * and words 1 and 2. The second stream holds the words from 3 on. A word is stored as its zigzag
 * difference from one of spirv_base's words: the one that was nearest recently at this place of
 * this opcode. So neither side needs to know the meaning of opcodes. The words after the module's
 * magic number are packed as an instruction with opcode 0.
 *
 * The packer also renumbers ids in the order in which they appear, and omits names and lines. */
#ifndef TML_VULKAN_SPIRV_H
#define TML_VULKAN_SPIRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SPIRV_MAGIC = 0x07230203,
    SPIRV_HEADER = 5,          /* words */
    PACKED_SPIRV = 0x764c4d54, /* "TMLv" */
    PACKED_HEADER = 4,         /* words */
    SPIRV_FIRST_STREAM = 3,    /* words of an instruction that are in the first stream */
    SPIRV_OPCODES = 512,       /* larger ones share contexts; a power of two */
    SPIRV_PLACES = 8,          /* later words share a context */
    SPIRV_BASES = 3,
};

/* Statistics of the words at one place of an opcode. */
typedef struct spirv_context {
    uint32_t last;
    uint16_t costs[SPIRV_BASES]; /* bits that a word took with each base, on a moving average */
} spirv_context;

/* The state that packer and unpacker derive from the words so far; begins zeroed. */
typedef struct spirv_model {
    uint32_t result;
    uint32_t lengths[SPIRV_OPCODES]; /* words of each opcode's last instruction */
    spirv_context contexts[SPIRV_OPCODES][SPIRV_PLACES];
} spirv_model;

static inline uint32_t spirv_zigzag(uint32_t difference)
{
    return difference << 1 ^ (0 - (difference >> 31));
}

static inline uint32_t spirv_unzigzag(uint32_t code)
{
    return code >> 1 ^ (0 - (code & 1));
}

static inline spirv_context *spirv_context_of(spirv_model *model, uint32_t opcode, uint32_t place)
{
    uint32_t shared = place < SPIRV_PLACES ? place : SPIRV_PLACES - 1;
    return &model->contexts[opcode % SPIRV_OPCODES][shared];
}

/* The number of a base: the id of the last result; nothing; the last word here. */
static inline uint32_t spirv_base(const spirv_model *model, const spirv_context *context,
                                  int number)
{
    return number == 0 ? model->result : number == 1 ? 0 : context->last;
}

static inline uint32_t spirv_expected(const spirv_model *model, const spirv_context *context)
{
    int best = 0;
    for (int i = 1; i < SPIRV_BASES; i++)
        if (context->costs[i] < context->costs[best])
            best = i;
    return spirv_base(model, context, best);
}

/* To be called with each word behind the first of an instruction. */
static inline void spirv_learn(spirv_model *model, spirv_context *context, uint32_t length,
                               uint32_t place, uint32_t word)
{
    for (int i = 0; i < SPIRV_BASES; i++) {
        uint32_t code = spirv_zigzag(word - spirv_base(model, context, i));
        uint32_t cost = context->costs[i] + (code ? 32 - (uint32_t)__builtin_clz(code) : 0);
        context->costs[i] = (uint16_t)(cost - (cost >> 4));
    }
    context->last = word;
    /* Instructions with a type have their result id after the type; a label has it first. */
    if (length > 3 ? place == 2 : length == 2)
        model->result = word;
}

/* The number of words of a packed module, at least SPIRV_HEADER and at most size; 0 if the module
 * is damaged. size: the packed module's bytes. */
size_t vk_spirv_words(const uint32_t *packed, size_t size);

/* Unpacks as many words as vk_spirv_words returned. model: need not be zeroed. Returns false if the
 * module is damaged. */
bool vk_spirv_unpack(const uint32_t *packed, spirv_model *model, uint32_t *out);

#endif
