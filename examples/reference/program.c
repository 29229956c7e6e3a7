/* Programs of streams: operations that are recorded once and run often. */
#include "reference.h"

#include <trommel/kernel_begin.h>
TML_KERNEL(float, doubled, (float x), { return 2.0f * x; })
TML_KERNEL(float, sum_of, (float x, float y), { return x + y; })
TML_KERNEL(bool, is_large, (float x), { return x > 1.0f; })
TML_KERNEL(float, halved, (float x), { return 0.5f * x; })
#include <trommel/kernel_end.h>

/* Two operations with an array between them, run for two contents of a buffer. */
static void each_frame(tml_context *tml)
{
    tml_program *program;
    const tml_buffer in = buffer_of(tml, TML_F32, 3, NULL);
    const tml_buffer out = buffer_of(tml, TML_F32, 3, NULL);
    MUST(tml_program_create(tml, &program));
    const tml_buffer twice = tml_program_array(program, TML_F32, 3);
    tml_program_map(program,
                    &(tml_map_desc){.kernel = TML_USE(doubled), .in = {in}, .out = {twice}});
    tml_program_scan(program, &(tml_scan_desc){.in = twice, .inclusive = true, .out = out});
    MUST(tml_program_end(program)); /* tells of the first step that failed */
    MUST(tml_reserve(tml, SCRATCH_OF(tml, tml_program_enqueue(program, (tml_buffer){0, 0}))));

    for (int frame = 0; frame < 2; frame++) {
        const float first = (float)frame;
        float sums[3];
        MUST(tml_buffer_write(tml, in, 0, 3, (float[]){first, 1, 2}));
        MUST(tml_program_enqueue(program, (tml_buffer){0, 0}));
        MUST(tml_buffer_read(tml, out, sums));
        CHECK(sums[0] == 2 * first && sums[2] == 2 * (first + 3));
    }
    tml_program_destroy(program);
}

/* The same steps five times: 2^5 times a number that each run begins with. */
static void repeated(tml_context *tml)
{
    tml_program *program;
    float power;
    const tml_buffer value = buffer_of(tml, TML_F32, 1, NULL);
    MUST(tml_program_create(tml, &program));
    tml_program_write(program, value, &(float){3}, sizeof(float));
    tml_program_loop_begin(program, 5, (tml_buffer){0, 0});
    tml_program_step(program, TML_OPERATION_MAP, /* of tml_operation; the same as tml_program_map */
                     &(tml_map_desc){.kernel = TML_USE(doubled), .in = {value}, .out = {value}});
    tml_program_loop_end(program);
    MUST(tml_program_end(program));
    MUST(tml_program_enqueue(program, (tml_buffer){0, 0}));
    MUST(tml_buffer_read(tml, value, &power));
    CHECK(power == 96);
    tml_program_destroy(program);
}

/* Halves numbers until none is above 1. Numbers that are done leave the stream. */
static void until_empty(tml_context *tml)
{
    tml_program *program;
    const tml_buffer in = buffer_of(tml, TML_F32, 4, (float[]){1, 5, 100, 0.5f});
    const tml_buffer rounds = buffer_of(tml, TML_F32, 1, NULL); /* how many there were */
    const tml_buffer one = buffer_of(tml, TML_F32, 1, (float[]){1});
    MUST(tml_program_create(tml, &program));
    const tml_buffer numbers = tml_program_array(program, TML_F32, 4);
    const tml_buffer count = tml_program_array(program, TML_U32, 1);
    tml_program_write(program, rounds, &(float){0}, sizeof(float));
    tml_program_compact(program, &(tml_compact_desc){.keep.kernel = TML_USE(is_large),
                                                     .payloads = {{in, numbers}},
                                                     .count = count});
    tml_program_loop_begin(program, 10, count); /* 10 rounds at most */
    const tml_length length = {.count = 4, .device = count};
    tml_program_map(program, &(tml_map_desc){.kernel = TML_USE(sum_of),
                                             .in = {rounds, one},
                                             .length = {.count = 1, .device = count},
                                             .out = {rounds}});
    tml_program_map(program, &(tml_map_desc){.kernel = TML_USE(halved),
                                             .in = {numbers},
                                             .length = length,
                                             .out = {numbers}});
    tml_program_compact(program, &(tml_compact_desc){.keep.kernel = TML_USE(is_large),
                                                     .payloads = {{numbers, numbers}},
                                                     .length = length,
                                                     .count = count});
    tml_program_loop_end(program);
    MUST(tml_program_end(program));
    MUST(tml_program_enqueue(program, (tml_buffer){0, 0}));
    float were;
    MUST(tml_buffer_read(tml, rounds, &were));
    CHECK(were == 7); /* 100 / 2^7 is below 1 */
    tml_program_destroy(program);
}

int main(void)
{
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){each_frame, repeated, until_empty, NULL});
}
