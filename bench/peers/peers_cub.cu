// Streams by CUB, on the same data, counts and shares as "trommel-bench streams", which shows the
// lines of this program next to its own:
//
//     nvcc -O3 -std=c++17 -arch=sm_90 -o peers_cub peers_cub.cu
//     ./peers_cub [COUNT]... > cub.txt
//     trommel-bench streams --backend vulkan --count COUNT --peers cub.txt
//
// Lines: operation, count, percent, milliseconds. percent is 0 if there is none; for histograms it
// is the number of bins, negative if one bin has all elements. Times are medians of device time,
// after a warm-up; results are checked first. Short operations are timed several at a time, behind
// a kernel that keeps the device busy until all of them are enqueued, so that launching does not
// count. They alternate between several inputs and outputs, so that no cache holds them.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <cub/cub.cuh>
#include <cuda/std/functional>
#include <cuda_runtime.h>
#include <thrust/iterator/transform_iterator.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "peers_cub: line %d: %s\n", __LINE__, cudaGetErrorString(error_));     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

namespace {

constexpr double percents[] = {1, 10, 50, 90};
constexpr uint64_t uncached_bytes = uint64_t{256} << 20;
constexpr size_t most_sets = 32;

// ---- data: bench_data.c's streams and what bench_ops.c makes of them ------------------------------

uint32_t hash32(uint32_t x)
{
    x = (x ^ x >> 16) * 0x21f0aaadu;
    x = (x ^ x >> 15) * 0xd35a2d97u;
    return x ^ x >> 15;
}

uint32_t hash64(uint64_t x)
{
    return hash32(static_cast<uint32_t>(x) ^ hash32(static_cast<uint32_t>(x >> 32)));
}

uint32_t threshold(double percent)
{
    return static_cast<uint32_t>(percent / 100 * 4294967296.0);
}

std::vector<uint32_t> make_data(uint64_t count)
{
    std::vector<uint32_t> data(count);
    for (uint64_t i = 0; i < count; i++)
        data[i] = hash64(i);
    return data;
}

std::vector<uint8_t> make_flags(const std::vector<uint32_t> &data, uint32_t below)
{
    std::vector<uint8_t> flags(data.size());
    for (size_t i = 0; i < data.size(); i++)
        flags[i] = data[i] < below;
    return flags;
}

// Each element is its run's number.
std::vector<uint32_t> make_runs(const std::vector<uint32_t> &data, uint32_t below)
{
    std::vector<uint32_t> runs(data.size());
    uint32_t run = 0;
    for (size_t i = 0; i < data.size(); i++)
        runs[i] = run += i > 0 && data[i] < below;
    return runs;
}

struct is_below {
    uint32_t limit;
    __host__ __device__ bool operator()(const uint32_t &x) const { return x < limit; }
};

// ---- the device -----------------------------------------------------------------------------------

template <typename T> class device_array {
public:
    explicit device_array(uint64_t count) : count_(count)
    {
        CHECK(cudaMalloc(reinterpret_cast<void **>(&data_), std::max<uint64_t>(count, 1) * sizeof(T)));
    }
    explicit device_array(const std::vector<T> &from) : device_array(from.size())
    {
        CHECK(cudaMemcpy(data_, from.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    device_array(device_array &&other) noexcept : data_(other.data_), count_(other.count_)
    {
        other.data_ = nullptr;
    }
    device_array(const device_array &) = delete;
    device_array &operator=(const device_array &) = delete;
    ~device_array() { cudaFree(data_); }
    T *get() const { return data_; }
    std::vector<T> read(uint64_t count) const
    {
        std::vector<T> out(count);
        CHECK(cudaMemcpy(out.data(), data_, count * sizeof(T), cudaMemcpyDeviceToHost));
        return out;
    }

private:
    T *data_ = nullptr;
    uint64_t count_ = 0;
};

__global__ void spin(long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

// ---- timing ---------------------------------------------------------------------------------------

// An operation on set number s of its arrays.
using work = std::function<void(size_t s)>;

class timer {
public:
    timer()
    {
        CHECK(cudaEventCreate(&begin_));
        CHECK(cudaEventCreate(&end_));
    }
    ~timer()
    {
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }
    // Milliseconds of one of batch runs.
    double time(const work &run, size_t sets, int batch)
    {
        spin<<<1, 1>>>(1000000); // half a millisecond
        CHECK(cudaEventRecord(begin_));
        for (int i = 0; i < batch; i++)
            run(next_++ % sets);
        CHECK(cudaEventRecord(end_));
        CHECK(cudaEventSynchronize(end_));
        CHECK(cudaGetLastError());
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, begin_, end_));
        return ms / batch;
    }
    // The median, after a quarter of a second to leave the resting clock rate.
    double median(const work &run, size_t sets)
    {
        double warm = 0;
        int batch = 1;
        for (int i = 0; warm < 250 || i < 20; i++) {
            double ms = time(run, sets, batch);
            warm += std::max(ms * batch, 0.05); // and what lies between
            if (ms * batch < 2 && batch < 64)
                batch *= 2;
        }
        std::vector<double> all;
        double total = 0;
        while (all.size() < 50 || (total < 500 && all.size() < 1000)) {
            all.push_back(time(run, sets, batch));
            total += all.back() * batch;
        }
        std::sort(all.begin(), all.end());
        return 0.5 * (all[(all.size() - 1) / 2] + all[all.size() / 2]);
    }

private:
    cudaEvent_t begin_, end_;
    size_t next_ = 0;
};

// CUB asks for its scratch with a first call.
class scratch {
public:
    ~scratch() { cudaFree(memory_); }
    // call(memory, size) is the CUB function, with everything else bound.
    template <typename F> void reserve(F call)
    {
        size_t size = 0;
        CHECK(call(nullptr, size));
        if (size > size_) {
            CHECK(cudaFree(memory_));
            CHECK(cudaMalloc(&memory_, size));
            size_ = size;
        }
    }
    template <typename F> void run(F call)
    {
        size_t size = size_;
        CHECK(call(memory_, size));
    }

private:
    void *memory_ = nullptr;
    size_t size_ = 0;
};

size_t sets_for(uint64_t bytes)
{
    return std::min<uint64_t>(uncached_bytes / (bytes + 1) + 1, most_sets);
}

template <typename T> std::vector<device_array<T>> copies_of(const std::vector<T> &data, size_t sets)
{
    std::vector<device_array<T>> out;
    for (size_t s = 0; s < sets; s++)
        out.emplace_back(data);
    return out;
}

template <typename T> std::vector<device_array<T>> room_for(uint64_t count, size_t sets)
{
    std::vector<device_array<T>> out;
    for (size_t s = 0; s < sets; s++)
        out.emplace_back(count);
    return out;
}

void require(bool is_right, const char *op)
{
    if (is_right)
        return;
    fprintf(stderr, "peers_cub: %s: a wrong result\n", op);
    exit(1);
}

void print(const char *op, uint64_t count, double percent, double ms)
{
    printf("%s %llu %g %.6f\n", op, static_cast<unsigned long long>(count), percent, ms);
    fflush(stdout);
}

// ---- the operations -------------------------------------------------------------------------------

void measure(uint64_t count)
{
    using u32s = std::vector<uint32_t>;
    const u32s data = make_data(count);
    const auto n = static_cast<int64_t>(count);
    const size_t sets = sets_for(count * 8);
    auto in = copies_of(data, sets);
    auto out = room_for<uint32_t>(count, sets);
    device_array<int64_t> selected(1);
    device_array<uint64_t> sum(1);
    timer clock;

    print("copy", count, 0, clock.median([&](size_t s) {
        CHECK(cudaMemcpyAsync(out[s].get(), in[s].get(), count * 4, cudaMemcpyDeviceToDevice));
    }, sets));

    for (double percent : percents) {
        const uint32_t below = threshold(percent);
        u32s kept, rejected;
        for (uint32_t x : data)
            (x < below ? kept : rejected).push_back(x);
        const auto flag_bytes = make_flags(data, below);
        auto flags = copies_of(flag_bytes, sets);
        {
            scratch memory;
            size_t s = 0;
            auto call = [&](void *temp, size_t &size) {
                return cub::DeviceSelect::If(temp, size, in[s].get(), out[s].get(), selected.get(), n,
                                             is_below{below});
            };
            memory.reserve(call);
            work run = [&](size_t set) { s = set; memory.run(call); };
            run(0);
            require(selected.read(1)[0] == static_cast<int64_t>(kept.size()) &&
                        out[0].read(kept.size()) == kept, "select_if");
            print("compact", count, percent, clock.median(run, sets));
        }
        {
            scratch memory;
            size_t s = 0;
            auto call = [&](void *temp, size_t &size) {
                return cub::DeviceSelect::Flagged(temp, size, in[s].get(), flags[s].get(),
                                                  out[s].get(), selected.get(), n);
            };
            memory.reserve(call);
            work run = [&](size_t set) { s = set; memory.run(call); };
            run(0);
            require(selected.read(1)[0] == static_cast<int64_t>(kept.size()) &&
                        out[0].read(kept.size()) == kept, "select_flagged");
            print("flags", count, percent, clock.median(run, sets));
        }
        {
            scratch memory;
            size_t s = 0;
            auto call = [&](void *temp, size_t &size) {
                return cub::DevicePartition::Flagged(temp, size, in[s].get(), flags[s].get(),
                                                     out[s].get(), selected.get(), n);
            };
            memory.reserve(call);
            work run = [&](size_t set) { s = set; memory.run(call); };
            run(0);
            u32s expected = kept; // CUB leaves the rejected in reverse
            expected.insert(expected.end(), rejected.rbegin(), rejected.rend());
            require(selected.read(1)[0] == static_cast<int64_t>(kept.size()) &&
                        out[0].read(count) == expected, "partition_flagged");
            print("partition", count, percent, clock.median(run, sets));
        }
        flags.clear();

        const u32s run_numbers = make_runs(data, below);
        auto runs = copies_of(run_numbers, sets);
        {
            scratch memory;
            size_t s = 0;
            auto call = [&](void *temp, size_t &size) {
                return cub::DeviceSelect::Unique(temp, size, runs[s].get(), out[s].get(),
                                                 selected.get(), n);
            };
            memory.reserve(call);
            work run = [&](size_t set) { s = set; memory.run(call); };
            run(0);
            u32s expected(run_numbers.empty() ? 0 : run_numbers.back() + size_t{1});
            for (size_t i = 0; i < expected.size(); i++)
                expected[i] = static_cast<uint32_t>(i);
            require(selected.read(1)[0] == static_cast<int64_t>(expected.size()) &&
                        out[0].read(expected.size()) == expected, "unique");
            print("unique", count, percent, clock.median(run, sets));
        }
        {
            scratch memory;
            size_t s = 0;
            auto call = [&](void *temp, size_t &size) {
                return cub::DeviceScan::ExclusiveSumByKey(temp, size, runs[s].get(), in[s].get(),
                                                          out[s].get(), n);
            };
            memory.reserve(call);
            work run = [&](size_t set) { s = set; memory.run(call); };
            run(0);
            u32s expected(count);
            for (uint64_t i = 1; i < count; i++)
                expected[i] =
                    run_numbers[i] == run_numbers[i - 1] ? expected[i - 1] + data[i - 1] : 0;
            require(out[0].read(count) == expected, "scan_by_key");
            print("segments", count, percent, clock.median(run, sets));
        }
    }
    {
        scratch memory;
        size_t s = 0;
        auto call = [&](void *temp, size_t &size) {
            return cub::DeviceScan::ExclusiveSum(temp, size, in[s].get(), out[s].get(), n);
        };
        memory.reserve(call);
        work run = [&](size_t set) { s = set; memory.run(call); };
        run(0);
        u32s expected(count);
        for (uint64_t i = 1; i < count; i++)
            expected[i] = expected[i - 1] + data[i - 1];
        require(out[0].read(count) == expected, "scan");
        print("scan", count, 0, clock.median(run, sets));
    }
    {
        scratch memory;
        size_t s = 0;
        auto call = [&](void *temp, size_t &size) {
            return cub::DeviceReduce::Sum(temp, size, in[s].get(), sum.get(), n);
        };
        memory.reserve(call);
        work run = [&](size_t set) { s = set; memory.run(call); };
        run(0);
        // The accumulator's type follows the iterator's and the start value's; CUB sums u32 in u32.
        uint64_t wide = 0;
        for (uint32_t x : data)
            wide += x;
        const uint64_t got = sum.read(1)[0];
        require(got == wide || got == static_cast<uint32_t>(wide), "reduce");
        print("reduce", count, 0, clock.median(run, sets));
    }
}

// ---- sorts, and what is done with sorted keys -----------------------------------------------------

struct highest_byte {
    __host__ __device__ uint32_t operator()(const uint32_t &x) const { return x >> 24; }
};

// Runs call(set, memory, size) once and checks it, then times it.
template <typename Call, typename Check>
void measure_call(timer &clock, const char *name, uint64_t count, double percent, size_t sets,
                  Call call, Check is_right)
{
    scratch memory;
    size_t s = 0;
    auto bound = [&](void *temp, size_t &size) { return call(s, temp, size); };
    memory.reserve(bound);
    work run = [&](size_t set) { s = set; memory.run(bound); };
    run(0);
    require(is_right(), name);
    print(name, count, percent, clock.median(run, sets));
}

uint64_t sum_of(const std::vector<uint32_t> &values)
{
    uint64_t sum = 0;
    for (uint32_t x : values)
        sum += uint64_t{x} * x + x;
    return sum;
}

// Rows of --bins: elements spread over all bins, and all in the middle one.
void measure_histograms(uint64_t count)
{
    using u32s = std::vector<uint32_t>;
    const u32s data = make_data(count);
    const auto n = static_cast<int64_t>(count);
    const size_t sets = sets_for(count * 4);
    timer clock;
    for (uint32_t bins : {256u, 65536u, 1u << 20})
        for (bool is_one : {false, true}) {
            u32s numbers(count, bins / 2), expected(bins);
            for (uint64_t i = 0; i < count; i++) {
                if (!is_one)
                    numbers[i] = static_cast<uint32_t>(uint64_t{data[i]} * bins >> 32);
                expected[numbers[i]]++;
            }
            const auto in = copies_of(numbers, sets);
            device_array<uint32_t> counts(bins);
            measure_call(clock, "histogram", count, is_one ? -double(bins) : double(bins), sets,
                         [&](size_t s, void *temp, size_t &size) {
                return cub::DeviceHistogram::HistogramEven(temp, size, in[s].get(), counts.get(),
                                                           static_cast<int>(bins + 1), uint32_t{0},
                                                           bins, n);
            }, [&] { return counts.read(bins) == expected; });
        }
}

void measure_sorts(uint64_t count)
{
    using u32s = std::vector<uint32_t>;
    const u32s data = make_data(count);
    const auto n = static_cast<int64_t>(count);
    const size_t sets = sets_for(count * 16);
    u32s numbers(count);
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = static_cast<uint32_t>(i);
    auto in = copies_of(data, sets), payload = copies_of(numbers, sets);
    auto out = room_for<uint32_t>(count, sets), moved = room_for<uint32_t>(count, sets);
    timer clock;

    measure_call(clock, "sort", count, 0, sets, [&](size_t s, void *temp, size_t &size) {
        return cub::DeviceRadixSort::SortKeys(temp, size, in[s].get(), out[s].get(), n);
    }, [&] {
        const u32s got = out[0].read(count);
        return std::is_sorted(got.begin(), got.end()) && sum_of(got) == sum_of(data);
    });
    measure_call(clock, "pairs", count, 0, sets, [&](size_t s, void *temp, size_t &size) {
        return cub::DeviceRadixSort::SortPairs(temp, size, in[s].get(), out[s].get(),
                                               payload[s].get(), moved[s].get(), n);
    }, [&] { // keys and numbers ascend, so none occurs twice
        const u32s keys = out[0].read(count), places = moved[0].read(count);
        bool is_right = true;
        for (uint64_t i = 0; i < count; i++) {
            is_right = is_right && places[i] < count && data[places[i]] == keys[i];
            if (i > 0)
                is_right = is_right && (keys[i - 1] < keys[i] ||
                                        (keys[i - 1] == keys[i] && places[i - 1] < places[i]));
        }
        return is_right;
    });
    {
        constexpr uint64_t length = 64; // of a segment, but for the last one
        std::vector<int64_t> starts;
        for (uint64_t first = 0; first < count; first += length)
            starts.push_back(static_cast<int64_t>(first));
        const auto segments = static_cast<int64_t>(starts.size());
        starts.push_back(n);
        const device_array<int64_t> offsets(starts);
        measure_call(clock, "sort_segments_of_64", count, 0, sets,
                     [&](size_t s, void *temp, size_t &size) {
            return cub::DeviceSegmentedSort::SortKeys(temp, size, in[s].get(), out[s].get(), n,
                                                      segments, offsets.get(), offsets.get() + 1);
        }, [&] {
            const u32s got = out[0].read(count);
            bool is_right = sum_of(got) == sum_of(data);
            for (uint64_t i = 1; i < count; i++)
                is_right = is_right && (i % length == 0 || got[i - 1] <= got[i]);
            return is_right;
        });
    }
    {
        constexpr int bins = 256;
        device_array<uint32_t> counts(bins);
        measure_call(clock, "histogram", count, 0, sets, [&](size_t s, void *temp, size_t &size) {
            return cub::DeviceHistogram::HistogramEven(
                temp, size, thrust::make_transform_iterator(in[s].get(), highest_byte{}),
                counts.get(), bins + 1, uint32_t{0}, uint32_t{bins}, n);
        }, [&] {
            u32s expected(bins);
            for (uint32_t x : data)
                expected[x >> 24]++;
            return counts.read(bins) == expected;
        });
    }
    const double percent = 10; // runs of ten
    const u32s run_numbers = make_runs(data, threshold(percent));
    u32s lengths(run_numbers.empty() ? 0 : run_numbers.back() + size_t{1}), sums(lengths.size());
    for (uint64_t i = 0; i < count; i++) {
        lengths[run_numbers[i]]++;
        sums[run_numbers[i]] += data[i];
    }
    auto runs = copies_of(run_numbers, sets);
    device_array<int64_t> found(1);
    measure_call(clock, "run_lengths", count, percent, sets, [&](size_t s, void *temp, size_t &size) {
        return cub::DeviceRunLengthEncode::Encode(temp, size, runs[s].get(), out[s].get(),
                                                  moved[s].get(), found.get(), n);
    }, [&] {
        return found.read(1)[0] == static_cast<int64_t>(lengths.size()) &&
               moved[0].read(lengths.size()) == lengths;
    });
    measure_call(clock, "reduce_by_key", count, percent, sets,
                 [&](size_t s, void *temp, size_t &size) {
        return cub::DeviceReduce::ReduceByKey(temp, size, runs[s].get(), out[s].get(), in[s].get(),
                                              moved[s].get(), found.get(), cuda::std::plus<>{}, n);
    }, [&] {
        return found.read(1)[0] == static_cast<int64_t>(sums.size()) &&
               moved[0].read(sums.size()) == sums;
    });
}

} // namespace

int main(int argc, char **argv)
{
    std::vector<uint64_t> counts;
    for (int i = 1; i < argc; i++)
        counts.push_back(strtoull(argv[i], nullptr, 10));
    if (counts.empty())
        counts = {uint64_t{1} << 20, uint64_t{1} << 24, uint64_t{1} << 28};
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    printf("# %s, CUB %d; operation, count, percent, ms\n", properties.name, CUB_VERSION);
    for (uint64_t count : counts) {
        measure(count);
        measure_sorts(count);
        measure_histograms(count);
    }
    return 0;
}
