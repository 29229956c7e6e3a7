/* A straightforward renderer, to compare the command's pictures with. */
#ifndef TESTS_SUPPORT_RENDER_PLAIN_H
#define TESTS_SUPPORT_RENDER_PLAIN_H

#include "../cli/draw/render_internal.h"

/* Draws as raster_draw does, triangle by triangle and sample by sample. */
void plain_draw(const raster_target *target, const tml_mesh *mesh, const raster_vertex *vertices);
/* Returns a pixel's ambient light before smoothing, from s->pixels and s->depths. */
float plain_ambient(const scene *s, uint32_t column, uint32_t row);
/* Computes a pixel's colour from all its samples, s->visible and s->floor_light. */
void plain_color(const scene *s, uint32_t column, uint32_t row, uint8_t rgb[3]);

#endif
