static constexpr int64_t tmp_idx(int64_t i0, int64_t i1, int64_t q) { return i0 * q + i1; }

static void sizes(sdfg_call* call, const int64_t* __restrict n, double* __restrict out) {
  const int64_t p = n[0];
  const int64_t q = n[1];
  {
    if (p < 0) {
      sdfg_fail(call, 2, 2, 0, p);
      return;
    }
    if (q < 0) {
      sdfg_fail(call, 2, 2, 1, q);
      return;
    }
    const sdfg_owned tmp_memory(call, tmp_size(p, q), sizeof(double), 64, 2);
    if (!tmp_memory.memory) return;
    double* __restrict tmp = (double*)tmp_memory.memory;
    __builtin_memset(tmp, 0, tmp_size(p, q).value * sizeof(double));
    #pragma omp parallel for if(p * q > 256)
    for (int64_t i = 0; i < p; ++i) {
      #pragma omp simd
      for (int64_t j = 0; j < q; ++j) {
        tmp[tmp_idx(i, j, q)] = i + 2 * j;  // fill
      }
    }
    double out_acc = out[0];
    #pragma omp parallel for if(p * q > 256) reduction(+: out_acc)
    for (int64_t i2 = 0; i2 < p; ++i2) {
      #pragma omp simd reduction(+: out_acc)
      for (int64_t j2 = 0; j2 < q; ++j2) {
        out_acc += tmp[tmp_idx(i2, j2, q)];  // sum
      }
    }
    out[0] = out_acc;
  }
}

extern "C" int32_t sdfg_entry(const int64_t* n, double* out) {
  sdfg_call call = {};
  call.program = sdfg_program;
  sizes(&call, n, out);
  if (call.arena || call.status || call.flags) sdfg_abi->finish(&call);
  return call.status;
}

extern "C" int32_t sdfg_packed([[maybe_unused]] void* const* args) {
  return sdfg_entry(*(const int64_t* const*)args[0], *(double* const*)args[1]);
}
