// Small graphs with kernels, each with what it needs to be called. The interpreter says what they compute.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "../run/targets.hpp"
#include "../support/make.hpp"

namespace sdfg::test {

// A graph whose arguments live on the host, with copies on the device around its kernels.
class Gpu : public Maker {
 public:
  explicit Gpu(const std::string& name) : Maker(name) {}

  // An argument and its copy in device memory, "g" + its name; `out`: copied back by finish().
  void in(const std::string& name, const Type& type, const std::string& shape) { mirror(name, type, shape, false); }
  void inout(const std::string& name, const Type& type, const std::string& shape) { mirror(name, type, shape, true); }
  // Device memory alone.
  ir::Container& device(const std::string& name, const Type& type, const std::string& shape, ir::Block* in = nullptr) {
    ir::Container& c = transient(name, type, shape, in);
    c.storage = ir::Storage::kGpuGlobal;
    return c;
  }
  ir::Container& shared(const std::string& name, const Type& type, const std::string& shape, ir::Block& in) {
    ir::Container& c = transient(name, type, shape, &in);
    c.storage = ir::Storage::kGpuShared;
    return c;
  }
  Seq& kernel(const std::string& params, const std::string& ranges, Seq* where = nullptr) {
    return map(where == nullptr ? body() : *where, params, ranges, ir::Schedule::kDevice);
  }
  Seq& threads(Seq& where, const std::string& params, const std::string& ranges) {
    return map(where, params, ranges, ir::Schedule::kThreadBlock);
  }
  void finish() {
    for (const Argument& a : arguments) {
      if (a.out) copy(body(), "g" + a.name, a.name);
    }
  }

  struct Argument {
    std::string name;
    Type type;
    std::string shape;
    bool out = false;
  };
  std::vector<Argument> arguments;       // arrays of the caller
  std::map<std::string, double> values;  // scalars of the caller

 private:
  void mirror(const std::string& name, const Type& type, const std::string& shape, bool out) {
    array(name, type, shape);
    device("g" + name, type, shape);
    arguments.push_back({name, type, shape, out});
    copy(body(), name, "g" + name);
  }
};

struct Program {
  std::string name;
  std::function<void(Gpu&)> build;
  double tolerance = 0;           // relative; 0: the same bits
  bool blocks_given = false;      // it sets block sizes of its own
  bool persistent = false;        // called twice
  bool heavy = false;             // much work: two extents, one schedule and one architecture by turns
  bool value_per_thread = false;  // the interpreter knows no registers per thread: it runs what to_host makes of them
};

// Every program: unique names.
const std::vector<Program>& programs();

// Graph and memory for extents N = n, M = n + 3, K = 5.
struct Made {
  ir::Graph graph;
  std::vector<Gpu::Argument> arguments;
  std::map<std::string, double> values;
  Memory memory(std::int64_t n) const;
};
Made make(const Program& p);

}  // namespace sdfg::test
