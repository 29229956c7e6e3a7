/* Shared by the point readers: a sink for points, the meaning of columns, and messages. A reader
 * gets a whole file as bytes and pushes its points in file order. The sink keeps the points in
 * blocks, so memory grows with the points that exist, not with a count in a header. */
#ifndef TML_POINTS_INTERNAL_H
#define TML_POINTS_INTERNAL_H

#include <trommel/points.h>

#include "io/io_internal.h"

typedef struct point_block point_block;

/* Most attributes of a file, and most floats that are kept per point. */
enum { POINT_ATTRIBUTES_MAX = 64, POINT_FLOATS_MAX = 32 };

typedef struct point_attribute {
    char name[32];
    uint32_t components; /* 1 to 4 */
    int32_t columns[4];  /* of the file's table, per component */
    bool is_color;
    double scale;             /* scales a colour to 0 to 1; 0: at the end, by its largest value */
    bool is_packed, is_float; /* one number holds a colour's bytes; it is a float */
    int32_t place;            /* first in point_sink.floats; -1: not asked for */
} point_attribute;

typedef struct point_sink {
    const io_file *file; /* for messages */
    uint64_t expected;   /* about how many points will come; for progress only */
    bool has_radii;      /* set before the first push */
    bool has_values;     /* likewise */
    char value_name[32];
    point_block *first, *last;
    uint64_t count, dropped;
    double lower[3], upper[3];
    bool inexact;              /* some coordinate is not a float */
    const double *origin;      /* asked for; NULL: the finish chooses */
    const char *const *wanted; /* names that are asked for */
    uint32_t wanted_count;
    point_attribute attributes[POINT_ATTRIBUTES_MAX]; /* all that the file has */
    uint32_t attribute_count;
    float floats[POINT_FLOATS_MAX]; /* attributes of the next point that are asked for */
    uint32_t float_count;
} point_sink;

/* Adds a point, or drops it if a coordinate is NaN, infinite or beyond a float's range. radius and
 * value are used only if the sink has them. Errors: OUT_OF_MEMORY, CANCELLED. */
TML_MUST_CHECK tml_status tml_points_push(point_sink *sink, const double position[3], double radius,
                                          double value);

/* The finish moves the points into out and chooses its origin. */
TML_MUST_CHECK tml_status tml_points_finish(point_sink *sink, tml_points *out);
void tml_points_drop_first(point_sink *sink);

/* The columns of a file's point table that give positions, radii and values; -1: none. */
typedef struct point_columns {
    int32_t position[3], radius, value;
} point_columns;

#define POINT_COLUMNS_NONE ((point_columns){{-1, -1, -1}, -1, -1})

/* Warns that a file holds a mesh, of which only the vertices are read. count: faces or cells; 0: no
 * warning. what: "face" or "cell". */
TML_MUST_CHECK tml_status tml_points_tell_of_mesh(const point_sink *sink, uint64_t count,
                                                  const char *what);

/* Classifies column number index of the table, of that type (TML_TYPE_NONE: text), by name: x, y,
 * z, radius or pscale. All others are listed as attributes. The first that has no other meaning
 * (normal, colour, id) also becomes the value. Call it for each column, in order. */
void tml_points_column(point_sink *sink, point_columns *columns, int32_t index, const char *name,
                       tml_type type);
/* After the last column: decides what the sink has, and chooses attributes (tml_points_choose).
 * Errors: FILE_FORMAT (no x, y or z), as tml_points_choose. */
TML_MUST_CHECK tml_status tml_points_columns_done(point_sink *sink, const point_columns *columns);

/* Pushes one row of the table; values[i] is the number in column i. */
TML_MUST_CHECK tml_status tml_points_push_row(point_sink *sink, const point_columns *columns,
                                              const double *values);

/* Pushes a point whose numbers a function returns, by column and component of the column. */
typedef double (*points_number)(const void *user, int32_t column, uint32_t component);
TML_MUST_CHECK tml_status tml_points_push_numbers(point_sink *sink, const point_columns *columns,
                                                  points_number number, const void *user);

/* Lists an attribute whose components are those of one column. */
void tml_points_list(point_sink *sink, const char *name, uint32_t components, int32_t column,
                     tml_type type);
/* After the last attribute: joins columns (vx, vy, vz to velocity), and chooses attributes that are
 * asked for. Errors: INVALID_ARGUMENT (no attribute has that name), UNSUPPORTED. */
TML_MUST_CHECK tml_status tml_points_choose(point_sink *sink);
/* Sets an attribute of the next point. numbers: one per component, or the one packed number. */
void tml_points_set(point_sink *sink, const point_attribute *attribute, const double *numbers);
/* Scales colours to 0 to 1, from 65535, 255 or 1 as their largest value suggests. */
void tml_points_scale_colors(const point_attribute *attribute, float *values, uint64_t count);

/* The readers, one per file. data: the whole file. */
typedef tml_status (*points_reader)(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_ply(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_xyz(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_pcd(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_las(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_vtk(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_vtk_xml(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_bgeo(point_sink *sink, const uint8_t *data, size_t size);

/* tml_points_load for an open file, which may be in memory. The path's ending decides between
 * formats whose contents look alike. */
TML_MUST_CHECK tml_status tml_points_read_attributes(const io_file *file, const char *const *names,
                                                     uint32_t name_count, tml_points *out);
static inline TML_MUST_CHECK tml_status tml_points_read(const io_file *file, tml_points *out)
{
    return tml_points_read_attributes(file, NULL, 0, out);
}

#endif
