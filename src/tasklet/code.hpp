// Scalar code: the typed expressions and statements of tasklets, conditions and assignments.
//
// Trees are immutable and shared. A node's type is void until `infer_types` has set it. Names are connectors, locals or
// symbols; reads of containers (only in conditions and assignments of the graph, never in tasklets) are Subscripts, a
// scalar container with no indices, and so are subscripts of pointer connectors and constants.
//
// Meaning of operators (for the interpreter and for generated code alike): Python's on values, C's on machine types.
// `/` is true division (integers give float64), `//` and `%` follow Python's signs for integers and floats, `**` is an
// integer power where the exponent is provably integral and non-negative, comparisons chain, `and`/`or` give bool (not
// an operand), integer arithmetic wraps in its type, shifts are arithmetic on signed types. min and max ignore a NaN
// when the other operand is a number (IEEE maxNum). An integer literal is "weak": it takes the type of the other
// integer or floating operand; alone it is int64. A floating literal is float64.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sdfg/error.hpp>
#include <sdfg/types.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/digest.hpp"
#include "symbolic/expr.hpp"

namespace sdfg::tasklet {

enum class UnaryOp : std::uint8_t { kNegate, kNot, kBitNot };
enum class BinaryOp : std::uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kMod,
  kPow,
  kBitAnd,
  kBitOr,
  kBitXor,
  kShiftLeft,
  kShiftRight,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAnd,
  kOr,
};
// Math functions of dace-ir.md 1.13. One table (functions.cpp) has Python spellings, arity, result type rule and C++
// spelling.
enum class Function : std::uint8_t {
  kMin,
  kMax,
  kAbs,
  kSign,
  kRound,
  kCeil,
  kFloor,
  kTrunc,
  kExp,
  kExp2,
  kExpm1,
  kLog,
  kLog2,
  kLog10,
  kLog1p,
  kSqrt,
  kRsqrt,
  kCbrt,
  kPow,
  kIpow,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kAtan2,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kErfc,
  kLgamma,
  kTgamma,
  kHypot,
  kFmod,
  kCopysign,
  kFma,
  kIsNan,
  kIsInf,
  kIsFinite,
  kSignbit,
  kConj,
  kReal,
  kImag,
  kMakeComplex,  // kMakeComplex(re, im)
  kGcd,
  kLcm,
  kHeaviside,
  kReciprocal,
  kDeg2Rad,
  kRad2Deg,
  kIntFloor,
  kIntCeil,  // floor and ceiling division of integers
  kCppMod,   // C's remainder
};

struct Literal {
  std::variant<bool, std::int64_t, std::uint64_t, double, std::complex<double>> value;
  bool weak = false;  // an untyped integer literal of the source text
  bool operator==(const Literal&) const = default;
};

class Expr;
struct Name {
  std::string name;
};
struct Subscript {
  std::string base;
  std::vector<Expr> indices;
};  // base may be a dotted path `st.x`
struct Unary {
  UnaryOp op;
  std::vector<Expr> operand;
};  // one operand
struct Binary {
  BinaryOp op;
  std::vector<Expr> operands;
};  // two operands; comparisons and logic give bool
struct Select {
  std::vector<Expr> parts;
};  // condition, then, else; only the taken branch is evaluated
struct Call {
  Function function;
  std::vector<Expr> args;
};
struct ExternalCall {
  std::string callee;
  std::vector<Expr> args;
};  // a callback symbol
struct Cast {
  Type to;
  std::vector<Expr> operand;
};

using ExprNode = std::variant<Literal, Name, Subscript, Unary, Binary, Select, Call, ExternalCall, Cast>;

class Expr {
 public:
  Expr();  // literal false, for containers of expressions only
  Expr(ExprNode node, Type type = {}, std::uint32_t column = 0);
  static Expr literal(bool value);
  static Expr literal(std::int64_t value, ScalarType type = ScalarType::kInt64);
  static Expr literal(double value, ScalarType type = ScalarType::kFloat64);
  static Expr literal(std::complex<double> value, ScalarType type = ScalarType::kComplex128);
  static Expr weak(std::int64_t value);
  static Expr name(std::string name, Type type = {});
  static Expr subscript(std::string base, std::vector<Expr> indices, Type type = {});
  static Expr unary(UnaryOp op, Expr operand);
  static Expr binary(BinaryOp op, Expr left, Expr right);
  static Expr select(Expr condition, Expr then_value, Expr else_value);
  static Expr call(Function function, std::vector<Expr> args);
  static Expr cast(Type to, Expr operand);

  const ExprNode& node() const noexcept;
  const Type& type() const noexcept;  // void before inference
  std::span<const Expr> children() const noexcept;
  std::uint32_t column() const noexcept;                 // in the source text, from 1; 0 when unknown
  std::uint32_t depth() const noexcept;                  // of the tree, from 1; parsers refuse more than kMaxDepth
  Expr with_children(std::vector<Expr> children) const;  // same node and type, other operands
  Expr with_type(Type type) const;                       // same node and operands
  Expr with_column(std::uint32_t column) const;
  friend bool operator==(const Expr& a, const Expr& b);  // structure and types

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

struct Statement;
using Body = std::vector<Statement>;
// `target = value`; the target is a Name (an output connector, a local, in Assign elements a symbol) or a Subscript.
struct Assign {
  Expr target;
  Expr value;
};
// `target op= value`.
struct Update {
  Expr target;
  BinaryOp op;
  Expr value;
};
struct IfBranch;
struct If {
  std::vector<IfBranch> branches;
};  // first true condition wins; an else branch has the literal true as condition
struct While {
  Expr condition;
  Body body;
};
struct Break {};
struct Continue {};
struct Evaluate {
  Expr value;
};  // an expression for its effect: a callback call, a stream push
struct Statement {
  std::variant<Assign, Update, If, While, Break, Continue, Evaluate> node;
  std::uint32_t line = 0;
};
struct IfBranch {
  Expr condition;
  Body body;
};

// What the C++ tasklet analysis found (compile implements it; see analyse_cpp.hpp).
struct CppFacts {
  std::vector<std::string> reads;       // connectors and names read
  std::vector<std::string> writes;      // connectors written
  std::vector<std::string> free_names;  // identifiers neither declared in the body nor connectors
  std::vector<std::string> locals;      // names the body declares
  bool side_effects = true;             // calls anything not known to be pure
  bool has_preprocessor = false;
};

enum class Language : std::uint8_t { kTree, kCpp };

// The code of a tasklet.
struct Code {
  Language language = Language::kTree;
  Body body;                    // kTree
  std::string text;             // kCpp: verbatim; kTree: empty
  std::string global_text;      // kCpp only: declarations at file scope
  std::optional<CppFacts> cpp;  // filled by the analysis
};

// Types of the names code may use. Nothing: the name is unknown.
struct TypeEnvironment {
  std::function<std::optional<Type>(std::string_view name)> name;
  std::function<std::optional<Type>(std::string_view base)> element;  // element type of what a Subscript's base names
};

// Reads the Python subset of dace-ir.md 1.13. Throws Error(kGraph) with the text, line and column.
Body parse_body(std::string_view text);
Expr parse_expression(std::string_view text);
// `(lambda x, y: (x + y))`: the text form of a write-conflict resolution.
struct Lambda {
  std::vector<std::string> parameters;
  Expr value;
};
Lambda parse_lambda(std::string_view text);
inline constexpr std::uint32_t kMaxDepth = 1000;  // nesting of expressions and statements that the parser accepts

// Parsing folds signs and casts of literals (`-1`, `dace.float32(0.2)`), nests n-ary min/max, turns chained comparisons
// into conjunctions and `for v in range(...)` into a while loop over hidden locals `__range<k>`, `__stop<k>`,
// `__step<k>`.
//
// Inference resolves powers, so that interpreter and generated code agree: an exponent literal that is a whole number
// with magnitude up to 64 becomes a weak integer (the base is cast to the promoted type), 0.5 becomes sqrt, -0.5 rsqrt,
// and an integer base with a negative literal exponent is cast to float64. It also resolves `x.real`, `x.imag`, members
// of structures, and the constants pi, E, I and oo where the environment does not know these names.
//
// Typed copies. Unknown names are errors of class graph naming them. `locals` receives the types of new local variables
// in order of their first assignment (the promoted type of all their assignments).
Expr infer_types(const Expr& e, const TypeEnvironment& env);
Body infer_types(const Body& body, const TypeEnvironment& env,
                 std::vector<std::pair<std::string, Type>>* locals = nullptr);

// Canonical text that parse_* reads back to an equal tree (fully parenthesised Python); types appear as casts where
// they matter.
std::string to_python(const Expr& e);
std::string to_python(const Body& body, int indent = 0);
// Deterministic bytes for digests, types included.
void write_canonical(const Expr& e, ByteWriter& out);
void write_canonical(const Body& body, ByteWriter& out);

// Names read, names assigned, bases subscripted (each once, in order of first occurrence).
struct Uses {
  std::vector<std::string> read;
  std::vector<std::string> written;
  std::vector<std::string> subscripted;
  std::vector<std::string> called;
};
Uses uses_of(const Expr& e);
Uses uses_of(const Body& body);
bool equal(const Body& a, const Body& b);

// Replaces names (and subscript bases when `bases`), simultaneous.
Expr replace_names(const Expr& e, const std::map<std::string, Expr, std::less<>>& by);
Body replace_names(
    const Body& body,
    const std::map<std::string, Expr, std::less<>>& by);  // assignment targets must map to Name or Subscript
Expr rename_bases(const Expr& e, const std::map<std::string, std::string, std::less<>>& by);
Body rename_bases(const Body& body, const std::map<std::string, std::string, std::less<>>& by);

// The integer or boolean view of an expression: nothing when a leaf or operator has none (floats, callbacks).
// Subscripts become Reads.
std::optional<symbolic::Expr> to_symbolic(const Expr& e);
// Symbols become Names of type int64 (or what `type_of` says), Reads become Subscripts.
Expr from_symbolic(const symbolic::Expr& e, const std::function<Type(std::string_view symbol)>& type_of = {});

// Names of functions for readers, printers and builders.
std::string_view to_string(Function f) noexcept;  // Python spelling
std::optional<Function> function_from_string(
    std::string_view name) noexcept;               // "exp", "math.exp", "dace.math.exp", "numpy.exp", ...
std::string_view to_string(BinaryOp op) noexcept;  // "+", "//", "and", ...
std::string_view to_string(UnaryOp op) noexcept;
// Result type of applying an operator or a function to typed operands (weak literals already resolved); throws
// Error(kGraph) when undefined.
Type result_type(BinaryOp op, const Type& left, const Type& right);
Type result_type(UnaryOp op, const Type& operand);
Type result_type(Function f, std::span<const Type> args);

}  // namespace sdfg::tasklet
