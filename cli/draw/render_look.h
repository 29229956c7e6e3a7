/* The look of pictures: lights and background. */
#ifndef CLI_RENDER_LOOK_H
#define CLI_RENDER_LOOK_H

#include <trommel/kernel_math.h>

/* Light, in linear units: a warm key light from above left, a cool fill light, a rim light from
 * behind, sky and ground. Directions are in camera coordinates, so the lights move with the
 * viewer. */
#define KEY_FROM     ((tml_vec3){-0.56f, 0.64f, 0.50f})
#define FILL_FROM    ((tml_vec3){0.80f, 0.05f, 0.60f})
#define RIM_FROM     ((tml_vec3){0.45f, 0.45f, -0.77f})
#define KEY_COLOR    ((tml_vec3){1.62f, 1.55f, 1.44f})
#define FILL_COLOR   ((tml_vec3){0.26f, 0.30f, 0.36f})
#define RIM_COLOR    ((tml_vec3){0.55f, 0.60f, 0.68f})
#define SKY_COLOR    ((tml_vec3){0.50f, 0.54f, 0.60f})
#define GROUND_COLOR ((tml_vec3){0.24f, 0.22f, 0.20f})
#define DULL_COLOR   ((tml_vec3){0.30f, 0.28f, 0.26f}) /* what insides turn to */
#define GLOSS        0.22f
#define WHITE_POINT  3.2f /* of the tone curve */

/* Background: sRGB grey at the picture's centre and corners. */
#define BACKGROUND_CENTRE 0.965f
#define BACKGROUND_CORNER 0.80f
#define FLOOR_SHADE       0.42f /* how much of the background a full shadow takes */

#endif
