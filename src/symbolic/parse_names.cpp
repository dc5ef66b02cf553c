// The table of functions.
#include "symbolic/parse_names.hpp"

namespace sdfg::symbolic {

namespace {

constexpr std::array kFunctions = {
    FunctionName{"Min", Function::kMin, -1},
    FunctionName{"min", Function::kMin, -1},
    FunctionName{"Max", Function::kMax, -1},
    FunctionName{"max", Function::kMax, -1},
    FunctionName{"int_floor", Function::kFloorDiv, 2},
    FunctionName{"__int_floor", Function::kFloorDiv, 2},
    FunctionName{"int_ceil", Function::kCeilDiv, 2},
    FunctionName{"__int_ceil", Function::kCeilDiv, 2},
    FunctionName{"floor", Function::kFloor, 1},
    FunctionName{"ceiling", Function::kCeiling, 1},
    FunctionName{"ceil", Function::kCeiling, 1},
    FunctionName{"Mod", Function::kMod, 2},
    FunctionName{"py_mod", Function::kMod, 2},
    FunctionName{"Abs", Function::kAbs, 1},
    FunctionName{"abs", Function::kAbs, 1},
    FunctionName{"And", Function::kAnd, -1},
    FunctionName{"AND", Function::kAnd, -1},
    FunctionName{"Or", Function::kOr, -1},
    FunctionName{"OR", Function::kOr, -1},
    FunctionName{"Not", Function::kNot, 1},
    FunctionName{"NOT", Function::kNot, 1},
    FunctionName{"Eq", Function::kEqual, 2},
    FunctionName{"Ne", Function::kNotEqual, 2},
    FunctionName{"NotEq", Function::kNotEqual, 2},
    FunctionName{"Lt", Function::kLess, 2},
    FunctionName{"Le", Function::kLessEqual, 2},
    FunctionName{"LtE", Function::kLessEqual, 2},
    FunctionName{"Gt", Function::kGreater, 2},
    FunctionName{"Ge", Function::kGreaterEqual, 2},
    FunctionName{"GtE", Function::kGreaterEqual, 2},
    FunctionName{"IfExpr", Function::kSelect, 3},
    FunctionName{"bitwise_and", Function::kBitAnd, 2},
    FunctionName{"__bitwise_and", Function::kBitAnd, 2},
    FunctionName{"BitwiseAnd", Function::kBitAnd, 2},
    FunctionName{"bitwise_or", Function::kBitOr, 2},
    FunctionName{"__bitwise_or", Function::kBitOr, 2},
    FunctionName{"BitwiseOr", Function::kBitOr, 2},
    FunctionName{"bitwise_xor", Function::kBitXor, 2},
    FunctionName{"__bitwise_xor", Function::kBitXor, 2},
    FunctionName{"BitwiseXor", Function::kBitXor, 2},
    FunctionName{"bitwise_invert", Function::kBitNot, 1},
    FunctionName{"__bitwise_invert", Function::kBitNot, 1},
    FunctionName{"BitwiseNot", Function::kBitNot, 1},
    FunctionName{"BitwiseInvert", Function::kBitNot, 1},
    FunctionName{"left_shift", Function::kShiftLeft, 2},
    FunctionName{"__left_shift", Function::kShiftLeft, 2},
    FunctionName{"LeftShift", Function::kShiftLeft, 2},
    FunctionName{"right_shift", Function::kShiftRight, 2},
    FunctionName{"__right_shift", Function::kShiftRight, 2},
    FunctionName{"RightShift", Function::kShiftRight, 2},
    FunctionName{"ipow", Function::kPower, 2},
    FunctionName{"pow", Function::kPower, 2},
    FunctionName{"SymExpr", Function::kApproximated, 2},
    FunctionName{"Subscript", Function::kSubscript, -1},
    FunctionName{"Attr", Function::kAttribute, 2},
    FunctionName{"symbol", Function::kSymbol, -1},
};

}  // namespace

const FunctionName* find_function(std::string_view name) {
  const auto at =
      std::find_if(kFunctions.begin(), kFunctions.end(), [&](const FunctionName& f) { return f.name == name; });
  return at == kFunctions.end() ? nullptr : &*at;
}

}  // namespace sdfg::symbolic
