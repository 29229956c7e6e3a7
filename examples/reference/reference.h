/* What the programs of this folder share. Each shows one header of the library: functions of one
 * idea each, which check what they made, and which run_examples() calls one after another on a
 * context. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trommel/trommel.h>

/* Ends the program where a call fails, with what the library says of it. */
#define MUST(call)                                                                                 \
    do {                                                                                           \
        const tml_status must_be = (call);                                                         \
        must(tml, must_be, #call);                                                                 \
    } while (0)
/* Ends it where a result is not what the example promises. */
#define CHECK(condition) check((condition), #condition)

static inline void must(const tml_context *tml, tml_status status, const char *call)
{
    if (status) {
        fprintf(stderr, "%s: %s: %s\n", call, tml_status_name(status), tml_last_error(tml));
        exit(1);
    }
}

static inline void check(bool holds, const char *condition)
{
    if (!holds) {
        fprintf(stderr, "not so: %s\n", condition);
        exit(1);
    }
}

/* A buffer with count elements of data or, as room for results, of NULL. tml_close destroys it. */
static inline tml_buffer buffer_of(tml_context *tml, tml_type type, uint64_t count,
                                   const void *data)
{
    tml_buffer buffer;
    MUST(tml_buffer_create(tml, &(tml_buffer_desc){.type = type, .count = count, .data = data},
                           &buffer));
    return buffer;
}

/* A square of two triangles in the plane z = 0. */
static const tml_vec3 square_vertices[] = {{0, 0, 0}, {4, 0, 0}, {4, 4, 0}, {0, 4, 0}};
static const uint32_t square_corners[] = {0, 1, 2, 0, 2, 3};

static inline tml_tree *square_tree(tml_context *tml)
{
    tml_tree *tree;
    MUST(tml_tree_create(
        tml,
        &(tml_tree_desc){.vertices = buffer_of(tml, TML_VEC(TML_F32, 3), 4, square_vertices),
                         .indices = buffer_of(tml, TML_VEC(TML_U32, 3), 2, square_corners)},
        &tree));
    return tree;
}

/* Calls a kernel of one parameter for one element. */
static inline void call_kernel(tml_context *tml, const tml_kernel *kernel, const void *in,
                               void *out)
{
    const tml_buffer element = buffer_of(tml, kernel->params[0], 1, in);
    const tml_buffer result = buffer_of(tml, kernel->result, 1, NULL);
    MUST(tml_map(tml, &(tml_map_desc){.kernel = kernel, .in = {element}, .out = {result}}));
    MUST(tml_buffer_read(tml, result, out));
}

/* Bytes of scratch that a call needs, as core.c shows. */
static inline size_t scratch_measured(tml_context *tml)
{
    tml_prepared prepared;
    MUST(tml_prepare_end(tml, &prepared));
    return prepared.scratch_size;
}
#define SCRATCH_OF(tml, call)                                                                      \
    (must(tml, tml_prepare_begin(tml), "tml_prepare_begin"), must(tml, (call), #call),             \
     scratch_measured(tml))

typedef void example(tml_context *tml);

/* 77, which CTest counts as skipped: there is no such device. */
static inline int run_examples(const tml_open_desc *desc, example *const *examples)
{
    tml_context *tml;
    int count = 0;
    tml_status status = tml_open(desc, &tml);
    if (status == TML_ERROR_NO_DEVICE) {
        printf("skipped: %s\n", tml_last_error(NULL));
        return 77;
    }
    must(NULL, status, "tml_open");
    for (; examples[count]; count++)
        examples[count](tml);
    tml_close(tml);
    printf("ok %d examples\n", count);
    return 0;
}

#endif
