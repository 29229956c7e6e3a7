/* Prints the table of floats_in_bytes.c, compared with the library's exact way. */
#include "papers_floats.h"
#include "papers_table.h"

#include "bench_data.h"
#include "bench_run.h"
#include "papers.h"

#include <stdatomic.h>
#include <stdio.h>

#include "core/simd.h"

#include "kernels/kernel.h"
#include "kernels/pack.k.h"
/* The vocabulary's short names are not used below. */
#include "kernels/kernel_end.h"

static uint32_t library_pack(float x)
{
    tml_vec4 b = pack_float(x);
    return (uint32_t)b.x | (uint32_t)b.y << 8 | (uint32_t)b.z << 16 | (uint32_t)b.w << 24;
}
static float library_unpack(uint32_t bits)
{
    return unpack_float(tml_make4((float)(bits & 255), (float)(bits >> 8 & 255),
                                  (float)(bits >> 16 & 255), (float)(bits >> 24)));
}

/* ---- counts ---------------------------------------------------------------------------------- */

enum { TASKS = 256 };

typedef struct range {
    uint32_t first, step;
    uint64_t count;
    _Atomic uint64_t packed_wrong, unpacked_wrong;
} range;

/* How many of fewer than 2^32 bit patterns the library packs or unpacks wrongly. */
ALWAYS_INLINE uint32_t packed_wrong(uint32_t bits, uint32_t step, uint32_t count)
{
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < count; i++)
        wrong += library_pack(tml_bits_float(bits + i * step)) != bits + i * step;
    return wrong;
}
ALWAYS_INLINE uint32_t unpacked_wrong(uint32_t bits, uint32_t step, uint32_t count)
{
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < count; i++)
        wrong += tml_float_bits(library_unpack(bits + i * step)) != bits + i * step;
    return wrong;
}
SIMD_INSTANTIATE(uint32_t, packed_wrong, (uint32_t bits, uint32_t step, uint32_t count),
                 return packed_wrong(bits, step, count))
SIMD_INSTANTIATE(uint32_t, unpacked_wrong, (uint32_t bits, uint32_t step, uint32_t count),
                 return unpacked_wrong(bits, step, count))
typedef uint32_t (*wrong_fn)(uint32_t bits, uint32_t step, uint32_t count);
static const wrong_fn packed_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(packed_wrong);
static const wrong_fn unpacked_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(unpacked_wrong);

static void check_task(void *argument, uint32_t task)
{
    range *r = argument;
    uint64_t begin = r->count * task / TASKS, end = r->count * (task + 1) / TASKS;
    uint32_t bits = r->first + (uint32_t)begin * r->step, count = (uint32_t)(end - begin);
    r->packed_wrong += packed_for[tml_simd_level()](bits, r->step, count);
    r->unpacked_wrong += unpacked_for[tml_simd_level()](bits, r->step, count);
}

static tml_status print_range(tml_context *tml, const char *name, uint32_t first, uint64_t length,
                              uint32_t step, bool has_library)
{
    range own = {.first = first, .step = step, .count = (length + step - 1) / step};
    papers_floats article;
    tml_status status = papers_floats_count(tml, first, step, own.count, &article);
    if (status)
        return status;
    printf("%-28s %13llu %13llu %13llu", name, (unsigned long long)own.count,
           (unsigned long long)article.packed_wrong, (unsigned long long)article.unpacked_wrong);
    if (has_library) {
        tml_parallel_for(tml, TASKS, check_task, &own);
        printf(" %13llu %13llu", (unsigned long long)own.packed_wrong,
               (unsigned long long)own.unpacked_wrong);
    }
    putchar('\n');
    return TML_OK;
}

/* ---- times ----------------------------------------------------------------------------------- */

enum { CONVERSIONS = 1 << 20 };
static uint32_t words[CONVERSIONS], converted[CONVERSIONS];

/* To the compiler, the empty statement reads memory, so the compiler cannot omit a conversion. */
#define CONVERSION(name, call)                                                                     \
    static bool name(void *user)                                                                   \
    {                                                                                              \
        (void)user;                                                                                \
        for (uint32_t i = 0; i < CONVERSIONS; i++)                                                 \
            converted[i] = call;                                                                   \
        __asm__ volatile("" : : "r"(converted) : "memory");                                        \
        return true;                                                                               \
    }
CONVERSION(article_packs, papers_floats_pack(tml_bits_float(words[i])))
CONVERSION(library_packs, library_pack(tml_bits_float(words[i])))
CONVERSION(article_unpacks, tml_float_bits(papers_floats_unpack(words[i])))
CONVERSION(library_unpacks, tml_float_bits(library_unpack(words[i])))

static tml_status print_times(tml_context *tml, uint32_t repeats)
{
    bench_job jobs[] = {{.name = "article, pack", .run = article_packs},
                        {.name = "library, pack", .run = library_packs},
                        {.name = "article, unpack", .run = article_unpacks},
                        {.name = "library, unpack", .run = library_unpacks}};
    enum { JOBS = sizeof jobs / sizeof jobs[0] };
    bench_stream_fill(tml, CONVERSIONS, words);
    for (uint32_t i = 0; i < CONVERSIONS; i++)
        words[i] = 0x3f800000u ^ (words[i] & 0x83ffffffu); /* normal floats of usual sizes */
    if (!bench_run(jobs, JOBS, &(bench_pace){.goes_on = papers_tell_row, .repeats = repeats}))
        return tml_error(tml, TML_ERROR_INTERNAL, "the conversions could not be timed");
    printf("\nnanoseconds a conversion, one thread\n");
    for (uint32_t j = 0; j < JOBS; j++)
        printf("%-28s %13.2f\n", jobs[j].name, 1e9 * jobs[j].time.median_s / CONVERSIONS);
    return TML_OK;
}

tml_status floats_print(tml_context *tml, uint32_t step, uint32_t repeats)
{
    const uint32_t normal = 0x00800000u, infinite = 0x7f800000u, minus = 0x80000000u;
    tml_device_info device;
    uint64_t near = 0;
    tml_context_describe(tml, &device);
    bool is_cpu = device.engine == TML_ENGINE_CPU;
    printf("floats in bytes, %s: wrong patterns; one in %u is tried\n\n", device.name,
           (unsigned)step);
    printf("%-28s %13s %27s %27s\n", "", "", "the article's way", is_cpu ? "the library's" : "");
    printf("%-28s %13s %13s %13s %13s %13s\n", "", "patterns", "pack", "unpack",
           is_cpu ? "pack" : "", is_cpu ? "unpack" : "");
    tml_status status =
        print_range(tml, "positive normal floats", normal, infinite - normal, step, is_cpu);
    if (!status)
        status = print_range(tml, "negative normal floats", minus + normal, infinite - normal, step,
                             is_cpu);
    if (!status)
        status = print_range(tml, "subnormal floats", 1, normal - 1, step, is_cpu);
    if (!status)
        status = print_range(tml, "0 and -0", 0, 2 * (uint64_t)minus, minus, is_cpu);
    if (!status)
        status = papers_floats_near_powers(tml, &near);
    if (!status)
        printf("%-28s %13d %13llu\n", "within 2 of a power of 2", 1268, (unsigned long long)near);
    return status || !is_cpu ? status : print_times(tml, repeats);
}
