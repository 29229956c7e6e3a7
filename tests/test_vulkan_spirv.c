/* Packed SPIR-V (vulkan_spirv.h): every module of the library, modules that the packer leaves as
 * they are, and damaged ones. */
#include "test.h"

#include <trommel/vulkan.h>

#include "pack_spirv.h"
#include "vulkan/vulkan_parts.h"
#include "vulkan/vulkan_spirv.h"

#define MODULE(name) extern const vk_module vk_shader_##name;
#include "spirv_modules.h"
#undef MODULE
#define MODULE(name) &vk_shader_##name,
static const vk_module *const shaders[] = {
#include "spirv_modules.h"
};
enum { SHADERS = sizeof shaders / sizeof shaders[0], MODULES = 1024 };
#undef MODULE
#define ROOM(room) extern const tml_vulkan_kernel room##_own_kernels[];
#include "spirv_rooms.h"
#undef ROOM
#define ROOM(room) room##_own_kernels,
static const tml_vulkan_kernel *const rooms[] = {
#include "spirv_rooms.h"
};

/* The library's modules: shaders, and each form of its kernels. */
static size_t modules(vk_module out[MODULES])
{
    size_t count = 0;
    for (size_t i = 0; i < SHADERS; i++)
        out[count++] = *shaders[i];
    for (size_t r = 0; r < sizeof rooms / sizeof rooms[0]; r++)
        for (const tml_vulkan_kernel *k = rooms[r]; k->glsl; k++)
            for (int form = 0; form < TML_VULKAN_KERNEL_FORMS; form++)
                if (k->code[form] && count < MODULES)
                    out[count++] = (vk_module){k->glsl, k->code[form], k->size[form]};
    return count;
}

/* The module's words, in memory that is no larger; NULL: it is damaged. */
static uint32_t *unpack(const uint32_t *packed, size_t size, size_t *count)
{
    static spirv_model model;
    *count = vk_spirv_words(packed, size);
    uint32_t *words = *count ? malloc(*count * sizeof *words) : NULL;
    if (words && !vk_spirv_unpack(packed, &model, words)) {
        free(words);
        return NULL;
    }
    return words;
}

/* Is every instruction within the module, and every id that words 1 or 2 define below the bound? */
static bool is_whole(const uint32_t *words, size_t count)
{
    size_t i = SPIRV_HEADER;
    while (i < count && words[i] >> 16 >= 1)
        i += words[i] >> 16;
    return words[0] == SPIRV_MAGIC && words[3] > 1 && words[3] < count && i == count;
}

TEST(every_module_is_what_packs_to_it)
{
    static vk_module list[MODULES];
    size_t count = modules(list), packed_size = 0, plain_size = 0;
    CHECK(count > SHADERS && SHADERS > 80 && count < MODULES);
    for (size_t i = 0; i < count; i++) {
        size_t words;
        uint32_t *plain = unpack(list[i].code, list[i].size, &words);
        if (!CHECK(plain && is_whole(plain, words))) {
            free(plain);
            continue;
        }
        uint32_t *again = malloc(PACK_SPIRV_MOST(words) * sizeof *again);
        size_t size = pack_spirv(plain, words, again) * sizeof *again;
        CHECK(size == list[i].size && !memcmp(again, list[i].code, size));
        packed_size += size;
        plain_size += words * sizeof *plain;
        free(again);
        free(plain);
    }
    CHECK(packed_size < plain_size / 2);
}

/* SPIRV-Tools numbers ids in the same order. */
TEST(ids_are_those_of_spirv_opt)
{
    if (system("spirv-opt --version >/dev/null 2>&1") != 0)
        SKIP("needs spirv-opt (Debian: spirv-tools)");
    for (size_t i = 0; i < SHADERS; i++) {
        char command[1024];
        snprintf(command, sizeof command,
                 "spirv-opt --strip-debug --compact-ids \"%s/shaders/%s.spv\" -o -", TML_GENERATED,
                 shaders[i]->name);
        size_t count;
        uint32_t *ours = unpack(shaders[i]->code, shaders[i]->size, &count);
        unsigned char *theirs = ours ? malloc(4 * count + 1) : NULL;
        FILE *file = popen(command, "r");
        bool same = theirs && file && fread(theirs, 1, 4 * count + 1, file) == 4 * count;
        for (size_t w = 0; same && w < count; w++) {
            const unsigned char *b = theirs + 4 * w;
            uint32_t word = b[0] | b[1] << 8 | b[2] << 16 | (uint32_t)b[3] << 24;
            same = word == ours[w] || w == 2; /* the generator */
        }
        if (!CHECK(same))
            printf("  %s\n", shaders[i]->name);
        CHECK(file && pclose(file) == 0);
        free(theirs);
        free(ours);
    }
}

/* ---- the packer ------------------------------------------------------------------------------ */

#define OP(opcode, words) ((words) << 16 | (opcode))
#define HEAD              SPIRV_MAGIC, 0x10500, 7, 100, 0

static size_t pack_and_unpack(const uint32_t *code, size_t count, uint32_t out[64])
{
    uint32_t packed[PACK_SPIRV_MOST(64)];
    size_t size = pack_spirv(code, count, packed) * sizeof *packed;
    if (packed[0] != PACKED_SPIRV) {
        CHECK(size == count * sizeof *code && !memcmp(packed, code, size));
        return 0;
    }
    uint32_t *words = unpack(packed, size, &count);
    if (CHECK(words && count <= 64))
        memcpy(out, words, count * sizeof *words);
    free(words);
    return count;
}

TEST(ids_are_numbered_as_they_appear)
{
    static const uint32_t code[] = {
        HEAD,       OP(17, 2), 1,                                 /* OpCapability */
        OP(15, 6),  5,         90, 0x6e69616d, 0,  40,            /* OpEntryPoint "main" */
        OP(5, 3),   90,        0,                                 /* OpName */
        OP(21, 4),  70,        32, 0,                             /* OpTypeInt */
        OP(43, 4),  70,        40, 90,                            /* OpConstant 90 */
        OP(251, 7), 40,        70, 90,         8,  0xffffffff, 9, /* OpSwitch */
        OP(62, 5),  8,         40, 2,          16,                /* OpStore Aligned 16 */
        OP(56, 1)};
    static const uint32_t expected[] = {
        SPIRV_MAGIC, 0x10500,    7,  6,         0,  OP(17, 2), 1,          OP(15, 6), 5,         1,
        0x6e69616d,  0,          2,  OP(21, 4), 3,  32,        0,          OP(43, 4), 3,         2,
        90,          OP(251, 7), 2,  3,         90, 4,         0xffffffff, 5,         OP(62, 5), 4,
        2,           2,          16, OP(56, 1)};
    uint32_t out[64];
    size_t count = pack_and_unpack(code, sizeof code / sizeof code[0], out);
    CHECK_EQ_U64(count, sizeof expected / sizeof expected[0]);
    CHECK(count && !memcmp(out, expected, sizeof expected));
}

TEST(what_the_packer_does_not_know_stays_as_it_is)
{
    static const uint32_t codes[][10] = {
        {SPIRV_MAGIC, 0x10500, 7, 100},  /* no whole header */
        {OP(56, 1), 0x10500, 7, 100, 0}, /* no SPIR-V */
        {HEAD, OP(7, 3), 4, 0},          /* OpString, which debug information refers to */
        {HEAD, OP(5056, 4), 1, 2, 3},    /* OpReadClockKHR */
        {HEAD, OP(61, 5), 1, 2, 3, 16},  /* OpLoad MakePointerVisible */
        {HEAD, OP(52, 5), 1, 2, 81, 3},  /* OpSpecConstantOp OpCompositeExtract */
        {HEAD, OP(248, 2), 100},         /* an id that is not below the bound */
        {HEAD, OP(248, 3), 1},           /* an instruction that ends behind the module */
        {HEAD, OP(248, 0), 1},           /* one of no words */
    };
    static const size_t counts[] = {4, 5, 8, 9, 10, 10, 7, 7, 7};
    uint32_t out[64];
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        CHECK_EQ_U64(pack_and_unpack(codes[i], counts[i], out), 0);
    CHECK_EQ_U64(pack_and_unpack((const uint32_t[]){HEAD}, 5, out), 5); /* an empty module */
}

/* ---- damage ---------------------------------------------------------------------------------- */

TEST(damaged_modules_are_refused_or_unpack_to_as_many_words)
{
    static vk_module list[MODULES];
    size_t count = modules(list), refused = 0, tried = 0;
    uint64_t random = test_seed();
    for (size_t i = 0; i < count; i++) {
        uint32_t *copy = malloc(list[i].size);
        for (int flip = 0; flip < 16; flip++) {
            memcpy(copy, list[i].code, list[i].size);
            random = random * 6364136223846793005u + 1442695040888963407u;
            size_t word = flip < 4 ? (size_t)flip : (size_t)(random >> 32) % (list[i].size / 4);
            copy[word] ^= 1u << (random >> 59);
            size_t words;
            uint32_t *out = unpack(copy, list[i].size, &words);
            CHECK(flip >= 4 || !out); /* the header says all or nothing */
            CHECK(!out || (out[0] == SPIRV_MAGIC && words <= list[i].size));
            refused += !out;
            tried++;
            free(out);
        }
        free(copy);
        size_t words, whole = list[i].size;
        for (size_t size = 0; size < whole; size += size < 64 ? 1 : whole / 8) {
            uint32_t *part = malloc(size ? size : 1); /* not one byte may be read behind it */
            memcpy(part, list[i].code, size);
            CHECK(!unpack(part, size, &words) && !words);
            free(part);
        }
    }
    CHECK(refused > tried / 4 && refused < tried);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
