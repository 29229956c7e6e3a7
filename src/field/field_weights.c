/* The sum of the weights that tml_field_mean uses. */
#include "field/field_internal.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/field.k.h"
/* Uses the formulas above. */
#include "kernels/field_mean.k.h"

#include "field_library.h"

/* Reads only the weight. The means are unused, so the points are passed as values, too. */
TML_KERNEL_WITH(field, float, field_weight, (vec3 at, tml_words plan, tml_words points),
                { return field_mean(at, plan, points, points, 1u).weight; })

#include "kernels/kernel_end.h"

const tml_kernel *const field_weights_kernel = TML_USE(field_weight);

tml_status field_weights_check(tml_context *tml, const char *call, const tml_field_mean_desc *desc,
                               tml_length length)
{
    static const tml_type types[] = {TML_F32, TML_TYPE_NONE};
    const char *name = "desc.weights";
    tml_status status = tml_check_buffer(tml, call, name, desc->weights, types, length.count);
    TML_THEN(status, stream_check_apart(tml, call, name, desc->weights, "desc.positions",
                                        desc->positions, false));
    for (int i = 0; i < TML_FIELD_MAX_ATTRIBUTES && status == TML_OK; i++)
        if (!tml_buffer_is_none(desc->means[i]))
            status = stream_check_apart(tml, call, name, desc->weights, "desc.means",
                                        desc->means[i], false);
    return status;
}
