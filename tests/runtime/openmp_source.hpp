// OpenMP code as Clang compiles it, used by several tests and hosts, with a self-check for any number of threads.
#pragma once

#include <string>

namespace sdfg::test {

// `long check(long n)` returns 0 when everything is right, else the number of the first thing that is wrong.
inline const std::string& openmp_source() {
  static const std::string text = R"CODE(
typedef unsigned long size_t_;
extern "C" int omp_get_thread_num(); extern "C" int omp_get_num_threads(); extern "C" int omp_get_max_threads();
extern "C" void* memset(void*, int, size_t_);
namespace {
enum { kMost = 5000 };
int hits[kMost]; double values[kMost]; float floats[kMost];

long count_wrong(long n, int expected) {
  long wrong = 0;
  for (long i = 0; i < n; ++i) wrong += hits[i] != expected;
  for (long i = n; i < kMost; ++i) wrong += hits[i] != 0;
  memset(hits, 0, sizeof(hits));
  return wrong;
}
}  // namespace

extern "C" void set_values() {
  for (long i = 0; i < kMost; ++i) { values[i] = ((i * 7919) % 1009) - 400; floats[i] = ((i * 31) % 97) - 50; }
}

// Every iteration exactly once, whatever the schedule, type, direction and step.
extern "C" long check_loops(long n) {
  #pragma omp parallel for
  for (long i = 0; i < n; ++i) ++hits[i];
  if (count_wrong(n, 1)) return 1;
  #pragma omp parallel for schedule(static, 3)
  for (long i = 0; i < n; ++i) ++hits[i];
  if (count_wrong(n, 1)) return 2;
  #pragma omp parallel for schedule(dynamic)
  for (long i = 0; i < n; ++i) ++hits[i];
  if (count_wrong(n, 1)) return 3;
  #pragma omp parallel for schedule(dynamic, 7)
  for (int i = (int)n - 1; i >= 0; --i) ++hits[i];
  if (count_wrong(n, 1)) return 4;
  #pragma omp parallel for schedule(guided)
  for (unsigned i = 0; i < (unsigned)n; ++i) ++hits[i];
  if (count_wrong(n, 1)) return 5;
  #pragma omp parallel for schedule(guided, 5)
  for (unsigned long i = 0; i < (unsigned long)n; ++i) ++hits[i];
  if (count_wrong(n, 1)) return 6;
  #pragma omp parallel for schedule(runtime)
  for (long i = 0; i < n; ++i) ++hits[i];
  if (count_wrong(n, 1)) return 7;
  #pragma omp parallel for schedule(auto)
  for (short i = 0; i < n; ++i) ++hits[i];
  if (count_wrong(n, 1)) return 8;
  #pragma omp parallel for schedule(monotonic : dynamic, 2)
  for (long i = n; i > 0; i -= 1) ++hits[i - 1];
  if (count_wrong(n, 1)) return 9;
  // Steps: count what each visited index says.
  long seen = 0;
  #pragma omp parallel for schedule(static) reduction(+ : seen)
  for (long i = -5; i < n; i += 7) seen += i;
  long wanted = 0;
  for (long i = -5; i < n; i += 7) wanted += i;
  if (seen != wanted) return 10;
  seen = 0;
  #pragma omp parallel for schedule(static, 4) reduction(+ : seen)
  for (int i = (int)n; i > -9; i -= 3) seen += i * 2;
  wanted = 0;
  for (int i = (int)n; i > -9; i -= 3) wanted += i * 2;
  if (seen != wanted) return 11;
  // Bounds at the ends of their type.
  int top = 0;
  #pragma omp parallel for schedule(static, 2) reduction(+ : top)
  for (int i = 2147483647 - 5; i < 2147483647; ++i) top += 1;
  if (top != 5) return 12;
  top = 0;
  #pragma omp parallel for reduction(+ : top)
  for (unsigned i = 4294967295u - 6; i < 4294967295u; i += 2) top += 1;
  if (top != 3) return 13;
  top = 0;
  #pragma omp parallel for schedule(dynamic, 100000) reduction(+ : top)
  for (long i = -9223372036854775807L; i < -9223372036854775807L + 6; ++i) top += 1;
  if (top != 6) return 14;
  long last = -1;
  #pragma omp parallel for schedule(dynamic, 3) lastprivate(last)
  for (long i = 0; i < n; ++i) last = i;
  if (n > 0 && last != n - 1) return 15;
  last = -1;
  #pragma omp parallel for schedule(static, 3) lastprivate(last)
  for (long i = 0; i < n; ++i) last = i;
  if (n > 0 && last != n - 1) return 16;
  last = -1;
  #pragma omp parallel for lastprivate(last)
  for (long i = 0; i < n; ++i) last = i;
  if (n > 0 && last != n - 1) return 17;
  #pragma omp parallel for simd schedule(simd : static, 4)
  for (long i = 0; i < n; ++i) ++hits[i];
  if (count_wrong(n, 1)) return 18;
  return 0;
}

extern "C" long check_collapse(long n) {
  long rows = n / 13;
  #pragma omp parallel for collapse(2)
  for (long i = 0; i < rows; ++i)
    for (long j = 0; j < 13; ++j) ++hits[i * 13 + j];
  if (count_wrong(rows * 13, 1)) return 101;
  rows = n / 15;
  #pragma omp parallel for collapse(3) schedule(dynamic)
  for (int i = 0; i < (int)rows; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 4; k >= 0; --k) ++hits[(i * 3 + j) * 5 + k];
  if (count_wrong(rows * 15, 1)) return 102;
  return 0;
}

template <typename T> struct Sums { T sum, product, least, most; };
template <typename T, typename A> static bool reduce_as(const A* from, long n) {
  T sum = 3, least = 1000, most = -1000, product = 1;
  #pragma omp parallel for reduction(+ : sum) reduction(min : least) reduction(max : most) reduction(* : product)
  for (long i = 0; i < n; ++i) {
    T v = (T)from[i];
    sum += v;
    least = v < least ? v : least;
    most = v > most ? v : most;
    product *= (T)(i % 11 == 0 ? 2 : 1) * (T)(i % 90 == 0 ? 1 : 1);
    if (i % 22 == 0) product /= 2;
    if (i % 22 == 11) product /= 2;
  }
  T sum_ = 3, least_ = 1000, most_ = -1000;
  for (long i = 0; i < n; ++i) {
    T v = (T)from[i];
    sum_ += v; least_ = v < least_ ? v : least_; most_ = v > most_ ? v : most_;
  }
  return sum == sum_ && least == least_ && most == most_ && product == (T)1;
}

extern "C" long check_reductions(long n) {
  if (!reduce_as<double>(values, n)) return 201;
  if (!reduce_as<float>(floats, n)) return 202;
  if (!reduce_as<int>(values, n)) return 203;
  if (!reduce_as<long>(values, n)) return 204;
  unsigned all = ~0u, any = 0, odd = 0; bool every = true, some = false;
  #pragma omp parallel for reduction(& : all) reduction(| : any) reduction(^ : odd) reduction(&& : every) reduction(|| : some) schedule(dynamic, 4)
  for (long i = 0; i < n; ++i) {
    all &= ~(unsigned)(1u << (i % 7)); any |= 1u << (i % 19); odd ^= (unsigned)i;
    every = every && i < n - 1; some = some || i == n - 1;
  }
  unsigned all_ = ~0u, any_ = 0, odd_ = 0;
  for (long i = 0; i < n; ++i) { all_ &= ~(unsigned)(1u << (i % 7)); any_ |= 1u << (i % 19); odd_ ^= (unsigned)i; }
  if (all != all_ || any != any_ || odd != odd_ || every != (n == 0) || some != (n > 0)) return 205;
  double bins[5] = {0, 0, 0, 0, 1};
  #pragma omp parallel for reduction(+ : bins[0 : 5])
  for (long i = 0; i < n; ++i) bins[i % 5] += 1;
  double total = 0;
  for (int b = 0; b < 5; ++b) total += bins[b];
  if (total != n + 1) return 206;
  typedef double _Complex cd;
  cd z = 1;
  #pragma omp declare reduction(+ : cd : omp_out += omp_in) initializer(omp_priv = 0)
  #pragma omp parallel for reduction(+ : z)
  for (long i = 0; i < n; ++i) { cd t; __real__ t = 1; __imag__ t = 2; z += t; }
  if (__real__ z != n + 1 || __imag__ z != 2 * n) return 207;
  signed char small = 0; short sixteen = 0;
  #pragma omp parallel for reduction(+ : small) reduction(max : sixteen)
  for (long i = 0; i < n; ++i) { small += 1; sixteen = sixteen < i ? (short)i : sixteen; }
  if (small != (signed char)n || sixteen != (n > 0 ? n - 1 : 0)) return 208;
  return 0;
}

extern "C" long check_regions(long n) {
  // Several loops in one region, with and without barriers, reductions inside, single and masked.
  long sum = 0, singles = 0, masters = 0;
  #pragma omp parallel
  {
    #pragma omp for schedule(dynamic, 2) nowait
    for (long i = 0; i < n; ++i) __atomic_fetch_add(&hits[i], 1, __ATOMIC_RELAXED);
    #pragma omp for schedule(guided) nowait
    for (long i = 0; i < n; ++i) __atomic_fetch_add(&hits[i], 1, __ATOMIC_RELAXED);
    for (int k = 0; k < 20; ++k) {
      #pragma omp for schedule(dynamic, 5) nowait
      for (long i = 0; i < n; ++i) __atomic_fetch_add(&hits[i], 1, __ATOMIC_RELAXED);
      #pragma omp single nowait
      __atomic_fetch_add(&singles, 1, __ATOMIC_RELAXED);
    }
    #pragma omp for reduction(+ : sum)
    for (long i = 0; i < n; ++i) sum += 1;
    #pragma omp masked
    masters += 1;
    #pragma omp barrier
    long seen = sum;
    #pragma omp single
    { singles += seen == n ? 1 : 1000000; }
    #pragma omp for reduction(+ : sum)
    for (long i = 0; i < n; ++i) sum += 2;
    #pragma omp barrier
    if (sum != 3 * n) __atomic_fetch_add(&singles, 1000, __ATOMIC_RELAXED);
  }
  if (count_wrong(n, 22)) return 301;
  if (sum != 3 * n) return 302;
  if (singles != 21) return 303;
  if (masters != 1) return 304;
  long inside = 0;
  #pragma omp parallel for
  for (long i = 0; i < n; ++i) {
    #pragma omp critical
    inside += i;
    #pragma omp critical(other)
    ++hits[0];
  }
  if (inside != n * (n - 1) / 2) return 305;
  memset(hits, 0, sizeof(hits));
  typedef double _Complex cd; typedef float _Complex cf;
  cd z = 0; cf w = 0; double d = 0; float f = 0; int x = 0; unsigned char c = 0;
  #pragma omp parallel for
  for (long i = 0; i < n; ++i) {
    #pragma omp atomic
    z += (cd)1;
    #pragma omp atomic
    w += (cf)1;
    #pragma omp atomic
    d += 1;
    #pragma omp atomic
    f += 1;
    #pragma omp atomic
    x += 1;
    #pragma omp atomic
    c += 1;
  }
  if (__real__ z != n || __real__ w != n || d != n || f != n || x != n || c != (unsigned char)n) return 306;
  int sections = 0;
  #pragma omp parallel sections reduction(+ : sections)
  {
    #pragma omp section
    sections += 1;
    #pragma omp section
    sections += 10;
    #pragma omp section
    sections += 100;
  }
  if (sections != 111) return 307;
  return 0;
}

extern "C" long check_threads(long n) {
  int most = omp_get_max_threads(), threads = 0, distinct = 0;
  int seen[64] = {};
  #pragma omp parallel
  {
    #pragma omp single
    threads = omp_get_num_threads();
    __atomic_fetch_add(&seen[omp_get_thread_num() % 64], 1, __ATOMIC_RELAXED);
  }
  for (int i = 0; i < 64; ++i) distinct += seen[i] == 1;
  if (threads != most || distinct != most) return 401;
  #pragma omp parallel num_threads(3)
  {
    #pragma omp single
    threads = omp_get_num_threads();
  }
  if (threads != 3) return 402;
  #pragma omp parallel if (n < 0)
  {
    threads = omp_get_num_threads();
    ++hits[0];
    #pragma omp for schedule(dynamic)
    for (long i = 0; i < 10; ++i) ++hits[1];
    #pragma omp parallel
    ++hits[2];
  }
  if (threads != 1 || hits[0] != 1 || hits[1] != 10 || hits[2] != 1) return 403;
  memset(hits, 0, sizeof(hits));
  // Nested regions have one thread; a dynamic loop around one goes on afterwards.
  long bad = 0;
  #pragma omp parallel for schedule(dynamic) reduction(+ : bad)
  for (long i = 0; i < n; ++i) {
    long inner = 0;
    #pragma omp parallel for schedule(dynamic, 2) reduction(+ : inner)
    for (int j = 0; j < 11; ++j) inner += omp_get_num_threads();
    bad += inner != 11;
    #pragma omp parallel num_threads(4) if (i % 2)
    {
      #pragma omp for
      for (int j = 0; j < 3; ++j) __atomic_fetch_add(&hits[i], 1, __ATOMIC_RELAXED);
    }
  }
  if (bad) return 404;
  if (count_wrong(n, 3)) return 405;
  // Many captured variables: more than fit in registers, an odd and an even number.
  long a0 = 1, a1 = 2, a2 = 3, a3 = 4, a4 = 5, a5 = 6, a6 = 7, a7 = 8, a8 = 9; double d0 = 0.5, d1 = 1.5; float f0 = 2;
  double total = 0;
  #pragma omp parallel for reduction(+ : total)
  for (long i = 0; i < n; ++i) total += a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + d0 + d1 + f0 + (i == 0 ? 0 : 0);
  if (total != n * 49.0) return 406;
  total = 0;
  #pragma omp parallel for firstprivate(a0, a1, a2, a3, a4, a5, d0) reduction(+ : total)
  for (long i = 0; i < n; ++i) total += a0 + a1 + a2 + a3 + a4 + a5 + d0;
  if (total != n * 21.5) return 407;
  return 0;
}

extern "C" double sum_of(const double* x, long n) {
  double s = 0;
  #pragma omp parallel for reduction(+ : s)
  for (long i = 0; i < n; ++i) s += x[i];
  return s;
}

extern "C" long check(long n) {
  memset(hits, 0, sizeof(hits));
  set_values();
  if (long r = check_loops(n)) return r;
  if (long r = check_collapse(n)) return r;
  if (long r = check_reductions(n)) return r;
  if (long r = check_regions(n)) return r;
  return check_threads(n);
}
)CODE";
  return text;
}

}  // namespace sdfg::test
