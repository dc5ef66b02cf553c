static constexpr double weights[2] = {0.1, -3.0};

static void values(const double* __restrict A, double* __restrict B, const double alpha, const int64_t N) {
  #pragma omp parallel for simd if(parallel: N > 256)
  for (int64_t i = 0; i < N; ++i) {
    const double twice = 2.0 * A[i];  // double it
    const double scale = twice * alpha * weights[1];  // scale
    B[i] = scale + 1.0;  // shift
  }
}

extern "C" int32_t sdfg_entry(const double* A, double* B, double alpha, int64_t N) {
  values(A, B, alpha, N);
  return 0;
}

extern "C" int32_t sdfg_packed([[maybe_unused]] void* const* args) {
  return sdfg_entry(*(const double* const*)args[0], *(double* const*)args[1], *(double const*)args[2], *(int64_t const*)args[3]);
}
