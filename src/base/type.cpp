// Composite types: construction, layout in memory, text and comparison.
#include <algorithm>
#include <bit>
#include <sdfg/error.hpp>
#include <sdfg/types.hpp>
#include <variant>

namespace sdfg {

// One alternative per kind that needs more than the inline members.
struct Type::Payload {
  std::variant<Type, StructInfo, CallbackInfo, std::string> value;
};

namespace {

constexpr std::int64_t kPointerSize = 8;

std::int64_t round_up(std::int64_t value, std::int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// Sizes of user-written structures can overflow: vectors of many lanes, long lists of fields.
std::int64_t checked_add(std::int64_t a, std::int64_t b, const std::string& what) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    throw Error(ErrorClass::kLimit, "the size of " + what + " does not fit in a 64-bit integer");
  }
  return sum;
}

std::string list(const std::vector<Type>& types) {
  std::string text;
  for (const Type& type : types) {
    if (!text.empty()) text += ", ";
    text += type.str();
  }
  return text;
}

[[noreturn]] void wrong_kind(const Type& type, const char* wanted) {
  throw Error(ErrorClass::kInternal, "the type " + type.str() + " is not " + wanted);
}

}  // namespace

Type Type::vector(ScalarType element, int lanes) {
  if (lanes < 1) {
    throw Error(ErrorClass::kUsage, "a vector of " + std::string(to_string(element)) +
                                        " needs at least one lane, but " + std::to_string(lanes) + " were asked for");
  }
  Type type;
  type.kind_ = Kind::kVector;
  type.scalar_ = element;
  type.lanes_ = lanes;
  return type;
}

Type Type::pointer(Type pointee) {
  Type type;
  type.kind_ = Kind::kPointer;
  type.payload_ = std::make_shared<const Payload>(Payload{std::move(pointee)});
  return type;
}

Type Type::structure(std::string name, std::vector<StructField> fields) {
  Type type;
  type.kind_ = Kind::kStruct;
  type.payload_ = std::make_shared<const Payload>(Payload{StructInfo{std::move(name), std::move(fields)}});
  return type;
}

Type Type::opaque(std::string c_name) {
  Type type;
  type.kind_ = Kind::kOpaque;
  type.payload_ = std::make_shared<const Payload>(Payload{std::move(c_name)});
  return type;
}

Type Type::callback(std::vector<Type> returns, std::vector<Type> arguments) {
  Type type;
  type.kind_ = Kind::kCallback;
  type.payload_ = std::make_shared<const Payload>(Payload{CallbackInfo{std::move(returns), std::move(arguments)}});
  return type;
}

const Type& Type::pointee() const {
  if (kind_ != Kind::kPointer) wrong_kind(*this, "a pointer");
  return std::get<Type>(payload_->value);
}

const StructInfo& Type::structure() const {
  if (kind_ != Kind::kStruct) wrong_kind(*this, "a structure");
  return std::get<StructInfo>(payload_->value);
}

const CallbackInfo& Type::callback() const {
  if (kind_ != Kind::kCallback) wrong_kind(*this, "a callback");
  return std::get<CallbackInfo>(payload_->value);
}

const std::string& Type::opaque_name() const {
  if (kind_ != Kind::kOpaque) wrong_kind(*this, "opaque");
  return std::get<std::string>(payload_->value);
}

std::int64_t Type::size() const {
  switch (kind_) {
    case Kind::kVoid:
    case Kind::kOpaque: return 0;
    case Kind::kScalar: return size_of(scalar_);
    case Kind::kVector: return static_cast<std::int64_t>(size_of(scalar_)) * lanes_;
    case Kind::kPointer:
    case Kind::kCallback: return kPointerSize;
    case Kind::kStruct: {
      std::int64_t size = 0;
      for (const StructField& field : structure().fields) {
        const std::int64_t alignment = field.type.alignment();
        size = round_up(checked_add(size, alignment, str()) - alignment, alignment);
        size = checked_add(size, field.type.size(), str());
      }
      const std::int64_t own = alignment();
      size = round_up(checked_add(size, own, str()) - own, own);
      return std::max<std::int64_t>(size, 1);  // an object of an empty C++ class takes one byte
    }
  }
  return 0;
}

std::int64_t Type::alignment() const {
  switch (kind_) {
    case Kind::kVoid:
    case Kind::kOpaque: return 1;
    case Kind::kScalar: return is_complex(scalar_) ? size_of(component_of(scalar_)) : size_of(scalar_);
    case Kind::kVector: {
      // Elements of an array of vectors are contiguous, so only a power of two of lanes can carry vector alignment.
      const auto bytes = static_cast<std::uint64_t>(size());
      return std::has_single_bit(bytes) ? static_cast<std::int64_t>(bytes) : Type(scalar_).alignment();
    }
    case Kind::kPointer:
    case Kind::kCallback: return kPointerSize;
    case Kind::kStruct: {
      std::int64_t alignment = 1;
      for (const StructField& field : structure().fields) alignment = std::max(alignment, field.type.alignment());
      return alignment;
    }
  }
  return 1;
}

std::string Type::str() const {
  switch (kind_) {
    case Kind::kVoid: return "void";
    case Kind::kScalar: return std::string(to_string(scalar_));
    case Kind::kVector: return "vector<" + std::string(to_string(scalar_)) + ", " + std::to_string(lanes_) + ">";
    case Kind::kPointer: return "pointer<" + pointee().str() + ">";
    case Kind::kStruct: return "struct " + structure().name;
    case Kind::kOpaque: return "opaque<" + opaque_name() + ">";
    case Kind::kCallback: {
      const CallbackInfo& info = callback();
      std::string text = "callback(" + list(info.arguments) + ") -> ";
      if (info.returns.empty()) return text + "void";
      if (info.returns.size() == 1) return text + info.returns.front().str();
      return text + "(" + list(info.returns) + ")";
    }
  }
  return "void";
}

bool operator==(const Type& a, const Type& b) {
  if (a.kind_ != b.kind_) return false;
  switch (a.kind_) {
    case Type::Kind::kVoid: return true;
    case Type::Kind::kScalar: return a.scalar_ == b.scalar_;
    case Type::Kind::kVector: return a.scalar_ == b.scalar_ && a.lanes_ == b.lanes_;
    case Type::Kind::kPointer:
    case Type::Kind::kStruct:
    case Type::Kind::kOpaque:
    case Type::Kind::kCallback: return a.payload_ == b.payload_ || a.payload_->value == b.payload_->value;
  }
  return false;
}

}  // namespace sdfg
