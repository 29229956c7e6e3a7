/* What the files that read glTF share. */
#ifndef TML_GLTF_H
#define TML_GLTF_H

#include "io/meshes/mesh_sink.h"

#ifdef TML_GLTF
#    define JSMN_STATIC
#    define JSMN_STRICT
#    define JSMN_PARENT_LINKS /* or deep nesting takes quadratic time */
#    include <jsmn.h>

/* The elements of one of the root's arrays, as tokens. */
typedef struct gltf_list {
    int *tokens;
    uint64_t count;
} gltf_list;

typedef struct gltf_buffer {
    const uint8_t *data;
    uint64_t size;
    io_block owned; /* data's memory, when it is not the file's */
    bool is_loaded;
} gltf_buffer;

typedef struct gltf_reader {
    mesh_sink *sink;
    io_span json;
    io_span bin; /* the binary chunk; text NULL: none */
    jsmntok_t *tokens;
    int token_count;
    gltf_list accessors, views, buffers, nodes, meshes, scenes;
    gltf_buffer *loaded;      /* one for each of buffers */
    struct gltf_dense *dense; /* accessors that were put together, to be freed */
    uint64_t placed;          /* primitives */
    uint64_t skins, morphs;   /* meshes whose shape would be changed by them */
    uint64_t color_count;     /* vertices that the property of colours has so far */
    uint32_t color;           /* the property, once color_components is not 0 */
    uint64_t color_components;
    uint64_t with_values;
    uint64_t left_out; /* attributes that a mesh has no room for */
} gltf_reader;

/* ---- gltf_json.c ----------------------------------------------------------------------------- */

tml_status tml_gltf_tokenize(gltf_reader *reader);
io_span tml_gltf_text(const gltf_reader *reader, int token);
/* Fails with what is wrong at a token, or with -1 of the whole. */
tml_status tml_gltf_bad(const gltf_reader *reader, int token, const char *what);
/* The token after this one and all tokens within it. */
int tml_gltf_skip(const gltf_reader *reader, int token);
/* The value of an object's member; -1: there is none, or this is no object. */
int tml_gltf_member(const gltf_reader *reader, int object, const char *name);
/* A whole number from 0 to 2^53 of a member; fallback where there is none. */
tml_status tml_gltf_get_number(const gltf_reader *reader, int object, const char *name,
                               uint64_t fallback, uint64_t *out);
/* count numbers of an array member; *is_there is false where there is none. */
tml_status tml_gltf_get_numbers(const gltf_reader *reader, int object, const char *name, int count,
                                double *out, bool *is_there);
tml_status tml_gltf_make_list(gltf_reader *reader, const char *name, gltf_list *out);
/* Element number of a list, which a member names. */
tml_status tml_gltf_get_element(const gltf_reader *reader, const gltf_list *list, uint64_t number,
                                const char *what, int *out);

/* ---- gltf_accessors.c ------------------------------------------------------------------------ */

enum {
    GLTF_BYTE = 5120,
    GLTF_UBYTE = 5121,
    GLTF_SHORT = 5122,
    GLTF_USHORT = 5123,
    GLTF_UINT = 5125,
    GLTF_REAL = 5126,
};

/* An accessor, checked: count rows of components numbers, all of them within the buffer. */
typedef struct gltf_array {
    const uint8_t *data;
    uint64_t count;
    uint64_t stride;
    uint64_t components;
    uint64_t type; /* GLTF_BYTE ... */
    bool is_normalized;
} gltf_array;

/* Finds accessor number, which must have as many components; 0: from 1 to 4. */
tml_status tml_gltf_open_array(gltf_reader *reader, uint64_t number, uint64_t components,
                               gltf_array *out);
/* Integers that are normalised are fractions of their largest (the specification's section
 * 3.6.2.2). */
double tml_gltf_number(const gltf_array *array, uint64_t row, uint64_t component);
/* Frees the buffers, and the arrays that were put together. */
void tml_gltf_free_buffers(gltf_reader *reader);

/* ---- gltf_mesh.c ----------------------------------------------------------------------------- */

/* The placement of a mesh: the columns of a matrix, three numbers each, the last of them the
 * translation. */
typedef struct gltf_place {
    double m[12];
    bool is_identity;
} gltf_place;

tml_status tml_gltf_read_mesh(gltf_reader *reader, uint64_t number, const gltf_place *place);
tml_status tml_gltf_refuse_packed(const gltf_reader *reader, const char *extension);
#endif

#endif
