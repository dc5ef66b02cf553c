// Weighs functions, spreads them over parts, and cuts modules accordingly.
#include "compile/clang/partition.hpp"

#include <algorithm>
#include <numeric>

namespace sdfg::compiler {

namespace {

// Weights are instructions as the front end writes them. A part costs some 3 ms in itself; the optimiser and code
// generation take about 0.1 ms per instruction of a loop at level 3, and a tenth of that at level 0. Two parts pay
// soon; more of them, which are for machines with more cores, when they are larger.
constexpr std::size_t kTwoParts = 500;
constexpr std::size_t kPartWeight = 750;
constexpr std::size_t kUnoptimised = 10;
// Smaller ones may be worth inlining.
constexpr std::size_t kLeastOwned = 100;
// Larger ones are not inlined into several callers.
constexpr std::size_t kLeastLarge = 1000;

std::size_t weight_of(const llvm::Function& function) {
  std::size_t weight = 0;
  for (const llvm::BasicBlock& block : function) weight += block.size();
  return weight;
}

bool can_be_divided(const llvm::Module& module) {
  if (!module.alias_empty() || !module.ifunc_empty() || !module.getModuleInlineAsm().empty()) return false;
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (variable.isThreadLocal()) return false;
  }
  for (const llvm::Function& function : module) {
    for (const llvm::BasicBlock& block : function) {
      if (block.hasAddressTaken()) return false;
    }
  }
  return true;
}

bool is_called(const llvm::Function& function) {
  return std::any_of(function.use_begin(), function.use_end(), [](const llvm::Use& use) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
    return call != nullptr && call->isCallee(&use);
  });
}

// Whether nothing is lost when callers do not see the body.
bool is_boundary(const llvm::Function& function, std::size_t weight) {
  if (function.isDeclaration()) return false;
  if (function.hasFnAttribute(llvm::Attribute::AlwaysInline) && is_called(function)) return false;
  if (!function.hasLocalLinkage() && !function.hasLinkOnceLinkage()) return false;
  if (weight < kLeastOwned) return false;
  if (function.hasFnAttribute(llvm::Attribute::NoInline)) return true;
  // Passed on, as the body of a parallel loop is to the runtime.
  if (function.hasAddressTaken(nullptr, /*IgnoreCallbackUses=*/false)) return true;
  return weight >= kLeastLarge && function.hasNUsesOrMore(2);
}

bool is_list_of_the_compiler(const llvm::GlobalVariable& variable) {
  return variable.getName().starts_with("llvm.");
}

// A value nobody can tell from its copies.
bool is_copied(const llvm::GlobalVariable& variable) {
  return variable.hasLocalLinkage() && variable.isConstant() && variable.hasGlobalUnnamedAddr();
}

}  // namespace

Partition partition(const llvm::Module& module, int opt_level, int most) {
  Partition result;
  struct Piece {
    const llvm::Function* function;
    std::size_t weight;
  };
  std::vector<Piece> pieces;
  std::size_t shared = 0;
  std::size_t rest = 0;
  for (const llvm::Function& function : module) {
    const std::size_t weight = weight_of(function);
    if (is_boundary(function, weight)) {
      pieces.push_back({&function, weight});
      shared += weight;
    } else {
      rest += weight;
    }
  }
  const std::size_t scale = opt_level > 0 ? 1 : kUnoptimised;
  const std::size_t total = shared + rest;
  const std::size_t wanted = total < kTwoParts * scale ? 1 : std::max<std::size_t>(2, total / (kPartWeight * scale));
  // Where part 0 is large in itself, the others share what there is beside it.
  const std::size_t useful = 2 + shared / (kPartWeight * scale);
  const std::size_t parts = std::min({wanted, useful, pieces.size() + 1, static_cast<std::size_t>(most)});
  if (parts < 2 || pieces.empty() || !can_be_divided(module)) return result;

  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.weight > b.weight; });
  std::vector<std::size_t> load(parts);
  load[0] = rest;
  for (const Piece& piece : pieces) {
    const auto lightest = std::min_element(load.begin(), load.end());
    *lightest += piece.weight;
    result.owner[piece.function->getName()] = static_cast<int>(lightest - load.begin());
  }
  result.parts = static_cast<int>(parts);
  result.order.resize(parts - 1);
  std::iota(result.order.begin(), result.order.end(), 1);
  std::stable_sort(result.order.begin(), result.order.end(),
                   [&](int a, int b) { return load[static_cast<std::size_t>(a)] > load[static_cast<std::size_t>(b)]; });
  return result;
}

void share(llvm::Module& module, Partition& partition) {
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (variable.isDeclaration() || is_list_of_the_compiler(variable) || is_copied(variable)) continue;
    if (variable.hasLocalLinkage()) {
      // A new name: what was private to the source may be called like something of the C library.
      variable.setName(variable.getName() + ".shared");
      variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
    } else if (variable.hasLinkOnceLinkage()) {
      variable.setLinkage(llvm::GlobalValue::WeakODRLinkage);  // kept, even if part 0 has no use for it
    }
    variable.setVisibility(llvm::GlobalValue::DefaultVisibility);
    variable.setDSOLocal(false);
  }
  llvm::StringMap<int> owner;
  for (llvm::Function& function : module) {
    const auto found = partition.owner.find(function.getName());
    if (found == partition.owner.end()) continue;
    if (function.hasLocalLinkage()) {
      function.setName(function.getName() + ".shared");
      function.setLinkage(llvm::GlobalValue::ExternalLinkage);
    } else {
      function.setLinkage(llvm::GlobalValue::WeakODRLinkage);
    }
    function.setVisibility(llvm::GlobalValue::DefaultVisibility);
    owner[function.getName()] = found->second;
  }
  partition.owner = std::move(owner);
}

namespace {

// Part 0 has the functions of external linkage that nobody owns: the entries.
bool is_in(const llvm::Function& function, const Partition& partition, int part) {
  const auto found = partition.owner.find(function.getName());
  return part == (found == partition.owner.end() ? 0 : found->second);
}

bool is_copied(const llvm::Function& function, const Partition& partition) {
  return (function.hasLocalLinkage() || function.hasLinkOnceLinkage()) && !partition.owner.contains(function.getName());
}

// Reads the bodies of what is kept, and of the copied functions that these use, and of nothing else.
llvm::Error read_used(llvm::Module& module, const Partition& partition, int part,
                      llvm::SmallPtrSetImpl<llvm::Function*>& used) {
  std::vector<llvm::Function*> open;
  llvm::SmallPtrSet<const llvm::Constant*, 32> seen;
  const auto use = [&](const auto& self, const llvm::Value* value) -> void {
    const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
    if (constant == nullptr || !seen.insert(constant).second) return;
    if (const auto* function = llvm::dyn_cast<llvm::Function>(constant)) {
      auto* callee = const_cast<llvm::Function*>(function);
      if (!callee->isDeclaration() && is_copied(*callee, partition) && used.insert(callee).second)
        open.push_back(callee);
      return;
    }
    for (const llvm::Use& operand : constant->operands()) self(self, operand.get());
  };
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || is_copied(function, partition) || !is_in(function, partition, part)) continue;
    used.insert(&function);
    open.push_back(&function);
  }
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (part == 0 && variable.hasInitializer()) use(use, variable.getInitializer());
  }
  while (!open.empty()) {
    llvm::Function& function = *open.back();
    open.pop_back();
    if (llvm::Error error = function.materialize()) return error;
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      for (const llvm::Use& operand : instruction.operands()) use(use, operand.get());
    }
  }
  return llvm::Error::success();
}

}  // namespace

llvm::Error keep_part(llvm::Module& module, const Partition& partition, int part) {
  if (llvm::Error error = module.materializeMetadata()) return error;
  llvm::SmallPtrSet<llvm::Function*, 32> used;
  if (llvm::Error error = read_used(module, partition, part, used)) return error;
  std::vector<llvm::GlobalValue*> doomed;
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (part == 0 || variable.isDeclaration() || is_copied(variable)) continue;
    if (is_list_of_the_compiler(variable)) {
      doomed.push_back(&variable);
      continue;
    }
    variable.setComdat(nullptr);
    if (variable.isConstant()) {
      variable.setLinkage(llvm::GlobalValue::AvailableExternallyLinkage);  // its values can be folded
    } else {
      variable.setInitializer(nullptr);
      variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
    }
    variable.setDSOLocal(false);
  }
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || used.contains(&function)) continue;
    function.deleteBody();
    function.setComdat(nullptr);
    function.setLinkage(llvm::GlobalValue::ExternalLinkage);
    function.setDSOLocal(false);
    doomed.push_back(&function);
  }
  for (llvm::GlobalValue* value : doomed) {
    value->removeDeadConstantUsers();
    if (value->use_empty() || llvm::isa<llvm::GlobalVariable>(value)) value->eraseFromParent();
  }
  return llvm::Error::success();
}

}  // namespace sdfg::compiler
