#include "support_opensubdiv.h"

#include <memory>
#include <vector>

#include <opensubdiv/far/primvarRefiner.h>
#include <opensubdiv/far/topologyDescriptor.h>

using namespace OpenSubdiv;

namespace
{

/* What PrimvarRefiner sums: points of n doubles. */
template <int n> struct Value {
    double v[n];
    void Clear(void * = nullptr)
    {
        for (double &x : v)
            x = 0.0;
    }
    void AddWithWeight(const Value &from, double weight)
    {
        for (int i = 0; i < n; i++)
            v[i] += weight * from.v[i];
    }
};

} // namespace

struct osd_mesh {
    std::unique_ptr<Far::TopologyRefiner> refiner;
    uint32_t levels;
};

extern "C" osd_mesh *osd_create(const osd_desc *desc)
{
    Far::TopologyDescriptor topology;
    std::vector<int> sizes(desc->triangle_count, 3);
    std::vector<int> indices(desc->triangles, desc->triangles + 3 * desc->triangle_count);
    std::vector<int> creases(desc->creases, desc->creases + 2 * desc->crease_count);
    std::vector<int> corners(desc->corners, desc->corners + desc->corner_count);
    std::vector<int> values;
    Far::TopologyDescriptor::FVarChannel channel;
    topology.numVertices = (int)desc->vertex_count;
    topology.numFaces = (int)desc->triangle_count;
    topology.numVertsPerFace = sizes.data();
    topology.vertIndicesPerFace = indices.data();
    topology.numCreases = (int)desc->crease_count;
    topology.creaseVertexIndexPairs = creases.data();
    topology.creaseWeights = desc->crease_sharpness;
    topology.numCorners = (int)desc->corner_count;
    topology.cornerVertexIndices = corners.data();
    topology.cornerWeights = desc->corner_sharpness;
    Sdc::Options options;
    options.SetVtxBoundaryInterpolation(desc->boundary ? Sdc::Options::VTX_BOUNDARY_EDGE_AND_CORNER
                                                       : Sdc::Options::VTX_BOUNDARY_EDGE_ONLY);
    if (desc->value_count) {
        static const Sdc::Options::FVarLinearInterpolation seams[] = {
            Sdc::Options::FVAR_LINEAR_CORNERS_ONLY, Sdc::Options::FVAR_LINEAR_NONE,
            Sdc::Options::FVAR_LINEAR_BOUNDARIES, Sdc::Options::FVAR_LINEAR_ALL};
        options.SetFVarLinearInterpolation(seams[desc->seams]);
        values.assign(desc->value_triangles, desc->value_triangles + 3 * desc->triangle_count);
        channel.numValues = (int)desc->value_count;
        channel.valueIndices = values.data();
        topology.numFVarChannels = 1;
        topology.fvarChannels = &channel;
    }
    typedef Far::TopologyRefinerFactory<Far::TopologyDescriptor> Factory;
    std::unique_ptr<Far::TopologyRefiner> refiner(
        Factory::Create(topology, Factory::Options(Sdc::SCHEME_LOOP, options)));
    if (!refiner)
        return nullptr;
    Far::TopologyRefiner::UniformOptions uniform(desc->levels);
    uniform.fullTopologyInLastLevel = true;
    refiner->RefineUniform(uniform);
    return new osd_mesh{std::move(refiner), desc->levels};
}

extern "C" void osd_destroy(osd_mesh *mesh)
{
    delete mesh;
}

extern "C" int32_t osd_child_of_vertex(const osd_mesh *mesh, uint32_t level, uint32_t vertex)
{
    return mesh->refiner->GetLevel((int)level).GetVertexChildVertex((int)vertex);
}

extern "C" int32_t osd_child_of_edge(const osd_mesh *mesh, uint32_t level, uint32_t a, uint32_t b)
{
    const Far::TopologyLevel &at = mesh->refiner->GetLevel((int)level);
    Far::Index edge = at.FindEdge((int)a, (int)b);
    return edge < 0 ? -1 : at.GetEdgeChildVertex(edge);
}

extern "C" bool osd_is_one_sided(const osd_mesh *mesh, uint32_t level, uint32_t vertex)
{
    const Far::TopologyLevel &at = mesh->refiner->GetLevel((int)level);
    if (at.GetVertexRule((int)vertex) == Sdc::Crease::RULE_CORNER)
        return at.GetVertexFaces((int)vertex).size() == 1;
    return at.IsVertexBoundary((int)vertex) ||
           at.GetVertexRule((int)vertex) != Sdc::Crease::RULE_CREASE;
}

extern "C" uint32_t osd_count(const osd_mesh *mesh, uint32_t level)
{
    return (uint32_t)mesh->refiner->GetLevel((int)level).GetNumVertices();
}

extern "C" uint32_t osd_value_count(const osd_mesh *mesh, uint32_t level)
{
    return (uint32_t)mesh->refiner->GetLevel((int)level).GetNumFVarValues(0);
}

extern "C" void osd_triangle(const osd_mesh *mesh, uint32_t level, uint32_t triangle,
                             uint32_t vertices[3], uint32_t values[3])
{
    const Far::TopologyLevel &at = mesh->refiner->GetLevel((int)level);
    for (int k = 0; k < 3; k++) {
        vertices[k] = (uint32_t)at.GetFaceVertices((int)triangle)[k];
        if (values)
            values[k] = (uint32_t)at.GetFaceFVarValues((int)triangle, 0)[k];
    }
}

extern "C" void osd_children(const osd_mesh *mesh, uint32_t level, uint32_t triangle,
                             uint32_t children[4])
{
    Far::ConstIndexArray faces =
        mesh->refiner->GetLevel((int)level).GetFaceChildFaces((int)triangle);
    for (int k = 0; k < 4; k++)
        children[k] = (uint32_t)faces[k];
}

template <int n> static void first_level(const float *from, uint32_t count, double *to)
{
    for (uint32_t i = 0; i < n * count; i++)
        to[i] = (double)from[i];
}

extern "C" void osd_refine(const osd_mesh *mesh, const float *points, double *const *out)
{
    Far::PrimvarRefinerReal<double> refiner(*mesh->refiner);
    first_level<3>(points, osd_count(mesh, 0), out[0]);
    for (uint32_t l = 1; l <= mesh->levels; l++) {
        const Value<3> *from = reinterpret_cast<const Value<3> *>(out[l - 1]);
        Value<3> *to = reinterpret_cast<Value<3> *>(out[l]);
        refiner.Interpolate((int)l, from, to);
    }
}

extern "C" void osd_refine_values(const osd_mesh *mesh, const float *uvs, double *const *out)
{
    Far::PrimvarRefinerReal<double> refiner(*mesh->refiner);
    first_level<2>(uvs, osd_value_count(mesh, 0), out[0]);
    for (uint32_t l = 1; l <= mesh->levels; l++) {
        const Value<2> *from = reinterpret_cast<const Value<2> *>(out[l - 1]);
        Value<2> *to = reinterpret_cast<Value<2> *>(out[l]);
        refiner.InterpolateFaceVarying((int)l, from, to);
    }
}

extern "C" void osd_limit(const osd_mesh *mesh, const double *points, double *limits,
                          double *tangents_u, double *tangents_v)
{
    Far::PrimvarRefinerReal<double> refiner(*mesh->refiner);
    const Value<3> *from = reinterpret_cast<const Value<3> *>(points);
    Value<3> *to = reinterpret_cast<Value<3> *>(limits);
    Value<3> *u = reinterpret_cast<Value<3> *>(tangents_u);
    Value<3> *v = reinterpret_cast<Value<3> *>(tangents_v);
    refiner.Limit(from, to, u, v);
}
