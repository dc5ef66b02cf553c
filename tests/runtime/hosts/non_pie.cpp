// A host that is not position independent: its globals, and often its heap, lie below 4 GiB, where LLVM 22's linker
// would relax loads from the global offset table wrongly. Exit code 0: everything resolved and ran.
#include <cmath>
#include <cstdio>

#include "../compile_source.hpp"
#include "runtime/program.hpp"

static int global;

int main() {
  using namespace sdfg;
  const auto object = test::compile_program(R"(
    extern "C" double sin(double);
    extern "C" void* memcpy(void*, const void*, unsigned long);
    extern "C" int shared_value = 17;
    typedef double (*math)(double);
    extern "C" math address() { return &sin; }
    extern "C" void* mover() { return (void*)&memcpy; }
    extern "C" void sdfg_entry(double* x, const double* y) {
      sdfg_call call = {}; call.program = sdfg_program;
      double* t = (double*)sdfg_abi->allocate(&call, 800, 64, 0);
      memcpy(t, y, 800);
      for (int i = 0; i < 100; ++i) x[i] = sin(t[i]) + shared_value;
      sdfg_abi->finish(&call);
    })",
                                            "-O2 -fno-plt");
  static_assert(sizeof(void*) == 8);
  if (reinterpret_cast<std::uintptr_t>(&global) >> 32 != 0) return std::puts("this host is position independent"), 2;
  const auto program = runtime::Program::load(object, {"host", {}, {}, 0});
  static double x[100], y[100];
  for (int i = 0; i < 100; ++i) y[i] = 0.1 * i;
  reinterpret_cast<void (*)(double*, const double*)>(program->entry())(x, y);
  for (int i = 0; i < 100; ++i) {
    if (x[i] != std::sin(y[i]) + 17) return std::printf("x[%d] is wrong\n", i), 1;
  }
  const auto sine = reinterpret_cast<double (*(*)())(double)>(program->code().find("address"))();
  if (sine(0.5) != std::sin(0.5)) return std::puts("the address of sin is wrong"), 1;
  return 0;
}
