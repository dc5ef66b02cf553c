// Numbers of a call to arguments of the libraries: zero sizes, distances and workspaces are seen to here.
#include "device/cuda/library_calls.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <list>
#include <sdfg/types.hpp>
#include <vector>

#include "device/cuda/library_files.hpp"

namespace sdfg::device::cuda {

namespace {

constexpr std::size_t kMostPlans = 32;  // of transforms, per stream; the one not used for longest goes

// A scalar in the element type of a call.
struct Scalar {
  alignas(16) std::array<double, 2> bytes{};
  const void* get() const { return bytes.data(); }
};

Scalar scalar_of(const double* parts, ScalarType type) {
  Scalar out;
  switch (type) {
    case ScalarType::kComplex128: out.bytes = {parts[0], parts[1]}; break;
    case ScalarType::kFloat64: out.bytes[0] = parts[0]; break;
    default: {  // computed in float
      const std::array<float, 2> narrow = {static_cast<float>(parts[0]), static_cast<float>(parts[1])};
      std::copy_n(reinterpret_cast<const std::byte*>(narrow.data()), sizeof narrow,
                  reinterpret_cast<std::byte*>(out.bytes.data()));
    }
  }
  return out;
}

int data_type(ScalarType type) {
  switch (type) {
    case ScalarType::kFloat16: return library_abi::kR16F;
    case ScalarType::kBFloat16: return library_abi::kR16BF;
    case ScalarType::kFloat32: return library_abi::kR32F;
    case ScalarType::kFloat64: return library_abi::kR64F;
    case ScalarType::kComplex64: return library_abi::kC32F;
    case ScalarType::kComplex128: return library_abi::kC64F;
    default: throw Error(ErrorClass::kInternal, "a device library is called with elements of another type");
  }
}

struct Plan {
  std::vector<std::int64_t> key;
  int plan = 0;
};

}  // namespace

struct LibraryCalls::Handles {
  library_abi::Handle blas = nullptr;
  library_abi::Handle solver = nullptr;
  library_abi::Handle solver_parameters = nullptr;
  library_abi::Handle sparse = nullptr;
  std::list<Plan> plans;             // the last used first
  std::vector<std::byte> workspace;  // of the host; a call may use it until the stream is done
};

namespace {

// One call.
class Call {
 public:
  Call(Device& device, LibraryCalls::Handles& handles, Stream& stream, const LibraryCall& call, const Site& site)
      : device_(device),
        handles_(handles),
        stream_(stream),
        call_(call),
        site_(site),
        type_(static_cast<ScalarType>(call.numbers[0])),
        data_type_(data_type(type_)),
        version_(device.driver_version()) {}

  void run() {
    switch (call_.function) {
      case DeviceFunction::kGemm: return gemm();
      case DeviceFunction::kGemv: return gemv();
      case DeviceFunction::kDot: return dot();
      case DeviceFunction::kSyrk: return syrk();
      case DeviceFunction::kPotrf: return potrf();
      case DeviceFunction::kGetrf: return getrf();
      case DeviceFunction::kGetrs: return getrs();
      case DeviceFunction::kFft: return transform();
      case DeviceFunction::kCsrmv: return sparse_vector();
      case DeviceFunction::kCsrmm: return sparse_matrix();
    }
  }

 private:
  std::int64_t number(std::size_t i) const { return call_.numbers[i]; }
  void* operand(std::size_t i) const { return call_.operands[i]; }
  std::int64_t bytes() const { return size_of(type_); }
  bool is_zero(std::size_t scalar) const {
    return call_.scalars[2 * scalar] == 0 && call_.scalars[2 * scalar + 1] == 0;
  }
  bool is_one(std::size_t scalar) const { return call_.scalars[2 * scalar] == 1 && call_.scalars[2 * scalar + 1] == 0; }
  Scalar scalar(std::size_t i) const { return scalar_of(call_.scalars + 2 * i, type_); }

  void check(library_abi::Status status, const char* what) const {
    if (status == library_abi::kSuccess) return;
    throw operation_error(ErrorClass::kLaunch,
                          std::string(name_of(library_of(call_.function))) + " failed in '" +
                              std::string(name_of(call_.function)) + "' (" + what + ", status " +
                              std::to_string(status) + ")",
                          site_);
  }
  // Making a handle takes memory in a way that can't be recorded.
  void check_can_make() const {
    if (!device_.is_capturing(stream_)) return;
    throw operation_error(ErrorClass::kUsage,
                          std::string(name_of(library_of(call_.function))) +
                              " is used for the first time on a stream that is being recorded",
                          site_, "call the function once on this stream before it is recorded");
  }

  // Elements between columns; where there is one column, any number will do that the library accepts.
  std::int64_t leading(std::int64_t ld, std::int64_t rows, std::int64_t columns, const char* what) const {
    const std::int64_t least = std::max<std::int64_t>(rows, 1);
    if (ld >= least) return ld;
    if (columns <= 1) return least;
    throw operation_error(ErrorClass::kUsage,
                          std::string("the columns of ") + what + " overlap: " + std::to_string(rows) + " rows, " +
                              std::to_string(ld) + " elements from one to the next",
                          site_);
  }
  std::int64_t distance(std::int64_t step, std::int64_t size, const char* what) const {
    if (step > 0) return step;
    if (size <= 1) return 1;
    throw operation_error(ErrorClass::kUsage,
                          std::string("neighbours in ") + what + " are " + std::to_string(step) + " elements apart",
                          site_);
  }

  const library_abi::Blas& blas() {
    const library_abi::Blas& api = cuda::blas(version_);
    if (handles_.blas == nullptr) {
      check_can_make();
      library_abi::Handle made = nullptr;
      check(api.create(&made), "making a handle");
      check(api.set_stream(made, stream_.native()), "choosing the stream");
      handles_.blas = made;
    }
    return api;
  }
  const library_abi::Solver& solver() {
    const library_abi::Solver& api = cuda::solver(version_);
    if (handles_.solver == nullptr) {
      check_can_make();
      library_abi::Handle made = nullptr;
      check(api.create(&made), "making a handle");
      check(api.set_stream(made, stream_.native()), "choosing the stream");
      check(api.create_parameters(&handles_.solver_parameters), "making parameters");
      handles_.solver = made;
    }
    return api;
  }
  const library_abi::Sparse& sparse() {
    const library_abi::Sparse& api = cuda::sparse(version_);
    if (handles_.sparse == nullptr) {
      check_can_make();
      library_abi::Handle made = nullptr;
      check(api.create(&made), "making a handle");
      check(api.set_stream(made, stream_.native()), "choosing the stream");
      handles_.sparse = made;
    }
    return api;
  }

  // Memory of the stream for one call.
  struct Buffer {
    Buffer(Device& d, Stream& s, std::size_t size, const Site& site)
        : device(d), stream(s), memory(size == 0 ? nullptr : d.allocate(s, static_cast<std::int64_t>(size), site)) {}
    ~Buffer() { device.release(stream, memory); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    Device& device;
    Stream& stream;
    void* memory;
  };

  // c *= beta for `columns` columns of `rows` elements: what is left of a product without terms.
  void scale(void* c, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
    if (is_one(1)) return;
    if (is_zero(1)) {
      Fill zeros;
      zeros.memory = c;
      zeros.width = bytes();
      zeros.count = {columns, rows};
      zeros.pitch = ld * bytes();
      device_.fill(stream_, zeros, site_);
      return;
    }
    const bool narrow = type_ == ScalarType::kFloat16 || type_ == ScalarType::kBFloat16;
    const int computes = narrow ? static_cast<int>(library_abi::kR32F) : data_type_;
    const Scalar beta = scalar(1);
    for (std::int64_t j = 0; j < columns; ++j) {
      check(blas().scale(handles_.blas, rows, beta.get(), computes, static_cast<std::byte*>(c) + j * ld * bytes(),
                         data_type_, 1, computes),
            "scaling");
    }
  }

  void gemm() {
    const std::int64_t m = number(1), n = number(2), k = number(3), batch = number(12);
    if (m <= 0 || n <= 0 || batch <= 0) return;
    const std::int64_t ldc = leading(number(10), m, n, "the result");
    if (k <= 0) {
      for (std::int64_t b = 0; b < batch; ++b)
        scale(static_cast<std::byte*>(operand(2)) + b * number(11) * bytes(), m, n, ldc);
      return;
    }
    const bool trans_a = number(4) != 0, trans_b = number(7) != 0;
    const std::int64_t lda = leading(number(5), trans_a ? k : m, trans_a ? m : k, "the left matrix");
    const std::int64_t ldb = leading(number(8), trans_b ? n : k, trans_b ? k : n, "the right matrix");
    const bool wide = type_ == ScalarType::kFloat64 || type_ == ScalarType::kComplex128;
    const Scalar alpha = scalar(0), beta = scalar(1);
    check(blas().gemm(handles_.blas, trans_a ? library_abi::kTransposed : library_abi::kPlain,
                      trans_b ? library_abi::kTransposed : library_abi::kPlain, m, n, k, alpha.get(), operand(0),
                      data_type_, lda, number(6), operand(1), data_type_, ldb, number(9), beta.get(), operand(2),
                      data_type_, ldc, number(11), batch, wide ? library_abi::kCompute64F : library_abi::kCompute32F,
                      library_abi::kDefaultAlgorithm),
          "the product");
  }

  void gemv() {
    const std::int64_t rows = number(1), columns = number(2);
    const bool transposed = number(3) != 0;
    const std::int64_t out = transposed ? columns : rows, summed = transposed ? rows : columns;
    if (out <= 0) return;
    const std::int64_t step = distance(number(6), out, "the result");
    if (summed <= 0) return scale(operand(2), 1, out, step);
    const std::int64_t lda = leading(number(4), rows, columns, "the matrix");
    const std::int64_t x_step = distance(number(5), summed, "the vector");
    const Scalar alpha = scalar(0), beta = scalar(1);
    const library_abi::Blas& api = blas();
    const auto run = [&](auto* function) {
      check(function(handles_.blas, transposed ? library_abi::kTransposed : library_abi::kPlain, rows, columns,
                     alpha.get(), operand(0), lda, operand(1), x_step, beta.get(), operand(2), step),
            "the product");
    };
    switch (type_) {
      case ScalarType::kFloat32: return run(api.gemv_S);
      case ScalarType::kFloat64: return run(api.gemv_D);
      case ScalarType::kComplex64: return run(api.gemv_C);
      case ScalarType::kComplex128: return run(api.gemv_Z);
      default: check(-1, "elements of this type");
    }
  }

  // The result is in device memory, alpha and beta of the others are not: the mode is set back at once.
  void dot() {
    const std::int64_t n = std::max<std::int64_t>(number(1), 0);
    if (n == 0) {
      Fill zero;
      zero.memory = operand(2);
      zero.width = bytes();
      zero.count = {1, 1};
      device_.fill(stream_, zero, site_);
      return;
    }
    const library_abi::Blas& api = blas();
    const std::int64_t x_step = distance(number(2), n, "the first vector");
    const std::int64_t y_step = distance(number(3), n, "the second vector");
    check(api.set_pointer_mode(handles_.blas, library_abi::kDeviceScalars), "choosing where the result is");
    const library_abi::Status status = api.dot(handles_.blas, n, operand(0), data_type_, x_step, operand(1), data_type_,
                                               y_step, operand(2), data_type_, data_type_);
    check(api.set_pointer_mode(handles_.blas, library_abi::kHostScalars), "choosing where scalars are");
    check(status, "the sum");
  }

  void syrk() {
    const std::int64_t n = number(1), k = std::max<std::int64_t>(number(2), 0);
    const bool transposed = number(3) != 0, lower = number(4) != 0;
    if (n <= 0) return;
    const std::int64_t lda = leading(number(5), transposed ? k : n, transposed ? n : k, "the matrix");
    const std::int64_t ldc = leading(number(6), n, n, "the result");
    const Scalar alpha = scalar(0), beta = scalar(1);
    const library_abi::Blas& api = blas();
    const auto run = [&](auto* function) {
      check(function(handles_.blas, lower ? library_abi::kLower : library_abi::kUpper,
                     transposed ? library_abi::kTransposed : library_abi::kPlain, n, k, alpha.get(), operand(0), lda,
                     beta.get(), operand(1), ldc),
            "the product");
    };
    switch (type_) {
      case ScalarType::kFloat32: return run(api.syrk_S);
      case ScalarType::kFloat64: return run(api.syrk_D);
      case ScalarType::kComplex64: return run(api.syrk_C);
      case ScalarType::kComplex128: return run(api.syrk_Z);
      default: check(-1, "elements of this type");
    }
  }

  void set_status(void* status) {
    Fill zero;
    zero.memory = status;
    zero.width = 4;
    zero.count = {1, 1};
    device_.fill(stream_, zero, site_);
  }

  // Waits for the factorisation.
  void throw_if_failed(void* status, const char* what) {
    if (device_.is_capturing(stream_)) return;
    std::int32_t info = 0;
    Copy back;
    back.to = &info;
    back.from = status;
    back.from_space = Space::kDevice;
    back.bytes = sizeof info;
    device_.copy(stream_, back, site_);
    device_.synchronise(stream_, site_);
    if (info == 0) return;
    const std::string which = std::to_string(std::abs(info));
    throw operation_error(
        ErrorClass::kLaunch,
        info < 0 ? "cuSOLVER refuses argument " + which + " of '" + std::string(name_of(call_.function)) + "'"
                 : "the matrix can't be factorised: " + std::string(what) + " " + which +
                       (call_.function == DeviceFunction::kPotrf ? " is not positive definite" : " is zero"),
        site_);
  }

  std::byte* host_workspace(std::size_t size) {
    // Earlier calls may still use the old one.
    if (handles_.workspace.size() < size) {
      device_.synchronise(stream_, site_);
      handles_.workspace.resize(size);
    }
    return handles_.workspace.data();
  }

  void potrf() {
    const std::int64_t n = number(1);
    if (n <= 0) return set_status(operand(1));
    const int triangle = number(2) != 0 ? library_abi::kLower : library_abi::kUpper;
    const std::int64_t ld = leading(number(3), n, n, "the matrix");
    const library_abi::Solver& api = solver();
    std::size_t on_device = 0, on_host = 0;
    check(api.potrf_size(handles_.solver, handles_.solver_parameters, triangle, n, data_type_, operand(0), ld,
                         data_type_, &on_device, &on_host),
          "asking for its workspace");
    const Buffer buffer(device_, stream_, on_device, site_);
    check(api.potrf(handles_.solver, handles_.solver_parameters, triangle, n, data_type_, operand(0), ld, data_type_,
                    buffer.memory, on_device, host_workspace(on_host), on_host, static_cast<int*>(operand(1))),
          "the factorisation");
    if (number(4) != 0) throw_if_failed(operand(1), "the leading minor of order");
  }

  void getrf() {
    const std::int64_t n = number(1);
    if (n <= 0) return set_status(operand(2));
    const std::int64_t ld = leading(number(2), n, n, "the matrix");
    const library_abi::Solver& api = solver();
    std::size_t on_device = 0, on_host = 0;
    check(api.getrf_size(handles_.solver, handles_.solver_parameters, n, n, data_type_, operand(0), ld, data_type_,
                         &on_device, &on_host),
          "asking for its workspace");
    const Buffer buffer(device_, stream_, on_device, site_);
    check(api.getrf(handles_.solver, handles_.solver_parameters, n, n, data_type_, operand(0), ld,
                    static_cast<std::int64_t*>(operand(1)), data_type_, buffer.memory, on_device,
                    host_workspace(on_host), on_host, static_cast<int*>(operand(2))),
          "the factorisation");
    if (number(3) != 0) throw_if_failed(operand(2), "pivot");
  }

  void getrs() {
    const std::int64_t n = number(1), columns = number(2);
    if (n <= 0 || columns <= 0) return set_status(operand(3));
    const library_abi::Solver& api = solver();
    check(api.getrs(handles_.solver, handles_.solver_parameters,
                    number(3) != 0 ? library_abi::kTransposed : library_abi::kPlain, n, columns, data_type_, operand(0),
                    leading(number(4), n, n, "the factors"), static_cast<const std::int64_t*>(operand(1)), data_type_,
                    operand(2), leading(number(5), n, columns, "the right-hand sides"), static_cast<int*>(operand(3))),
          "the substitution");
  }

  void transform() {
    const auto rank = static_cast<std::size_t>(number(2));
    const std::int64_t batch = number(3 + rank);
    std::vector<long long> sizes;
    long long elements = 1;
    for (std::size_t d = 0; d < rank; ++d) {
      sizes.push_back(number(3 + d));
      elements *= sizes.back();
    }
    if (elements <= 0 || batch <= 0) return;
    const library_abi::Fft& api = cuda::fft(version_);
    const bool wide = type_ == ScalarType::kComplex128;
    std::vector<std::int64_t> key(call_.numbers, call_.numbers + 4 + rank);
    key[1] = 0;  // a plan serves both directions
    auto& plans = handles_.plans;
    auto found = std::ranges::find_if(plans, [&](const Plan& p) { return p.key == key; });
    if (found == plans.end()) {
      check_can_make();
      int plan = 0;
      check(api.create(&plan), "making a plan");
      std::size_t workspace = 0;
      library_abi::Status status =
          api.make(plan, static_cast<int>(rank), sizes.data(), nullptr, 1, elements, nullptr, 1, elements,
                   wide ? library_abi::kComplex128ToComplex128 : library_abi::kComplex64ToComplex64, batch, &workspace);
      if (status == library_abi::kSuccess) status = api.set_stream(plan, stream_.native());
      if (status != library_abi::kSuccess) api.destroy(plan);
      check(status, "making a plan");
      if (plans.size() >= kMostPlans) {
        device_.synchronise(stream_, site_);  // its workspace may be in use
        api.destroy(plans.back().plan);
        plans.pop_back();
      }
      plans.push_front({key, plan});
      found = plans.begin();
    }
    plans.splice(plans.begin(), plans, found);
    check(
        (wide ? api.run_complex128 : api.run_complex64)(plans.front().plan, operand(0), operand(1),
                                                        number(1) != 0 ? library_abi::kInverse : library_abi::kForward),
        "the transform");
  }

  // How many entries there are is told by the last row pointer only: arrays may be longer.
  std::int64_t entries(std::int64_t rows, std::int64_t index_bytes) {
    std::int64_t count = 0;
    std::int32_t narrow = 0;
    if (device_.is_capturing(stream_)) return number(3);
    Copy back;
    back.to = index_bytes == 4 ? static_cast<void*>(&narrow) : &count;
    back.from = static_cast<const std::byte*>(operand(0)) + rows * index_bytes;
    back.from_space = Space::kDevice;
    back.bytes = index_bytes;
    device_.copy(stream_, back, site_);
    device_.synchronise(stream_, site_);
    return index_bytes == 4 ? narrow : count;
  }

  struct Descriptor {
    Descriptor(library_abi::Status (*d)(library_abi::Handle)) : drop(d) {}
    ~Descriptor() {
      if (handle != nullptr) drop(handle);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    library_abi::Handle handle = nullptr;
    library_abi::Status (*drop)(library_abi::Handle);
  };

  void make_csr(const library_abi::Sparse& api, Descriptor& a, std::int64_t rows, std::int64_t columns,
                std::int64_t count) {
    const int index = number(4) == 4 ? library_abi::kIndex32 : library_abi::kIndex64;
    check(api.make_csr(&a.handle, rows, columns, count, operand(0), operand(1), operand(2), index, index,
                       library_abi::kZeroBased, data_type_),
          "describing the matrix");
  }

  void sparse_vector() {
    const std::int64_t rows = number(1), columns = number(2);
    const bool transposed = number(5) != 0;
    const std::int64_t out = transposed ? columns : rows, in = transposed ? rows : columns;
    if (out <= 0) return;
    const std::int64_t count = rows > 0 ? entries(rows, number(4)) : 0;
    if (in <= 0 || count <= 0) return scale(operand(4), out, 1, out);
    const library_abi::Sparse& api = sparse();
    Descriptor a(api.drop_csr), x(api.drop_vector), y(api.drop_vector);
    make_csr(api, a, rows, columns, count);
    check(api.make_vector(&x.handle, in, operand(3), data_type_), "describing the vector");
    check(api.make_vector(&y.handle, out, operand(4), data_type_), "describing the result");
    const Scalar alpha = scalar(0), beta = scalar(1);
    const int op = transposed ? library_abi::kTransposed : library_abi::kPlain;
    std::size_t size = 0;
    check(api.multiply_vector_size(handles_.sparse, op, alpha.get(), a.handle, x.handle, beta.get(), y.handle,
                                   data_type_, library_abi::kDefaultSparse, &size),
          "asking for its workspace");
    const Buffer buffer(device_, stream_, size, site_);
    check(api.multiply_vector(handles_.sparse, op, alpha.get(), a.handle, x.handle, beta.get(), y.handle, data_type_,
                              library_abi::kDefaultSparse, buffer.memory),
          "the product");
  }

  void sparse_matrix() {
    const std::int64_t rows = number(1), columns = number(2), width = number(6);
    const bool transposed = number(5) != 0, b_transposed = number(9) != 0;
    const std::int64_t out = transposed ? columns : rows, in = transposed ? rows : columns;
    if (out <= 0 || width <= 0) return;
    const bool b_by_rows = number(7) != 0, c_by_rows = number(10) != 0;
    const std::int64_t ldc = leading(number(11), c_by_rows ? width : out, c_by_rows ? out : width, "the result");
    const std::int64_t count = rows > 0 ? entries(rows, number(4)) : 0;
    if (in <= 0 || count <= 0) return scale(operand(4), c_by_rows ? width : out, c_by_rows ? out : width, ldc);
    const std::int64_t b_rows = b_transposed ? width : in, b_columns = b_transposed ? in : width;
    const std::int64_t ldb =
        leading(number(8), b_by_rows ? b_columns : b_rows, b_by_rows ? b_rows : b_columns, "the matrix");
    const library_abi::Sparse& api = sparse();
    Descriptor a(api.drop_csr), b(api.drop_matrix), c(api.drop_matrix);
    make_csr(api, a, rows, columns, count);
    const auto order = [](bool by_rows) -> int { return by_rows ? library_abi::kByRows : library_abi::kByColumns; };
    check(api.make_matrix(&b.handle, b_rows, b_columns, ldb, operand(3), data_type_, order(b_by_rows)),
          "describing the matrix");
    check(api.make_matrix(&c.handle, out, width, ldc, operand(4), data_type_, order(c_by_rows)),
          "describing the result");
    const Scalar alpha = scalar(0), beta = scalar(1);
    const int op_a = transposed ? library_abi::kTransposed : library_abi::kPlain,
              op_b = b_transposed ? library_abi::kTransposed : library_abi::kPlain;
    std::size_t size = 0;
    check(api.multiply_matrix_size(handles_.sparse, op_a, op_b, alpha.get(), a.handle, b.handle, beta.get(), c.handle,
                                   data_type_, library_abi::kDefaultSparse, &size),
          "asking for its workspace");
    const Buffer buffer(device_, stream_, size, site_);
    check(api.multiply_matrix(handles_.sparse, op_a, op_b, alpha.get(), a.handle, b.handle, beta.get(), c.handle,
                              data_type_, library_abi::kDefaultSparse, buffer.memory),
          "the product");
  }

  Device& device_;
  LibraryCalls::Handles& handles_;
  Stream& stream_;
  const LibraryCall& call_;
  const Site& site_;
  ScalarType type_;
  int data_type_;
  int version_;
};

}  // namespace

LibraryCalls::LibraryCalls(Device& device) : device_(device) {}
LibraryCalls::~LibraryCalls() = default;

LibraryCalls::Handles& LibraryCalls::handles_of(Stream& stream) {
  std::unique_ptr<Handles>& found = handles_[stream.native()];
  if (!found) found = std::make_unique<Handles>();
  return *found;
}

void LibraryCalls::call(Stream& stream, const LibraryCall& call, const Site& site) {
  const std::lock_guard lock(mutex_);
  Call(device_, handles_of(stream), stream, call, site).run();
}

}  // namespace sdfg::device::cuda
