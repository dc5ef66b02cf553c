// Finds the accesses of a module and routes them through the emulator's table.
#include "compile/clang/check_memory.hpp"

#include "codegen/emulator_table.hpp"

namespace sdfg::compiler {

namespace {

using codegen::EmulatorEntry;

constexpr const char* kSlot = "sdfg_emulator";

// Helpers (sdfg_*, warp intrinsics) are C++ functions with mangled names; kernels and entries have C linkage. A line
// inside a helper says little, so the place of its call is reported.
bool is_helper(const llvm::DISubprogram* program) {
  return program != nullptr && !program->getLinkageName().empty() &&
         (program->getName().starts_with("sdfg_") || program->getName().starts_with("__"));
}

std::uint32_t line_of(const llvm::Instruction& instruction) {
  const llvm::DILocation* place = instruction.getDebugLoc().get();
  std::uint32_t line = 0;
  for (; place != nullptr; place = place->getInlinedAt()) {
    if (place->getLine() != 0) line = place->getLine();
    if (!is_helper(place->getScope()->getSubprogram()) && line != 0) break;
  }
  if (line == 0) {
    if (const llvm::DISubprogram* program = instruction.getFunction()->getSubprogram()) line = program->getLine();
  }
  return line;
}

class Checker {
 public:
  Checker(llvm::Module& module, MemoryChecks checks)
      : layout_(module.getDataLayout()), context_(module.getContext()), kernels_(checks == MemoryChecks::kKernel) {
    word_ = llvm::Type::getInt64Ty(context_);
    half_ = llvm::Type::getInt32Ty(context_);
    pointer_ = llvm::PointerType::get(context_, 0);
    slot_ = module.getGlobalVariable(kSlot);
    if (slot_ == nullptr) {
      llvm::Type* type = llvm::PointerType::get(context_, 1);
      slot_ = new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::ExternalLinkage,
                                       llvm::Constant::getNullValue(type), kSlot);
    }
  }

  void check(llvm::Function& function) {
    std::vector<llvm::Instruction*> accesses;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (llvm::isa<llvm::LoadInst, llvm::StoreInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst, llvm::MemIntrinsic>(
              instruction)) {
        accesses.push_back(&instruction);
      }
    }
    std::vector<llvm::Instruction*> turns;
    if (kernels_) {
      const llvm::DominatorTree dominators(function);
      const llvm::LoopInfo loops(dominators);
      for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
        llvm::SmallVector<llvm::BasicBlock*, 4> latches;
        loop->getLoopLatches(latches);
        for (llvm::BasicBlock* latch : latches) turns.push_back(latch->getTerminator());
      }
    }
    if (accesses.empty() && turns.empty()) return;
    llvm::IRBuilder<> entry(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    table_ = entry.CreateLoad(slot_->getValueType(), slot_);
    for (llvm::Instruction* access : accesses) {
      if (auto* whole = llvm::dyn_cast<llvm::MemIntrinsic>(access)) {
        check_range(*whole);
      } else {
        check_access(*access);
      }
    }
    for (llvm::Instruction* turn : turns) {
      llvm::IRBuilder<> builder(turn);
      call(builder, EmulatorEntry::tick, builder.getVoidTy(), {llvm::ConstantInt::get(half_, line_of(*turn))});
    }
  }

 private:
  llvm::CallInst* call(llvm::IRBuilder<>& builder, EmulatorEntry entry, llvm::Type* result,
                       llvm::ArrayRef<llvm::Value*> arguments) {
    llvm::SmallVector<llvm::Type*, 4> types;
    for (const llvm::Value* argument : arguments) types.push_back(argument->getType());
    llvm::Value* at = builder.CreateConstInBoundsGEP1_32(builder.getPtrTy(), table_, static_cast<unsigned>(entry));
    llvm::Value* function = builder.CreateLoad(pointer_, at);
    return builder.CreateCall(llvm::FunctionType::get(result, types, false), function, arguments);
  }

  llvm::Constant* what(const llvm::Instruction& access, std::uint64_t bytes, bool writes, bool atomic,
                       llvm::Align alignment) const {
    std::uint64_t packed = std::min(bytes, codegen::kAccessSizeMask);
    if (writes) packed |= codegen::kAccessWrite;
    if (atomic) packed |= codegen::kAccessAtomic;
    packed |= std::min<std::uint64_t>(llvm::Log2(alignment), codegen::kAccessAlignmentMask)
              << codegen::kAccessAlignmentShift;
    packed |= std::uint64_t{line_of(access)} << codegen::kAccessLineShift;
    return llvm::ConstantInt::get(word_, packed);
  }

  // The thread's own variable, a constant of the module, or memory of the prelude.
  bool is_own(const llvm::Value* object, bool writes) const {
    if (object->getType()->getPointerAddressSpace() != 0 || llvm::isa<llvm::AllocaInst>(object)) return true;
    const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(object);
    return global != nullptr && (!kernels_ || global == slot_ || !writes);
  }

  bool is_own_memory(const llvm::Value* pointer, bool writes) const {
    if (pointer->getType()->getPointerAddressSpace() != 0) return true;
    llvm::SmallVector<const llvm::Value*, 4> objects;
    llvm::getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
    return llvm::all_of(objects, [&](const llvm::Value* object) { return is_own(object, writes); });
  }

  // Bytes of the variable or constant behind a pointer, if that is one and known.
  std::optional<std::uint64_t> extent_of(const llvm::Value* object) const {
    if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(object)) {
      const std::optional<llvm::TypeSize> size = variable->getAllocationSize(layout_);
      if (size && !size->isScalable()) return size->getFixedValue();
    } else if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(object)) {
      return layout_.getTypeAllocSize(global->getValueType()).getFixedValue();
    }
    return std::nullopt;
  }

  void check_own(llvm::Instruction& access, llvm::Use& pointer, std::uint64_t bytes, llvm::Constant* packed) {
    if (!kernels_) return;
    llvm::Value* object = llvm::getUnderlyingObject(pointer.get(), 0);
    if (object->getType()->getPointerAddressSpace() != 0) return;
    const std::optional<std::uint64_t> extent = extent_of(object);
    if (!extent) return;
    llvm::APInt offset(64, 0);
    const llvm::Value* base = pointer->stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true);
    if (base == object && !offset.isNegative() && offset.getZExtValue() + bytes <= *extent) return;
    llvm::IRBuilder<> builder(&access);
    pointer.set(call(builder, EmulatorEntry::object_access, pointer_,
                     {pointer.get(), packed, object, llvm::ConstantInt::get(word_, *extent)}));
  }

  void check_access(llvm::Instruction& access) {
    unsigned operand = 0;
    llvm::Type* type = nullptr;
    llvm::Align alignment;
    bool reads = false;
    bool writes = true;
    bool atomic = false;
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&access)) {
      operand = llvm::LoadInst::getPointerOperandIndex();
      type = load->getType();
      alignment = load->getAlign();
      reads = true;
      writes = false;
      atomic = load->isAtomic();
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&access)) {
      operand = llvm::StoreInst::getPointerOperandIndex();
      type = store->getValueOperand()->getType();
      alignment = store->getAlign();
      atomic = store->isAtomic();
    } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&access)) {
      operand = llvm::AtomicRMWInst::getPointerOperandIndex();
      type = update->getValOperand()->getType();
      alignment = update->getAlign();
      reads = atomic = true;
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&access)) {
      operand = llvm::AtomicCmpXchgInst::getPointerOperandIndex();
      type = exchange->getNewValOperand()->getType();
      alignment = exchange->getAlign();
      reads = atomic = true;
    }
    static_cast<void>(reads);
    llvm::Use& pointer = access.getOperandUse(operand);
    const std::uint64_t bytes = layout_.getTypeStoreSize(type).getFixedValue();
    llvm::Constant* packed = what(access, bytes, writes, atomic, alignment);
    if (is_own_memory(pointer.get(), writes)) return check_own(access, pointer, bytes, packed);
    llvm::IRBuilder<> builder(&access);
    pointer.set(call(builder, kernels_ ? EmulatorEntry::access : EmulatorEntry::host_access, pointer_,
                     {pointer.get(), packed}));
  }

  void check_range(llvm::MemIntrinsic& access) {
    auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&access);
    const bool own_to = is_own_memory(access.getRawDest(), true);
    const bool own_from = transfer == nullptr || is_own_memory(transfer->getRawSource(), false);
    if (own_to && own_from) return;
    llvm::IRBuilder<> builder(&access);
    llvm::Constant* packed = what(access, 0, true, false, llvm::Align(1));
    llvm::Value* bytes = builder.CreateZExtOrTrunc(access.getLength(), word_);
    if (!kernels_) {
      if (!own_to)
        access.setDest(call(builder, EmulatorEntry::host_range, pointer_, {access.getRawDest(), bytes, packed}));
      if (!own_from) {
        llvm::Constant* read = what(access, 0, false, false, llvm::Align(1));
        transfer->setSource(
            call(builder, EmulatorEntry::host_range, pointer_, {transfer->getRawSource(), bytes, read}));
      }
      return;
    }
    if (transfer != nullptr) {
      call(builder, EmulatorEntry::copy, builder.getVoidTy(),
           {access.getRawDest(), transfer->getRawSource(), bytes, packed});
    } else {
      auto& fill = llvm::cast<llvm::MemSetInst>(access);
      call(builder, EmulatorEntry::fill, builder.getVoidTy(),
           {access.getRawDest(), builder.CreateZExt(fill.getValue(), half_), bytes, packed});
    }
    access.eraseFromParent();
  }

  const llvm::DataLayout& layout_;
  llvm::LLVMContext& context_;
  bool kernels_;
  llvm::Type* word_ = nullptr;
  llvm::Type* half_ = nullptr;
  llvm::PointerType* pointer_ = nullptr;
  llvm::GlobalVariable* slot_ = nullptr;
  llvm::Value* table_ = nullptr;
};

}  // namespace

void check_memory(llvm::Module& module, MemoryChecks checks) {
  if (checks == MemoryChecks::kNone) return;
  Checker checker(module, checks);
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) checker.check(function);
  }
}

}  // namespace sdfg::compiler
