static constexpr int64_t P_idx(int64_t i0, int64_t i1, int64_t N) { return N * i0 + 3 * i0 + i1 + 3; }
static constexpr int64_t S_idx(int64_t i0, int64_t i1, int64_t N) { return 2 * N * i0 + 2 * i1; }
static constexpr int64_t F_idx(int64_t i0, int64_t i1, int64_t M) { return M * i1 + i0; }

static void layouts(double* __restrict F, double* __restrict P, int16_t* __restrict S, const int64_t M,
                    const int64_t N) {
  #pragma omp parallel for if(M * N > 256)
  for (int64_t i = 0; i < M; ++i) {
    #pragma omp simd
    for (int64_t j = 0; j < N; ++j) {  // set
      const double f = 10 * i + j;
      P[P_idx(i, j, N)] = f;
      S[S_idx(i, j, N)] = i - j;
      F[F_idx(i, j, M)] = f;
    }
  }
}

extern "C" int32_t sdfg_entry(double* F, double* P, int16_t* S, int64_t M, int64_t N) {
  layouts(F, P, S, M, N);
  return 0;
}

extern "C" int32_t sdfg_packed([[maybe_unused]] void* const* args) {
  return sdfg_entry(*(double* const*)args[0], *(double* const*)args[1], *(int16_t* const*)args[2], *(int64_t const*)args[3], *(int64_t const*)args[4]);
}
