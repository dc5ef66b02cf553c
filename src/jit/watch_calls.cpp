// Runs the interpreter beside compiled calls and compares memory.
#include "jit/watch_calls.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstring>
#include <mutex>

#include "base/log.hpp"
#include "interpret/interpreter.hpp"
#include "jit/signature.hpp"

namespace sdfg::jit {

namespace {

using tasklet::Value;

// One container argument: where the caller's is, and a copy.
struct Copied {
  std::string name;
  ScalarType type = ScalarType::kFloat64;
  bool written = false;
  void* original = nullptr;
  std::vector<std::byte> bytes;
};

struct Snapshot {
  std::vector<Copied> containers;
  interpret::Arguments arguments;  // with the copies
};

// Empty when the interpreter can run the graph on copies of its arguments.
std::string why_not(const ir::Graph& g) {
  for (const std::string& p : g.parameters) {
    const ir::Container* c = g.containers.find(p);
    if (c == nullptr) {
      if (g.symbols.at(p).type.kind() == Type::Kind::kCallback)
        return "it calls the callback '" + p + "', which would be called twice";
      continue;
    }
    if (c->storage == ir::Storage::kGpuGlobal) return "its argument '" + p + "' is device memory";
    if (!c->is_scalar() && c->kind != ir::ContainerKind::kArray)
      return "its argument '" + p + "' is a " + std::string(ir::to_string(c->kind)) + ", which can't be copied";
    if (!c->type.is_scalar()) return "its argument '" + p + "' has the element type " + c->type.str();
    if (c->may_alias) return "its argument '" + p + "' may overlap others";
  }
  std::string reason;
  ir::walk(g.body, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* s = std::get_if<ir::State>(&e.kind);
    if (s == nullptr) return;
    for (const ir::Node& n : s->nodes) {
      const auto* t = std::get_if<ir::Tasklet>(&n.kind);
      if (reason.empty() && t != nullptr && t->code.language == tasklet::Language::kCpp)
        reason = "its tasklet '" + n.label + "' is C++";
    }
  });
  return reason;
}

// How much two results may differ, relative to the larger of both and to the largest of the array: sums may be
// reassociated, functions may differ by a few units in the last place.
double tolerance(ScalarType t) {
  switch (t) {
    case ScalarType::kFloat16:
    case ScalarType::kBFloat16: return 5e-2;
    case ScalarType::kFloat32:
    case ScalarType::kComplex64: return 1e-4;
    case ScalarType::kFloat64:
    case ScalarType::kComplex128: return 1e-9;
    default: return 0;  // integers and truth values are equal or not
  }
}

bool near(double a, double b, double allowed, double scale) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b);
  if (a == b) return true;
  if (std::isinf(a) || std::isinf(b)) return false;
  return std::abs(a - b) <= allowed * std::max({std::abs(a), std::abs(b), 1e-3 * scale});
}

struct Difference {
  std::size_t count = 0;
  std::size_t first = 0;
  Value got, wanted;
};

Difference compare(const std::byte* got, const std::byte* wanted, std::size_t bytes, ScalarType type) {
  Difference d;
  if (bytes == 0 || std::memcmp(got, wanted, bytes) == 0) return d;  // what has no bytes may have no address
  const auto size = static_cast<std::size_t>(size_of(type));
  const double allowed = tolerance(type);
  double scale = 0;
  if (allowed > 0) {
    for (std::size_t i = 0; i + size <= bytes; i += size) {
      const double magnitude = std::abs(Value::load(wanted + i, type).as_complex());
      if (std::isfinite(magnitude)) scale = std::max(scale, magnitude);
    }
  }
  for (std::size_t i = 0; i + size <= bytes; i += size) {
    const Value a = Value::load(got + i, type);
    const Value b = Value::load(wanted + i, type);
    bool same = false;
    if (allowed == 0) {
      same = std::memcmp(got + i, wanted + i, size) == 0;
    } else {
      const std::complex<double> x = a.as_complex(), y = b.as_complex();
      same = near(x.real(), y.real(), allowed, scale) && near(x.imag(), y.imag(), allowed, scale);
    }
    if (same) continue;
    if (d.count++ == 0) d.first = i / size, d.got = a, d.wanted = b;
  }
  return d;
}

std::string plural(std::size_t n) {
  return std::to_string(n) + (n == 1 ? " element differs" : " elements differ");
}

class Watch final : public runtime::Program::CallObserver {
 public:
  Watch(const ir::Graph& g, const Options& o)
      : graph_(g.clone()),
        parameters_(parameters_of(graph_)),
        mode_(*o.validate),
        races_(o.check->has(Check::kRaces)),
        uninitialised_(o.check->has(Check::kUninitialised)),
        reason_(why_not(graph_)) {
    if (reason_.empty()) return;
    if (races_ || uninitialised_) {
      throw Error(ErrorClass::kUsage, std::string("SDFG_CHECK=") + (races_ ? "races" : "uninitialised") +
                                          " runs graph '" + graph_.name +
                                          "' in the reference interpreter, which can't be done: " + reason_);
    }
    log(Logger::kCall, LogLevel::kWarning, "calls of '" + graph_.name + "' are not validated: " + reason_);
  }

  std::shared_ptr<void> begin(void* const* arguments) override {
    if (!reason_.empty()) return nullptr;
    if (uninitialised_ || races_) check(arguments);
    if (mode_ == ValidateMode::kOff) return nullptr;
    if (mode_ == ValidateMode::kFirst && seen_.exchange(true)) return nullptr;
    return std::make_shared<Snapshot>(snapshot(arguments));
  }

  void end(void* begun, void* const*, bool failed) override {
    auto* before = static_cast<Snapshot*>(begun);
    if (before == nullptr || failed) return;
    const std::lock_guard lock(mutex_);
    if (!instance_) instance_.emplace(graph_);
    instance_->run(before->arguments);
    for (const Copied& c : before->containers) {
      if (!c.written) continue;
      const Difference d = compare(static_cast<const std::byte*>(c.original), c.bytes.data(), c.bytes.size(), c.type);
      if (d.count == 0) continue;
      throw Error(ErrorClass::kInternal,
                  "the compiled code of graph '" + graph_.name + "' and the reference interpreter disagree: element " +
                      std::to_string(d.first) + " of '" + c.name + "' is " + d.got.str() + ", the interpreter gives " +
                      d.wanted.str() + " (" + plural(d.count) + ")",
                  place(c.name), "SDFG_REPRO_DIR writes what is needed to report this");
    }
  }

 private:
  std::vector<Error::Place> place(const std::string& name) const {
    return {{"container '" + name + "'", graph_.containers.at(name).location}};
  }

  Snapshot snapshot(void* const* arguments) const {
    Snapshot out;
    std::map<std::string, std::int64_t, std::less<>> symbols;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const Parameter& p = parameters_[i];
      if (graph_.containers.contains(p.name)) continue;
      const Value v = Value::load(arguments[i], p.type.scalar());
      out.arguments.set(p.name, v);
      symbols[p.name] = v.as_int();
    }
    out.containers.reserve(parameters_.size());  // the interpreter is given addresses inside
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const Parameter& p = parameters_[i];
      const ir::Container* c = graph_.containers.find(p.name);
      if (c == nullptr) continue;
      if (!p.is_pointer) {
        out.arguments.set(p.name, Value::load(arguments[i], c->type.scalar()));
        continue;
      }
      Copied copy;
      copy.name = p.name;
      copy.type = c->type.scalar();
      copy.written = p.written;
      std::memcpy(&copy.original, arguments[i], sizeof(void*));
      const std::int64_t count =
          std::max<std::int64_t>(symbolic::evaluate(c->layout.total_size() + c->layout.start_offset(), symbols), 0);
      copy.bytes.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(size_of(copy.type)));
      if (!copy.bytes.empty()) std::memcpy(copy.bytes.data(), copy.original, copy.bytes.size());
      out.containers.push_back(std::move(copy));
      out.arguments.set(p.name, static_cast<void*>(out.containers.back().bytes.data()));
    }
    return out;
  }

  void check(void* const* arguments) const {
    const Snapshot forward = snapshot(arguments);
    interpret::Options options;
    options.check_uninitialised = uninitialised_;
    interpret::run(graph_, forward.arguments, options);
    if (!races_) return;
    for (const interpret::MapOrder order : {interpret::MapOrder::kReverse, interpret::MapOrder::kShuffled}) {
      const Snapshot other = snapshot(arguments);
      options.order = order;
      interpret::run(graph_, other.arguments, options);
      for (std::size_t i = 0; i < forward.containers.size(); ++i) {
        const Copied& a = forward.containers[i];
        const Copied& b = other.containers[i];
        const Difference d = compare(a.bytes.data(), b.bytes.data(), a.bytes.size(), a.type);
        if (d.count == 0) continue;
        throw Error(ErrorClass::kGraph,
                    "the result of graph '" + graph_.name +
                        "' depends on the order of the iterations of its maps: element " + std::to_string(d.first) +
                        " of '" + a.name + "' is " + d.got.str() + " in one order and " + d.wanted.str() +
                        " in another (" + plural(d.count) + ")",
                    place(a.name), "iterations of a map that meet in one element need an accumulation (WCR)");
      }
    }
  }

  ir::Graph graph_;
  std::vector<Parameter> parameters_;
  ValidateMode mode_;
  bool races_, uninitialised_;
  std::string reason_;
  std::atomic<bool> seen_{false};
  std::mutex mutex_;
  std::optional<interpret::Instance> instance_;  // keeps persistent containers from call to call
};

}  // namespace

bool wants_interpreter(const Options& resolved) {
  return *resolved.validate != ValidateMode::kOff || resolved.check->has(Check::kRaces) ||
         resolved.check->has(Check::kUninitialised);
}

std::shared_ptr<runtime::Program::CallObserver> watch_calls(const ir::Graph& g, const Options& resolved) {
  return std::make_shared<Watch>(g, resolved);
}

}  // namespace sdfg::jit
