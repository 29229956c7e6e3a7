/* Streams that grow: each seed becomes a row of points, as many as it says.
 * Shows: a kernel with parameters and a kernel that counts, one that emits with tml_index, tml_rank
 * and tml_params; tml_expand; a count on the device as the length of the next operation. */
#include <math.h>
#include <stdio.h>
#include <trommel/trommel.h>

#include <trommel/kernel_begin.h>
/* How many outputs a seed makes ... */
TML_KERNEL(uint, row_length, (uint seed), { return seed % 4u; })
/* ... and what the k-th of them is: on a circle whose radius grows with the seed's position. */
TML_KERNEL(vec2, row_point, (uint seed, tml_index i, tml_rank k, tml_params p), {
    float angle = p.f[0] * F(k) / F(seed % 4u);
    float radius = 1.0f + F(i);
    return VEC2(radius * cos(angle), radius * sin(angle));
})
TML_KERNEL(bool, is_right, (vec2 p), { return p.x > 0.5f; })
#include <trommel/kernel_end.h>

enum { SEEDS = 6, MOST = SEEDS * 3 };

int main(void)
{
    const uint32_t seeds[SEEDS] = {1, 4, 2, 7, 8, 9}; /* row lengths 1 0 2 3 0 1 */
    tml_context *tml;
    tml_buffer in, points, right, total, right_total;
    uint64_t count, right_count;
    tml_vec2 first[MOST];

    if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml))
        return 1;
    if (tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = SEEDS, .data = seeds},
                          &in) ||
        tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_VEC(TML_F32, 2), .count = MOST},
                          &points) ||
        tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_VEC(TML_F32, 2), .count = MOST},
                          &right) ||
        tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = 1}, &total) ||
        tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = 1}, &right_total) ||
        tml_expand(tml, &(tml_expand_desc){.count_kernel = TML_USE(row_length),
                                           .emit_kernel = TML_USE(row_point),
                                           .params.f = {6.2831853f},
                                           .in = {in},
                                           .out = {points},
                                           .total = total}) ||
        /* The length of this stream is known to the device alone: nothing is read back between. */
        tml_compact(tml, &(tml_compact_desc){.keep.kernel = TML_USE(is_right),
                                             .payloads = {{.in = points, .out = right}},
                                             .length.device = total,
                                             .count = right_total}) ||
        tml_buffer_read_count(tml, total, &count) ||
        tml_buffer_read_count(tml, right_total, &right_count) ||
        tml_buffer_read_range(tml, points, 0, count, first)) {
        fprintf(stderr, "%s\n", tml_last_error(tml));
        return 1;
    }
    for (uint64_t i = 0; i < count; i++)
        printf("(%.2f, %.2f)\n", first[i].x, first[i].y);
    printf("%llu points, %llu of them on the right\n", (unsigned long long)count,
           (unsigned long long)right_count);
    tml_close(tml);
    /* Rows of 1, 2, 3 and 1 points; the first of each lies at angle 0, on the right. */
    return count == 7 && right_count == 4 && fabsf(first[3].x - 4) < 1e-5f ? 0 : 1;
}
