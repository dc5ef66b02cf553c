static constexpr int64_t A_idx(int64_t i0, int64_t i1, int64_t N) { return N * i0 + i1; }

static void nested(const double* __restrict A, double* __restrict y, const int64_t M, const int64_t N) {
  #pragma omp parallel for if(M * N > 256)
  for (int64_t i = 0; i < M; ++i) {
    double y_acc = y[i];
    #pragma omp simd reduction(+: y_acc)
    for (int64_t j = 0; j < N; ++j) {
      y_acc += A[A_idx(i, j, N)];  // add
    }
    y[i] = y_acc;
  }
}

extern "C" int32_t sdfg_entry(const double* A, double* y, int64_t M, int64_t N) {
  nested(A, y, M, N);
  return 0;
}

extern "C" int32_t sdfg_packed([[maybe_unused]] void* const* args) {
  return sdfg_entry(*(const double* const*)args[0], *(double* const*)args[1], *(int64_t const*)args[2], *(int64_t const*)args[3]);
}
