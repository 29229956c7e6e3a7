/* Any bytes, read as pictures of each format: no crash, no hang, and what loads has as many bytes
 * as its size says, in a picture that can be shown. */
#include <stdlib.h>

#include "io/pictures/picture_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_picture(const tml_picture *p)
{
    bool is_type =
        p->type == TML_U8 || p->type == TML_U16 || p->type == TML_F16 || p->type == TML_F32;
    if (!is_type || p->channels < 1 || p->channels > 4 || p->width < 1 || p->height < 1 ||
        p->full_width < 1 || p->full_height < 1 ||
        p->size != (size_t)p->width * p->height * p->channels * tml_type_size(p->type))
        abort();
    /* All of it was written: a sanitizer of memory would see it here. */
    uint32_t sum = 0;
    for (size_t i = 0; i < p->size; i++)
        sum += ((const uint8_t *)p->data)[i];
    if (sum == UINT32_MAX && p->format[0] == '\0')
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tml_context *tml;
    if (!tml && tml_open(&(tml_open_desc){.threads = 1}, &tml) != TML_OK)
        abort();
    tml_picture picture;
    tml_status status =
        tml_picture_load_memory(tml, "fuzz", data, size, (uint64_t)256 << 20, &picture);
    if (status == TML_OK)
        check_picture(&picture);
    else if (!tml_last_error(tml)[0] || picture.data)
        abort();
    tml_picture_free(tml, &picture);
    return 0;
}
