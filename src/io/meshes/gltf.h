/* Shared by the files that read glTF. */
#ifndef TML_GLTF_H
#define TML_GLTF_H

#include "io/meshes/mesh_sink.h"

#ifdef TML_GLTF
#    define JSMN_STATIC
#    define JSMN_STRICT
#    define JSMN_PARENT_LINKS /* without them, deep nesting takes quadratic time */
#    include <jsmn.h>

/* The tokens of the elements of an array in the root object. */
typedef struct gltf_list {
    int *tokens;
    uint64_t count;
} gltf_list;

typedef struct gltf_buffer {
    const uint8_t *data;
    uint64_t size;
    io_block owned; /* memory of data, if it is not the file's */
    bool is_loaded;
} gltf_buffer;

typedef struct gltf_reader {
    mesh_sink *sink;
    io_span json;
    io_span bin; /* the binary chunk; text NULL: none */
    jsmntok_t *tokens;
    int token_count;
    gltf_list accessors, views, buffers, nodes, meshes, scenes;
    gltf_buffer *loaded;      /* one per element of buffers */
    struct gltf_dense *dense; /* accessors in memory of their own, to be freed */
    uint64_t placed;          /* primitives read so far */
    uint64_t skins, morphs;   /* meshes that have a skin or morph targets, which are ignored */
    uint64_t color_count;     /* vertices that have a colour so far */
    uint32_t color;           /* the colour's property, if color_components is not 0 */
    uint64_t color_components;
    uint64_t with_values;
    uint64_t left_out; /* attributes for which a mesh has no room */
} gltf_reader;

/* ---- gltf_json.c ----------------------------------------------------------------------------- */

tml_status tml_gltf_tokenize(gltf_reader *reader);
io_span tml_gltf_text(const gltf_reader *reader, int token);
/* Records an error at a token, or at the JSON as a whole if token is -1. Returns FILE_FORMAT. */
tml_status tml_gltf_bad(const gltf_reader *reader, int token, const char *what);
/* Returns the token after this one and all tokens inside it. */
int tml_gltf_skip(const gltf_reader *reader, int token);
/* Returns the value of an object's member; -1 if there is none or the token is not an object. */
int tml_gltf_member(const gltf_reader *reader, int object, const char *name);
/* Gets a member that is an integer from 0 to 2^53; fallback if there is none. */
tml_status tml_gltf_get_number(const gltf_reader *reader, int object, const char *name,
                               uint64_t fallback, uint64_t *out);
/* Gets a member that is an array of count numbers. *is_there receives whether there is one. */
tml_status tml_gltf_get_numbers(const gltf_reader *reader, int object, const char *name, int count,
                                double *out, bool *is_there);
tml_status tml_gltf_make_list(gltf_reader *reader, const char *name, gltf_list *out);
/* Gets the token of a list's element. what names the kind of element in the error message. */
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

/* A checked accessor: count rows of components numbers, all of them inside the buffer. */
typedef struct gltf_array {
    const uint8_t *data;
    uint64_t count;
    uint64_t stride;
    uint64_t components;
    uint64_t type; /* GLTF_BYTE ... */
    bool is_normalized;
} gltf_array;

/* Opens an accessor, which must have so many components; 0: any number from 1 to 4. */
tml_status tml_gltf_open_array(gltf_reader *reader, uint64_t number, uint64_t components,
                               gltf_array *out);
/* Returns a number of an accessor. Normalised integers become fractions of their largest value
 * (section 3.6.2.2 of the specification). */
double tml_gltf_number(const gltf_array *array, uint64_t row, uint64_t component);
/* Frees the buffers and the accessors in memory of their own. */
void tml_gltf_free_buffers(gltf_reader *reader);

/* ---- gltf_mesh.c ----------------------------------------------------------------------------- */

/* The transform of a mesh: the columns of a matrix, three numbers each; the last is the
 * translation. */
typedef struct gltf_place {
    double m[12];
    bool is_identity;
} gltf_place;

tml_status tml_gltf_read_mesh(gltf_reader *reader, uint64_t number, const gltf_place *place);
tml_status tml_gltf_refuse_packed(const gltf_reader *reader, const char *extension);
#endif

#endif
