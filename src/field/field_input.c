/* Maps a desc's arrays to the host. */
#include "field/field_internal.h"
#include "stream/stream_internal.h"

#define FIELD_BUFFERS(desc)                                                                        \
    {                                                                                              \
        (desc)->points, (desc)->radii, (desc)->densities, (desc)->shapes[0], (desc)->shapes[1]     \
    }

tml_status field_map(tml_context *tml, const tml_field_desc *desc, field_input *out)
{
    const tml_buffer buffers[] = FIELD_BUFFERS(desc);
    void *mapped[TML_ARRAY_SIZE(buffers)] = {NULL};
    tml_status status = TML_OK;
    for (size_t i = 0; i < TML_ARRAY_SIZE(buffers) && status == TML_OK; i++)
        if (!tml_buffer_is_none(buffers[i]))
            status = tml_buffer_map(tml, buffers[i], &mapped[i]);
    *out = (field_input){.points = mapped[0],
                         .radii = mapped[1],
                         .densities = mapped[2],
                         .shapes = {mapped[3], mapped[4]}};
    TML_THEN(status, stream_read_length(tml, &desc->length, &out->count));
    for (size_t i = 0; i < TML_ARRAY_SIZE(buffers) && status != TML_OK; i++)
        if (mapped[i])
            tml_buffer_unmap(tml, buffers[i]);
    return status;
}

void field_unmap(tml_context *tml, const tml_field_desc *desc)
{
    const tml_buffer buffers[] = FIELD_BUFFERS(desc);
    for (size_t i = 0; i < TML_ARRAY_SIZE(buffers); i++)
        if (!tml_buffer_is_none(buffers[i]))
            tml_buffer_unmap(tml, buffers[i]);
}
