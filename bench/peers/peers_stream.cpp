// Streams, compared with the C++ standard library's algorithms, serial and parallel (TBB), with
// numpy, and with the sorts of vqsort (Highway) and x86-simd-sort if they are installed: the same
// arrays, the same threads, runs alternating. Outputs are allocated before the time starts, except
// for numpy's masks, which always allocate a new array. In-place sorts copy their input first.
// vqsort's and x86-simd-sort's sorts of pairs are not stable.
//
//     peers_stream [--count N] [--threads N]... [--repeats N]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execution>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <tbb/global_control.h>
#include <unistd.h>

#ifdef HAS_VQSORT
#    include <hwy/contrib/sort/vqsort.h>
#endif
#ifdef HAS_X86_SIMD_SORT
#    include <x86simdsort.h>
#endif

#include "bench_data.h"
#include "bench_ops.h"

static const char *const peer_names[] = {"std", "std par_unseq", "numpy", "vqsort",
                                         "x86-simd-sort"};

// numpy, in a process of its own that answers commands; nothing if python or numpy is missing.
class numpy
{
  public:
    numpy(const void *data, size_t bytes, const char *dtype)
    {
        char path[] = "/dev/shm/trommel-bench-XXXXXX";
        int file = mkstemp(path);
        int to_child[2], from_child[2];
        if (file < 0)
            return;
        bool is_written = write_all(file, data, bytes);
        close(file);
        if (is_written && pipe2(to_child, O_CLOEXEC) == 0 && pipe2(from_child, O_CLOEXEC) == 0) {
            child_ = fork();
            if (child_ == 0) {
                dup2(to_child[0], 0);
                dup2(from_child[1], 1);
                execlp(NUMPY_PYTHON, NUMPY_PYTHON, NUMPY_SCRIPT, path, dtype, nullptr);
                _exit(127);
            }
            close(to_child[0]);
            close(from_child[1]);
            commands_ = fdopen(to_child[1], "w");
            answers_ = fdopen(from_child[0], "r");
            is_ready_ = answer() == "ready";
        }
        unlink(path);
    }
    ~numpy()
    {
        if (commands_)
            fclose(commands_);
        if (answers_)
            fclose(answers_);
        if (child_ > 0)
            waitpid(child_, nullptr, 0);
    }
    numpy(const numpy &) = delete;
    numpy &operator=(const numpy &) = delete;

    bool is_ready() const
    {
        return is_ready_;
    }
    bool ask(const std::string &command)
    {
        fprintf(commands_, "%s\n", command.c_str());
        fflush(commands_);
        return !answer().empty();
    }

  private:
    static bool write_all(int file, const void *data, size_t bytes)
    {
        for (size_t done = 0; done < bytes;) {
            ssize_t wrote = write(file, static_cast<const char *>(data) + done, bytes - done);
            if (wrote <= 0)
                return false;
            done += static_cast<size_t>(wrote);
        }
        return true;
    }
    std::string answer()
    {
        char line[128] = "";
        if (!fgets(line, sizeof line, answers_))
            return "";
        return std::string(line, strcspn(line, "\n"));
    }
    FILE *commands_ = nullptr, *answers_ = nullptr;
    pid_t child_ = 0;
    bool is_ready_ = false;
};

// One operation of ours, a memcpy of as many bytes, and what peers there are.
class row
{
  public:
    row(std::string name, bench_op &op) : name_(std::move(name)), op_(op)
    {
        bench_copy_create(op.tml, op.bytes, &copy_);
        jobs_.push_back({"trommel", bench_op_run, &op_});
        jobs_.push_back({"memcpy", bench_copy_run, &copy_});
    }
    ~row()
    {
        bench_copy_destroy(&copy_);
    }
    void peer(const char *name, std::function<void()> work)
    {
        peers_.push_back(std::make_unique<std::function<void()>>(std::move(work)));
        jobs_.push_back({name, call, peers_.back().get()});
    }
    bool measure(uint32_t threads, uint32_t repeats)
    {
        bench_pace pace{};
        pace.repeats = repeats;
        if (!copy_.from || !bench_run(jobs_.data(), static_cast<uint32_t>(jobs_.size()), &pace))
            return false;
        double ours = jobs_[0].time.median_s, fastest = 0;
        printf("%-18s %7u %9.2f %8.0f %%", name_.c_str(), threads, ours * 1e3,
               jobs_[1].time.median_s / ours * 100);
        for (const char *peer : peer_names) {
            auto job = std::find_if(jobs_.begin(), jobs_.end(),
                                    [&](const bench_job &j) { return !strcmp(j.name, peer); });
            if (job == jobs_.end()) {
                printf(" %13s", "-");
                continue;
            }
            printf(" %13.2f", job->time.median_s * 1e3);
            fastest = fastest ? std::min(fastest, job->time.median_s) : job->time.median_s;
        }
        printf(" %7.1fx\n", fastest / ours);
        fflush(stdout);
        return true;
    }

  private:
    static bool call(void *work)
    {
        (*static_cast<std::function<void()> *>(work))();
        return true;
    }
    std::string name_;
    bench_op op_;
    bench_copy copy_{};
    std::vector<std::unique_ptr<std::function<void()>>> peers_;
    std::vector<bench_job> jobs_;
};

static volatile double sink; // keeps results that nobody reads

// An array in the library's memory, with huge pages if the system provides them: the same for all.
template <typename T> class block
{
  public:
    block(tml_context *tml, uint64_t count)
        : tml_(tml), count_(count), data_(static_cast<T *>(tml_alloc(tml, count * sizeof(T))))
    {
        if (!data_)
            throw std::bad_alloc();
        std::fill(begin(), end(), T{});
    }
    ~block()
    {
        tml_free(tml_, data_, count_ * sizeof(T));
    }
    block(const block &) = delete;
    block &operator=(const block &) = delete;
    T *begin()
    {
        return data_;
    }
    T *end()
    {
        return data_ + count_;
    }
    T *data()
    {
        return data_;
    }
    T &operator[](uint64_t i)
    {
        return data_[i];
    }

  private:
    tml_context *tml_;
    uint64_t count_;
    T *data_;
};

static bool make(tml_context *tml, bench_kind kind, tml_type type, const void *data, uint64_t count,
                 uint32_t keep_below, bench_op *out)
{
    bench_desc desc{};
    desc.kind = kind;
    desc.type = type;
    desc.data = data;
    desc.count = count;
    desc.keep_below = keep_below;
    return bench_op_create(tml, &desc, out) == TML_OK && bench_op_check(out) == TML_OK;
}

// Only keys, in copies of the input.
static bool compare_sort(tml_context *tml, uint32_t threads, block<uint32_t> &in, uint64_t count,
                         numpy &python, uint32_t repeats)
{
    block<uint32_t> out(tml, count);
    bench_op op;
    if (!make(tml, BENCH_SORT, TML_U32, in.data(), count, 0, &op))
        return false;
    row row("sort", op);
    auto copied = [&] { return std::copy(in.begin(), in.begin() + count, out.begin()); };
    row.peer("std", [&] { std::sort(out.begin(), copied()); });
    if (threads > 1)
        row.peer("std par_unseq",
                 [&] { std::sort(std::execution::par_unseq, out.begin(), copied()); });
    if (python.is_ready())
        row.peer("numpy", [&] { python.ask("sort"); });
#ifdef HAS_VQSORT
    hwy::Sorter sorter;
    row.peer("vqsort", [&] {
        copied();
        sorter(out.data(), count, hwy::SortAscending());
    });
#endif
#ifdef HAS_X86_SIMD_SORT
    row.peer("x86-simd-sort", [&] {
        copied();
        x86simdsort::qsort(out.data(), count);
    });
#endif
    bool passed = row.measure(threads, repeats);
    bench_op_destroy(&op);
    return passed;
}

// Keys and payloads: records of both for the standard library and vqsort; two arrays for the
// others.
static bool compare_pairs(tml_context *tml, uint32_t threads, block<uint32_t> &in, uint64_t count,
                          numpy &python, uint32_t repeats)
{
    block<uint64_t> records(tml, count), out(tml, count);
    bench_op op;
    for (uint64_t i = 0; i < count; i++)
        records[i] = uint64_t{in[i]} << 32 | i;
    if (!make(tml, BENCH_PAIRS, TML_U32, in.data(), count, 0, &op))
        return false;
    row row("sort pairs", op);
    auto copied = [&] { return std::copy(records.begin(), records.end(), out.begin()); };
    auto is_less = [](uint64_t a, uint64_t b) { return a >> 32 < b >> 32; };
    row.peer("std", [&] { std::stable_sort(out.begin(), copied(), is_less); });
    if (threads > 1)
        row.peer("std par_unseq", [&] {
            std::stable_sort(std::execution::par_unseq, out.begin(), copied(), is_less);
        });
    if (python.is_ready())
        row.peer("numpy", [&] { python.ask("argsort"); });
#ifdef HAS_VQSORT
    hwy::Sorter sorter;
    row.peer("vqsort", [&] {
        copied();
        sorter(reinterpret_cast<hwy::K32V32 *>(out.data()), count, hwy::SortAscending());
    });
#endif
#ifdef HAS_X86_SIMD_SORT
    block<uint32_t> keys(tml, count), values(tml, count), numbers(tml, count);
    std::iota(numbers.begin(), numbers.end(), 0u);
    row.peer("x86-simd-sort", [&] {
        std::copy(in.begin(), in.begin() + count, keys.begin());
        std::copy(numbers.begin(), numbers.end(), values.begin());
        x86simdsort::keyvalue_qsort(keys.data(), values.data(), count);
    });
#endif
    bool passed = row.measure(threads, repeats);
    bench_op_destroy(&op);
    return passed;
}

static bool compare(tml_context *tml, uint32_t threads, uint64_t count, uint32_t repeats)
{
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    block<uint32_t> in(tml, count), out(tml, count);
    bench_stream_fill(tml, count, in.data());
    numpy python(in.data(), count * sizeof in[0], "u4");
    bench_op op;

    printf("\n%llu elements\n", static_cast<unsigned long long>(count));
    for (double percent : {1., 10., 50., 90.}) {
        uint32_t below = bench_stream_threshold(percent);
        auto is_kept = [below](uint32_t x) { return x < below; };
        if (!make(tml, BENCH_COMPACT, TML_U32, in.data(), count, below, &op))
            return false;
        char name[64];
        snprintf(name, sizeof name, "compact %g %%", percent);
        row row(name, op);
        row.peer("std", [&] { std::copy_if(in.begin(), in.end(), out.begin(), is_kept); });
        if (threads > 1)
            row.peer("std par_unseq", [&] {
                std::copy_if(std::execution::par_unseq, in.begin(), in.end(), out.begin(), is_kept);
            });
        if (python.is_ready())
            row.peer("numpy", [&] { python.ask("compact " + std::to_string(below)); });
        if (!row.measure(threads, repeats))
            return false;
        bench_op_destroy(&op);
    }
    {
        if (!make(tml, BENCH_SCAN, TML_U32, in.data(), count, 0, &op))
            return false;
        row row("exclusive scan", op);
        row.peer("std", [&] { std::exclusive_scan(in.begin(), in.end(), out.begin(), 0u); });
        if (threads > 1)
            row.peer("std par_unseq", [&] {
                std::exclusive_scan(std::execution::par_unseq, in.begin(), in.end(), out.begin(),
                                    0u);
            });
        if (python.is_ready())
            row.peer("numpy", [&] { python.ask("scan"); });
        if (!row.measure(threads, repeats))
            return false;
        bench_op_destroy(&op);
    }
    {
        if (!make(tml, BENCH_REDUCE, TML_U32, in.data(), count, 0, &op))
            return false;
        row row("sum u32", op);
        row.peer("std", [&] {
            sink = static_cast<double>(std::reduce(in.begin(), in.end(), uint64_t{0}));
        });
        if (threads > 1)
            row.peer("std par_unseq", [&] {
                sink = static_cast<double>(
                    std::reduce(std::execution::par_unseq, in.begin(), in.end(), uint64_t{0}));
            });
        if (python.is_ready())
            row.peer("numpy", [&] { python.ask("reduce"); });
        if (!row.measure(threads, repeats))
            return false;
        bench_op_destroy(&op);
    }
    if (!compare_sort(tml, threads, in, count, python, repeats) ||
        !compare_pairs(tml, threads, in, count, python, repeats))
        return false;
    block<float> real(tml, count);
    for (uint64_t i = 0; i < count; i++)
        real[i] = static_cast<float>(in[i] >> 8) * 0x1p-24f;
    if (!make(tml, BENCH_REDUCE, TML_F32, real.data(), count, 0, &op))
        return false;
    row row("sum f32", op);
    // In double, or the peers' sums would stop at 2^24.
    row.peer("std", [&] { sink = std::reduce(real.begin(), real.end(), 0.0); });
    if (threads > 1)
        row.peer("std par_unseq", [&] {
            sink = std::reduce(std::execution::par_unseq, real.begin(), real.end(), 0.0);
        });
    bool passed = row.measure(threads, repeats);
    bench_op_destroy(&op);
    return passed;
}

int main(int argc, char **argv)
{
    std::vector<uint64_t> counts;
    std::vector<uint32_t> threads;
    uint32_t repeats = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t value = strtoull(argv[i + 1], nullptr, 10);
        if (strcmp(argv[i], "--count") == 0)
            counts.push_back(value);
        else if (strcmp(argv[i], "--threads") == 0)
            threads.push_back(static_cast<uint32_t>(value));
        else if (strcmp(argv[i], "--repeats") == 0)
            repeats = static_cast<uint32_t>(value);
    }
    if (counts.empty())
        counts = {1u << 24, 1u << 27};
    if (threads.empty())
        threads = {1, 2};

    printf("streams, medians in ms\n\n%-18s %7s %9s %10s", "", "threads", "trommel", "of memcpy");
    for (const char *peer : peer_names)
        printf(" %13s", peer);
    printf(" %8s\n", "ratio");
    for (uint64_t count : counts)
        for (uint32_t number : threads) {
            tml_open_desc desc{};
            desc.engine = TML_ENGINE_CPU;
            desc.threads = number;
            tml_context *tml = nullptr;
            if (tml_open(&desc, &tml) || !compare(tml, number, count, repeats)) {
                fprintf(stderr, "peers_stream: %s\n", tml ? tml_last_error(tml) : "cannot open");
                return 1;
            }
            tml_close(tml);
        }
    return 0;
}
