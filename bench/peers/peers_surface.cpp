// Surfaces, compared with VTK's Flying Edges: the same volume in memory, the same threads, runs
// alternating. Both allocate their mesh within the time and free it again; first with normals from
// central differences, then without. VTK uses the fastest of its threading backends.
//
//     peers_surface [--side N] [--threads N]... [--repeats N] [FIELD]...
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <vtkCellArray.h>
#include <vtkFloatArray.h>
#include <vtkFlyingEdges3D.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkSMPTools.h>
#include <vtkVersion.h>

#include "bench_data.h"
#include "bench_ops.h"

struct flying_edges {
    vtkNew<vtkImageData> image;
    vtkNew<vtkFloatArray> samples;
    vtkNew<vtkFlyingEdges3D> filter;
    vtkIdType vertices = 0, triangles = 0;

    flying_edges(float *data, uint64_t size, double iso, bool has_normals)
    {
        samples->SetArray(data, static_cast<vtkIdType>(size * size * size), 1);
        int side = static_cast<int>(size);
        image->SetDimensions(side, side, side);
        image->GetPointData()->SetScalars(samples);
        filter->SetInputData(image);
        filter->SetComputeNormals(has_normals);
        filter->ComputeGradientsOff();
        filter->ComputeScalarsOff();
        filter->SetValue(0, iso);
    }

    static bool run(void *user)
    {
        auto *self = static_cast<flying_edges *>(user);
        self->filter->Modified();
        self->filter->Update();
        vtkPolyData *mesh = self->filter->GetOutput();
        self->vertices = mesh->GetNumberOfPoints();
        self->triangles = mesh->GetNumberOfPolys();
        mesh->Initialize();
        return true;
    }
};

// The library's, into a mesh of its own.
struct our_surface {
    tml_context *tml;
    tml_surface_desc desc;

    static bool run(void *user)
    {
        auto *self = static_cast<our_surface *>(user);
        tml_surface_result result;
        if (tml_surface(self->tml, &self->desc, &result))
            return false;
        tml_surface_free(self->tml, &result);
        return true;
    }
};

// The backend that is fastest on this volume.
static std::string fastest_backend(flying_edges &edges, uint32_t threads)
{
    std::string best;
    double best_seconds = 0;
    for (const char *backend : {"STDThread", "TBB", "Sequential"}) {
        if (!vtkSMPTools::SetBackend(backend) || std::strcmp(vtkSMPTools::GetBackend(), backend) != 0)
            continue;
        vtkSMPTools::Initialize(static_cast<int>(threads));
        flying_edges::run(&edges);
        double start = bench_now();
        flying_edges::run(&edges);
        double seconds = bench_now() - start;
        if (best.empty() || seconds < best_seconds) {
            best = backend;
            best_seconds = seconds;
        }
    }
    return best;
}

static int fail(tml_context *tml, const char *what)
{
    std::fprintf(stderr, "peers_surface: %s: %s\n", what, tml ? tml_last_error(tml) : "");
    return 1;
}

static int compare(bench_field field, uint64_t size, uint32_t threads, uint32_t repeats,
                   bool has_normals)
{
    tml_open_desc open_desc{};
    open_desc.engine = TML_ENGINE_CPU;
    open_desc.threads = threads;
    tml_context *tml = nullptr;
    if (tml_open(&open_desc, &tml))
        return fail(tml, "cannot open the library");
    std::unique_ptr<tml_context, void (*)(tml_context *)> closer(tml, tml_close);

    size_t bytes = size * size * size * sizeof(float);
    auto *data = static_cast<float *>(tml_alloc(tml, bytes));
    if (!data || !bench_field_fill(tml, field, TML_F32, size, data))
        return fail(tml, "no memory for the volume");

    tml_grid grid{};
    for (uint64_t &dim : grid.dims)
        dim = size;
    double iso = bench_field_iso(field, TML_F32);
    bench_desc desc{};
    desc.kind = BENCH_SURFACE;
    desc.type = TML_F32;
    desc.data = data;
    desc.count = size * size * size;
    desc.grid = grid;
    desc.iso = iso;
    desc.normals = has_normals ? TML_NORMALS_CENTRAL : TML_NORMALS_NONE;
    bench_op op;
    if (bench_op_create(tml, &desc, &op) || bench_op_check(&op))
        return fail(tml, bench_field_name(field));

    flying_edges edges(data, size, iso, has_normals);
    std::string backend = fastest_backend(edges, threads);
    vtkSMPTools::SetBackend(backend.c_str());
    vtkSMPTools::Initialize(static_cast<int>(threads));

    our_surface ours{tml, op.surface};
    ours.desc.mesh = tml_mesh_buffers{};
    bench_job jobs[] = {{"trommel", our_surface::run, &ours},
                        {"vtkFlyingEdges3D", flying_edges::run, &edges}};
    bench_pace pace{};
    pace.repeats = repeats;
    if (!bench_run(jobs, 2, &pace))
        return fail(tml, bench_field_name(field));
    bool is_same = static_cast<uint64_t>(edges.vertices) == op.vertex_count &&
                   static_cast<uint64_t>(edges.triangles) == op.result_count;
    std::printf("%-15s %-8s %7u %12.2f %12.2f %7.1fx  %11llu %s  %s\n", bench_field_name(field),
                has_normals ? "central" : "none", threads,
                jobs[0].time.median_s * 1e3, jobs[1].time.median_s * 1e3,
                jobs[1].time.median_s / jobs[0].time.median_s,
                static_cast<unsigned long long>(op.result_count), is_same ? "=" : "differs",
                backend.c_str());
    std::fflush(stdout);
    bench_op_destroy(&op);
    tml_free(tml, data, bytes);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t size = 512;
    uint32_t repeats = 0;
    std::vector<uint32_t> threads;
    std::vector<bench_field> chosen;
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--side") == 0 && i + 1 < argc)
            size = std::strtoull(argv[++i], nullptr, 10);
        else if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            threads.push_back(static_cast<uint32_t>(std::strtoul(argv[++i], nullptr, 10)));
        else if (std::strcmp(argv[i], "--repeats") == 0 && i + 1 < argc)
            repeats = static_cast<uint32_t>(std::strtoul(argv[++i], nullptr, 10));
        else
            for (int f = 0; f < BENCH_FIELD_COUNT; f++)
                if (std::strcmp(argv[i], bench_field_name(static_cast<bench_field>(f))) == 0)
                    chosen.push_back(static_cast<bench_field>(f));
    }
    if (threads.empty())
        threads = {1, 2};
    if (chosen.empty())
        chosen = {BENCH_MARSCHNER_LOBB, BENCH_GYROID, BENCH_METABALLS, BENCH_NOISE};

    std::printf("surface, %llu^3 f32, medians in ms; %s\n\n",
                static_cast<unsigned long long>(size), vtkVersion::GetVTKSourceVersion());
    std::printf("%-15s %-8s %7s %12s %12s %8s  %11s\n", "field", "normals", "threads", "trommel", "FlyingEdges", "ratio",
                "triangles");
    for (bench_field field : chosen)
        for (uint32_t count : threads)
            for (bool has_normals : {true, false})
                if (compare(field, size, count, repeats, has_normals))
                    return 1;
    return 0;
}
