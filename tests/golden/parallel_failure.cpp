static void parallel_failure(sdfg_call* call, const int64_t* __restrict n, double* __restrict out, const int64_t M) {
  #pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    if (sdfg_failed(call)) continue;
    {
      const int64_t k = n[i];
      {
        if (k < 0) {
          sdfg_fail(call, 2, 2, 0, k);
          goto next;
        }
        const sdfg_owned tmp_memory(call, k, sizeof(double), 64, 2);
        if (!tmp_memory.memory) goto next;
        double* __restrict tmp = (double*)tmp_memory.memory;
        #pragma omp simd
        for (int64_t j = 0; j < k; ++j) {
          tmp[j] = 1.0;  // fill
        }
        double out_acc = out[i];
        #pragma omp simd reduction(+: out_acc)
        for (int64_t q = 0; q < k; ++q) {
          out_acc += tmp[q];  // sum
        }
        out[i] = out_acc;
      }
    }
    next:;
  }
}

extern "C" int32_t sdfg_entry(const int64_t* n, double* out, int64_t M) {
  sdfg_call call = {};
  call.program = sdfg_program;
  parallel_failure(&call, n, out, M);
  if (call.arena || call.status || call.flags) sdfg_abi->finish(&call);
  return call.status;
}

extern "C" int32_t sdfg_packed([[maybe_unused]] void* const* args) {
  return sdfg_entry(*(const int64_t* const*)args[0], *(double* const*)args[1], *(int64_t const*)args[2]);
}
