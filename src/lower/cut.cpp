// Looks at statements as text: which identifiers a run mentions, and what happens to those declared around it.
#include "lower/cut.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "base/words.hpp"
#include "lower/lowering.hpp"

namespace sdfg::lower {

namespace {

// Weights are characters of text, which the compiler's work follows well enough. A piece makes some 2,000 instructions
// of the front end.
constexpr std::size_t kLongFunction = 30000;
constexpr std::size_t kPiece = 8000;
constexpr std::size_t kLeastPiece = 2000;
// Of loops that become vectors: the time of the code generator grows with the square of their bodies from some 200
// statements on.
constexpr std::size_t kLongLoop = 12000;
constexpr std::size_t kStripPiece = 4000;
constexpr int kStrip = 64;  // iterations: several vectors, and still thousands of bytes less than the first cache holds

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

// Calls `on_text` with every piece of text in a statement, `on_list` with every list of statements directly inside.
template <typename OnText, typename OnList>
void visit_parts(const Statement& s, OnText on_text, OnList on_list) {
  const auto hints = [&](const LoopHints& h) {
    on_text(h.condition);
    on_text(h.schedule);
    for (const auto& [op, variable] : h.reductions) {
      on_text(op);
      on_text(variable);
    }
  };
  std::visit(Overloaded{[&](const Declare& d) {
                          on_text(d.type);
                          on_text(d.name);
                          on_text(d.array);
                          on_text(d.init);
                        },
                        [&](const Store& a) {
                          on_text(a.target);
                          on_text(a.value);
                        },
                        [&](const Evaluate& e) { on_text(e.value); }, [&](const Verbatim& v) { on_text(v.text); },
                        [&](const For& f) {
                          on_text(f.type);
                          on_text(f.variable);
                          on_text(f.begin);
                          on_text(f.bound);
                          on_text(f.step);
                          hints(f.hints);
                          on_list(f.body);
                        },
                        [&](const GeneralFor& f) {
                          on_text(f.type);
                          on_text(f.variable);
                          on_text(f.init);
                          on_text(f.condition);
                          on_text(f.update);
                          hints(f.hints);
                          on_list(f.body);
                        },
                        [&](const While& w) {
                          on_text(w.condition);
                          on_list(w.body);
                        },
                        [&](const If& i) {
                          for (const If::Branch& b : i.branches) {
                            on_text(b.condition);
                            on_list(b.body);
                          }
                        },
                        [&](const Scope& b) { on_list(b.body); }, [&](const Break&) {}, [&](const Continue&) {},
                        [&](const Return&) {}, [&](const Goto&) {}, [&](const Label&) {}},
             s.node);
}

std::size_t weight_of(const Statements& list);
std::size_t weight_of(const Statement& s) {
  std::size_t weight = 10;
  visit_parts(
      s, [&](const Text& text) { weight += text.size(); }, [&](const Statements& list) { weight += weight_of(list); });
  return weight;
}
std::size_t weight_of(const Statements& list) {
  std::size_t weight = 0;
  for (const Statement& s : list) weight += weight_of(s);
  return weight;
}

// What statements do with names.
struct Mentions {
  std::set<Text, std::less<>> names;
  std::set<Text, std::less<>> changed;  // assigned, counted, or their address taken
  std::set<Text, std::less<>> addressed;
  std::set<Text, std::less<>> measured;  // sizeof
  std::set<Text, std::less<>> reduced;   // in clauses of parallel loops
  std::set<Text, std::less<>> gotos, labels;
  bool verbatim = false;
  bool leaves = false;  // a break or continue of a loop around
  bool returns = false;

  void text(std::string_view t) {
    for (std::size_t at = 0; at < t.size();) {
      if (!is_word(t[at])) {
        ++at;
        continue;
      }
      const std::size_t begin = at;
      while (at < t.size() && is_word(t[at])) ++at;
      if (std::isdigit(static_cast<unsigned char>(t[begin])) != 0) continue;
      std::string_view before = t.substr(0, begin);
      if (before.ends_with('.') || before.ends_with("->")) continue;  // a member
      const Text name(t.substr(begin, at - begin));
      names.insert(name);
      while (!before.empty() && (before.back() == ' ' || before.back() == '(')) before.remove_suffix(1);
      std::string_view after = t.substr(at);
      while (!after.empty() && after.front() == ' ') after.remove_prefix(1);
      const bool element = after.starts_with('[') || after.starts_with("->");
      const bool address = before.ends_with('&') && !before.ends_with("&&") && !element;
      if (address) addressed.insert(name);
      if (before.ends_with("sizeof")) measured.insert(name);
      const auto assigned = [&] {
        std::string_view op = after.substr(0, 3);
        if (op.starts_with("<<=") || op.starts_with(">>=")) return true;
        op = op.substr(0, 2);
        if (op == "++" || op == "--") return true;
        if (op.size() == 2 && op[1] == '=' && std::string_view("+-*/%&|^").find(op[0]) != std::string_view::npos)
          return true;
        return op.starts_with('=') && op != "==";
      };
      if (address || before.ends_with("++") || before.ends_with("--") || assigned()) changed.insert(name);
    }
  }

  void add(const Statements& list, int loops) {
    for (const Statement& s : list) add(s, loops);
  }
  void add(const Statement& s, int loops) {
    const bool is_loop = std::holds_alternative<For>(s.node) || std::holds_alternative<GeneralFor>(s.node) ||
                         std::holds_alternative<While>(s.node);
    visit_parts(
        s, [&](const Text& t) { text(t); }, [&](const Statements& list) { add(list, loops + (is_loop ? 1 : 0)); });
    if (const auto* a = std::get_if<Store>(&s.node)) {
      std::size_t begin = 0;
      while (begin < a->target.size() && !is_word(a->target[begin])) ++begin;
      std::size_t end = begin;
      while (end < a->target.size() && is_word(a->target[end])) ++end;
      changed.insert(a->target.substr(begin, end - begin));
    } else if (const auto* g = std::get_if<Goto>(&s.node)) {
      gotos.insert(g->label);
    } else if (const auto* l = std::get_if<Label>(&s.node)) {
      labels.insert(l->name);
    } else if (const auto* f = std::get_if<For>(&s.node)) {
      for (const auto& [op, variable] : f->hints.reductions) reduced.insert(variable);
    } else if (const auto* f2 = std::get_if<GeneralFor>(&s.node)) {
      for (const auto& [op, variable] : f2->hints.reductions) reduced.insert(variable);
    }
    verbatim = verbatim || std::holds_alternative<Verbatim>(s.node);
    returns = returns || std::holds_alternative<Return>(s.node);
    leaves =
        leaves || (loops == 0 && (std::holds_alternative<Break>(s.node) || std::holds_alternative<Continue>(s.node)));
  }
};

// A variable that may be used where it was declared or deeper.
struct Variable {
  Text type;
  bool is_parameter = false;
  bool is_const = false;
  bool has_value = true;  // from its declaration on
  bool is_array = false;
  bool is_object = false;  // has a constructor, and what it holds ends with it
  bool is_pointer() const { return type.find('*') != Text::npos; }
};
using Environment = std::map<Text, Variable, std::less<>>;

class Cutter {
 public:
  Cutter(Function& body, const std::function<Text(const Text&)>& fresh) : body_(body), fresh_(fresh) {
    whole_.add(body.body, 0);
    find_types(body.body);
  }

  std::vector<Function> run() {
    Environment environment;
    for (const Parameter& p : body_.parameters)
      environment[p.name] = {.type = p.type, .is_parameter = true, .is_const = p.type.starts_with("const ")};
    all_ = weight_of(body_.body) >= kLongFunction;
    list(body_.body, environment);
    return std::move(made_);
  }

 private:
  // Types that are declared inside, `typedef element __attribute__((may_alias)) name`, can't be passed on.
  void find_types(const Statements& list) {
    for (const Statement& s : list) {
      if (const auto* e = std::get_if<Evaluate>(&s.node); e && e->value.starts_with("typedef "))
        local_types_.insert(e->value.substr(e->value.rfind(' ') + 1));
      visit_parts(s, [](const Text&) {}, [&](const Statements& inner) { find_types(inner); });
    }
  }

  bool mentions_local_type(std::string_view text) const {
    return std::any_of(local_types_.begin(), local_types_.end(), [&](const Text& t) { return mentions(text, t); });
  }

  // Makes pieces of a list and of the lists inside of its long statements.
  void list(Statements& statements, const Environment& around) {
    if (weight_of(statements) < kPiece) return;
    Environment environment = around;
    for (Statement& s : statements) {
      if (weight_of(s) >= kPiece) inside(s, environment);
      declare(s, environment);
    }
    if (all_) pieces(statements, around);
  }

  void inside(Statement& s, const Environment& environment) {
    const auto of_loop = [&](const Text& variable, Variable description, const LoopHints& hints, Statements& body) {
      if (hints.parallel || hints.simd || hints.unroll) return;  // see of_threads and strips
      Environment inner = environment;
      inner[variable] = std::move(description);
      list(body, inner);
    };
    if (auto* f = std::get_if<For>(&s.node)) {
      if (f->hints.simd && strips(*f, environment, s.origin)) return;
      if (f->hints.parallel) of_threads(*f, environment);
      of_loop(f->variable, {.type = f->type, .is_const = true}, f->hints, f->body);
    } else if (auto* g = std::get_if<GeneralFor>(&s.node)) {
      of_loop(g->variable, {.type = g->type}, g->hints, g->body);
    } else if (auto* w = std::get_if<While>(&s.node)) {
      list(w->body, environment);
    } else if (auto* i = std::get_if<If>(&s.node)) {
      for (If::Branch& b : i->branches) list(b.body, environment);
    } else if (auto* b = std::get_if<Scope>(&s.node)) {
      list(b->body, environment);
    }
  }

  // The compiler makes a function of the body of a parallel loop, which may be as long as any.
  void of_threads(For& f, const Environment& environment) {
    if (f.hints.unroll) return;
    Environment inner = environment;
    inner[f.variable] = {.type = f.type, .is_const = true};
    Statements* body = &f.body;
    for (int level = 1; level < f.hints.collapse; ++level) {  // nothing may come between loops that are collapsed
      auto* next = body->size() == 1 ? std::get_if<For>(&body->front().node) : nullptr;
      if (next == nullptr) return;
      inner[next->variable] = {.type = next->type, .is_const = true};
      body = &next->body;
    }
    // A short one may become vectors, which calls would prevent.
    if (!f.hints.simd || weight_of(*body) >= kLongFunction) list(*body, inner);
  }

  // The iterations of a vector loop may run in any order, so strips of them go through one part of the body after the
  // other, each part a vector loop in a function of its own. (Calls from inside of the loop would keep it from becoming
  // vectors.) False: the loop stays as it is.
  bool strips(For& f, const Environment& environment, int origin) {
    if (weight_of(f.body) < kLongLoop || f.step != "1" || f.comparison != Comparison::kLess || f.hints.collapse > 1 ||
        f.hints.unroll || !f.hints.reductions.empty())
      return false;
    Mentions whole;
    whole.add(f.body, 0);
    if (whole.returns || whole.leaves || whole.verbatim || !whole.gotos.empty() || !whole.labels.empty()) return false;
    // What an iteration leaves in a variable would be that of another strip.
    for (const auto& [name, variable] : environment) {
      if (!whole.changed.contains(name) || variable.is_array) continue;
      if (!variable.is_pointer() || set_itself(f.body, 0, f.body.size(), name)) return false;
    }
    Statements body = std::move(f.body);
    while (body.size() == 1 && std::holds_alternative<Scope>(body.front().node)) {  // braces alone
      Statements inner = std::move(std::get<Scope>(body.front().node).body);
      body = std::move(inner);
    }
    const std::vector<std::size_t> ends = parts_of(body);
    if (ends.size() < 2) {
      f.body = std::move(body);
      return false;
    }
    const Text from = fresh_(f.variable + "_from");
    const Text to = fresh_(f.variable + "_to");
    Environment inner = environment;
    inner[from] = inner[to] = {.type = f.type, .is_const = true};
    Statements strip;
    Declare last;
    last.type = f.type;
    last.name = to;
    last.is_const = true;
    const Text count = std::to_string(kStrip);
    const Text bound = "(" + f.bound + ")";
    last.init = bound + " - " + from + " > " + count + " ? " + from + " + " + count + " : " + bound;
    strip.push_back(statement(std::move(last), origin));
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      For part;
      part.type = f.type;
      part.variable = f.variable;
      part.begin = from;
      part.bound = to;
      part.hints.simd = true;
      for (; begin < end; ++begin) part.body.push_back(std::move(body[begin]));
      Statements one;
      const int first = part.body.front().origin;
      one.push_back(statement(std::move(part), first));
      std::optional<Statement> call = piece(one, 0, 1, inner);
      strip.push_back(call ? std::move(*call) : std::move(one.front()));
    }
    f.variable = from;
    f.step = count;
    f.hints.simd = false;
    f.body = std::move(strip);
    return true;
  }

  // Where a body can be divided: nothing that one part declares is used in a later one.
  std::vector<std::size_t> parts_of(const Statements& body) const {
    std::vector<Mentions> mentions(body.size());
    std::map<Text, std::size_t, std::less<>> last;
    for (std::size_t i = 0; i < body.size(); ++i) {
      mentions[i].add(body[i], 0);
      for (const Text& name : mentions[i].names) last[name] = i;
    }
    std::vector<std::size_t> ends;
    std::size_t weight = 0, needed = 0;
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (const auto* e = std::get_if<Evaluate>(&body[i].node); e != nullptr && e->value.starts_with("typedef "))
        return {};
      weight += weight_of(body[i]);
      if (const auto* d = std::get_if<Declare>(&body[i].node)) needed = std::max(needed, last.at(d->name));
      if (weight < kStripPiece || needed > i) continue;
      ends.push_back(i + 1);
      weight = 0;
    }
    if (!ends.empty() && weight < kLeastPiece) ends.pop_back();  // the rest goes with the last part
    ends.push_back(body.size());
    return ends;
  }

  static void declare(const Statement& s, Environment& environment) {
    const auto* d = std::get_if<Declare>(&s.node);
    if (d == nullptr) return;
    environment[d->name] = {.type = d->type,
                            .is_const = d->is_const,
                            .has_value = !d->init.empty(),
                            .is_array = !d->array.empty(),
                            .is_object = d->is_constructor};
  }

  // Replaces runs of statements by calls. `environment` has what is declared around the list.
  void pieces(Statements& statements, Environment environment) {
    std::vector<Mentions> mentions(statements.size());
    std::map<Text, std::size_t, std::less<>> last;  // where a name is mentioned for the last time
    for (std::size_t i = 0; i < statements.size(); ++i) {
      mentions[i].add(statements[i], 0);
      for (const Text& name : mentions[i].names) last[name] = i;
    }
    Statements out;
    std::size_t begin = 0;
    while (begin < statements.size()) {
      const std::size_t end = end_of_piece(statements, mentions, last, begin);
      std::optional<Statement> call;
      if (end > begin) call = piece(statements, begin, end, environment);
      if (call) {
        out.push_back(std::move(*call));
        begin = end;
      } else {
        declare(statements[begin], environment);
        out.push_back(std::move(statements[begin++]));
      }
    }
    statements = std::move(out);
  }

  bool can_move(const Statement& s, const Mentions& m) const {
    if (const auto* d = std::get_if<Declare>(&s.node)) return d->array.empty() && !d->is_constructor;
    if (const auto* e = std::get_if<Evaluate>(&s.node))
      return !e->value.starts_with("typedef ") && !e->value.starts_with("return");
    if (m.leaves || m.verbatim || std::holds_alternative<Label>(s.node) || std::holds_alternative<Return>(s.node) ||
        std::holds_alternative<Goto>(s.node))
      return false;
    const auto own_label = [&](const Text& label) { return m.labels.contains(label); };
    return std::all_of(m.gotos.begin(), m.gotos.end(), own_label);
  }

  // The end of the piece that begins here: long enough, and nothing it declares is used after it. `begin`: none.
  std::size_t end_of_piece(const Statements& statements, const std::vector<Mentions>& mentions,
                           const std::map<Text, std::size_t, std::less<>>& last, std::size_t begin) const {
    std::size_t best = begin;
    std::size_t weight = 0;
    std::size_t needed = 0;  // the last statement that uses what was declared so far
    for (std::size_t i = begin; i < statements.size(); ++i) {
      if (!can_move(statements[i], mentions[i])) break;
      weight += weight_of(statements[i]);
      if (const auto* d = std::get_if<Declare>(&statements[i].node)) needed = std::max(needed, last.at(d->name));
      if (needed <= i && weight >= kLeastPiece) {
        best = i + 1;
        if (weight >= kPiece) break;
      }
      if (weight >= 3 * kPiece) break;  // a declaration that is used all along: it is better left outside
    }
    return best;
  }

  // A function of statements[begin, end), and the statement that calls it; nothing if it can't be made.
  std::optional<Statement> piece(Statements& statements, std::size_t begin, std::size_t end,
                                 const Environment& environment) {
    Mentions m;
    std::set<Text, std::less<>> own;
    for (std::size_t i = begin; i < end; ++i) {
      m.add(statements[i], 0);
      if (const auto* d = std::get_if<Declare>(&statements[i].node)) own.insert(d->name);
    }
    // What pieces inside of this one set.
    std::set<Text, std::less<>> passed_on;
    for (const auto& [made, names] : sets_) {
      if (m.names.contains(made)) passed_on.insert(names.begin(), names.end());
    }
    std::set<Text, std::less<>> by_reference;
    if (std::any_of(local_types_.begin(), local_types_.end(), [&](const Text& t) { return m.names.contains(t); }))
      return std::nullopt;
    Function function;
    function.qualifiers = "__attribute__((noinline))";
    function.result = m.returns ? "bool" : "void";
    Text arguments;
    bool views = false;
    for (const auto& [name, variable] : environment) {
      if (!m.names.contains(name) || own.contains(name)) continue;
      const bool addressed = whole_.addressed.contains(name);
      Text type = variable.type;
      if (mentions(type, "auto") || mentions_local_type(type) || m.reduced.contains(name)) return std::nullopt;
      if (type.find("{}") != Text::npos) {  // a pointer to a function
        if (!variable.is_parameter) return std::nullopt;
      } else if (variable.is_object) {
        type += "&";
      } else if (variable.is_array) {
        if (m.measured.contains(name)) return std::nullopt;
        type += "* __restrict";
      } else if (variable.is_pointer()) {
        views = views || (type.find("__restrict") == Text::npos && type != "sdfg_call*" && type != "void*");
        if (set_itself(statements, begin, end, name) || addressed || passed_on.contains(name)) type += "&";
      } else if (!variable.is_const &&
                 (addressed || m.changed.contains(name) || passed_on.contains(name) || !variable.has_value)) {
        // By value only what has one: it may be set and read under one condition.
        type += addressed ? "&" : "& __restrict";
      } else if (!type.starts_with("const ")) {
        type = "const " + type;
      }
      if (type.find('&') != Text::npos) by_reference.insert(name);
      function.parameters.push_back({type, name});
      arguments += (arguments.empty() ? "" : ", ") + name;
    }
    if (views) {
      for (Parameter& p : function.parameters) {
        if (const std::size_t at = p.type.find(" __restrict"); at != Text::npos) p.type.erase(at, 11);
      }
    }
    const int origin = statements[begin].origin;
    for (std::size_t i = begin; i < end; ++i) function.body.push_back(std::move(statements[i]));
    if (m.returns) {
      answer(function.body);
      function.body.push_back(statement(Evaluate{"return false"}));
    }
    function.name = fresh_(body_.name + "_" + std::to_string(made_.size() + 1));
    sets_[function.name] = std::move(by_reference);
    const Text call = function.name + "(" + arguments + ")";
    made_.push_back(std::move(function));
    if (!m.returns) return statement(Evaluate{call}, origin);
    If test;
    test.branches.push_back({call, {statement(Return{}, origin)}});
    return statement(std::move(test), origin);
  }

  // Whether a pointer is made to point elsewhere.
  static bool set_itself(const Statements& statements, std::size_t begin, std::size_t end, const Text& name) {
    const auto in = [&](const auto& self, const Statement& s) -> bool {
      if (const auto* a = std::get_if<Store>(&s.node)) return a->target == name;
      bool found = false;
      visit_parts(
          s, [](const Text&) {},
          [&](const Statements& list) {
            found = found || std::any_of(list.begin(), list.end(), [&](const Statement& t) { return self(self, t); });
          });
      if (const auto* e = std::get_if<Evaluate>(&s.node)) found = found || e->value.starts_with(name + " = ");
      return found;
    };
    for (std::size_t i = begin; i < end; ++i) {
      if (in(in, statements[i])) return true;
    }
    return false;
  }

  // `return;` of the whole function becomes `return true;` of its piece.
  static void answer(Statements& list) {
    for (Statement& s : list) {
      if (std::holds_alternative<Return>(s.node)) {
        s.node = Evaluate{"return true"};
        continue;
      }
      std::visit(Overloaded{[](For& f) { answer(f.body); }, [](GeneralFor& f) { answer(f.body); },
                            [](While& w) { answer(w.body); },
                            [](If& i) {
                              for (If::Branch& b : i.branches) answer(b.body);
                            },
                            [](Scope& b) { answer(b.body); }, [](auto&) {}},
                 s.node);
    }
  }

  Function& body_;
  const std::function<Text(const Text&)>& fresh_;
  Mentions whole_;
  bool all_ = false;  // the function is long itself, not only the body of some loop
  std::vector<Function> made_;
  std::set<Text, std::less<>> local_types_;
  std::map<Text, std::set<Text, std::less<>>, std::less<>> sets_;  // what each takes by reference
};

}  // namespace

bool is_straight(const Unit& unit) {
  constexpr std::size_t kShort = 4000;
  std::size_t weight = 0;
  bool once = unit.global_code.empty() && unit.accessors.empty();
  const auto look = [&](const auto& self, const Statements& list) -> void {
    for (const Statement& s : list) {
      once = once && !std::holds_alternative<For>(s.node) && !std::holds_alternative<GeneralFor>(s.node) &&
             !std::holds_alternative<While>(s.node) && !std::holds_alternative<Goto>(s.node) &&
             !std::holds_alternative<Verbatim>(s.node);
      visit_parts(s, [](const Text&) {}, [&](const Statements& inner) { self(self, inner); });
    }
  };
  for (const Function& f : unit.functions) {
    weight += weight_of(f.body);
    look(look, f.body);
  }
  return once && weight < kShort;
}

std::vector<Function> cut(Function& body, const std::function<Text(const Text&)>& fresh) {
  if (weight_of(body.body) < kLongLoop) return {};
  return Cutter(body, fresh).run();
}

}  // namespace sdfg::lower
