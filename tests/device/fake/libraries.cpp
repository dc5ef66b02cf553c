// The functions of the stand-in. Elements are read and written as complex<double>, whatever their type.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <library_abi.hpp>
#include <numbers>

#include "../fake_libraries.hpp"

namespace l = sdfg::library_abi;
using Complex = std::complex<double>;
using sdfg::test::FakeLibraries;

namespace {

FakeLibraries state;

// Of an emulated device, whose addresses nobody may touch.
std::uintptr_t view_begin = 0, view_size = 0;
char* view_real = nullptr;
template <class T>
T* real(T* memory) {
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  return at - view_begin < view_size ? reinterpret_cast<T*>(view_real + (at - view_begin)) : memory;
}
int pointer_mode = 0;
char handle;

Complex get(const void* memory, int type, std::int64_t i) {
  memory = real(memory);
  switch (type) {
    case l::kR32F: return static_cast<const float*>(memory)[i];
    case l::kR64F: return static_cast<const double*>(memory)[i];
    case l::kC32F: return Complex(static_cast<const std::complex<float>*>(memory)[i]);
    case l::kC64F: return static_cast<const Complex*>(memory)[i];
    default: state.faults.emplace_back("an element type " + std::to_string(type)); return 0;
  }
}
void set(void* memory, int type, std::int64_t i, Complex value) {
  memory = real(memory);
  switch (type) {
    case l::kR32F: static_cast<float*>(memory)[i] = static_cast<float>(value.real()); break;
    case l::kR64F: static_cast<double*>(memory)[i] = value.real(); break;
    case l::kC32F: static_cast<std::complex<float>*>(memory)[i] = std::complex<float>(value); break;
    case l::kC64F: static_cast<Complex*>(memory)[i] = value; break;
    default: break;
  }
}
void need(bool condition, const char* what) {
  if (!condition) state.faults.emplace_back(what);
}

void record(const char* name, std::initializer_list<std::int64_t> numbers) {
  std::string text = name;
  for (const std::int64_t n : numbers) text += " " + std::to_string(n);
  state.calls.push_back(text);
}

// c = alpha sum + beta c; what beta = 0 multiplies is not read.
void blend(void* c, int type, std::int64_t at, Complex sum, Complex alpha, Complex beta) {
  set(c, type, at, beta == 0.0 ? alpha * sum : alpha * sum + beta * get(c, type, at));
}

}  // namespace

#define ENTRY extern "C" __attribute__((visibility("default"))) int
#define WORK \
  if (state.fail_with != 0) return state.fail_with

extern "C" __attribute__((visibility("default"))) FakeLibraries* sdfg_fake_libraries() {
  return &state;
}

extern "C" __attribute__((visibility("default"))) void sdfg_fake_view(const void* base, std::uint64_t size, void* at) {
  view_begin = reinterpret_cast<std::uintptr_t>(base);
  view_size = size;
  view_real = static_cast<char*>(at);
}

ENTRY cublasCreate_v2(l::Handle* made) {
  ++state.made;
  *made = &handle;
  return 0;
}
ENTRY cublasSetStream_v2(l::Handle, l::Stream stream) {
  state.streams.push_back(stream);
  return 0;
}
ENTRY cublasSetPointerMode_v2(l::Handle, int mode) {
  pointer_mode = mode;
  return 0;
}
ENTRY cublasGemmStridedBatchedEx_64(l::Handle, int trans_a, int trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
                                    const void* alpha, const void* a, int a_type, std::int64_t lda, long long a_stride,
                                    const void* b, int b_type, std::int64_t ldb, long long b_stride, const void* beta,
                                    void* c, int c_type, std::int64_t ldc, long long c_stride, std::int64_t batch,
                                    int compute, int) {
  record("gemm", {trans_a, trans_b, m, n, k, lda, a_stride, ldb, b_stride, ldc, c_stride, batch});
  WORK;
  need(pointer_mode == l::kHostScalars, "gemm: alpha and beta are on the host");
  need(m > 0 && n > 0 && k > 0 && batch > 0, "gemm: sizes");
  need(lda >= (trans_a ? k : m) && ldb >= (trans_b ? n : k) && ldc >= m, "gemm: leading dimensions");
  need(a_type == b_type && b_type == c_type, "gemm: types");
  need(compute == (c_type == l::kR64F || c_type == l::kC64F ? l::kCompute64F : l::kCompute32F), "gemm: compute type");
  const Complex x = get(alpha, c_type, 0), y = get(beta, c_type, 0);
  for (std::int64_t q = 0; q < batch; ++q)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        Complex sum = 0;
        for (std::int64_t p = 0; p < k; ++p)
          sum += get(a, a_type, q * a_stride + (trans_a ? p + i * lda : i + p * lda)) *
                 get(b, b_type, q * b_stride + (trans_b ? j + p * ldb : p + j * ldb));
        blend(c, c_type, q * c_stride + i + j * ldc, sum, x, y);
      }
  return 0;
}
ENTRY cublasDotEx_64(l::Handle, std::int64_t n, const void* x, int x_type, std::int64_t incx, const void* y, int y_type,
                     std::int64_t incy, void* result, int result_type, int) {
  record("dot", {n, incx, incy});
  WORK;
  need(pointer_mode == l::kDeviceScalars, "dot: the result is on the device");
  need(n > 0 && incx > 0 && incy > 0, "dot: sizes");
  Complex sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += get(x, x_type, i * incx) * get(y, y_type, i * incy);
  set(result, result_type, 0, sum);
  return 0;
}
ENTRY cublasScalEx_64(l::Handle, std::int64_t n, const void* alpha, int alpha_type, void* x, int x_type,
                      std::int64_t incx, int) {
  record("scal", {n, incx});
  WORK;
  for (std::int64_t i = 0; i < n; ++i) set(x, x_type, i * incx, get(alpha, alpha_type, 0) * get(x, x_type, i * incx));
  return 0;
}

namespace {

int gemv(int type, int trans, std::int64_t m, std::int64_t n, const void* alpha, const void* a, std::int64_t lda,
         const void* x, std::int64_t incx, const void* beta, void* y, std::int64_t incy) {
  record("gemv", {trans, m, n, lda, incx, incy});
  WORK;
  need(pointer_mode == l::kHostScalars && lda >= m && incx > 0 && incy > 0 && m > 0 && n > 0, "gemv: arguments");
  for (std::int64_t i = 0; i < (trans ? n : m); ++i) {
    Complex sum = 0;
    for (std::int64_t j = 0; j < (trans ? m : n); ++j)
      sum += get(a, type, trans ? j + i * lda : i + j * lda) * get(x, type, j * incx);
    blend(y, type, i * incy, sum, get(alpha, type, 0), get(beta, type, 0));
  }
  return 0;
}

int syrk(int type, int triangle, int trans, std::int64_t n, std::int64_t k, const void* alpha, const void* a,
         std::int64_t lda, const void* beta, void* c, std::int64_t ldc) {
  record("syrk", {triangle, trans, n, k, lda, ldc});
  WORK;
  need(lda >= (trans ? k : n) && ldc >= n, "syrk: leading dimensions");
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      if (triangle == l::kLower ? i < j : i > j) continue;
      Complex sum = 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum += get(a, type, trans ? p + i * lda : i + p * lda) * get(a, type, trans ? p + j * lda : j + p * lda);
      blend(c, type, i + j * ldc, sum, get(alpha, type, 0), get(beta, type, 0));
    }
  return 0;
}

}  // namespace

#define TYPED(T, type)                                                                                                \
  ENTRY cublas##T##gemv_v2_64(l::Handle, int trans, std::int64_t m, std::int64_t n, const void* alpha, const void* a, \
                              std::int64_t lda, const void* x, std::int64_t incx, const void* beta, void* y,          \
                              std::int64_t incy) {                                                                    \
    return gemv(l::type, trans, m, n, alpha, a, lda, x, incx, beta, y, incy);                                         \
  }                                                                                                                   \
  ENTRY cublas##T##syrk_v2_64(l::Handle, int triangle, int trans, std::int64_t n, std::int64_t k, const void* alpha,  \
                              const void* a, std::int64_t lda, const void* beta, void* c, std::int64_t ldc) {         \
    return syrk(l::type, triangle, trans, n, k, alpha, a, lda, beta, c, ldc);                                         \
  }
TYPED(S, kR32F)
TYPED(D, kR64F)
TYPED(C, kC32F)
TYPED(Z, kC64F)

ENTRY cusolverDnCreate(l::Handle* made) {
  ++state.made;
  *made = &handle;
  return 0;
}
ENTRY cusolverDnSetStream(l::Handle, l::Stream stream) {
  state.streams.push_back(stream);
  return 0;
}
ENTRY cusolverDnCreateParams(l::Handle* made) {
  *made = &handle;
  return 0;
}
ENTRY cusolverDnXpotrf_bufferSize(l::Handle, l::Handle, int, std::int64_t, int, const void*, std::int64_t, int,
                                  std::size_t* device, std::size_t* host) {
  *device = 24;
  *host = 8;
  return 0;
}
ENTRY cusolverDnXpotrf(l::Handle, l::Handle, int triangle, std::int64_t n, int type, void* a, std::int64_t lda, int,
                       void* device, std::size_t device_bytes, void* host, std::size_t host_bytes, int* info) {
  record("potrf", {triangle, n, lda});
  WORK;
  need(device != nullptr && device_bytes == 24 && host != nullptr && host_bytes == 8, "potrf: workspaces");
  need(lda >= n, "potrf: leading dimension");
  info = real(info);
  const auto at = [&](std::int64_t i, std::int64_t j) { return triangle == l::kLower ? i + j * lda : j + i * lda; };
  *info = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) {
      Complex sum = get(a, type, at(i, j));
      if (triangle == l::kUpper) sum = std::conj(sum);
      for (std::int64_t p = 0; p < j; ++p) {
        Complex x = get(a, type, at(i, p)), y = get(a, type, at(j, p));
        if (triangle == l::kUpper) x = std::conj(x), y = std::conj(y);
        sum -= x * std::conj(y);
      }
      if (i == j) {
        if (!(sum.real() > 0)) {
          *info = static_cast<int>(j + 1);
          return 0;
        }
        set(a, type, at(j, j), std::sqrt(sum.real()));
      } else {
        sum /= get(a, type, at(j, j)).real();
        set(a, type, at(i, j), triangle == l::kUpper ? std::conj(sum) : sum);
      }
    }
  }
  return 0;
}
ENTRY cusolverDnXgetrf_bufferSize(l::Handle, l::Handle, std::int64_t, std::int64_t, int, const void*, std::int64_t, int,
                                  std::size_t* device, std::size_t* host) {
  *device = 24;
  *host = 0;
  return 0;
}
ENTRY cusolverDnXgetrf(l::Handle, l::Handle, std::int64_t m, std::int64_t n, int type, void* a, std::int64_t lda,
                       std::int64_t* pivots, int, void*, std::size_t, void*, std::size_t, int* info) {
  record("getrf", {m, n, lda});
  WORK;
  need(m == n && lda >= n, "getrf: sizes");
  info = real(info);
  pivots = real(pivots);
  *info = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    std::int64_t best = j;
    for (std::int64_t i = j + 1; i < n; ++i) {
      if (std::abs(get(a, type, i + j * lda)) > std::abs(get(a, type, best + j * lda))) best = i;
    }
    pivots[j] = best + 1;
    for (std::int64_t c = 0; c < n; ++c) {
      const Complex x = get(a, type, j + c * lda);
      set(a, type, j + c * lda, get(a, type, best + c * lda));
      set(a, type, best + c * lda, x);
    }
    if (get(a, type, j + j * lda) == 0.0) {
      if (*info == 0) *info = static_cast<int>(j + 1);
      continue;
    }
    for (std::int64_t i = j + 1; i < n; ++i) {
      const Complex f = get(a, type, i + j * lda) / get(a, type, j + j * lda);
      set(a, type, i + j * lda, f);
      for (std::int64_t c = j + 1; c < n; ++c)
        set(a, type, i + c * lda, get(a, type, i + c * lda) - f * get(a, type, j + c * lda));
    }
  }
  return 0;
}
ENTRY cusolverDnXgetrs(l::Handle, l::Handle, int trans, std::int64_t n, std::int64_t columns, int type, const void* a,
                       std::int64_t lda, const std::int64_t* pivots, int, void* b, std::int64_t ldb, int* info) {
  record("getrs", {trans, n, columns, lda, ldb});
  WORK;
  need(lda >= n && ldb >= n && n > 0 && columns > 0, "getrs: sizes");
  info = real(info);
  pivots = real(pivots);
  *info = 0;
  const auto lu = [&](std::int64_t i, std::int64_t j) { return get(a, type, i + j * lda); };
  for (std::int64_t c = 0; c < columns; ++c) {
    const auto x = [&](std::int64_t i) { return get(b, type, i + c * ldb); };
    const auto put = [&](std::int64_t i, Complex v) { set(b, type, i + c * ldb, v); };
    const auto swap = [&](std::int64_t i) {
      const Complex v = x(i);
      put(i, x(pivots[i] - 1));
      put(pivots[i] - 1, v);
    };
    if (trans == l::kPlain) {
      for (std::int64_t i = 0; i < n; ++i) swap(i);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t p = 0; p < i; ++p) put(i, x(i) - lu(i, p) * x(p));
      for (std::int64_t i = n; i-- > 0;) {
        for (std::int64_t p = i + 1; p < n; ++p) put(i, x(i) - lu(i, p) * x(p));
        put(i, x(i) / lu(i, i));
      }
    } else {
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t p = 0; p < i; ++p) put(i, x(i) - lu(p, i) * x(p));
        put(i, x(i) / lu(i, i));
      }
      for (std::int64_t i = n; i-- > 0;)
        for (std::int64_t p = i + 1; p < n; ++p) put(i, x(i) - lu(p, i) * x(p));
      for (std::int64_t i = n; i-- > 0;) swap(i);
    }
  }
  return 0;
}

namespace {

struct Plan {
  std::vector<long long> sizes;
  long long batch = 0;
  int type = 0;
};
std::vector<Plan> plans;

int transform(int plan, const void* from, void* to, int type, int direction) {
  const Plan& p = plans.at(static_cast<std::size_t>(plan));
  long long elements = 1;
  for (const long long n : p.sizes) elements *= n;
  record("fft", {direction, elements, p.batch});
  WORK;
  std::vector<Complex> data(static_cast<std::size_t>(elements * p.batch)), next;
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = get(from, type, static_cast<std::int64_t>(i));
  long long stride = elements;
  for (const long long n : p.sizes) {
    stride /= n;
    next.assign(data.size(), 0);
    for (std::size_t i = 0; i < data.size(); ++i) {
      const long long at = static_cast<long long>(i) / stride % n;
      for (long long q = 0; q < n; ++q) {
        const auto source = static_cast<std::size_t>(static_cast<long long>(i) + (q - at) * stride);
        const double turn = 2 * std::numbers::pi * static_cast<double>(q * at % n) / static_cast<double>(n);
        next[i] += data[source] * std::polar(1.0, direction * turn);
      }
    }
    data = next;
  }
  for (std::size_t i = 0; i < data.size(); ++i) set(to, type, static_cast<std::int64_t>(i), data[i]);
  return 0;
}

}  // namespace

ENTRY cufftCreate(int* plan) {
  ++state.made, ++state.alive;
  *plan = static_cast<int>(plans.size());
  plans.emplace_back();
  return 0;
}
ENTRY cufftDestroy(int) {
  --state.alive;
  return 0;
}
ENTRY cufftMakePlanMany64(int plan, int rank, long long* sizes, long long*, long long, long long, long long*, long long,
                          long long, int type, long long batch, std::size_t* bytes) {
  WORK;
  need(rank >= 1 && rank <= 3 && batch > 0, "fft: sizes");
  plans[static_cast<std::size_t>(plan)] = {{sizes, sizes + rank}, batch, type};
  *bytes = 0;
  return 0;
}
ENTRY cufftSetStream(int, l::Stream stream) {
  state.streams.push_back(stream);
  return 0;
}
ENTRY cufftExecC2C(int plan, void* from, void* to, int direction) {
  return transform(plan, from, to, l::kC32F, direction);
}
ENTRY cufftExecZ2Z(int plan, void* from, void* to, int direction) {
  return transform(plan, from, to, l::kC64F, direction);
}

namespace {

struct Csr {
  std::int64_t rows, columns, entries;
  const void *offsets, *indices, *values;
  int index_type, type;
  std::int64_t index(const void* from, std::int64_t i) const {
    from = real(from);
    return index_type == l::kIndex32 ? static_cast<const std::int32_t*>(from)[i]
                                     : static_cast<const std::int64_t*>(from)[i];
  }
};
struct Dense {
  std::int64_t rows, columns, ld;
  void* values;
  int type, order;
  std::int64_t at(std::int64_t i, std::int64_t j) const { return order == l::kByColumns ? i + j * ld : i * ld + j; }
};

int multiply(const Csr& a, int trans, Complex alpha, Complex beta, std::int64_t width, const auto& b_at, Dense& c) {
  for (std::int64_t i = 0; i < c.rows; ++i)
    for (std::int64_t j = 0; j < width; ++j) blend(c.values, c.type, c.at(i, j), 0, alpha, beta);
  need(a.index(a.offsets, a.rows) == a.entries, "csr: number of entries");
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (std::int64_t p = a.index(a.offsets, row); p < a.index(a.offsets, row + 1); ++p) {
      const std::int64_t column = a.index(a.indices, p);
      need(column >= 0 && column < a.columns, "csr: columns");
      const std::int64_t to = trans ? column : row, from = trans ? row : column;
      for (std::int64_t j = 0; j < width; ++j)
        set(c.values, c.type, c.at(to, j),
            get(c.values, c.type, c.at(to, j)) + alpha * get(a.values, a.type, p) * b_at(from, j));
    }
  return 0;
}

}  // namespace

ENTRY cusparseCreate(l::Handle* made) {
  ++state.made;
  *made = &handle;
  return 0;
}
ENTRY cusparseSetStream(l::Handle, l::Stream stream) {
  state.streams.push_back(stream);
  return 0;
}
ENTRY cusparseCreateCsr(l::Handle* made, std::int64_t rows, std::int64_t columns, std::int64_t entries, void* offsets,
                        void* indices, void* values, int offset_type, int index_type, int base, int type) {
  need(offset_type == index_type && base == 0, "csr: indices");
  ++state.alive;
  *made = new Csr{rows, columns, entries, offsets, indices, values, index_type, type};
  return 0;
}
ENTRY cusparseCreateDnVec(l::Handle* made, std::int64_t size, void* values, int type) {
  ++state.alive;
  *made = new Dense{size, 1, size, values, type, l::kByColumns};
  return 0;
}
ENTRY cusparseCreateDnMat(l::Handle* made, std::int64_t rows, std::int64_t columns, std::int64_t ld, void* values,
                          int type, int order) {
  need(ld >= (order == l::kByColumns ? rows : columns), "sparse: leading dimension");
  ++state.alive;
  *made = new Dense{rows, columns, ld, values, type, order};
  return 0;
}
ENTRY cusparseDestroySpMat(l::Handle h) {
  --state.alive;
  delete static_cast<Csr*>(h);
  return 0;
}
ENTRY cusparseDestroyDnVec(l::Handle h) {
  --state.alive;
  delete static_cast<Dense*>(h);
  return 0;
}
ENTRY cusparseDestroyDnMat(l::Handle h) {
  --state.alive;
  delete static_cast<Dense*>(h);
  return 0;
}
ENTRY cusparseSpMV_bufferSize(l::Handle, int, const void*, l::Handle, l::Handle, const void*, l::Handle, int, int,
                              std::size_t* bytes) {
  *bytes = 40;
  return 0;
}
ENTRY cusparseSpMV(l::Handle, int trans, const void* alpha, l::Handle a, l::Handle x, const void* beta, l::Handle y,
                   int type, int, void* buffer) {
  const Csr& m = *static_cast<Csr*>(a);
  const Dense& v = *static_cast<Dense*>(x);
  record("spmv", {trans, m.rows, m.columns, m.entries, v.rows});
  WORK;
  need(buffer != nullptr, "spmv: workspace");
  return multiply(
      m, trans, get(alpha, type, 0), get(beta, type, 0), 1,
      [&](std::int64_t i, std::int64_t) { return get(v.values, v.type, i); }, *static_cast<Dense*>(y));
}
ENTRY cusparseSpMM_bufferSize(l::Handle, int, int, const void*, l::Handle, l::Handle, const void*, l::Handle, int, int,
                              std::size_t* bytes) {
  *bytes = 0;
  return 0;
}
ENTRY cusparseSpMM(l::Handle, int trans_a, int trans_b, const void* alpha, l::Handle a, l::Handle b, const void* beta,
                   l::Handle c, int type, int, void*) {
  const Csr& m = *static_cast<Csr*>(a);
  const Dense& x = *static_cast<Dense*>(b);
  Dense& y = *static_cast<Dense*>(c);
  record("spmm", {trans_a, trans_b, m.rows, m.columns, m.entries, x.order, x.ld, y.order, y.ld, y.columns});
  WORK;
  need((trans_b ? x.columns : x.rows) == (trans_a ? m.rows : m.columns) && (trans_b ? x.rows : x.columns) == y.columns,
       "spmm: sizes");
  return multiply(
      m, trans_a, get(alpha, type, 0), get(beta, type, 0), y.columns,
      [&](std::int64_t i, std::int64_t j) { return get(x.values, x.type, trans_b ? x.at(j, i) : x.at(i, j)); }, y);
}
