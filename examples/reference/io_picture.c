/* Files of pictures. */
#include "reference.h"
#include <trommel/pictures.h>

/* Floats to an HDR file and back. */
static void save_and_load(tml_context *tml)
{
    const char *path = "reference_picture.pfm";
    float pixels[] = {0.5f, 1, 2, 4, 8, 16};
    const tml_picture picture = {.data = pixels,
                                 .size = sizeof pixels,
                                 .type = TML_F32,
                                 .width = 2,
                                 .height = 1,
                                 .channels = 3};
    tml_picture loaded;
    MUST(tml_picture_save(tml, path, &picture));
    CHECK(!strcmp(tml_file_format(tml, path, TML_FILE_PICTURE, NULL), "PFM"));
    MUST(tml_picture_load(tml, path, &(tml_load_desc){.memory_limit = 1 << 20}, &loaded));
    CHECK(loaded.width == 2 && loaded.channels == 3 && ((const float *)loaded.data)[5] == 16);
    tml_picture_free(tml, &loaded);
    remove(path);
}

/* Bytes as a screen has them, to a PNG. */
static void save_png(tml_context *tml)
{
    const char *path = "reference_picture.png";
    uint8_t rgba[] = {255, 0, 0, 255, 0, 0, 255, 255};
    tml_picture loaded;
    MUST(tml_picture_save(
        tml, path,
        &(tml_picture){
            .data = rgba, .type = TML_U8, .width = 2, .height = 1, .channels = 4, .srgb = true}));
    MUST(tml_picture_load(tml, path, NULL, &loaded));
    CHECK(loaded.type == TML_U8 && loaded.srgb && ((const uint8_t *)loaded.data)[0] == 255);
    tml_picture_free(tml, &loaded);
    remove(path);
}

int main(void)
{
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){save_and_load, save_png, NULL});
}
