static constexpr int64_t A_idx(int64_t i0, int64_t i1, int64_t N) { return N * i0 + i1; }
static constexpr int64_t B_idx(int64_t i0, int64_t i1, int64_t N) { return N * i0 + i1; }

static void jacobi_2d(double* __restrict A, double* __restrict B, const int64_t N, const int64_t T) {
  for (int64_t t = 0; t < T; ++t) {
    #pragma omp parallel for if((N - 2) * (N - 2) > 256)
    for (int64_t i = 1; i < N - 1; ++i) {
      #pragma omp simd
      for (int64_t j = 1; j < N - 1; ++j) {
        B[B_idx(i, j, N)] = 0.2 * (A[A_idx(i, j, N)] + A[A_idx(i, j - 1, N)] + A[A_idx(i, j + 1, N)] + A[A_idx(i - 1, j, N)] + A[A_idx(i + 1, j, N)]);  // stencil
      }
    }
    #pragma omp parallel for if((N - 2) * (N - 2) > 256)
    for (int64_t i_1 = 1; i_1 < N - 1; ++i_1) {
      #pragma omp simd
      for (int64_t j_1 = 1; j_1 < N - 1; ++j_1) {
        A[A_idx(i_1, j_1, N)] = 0.2 * (B[B_idx(i_1, j_1, N)] + B[B_idx(i_1, j_1 - 1, N)] + B[B_idx(i_1, j_1 + 1, N)] + B[B_idx(i_1 - 1, j_1, N)] + B[B_idx(i_1 + 1, j_1, N)]);  // stencil
      }
    }
  }
}

extern "C" int32_t sdfg_entry(double* A, double* B, int64_t N, int64_t T) {
  jacobi_2d(A, B, N, T);
  return 0;
}

extern "C" int32_t sdfg_packed([[maybe_unused]] void* const* args) {
  return sdfg_entry(*(double* const*)args[0], *(double* const*)args[1], *(int64_t const*)args[2], *(int64_t const*)args[3]);
}
