/* Programs of streams (src/stream/program.h): what runs, where arrays lie, and what is refused, on
 * every device that there is. */
#include "test.h"

#include "contexts.h"

#include <trommel/program.h>

#include "stream/program.h"

enum { COUNT = 5000 };

static uint64_t allocations;

#include <trommel/kernel_begin.h>
TML_KERNEL(uint, number, (tml_index i), { return U(i); })
TML_KERNEL(uint, twice, (uint x), { return 2u * x; })
TML_KERNEL(uint, add, (uint x, uint y), { return x + y; })
TML_KERNEL(bool, is_even, (uint x), { return x % 2u == 0u; })
TML_KERNEL(uint, half, (uint x), { return x / 2u; })
TML_KERNEL(uint, same, (uint x), { return x; })
TML_KERNEL(bool, is_some, (uint x), { return x > 0u; })
TML_KERNEL(uint, one_more, (uint x), { return x + 1u; })
#include <trommel/kernel_end.h>

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
extern const tml_vulkan_kernel test_program_kernels[]; /* made by the build */
#endif

static void on_every_device(void (*test)(tml_context *tml))
{
    enum { DEVICES = 16 };
    tml_device_info infos[DEVICES];
    uint32_t count = tml_devices(infos, DEVICES);
    for (uint32_t d = 0; d < count && d < DEVICES; d++) {
        tml_context *tml;
        char device[16];
        snprintf(device, sizeof device, "%u", d);
        if (!CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = infos[d].engine,
                                                      .device = device,
                                                      .allocator = {counted_alloc, counted_free,
                                                                    &allocations}},
                                     &tml)))
            continue;
#ifdef TML_VULKAN
        if (tml->engine->learn)
            tml->engine->learn(tml, test_program_kernels);
#endif
        test(tml);
        tml_close(tml);
    }
}

/* out[i] = 2^rounds i, through as many arrays. */
static program doublings(tml_context *tml, uint32_t rounds, uint64_t count, tml_buffer out)
{
    program p = program_begin(tml, "doublings");
    tml_buffer from = program_array(&p, TML_U32, count);
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(number), .out = {from}});
    for (uint32_t r = 1; r < rounds; r++) {
        tml_buffer to = program_array(&p, TML_U32, count);
        program_map(&p, &(tml_map_desc){.kernel = TML_USE(twice), .in = {from}, .out = {to}});
        from = to;
    }
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(twice), .in = {from}, .out = {out}});
    return p;
}

static void check_doublings(tml_context *tml, uint32_t rounds, tml_buffer out)
{
    static uint32_t got[COUNT];
    CHECK_OK(tml, tml_buffer_read(tml, out, got));
    for (uint32_t i = 0; i < COUNT; i++)
        if (!CHECK_EQ_U64(got[i], (uint64_t)i << rounds))
            return;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static void arrays_share(tml_context *tml)
{
    tml_buffer out = buffer_of(tml, TML_U32, COUNT, NULL);
    enum { ROUNDS = 12, SIZE = (4 * COUNT + 255) / 256 * 256 };
    program p = doublings(tml, ROUNDS, COUNT, out);
    size_t size = program_scratch_size(p);
    if (tml->engine->lay) /* a step's input and output, and what maps take */
        CHECK(size >= 2 * SIZE && size < 3 * SIZE);
    else
        CHECK_EQ_U64(size, 0);
    p = doublings(tml, ROUNDS, COUNT, out);
    CHECK_OK(tml, program_run(p, (tml_buffer){0, 0}));
    check_doublings(tml, ROUNDS, out);
    CHECK_EQ_U64(tml->array_count, 0);
}
TEST(arrays_share_scratch_with_those_that_do_not_live)
{
    on_every_device(arrays_share);
}

/* An array in the middle dies, and a small and a large one look for its place. */
static void gaps_are_filled(tml_context *tml)
{
    tml_buffer out = buffer_of(tml, TML_U32, COUNT, NULL);
    for (int is_run = 0; is_run < 2; is_run++) {
        program p = program_begin(tml, "gaps");
        tml_buffer a[5];
        for (int i = 0; i < 5; i++)
            a[i] = program_array(&p, TML_U32, i == 3 ? COUNT / 2 : COUNT);
        for (int i = 0; i < 3; i++)
            program_map(&p, &(tml_map_desc){.kernel = TML_USE(number), .out = {a[i]}});
        program_map(&p, &(tml_map_desc){.kernel = TML_USE(add), .in = {a[0], a[1]}, .out = {a[0]}});
        program_map(&p, &(tml_map_desc){.kernel = TML_USE(number),
                                        .length = tml_length_of(COUNT / 2),
                                        .out = {a[3]}}); /* in place of a[1] */
        program_map(&p, &(tml_map_desc){.kernel = TML_USE(twice),
                                        .in = {a[3]},
                                        .length = tml_length_of(COUNT / 2),
                                        .out = {a[3]}});
        program_map(&p, &(tml_map_desc){.kernel = TML_USE(twice), .in = {a[2]}, .out = {a[4]}});
        program_map(&p, &(tml_map_desc){.kernel = TML_USE(add), .in = {a[0], a[4]}, .out = {out}});
        program_map(&p, &(tml_map_desc){.kernel = TML_USE(add),
                                        .in = {out, a[2]},
                                        .length = tml_length_of(COUNT / 2),
                                        .out = {out}});
        if (is_run)
            CHECK_OK(tml, program_run(p, (tml_buffer){0, 0}));
        else if (tml->engine->lay)
            CHECK(program_scratch_size(p) < 4 * 4 * COUNT); /* of 4.5, and what maps take */
        else
            CHECK_EQ_U64(program_scratch_size(p), 0);
    }
    static uint32_t got[COUNT];
    CHECK_OK(tml, tml_buffer_read(tml, out, got));
    for (uint32_t i = 0; i < COUNT; i++)
        if (!CHECK_EQ_U64(got[i], i < COUNT / 2 ? 5 * i : 4 * i))
            return;
}
TEST(gaps_between_arrays_are_filled)
{
    on_every_device(gaps_are_filled);
}

/* An operation's scratch lies in a gap that is just wide enough, also where the operation would need
 * less if two of its arrays were one: a kernel of a, and elements of b. */
static void neighbours_stay(tml_context *tml)
{
    enum { MANY = 40 * COUNT, HOLE = 1024 };
    tml_buffer out = buffer_of(tml, TML_U32, MANY, NULL),
               last = buffer_of(tml, TML_U32, MANY, NULL),
               counts = buffer_of(tml, TML_U32, 1, NULL);
    uint32_t *got = malloc(MANY * sizeof *got), kept = 0;
    const tml_method methods[] = {TML_METHOD_AUTO, TML_METHOD_LOOK_BACK};
    for (int m = 0; m < 2; m++) {
        program p = program_begin(tml, "neighbours");
        tml_buffer a[4];
        for (int i = 0; i < 4; i++) {
            a[i] = program_array(&p, TML_U32, i == 2 ? HOLE : MANY);
            program_map(&p, &(tml_map_desc){.kernel = TML_USE(number), .out = {a[i]}});
        }
        /* a[2] lives until a[3] has its place */
        program_map(&p, &(tml_map_desc){.kernel = TML_USE(twice), .in = {a[2]}, .out = {a[2]}});
        program_compact(&p, &(tml_compact_desc){.keep = {.kernel = TML_USE(is_even), .in = {a[0]}},
                                                .payloads = {{a[1], out}},
                                                .method = methods[m],
                                                .count = counts});
        program_map(&p, &(tml_map_desc){.kernel = TML_USE(twice), .in = {a[3]}, .out = {last}});
        const tml_status status = program_run(p, (tml_buffer){0, 0});
        if (status == TML_ERROR_UNSUPPORTED && m > 0)
            continue;
        CHECK_OK(tml, status);
        CHECK_OK(tml, tml_buffer_read(tml, counts, &kept));
        CHECK_EQ_U64(kept, MANY / 2);
        CHECK_OK(tml, tml_buffer_read(tml, out, got));
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < kept; i++)
            wrong += got[i] != 2 * i;
        CHECK_EQ_U64(wrong, 0);
        CHECK_OK(tml, tml_buffer_read(tml, last, got));
        for (uint32_t i = 0; i < MANY; i++)
            wrong += got[i] != 2 * i;
        CHECK_EQ_U64(wrong, 0);
    }
    free(got);
}
TEST(an_operation_leaves_its_neighbours_in_scratch)
{
    on_every_device(neighbours_stay);
}

static void scratch_of_the_caller(tml_context *tml)
{
    tml_buffer out = buffer_of(tml, TML_U32, COUNT, NULL);
    program p = doublings(tml, 3, COUNT, out);
    size_t size = program_scratch_size(p);
    if (size == 0)
        return;
    tml_buffer scratch = buffer_of(tml, TML_U8, size, NULL);
    tml_buffer small = buffer_of(tml, TML_U8, size / 2, NULL);
    uint32_t read[COUNT];
    p = doublings(tml, 3, COUNT, out);
    CHECK_EQ_U64(program_run(p, small), TML_ERROR_SCRATCH_TOO_SMALL);
    p = doublings(tml, 3, COUNT, out);
    CHECK_OK(tml, program_run(p, scratch));
    check_doublings(tml, 3, out);
    p = program_begin(tml, "read");
    tml_buffer array = program_array(&p, TML_U32, COUNT);
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(number), .out = {array}});
    program_read(&p, array, read);
    CHECK_OK(tml, program_run(p, scratch));
    CHECK_EQ_U64(read[COUNT - 1], COUNT - 1);
    CHECK_EQ_U64(test_reserved(tml), 0);
}
TEST(programs_run_in_scratch_of_the_caller)
{
    on_every_device(scratch_of_the_caller);
}

static void steady_state(tml_context *tml)
{
    tml_buffer out = buffer_of(tml, TML_U32, COUNT, NULL);
    uint64_t before = 0;
    for (int i = 0; i < 6; i++) {
        before = i == 3 ? allocations : before;
        program p = doublings(tml, 100, COUNT, out);
        CHECK_OK(tml, program_enqueue(p, (tml_buffer){0, 0}));
        CHECK_OK(tml, tml_sync(tml));
    }
    if (tml->engine->lay)
        CHECK_EQ_U64(allocations - before, 0);
}
TEST(the_steady_state_allocates_nothing)
{
    on_every_device(steady_state);
}

/* ---- failures -------------------------------------------------------------------------------- */

static void first_failure_stays(tml_context *tml)
{
    static const uint32_t zeros[COUNT];
    static uint32_t got[COUNT];
    tml_buffer out = buffer_of(tml, TML_U32, COUNT, zeros), none = {0, 0};
    program p = program_begin(tml, "failing");
    tml_buffer array = program_array(&p, TML_U32, COUNT);
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(one_more), .in = {out}, .out = {out}});
    program_scan(&p, &(tml_scan_desc){.in = array, .out = none});
    CHECK_EQ_U64(p.status, TML_ERROR_INVALID_HANDLE);
    program_map(&p, &(tml_map_desc){0});
    program_sort(&p, &(tml_sort_desc){.keys = none});
    CHECK_EQ_U64(program_run(p, none), TML_ERROR_INVALID_HANDLE);
    CHECK(strstr(tml_last_error(tml), "tml_scan: desc.out") != NULL);
    CHECK_OK(tml, tml_buffer_read(tml, out, got));
    CHECK_EQ_U64(got[7], 0);
    /* An array is no buffer any more. */
    CHECK_EQ_U64(tml_scan(tml, &(tml_scan_desc){.in = array, .out = out}),
                 TML_ERROR_INVALID_HANDLE);
    p = program_begin(tml, "other");
    CHECK(program_array(&p, TML_U32, COUNT).generation != array.generation);
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(twice), .in = {array}, .out = {out}});
    CHECK_EQ_U64(program_run(p, none), TML_ERROR_INVALID_HANDLE);
    CHECK_EQ_U64(tml->array_count, 0);
}
TEST(the_first_failure_stays)
{
    on_every_device(first_failure_stays);
}

static tml_status fails(program *p, void *user)
{
    (void)user;
    return tml_error(p->tml, TML_ERROR_CANCELLED, "the host's step fails");
}

static tml_status sorts(program *p, void *user)
{
    const tml_buffer *buffer = user;
    return tml_sort(p->tml, &(tml_sort_desc){.keys = *buffer, .sorted = *buffer});
}

static void steps_on_the_host_fail(tml_context *tml)
{
    tml_buffer out = buffer_of(tml, TML_U32, COUNT, NULL);
    program p = doublings(tml, 2, COUNT, out);
    program_host(&p, &(program_host_desc){.run = fails});
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(number), .out = {out}});
    CHECK_EQ_U64(program_run(p, (tml_buffer){0, 0}), TML_ERROR_CANCELLED);
    check_doublings(tml, 2, out);
    if (!tml->engine->lay)
        return;
    p = doublings(tml, 2, COUNT, out);
    program_host(&p, &(program_host_desc){.run = sorts, .user = &out});
    CHECK_EQ_U64(program_run(p, (tml_buffer){0, 0}), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "takes the arena") != NULL);
}
TEST(steps_on_the_host_fail_and_do_not_take_the_arena)
{
    on_every_device(steps_on_the_host_fail);
}

/* ---- steps on the host ----------------------------------------------------------------------- */

typedef struct halt {
    tml_buffer array;
    uint32_t seen;
    bool stops;
} halt;

static tml_status look(program *p, void *user)
{
    halt *h = user;
    if (h->stops)
        program_stop(p);
    return tml_buffer_read_range(p->tml, h->array, 7, 1, &h->seen);
}

static program with_a_host(tml_context *tml, halt *h, tml_buffer out)
{
    const uint32_t words[3] = {30, 40, 50};
    program p = program_begin(tml, "with a host");
    h->array = program_array(&p, TML_U32, COUNT);
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(number), .out = {h->array}});
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(twice), .in = {h->array}, .out = {h->array}});
    program_put(&p, h->array, words, sizeof words);
    program_host(&p, &(program_host_desc){.run = look, .user = h, .uses = {h->array}});
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(one_more), .in = {h->array}, .out = {out}});
    return p;
}

static void host_steps(tml_context *tml)
{
    static const uint32_t zeros[COUNT];
    static uint32_t got[COUNT];
    tml_buffer out = buffer_of(tml, TML_U32, COUNT, zeros), none = {0, 0};
    halt h = {.stops = true};
    program p = with_a_host(tml, &h, out);
    CHECK_OK(tml, program_run(p, none));
    CHECK_EQ_U64(h.seen, 14);
    CHECK_OK(tml, tml_buffer_read(tml, out, got));
    CHECK_EQ_U64(got[7], 0);
    h = (halt){.stops = false};
    p = with_a_host(tml, &h, out);
    CHECK_EQ_U64(program_enqueue(p, none), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "with a host: has a step on the host") != NULL);
    CHECK_EQ_U64(h.seen, 0);
    p = with_a_host(tml, &h, out);
    CHECK_OK(tml, program_run(p, none));
    CHECK_OK(tml, tml_buffer_read(tml, out, got));
    CHECK(got[0] == 31 && got[1] == 41 && got[2] == 51 && got[3] == 7 && got[7] == 15);
}
TEST(steps_on_the_host_see_arrays_and_may_stop)
{
    on_every_device(host_steps);
}

/* ---- calls that are programs ----------------------------------------------------------------- */

static void parts(tml_context *tml)
{
    uint32_t values[10], got = 0;
    tml_buffer best = buffer_of(tml, TML_U32, 10, NULL), count = buffer_of(tml, TML_U32, 1, NULL);
    program p = program_begin(tml, "parts");
    tml_buffer keys = program_array(&p, TML_U32, COUNT);
    tml_buffer other = program_array(&p, TML_U32, COUNT);
    tml_buffer moved = program_array(&p, TML_U32, 10);
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(number), .out = {keys}});
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(twice), .in = {keys}, .out = {other}});
    program_top_k(&p, &(tml_top_k_desc){.keys = keys, .payloads = {{other, moved}}});
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(half), .in = {moved}, .out = {best}});
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(half), .in = {keys}, .out = {keys}});
    tml_buffer starts = program_array(&p, TML_U32, COUNT);
    tml_buffer sums = program_array(&p, TML_U64, COUNT);
    program_unique(&p, &(tml_unique_desc){.in = keys, .starts = starts, .count = count});
    program_reduce(&p, &(tml_reduce_desc){.in = other,
                                          .folds = {{TML_FOLD_SUM, sums}},
                                          .segments = {.starts = starts, .count.device = count}});
    uint64_t sum[COUNT];
    program_read(&p, sums, sum);
    CHECK_OK(tml, program_run(p, (tml_buffer){0, 0}));
    CHECK_OK(tml, tml_buffer_read(tml, best, values));
    CHECK_OK(tml, tml_buffer_read(tml, count, &got));
    for (uint32_t i = 0; i < 10; i++)
        CHECK_EQ_U64(values[i], COUNT - 1 - i);
    CHECK_EQ_U64(got, COUNT / 2);
    CHECK_EQ_U64(sum[100], 2 * (200 + 201));
    CHECK(tml->recorder == NULL);
}
TEST(calls_that_are_programs_are_parts)
{
    on_every_device(parts);
}

/* ---- loops ----------------------------------------------------------------------------------- */

static void repeats(tml_context *tml)
{
    for (uint32_t times = 0; times < 5; times++) {
        uint32_t got[COUNT];
        program p = program_begin(tml, "repeats");
        tml_buffer a = program_array(&p, TML_U32, COUNT), b = program_array(&p, TML_U32, COUNT);
        tml_buffer last = program_array(&p, TML_U32, COUNT);
        program_map(&p, &(tml_map_desc){.kernel = TML_USE(number), .out = {a}});
        program_loop_begin(&p, times, (tml_buffer){0, 0}, NULL);
        program_map(&p, &(tml_map_desc){.kernel = TML_USE(twice), .in = {a}, .out = {b}});
        program_map(&p, &(tml_map_desc){.kernel = TML_USE(one_more), .in = {b}, .out = {a}});
        program_loop_end(&p);
        program_map(&p, &(tml_map_desc){.kernel = TML_USE(one_more), .in = {a}, .out = {last}});
        program_read(&p, last, got);
        CHECK_OK(tml, program_run(p, (tml_buffer){0, 0}));
        for (uint32_t i = 0; i < COUNT; i += 499)
            CHECK_EQ_U64(got[i], ((uint64_t)i << times) + (1u << times));
    }
}
TEST(loops_repeat)
{
    on_every_device(repeats);
}

/* Halves even numbers and drops odd ones, until none is left. In all, 2^k i makes k + 1 rounds. */
static void until_empty(tml_context *tml)
{
    static const uint32_t mosts[] = {0, 1, 3, 20};
    static const uint32_t start[] = {4096, 3, 8, 5, 2, 96};
    for (size_t m = 0; m < TML_ARRAY_SIZE(mosts); m++) {
        uint32_t left = 0, rounds = 0, zero = 0, is_begun = 6;
        tml_buffer count = buffer_of(tml, TML_U32, 1, &is_begun);
        tml_buffer round = buffer_of(tml, TML_U32, 1, &zero);
        tml_buffer from = buffer_of(tml, TML_U32, 6, start);
        const tml_length length = {.count = 6, .device = count};
        program p = program_begin(tml, "until empty");
        tml_buffer stream = program_array(&p, TML_U32, 6), kept = program_array(&p, TML_U32, 6);
        program_map(&p, &(tml_map_desc){.kernel = TML_USE(half), .in = {from}, .out = {stream}});
        program_map(
            &p, &(tml_map_desc){.kernel = TML_USE(add), .in = {stream, stream}, .out = {stream}});
        program_loop_begin(&p, mosts[m], count, NULL);
        program_map(&p, &(tml_map_desc){.kernel = TML_USE(one_more),
                                        .in = {round},
                                        .length = {.count = 1, .device = count},
                                        .out = {round}});
        program_compact(&p,
                        &(tml_compact_desc){.keep = {.kernel = TML_USE(is_even), .in = {stream}},
                                            .payloads = {{stream, kept}},
                                            .length = length,
                                            .count = count});
        program_map(&p,
                    &(tml_map_desc){
                        .kernel = TML_USE(half), .in = {kept}, .length = length, .out = {stream}});
        program_loop_end(&p);
        CHECK_OK(tml, program_enqueue(p, (tml_buffer){0, 0}));
        CHECK_OK(tml, tml_buffer_read(tml, count, &left));
        CHECK_OK(tml, tml_buffer_read(tml, round, &rounds));
        /* Evens are 4096, 2, 8, 4, 2, 96 after the rounding: 12, 1, 3, 2, 1 and 5 times. */
        static const uint32_t lefts[] = {6, 6, 3, 0}, all[] = {0, 1, 3, 13};
        CHECK_EQ_U64(left, lefts[m]);
        CHECK_EQ_U64(rounds, all[m]);
        tml_buffer_destroy(tml, count);
    }
}
TEST(loops_end_with_their_stream)
{
    on_every_device(until_empty);
}

static bool stops_at_half(void *user, const char *stage, double fraction)
{
    *(int *)user += strcmp(stage, "turns") == 0;
    return fraction < 0.5;
}

TEST(loops_report_and_are_cancelled)
{
    int calls = 0;
    uint32_t got = 0;
    tml_context *tml;
    if (!CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU,
                                                  .progress = stops_at_half,
                                                  .progress_user = &calls},
                                 &tml)))
        return;
    tml_buffer out = buffer_of(tml, TML_U32, 1, &got);
    program p = program_begin(tml, "cancelled");
    program_loop_begin(&p, 10, (tml_buffer){0, 0}, "turns");
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(one_more), .in = {out}, .out = {out}});
    program_loop_end(&p);
    CHECK_EQ_U64(program_run(p, (tml_buffer){0, 0}), TML_ERROR_CANCELLED);
    CHECK_OK(tml, tml_buffer_read(tml, out, &got));
    CHECK_EQ_U64(got, 5);
    CHECK_EQ_U64((uint64_t)calls, 5);
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}

/* ---- programs of users (trommel/program.h) --------------------------------------------------- */

/* Either records an operation or runs it at once. */
#define RUN(name, ...) RUN_OF(name, tml_##name##_desc, __VA_ARGS__)
#define RUN_OF(name, type, ...)                                                                    \
    (p ? (tml_program_##name(p, &(type){__VA_ARGS__}), TML_OK)                                     \
       : tml_##name(tml, &(type){__VA_ARGS__}))

enum { OPERATIONS = 16, FEW = 100 };

/* Every operation of stream.h, from in to out. in: u32, few values. */
static void run_all(tml_context *tml, tml_program *p, tml_buffer in, tml_buffer offsets,
                    const tml_buffer out[OPERATIONS], tml_buffer counts, tml_buffer indices)
{
    const tml_length length = tml_length_of(COUNT);
    const tml_status status[OPERATIONS] = {
        RUN(map, .kernel = TML_USE(twice), .in = {in}, .out = {out[0]}),
        RUN(reduce, .in = in, .folds = {{TML_FOLD_SUM, counts}}),
        RUN(histogram, .in = {in}, .bins = FEW, .out = out[2]),
        RUN(scan, .in = in, .out = out[3]),
        RUN(compact, .keep.kernel = TML_USE(is_even), .payloads = {{in, out[4]}}),
        RUN(compact, .keep.kernel = TML_USE(is_even), .payloads = {{in, out[5]}},
            .partition = true),
        RUN(sort, .keys = in, .sorted = out[6], .indices = indices),
        RUN(top_k, .keys = in, .k = tml_length_of(FEW), .values = out[7]),
        RUN(gather, .indices = indices, .payloads = {{in, out[8]}}),
        RUN_OF(scatter, tml_gather_desc, .indices = indices, .payloads = {{in, out[9]}}),
        RUN(search, .sorted = out[6], .queries = in, .out = out[10]),
        RUN(expand, .counts = offsets, .length = tml_length_of(FEW / 10), .source = out[11]),
        RUN(unique, .in = out[6], .length = length, .values = out[12], .starts = out[14],
            .count = counts),
        RUN(reduce, .in = in, .segments.offsets = offsets, .folds = {{TML_FOLD_MAX, out[13]}}),
        RUN(reduce, .in = in, .folds = {{TML_FOLD_MIN, out[1]}},
            .segments = {.starts = out[14], .count.device = counts}),
        RUN(scan, .in = in, .segments.offsets = offsets, .out = out[15]),
    };
    for (int i = 0; i < OPERATIONS; i++)
        CHECK_OK(tml, status[i]);
}

/* Elements of an output of run_all. */
static uint64_t count_of(int output)
{
    return output == 2 ? FEW : output == 13 ? FEW - 1 : COUNT;
}

static void every_operation_is_a_step(tml_context *tml)
{
    static uint32_t values[COUNT], got[2][OPERATIONS][COUNT], offsets_of[FEW];
    uint64_t sums[2];
    tml_buffer out[2][OPERATIONS], counts[2], indices;
    for (int i = 0; i < FEW; i++)
        offsets_of[i] = (uint32_t)(7 * i);
    tml_buffer in = buffer_of(tml, TML_U32, COUNT, NULL),
               offsets = buffer_of(tml, TML_U32, FEW, offsets_of);
    indices = buffer_of(tml, TML_U32, COUNT, NULL);
    for (int side = 0; side < 2; side++) {
        counts[side] = buffer_of(tml, TML_U64, 1, NULL);
        for (int i = 0; i < OPERATIONS; i++)
            out[side][i] = buffer_of(tml, TML_U32, count_of(i), NULL);
    }
    tml_program *p;
    if (!CHECK_OK(tml, tml_program_create(tml, &p)))
        return;
    run_all(tml, p, in, offsets, out[0], counts[0], indices);
    CHECK_OK(tml, tml_program_end(p));
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < COUNT; i++)
            values[i] = (i * 2654435761u + round) % FEW;
        CHECK_OK(tml, tml_buffer_write(tml, in, 0, COUNT, values));
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < OPERATIONS; i++) {
                memset(got[side][i], 0, sizeof got[side][i]);
                CHECK_OK(tml, tml_buffer_write(tml, out[side][i], 0, count_of(i), got[side][i]));
            }
        CHECK_OK(tml, tml_program_enqueue(p, (tml_buffer){0, 0}));
        run_all(tml, NULL, in, offsets, out[1], counts[1], indices);
        for (int side = 0; side < 2; side++) {
            CHECK_OK(tml, tml_buffer_read(tml, counts[side], &sums[side]));
            for (int i = 0; i < OPERATIONS; i++)
                CHECK_OK(tml, tml_buffer_read(tml, out[side][i], got[side][i]));
        }
        CHECK_EQ_U64(sums[0], sums[1]);
        for (int i = 0; i < OPERATIONS; i++)
            if (!CHECK(memcmp(got[0][i], got[1][i], sizeof got[0][i]) == 0))
                printf("    operation %d, round %u\n", i, round);
        CHECK_EQ_U64(got[0][0][5], 2 * values[5]);
    }
    tml_program_destroy(p);
    CHECK_EQ_U64(tml->array_count, 0);
}
TEST(every_operation_is_a_step)
{
    on_every_device(every_operation_is_a_step);
}

/* For run_all: outputs, counts, in, offsets, indices. */
static tml_buffer some_buffer(tml_context *tml, int number)
{
    switch (number - OPERATIONS) {
    case 0:
        return buffer_of(tml, TML_U64, 1, NULL);
    case 2:
        return buffer_of(tml, TML_U32, FEW, NULL);
    default:
        return buffer_of(tml, TML_U32, number < OPERATIONS ? count_of(number) : COUNT, NULL);
    }
}

/* A program whose buffer is gone is refused, whichever of them it is. */
static void every_buffer_is_named(tml_context *tml)
{
    enum { BUFFERS = OPERATIONS + 4 };
    tml_buffer buffers[BUFFERS];
    for (int i = 0; i < BUFFERS; i++)
        buffers[i] = some_buffer(tml, i);
    for (int i = 0; i < BUFFERS; i++) {
        tml_program *p;
        if (!CHECK_OK(tml, tml_program_create(tml, &p)))
            return;
        tml_buffer *rest = &buffers[OPERATIONS];
        run_all(tml, p, rest[1], rest[2], buffers, rest[0], rest[3]);
        CHECK_OK(tml, tml_program_end(p));
        tml_buffer_destroy(tml, buffers[i]);
        if (!CHECK_EQ_U64(tml_program_enqueue(p, (tml_buffer){0, 0}), TML_ERROR_INVALID_HANDLE))
            printf("    buffer %d\n", i);
        buffers[i] = some_buffer(tml, i);
        CHECK_EQ_U64(tml_program_enqueue(p, (tml_buffer){0, 0}), TML_ERROR_INVALID_HANDLE);
        tml_program_destroy(p);
    }
}
TEST(programs_name_each_buffer_of_their_steps)
{
    on_every_device(every_buffer_is_named);
}

/* out[i] = 2^rounds in[i], in a loop over one array. */
static tml_program *public_doublings(tml_context *tml, uint32_t rounds, tml_buffer in,
                                     tml_buffer out)
{
    tml_program *p;
    if (!CHECK_OK(tml, tml_program_create(tml, &p)))
        return NULL;
    tml_buffer array = tml_program_array(p, TML_U32, COUNT);
    tml_program_map(p, &(tml_map_desc){.kernel = TML_USE(twice), .in = {in}, .out = {array}});
    tml_program_loop_begin(p, rounds - 2, (tml_buffer){0, 0});
    tml_program_map(p, &(tml_map_desc){.kernel = TML_USE(twice), .in = {array}, .out = {array}});
    tml_program_loop_end(p);
    tml_program_map(p, &(tml_map_desc){.kernel = TML_USE(twice), .in = {array}, .out = {out}});
    CHECK_OK(tml, tml_program_end(p));
    return p;
}

/* Programs that are there at one time, run in turns and are destroyed in another order. */
static void programs_in_turns(tml_context *tml)
{
    enum { PROGRAMS = 3 };
    static uint32_t numbers[COUNT];
    uint32_t least;
    for (uint32_t i = 0; i < COUNT; i++)
        numbers[i] = i;
    tml_buffer in = buffer_of(tml, TML_U32, COUNT, numbers),
               out = buffer_of(tml, TML_U32, COUNT, NULL);
    /* one whose step has arrays of its own */
    tml_buffer best = buffer_of(tml, TML_U32, FEW, NULL);
    tml_program *top, *p[PROGRAMS];
    CHECK_OK(tml, tml_program_create(tml, &top));
    tml_program_top_k(top, &(tml_top_k_desc){.keys = in, .values = best});
    CHECK_OK(tml, tml_program_end(top));
    for (uint32_t i = 0; i < PROGRAMS; i++)
        p[i] = public_doublings(tml, 3 + i, in, out);
    for (uint32_t turn = 0; turn < 3 * PROGRAMS; turn++) {
        const uint32_t i = turn * 2 % PROGRAMS;
        CHECK_OK(tml, tml_program_enqueue(p[i], (tml_buffer){0, 0}));
        check_doublings(tml, 3 + i, out);
        CHECK_OK(tml, tml_program_enqueue(top, (tml_buffer){0, 0}));
        CHECK_OK(tml, tml_buffer_read_range(tml, best, FEW - 1, 1, &least));
        CHECK_EQ_U64(least, COUNT - FEW);
        /* a program of the library, above their arrays */
        CHECK_OK(tml, program_run(doublings(tml, 2, COUNT, out), (tml_buffer){0, 0}));
        check_doublings(tml, 2, out);
    }
    tml_program_destroy(p[1]);
    CHECK_OK(tml, tml_program_enqueue(p[2], (tml_buffer){0, 0}));
    check_doublings(tml, 5, out);
    tml_program_destroy(p[2]);
    p[1] = public_doublings(tml, 7, in, out);
    CHECK_OK(tml, tml_program_enqueue(p[0], (tml_buffer){0, 0}));
    check_doublings(tml, 3, out);
    tml_program_destroy(p[0]);
    tml_program_destroy(top);
    CHECK_OK(tml, tml_program_enqueue(p[1], (tml_buffer){0, 0}));
    check_doublings(tml, 7, out);
    tml_program_destroy(p[1]);
    tml_program_destroy(NULL);
    CHECK_EQ_U64(tml->array_count, 0);
}
TEST(programs_of_users_run_in_turns)
{
    on_every_device(programs_in_turns);
}

static void public_steady_state(tml_context *tml)
{
    tml_buffer in = buffer_of(tml, TML_U32, COUNT, NULL),
               out = buffer_of(tml, TML_U32, COUNT, NULL), none = {0, 0};
    tml_program *p = public_doublings(tml, 4, in, out);
    const size_t size = SCRATCH_OF(tml, tml_program_enqueue(p, (tml_buffer){0, 0}));
    CHECK(tml->engine->lay ? size >= 4 * COUNT : size == 0);
    CHECK_OK(tml, tml_reserve(tml, size));
    CHECK_OK(tml, tml_program_enqueue(p, none));
    CHECK_OK(tml, tml_sync(tml));
    const uint64_t before = allocations;
    for (int i = 0; i < 3; i++)
        CHECK_OK(tml, tml_program_enqueue(p, none));
    CHECK_OK(tml, tml_sync(tml));
    if (tml->engine->lay)
        CHECK_EQ_U64(allocations - before, 0);
    if (size > 0) {
        tml_buffer scratch = buffer_of(tml, TML_U8, size, NULL),
                   small = buffer_of(tml, TML_U8, size / 2, NULL);
        CHECK_OK(tml, tml_program_enqueue(p, scratch));
        CHECK_EQ_U64(tml_program_enqueue(p, small), TML_ERROR_SCRATCH_TOO_SMALL);
        CHECK(strstr(tml_last_error(tml), "tml_prepare_end") != NULL);
    }
    CHECK_OK(tml, tml_program_enqueue(p, none));
    tml_program_destroy(p);
}
TEST(programs_of_users_allocate_nothing_in_their_steady_state)
{
    on_every_device(public_steady_state);
}

/* Between tml_prepare_begin and tml_prepare_end nothing runs, and the scratch that is reported is
 * what the calls use afterwards. */
static void prepared_frames(tml_context *tml)
{
    uint32_t data[COUNT], got[COUNT], first = 7;
    for (uint32_t i = 0; i < COUNT; i++)
        data[i] = COUNT - i;
    tml_buffer in = buffer_of(tml, TML_U32, COUNT, data),
               out = buffer_of(tml, TML_U32, COUNT, data),
               count = buffer_of(tml, TML_U32, 1, &first), small = buffer_of(tml, TML_U8, 1, NULL);
    tml_program *p = public_doublings(tml, 4, in, out);
    tml_prepared prepared = {.programs_left = 1}, sorts = prepared;
    tml_sort_desc sort = {.keys = in, .sorted = in};
    CHECK_EQ_U64(tml_prepare_end(tml, &sorts), TML_ERROR_INVALID_ARGUMENT);
    for (int turn = 0; turn < 1000 && prepared.programs_left > 0; turn++) {
        CHECK_OK(tml, tml_prepare_begin(tml));
        CHECK_EQ_U64(tml_prepare_begin(tml), TML_ERROR_INVALID_ARGUMENT);
        sort.scratch = small; /* too small, which is no error here */
        CHECK_OK(tml, tml_sort(tml, &sort));
        CHECK_OK(tml, tml_program_enqueue(p, (tml_buffer){0, 0}));
        CHECK_OK(tml, tml_compact(tml, &(tml_compact_desc){.keep.kernel = TML_USE(is_even),
                                                           .keep.in = {in},
                                                           .payloads = {{in, out}},
                                                           .count = count}));
        CHECK_EQ_U64(tml_sort(tml, &(tml_sort_desc){.keys = {9999, 1}, .sorted = in}),
                     TML_ERROR_INVALID_HANDLE);
        CHECK_EQ_U64(tml_buffer_read(tml, out, got), TML_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(tml_last_error(tml), "tml_prepare_end") != NULL);
        CHECK_EQ_U64(tml_buffer_write(tml, out, 0, 1, got), TML_ERROR_INVALID_ARGUMENT);
        CHECK_EQ_U64(tml_sync(tml), TML_ERROR_INVALID_ARGUMENT);
        CHECK_OK(tml, tml_prepare_end(tml, &prepared));
    }
    CHECK_EQ_U64(prepared.programs_left, 0);
    CHECK_OK(tml, tml_prepare_begin(tml));
    CHECK_OK(tml, tml_sort(tml, &sort));
    CHECK_OK(tml, tml_prepare_end(tml, &sorts));
    CHECK(sorts.scratch_size <= prepared.scratch_size);
    CHECK_EQ_U64(test_reserved(tml), 0);
    CHECK_OK(tml, tml_buffer_read(tml, in, got));
    CHECK(memcmp(got, data, sizeof data) == 0);
    CHECK_OK(tml, tml_buffer_read(tml, out, got));
    CHECK(memcmp(got, data, sizeof data) == 0);
    CHECK_OK(tml, tml_buffer_read(tml, count, got));
    CHECK_EQ_U64(got[0], first);
    CHECK_OK(tml, tml_reserve(tml, prepared.scratch_size));
    const size_t reserved = test_reserved(tml);
    sort.scratch = (tml_buffer){0, 0};
    CHECK_OK(tml, tml_sort(tml, &sort));
    CHECK_OK(tml, tml_program_enqueue(p, (tml_buffer){0, 0}));
    CHECK_OK(tml, tml_buffer_read(tml, in, got));
    CHECK(got[0] == 1 && got[COUNT - 1] == COUNT);
    CHECK_EQ_U64(test_reserved(tml), reserved);
    tml_program_destroy(p);
}
TEST(what_is_prepared_does_not_run)
{
    on_every_device(prepared_frames);
}

/* A stream that shrinks to nothing, with a counter that a step sets each time. */
static void public_until_empty(tml_context *tml)
{
    enum { FIRST = 1000, MOST = 24 };
    const uint32_t first = FIRST;
    uint32_t got[2] = {0, 0};
    tml_buffer rounds = buffer_of(tml, TML_U32, 1, NULL), none = {0, 0};
    tml_program *p;
    if (!CHECK_OK(tml, tml_program_create(tml, &p)))
        return;
    tml_buffer values = tml_program_array(p, TML_U32, FIRST), next[2] = {none, none},
               count = tml_program_array(p, TML_U32, 1);
    next[0] = tml_program_array(p, TML_U32, FIRST);
    tml_program_map(p, &(tml_map_desc){.kernel = TML_USE(number),
                                       .length = tml_length_of(FIRST),
                                       .out = {values}});
    tml_program_write(p, count, &first, sizeof first);
    tml_program_write(p, rounds, &(uint32_t){0}, sizeof(uint32_t));
    tml_program_loop_begin(p, MOST, count);
    const tml_length length = {.count = FIRST, .device = count};
    tml_program_map(p, &(tml_map_desc){.kernel = TML_USE(one_more),
                                       .in = {rounds},
                                       .length = {.count = 1, .device = count},
                                       .out = {rounds}});
    tml_program_compact(p, &(tml_compact_desc){.keep.kernel = TML_USE(is_even),
                                               .payloads = {{values, next[0]}},
                                               .length = length,
                                               .count = count});
    tml_program_map(
        p, &(tml_map_desc){
               .kernel = TML_USE(half), .in = {next[0]}, .length = length, .out = {values}});
    tml_program_compact(p, &(tml_compact_desc){.keep.kernel = TML_USE(is_some),
                                               .payloads = {{values, next[0]}},
                                               .length = length,
                                               .count = count});
    tml_program_map(
        p, &(tml_map_desc){
               .kernel = TML_USE(same), .in = {next[0]}, .length = length, .out = {values}});
    tml_program_loop_end(p);
    CHECK_OK(tml, tml_program_end(p));
    uint32_t model[FIRST], left = FIRST, wanted = 0;
    for (uint32_t i = 0; i < FIRST; i++)
        model[i] = i;
    for (; left > 0 && wanted < MOST; wanted++) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < left; i++)
            if (model[i] % 2 == 0 && model[i] / 2 > 0)
                model[kept++] = model[i] / 2;
        left = kept;
    }
    CHECK(wanted > 5 && wanted < MOST);
    for (int run = 0; run < 2; run++) {
        CHECK_OK(tml, tml_program_enqueue(p, none));
        CHECK_OK(tml, tml_buffer_read(tml, rounds, got));
        CHECK_EQ_U64(got[0], wanted);
    }
    tml_program_destroy(p);
}
TEST(programs_of_users_repeat_until_a_stream_is_empty)
{
    on_every_device(public_until_empty);
}

/* Ends a program that must fail, with this status and these words. */
static void ends_with(tml_context *tml, tml_program *p, tml_status status, const char *words)
{
    tml_buffer other = buffer_of(tml, TML_U32, 1, NULL);
    CHECK_OK(tml, tml_scan(tml, &(tml_scan_desc){.in = other, .out = other}));
    CHECK_EQ_U64(tml_program_end(p), status);
    if (!CHECK(strstr(tml_last_error(tml), words) != NULL))
        printf("    %s\n", tml_last_error(tml));
    CHECK_EQ_U64(SCRATCH_OF(tml, tml_program_enqueue(p, (tml_buffer){0, 0})), 0);
    CHECK_EQ_U64(tml_program_enqueue(p, (tml_buffer){0, 0}), status);
    CHECK(strstr(tml_last_error(tml), words) != NULL);
    tml_program_destroy(p);
}

static tml_program *begun(tml_context *tml)
{
    tml_program *p = NULL;
    CHECK_OK(tml, tml_program_create(tml, &p));
    return p;
}

static void public_failures(tml_context *tml)
{
    tml_buffer out = buffer_of(tml, TML_U32, COUNT, NULL), none = {0, 0},
               gone = buffer_of(tml, TML_U32, 1, NULL);
    tml_buffer_destroy(tml, gone);
    const tml_map_desc good = {.kernel = TML_USE(number), .out = {out}};
    tml_program *p = begun(tml), *second;
    /* The first failure stays. */
    tml_program_map(p, &good);
    tml_program_scan(p, &(tml_scan_desc){.in = out, .out = none});
    tml_program_sort(p, &(tml_sort_desc){.keys = none});
    CHECK_EQ_U64(tml_program_array(p, TML_U32, 5).slot, 0);
    ends_with(tml, p, TML_ERROR_INVALID_HANDLE, "tml_scan: desc.out");
    /* What is missing or out of order. */
    p = begun(tml);
    CHECK_EQ_U64(tml_program_create(tml, &second), TML_ERROR_INVALID_ARGUMENT);
    CHECK(second == NULL);
    CHECK_EQ_U64(tml_program_enqueue(p, none), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "still being recorded") != NULL);
    tml_program_step(p, TML_OPERATION_MAP, NULL);
    ends_with(tml, p, TML_ERROR_INVALID_ARGUMENT, "a step is missing");
    p = begun(tml);
    tml_program_step(p, (tml_operation)99, &good);
    ends_with(tml, p, TML_ERROR_INVALID_ARGUMENT, "operation is 99");
    p = begun(tml);
    tml_program_loop_begin(p, 2, none);
    tml_program_loop_begin(p, 2, out);
    ends_with(tml, p, TML_ERROR_INVALID_ARGUMENT, "do not nest");
    p = begun(tml);
    tml_program_loop_begin(p, 2, none);
    ends_with(tml, p, TML_ERROR_INVALID_ARGUMENT, "a loop is open");
    p = begun(tml);
    tml_program_loop_end(p);
    ends_with(tml, p, TML_ERROR_INVALID_ARGUMENT, "no loop is open");
    p = begun(tml);
    (void)tml_program_array(p, TML_U32, 0);
    ends_with(tml, p, TML_ERROR_INVALID_ARGUMENT, "a count of 0");
    p = begun(tml);
    (void)tml_program_array(p, TML_TYPE_NONE, 1);
    ends_with(tml, p, TML_ERROR_INVALID_ARGUMENT, "no element type");
    p = begun(tml);
    tml_program_write(p, out, &(uint32_t[2]){1, 2}, 6);
    ends_with(tml, p, TML_ERROR_INVALID_ARGUMENT, "a multiple of 4");
    p = begun(tml);
    tml_program_loop_begin(p, 2, gone);
    ends_with(tml, p, TML_ERROR_INVALID_HANDLE, "count");
    /* A step after the end. */
    p = begun(tml);
    tml_program_map(p, &good);
    CHECK_OK(tml, tml_program_end(p));
    CHECK_OK(tml, tml_program_enqueue(p, none));
    tml_program_map(p, &good);
    CHECK_EQ_U64(tml_program_enqueue(p, none), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "after tml_program_end") != NULL);
    tml_program_destroy(p);
}
TEST(programs_of_users_say_what_is_wrong)
{
    on_every_device(public_failures);
}

/* Arrays belong to their program's steps, and a program outlives no buffer. */
static void handles_of_programs(tml_context *tml)
{
    static uint32_t got[COUNT];
    tml_buffer in = buffer_of(tml, TML_U32, COUNT, NULL),
               out = buffer_of(tml, TML_U32, COUNT, NULL), none = {0, 0};
    tml_program *p = begun(tml);
    tml_buffer array = tml_program_array(p, TML_U32, COUNT);
    tml_program_map(p, &(tml_map_desc){.kernel = TML_USE(number), .out = {array}});
    tml_program_map(p, &(tml_map_desc){.kernel = TML_USE(add), .in = {array, in}, .out = {out}});
    for (int is_ended = 0; is_ended < 2; is_ended++) {
        CHECK_EQ_U64(tml_buffer_read(tml, array, got), TML_ERROR_INVALID_HANDLE);
        CHECK_EQ_U64(tml_scan(tml, &(tml_scan_desc){.in = array, .out = out}),
                     TML_ERROR_INVALID_HANDLE);
        tml_buffer_destroy(tml, array);
        if (!is_ended)
            CHECK_OK(tml, tml_program_end(p));
    }
    CHECK_OK(tml, tml_program_enqueue(p, none));
    tml_program *other = begun(tml);
    tml_program_map(other, &(tml_map_desc){.kernel = TML_USE(twice), .in = {array}, .out = {out}});
    ends_with(tml, other, TML_ERROR_INVALID_HANDLE, "tml_map: desc.in[0]");
    tml_buffer_destroy(tml, in);
    CHECK_EQ_U64(tml_program_enqueue(p, none), TML_ERROR_INVALID_HANDLE);
    CHECK(strstr(tml_last_error(tml), "was destroyed") != NULL);
    in = buffer_of(tml, TML_U32, COUNT, NULL); /* in the same slot */
    CHECK_EQ_U64(tml_program_enqueue(p, none), TML_ERROR_INVALID_HANDLE);
    tml_program_destroy(p);
}
TEST(programs_of_users_own_arrays_and_no_buffers)
{
    on_every_device(handles_of_programs);
}
