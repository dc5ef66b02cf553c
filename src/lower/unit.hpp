// The C-like statement tree that a graph is lowered to: what printers read, and all they know of the graph.
//
// Statements, declarations and loops are structure, so that style knobs and source maps can act on them; expressions
// are C++ text already (a second expression tree between tasklet::Expr and text was rejected: nothing would rewrite
// it). Text that names anything uses generated identifiers only, see names.hpp. Every statement carries the canonical
// ordinal of the element it comes from.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sdfg::lower {

using Text = std::string;  // of a C++ expression or type

struct Statement;
using Statements = std::vector<Statement>;

// `[const] type name[array] = init;`
struct Declare {
  Text type;
  Text name;
  Text init;          // empty: none
  Text array;         // empty: no array; else its extent
  int alignment = 0;  // bytes; 0: the type's
  bool is_const = false;
  bool is_constructor = false;  // `type name(init);`
};

// `target op value;`, op being "=", "+=" and the like.
struct Store {
  Text target;
  Text op = "=";
  Text value;
};

// An expression for its effect.
struct Evaluate {
  Text value;
};

// Verbatim lines of the user.
struct Verbatim {
  Text text;
};

enum class Comparison : std::uint8_t { kLess, kLessEqual, kGreater, kGreaterEqual };

// Pragmas of a loop. All false and empty: none.
struct LoopHints {
  bool parallel = false;
  bool simd = false;
  int collapse = 1;  // loops shared among threads together, this one and those nested directly inside
  int num_threads = 0;
  Text schedule;                                  // "static", "dynamic, 4"; empty: none
  Text condition;                                 // of the `if` clause: fork only if it holds
  std::vector<std::pair<Text, Text>> reductions;  // operator or declared name, variable
  bool unroll = false;
  int unroll_factor = 0;
};

// A counted loop: for (type variable = begin; variable <comparison> bound; variable += step). A variable that the body
// doesn't change.
struct For {
  Text type;
  Text variable;
  Text begin;
  Comparison comparison = Comparison::kLess;
  Text bound;
  Text step = "1";
  LoopHints hints;
  Statements body;
};

// Any other loop with a variable: for (type variable = init; condition; variable = update). An empty condition is
// always true.
struct GeneralFor {
  Text type;
  Text variable;
  Text init;
  Text condition;
  Text update;  // a whole expression statement
  LoopHints hints;
  Statements body;
};

struct While {
  Text condition;
  bool test_first = true;  // false: do { body } while (condition)
  Statements body;
};

struct If {
  struct Branch;
  std::vector<Branch> branches;  // an empty condition: else, last
};

// Braces for the sake of scope.
struct Scope {
  Statements body;
};

struct Break {};
struct Continue {};
struct Return {};
struct Goto {
  Text label;
};
struct Label {
  Text name;
};

struct Statement {
  using Node = std::variant<Declare, Store, Evaluate, Verbatim, For, GeneralFor, While, If, Scope, Break, Continue,
                            Return, Goto, Label>;
  Node node;
  int origin = -1;  // canonical ordinal of the element, node or memlet
  Text comment;     // one line, already harmless
};

struct If::Branch {
  Text condition;
  Statements body;
};

struct Parameter {
  Text type;
  Text name;
};  // printed `type name`, or with {} in `type` standing for the name (function pointers)

struct Function {
  Text result = "void";
  Text name;
  std::vector<Parameter> parameters;
  Statements body;
  bool exported = false;  // extern "C"; static otherwise
  Text qualifiers = {};   // in front of the result type
};

// `static constexpr int64_t name(int64_t parameters...) { return value; }`
struct IndexHelper {
  Text name;
  std::vector<Text> parameters;
  Text value;
  Text type = "int64_t";
};

// `static constexpr type name[extent] = { values };`
struct ConstantTable {
  Text type;
  Text name;
  Text extent;  // empty: a single value
  std::vector<Text> values;
};

// One source file. Printed in this order.
struct Unit {
  Text prelude;      // the runtime ABI
  Text support;      // helper functions of scalar code and of the runtime, only those in use
  Text global_code;  // the user's
  std::vector<ConstantTable> constants;
  std::vector<IndexHelper> helpers;
  Text accessors;                   // checked accesses, only on request
  std::vector<Function> functions;  // callees first; the entries last
  bool uses_openmp = false;
};

// Whether a unit is short, runs each of its statements once at most, and has no text of the user's own.
bool is_straight(const Unit& unit);

inline Statement statement(Statement::Node node, int origin = -1, Text comment = {}) {
  return Statement{std::move(node), origin, std::move(comment)};
}

}  // namespace sdfg::lower
