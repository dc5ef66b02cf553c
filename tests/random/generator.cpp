// How random graphs are made.
//
// A graph must not depend on the order of map iterations. So each map keeps, for every container from outside of it,
// one role: only read; owned (each iteration accesses its own part: one dimension is indexed by the map's parameter at
// a fixed offset); or accumulated with one WCR operator and not read. Every access asks the roles of all maps between
// it and the container's declaration.
#include "generator.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace sdfg::test {

std::uint64_t Random::next() {
  state_ += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

namespace {

using ir::LoopForm;

constexpr std::int64_t kMaxWork = 300;

// base + plus, base a non-negative symbol or nothing.
struct Extent {
  std::string base;
  std::int64_t plus = 0;
  bool operator==(const Extent&) const = default;
  std::string str() const {
    if (base.empty()) return std::to_string(plus);
    return plus == 0 ? base : base + " + " + std::to_string(plus);
  }
  std::int64_t about() const { return plus + (base.empty() ? 0 : 6); }
  bool surely_positive() const { return plus >= 1; }
  // Does every value in [0, *this) lie in [0, other) after adding up to other.plus - plus?
  bool fits(const Extent& other) const { return (base.empty() || base == other.base) && plus <= other.plus; }
};

// An integer name whose value lies in [0, extent).
struct Variable {
  std::string name;
  Extent extent;
};

struct Data {
  std::string name, root;
  ScalarType type;
  std::vector<Extent> dims;
  std::size_t depth = 0;  // maps around its declaration
  bool writable = true;
  bool sink = false;
};

struct Role {
  enum class Kind : std::uint8_t { kRead, kOwned, kAccumulated };
  struct Place {
    std::size_t dim;
    std::int64_t offset;
  };
  Kind kind = Kind::kRead;
  std::string via;                      // the name it is accessed by, unless only read
  std::map<std::string, Place> places;  // kOwned: where each parameter of the map stands
  std::string op;                       // kAccumulated
};

struct MapFrame {
  std::vector<Variable> params;
  std::map<std::string, Role> roles;  // by root
};

struct Scope {
  std::vector<Variable> variables;  // may index
  std::vector<std::string> values;  // may only be computed with
  std::vector<Data> data;
  std::vector<MapFrame*> maps;
  std::vector<const ir::Element*> loops;   // that an exit may name
  const ir::Element* iteration = nullptr;  // the innermost map, for continue
  int depth = 0;
  std::int64_t work = 1;  // about how often this place runs
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed), m_("random_" + std::to_string(seed)) {}

  Generated run(std::uint64_t seed) {
    for (const char* name : {"N", "M"}) {
      m_.symbol(name);
      m_.g.symbols.at(name).lower = symbolic::Expr(0);
    }
    Scope scope;
    scope.values = {"N", "M"};
    const std::int64_t arrays = random_.between(2, 5);
    for (std::int64_t k = 0; k < arrays; ++k) {
      Data d;
      d.name = d.root = "A" + std::to_string(k);
      d.type = any_type();
      d.dims = any_shape(scope);
      m_.array(d.name, d.type, shape_text(d.dims));
      scope.data.push_back(d);
    }
    if (random_.chance(40)) {
      Data d{"sink",
             "sink",
             random_.chance(70) ? ScalarType::kFloat64 : ScalarType::kFloat32,
             {any_positive_extent(scope)},
             0,
             true,
             true};
      m_.array(d.name, d.type, shape_text(d.dims));
      scope.data.push_back(d);
    }
    if (random_.chance(40)) {
      Data d{"s", "s", any_type(), {}, 0, false, false};
      m_.scalar_argument(d.name, d.type);
      scope.data.push_back(d);
    }
    if (random_.chance(30)) {
      Data d{"K", "K", ScalarType::kInt64, {Extent{"", 5}}, 0, false, false};
      m_.constant<std::int64_t>(d.name, "5", {3, -1, 4, 1, -5});
      scope.data.push_back(d);
    }
    budget_ = static_cast<int>(random_.between(6, 26));
    sequence(m_.body(), scope);
    Generated out;
    out.seed = seed;
    out.graph = std::move(m_.g);
    if (out.graph.containers.contains("sink")) out.sinks.push_back("sink");
    return out;
  }

 private:
  // ---- Shapes and types ----
  ScalarType any_type() {
    const std::int64_t k = random_.below(100);
    if (k < 45) return ScalarType::kInt64;
    if (k < 75) return ScalarType::kFloat64;
    if (k < 83) return ScalarType::kInt32;
    if (k < 88) return ScalarType::kFloat32;
    if (k < 92) return ScalarType::kUInt8;
    if (k < 96) return ScalarType::kInt16;
    return ScalarType::kUInt32;
  }
  Extent any_extent(const Scope& scope) {
    const std::int64_t k = random_.below(10);
    if (k < 3) return {random_.chance(50) ? "N" : "M", 0};
    if (k < 7) return {random_.chance(50) ? "N" : "M", random_.between(1, 3)};
    if (k < 9 || sizes_.empty()) return {"", random_.pick(std::vector<std::int64_t>{1, 2, 3, 5, 7})};
    std::vector<std::string> usable;
    for (const std::string& s : sizes_)
      if (std::find(scope.values.begin(), scope.values.end(), s) != scope.values.end()) usable.push_back(s);
    if (usable.empty()) return {"N", 1};
    return {random_.pick(usable), random_.between(0, 2)};
  }
  Extent any_positive_extent(const Scope& scope) {
    while (true)
      if (Extent e = any_extent(scope); e.surely_positive()) return e;
  }
  std::vector<Extent> any_shape(const Scope& scope) {
    std::vector<Extent> out;
    const std::int64_t rank = random_.pick(std::vector<std::int64_t>{1, 1, 1, 2, 2, 3});
    for (std::int64_t d = 0; d < rank; ++d) out.push_back(any_extent(scope));
    return out;
  }
  static std::string shape_text(const std::vector<Extent>& dims) {
    std::string out;
    for (const Extent& e : dims) out += (out.empty() ? "" : ", ") + e.str();
    return out;
  }
  std::string fresh(const std::string& stem) { return stem + std::to_string(++names_); }

  // ---- Accesses ----
  std::vector<MapFrame*> relevant(const Data& d, const Scope& scope) const {
    return {scope.maps.begin() + static_cast<std::ptrdiff_t>(std::min(d.depth, scope.maps.size())), scope.maps.end()};
  }

  // An index into a dimension from what is in scope; nothing when the dimension may be empty and no variable fits.
  std::optional<std::string> any_index(const Extent& dim, const Scope& scope) {
    std::vector<std::string> options;
    for (const Variable& v : scope.variables) {
      if (!v.extent.fits(dim)) continue;
      const std::int64_t room = dim.plus - v.extent.plus;
      options.push_back(room == 0 ? v.name : v.name + " + " + std::to_string(random_.between(0, room)));
      if (v.extent == dim) options.push_back(dim.str() + " - 1 - " + v.name);
    }
    if (dim.surely_positive()) {
      options.push_back(std::to_string(random_.below(dim.plus)));
      if (!scope.variables.empty())
        options.push_back("(" + random_.pick(scope.variables).name + " * " + std::to_string(random_.between(1, 3)) +
                          " + " + std::to_string(random_.below(4)) + ") % (" + dim.str() + ")");
      options.push_back("min(" + random_.pick(scope.values) + ", " + dim.str() + " - 1)");
    }
    if (options.empty()) return {};
    return random_.pick(options);
  }

  // Parameters of a map that an owned access puts into dimensions of its own; those that have a place keep it.
  bool place(const Data& d, const MapFrame& frame, std::map<std::string, Role::Place>& places, std::vector<bool>& taken,
             std::vector<std::optional<std::string>>& index) {
    for (const Variable& p : frame.params) {
      auto it = places.find(p.name);
      if (it == places.end()) {
        std::vector<std::size_t> options;
        for (std::size_t k = 0; k < d.dims.size(); ++k)
          if (!taken[k] && p.extent.fits(d.dims[k])) options.push_back(k);
        if (options.empty()) return false;
        const std::size_t dim = random_.pick(options);
        it = places.emplace(p.name, Role::Place{dim, random_.between(0, d.dims[dim].plus - p.extent.plus)}).first;
      }
      if (it->second.dim >= d.dims.size() || taken[it->second.dim]) return false;
      taken[it->second.dim] = true;
      index[it->second.dim] = it->second.offset == 0 ? p.name : p.name + " + " + std::to_string(it->second.offset);
    }
    return true;
  }

  struct Wish {
    bool write = false;
    std::string op;  // of WCR; empty: a plain write
  };

  // Indices of an allowed access, with the roles updated; nothing when there is none.
  std::optional<std::vector<std::string>> access(const Data& d, const Scope& scope, const Wish& wish) {
    if (wish.write && !d.writable) return {};
    std::vector<std::optional<std::string>> index(d.dims.size());
    std::vector<bool> taken(d.dims.size(), false);
    const std::vector<MapFrame*> frames = relevant(d, scope);
    std::vector<Role> roles;
    for (MapFrame* frame : frames) {
      const auto existing = frame->roles.find(d.root);
      Role role;
      if (existing != frame->roles.end()) {
        role = existing->second;
        if (role.kind != Role::Kind::kRead && role.via != d.name) return {};
        if (role.kind == Role::Kind::kRead && wish.write) return {};
        if (role.kind == Role::Kind::kAccumulated && (!wish.write || wish.op != role.op)) return {};
        if (role.kind == Role::Kind::kOwned && !place(d, *frame, role.places, taken, index)) return {};
      } else if (wish.write) {
        role.via = d.name;
        role.kind = Role::Kind::kOwned;
        auto trial_taken = taken;
        auto trial_index = index;
        const bool owned =
            !(wish.op.empty() ? false : random_.chance(50)) && place(d, *frame, role.places, trial_taken, trial_index);
        if (owned) {
          taken = trial_taken;
          index = trial_index;
        } else {
          if (wish.op.empty()) return {};
          if (!order_free(wish.op, d)) return {};
          role.kind = Role::Kind::kAccumulated;
          role.places.clear();
          role.op = wish.op;
        }
      }
      roles.push_back(role);
    }
    std::vector<std::string> out;
    for (std::size_t k = 0; k < d.dims.size(); ++k) {
      if (!index[k]) index[k] = any_index(d.dims[k], scope);
      if (!index[k]) return {};
      out.push_back(*index[k]);
    }
    for (std::size_t f = 0; f < frames.size(); ++f) frames[f]->roles[d.root] = roles[f];
    return out;
  }

  // Is the result the same bit by bit in every order? Floating sums only in sinks, which are compared loosely.
  static bool order_free(const std::string& op, const Data& d) {
    if (op == "min" || op == "max") return true;
    return d.sink || is_integer(d.type);
  }

  static std::string subset(const Data& d, const std::vector<std::string>& index) {
    if (index.empty()) return d.name;
    std::string out = d.name + "[";
    for (std::size_t k = 0; k < index.size(); ++k) out += (k == 0 ? "" : ", ") + index[k];
    return out + "]";
  }

  struct Reading {
    std::string text;
    ScalarType type;
  };
  std::optional<Reading> any_read(const Scope& scope, bool integers_only = false) {
    for (int attempt = 0; attempt < 6; ++attempt) {
      const Data& d = random_.pick(scope.data);
      if (d.sink || (integers_only && !is_integer(d.type))) continue;
      if (auto index = access(d, scope, {})) return Reading{subset(d, *index), d.type};
    }
    return {};
  }

  // ---- Code ----
  std::string integer_leaf(const std::vector<std::string>& names) {
    if (names.empty() || random_.chance(30)) return std::to_string(random_.between(-9, 20));
    return random_.pick(names);
  }
  // Integer expressions over names; wraps like the machine.
  std::string integer_expression(const std::vector<std::string>& names, int depth) {
    if (depth <= 0 || random_.chance(20)) return integer_leaf(names);
    const std::string a = integer_expression(names, depth - 1);
    const auto b = [&] { return integer_expression(names, depth - 1); };
    const std::string c = std::to_string(random_.pick(std::vector<std::int64_t>{2, 3, 5, 7, -3}));
    switch (random_.below(13)) {
      case 0:
      case 1: return "(" + a + " + " + b() + ")";
      case 2: return "(" + a + " - " + b() + ")";
      case 3: return "(" + a + " * " + b() + ")";
      case 4: return "(" + a + " // " + c + ")";
      case 5: return "(" + a + " % " + c + ")";
      case 6: return "(" + a + " & " + b() + ")";
      case 7: return "(" + a + " ^ " + b() + ")";
      case 8: return "min(" + a + ", " + b() + ")";
      case 9: return "max(" + a + ", " + b() + ")";
      case 10: return "(" + a + " if " + condition_text(names, depth - 1) + " else " + b() + ")";
      case 11: return "(-" + a + ")";
      default: return "(" + a + " | " + b() + ")";
    }
  }
  std::string condition_text(const std::vector<std::string>& names, int depth) {
    if (depth > 0 && random_.chance(20))
      return "(" + condition_text(names, depth - 1) + (random_.chance(50) ? " and " : " or ") +
             condition_text(names, depth - 1) + ")";
    static const std::vector<std::string> kOps{" < ", " <= ", " > ", " >= ", " == ", " != "};
    return "(" + integer_expression(names, std::min(depth, 1)) + random_.pick(kOps) +
           integer_expression(names, std::min(depth, 1)) + ")";
  }
  std::string floating_expression(const std::vector<std::string>& floats, const std::vector<std::string>& integers,
                                  int depth) {
    if (depth <= 0 || random_.chance(15)) {
      if (!floats.empty() && random_.chance(70)) return random_.pick(floats);
      if (!integers.empty() && random_.chance(30)) return "dace.float64(" + random_.pick(integers) + ")";
      return random_.pick(std::vector<std::string>{"0.5", "1.25", "-3.0", "2.0", "0.1"});
    }
    const std::string a = floating_expression(floats, integers, depth - 1);
    const auto b = [&] { return floating_expression(floats, integers, depth - 1); };
    switch (random_.below(11)) {
      case 0:
      case 1: return "(" + a + " + " + b() + ")";
      case 2: return "(" + a + " - " + b() + ")";
      case 3: return "(" + a + " * " + b() + ")";
      case 4: return "(" + a + " / 4.0)";
      case 5: return "min(" + a + ", " + b() + ")";
      case 6: return "max(" + a + ", " + b() + ")";
      case 7: return "abs(" + a + ")";
      case 8: return "sqrt(abs(" + a + "))";
      case 9: return "floor(" + a + ")";
      default:
        return "(" + a + " if " +
               (floats.empty() ? condition_text(integers, 1) : "(" + random_.pick(floats) + " > " + b() + ")") +
               " else " + b() + ")";
    }
  }

  // ---- Elements ----
  void sequence(ir::Sequence& in, Scope scope) {
    const std::int64_t items = random_.between(1, scope.depth == 0 ? 6 : 3);
    for (std::int64_t k = 0; k < items && budget_ > 0; ++k) {
      --budget_;
      item(in, scope);
    }
  }

  void item(ir::Sequence& in, Scope& scope) {
    const std::int64_t k = random_.below(100);
    if (scope.depth >= 6 || k < 25) return tasklet(in, scope);
    if (k < 62 && scope.work > kMaxWork) return tasklet(in, scope);
    if (k < 45) return map(in, scope);
    if (k < 57) return loop(in, scope);
    if (k < 62) return while_loop(in, scope);
    if (k < 72) return branch(in, scope);
    if (k < 82) return block(in, scope);
    if (k < 90) return assign(in, scope);
    if (k < 95) return copy(in, scope);
    return leave(in, scope);
  }

  void tasklet(ir::Sequence& in, Scope& scope) {
    // Outputs first: what an iteration owns it may read, too.
    std::vector<std::string> outputs, out_names;
    std::vector<ScalarType> out_types;
    std::vector<bool> dynamic;
    static const std::vector<std::string> kOps{"sum", "min", "max", "bxor", "bor", "product", "band"};
    const std::int64_t wanted = random_.chance(80) ? 1 : 2;
    std::vector<std::string> roots;
    for (int attempt = 0; attempt < 8 && static_cast<std::int64_t>(outputs.size()) < wanted; ++attempt) {
      const Data& d = random_.pick(scope.data);
      // Two outputs to one container might meet.
      if (!d.writable || std::find(roots.begin(), roots.end(), d.root) != roots.end()) continue;
      Wish wish{true, {}};
      if (d.sink)
        wish.op = "sum";
      else if (random_.chance(35))
        wish.op = is_integer(d.type) ? random_.pick(kOps) : random_.pick(std::vector<std::string>{"sum", "min", "max"});
      auto index = access(d, scope, wish);
      if (!index) continue;
      roots.push_back(d.root);
      const std::string name = "y" + std::to_string(outputs.size());
      dynamic.push_back(!d.sink && random_.chance(20));
      outputs.push_back(name + " = " + subset(d, *index) + (wish.op.empty() ? "" : " | " + wish.op) +
                        (dynamic.back() ? " | dynamic" : ""));
      out_names.push_back(name);
      out_types.push_back(d.type);
    }
    if (outputs.empty()) return;
    std::vector<std::string> inputs, integers = scope.values, floats;
    for (const Variable& v : scope.variables) integers.push_back(v.name);
    const std::int64_t reads = random_.below(4);
    for (std::int64_t k = 0; k < reads; ++k) {
      auto r = any_read(scope);
      if (!r) continue;
      const std::string name = "x" + std::to_string(inputs.size());
      inputs.push_back(name + " = " + r->text);
      (is_integer(r->type) ? integers : floats).push_back(name);
    }
    std::string code;
    const auto value = [&](ScalarType type) {
      if (is_integer(type)) {
        std::vector<std::string> names = integers;
        if (!floats.empty() && random_.chance(20))
          names.push_back("dace.int64(min(max(" + random_.pick(floats) + ", -1000.0), 1000.0))");
        return integer_expression(names, static_cast<int>(random_.between(1, 3)));
      }
      return floating_expression(floats, integers, static_cast<int>(random_.between(1, 3)));
    };
    if (random_.chance(20)) {
      code += "z = " + integer_expression(integers, 2) + "\n";
      integers.push_back("z");
    }
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const std::string assign = out_names[k] + " = " + value(out_types[k]) + "\n";
      if (dynamic[k])
        code += "if " + condition_text(integers, 1) + ":\n    " + assign;
      else if (random_.chance(15))
        code += "if " + condition_text(integers, 1) + ":\n    " + assign + "else:\n    " + out_names[k] + " = " +
                value(out_types[k]) + "\n";
      else
        code += assign;
    }
    m_.tasklet(in, code, inputs, outputs);
  }

  void map(ir::Sequence& in, Scope& scope) {
    const std::int64_t rank = random_.pick(std::vector<std::int64_t>{1, 1, 2, 2, 3});
    MapFrame frame;
    std::string params, ranges;
    for (std::int64_t d = 0; d < rank; ++d) {
      const std::string name = fresh("i");
      const Extent extent = any_extent(scope);
      std::string range = "0:" + extent.str();
      const std::int64_t form = random_.below(10);
      if (form == 0)
        range += ":2";
      else if (form == 1)
        range = "1:" + extent.str() + ":3";
      else if (form == 2 && !frame.params.empty())
        range = frame.params.back().name + ":" + extent.str();
      else if (form == 3 && !frame.params.empty() && frame.params.back().extent.fits(extent))
        range = "0:" + frame.params.back().name + " + 1";
      params += (d == 0 ? "" : ", ") + name;
      ranges += (d == 0 ? "" : ", ") + range;
      frame.params.push_back({name, extent});
    }
    const auto schedule = random_.pick(std::vector<ir::Schedule>{ir::Schedule::kDefault, ir::Schedule::kDefault,
                                                                 ir::Schedule::kParallel, ir::Schedule::kSequential});
    ir::Element& element = m_.map_element(in, params, ranges, schedule);
    Scope inner = scope;
    ++inner.depth;
    inner.maps.push_back(&frame);
    inner.loops.clear();
    inner.iteration = &element;
    for (const Variable& v : frame.params) {
      inner.variables.push_back(v);
      inner.work *= v.extent.about();
    }
    sequence(Maker::body_of(element), inner);
  }

  void loop(ir::Sequence& in, Scope& scope) {
    const std::string name = fresh("l");
    const std::int64_t form = random_.below(6);
    Extent extent = any_extent(scope);
    std::string init = "0", condition = name + " < " + extent.str(), update = name + " + 1";
    LoopForm loop_form = LoopForm::kTestFirst;
    if (form == 1) {
      init = extent.str() + " - 1";
      condition = name + " >= 0";
      update = name + " - 1";
    } else if (form == 2) {
      update = name + " + 2";
    } else if (form == 3 && extent.surely_positive()) {
      loop_form = LoopForm::kUpdateThenTest;
    } else if (form == 4 && extent.surely_positive()) {
      loop_form = LoopForm::kTestThenUpdate;
      condition = name + " + 1 < " + extent.str();
    }
    ir::Element& element = m_.loop_element(in, name, init, condition, update, loop_form);
    Scope inner = scope;
    ++inner.depth;
    inner.variables.push_back({name, extent});
    inner.work *= extent.about();
    inner.loops.push_back(&element);
    sequence(Maker::body_of(element), inner);
  }

  void while_loop(ir::Sequence& in, Scope& scope) {
    const std::string counter = fresh("w");
    m_.assigned(counter);
    m_.assign(in, {{counter, "0"}});
    std::string condition = counter + " < " + std::to_string(random_.between(1, 4));
    if (random_.chance(50)) condition += " and " + any_condition(scope);
    ir::Element& element = m_.while_element(in, condition, random_.chance(75));
    ir::Sequence& body = Maker::body_of(element);
    m_.assign(body, {{counter, counter + " + 1"}});
    Scope inner = scope;
    ++inner.depth;
    inner.values.push_back(counter);
    inner.work *= 3;
    inner.loops.push_back(&element);
    sequence(body, inner);
  }

  // A condition of control flow: over symbols and elements of containers.
  std::string any_condition(const Scope& scope) {
    std::vector<std::string> names = scope.values;
    for (const Variable& v : scope.variables) names.push_back(v.name);
    for (int k = 0; k < 2; ++k)
      if (auto r = any_read(scope, true); r && random_.chance(60)) names.push_back(r->text);
    return condition_text(names, 2);
  }

  void branch(ir::Sequence& in, Scope& scope) {
    ir::If branch;
    const std::int64_t count = random_.between(1, 3);
    for (std::int64_t k = 0; k < count; ++k) branch.branches.push_back({m_.code(any_condition(scope)), ir::Sequence()});
    if (random_.chance(50)) branch.branches.push_back({tasklet::Expr::literal(true), ir::Sequence()});
    auto& made = std::get<ir::If>(m_.g.append(in, std::move(branch)).kind);
    Scope inner = scope;
    ++inner.depth;
    for (auto& b : made.branches) sequence(b.body, inner);
  }

  void block(ir::Sequence& in, Scope& scope) {
    ir::Element& element = m_.block_element(in);
    auto& block = std::get<ir::Block>(element.kind);
    Scope inner = scope;
    ++inner.depth;
    const std::int64_t locals = random_.between(1, 2);
    for (std::int64_t k = 0; k < locals; ++k) {
      if (random_.chance(40))
        view(block, inner);
      else
        transient(block, inner);
    }
    inner.loops.push_back(&element);
    sequence(block.body, inner);
  }

  void transient(ir::Block& block, Scope& scope) {
    Data d;
    d.name = d.root = fresh("t");
    d.type = any_type();
    d.depth = scope.maps.size();
    if (random_.chance(70)) d.dims = any_shape(scope);
    ir::Container& c =
        d.dims.empty() ? m_.scalar(d.name, d.type, &block) : m_.transient(d.name, d.type, shape_text(d.dims), &block);
    if (random_.chance(30) && d.dims.size() == 2)
      c.layout = ir::Layout::column_major(Maker::extents(shape_text(d.dims)));
    if (random_.chance(40)) {
      c.zeroed = true;
    } else if (d.dims.empty()) {
      m_.tasklet(block.body, "o = " + std::to_string(random_.between(-5, 5)), {}, {"o = " + d.name});
    } else {
      std::string params, ranges, value = "0";
      std::vector<std::string> index;
      for (const Extent& e : d.dims) {
        index.push_back(fresh("f"));
        params += (params.empty() ? "" : ", ") + index.back();
        ranges += (ranges.empty() ? "" : ", ") + ("0:" + e.str());
        value += " + " + index.back() + " * " + std::to_string(random_.between(1, 4));
      }
      m_.tasklet(m_.map(block.body, params, ranges), "o = " + value, {}, {"o = " + subset(d, index)});
    }
    scope.data.push_back(d);
  }

  void view(ir::Block& block, Scope& scope) {
    for (int attempt = 0; attempt < 5; ++attempt) {
      const Data& target = random_.pick(scope.data);
      if (target.sink || !target.writable || target.dims.empty() ||
          m_.g.containers.at(target.name).layout.is_packed() == false)
        continue;
      // Which dimensions stay whole: always the last, so that the window is contiguous from some dimension on.
      const std::size_t kept_from =
          static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(target.dims.size())));
      const bool own = random_.chance(50);
      Scope before = scope;
      std::vector<std::string> index;
      if (kept_from > 0 || !relevant(target, scope).empty()) {
        // The fixed dimensions are an access of their own to a container of that rank.
        Data prefix = target;
        prefix.dims.resize(kept_from);
        auto got = access(prefix, scope, {own, {}});
        if (!got) continue;
        index = *got;
      }
      Data d;
      d.name = fresh("v");
      d.root = target.root;
      d.type = target.type;
      d.depth = scope.maps.size();
      d.writable = relevant(target, scope).empty() || own;
      d.dims.assign(target.dims.begin() + static_cast<std::ptrdiff_t>(kept_from), target.dims.end());
      std::string window = target.name + "[";
      for (std::size_t k = 0; k < target.dims.size(); ++k)
        window += (k == 0 ? "" : ", ") + (k < kept_from ? index[k] : "0:" + target.dims[k].str());
      ir::Layout layout = ir::Layout::packed(Maker::extents(shape_text(d.dims)));
      if (d.dims.size() == 2 && random_.chance(30)) {  // flattened
        const std::string flat = "(" + d.dims[0].str() + ") * (" + d.dims[1].str() + ")";
        layout = ir::Layout::packed(Maker::extents(flat));
        // Only whole-range variables could index it; expose it only when both extents are constants.
        if (!d.dims[0].base.empty() || !d.dims[1].base.empty())
          layout = ir::Layout::packed(Maker::extents(shape_text(d.dims)));
        else
          d.dims = {Extent{"", d.dims[0].plus * d.dims[1].plus}};
      }
      m_.view(d.name, d.type, layout, window + "]", &block);
      // From here on the maps around know the container by the view's name.
      if (own)
        for (MapFrame* frame : relevant(target, scope)) frame->roles[d.root].via = d.name;
      scope.data.push_back(d);
      return;
    }
  }

  void assign(ir::Sequence& in, Scope& scope) {
    const std::string name = fresh("k");
    const std::int64_t bound = random_.between(1, 6);
    m_.assigned(name);
    std::vector<std::string> names = scope.values;
    for (const Variable& v : scope.variables) names.push_back(v.name);
    if (auto r = any_read(scope, true)) names.push_back(r->text);
    const std::string value = "(" + integer_expression(names, 2) + ") % " + std::to_string(bound);
    m_.assign(in, {{name, value}});
    scope.values.push_back(name);
    scope.variables.push_back({name, {"", bound}});
    sizes_.push_back(name);
  }

  void copy(ir::Sequence& in, Scope& scope) {
    for (int attempt = 0; attempt < 8; ++attempt) {
      const Data& to = random_.pick(scope.data);
      const Data& from = random_.pick(scope.data);
      if (!to.writable || to.sink || from.sink || to.root == from.root || to.dims.empty() ||
          to.dims.size() != from.dims.size())
        continue;
      if (!relevant(to, scope).empty() || !relevant(from, scope).empty()) continue;
      if (!is_integer(to.type) && is_integer(from.type)) continue;
      if (is_integer(to.type) != is_integer(from.type)) continue;
      std::string from_text, to_text;
      bool fits = true;
      for (std::size_t k = 0; k < to.dims.size() && fits; ++k) {
        fits = from.dims[k].fits(to.dims[k]) && from.dims[k].base == to.dims[k].base;
        const std::int64_t offset = fits ? random_.between(0, to.dims[k].plus - from.dims[k].plus) : 0;
        from_text += (k == 0 ? "" : ", ") + ("0:" + from.dims[k].str());
        to_text +=
            (k == 0 ? "" : ", ") + (std::to_string(offset) + ":" + from.dims[k].str() + " + " + std::to_string(offset));
      }
      if (!fits) continue;
      const char* op = is_integer(to.type) && random_.chance(30) ? " | sum" : "";
      m_.copy(in, from.name + "[" + from_text + "]", to.name + "[" + to_text + "]" + op);
      return;
    }
    tasklet(in, scope);
  }

  // A conditional break, continue or return.
  void leave(ir::Sequence& in, Scope& scope) {
    const std::string condition = any_condition(scope);
    const auto body = [&]() -> ir::Sequence& { return m_.if_(in, {condition}).branches[0].body; };
    if (scope.maps.empty() && random_.chance(10) && scope.depth > 0) return m_.return_(body());
    if (scope.loops.empty()) {
      if (scope.iteration != nullptr) m_.continue_(body(), *scope.iteration);
      return;
    }
    const ir::Element& target = *random_.pick(scope.loops);
    if (std::holds_alternative<ir::Block>(target.kind) || random_.chance(50))
      m_.break_(body(), target);
    else
      m_.continue_(body(), target);
  }

  Random random_;
  Maker m_;
  int names_ = 0;
  int budget_ = 0;
  std::vector<std::string> sizes_;  // assigned symbols that may be extents
};

}  // namespace

Generated generate(std::uint64_t seed) {
  return Generator(seed).run(seed);
}

Memory arguments_for(const ir::Graph& graph, std::uint64_t seed, int variant) {
  Random random(seed * 977 + static_cast<std::uint64_t>(variant));
  Memory out;
  std::map<std::string, std::int64_t, std::less<>> symbols;
  for (const std::string& name : graph.parameters)
    if (graph.symbols.contains(name)) {
      symbols[name] = variant == 0 ? random.between(1, 5) : variant == 1 ? random.below(3) : random.between(5, 9);
      out.value(name, symbols[name]);
    }
  for (const std::string& name : graph.parameters) {
    const ir::Container* c = graph.containers.find(name);
    if (c == nullptr) continue;
    const std::uint64_t own = random.next() % 1000;
    const auto give = [&]<typename T>(T) {
      if (c->is_scalar())
        out.value(name, numbers<T>(1, own)[0]);
      else
        out.array(name, numbers<T>(symbolic::evaluate(c->layout.total_size(), symbols), own));
    };
    switch (c->type.scalar()) {
      case ScalarType::kInt64: give(std::int64_t{}); break;
      case ScalarType::kInt32: give(std::int32_t{}); break;
      case ScalarType::kInt16: give(std::int16_t{}); break;
      case ScalarType::kUInt8: give(std::uint8_t{}); break;
      case ScalarType::kUInt32: give(std::uint32_t{}); break;
      case ScalarType::kFloat64: give(double{}); break;
      case ScalarType::kFloat32: give(float{}); break;
      default: throw Error(ErrorClass::kInternal, "the random graphs have no arguments of type " + c->type.str());
    }
  }
  return out;
}

}  // namespace sdfg::test
