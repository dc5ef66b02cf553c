// Random programs, built as graphs and run as plain C++: values are snapshots whatever happens between their making and
// their use.
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <random>

#include "run.hpp"

namespace test_random {

using namespace sdfg;
using test::Arguments;

namespace {

constexpr std::size_t kArrays = 3, kExtent = 4;
using Number = std::int64_t;
using Memory = std::array<std::array<Number, kExtent>, kArrays>;

// Keeps numbers small without losing much.
constexpr Number kMask = 1023;

struct Term {
  enum Kind {
    kConstant,
    kElement,
    kIndirect,
    kVariable,
    kParameter,
    kAdd,
    kSub,
    kMul,
    kMax,
    kSelect,
    kSum
  } kind = kConstant;
  Number number = 0;                 // constant, index, variable
  std::size_t array = 0, other = 0;  // of elements; of the index
  std::vector<Term> args;
};

struct Statement {
  enum Kind { kLet, kLetArray, kStore, kAdd, kWhole, kReverse, kIf, kLoop, kBreak, kMap } kind = kLet;
  int variable = 0;
  std::size_t array = 0, other = 0;
  Number index = 0;
  Term term, second;
  std::vector<Statement> body, otherwise;
};

// Which names may be used where the next statement stands.
struct Visible {
  std::vector<int> variables, arrays;
  int parameters = 0;
  bool in_loop = false;
  std::optional<std::size_t> forbidden;  // an array that only its own point of a map may touch
};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::vector<Statement> statements(Visible& v, int count, int depth) {
    std::vector<Statement> out;
    for (int k = 0; k < count; ++k) out.push_back(statement(v, depth));
    return out;
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::size_t any_array(const Visible& v) {
    const auto a = static_cast<std::size_t>(pick(kArrays));
    return v.forbidden == a ? (a + 1) % kArrays : a;
  }

  Term term(const Visible& v, int depth) {
    Term t;
    const int kind = pick(depth > 0 ? 11 : 5);
    t.number = pick(kExtent);
    t.array = any_array(v);
    t.other = any_array(v);
    t.kind = static_cast<Term::Kind>(kind);
    if (t.kind == Term::kConstant) t.number = pick(9) - 4;
    if (t.kind == Term::kVariable) {
      if (v.variables.empty()) return t.kind = Term::kElement, t;
      t.number = v.variables[static_cast<std::size_t>(pick(static_cast<int>(v.variables.size())))];
    }
    if (t.kind == Term::kParameter) {
      if (v.parameters == 0) return t.kind = Term::kElement, t;
      t.number = pick(v.parameters);
    }
    const int args = t.kind == Term::kSelect                                                                        ? 4
                     : t.kind == Term::kAdd || t.kind == Term::kSub || t.kind == Term::kMul || t.kind == Term::kMax ? 2
                                                                                                                    : 0;
    for (int k = 0; k < args; ++k) t.args.push_back(term(v, depth - 1));
    return t;
  }

  Statement statement(Visible& v, int depth) {
    Statement s;
    s.kind = static_cast<Statement::Kind>(pick(depth > 0 ? 10 : 6));
    if (s.kind == Statement::kBreak && !v.in_loop) s.kind = Statement::kStore;
    s.array = static_cast<std::size_t>(pick(kArrays));
    s.other = static_cast<std::size_t>(pick(kArrays));
    s.index = pick(kExtent);
    s.term = term(v, 2);
    s.second = term(v, 1);
    switch (s.kind) {
      case Statement::kLet: v.variables.push_back(s.variable = next_++); break;
      case Statement::kLetArray: v.arrays.push_back(s.variable = next_++); break;
      case Statement::kWhole:
        if (v.arrays.empty()) {
          s.kind = Statement::kReverse;
        } else {
          s.variable = v.arrays[static_cast<std::size_t>(pick(static_cast<int>(v.arrays.size())))];
        }
        break;
      case Statement::kStore:
      case Statement::kAdd:
      case Statement::kReverse:
      case Statement::kBreak: break;
      case Statement::kIf: {
        Visible inside = v;
        s.body = statements(inside, 1 + pick(3), depth - 1);
        inside = v;
        s.otherwise = statements(inside, pick(3), depth - 1);
        break;
      }
      case Statement::kLoop: {
        Visible inside = v;
        ++inside.parameters;
        inside.in_loop = true;
        s.body = statements(inside, 1 + pick(4), depth - 1);
        break;
      }
      case Statement::kMap: {
        // Each point stores to its own element of one array, which nothing else reads.
        Visible inside = v;
        ++inside.parameters;
        inside.forbidden = s.array;
        s.term = term(inside, 2);
        s.second = term(inside, 1);
        break;
      }
    }
    return s;
  }

  std::mt19937 random_;
  int next_ = 0;
};

// ---- As plain C++ ----

struct Plain {
  Memory& memory;
  std::map<int, Number> variables;
  std::map<int, std::array<Number, kExtent>> arrays;
  std::vector<Number> parameters;

  Number value(const Term& t) {
    const auto arg = [&](std::size_t k) { return value(t.args[k]); };
    switch (t.kind) {
      case Term::kConstant: return t.number;
      case Term::kElement: return memory[t.array][static_cast<std::size_t>(t.number)];
      case Term::kIndirect:
        return memory[t.array][static_cast<std::size_t>(memory[t.other][static_cast<std::size_t>(t.number)] & 3)];
      case Term::kVariable: return variables.at(static_cast<int>(t.number));
      case Term::kParameter: return parameters[static_cast<std::size_t>(t.number)];
      case Term::kAdd: return arg(0) + arg(1);
      case Term::kSub: return arg(0) - arg(1);
      case Term::kMul: return (arg(0) & kMask) * (arg(1) & kMask);
      case Term::kMax: return std::max(arg(0), arg(1));
      case Term::kSelect: return arg(0) > arg(1) ? arg(2) : arg(3);
      case Term::kSum: {
        Number sum = 0;
        for (Number x : memory[t.array]) sum += x;
        return sum;
      }
    }
    return 0;
  }

  bool run(const std::vector<Statement>& body) {  // true: break
    for (const Statement& s : body) {
      auto& a = memory[s.array];
      const auto i = static_cast<std::size_t>(s.index);
      switch (s.kind) {
        case Statement::kLet: variables[s.variable] = value(s.term); break;
        case Statement::kLetArray: {
          const Number t = value(s.term);
          for (std::size_t k = 0; k < kExtent; ++k) arrays[s.variable][k] = (a[k] + t) & kMask;
          break;
        }
        case Statement::kStore: a[i] = value(s.term) & kMask; break;
        case Statement::kAdd: a[i] += value(s.term) & kMask; break;
        case Statement::kWhole: {
          const Number t = value(s.term);
          for (std::size_t k = 0; k < kExtent; ++k) a[k] = (arrays.at(s.variable)[k] - t) & kMask;
          break;
        }
        case Statement::kReverse: {
          const auto old = memory[s.other];
          for (std::size_t k = 0; k < kExtent; ++k) a[k] = old[kExtent - 1 - k];
          break;
        }
        case Statement::kIf:
          if (run(value(s.term) > value(s.second) ? s.body : s.otherwise)) return true;
          break;
        case Statement::kLoop:
          for (Number n = 0; n < 3; ++n) {
            parameters.push_back(n);
            const bool leave = run(s.body);
            parameters.pop_back();
            if (leave) break;
          }
          break;
        case Statement::kBreak:
          if (value(s.term) > value(s.second)) return true;
          break;
        case Statement::kMap: {
          const Memory before = memory;
          std::array<Number, kExtent> result{};
          for (std::size_t k = 0; k < kExtent; ++k) {
            parameters.push_back(static_cast<Number>(k));
            result[k] = (value(s.term) * 2 + before[s.array][k] + value(s.second)) & kMask;
            parameters.pop_back();
          }
          a = result;
          break;
        }
      }
    }
    return false;
  }
};

// ---- As a graph ----

struct Graphed {
  Builder& g;
  std::vector<Array<Number, 1>>& arrays_;
  std::map<int, Value<Number>> variables;
  std::map<int, Expression<Number, 1>> arrays;
  std::vector<Index> parameters;

  Value<Number> value(const Term& t) {
    const auto arg = [&](std::size_t k) { return value(t.args[k]); };
    switch (t.kind) {
      case Term::kConstant: return t.number;
      case Term::kElement: return arrays_[t.array](t.number);
      case Term::kIndirect: return arrays_[t.array](arrays_[t.other](t.number) & 3);
      case Term::kVariable: return variables.at(static_cast<int>(t.number));
      case Term::kParameter: return parameters[static_cast<std::size_t>(t.number)];
      case Term::kAdd: return arg(0) + arg(1);
      case Term::kSub: return arg(0) - arg(1);
      case Term::kMul: return (arg(0) & kMask) * (arg(1) & kMask);
      case Term::kMax: return max(arg(0), arg(1));
      case Term::kSelect: return select(arg(0) > arg(1), arg(2), arg(3));
      case Term::kSum: return sum(arrays_[t.array]);
    }
    return Number{0};
  }

  void run(const std::vector<Statement>& body) {
    for (const Statement& s : body) {
      auto& a = arrays_[s.array];
      switch (s.kind) {
        case Statement::kLet: variables.insert_or_assign(s.variable, value(s.term)); break;
        case Statement::kLetArray: arrays.insert_or_assign(s.variable, (a + value(s.term)) & kMask); break;
        case Statement::kStore: a(s.index) = value(s.term) & kMask; break;
        case Statement::kAdd: a(s.index) += value(s.term) & kMask; break;
        case Statement::kWhole: a = (arrays.at(s.variable) - value(s.term)) & kMask; break;
        case Statement::kReverse: a = +arrays_[s.other].slice(range(kExtent - 1, -1, -1)); break;
        case Statement::kIf:
          g.if_(value(s.term) > value(s.second), [&] { run(s.body); }, [&] { run(s.otherwise); });
          break;
        case Statement::kLoop:
          g.loop("n", 0, 3, [&](auto n) {
            parameters.push_back(n);
            run(s.body);
            parameters.pop_back();
          });
          break;
        case Statement::kBreak: g.if_(value(s.term) > value(s.second), [&] { g.break_(); }); break;
        case Statement::kMap:
          g.map({"k", 0, kExtent}, [&](auto k) {
            parameters.push_back(k);
            auto twice = g.local("twice", value(s.term) * 2);
            a(k) = (twice + a(k) + value(s.second)) & kMask;
            parameters.pop_back();
          });
          break;
      }
    }
  }
};

}  // namespace

TEST_CASE("random programs mean the same as plain C++") {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    Visible visible;
    const std::vector<Statement> program = Generator(seed).statements(visible, 8, 3);
    Memory memory{}, expected{};
    for (std::size_t a = 0; a < kArrays; ++a) {
      for (std::size_t k = 0; k < kExtent; ++k) memory[a][k] = static_cast<Number>((a * 7 + k * 5) % 11);
    }
    expected = memory;
    Plain plain{expected, {}, {}, {}};
    plain.run(program);

    Builder g("random");
    std::vector<Array<Number, 1>> arrays;
    for (std::size_t a = 0; a < kArrays; ++a) arrays.push_back(g.array<Number>("A" + std::to_string(a), {kExtent}));
    Graphed graphed{g, arrays, {}, {}, {}};
    graphed.run(program);
    Arguments arguments;
    for (std::size_t a = 0; a < kArrays; ++a) arguments.set("A" + std::to_string(a), memory[a].data());
    INFO(g.text());
    REQUIRE_NOTHROW(test::run(g, arguments, interpret::MapOrder::kShuffled));
    REQUIRE(memory == expected);
  }
}

}  // namespace test_random
