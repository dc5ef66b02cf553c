// Sorts functions into classes of equal ones, starting from what they look like from outside, and keeps one of a class.
#include "compile/clang/merge.hpp"

#include <vector>

namespace sdfg::compiler {

namespace {

bool is_called_by(const llvm::Use& use) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
  return call != nullptr && call->isCallee(&use);
}

// Handed to the runtime of parallel loops, which calls it and does nothing else with it.
bool is_started_by(const llvm::Use& use) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
  const llvm::Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
  return callee != nullptr && callee->isDeclaration() && callee->getName().starts_with("__kmpc_");
}

bool is_candidate(const llvm::Function& f) {
  if (f.isDeclaration() || !f.hasLocalLinkage() || f.hasComdat() || f.hasSection() || f.hasPersonalityFn() ||
      f.hasPrefixData() || f.hasPrologueData() || f.hasGC() || f.isVarArg())
    return false;
  for (const llvm::BasicBlock& block : f) {
    if (block.hasAddressTaken()) return false;
  }
  return llvm::all_of(f.uses(), [](const llvm::Use& use) { return is_called_by(use) || is_started_by(use); });
}

// A function with one caller is inlined whatever its size, and would not be with two.
bool may_stand_for_others(const llvm::Function& f) {
  return f.hasFnAttribute(llvm::Attribute::NoInline) || llvm::any_of(f.uses(), is_started_by);
}

// Equal functions have equal ones, and others hardly ever, or large groups would be compared each with each. Only what
// stands for other functions, and marks, are left out.
std::size_t look_of(const llvm::Function& f) {
  llvm::DenseMap<const llvm::Value*, unsigned> numbers;
  for (const llvm::Argument& argument : f.args()) numbers.try_emplace(&argument, numbers.size());
  for (const llvm::BasicBlock& block : f) {
    numbers.try_emplace(&block, numbers.size());
    for (const llvm::Instruction& i : block) numbers.try_emplace(&i, numbers.size());
  }
  llvm::hash_code hash = llvm::hash_combine(f.getFunctionType(), f.getAttributes().getRawPointer(), f.size());
  for (const llvm::Instruction& i : llvm::instructions(f)) {
    hash = llvm::hash_combine(hash, i.getOpcode(), i.getType(), i.getNumOperands());
    for (const llvm::Use& operand : i.operands()) {
      if (const auto found = numbers.find(operand.get()); found != numbers.end()) {
        hash = llvm::hash_combine(hash, found->second);
      } else if (llvm::isa<llvm::ConstantData, llvm::GlobalVariable>(operand.get())) {
        hash = llvm::hash_combine(hash, operand.get());
      }
    }
  }
  return hash;
}

// Which functions are known to be equal.
class Classes {
 public:
  // The first of its class; itself, as long as nothing is known.
  const llvm::Function* first_of(const llvm::Function* f) const {
    for (auto found = earlier_.find(f); found != earlier_.end(); found = earlier_.find(f)) f = found->second;
    return f;
  }
  // Both are first in their classes.
  void join(const llvm::Function* earlier, const llvm::Function* later) { earlier_[later] = earlier; }

 private:
  llvm::DenseMap<const llvm::Function*, const llvm::Function*> earlier_;
};

class Comparison {
 public:
  Comparison(const llvm::Function& left, const llvm::Function& right, const Classes& classes)
      : left_(left), right_(right), classes_(classes) {}

  bool equal() {
    if (left_.getFunctionType() != right_.getFunctionType() || left_.getAttributes() != right_.getAttributes() ||
        left_.getCallingConv() != right_.getCallingConv() || left_.getAlign() != right_.getAlign() ||
        left_.hasGlobalUnnamedAddr() != right_.hasGlobalUnnamedAddr() || left_.size() != right_.size())
      return false;
    for (unsigned i = 0; i < left_.arg_size(); ++i) twin_[left_.getArg(i)] = right_.getArg(i);
    auto block = right_.begin();
    for (const llvm::BasicBlock& b : left_) {
      if (b.size() != block->size()) return false;
      twin_[&b] = &*block;
      auto instruction = block->begin();
      for (const llvm::Instruction& i : b) twin_[&i] = &*instruction++;
      ++block;
    }
    Marks left_marks, right_marks;
    left_.getAllMetadata(left_marks);
    right_.getAllMetadata(right_marks);
    if (!same_marks(left_marks, right_marks)) return false;
    auto other = llvm::inst_begin(right_);
    for (const llvm::Instruction& i : llvm::instructions(left_)) {
      if (!same(i, *other)) return false;
      ++other;
    }
    return true;
  }

 private:
  using Marks = llvm::SmallVector<std::pair<unsigned, llvm::MDNode*>, 8>;

  bool same(const llvm::Instruction& l, const llvm::Instruction& r) {
    if (!l.isSameOperationAs(&r) || l.getRawSubclassOptionalData() != r.getRawSubclassOptionalData()) return false;
    for (unsigned i = 0; i < l.getNumOperands(); ++i) {
      if (!same(l.getOperand(i), r.getOperand(i))) return false;
    }
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&l)) {
      for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
        if (!same(phi->getIncomingBlock(i), llvm::cast<llvm::PHINode>(r).getIncomingBlock(i))) return false;
      }
    }
    Marks left_marks, right_marks;
    l.getAllMetadataOtherThanDebugLoc(left_marks);
    r.getAllMetadataOtherThanDebugLoc(right_marks);
    return same_marks(left_marks, right_marks);
  }

  bool same(const llvm::Value* l, const llvm::Value* r) {
    if (const auto found = twin_.find(l); found != twin_.end()) return found->second == r;
    if (l == r) return true;
    if (const auto* function = llvm::dyn_cast<llvm::Function>(l)) {
      const auto* other = llvm::dyn_cast<llvm::Function>(r);
      if (function == &left_) return other == &right_;  // calls itself
      return other != nullptr && classes_.first_of(function) == classes_.first_of(other);
    }
    if (const auto* mark = llvm::dyn_cast<llvm::MetadataAsValue>(l)) {
      const auto* other = llvm::dyn_cast<llvm::MetadataAsValue>(r);
      return other != nullptr && same(mark->getMetadata(), other->getMetadata());
    }
    return false;
  }

  bool same_marks(const Marks& l, const Marks& r) {
    if (l.size() != r.size()) return false;
    for (std::size_t i = 0; i < l.size(); ++i) {
      if (l[i].first != r[i].first || !same(l[i].second, r[i].second)) return false;
    }
    return true;
  }

  // Loops and groups of accesses are distinct nodes: each of the left must always stand for the same one of the right.
  bool same(const llvm::Metadata* l, const llvm::Metadata* r) {
    const auto* left = llvm::dyn_cast_or_null<llvm::MDNode>(l);
    const auto* right = llvm::dyn_cast_or_null<llvm::MDNode>(r);
    if (left == nullptr || right == nullptr) return l == r;
    if (left == right && !left->isDistinct()) return true;
    const auto [there, fresh] = node_twin_.try_emplace(left, right);
    const auto [back, also_fresh] = node_twin_back_.try_emplace(right, left);
    if (!fresh || !also_fresh) return there->second == right && back->second == left;
    if (left->getMetadataID() != right->getMetadataID() || left->isDistinct() != right->isDistinct() ||
        left->getNumOperands() != right->getNumOperands())
      return false;
    for (unsigned i = 0; i < left->getNumOperands(); ++i) {
      if (!same(left->getOperand(i).get(), right->getOperand(i).get())) return false;
    }
    return true;
  }

  const llvm::Function& left_;
  const llvm::Function& right_;
  const Classes& classes_;
  llvm::DenseMap<const llvm::Value*, const llvm::Value*> twin_;
  llvm::DenseMap<const llvm::MDNode*, const llvm::MDNode*> node_twin_, node_twin_back_;
};

}  // namespace

void merge_equal_functions(llvm::Module& module) {
  if (module.getNamedMetadata("llvm.dbg.cu") != nullptr) return;
  std::vector<llvm::Function*> candidates;
  llvm::MapVector<std::size_t, std::vector<const llvm::Function*>> groups;
  for (llvm::Function& function : module) {
    if (!is_candidate(function)) continue;
    candidates.push_back(&function);
    groups[look_of(function)].push_back(&function);
  }
  // Until nothing new is found: callers are equal when their callees have been found so. What is found equal is so on
  // the grounds of what has been found before.
  Classes classes;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [look, firsts] : groups) {
      std::vector<const llvm::Function*> kept;
      for (const llvm::Function* function : firsts) {
        const auto twin = llvm::find_if(
            kept, [&](const llvm::Function* first) { return Comparison(*first, *function, classes).equal(); });
        if (twin == kept.end()) {
          kept.push_back(function);
        } else {
          classes.join(*twin, function);
          changed = true;
        }
      }
      firsts = std::move(kept);
    }
  }
  for (llvm::Function* function : candidates) {
    auto* const first = const_cast<llvm::Function*>(classes.first_of(function));
    if (first == function || !may_stand_for_others(*function)) continue;
    function->replaceAllUsesWith(first);
    function->eraseFromParent();
  }
}

}  // namespace sdfg::compiler
