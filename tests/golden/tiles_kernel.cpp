extern "C" __global__ __launch_bounds__(32) void tiles_b(const double* __restrict A, double* __restrict B,
                                                         const int64_t N) {
  const int64_t b = 32 * (int64_t)blockIdx.x;
  SDFG_SHARED(double, tile, 32);
  for (int64_t t = 0; t < 3; ++t) {
    {  // i
      const int64_t i = (int64_t)threadIdx.x;
      if (i < sdfg_min(32, N - b)) {
        tile[i] = A[b + i];  // load
      }
    }
    __syncthreads();
    {  // j
      const int64_t j = (int64_t)threadIdx.x;
      if (j < sdfg_min(32, N - b)) {
        B[b + j] = tile[sdfg_min(31, N - b - 1) - j] + B[b + j];  // use
      }
    }
    __syncthreads();
  }
}

static void tiles(sdfg_call* call, const double* __restrict A, double* __restrict B, const int64_t N) {
  if (!sdfg_abi->device_begin(call)) return;
  {
    const sdfg_launch launch = {{sdfg_blocks((N + 31) / 32, 1), 1, 1}, {32, 1, 1}, 0, 0};
    void* const arguments[3] = {(void*)&A, (void*)&B, (void*)&N};
    sdfg_abi->device_launch(call, 0, 0, &launch, arguments, 3);
  }
}

extern "C" int32_t sdfg_entry(const double* A, double* B, int64_t N) {
  sdfg_call call = {};
  call.program = sdfg_program;
  tiles(&call, A, B, N);
  if (call.arena || call.status || call.flags) sdfg_abi->finish(&call);
  return call.status;
}

extern "C" int32_t sdfg_packed([[maybe_unused]] void* const* args) {
  return sdfg_entry(*(const double* const*)args[0], *(double* const*)args[1], *(int64_t const*)args[2]);
}
