/* The straightforward way to a picture, to compare the renderer's with. */
#ifndef TESTS_SUPPORT_RENDER_PLAIN_H
#define TESTS_SUPPORT_RENDER_PLAIN_H

#include "../cli/draw/render_internal.h"

/* What raster_draw does, triangle by triangle and sample by sample. */
void plain_draw(const raster_target *target, const tml_mesh *mesh, const raster_vertex *vertices);
/* Ambient occlusion of a pixel before it is smoothed, from s->pixels and s->depths. */
float plain_ambient(const scene *s, uint32_t column, uint32_t row);
/* A pixel's colour from all its samples, s->visible and s->floor_light. */
void plain_color(const scene *s, uint32_t column, uint32_t row, uint8_t rgb[3]);

#endif
