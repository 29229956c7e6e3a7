/* What the point readers share: a sink for points, the meaning of columns, and messages. A reader
 * gets a whole file as bytes and pushes its points in file order; the sink keeps them in blocks, so
 * that memory follows the points that were really there and never a count in a header. */
#ifndef TML_POINTS_INTERNAL_H
#define TML_POINTS_INTERNAL_H

#include "io/io_internal.h"

typedef struct point_block point_block;

typedef struct point_sink {
    const io_file *file; /* for messages */
    uint64_t expected;   /* about how many points will come; for progress only */
    bool has_radii;      /* set before the first push */
    bool has_values;     /* likewise */
    char value_name[32];
    point_block *first, *last;
    uint64_t count, dropped;
    double lower[3], upper[3];
    bool inexact; /* some coordinate is not a float */
} point_sink;

/* Adds a point, or drops it when a coordinate is NaN, infinite or beyond float. radius and value
 * count only where the sink has them. Errors: OUT_OF_MEMORY, CANCELLED. */
TML_MUST_CHECK tml_status tml_points_push(point_sink *sink, const double position[3], double radius,
                                          double value);

/* The columns of a file's point table that matter, by number; -1: not there. */
typedef struct point_columns {
    int32_t position[3], radius, value;
} point_columns;

#define POINT_COLUMNS_NONE ((point_columns){{-1, -1, -1}, -1, -1})

/* Looks at column number index of the table: x, y, z, radius or pscale by name. The first that is
 * none of these and not known for something else (normals, colours, ids) becomes the value. Call it
 * for each column, in order. */
void tml_points_column(point_sink *sink, point_columns *columns, int32_t index, const char *name);
/* Sets what the sink holds from the columns. Fails unless x, y and z are there. */
TML_MUST_CHECK tml_status tml_points_columns_done(point_sink *sink, const point_columns *columns);

/* Pushes one row of the table, values[i] being column i. */
TML_MUST_CHECK tml_status tml_points_push_row(point_sink *sink, const point_columns *columns,
                                              const double *values);

/* The number of a scalar type at an address of any alignment. */
double tml_points_number(const void *at, tml_type type, bool big_endian);

typedef enum points_encoding {
    POINTS_TEXT,
    POINTS_LITTLE_ENDIAN,
    POINTS_BIG_ENDIAN
} points_encoding;

/* Takes the next number of a file that holds text or binary values; false at the end of the data,
 * or at a word that is no number. */
bool tml_points_next(io_text *text, points_encoding encoding, tml_type type, double *out);

/* The readers, one file each. data holds the whole file. */
typedef tml_status (*points_reader)(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_ply(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_xyz(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_pcd(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_las(point_sink *sink, const uint8_t *data, size_t size);
tml_status tml_points_read_vtk(point_sink *sink, const uint8_t *data, size_t size);

/* tml_points_load for an open file, which may be a block of memory. The path's ending chooses
 * between formats that contents alone do not tell apart. */
TML_MUST_CHECK tml_status tml_points_read(const io_file *file, tml_points *out);

#endif
