// Our declarations of the device libraries against their headers, where these are; checked while compiling.
#if __has_include(<cublas_v2.h>) && __has_include(<cusolverDn.h>) && __has_include(<cufft.h>) && \
    __has_include(<cusparse.h>)
#include <cublas_v2.h>
#include <cufft.h>
#include <cusolverDn.h>
#include <cusparse.h>

#include <library_abi.hpp>

namespace {

namespace l = sdfg::library_abi;

#define SDFG_SAME(a, b) static_assert(int(a) == int(l::b));
SDFG_SAME(CUDA_R_32F, kR32F)
SDFG_SAME(CUDA_R_64F, kR64F)
SDFG_SAME(CUDA_R_16F, kR16F)
SDFG_SAME(CUDA_R_16BF, kR16BF)
SDFG_SAME(CUDA_C_32F, kC32F)
SDFG_SAME(CUDA_C_64F, kC64F)
SDFG_SAME(CUBLAS_OP_N, kPlain)
SDFG_SAME(CUBLAS_OP_T, kTransposed)
SDFG_SAME(CUBLAS_FILL_MODE_LOWER, kLower)
SDFG_SAME(CUBLAS_FILL_MODE_UPPER, kUpper)
SDFG_SAME(CUBLAS_POINTER_MODE_HOST, kHostScalars)
SDFG_SAME(CUBLAS_POINTER_MODE_DEVICE, kDeviceScalars)
SDFG_SAME(CUBLAS_COMPUTE_32F, kCompute32F)
SDFG_SAME(CUBLAS_COMPUTE_64F, kCompute64F)
SDFG_SAME(CUBLAS_GEMM_DEFAULT, kDefaultAlgorithm)
SDFG_SAME(CUBLAS_STATUS_SUCCESS, kSuccess)
SDFG_SAME(CUSOLVER_STATUS_SUCCESS, kSuccess)
SDFG_SAME(CUFFT_SUCCESS, kSuccess)
SDFG_SAME(CUSPARSE_STATUS_SUCCESS, kSuccess)
SDFG_SAME(CUFFT_C2C, kComplex64ToComplex64)
SDFG_SAME(CUFFT_Z2Z, kComplex128ToComplex128)
SDFG_SAME(CUFFT_FORWARD, kForward)
SDFG_SAME(CUFFT_INVERSE, kInverse)
SDFG_SAME(CUSPARSE_INDEX_32I, kIndex32)
SDFG_SAME(CUSPARSE_INDEX_64I, kIndex64)
SDFG_SAME(CUSPARSE_ORDER_COL, kByColumns)
SDFG_SAME(CUSPARSE_ORDER_ROW, kByRows)
SDFG_SAME(CUSPARSE_INDEX_BASE_ZERO, kZeroBased)
SDFG_SAME(CUSPARSE_OPERATION_NON_TRANSPOSE, kPlain)
SDFG_SAME(CUSPARSE_OPERATION_TRANSPOSE, kTransposed)
SDFG_SAME(CUSPARSE_SPMV_ALG_DEFAULT, kDefaultSparse)
SDFG_SAME(CUSPARSE_SPMM_ALG_DEFAULT, kDefaultSparse)

// As many parameters, each of the same size.
template <class A, class B>
constexpr bool kSame = false;
template <class R, class... P, class S, class... Q>
constexpr bool kSame<R (*)(P...), S (*)(Q...)> = [] {
  if constexpr (sizeof...(P) == sizeof...(Q))
    return ((sizeof(P) == sizeof(Q)) && ...);
  else
    return false;
}();

#define SDFG_CHECK(member, exported, parameters) \
  static_assert(kSame<decltype(&exported), int(*) parameters>, #exported);
using namespace l;
SDFG_BLAS_FUNCTIONS(SDFG_CHECK)
SDFG_SOLVER_FUNCTIONS(SDFG_CHECK)
SDFG_FFT_FUNCTIONS(SDFG_CHECK)
SDFG_SPARSE_FUNCTIONS(SDFG_CHECK)

}  // namespace
#endif
