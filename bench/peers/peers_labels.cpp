// Boundaries of labels, compared with VTK: vtkSurfaceNets3D (of 9.3 and later), smoothed, and
// vtkDiscreteFlyingEdges3D, which makes a separate surface for each label, unsmoothed. The same
// volume in memory, one thread, runs alternating, timed by processor time. Both allocate their mesh
// within the time and free it again; "kept": ours reuses the mesh of the previous call. "=": equal
// numbers of vertices and triangles.
//
//     peers_labels [--side N] [--labels N]... [--input FILE] [--smooth N] [--repeats N]
//
// --labels N: the samples nearest to each of N random points; --input: a segmentation. Background,
// 0, must surround the labels, since VTK also makes faces at the border; for --labels, the outer
// layer is background.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <vtkDiscreteFlyingEdges3D.h>
#include <vtkImageData.h>
#include <vtkLogger.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkSMPTools.h>
#include <vtkSmartPointer.h>
#ifdef HAS_SURFACE_NETS
#    include <vtkSurfaceNets3D.h>
#endif

#include <trommel/volumes.h>

#include "bench_data.h"
#include "bench_run.h"

[[noreturn]] static void fail(tml_context *tml, const char *what)
{
    std::fprintf(stderr, "peers_labels: %s: %s\n", what, tml ? tml_last_error(tml) : "");
    std::exit(1);
}

struct mesh_size {
    uint64_t vertices, triangles;
};

struct ours {
    tml_context *tml;
    tml_surface_labels_desc desc;
    mesh_size size;
    size_t scratch_size;
    tml_surface_result kept;

    static bool run(void *user)
    {
        auto *self = static_cast<ours *>(user);
        tml_surface_result result;
        if (tml_surface_labels(self->tml, &self->desc, &result))
            return false;
        self->size = {result.vertex_count, result.triangle_count};
        self->scratch_size = result.scratch_size;
        tml_surface_free(self->tml, &result);
        return true;
    }
    static bool run_kept(void *user)
    {
        auto *self = static_cast<ours *>(user);
        tml_surface_labels_desc with = self->desc;
        tml_surface_result result;
        with.mesh = self->kept.mesh;
        with.face_labels = self->kept.face_labels;
        if (tml_surface_labels(self->tml, &with, &result))
            return false;
        if (result.owned)
            self->kept = result;
        return true;
    }
};

template <typename filter> struct theirs {
    vtkNew<filter> it;
    mesh_size size{};

    theirs(vtkImageData *image, const std::vector<double> &labels)
    {
        it->SetInputData(image);
        it->SetNumberOfContours(int(labels.size()));
        for (size_t i = 0; i < labels.size(); i++)
            it->SetValue(int(i), labels[i]);
    }
    static bool run(void *user)
    {
        auto *self = static_cast<theirs *>(user);
        self->it->Modified();
        self->it->Update();
        vtkPolyData *mesh = self->it->GetOutput();
        self->size = {uint64_t(mesh->GetNumberOfPoints()), uint64_t(mesh->GetNumberOfPolys())};
        mesh->Initialize();
        return true;
    }
};

template <typename filter>
static void compare(const char *name, ours &a, theirs<filter> &b, const bench_pace &pace)
{
    bench_job jobs[] = {
        {"trommel", ours::run, &a}, {"kept", ours::run_kept, &a}, {name, theirs<filter>::run, &b}};
    if (!bench_run(jobs, 3, &pace))
        fail(a.tml, name);
    tml_surface_free(a.tml, &a.kept);
    const double ms = jobs[0].time.median_s * 1e3, kept_ms = jobs[1].time.median_s * 1e3,
                 peer_ms = jobs[2].time.median_s * 1e3;
    const bool is_same = a.size.vertices == b.size.vertices && a.size.triangles == b.size.triangles;
    std::printf("  %-25s %9.1f %9.1f %9.1f %6.2fx %6.2fx %11llu %11llu %s\n", name, ms, kept_ms,
                peer_ms, peer_ms / ms, peer_ms / kept_ms,
                static_cast<unsigned long long>(a.size.triangles),
                static_cast<unsigned long long>(b.size.triangles), is_same ? "=" : "");
    std::fflush(stdout);
}

struct options {
    uint64_t side = 512;
    uint32_t smooth = 16, repeats = 0;
    std::vector<uint32_t> labels;
    const char *input = nullptr;
};

template <typename T> static std::vector<double> labels_of(const void *data, uint64_t count)
{
    const T *samples = static_cast<const T *>(data);
    std::vector<bool> is_there(size_t(*std::max_element(samples, samples + count)) + 1);
    std::vector<double> out;
    for (uint64_t i = 0; i < count; i++)
        is_there[samples[i]] = true;
    for (size_t i = 1; i < is_there.size(); i++)
        if (is_there[i])
            out.push_back(double(i));
    return out;
}

static void measure(tml_context *tml, const options &o, const char *name, const tml_volume &volume)
{
    const uint64_t *dims = volume.grid.dims, count = dims[0] * dims[1] * dims[2];
    if (volume.type != TML_U8 && volume.type != TML_U32)
        fail(nullptr, "labels are bytes or u32");
    const bool is_bytes = volume.type == TML_U8;
    const std::vector<double> labels =
        is_bytes ? labels_of<uint8_t>(volume.data, count) : labels_of<uint32_t>(volume.data, count);
    auto samples = vtkSmartPointer<vtkDataArray>::Take(
        vtkDataArray::CreateDataArray(is_bytes ? VTK_UNSIGNED_CHAR : VTK_UNSIGNED_INT));
    samples->SetVoidArray(volume.data, vtkIdType(count), 1);
    vtkNew<vtkImageData> image;
    image->SetDimensions(int(dims[0]), int(dims[1]), int(dims[2]));
    image->GetPointData()->SetScalars(samples);

    tml_buffer_desc buffer{};
    buffer.type = volume.type;
    buffer.count = count;
    buffer.host = volume.data;
    ours a{};
    a.tml = tml;
    std::copy(dims, dims + 3, a.desc.grid.dims);
    if (tml_buffer_create(tml, &buffer, &a.desc.volume))
        fail(tml, name);
    bench_pace pace{};
    pace.repeats = o.repeats;
    pace.by_processor = true;
    std::printf("%s, %llu x %llu x %llu %s, %zu labels\n", name,
                static_cast<unsigned long long>(dims[0]), static_cast<unsigned long long>(dims[1]),
                static_cast<unsigned long long>(dims[2]), tml_type_name(volume.type),
                labels.size());
#ifdef HAS_SURFACE_NETS
    a.desc.smooth = o.smooth;
    theirs<vtkSurfaceNets3D> nets(image, labels);
    nets.it->SetSmoothing(o.smooth > 0);
    nets.it->SetNumberOfIterations(int(o.smooth));
    nets.it->SetRelaxationFactor(0.5);
    nets.it->SetOutputMeshTypeToTriangles();
    compare("vtkSurfaceNets3D", a, nets, pace);
    std::printf("  scratch %.3f bytes a sample\n", double(a.scratch_size) / double(count));
#endif
    a.desc.smooth = 0;
    theirs<vtkDiscreteFlyingEdges3D> edges(image, labels);
    edges.it->ComputeNormalsOff();
    edges.it->ComputeScalarsOn(); // which label a triangle is of
    if (labels.size() <= 32)      // reads the volume once for each
        compare("vtkDiscreteFlyingEdges3D", a, edges, pace);
    tml_buffer_destroy(tml, a.desc.volume);
}

int main(int argc, char **argv)
{
    options o;
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        if (std::strcmp(argv[i], "--side") == 0)
            o.side = std::strtoull(value, nullptr, 10);
        else if (std::strcmp(argv[i], "--labels") == 0)
            o.labels.push_back(uint32_t(std::strtoul(value, nullptr, 10)));
        else if (std::strcmp(argv[i], "--input") == 0)
            o.input = value;
        else if (std::strcmp(argv[i], "--smooth") == 0)
            o.smooth = uint32_t(std::strtoul(value, nullptr, 10));
        else if (std::strcmp(argv[i], "--repeats") == 0)
            o.repeats = uint32_t(std::strtoul(value, nullptr, 10));
    }
    if (o.labels.empty() && !o.input)
        o.labels = {105};
    vtkSMPTools::SetBackend("Sequential");
    vtkLogger::SetStderrVerbosity(vtkLogger::VERBOSITY_ERROR);
    tml_context *tml = nullptr;
    tml_open_desc open_desc{};
    open_desc.engine = TML_ENGINE_CPU;
    open_desc.threads = 1;
    if (tml_open(&open_desc, &tml))
        fail(tml, "cannot open the library");
    std::printf("labels, smoothed %u times, medians in ms of processor time; %s\n\n", o.smooth,
                vtkVersion::GetVTKSourceVersion());
    std::printf("  %-25s %9s %9s %9s %7s %7s %11s %11s\n", "peer", "trommel", "kept", "peer",
                "ratio", "kept", "triangles", "peer's");
    if (o.input) {
        tml_load_desc desc{};
        tml_volume volume;
        if (tml_volume_load(tml, o.input, &desc, &volume))
            fail(tml, o.input);
        measure(tml, o, o.input, volume);
        tml_volume_free(tml, &volume);
    }
    for (uint32_t count : o.labels) {
        tml_volume volume{};
        volume.type = TML_U32;
        std::fill_n(volume.grid.dims, 3, o.side);
        std::vector<uint32_t> samples(o.side * o.side * o.side);
        if (!bench_labels_fill(tml, count, o.side, samples.data()))
            fail(nullptr, "no memory for the labels");
        for (uint64_t i = 0; i < samples.size(); i++)
            for (uint64_t at = i, a = 0; a < 3; a++, at /= o.side)
                if (at % o.side == 0 || at % o.side == o.side - 1)
                    samples[i] = 0;
        volume.data = samples.data();
        measure(tml, o, "Voronoi", volume);
    }
    tml_close(tml);
    return 0;
}
