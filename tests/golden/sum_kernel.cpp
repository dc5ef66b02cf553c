static __device__ constexpr int64_t A_idx(int64_t i0, int64_t i1, int64_t N) { return N * i0 + i1; }

extern "C" __global__ __launch_bounds__(128) void sum_i_j(const float* __restrict A, float* __restrict s,
                                                          const int64_t M, const int64_t N) {
  float s_part = 0.0f;
  for (int64_t i = (int64_t)blockIdx.y; i < M; i += (int64_t)gridDim.y) {
    for (int64_t j = (int64_t)blockIdx.x * 128 + threadIdx.x; j < N; j += (int64_t)gridDim.x * 128) {
      s_part += A[A_idx(i, j, N)];  // add
    }
  }
  SDFG_SHARED(float, s_parts, 4);
  const float s_total = sdfg_block_reduce<128>(threadIdx.x, s_part, s_parts, [](float a, float b) -> float { return a + b; });
  if (threadIdx.x == 0) sdfg_atomic_add(s, (float)s_total);
}

static void sum(sdfg_call* call, const float* __restrict A, float* __restrict s, const int64_t M, const int64_t N) {
  if (!sdfg_abi->device_begin(call)) return;
  {
    const int64_t blocks = sdfg_blocks(N, 128, 2048);
    const int64_t blocks_1 = sdfg_blocks(M, 1, sdfg_rest(2048, blocks));
    const sdfg_launch launch = {{blocks, blocks_1, 1}, {128, 1, 1}, 0, 0};
    void* const arguments[4] = {(void*)&A, (void*)&s, (void*)&M, (void*)&N};
    sdfg_abi->device_launch(call, 0, 0, &launch, arguments, 2);
  }
}

extern "C" int32_t sdfg_entry(const float* A, float* s, int64_t M, int64_t N) {
  sdfg_call call = {};
  call.program = sdfg_program;
  sum(&call, A, s, M, N);
  if (call.arena || call.status || call.flags) sdfg_abi->finish(&call);
  return call.status;
}

extern "C" int32_t sdfg_packed([[maybe_unused]] void* const* args) {
  return sdfg_entry(*(const float* const*)args[0], *(float* const*)args[1], *(int64_t const*)args[2], *(int64_t const*)args[3]);
}
