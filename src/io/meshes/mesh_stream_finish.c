/* Finishes a mesh that is saved in pieces: in place, as a whole, or by a team. */
#include <inttypes.h>

#include "io/meshes/mesh_spool.h"

static const char call[] = "tml_mesh_stream";

/* Checks that all rows were written: missing ones would be zeros. Then completes the file. */
static tml_status finish_in_place(tml_mesh_stream *stream, tml_status status)
{
    const tml_mesh *whole = &stream->whole, *mesh = &stream->mesh;
    if (status == TML_OK && (mesh->vertex_count != whole->vertex_count ||
                             mesh->triangle_count != whole->triangle_count))
        status = tml_error(stream->tml, TML_ERROR_INVALID_ARGUMENT,
                           "%s: %s: the pieces have %" PRIu64 " vertices and %" PRIu64
                           " triangles, desc.mesh.parts %" PRIu64 " and %" PRIu64,
                           call, stream->path, mesh->vertex_count, mesh->triangle_count,
                           whole->vertex_count, whole->triangle_count);
    if (status == TML_OK && stream->format->has_box) { /* writes the text again, with the box */
        stream->layout = (mesh_layout){0};
        status = stream->format->describe(stream->tml, stream->path, whole, &stream->box,
                                          &stream->layout);
        TML_THEN(status, tml_mesh_put_text(&stream->writer, &stream->layout));
    }
    return tml_io_finish(&stream->writer, status);
}

tml_status tml_mesh_stream_finish(tml_mesh_stream *stream, tml_status status)
{
    status = status != TML_OK ? status : stream->status;
    if (stream->in_place)
        status = finish_in_place(stream, status);
    else if (status == TML_OK)
        status = stream->team ? tml_mesh_team_finish(stream) : tml_mesh_finish_whole(stream);
    tml_mesh_stream_free(stream);
    return status;
}
