// Handles of compiled functions: calls, texts, errors of calls.
#include <sdfg/function.hpp>

#include "jit/function_impl.hpp"
#include "jit/signature.hpp"
#include "runtime/call_error.hpp"
#include "runtime/process.hpp"
#include "symbolic/expr.hpp"

namespace sdfg {

namespace detail {

void check_signature(const FunctionImpl& function, std::span<const CppType> types) {
  jit::check_signature(function.graph->name, function.parameters(), types);
}
void check_process() {
  runtime::require_original_process("a call of a compiled function");
}

void empty_function_used() {
  throw Error(ErrorClass::kUsage, "an empty function was used; assign it the result of compile() first");
}

void* entry_of(const FunctionImpl& function) {
  return function.program->entry();
}

// Equal graphs share one program; the report is about the graph that this function was compiled from.
void throw_call_error(const FunctionImpl& f, std::int32_t status) {
  std::optional<Error> error;
  if (const runtime::CallFailure* failure = runtime::last_failure())
    error = runtime::describe(*failure, f.places(), f.graph->name);
  else if (const Error* other = runtime::last_error())
    error = *other;
  runtime::clear_last_error();
  if (error) throw *error;
  throw Error(ErrorClass::kInternal, "a call of '" + f.graph->name + "' failed with status " + std::to_string(status) +
                                         " but recorded no error");
}

}  // namespace detail

namespace {

const detail::FunctionImpl& need(const std::shared_ptr<detail::FunctionImpl>& impl) {
  if (!impl) detail::empty_function_used();
  return *impl;
}

}  // namespace

const std::string& AnyFunction::name() const {
  return need(impl_).graph->name;
}
std::span<const Parameter> AnyFunction::parameters() const {
  return need(impl_).parameters();
}
std::string AnyFunction::signature() const {
  return jit::signature_text(need(impl_).parameters());
}
std::string AnyFunction::source() const {
  const jit::CompiledProgram& p = *need(impl_).compiled;
  return p.device_source.empty() ? p.source : p.source + "\n// ---- kernels ----\n" + p.device_source;
}
std::string AnyFunction::graph_text() const {
  return need(impl_).compiled->graph_text;
}
std::string AnyFunction::explain() const {
  const detail::FunctionImpl& f = need(impl_);
  std::string out;
  for (const std::string& line : f.compiled->explanations) out += line + "\n";
  for (const jit::Decision& d : f.compiled->decisions) {
    const auto ordinal = static_cast<std::size_t>(d.ordinal);
    if (ordinal >= f.places().size()) continue;
    const Error::Place& place = f.places()[ordinal];
    out += place.what + (place.location.known() ? " (" + place.location.str() + ")" : std::string()) + ": " + d.text +
           "\n";
  }
  return out;
}
const CompileStats& AnyFunction::stats() const {
  return need(impl_).stats;
}
std::vector<std::string> AnyFunction::diagnostics() const {
  return jit::mapped_diagnostics(*need(impl_).compiled, need(impl_).places());
}

void AnyFunction::call_packed(void* const* args) const {
  const detail::FunctionImpl& f = need(impl_);
  runtime::require_original_process("a call of a compiled function");
  const std::int32_t status = f.program->packed_entry()(args);
  if (status != 0) detail::throw_call_error(f, status);
}

std::int64_t AnyFunction::workspace_size(std::span<const std::int64_t> symbols) const {
  const detail::FunctionImpl& f = need(impl_);
  std::map<std::string, std::int64_t, std::less<>> values;
  std::size_t next = 0;
  for (const Parameter& p : f.parameters()) {
    if (f.graph->containers.find(p.name) != nullptr || p.type.kind() == Type::Kind::kCallback) continue;
    if (next == symbols.size())
      throw Error(ErrorClass::kUsage,
                  "workspace_size of '" + f.graph->name + "' needs a value for symbol '" + p.name + "'");
    values[p.name] = symbols[next++];
  }
  // The layout is that of lower: containers in table order, each at a multiple of 64 bytes.
  std::int64_t bytes = 0;
  for (const ir::Container& c : f.graph->containers) {
    if (c.lifetime != ir::Lifetime::kExternal) continue;
    std::int64_t size = 0;
    const std::int64_t count = symbolic::evaluate(c.layout.total_size() + c.layout.start_offset(), values);
    if (__builtin_mul_overflow(count, c.type.size(), &size) ||
        __builtin_add_overflow(bytes, (size + 63) / 64 * 64, &bytes)) {
      throw Error(ErrorClass::kLimit, "the workspace of '" + f.graph->name + "' has more bytes than 64 bits can count");
    }
  }
  return bytes;
}

void AnyFunction::set_workspace(void* memory, std::int64_t bytes) const {
  constexpr std::uintptr_t kAlignment = 64;  // what lower promises the compiler for External containers
  const std::string name = "the workspace of '" + need(impl_).graph->name + "'";
  if (bytes < 0) throw Error(ErrorClass::kUsage, name + " has " + std::to_string(bytes) + " bytes");
  if (memory == nullptr && bytes > 0)
    throw Error(ErrorClass::kUsage, name + " of " + std::to_string(bytes) + " bytes is a null pointer");
  if (const std::uintptr_t beyond = reinterpret_cast<std::uintptr_t>(memory) % kAlignment; beyond != 0) {
    throw Error(ErrorClass::kUsage,
                name + " begins " + std::to_string(beyond) + " bytes after a multiple of " +
                    std::to_string(kAlignment) + " bytes, but its alignment has to be " + std::to_string(kAlignment),
                {}, "std::aligned_alloc(64, size), with a size that is a multiple of 64, gives such memory");
  }
  const_cast<runtime::Program&>(*need(impl_).program).set_workspace(memory, bytes);
}

std::optional<Error> last_error() {
  const Error* e = runtime::last_error();
  if (e == nullptr) return std::nullopt;
  std::optional<Error> copy = *e;
  runtime::clear_last_error();
  return copy;
}

}  // namespace sdfg
