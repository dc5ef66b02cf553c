// Declarations of the functions of cuBLAS, cuSOLVER, cuFFT and cuSPARSE that are opened at run time; CUDA 12 and 13.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

namespace sdfg::library_abi {

using Handle = void*;
using Status = int;  // 0: done, in all four
using Stream = void*;
inline constexpr Status kSuccess = 0;

enum DataType : int { kR32F = 0, kR64F = 1, kR16F = 2, kC32F = 4, kC64F = 5, kR16BF = 14 };
enum Operation : int { kPlain = 0, kTransposed = 1 };  // of cuBLAS and cuSPARSE, and so of cuSOLVER
enum Triangle : int { kLower = 0, kUpper = 1 };
enum PointerMode : int { kHostScalars = 0, kDeviceScalars = 1 };
enum Compute : int { kCompute32F = 68, kCompute64F = 70 };
inline constexpr int kDefaultAlgorithm = -1;  // of matrix products

enum FftType : int { kComplex64ToComplex64 = 0x29, kComplex128ToComplex128 = 0x69 };
enum FftDirection : int { kForward = -1, kInverse = 1 };

enum SparseIndex : int { kIndex32 = 2, kIndex64 = 3 };
enum SparseOrder : int { kByColumns = 1, kByRows = 2 };
inline constexpr int kZeroBased = 0;
inline constexpr int kDefaultSparse = 0;

// X(member, exported name, parameters): all return a Status. T stands for the element type in the names of one.
#define SDFG_BLAS_FUNCTIONS(X)                                                                                     \
  X(create, cublasCreate_v2, (Handle * handle))                                                                    \
  X(set_stream, cublasSetStream_v2, (Handle handle, Stream stream))                                                \
  X(set_pointer_mode, cublasSetPointerMode_v2, (Handle handle, int mode))                                          \
  X(gemm, cublasGemmStridedBatchedEx_64,                                                                           \
    (Handle handle, int trans_a, int trans_b, std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha,   \
     const void* a, int a_type, std::int64_t lda, long long a_stride, const void* b, int b_type, std::int64_t ldb, \
     long long b_stride, const void* beta, void* c, int c_type, std::int64_t ldc, long long c_stride,              \
     std::int64_t batch, int compute, int algorithm))                                                              \
  X(dot, cublasDotEx_64,                                                                                           \
    (Handle handle, std::int64_t n, const void* x, int x_type, std::int64_t incx, const void* y, int y_type,       \
     std::int64_t incy, void* result, int result_type, int execution_type))                                        \
  X(scale, cublasScalEx_64,                                                                                        \
    (Handle handle, std::int64_t n, const void* alpha, int alpha_type, void* x, int x_type, std::int64_t incx,     \
     int execution_type))                                                                                          \
  SDFG_BLAS_GEMV(X, S)                                                                                             \
  SDFG_BLAS_GEMV(X, D)                                                                                             \
  SDFG_BLAS_GEMV(X, C)                                                                                             \
  SDFG_BLAS_GEMV(X, Z)                                                                                             \
  SDFG_BLAS_SYRK(X, S)                                                                                             \
  SDFG_BLAS_SYRK(X, D)                                                                                             \
  SDFG_BLAS_SYRK(X, C)                                                                                             \
  SDFG_BLAS_SYRK(X, Z)
#define SDFG_BLAS_GEMV(X, T)                                                                                       \
  X(gemv_##T, cublas##T##gemv_v2_64,                                                                               \
    (Handle handle, int trans, std::int64_t m, std::int64_t n, const void* alpha, const void* a, std::int64_t lda, \
     const void* x, std::int64_t incx, const void* beta, void* y, std::int64_t incy))
#define SDFG_BLAS_SYRK(X, T)                                                                                   \
  X(syrk_##T, cublas##T##syrk_v2_64,                                                                           \
    (Handle handle, int triangle, int trans, std::int64_t n, std::int64_t k, const void* alpha, const void* a, \
     std::int64_t lda, const void* beta, void* c, std::int64_t ldc))

#define SDFG_SOLVER_FUNCTIONS(X)                                                                                  \
  X(create, cusolverDnCreate, (Handle * handle))                                                                  \
  X(set_stream, cusolverDnSetStream, (Handle handle, Stream stream))                                              \
  X(create_parameters, cusolverDnCreateParams, (Handle * parameters))                                             \
  X(potrf_size, cusolverDnXpotrf_bufferSize,                                                                      \
    (Handle handle, Handle parameters, int triangle, std::int64_t n, int type, const void* a, std::int64_t lda,   \
     int compute_type, std::size_t* device_bytes, std::size_t* host_bytes))                                       \
  X(potrf, cusolverDnXpotrf,                                                                                      \
    (Handle handle, Handle parameters, int triangle, std::int64_t n, int type, void* a, std::int64_t lda,         \
     int compute_type, void* device, std::size_t device_bytes, void* host, std::size_t host_bytes, int* info))    \
  X(getrf_size, cusolverDnXgetrf_bufferSize,                                                                      \
    (Handle handle, Handle parameters, std::int64_t m, std::int64_t n, int type, const void* a, std::int64_t lda, \
     int compute_type, std::size_t* device_bytes, std::size_t* host_bytes))                                       \
  X(getrf, cusolverDnXgetrf,                                                                                      \
    (Handle handle, Handle parameters, std::int64_t m, std::int64_t n, int type, void* a, std::int64_t lda,       \
     std::int64_t* pivots, int compute_type, void* device, std::size_t device_bytes, void* host,                  \
     std::size_t host_bytes, int* info))                                                                          \
  X(getrs, cusolverDnXgetrs,                                                                                      \
    (Handle handle, Handle parameters, int trans, std::int64_t n, std::int64_t columns, int type, const void* a,  \
     std::int64_t lda, const std::int64_t* pivots, int b_type, void* b, std::int64_t ldb, int* info))

// Plans are numbers here.
#define SDFG_FFT_FUNCTIONS(X)                                                                                         \
  X(create, cufftCreate, (int* plan))                                                                                 \
  X(destroy, cufftDestroy, (int plan))                                                                                \
  X(make, cufftMakePlanMany64,                                                                                        \
    (int plan, int rank, long long* sizes, long long* from_embed, long long from_stride, long long from_distance,     \
     long long* to_embed, long long to_stride, long long to_distance, int type, long long batch, std::size_t* bytes)) \
  X(set_stream, cufftSetStream, (int plan, Stream stream))                                                            \
  X(run_complex64, cufftExecC2C, (int plan, void* from, void* to, int direction))                                     \
  X(run_complex128, cufftExecZ2Z, (int plan, void* from, void* to, int direction))

#define SDFG_SPARSE_FUNCTIONS(X)                                                                                    \
  X(create, cusparseCreate, (Handle * handle))                                                                      \
  X(set_stream, cusparseSetStream, (Handle handle, Stream stream))                                                  \
  X(make_csr, cusparseCreateCsr,                                                                                    \
    (Handle * matrix, std::int64_t rows, std::int64_t columns, std::int64_t entries, void* row_offsets,             \
     void* column_indices, void* values, int offset_type, int index_type, int base, int value_type))                \
  X(make_vector, cusparseCreateDnVec, (Handle * vector, std::int64_t size, void* values, int value_type))           \
  X(make_matrix, cusparseCreateDnMat,                                                                               \
    (Handle * matrix, std::int64_t rows, std::int64_t columns, std::int64_t ld, void* values, int value_type,       \
     int order))                                                                                                    \
  X(drop_csr, cusparseDestroySpMat, (Handle matrix))                                                                \
  X(drop_vector, cusparseDestroyDnVec, (Handle vector))                                                             \
  X(drop_matrix, cusparseDestroyDnMat, (Handle matrix))                                                             \
  X(multiply_vector_size, cusparseSpMV_bufferSize,                                                                  \
    (Handle handle, int trans, const void* alpha, Handle a, Handle x, const void* beta, Handle y, int compute_type, \
     int algorithm, std::size_t* bytes))                                                                            \
  X(multiply_vector, cusparseSpMV,                                                                                  \
    (Handle handle, int trans, const void* alpha, Handle a, Handle x, const void* beta, Handle y, int compute_type, \
     int algorithm, void* buffer))                                                                                  \
  X(multiply_matrix_size, cusparseSpMM_bufferSize,                                                                  \
    (Handle handle, int trans_a, int trans_b, const void* alpha, Handle a, Handle b, const void* beta, Handle c,    \
     int compute_type, int algorithm, std::size_t* bytes))                                                          \
  X(multiply_matrix, cusparseSpMM,                                                                                  \
    (Handle handle, int trans_a, int trans_b, const void* alpha, Handle a, Handle b, const void* beta, Handle c,    \
     int compute_type, int algorithm, void* buffer))

#define SDFG_MEMBER(member, exported, parameters) Status(*member) parameters = nullptr;
struct Blas {
  SDFG_BLAS_FUNCTIONS(SDFG_MEMBER)
};
struct Solver {
  SDFG_SOLVER_FUNCTIONS(SDFG_MEMBER)
};
struct Fft {
  SDFG_FFT_FUNCTIONS(SDFG_MEMBER)
};
struct Sparse {
  SDFG_SPARSE_FUNCTIONS(SDFG_MEMBER)
};
#undef SDFG_MEMBER

}  // namespace sdfg::library_abi
