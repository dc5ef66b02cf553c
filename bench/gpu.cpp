// Speed of generated kernels on a CUDA device: bandwidths beside a device copy, launches beside a bare driver launch,
// sums of products beside plain maps and cuBLAS, time loops, compilation. Prints a table; every ratio is against
// something measured in the same run. Needs a GPU.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sdfg/jit.hpp>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using sdfg::Schedule;
using sdfg::Storage;

double seconds_since(Clock::time_point t) {
  return std::chrono::duration<double>(Clock::now() - t).count();
}
double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

// The few driver and NVRTC calls that the comparison needs, by name.
struct Driver {
  void* cuda = dlopen("libcuda.so.1", RTLD_NOW);
  template <typename Signature>
  Signature* get(const char* name) const {
    void* f = cuda != nullptr ? dlsym(cuda, name) : nullptr;
    if (f == nullptr) {
      std::fprintf(stderr, "bench_gpu: the driver has no %s\n", name);
      std::exit(1);
    }
    return reinterpret_cast<Signature*>(f);
  }
  // As an application with CUDA code of its own would have it: the device's primary context is current.
  void use_primary_context() const {
    void* context = nullptr;
    if (get<int(unsigned)>("cuInit")(0) != 0 || get<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, 0) != 0 ||
        get<int(void*)>("cuCtxSetCurrent")(context) != 0) {
      std::fprintf(stderr, "bench_gpu: the device's context can't be used\n");
      std::exit(1);
    }
  }
  void synchronise() const {
    static auto* const f = get<int()>("cuCtxSynchronize");
    if (f() != 0) {
      std::fprintf(stderr, "bench_gpu: the device reports an error\n");
      std::exit(1);
    }
  }
};

const sdfg::DeviceChoice kDevice{sdfg::DeviceChoice::Kind::kCuda, 0};
const sdfg::ArrayOptions kOnDevice{.storage = Storage::kGpuGlobal};

sdfg::Options options() {
  sdfg::Options o;
  o.device = kDevice;
  o.cache = sdfg::CacheMode::kMemory;
  return o;
}

// Seconds of one call, from `calls` queued together; the median of seven.
double time_of(const Driver& driver, int calls, const std::function<void()>& call) {
  call();
  driver.synchronise();
  std::vector<double> times;
  for (int r = 0; r < 7; ++r) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) call();
    driver.synchronise();
    times.push_back(seconds_since(start) / calls);
  }
  return median(times);
}

void bandwidth(const char* what, double bytes, double seconds, double copy, double aim) {
  const double rate = bytes / seconds;
  std::printf("%-34s %9.3f ms %8.1f GB/s  %5.1f%% of copy (aim %.0f%%)\n", what, seconds * 1e3, rate * 1e-9,
              100 * rate / copy, aim);
}

sdfg::Builder triad() {
  sdfg::Builder g("triad");
  auto N = g.symbol("N");
  auto a = g.array<double>("a", {N}, kOnDevice), b = g.array<double>("b", {N}, kOnDevice),
       c = g.array<double>("c", {N}, kOnDevice);
  auto s = g.scalar<double>("s");
  g.map({"i", 0, N}, [&](auto i) { a(i) = b(i) + s * c(i); }, {.schedule = Schedule::kDevice});
  return g;
}

sdfg::Builder jacobi(const char* name = "jacobi_2d") {
  sdfg::Builder g(name);
  auto N = g.symbol("N"), T = g.symbol("T");
  auto A = g.array<double>("A", {N, N}, kOnDevice), B = g.array<double>("B", {N, N}, kOnDevice);
  const sdfg::MapOptions kernel{.schedule = Schedule::kDevice};
  g.loop("t", 0, T, [&](auto) {
    g.map(
        {"i", 1, N - 1}, {"j", 1, N - 1},
        [&](auto i, auto j) { B(i, j) = 0.2 * (A(i, j) + A(i, j - 1) + A(i, j + 1) + A(i - 1, j) + A(i + 1, j)); },
        kernel);
    g.map(
        {"i", 1, N - 1}, {"j", 1, N - 1},
        [&](auto i, auto j) { A(i, j) = 0.2 * (B(i, j) + B(i, j - 1) + B(i, j + 1) + B(i - 1, j) + B(i + 1, j)); },
        kernel);
  });
  return g;
}

sdfg::Builder sum() {
  sdfg::Builder g("sum");
  auto N = g.symbol("N");
  auto x = g.array<double>("x", {N}, kOnDevice), s = g.array<double>("s", {1}, kOnDevice);
  g.map({"i", 0, N}, [&](auto i) { s(0) += x(i); }, {.schedule = Schedule::kDevice});
  return g;
}

sdfg::Builder transposition() {
  sdfg::Builder g("transposition");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N, N}, kOnDevice), B = g.array<double>("B", {N, N}, kOnDevice);
  g.state("transpose", [&](sdfg::State& s) {
    auto node = s.library("transpose", sdfg::nodes::Transpose{});
    s.edge(s.access(A), node["_inp"]);
    s.edge(node["_out"], s.access(B));
  });
  return g;
}

template <typename T>
sdfg::Builder product() {
  sdfg::Builder g("product");
  auto N = g.symbol("N");
  auto A = g.array<T>("A", {N, N}, kOnDevice), B = g.array<T>("B", {N, N}, kOnDevice),
       C = g.array<T>("C", {N, N}, kOnDevice);
  g.map({"i", 0, N}, {"j", 0, N}, {"k", 0, N}, [&](auto i, auto j, auto k) { C(i, j) += A(i, k) * B(k, j); },
        {.schedule = Schedule::kDevice});
  return g;
}

template <typename T>
sdfg::Builder library_product() {
  sdfg::Builder g("library_product");
  auto N = g.symbol("N");
  auto A = g.array<T>("A", {N, N}, kOnDevice), B = g.array<T>("B", {N, N}, kOnDevice),
       C = g.array<T>("C", {N, N}, kOnDevice);
  g.state("product", [&](sdfg::State& s) {
    auto node = s.library("product", sdfg::nodes::Gemm{.beta = 1.0});
    s.edge(s.access(A), node["_a"]);
    s.edge(s.access(B), node["_b"]);
    s.edge(node["_c"], s.access(C));
  });
  return g;
}

// NHWC, 3 x 3, padded input.
sdfg::Builder convolution() {
  sdfg::Builder g("convolution");
  auto N = g.symbol("N"), S = g.symbol("S");
  auto X = g.array<float>("X", {N, S + 2, S + 2, 64}, kOnDevice), W = g.array<float>("W", {3, 3, 64, 64}, kOnDevice),
       Y = g.array<float>("Y", {N, S, S, 64}, kOnDevice);
  g.map({"n", 0, N}, {"h", 0, S}, {"w", 0, S}, {"c", 0, 64}, {"y", 0, 3}, {"x", 0, 3}, {"d", 0, 64},
        [&](auto n, auto h, auto w, auto c, auto y, auto x, auto d) {
          Y(n, h, w, c) += X(n, h + y, w + x, d) * W(y, x, d, c);
        },
        {.schedule = Schedule::kDevice});
  return g;
}

void arithmetic(const char* what, double operations, double seconds, double plain, double library) {
  std::printf("%-34s %9.3f ms %8.1f GFLOP/s  %5.1f x the plain map", what, seconds * 1e3, operations / seconds * 1e-9,
              plain / seconds);
  if (library > 0)
    std::printf(", %5.1f%% of the library's %.1f GFLOP/s", 100 * library / seconds, operations / library * 1e-9);
  std::printf("\n");
}

sdfg::Options without_tiles() {
  sdfg::Options o = options();
  o.skip_passes = std::vector<std::string>{"tile_contractions"};
  return o;
}

template <typename T>
void products(const Driver& driver, const char* what) {
  const std::int64_t n = 2048;
  const auto elements = static_cast<std::size_t>(n * n);
  sdfg::DeviceArray<T> a(kDevice, std::vector<T>(elements, T(0.5))), b(kDevice, std::vector<T>(elements, T(0.25))),
      c(kDevice, std::vector<T>(elements, T(0)));
  const auto time = [&](const sdfg::Builder& g, const sdfg::Options& o, int calls) {
    auto f = sdfg::compile<void(const T*, const T*, T*, std::int64_t)>(g, o);
    return time_of(driver, calls, [&] { f(a.data(), b.data(), c.data(), n); });
  };
  const double tiles = time(product<T>(), options(), 10), plain = time(product<T>(), without_tiles(), 2);
  auto library = sdfg::compile<void(const T*, const T*, T*, std::int64_t)>(library_product<T>(), options());
  const bool called = library.explain().find("cuBLAS gemm") != std::string::npos;
  arithmetic(what, 2.0 * static_cast<double>(n * n * n), tiles, plain,
             called ? time(library_product<T>(), options(), 10) : 0.0);
}

void convolutions(const Driver& driver) {
  const std::int64_t n = 16, side = 56;
  const auto padded = static_cast<std::size_t>(n * (side + 2) * (side + 2) * 64);
  const auto elements = static_cast<std::size_t>(n * side * side * 64);
  sdfg::DeviceArray<float> x(kDevice, std::vector<float>(padded, 0.5F)),
      w(kDevice, std::vector<float>(3 * 3 * 64 * 64, 0.25F)), y(kDevice, std::vector<float>(elements, 0.0F));
  const auto time = [&](const sdfg::Options& o, int calls) {
    auto f = sdfg::compile<void(const float*, const float*, float*, std::int64_t, std::int64_t)>(convolution(), o);
    return time_of(driver, calls, [&] { f(x.data(), w.data(), y.data(), n, side); });
  };
  arithmetic("conv2d 16x56x56x64, 3x3, float", 2.0 * static_cast<double>(elements) * 9 * 64, time(options(), 20),
             time(without_tiles(), 2), 0);
}

sdfg::Builder one_kernel(const std::string& name, double factor) {
  sdfg::Builder g(name);
  auto N = g.symbol("N");
  auto x = g.array<double>("x", {N}, kOnDevice);
  g.map({"i", 0, N}, [&](auto i) { x(i) = factor * x(i); }, {.schedule = Schedule::kDevice});
  return g;
}

// Seconds of one launch of the same kernel by the driver alone, on the legacy null stream.
double bare_launch(const Driver& driver, double* x) {
  void* nvrtc = nullptr;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so",
                           "/usr/local/cuda/lib/libnvrtc.so"}) {
    if (nvrtc == nullptr) nvrtc = dlopen(name, RTLD_NOW);
  }
  if (nvrtc == nullptr) return 0;
  const auto function = [&](const char* name) { return dlsym(nvrtc, name); };
  const char* source =
      "extern \"C\" __global__ void __launch_bounds__(128) k(double* x, long n) { long i = blockIdx.x * 128L + "
      "threadIdx.x; if (i < n) x[i] = 2.0 * x[i]; }";
  void* program = nullptr;
  reinterpret_cast<int (*)(void**, const char*, const char*, int, const char**, const char**)>(
      function("nvrtcCreateProgram"))(&program, source, "k.cu", 0, nullptr, nullptr);
  const char* flags[] = {"-arch=sm_90"};
  if (reinterpret_cast<int (*)(void*, int, const char**)>(function("nvrtcCompileProgram"))(program, 1, flags) != 0)
    return 0;
  std::size_t size = 0;
  reinterpret_cast<int (*)(void*, std::size_t*)>(function("nvrtcGetCUBINSize"))(program, &size);
  std::vector<char> image(size);
  reinterpret_cast<int (*)(void*, char*)>(function("nvrtcGetCUBIN"))(program, image.data());
  void* module = nullptr;
  void* kernel = nullptr;
  if (driver.get<int(void**, const void*)>("cuModuleLoadData")(&module, image.data()) != 0) return 0;
  driver.get<int(void**, void*, const char*)>("cuModuleGetFunction")(&kernel, module, "k");
  auto* launch =
      driver
          .get<int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**)>(
              "cuLaunchKernel");
  long n = 128;
  void* arguments[] = {&x, &n};
  return time_of(driver, 20000, [&] { launch(kernel, 1, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr); });
}

}  // namespace

int main(int argc, char** argv) {
  // Of its own process: one compiled function from the disk cache, from start to result.
  const bool child = argc == 3 && std::string(argv[1]) == "--disk-hit";
  const auto begin = Clock::now();
  if (!sdfg::device_available(kDevice)) {
    std::printf("NOTICE: no CUDA device; nothing is measured\n");
    return 0;
  }
  if (child) {
    sdfg::Options o = options();
    o.cache = sdfg::CacheMode::kOn;
    o.cache_dir = argv[2];
    sdfg::DeviceArray<double> x(kDevice, 128);
    const auto start = Clock::now();
    auto f = sdfg::compile<void(double*, std::int64_t)>(one_kernel("from_disk", 70.5), o);
    const double compiled = seconds_since(start);
    f(x.data(), 128);
    std::printf(
        "%-34s %9.2f ms (aim 5: key %.2f, load %.2f, first call %.2f), of %.2f ms with the driver's start; from %s\n",
        "disk hit in a new process", seconds_since(start) * 1e3, static_cast<double>(f.stats().key_ns) * 1e-6,
        static_cast<double>(f.stats().load_ns) * 1e-6, (seconds_since(start) - compiled) * 1e3,
        seconds_since(begin) * 1e3, f.stats().origin == sdfg::CompileStats::Origin::kDisk ? "disk" : "the COMPILER");
    return 0;
  }
  const Driver driver;
  driver.use_primary_context();
  try {
    const std::int64_t n = std::int64_t{1} << 27;
    const std::int64_t side = 8192;
    sdfg::DeviceArray<double> a(kDevice, static_cast<std::size_t>(n)), b(kDevice, static_cast<std::size_t>(n)),
        c(kDevice, static_cast<std::size_t>(n));
    a.upload(std::vector<double>(static_cast<std::size_t>(n), 1.0));
    b.upload(std::vector<double>(static_cast<std::size_t>(n), 1.0));
    c.upload(std::vector<double>(static_cast<std::size_t>(n), 0.5));
    using Copy = int(unsigned long long, unsigned long long, std::size_t, void*);
    auto* copy = driver.get<Copy>("cuMemcpyDtoDAsync_v2");
    const auto address = [](const double* p) { return reinterpret_cast<unsigned long long>(p); };
    const double bytes = 8.0 * static_cast<double>(n);
    const double copy_seconds = time_of(
        driver, 20, [&] { copy(address(b.data()), address(a.data()), static_cast<std::size_t>(n) * 8, nullptr); });
    const double rate = 2 * bytes / copy_seconds;
    std::printf("%-34s %9.3f ms %8.1f GB/s\n", "device copy (driver)", copy_seconds * 1e3, rate * 1e-9);

    auto run_triad =
        sdfg::compile<void(double*, const double*, const double*, double, std::int64_t)>(triad(), options());
    bandwidth("triad, 2^27 doubles", 3 * bytes,
              time_of(driver, 20, [&] { run_triad(a.data(), b.data(), c.data(), 2.0, n); }), rate, 90);

    auto run_jacobi = sdfg::compile<void(double*, double*, std::int64_t, std::int64_t)>(jacobi(), options());
    const double sweep = time_of(driver, 10, [&] { run_jacobi(a.data(), b.data(), side, 1); }) / 2;
    bandwidth("jacobi_2d 8192^2, a sweep", 2 * 8.0 * static_cast<double>(side * side), sweep, rate, 90);

    auto run_sum = sdfg::compile<void(const double*, double*, std::int64_t)>(sum(), options());
    sdfg::DeviceArray<double> s(kDevice, 1);
    bandwidth("full sum, 2^27 doubles", bytes, time_of(driver, 20, [&] { run_sum(c.data(), s.data(), n); }), rate, 85);

    auto run_transpose = sdfg::compile<void(const double*, double*, std::int64_t)>(transposition(), options());
    bandwidth("transpose 8192^2", 2 * 8.0 * static_cast<double>(side * side),
              time_of(driver, 20, [&] { run_transpose(a.data(), b.data(), side); }), rate, 80);

    products<float>(driver, "product 2048^3, float");
    products<double>(driver, "product 2048^3, double");
    convolutions(driver);

    auto run_one = sdfg::compile<void(double*, std::int64_t)>(one_kernel("one_kernel", 2.0), options());
    const double launch = time_of(driver, 20000, [&] { run_one(a.data(), 128); });
    const double bare = bare_launch(driver, a.data());
    const double pointer = time_of(driver, 20000, [&, f = run_one.get()] { f(a.data(), 128); });
    std::printf("%-34s %9.3f us by Function, %.3f us by pointer, bare driver launch %.3f us, ratio %.2f (aim 1.15)\n",
                "one-kernel function", launch * 1e6, pointer * 1e6, bare * 1e6, bare > 0 ? launch / bare : 0.0);

    auto run_small =
        sdfg::compile<void(double*, double*, std::int64_t, std::int64_t)>(jacobi("small_jacobi"), options());
    const double loop = time_of(driver, 1, [&] { run_small(a.data(), b.data(), 128, 500); });
    std::printf("%-34s %9.3f ms, %.2f us a kernel (aim 1.3)\n", "jacobi 128^2, 1000 kernels", loop * 1e3,
                loop * 1e6 / 1000);

    std::vector<double> cold, kernels;
    for (int i = 0; i < 9; ++i) {
      const auto start = Clock::now();
      auto f = sdfg::compile<void(double*, std::int64_t)>(one_kernel("cold", 3.0 + i), options());
      f(a.data(), 128);
      driver.synchronise();
      cold.push_back(seconds_since(start));
      kernels.push_back(static_cast<double>(f.stats().device_ns) * 1e-9);
    }
    std::printf("%-34s %9.2f ms (aim 40), NVRTC %.2f ms of it\n", "cold compile of one kernel", median(cold) * 1e3,
                median(kernels) * 1e3);

    const auto folder = std::filesystem::temp_directory_path() / ("sdfg-bench-gpu-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
    sdfg::Options disk = options();
    disk.cache = sdfg::CacheMode::kOn;
    disk.cache_dir = folder.string();
    sdfg::compile<void(double*, std::int64_t)>(one_kernel("from_disk", 70.5), disk);
    std::fflush(stdout);
    const std::string again = std::string("'") + argv[0] + "' --disk-hit '" + folder.string() + "'";
    for (int i = 0; i < 3; ++i) {
      if (std::system(again.c_str()) != 0) std::printf("the process of the disk hit failed\n");
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  } catch (const sdfg::Error& e) {
    std::fprintf(stderr, "bench_gpu: %s\n", e.what());
    return 1;
  }
  return 0;
}
