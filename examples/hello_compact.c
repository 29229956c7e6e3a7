/* The first program: keeps the positive numbers of an array, in order.
 * Shows: tml_open, tml_buffer_create, TML_KERNEL, tml_compact, tml_buffer_read_count,
 * tml_buffer_read_range. */
#include <stdio.h>
#include <trommel/trommel.h>

#include <trommel/kernel_begin.h>
TML_KERNEL(bool, is_positive, (float x), { return x > 0.0f; })
#include <trommel/kernel_end.h>

int main(void)
{
    const float values[] = {3, -1, 4, -1, 5, -9, 2, -6};
    float kept[8];
    uint64_t count;
    tml_context *tml;
    tml_buffer in, out, kept_count;

    if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml))
        return 1;
    if (tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F32, .count = 8, .data = values},
                          &in) ||
        tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F32, .count = 8}, &out) ||
        tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = 1}, &kept_count) ||
        tml_compact(tml, &(tml_compact_desc){.keep.kernel = TML_USE(is_positive),
                                             .payloads = {{.in = in, .out = out}},
                                             .count = kept_count}) ||
        tml_buffer_read_count(tml, kept_count, &count) ||
        tml_buffer_read_range(tml, out, 0, count, kept)) {
        fprintf(stderr, "%s\n", tml_last_error(tml));
        return 1;
    }
    for (uint64_t i = 0; i < count; i++)
        printf("%g ", kept[i]);
    printf("\n");   /* 3 4 5 2 */
    tml_close(tml); /* and with it the buffers */
    return count == 4 && kept[3] == 2 ? 0 : 1;
}
