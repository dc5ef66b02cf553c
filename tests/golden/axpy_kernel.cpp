extern "C" __global__ __launch_bounds__(128) void axpy_i(const double* __restrict x, double* __restrict y,
                                                         const double a, const int64_t N) {
  const int64_t i = (int64_t)blockIdx.x * 128 + threadIdx.x;
  if (i < N) {
    y[i] = a * x[i] + y[i];  // axpy
  }
}

static void axpy(sdfg_call* call, const double* __restrict x, double* __restrict y, const double a, const int64_t N) {
  if (!sdfg_abi->device_begin(call)) return;
  {
    const sdfg_launch launch = {{sdfg_blocks(N, 128), 1, 1}, {128, 1, 1}, 0, 0};
    void* const arguments[4] = {(void*)&x, (void*)&y, (void*)&a, (void*)&N};
    sdfg_abi->device_launch(call, 0, 0, &launch, arguments, 3);
  }
}

extern "C" int32_t sdfg_entry(const double* x, double* y, double a, int64_t N) {
  sdfg_call call = {};
  call.program = sdfg_program;
  axpy(&call, x, y, a, N);
  if (call.arena || call.status || call.flags) sdfg_abi->finish(&call);
  return call.status;
}

extern "C" int32_t sdfg_packed([[maybe_unused]] void* const* args) {
  return sdfg_entry(*(const double* const*)args[0], *(double* const*)args[1], *(double const*)args[2], *(int64_t const*)args[3]);
}
