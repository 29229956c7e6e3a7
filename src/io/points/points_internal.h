/* What the point readers share: a sink for points, the meaning of columns, and messages. A reader
 * gets a whole file as bytes and pushes its points in file order; the sink keeps them in blocks, so
 * that memory follows the points that were really there and never a count in a header. */
#ifndef TML_POINTS_INTERNAL_H
#define TML_POINTS_INTERNAL_H

#include <trommel/points.h>

#include "io/io_internal.h"

typedef struct point_block point_block;

/* Attributes that are listed, and numbers a point that are kept of them. */
enum { POINT_ATTRIBUTES_MAX = 64, POINT_FLOATS_MAX = 32 };

typedef struct point_attribute {
    char name[32];
    uint32_t components; /* 1 to 4 */
    int32_t columns[4];  /* of the file's table, one a component */
    bool is_color;
    double scale;             /* of a colour, to 0 to 1; 0: as its largest value says, at the end */
    bool is_packed, is_float; /* a colour's bytes in one number, of that kind */
    int32_t place;            /* in point_sink.floats; -1: not asked for */
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
    const double *origin;      /* the one asked for; NULL: chosen */
    const char *const *wanted; /* names of attributes */
    uint32_t wanted_count;
    point_attribute attributes[POINT_ATTRIBUTES_MAX]; /* those that the file has */
    uint32_t attribute_count;
    float floats[POINT_FLOATS_MAX]; /* of the next point: what is asked for */
    uint32_t float_count;
} point_sink;

/* Adds a point, or drops it when a coordinate is NaN, infinite or beyond float. radius and value
 * count only where the sink has them. Errors: OUT_OF_MEMORY, CANCELLED. */
TML_MUST_CHECK tml_status tml_points_push(point_sink *sink, const double position[3], double radius,
                                          double value);

/* The finish: moves the points into out, and chooses its origin. */
TML_MUST_CHECK tml_status tml_points_finish(point_sink *sink, tml_points *out);
void tml_points_drop_first(point_sink *sink);

/* The columns of a file's point table that matter, by number; -1: not there. */
typedef struct point_columns {
    int32_t position[3], radius, value;
} point_columns;

#define POINT_COLUMNS_NONE ((point_columns){{-1, -1, -1}, -1, -1})

/* Reports that a file holds a mesh of so many faces or cells (0: it does not), of which the
 * vertices alone are read. what: "face" or "cell". */
TML_MUST_CHECK tml_status tml_points_tell_of_mesh(const point_sink *sink, uint64_t count,
                                                  const char *what);

/* Looks at column number index of the table, of that type (TML_TYPE_NONE: text): x, y, z, radius or
 * pscale by name. All others are listed as attributes. The first that is
 * none of these and not known for something else (normals, colours, ids) becomes the value. Call it
 * for each column, in order. */
void tml_points_column(point_sink *sink, point_columns *columns, int32_t index, const char *name,
                       tml_type type);
/* Sets what the sink holds from the columns, and chooses the attributes (tml_points_choose). Fails
 * unless x, y and z are there. */
TML_MUST_CHECK tml_status tml_points_columns_done(point_sink *sink, const point_columns *columns);

/* Pushes one row of the table, values[i] being column i. */
TML_MUST_CHECK tml_status tml_points_push_row(point_sink *sink, const point_columns *columns,
                                              const double *values);

/* Pushes the point whose numbers a function tells: of a column, which may have several
 * components. */
typedef double (*points_number)(const void *user, int32_t column, uint32_t component);
TML_MUST_CHECK tml_status tml_points_push_numbers(point_sink *sink, const point_columns *columns,
                                                  points_number number, const void *user);

/* Lists an attribute, whose components are those of column number column, one after another. */
void tml_points_list(point_sink *sink, const char *name, uint32_t components, int32_t column,
                     tml_type type);
/* After all are listed: joins columns, as vx, vy, vz to velocity, and chooses those that are asked
 * for. Errors: INVALID_ARGUMENT (there is none of such a name), UNSUPPORTED. */
TML_MUST_CHECK tml_status tml_points_choose(point_sink *sink);
/* Sets the floats of the next point: an attribute's numbers, as many as components, or the one that
 * is packed. */
void tml_points_set(point_sink *sink, const point_attribute *attribute, const double *numbers);
/* Makes colours whose scale is not known 0 to 1: from 65535, 255 or 1 on. */
void tml_points_scale_colors(const point_attribute *attribute, float *values, uint64_t count);

/* The readers, one file each. data holds the whole file. */
typedef tml_status (*points_reader)(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_ply(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_xyz(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_pcd(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_las(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_vtk(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_vtk_xml(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_bgeo(point_sink *sink, const uint8_t *data, size_t size);

/* tml_points_load for an open file, which may be a block of memory. The path's ending
 * chooses between formats that contents alone do not tell apart. */
TML_MUST_CHECK tml_status tml_points_read_attributes(const io_file *file, const char *const *names,
                                                     uint32_t name_count, tml_points *out);
static inline TML_MUST_CHECK tml_status tml_points_read(const io_file *file, tml_points *out)
{
    return tml_points_read_attributes(file, NULL, 0, out);
}

#endif
