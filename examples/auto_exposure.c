/* A renderer's frames, metered and tone-mapped where they are: somebody steps out of a dim room
 * into daylight, and the exposure follows. Nothing is read back but what is printed.
 * Shows: tml_image_measure, tml_image_expose with adaptation, tml_image_tonemap, tml_meter_weights;
 * with a name, trommel-io writes the last frame as a picture. */
#include <math.h>
#include <stdio.h>
#include <trommel/image.h>
#include <trommel/pictures.h>

enum { WIDTH = 320, HEIGHT = 180, PIXELS = WIDTH * HEIGHT, MASK = 64, FRAMES = 90, STEPS_OUT = 30 };

static float rendered[3 * PIXELS];
static uint8_t shown[4 * PIXELS];

/* Ground, sky and a sun, in cd/m2. The room is 256 times as dark. */
static void render(int frame)
{
    float light = frame < STEPS_OUT ? 16.0f : 4096.0f;
    for (int i = 0; i < PIXELS; i++) {
        float x = (float)(i % WIDTH) / WIDTH, y = (float)(i / WIDTH) / HEIGHT;
        float sun = hypotf(1.78f * (x - 0.7f), y - 0.25f) < 0.04f ? 400.0f : 0.0f;
        int is_ground = y > 0.6f + 0.05f * sinf(9.0f * x);
        rendered[3 * i] = light * (is_ground ? 0.15f : 0.6f + 0.4f * y + sun);
        rendered[3 * i + 1] = light * (is_ground ? 0.2f : 0.8f + 0.2f * y + sun);
        rendered[3 * i + 2] = light * (is_ground ? 0.1f : 1.3f - 0.3f * y + sun);
    }
}

typedef struct viewer {
    tml_image in, out;
    tml_buffer mask, stats, state;
} viewer;

static tml_status viewer_create(tml_context *tml, viewer *v)
{
    static uint8_t weights[MASK * MASK];
    *v = (viewer){.in = {.width = WIDTH, .height = HEIGHT, .channels = 3},
                  .out = {.width = WIDTH, .height = HEIGHT, .channels = 4, .srgb = true}};
    tml_status status = tml_meter_weights(TML_METER_CENTRE, WIDTH, HEIGHT, MASK, MASK, weights);
    if (status ||
        (status = tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F32, .count = 3 * PIXELS},
                                    &v->in.buffer)) ||
        (status = tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U8, .count = 4 * PIXELS},
                                    &v->out.buffer)) ||
        (status = tml_buffer_create(
             tml, &(tml_buffer_desc){.type = TML_U8, .count = MASK * MASK, .data = weights},
             &v->mask)) ||
        (status = tml_buffer_create(
             tml, &(tml_buffer_desc){.type = TML_U32, .count = TML_IMAGE_STATS_WORDS}, &v->stats)))
        return status;
    return tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F32, .count = TML_EXPOSURE_WORDS},
                             &v->state);
}

/* A frame, from rendered colours to those of a screen. Enqueues only. */
static tml_status view(tml_context *tml, const viewer *v, float seconds, bool is_first)
{
    tml_status status = tml_image_measure(tml, &(tml_image_measure_desc){.image = v->in,
                                                                         .mask = v->mask,
                                                                         .mask_width = MASK,
                                                                         .mask_height = MASK,
                                                                         .stats = v->stats});
    TML_THEN(status, tml_image_expose(tml, &(tml_image_expose_desc){.stats = v->stats,
                                                                    .clip_low = 5,
                                                                    .clip_high = 95,
                                                                    .speed_up = 6,
                                                                    .seconds = seconds,
                                                                    .reset = is_first,
                                                                    .state = v->state}));
    TML_THEN(status, tml_image_tonemap(tml, &(tml_image_tonemap_desc){.in = v->in,
                                                                      .out = v->out,
                                                                      .state = v->state,
                                                                      .tone = TML_TONE_AGX}));
    return status;
}

static tml_status run(tml_context *tml, const char *path, float state[TML_EXPOSURE_WORDS])
{
    viewer v;
    tml_status status = viewer_create(tml, &v);
    for (int frame = 0; frame < FRAMES && status == TML_OK; frame++) {
        render(frame);
        status = tml_buffer_write(tml, v.in.buffer, 0, 3 * PIXELS, rendered);
        TML_THEN(status, view(tml, &v, 1.0f / 30.0f, frame == 0));
        if (status == TML_OK && (frame % 10 == 9 || frame == STEPS_OUT)) {
            status = tml_buffer_read(tml, v.state, state);
            printf("frame %2d: measured 2^%.2f cd/m2, exposed for 2^%.2f, EV100 %.2f\n", frame,
                   (double)state[TML_EXPOSURE_TARGET], (double)state[TML_EXPOSURE_AVERAGE],
                   (double)state[TML_EXPOSURE_EV100]);
        }
    }
    if (status == TML_OK && path)
        status = tml_buffer_read(tml, v.out.buffer, shown);
    if (status == TML_OK && path)
        status = tml_picture_save(tml, path,
                                  &(tml_picture){.data = shown,
                                                 .size = sizeof shown,
                                                 .type = TML_U8,
                                                 .width = WIDTH,
                                                 .height = HEIGHT,
                                                 .channels = 4,
                                                 .srgb = true});
    return status;
}

int main(int argc, char **argv)
{
    float state[TML_EXPOSURE_WORDS] = {0};
    tml_context *tml;
    if (tml_open(NULL, &tml))
        return 1;
    tml_status status = run(tml, argc > 1 ? argv[1] : NULL, state);
    if (status != TML_OK)
        fprintf(stderr, "%s\n", tml_last_error(tml));
    tml_close(tml);
    /* Two seconds later the eye has got used to the light. */
    return status == TML_OK &&
                   fabsf(state[TML_EXPOSURE_AVERAGE] - state[TML_EXPOSURE_TARGET]) < 0.05f
               ? 0
               : 1;
}
