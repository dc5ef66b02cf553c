// Tokens give the names that a C++ tasklet mentions; its syntax tree tells what it does with those it was given.
#include "compile/clang/cpp_analysis.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/DynamicRecursiveASTVisitor.h>
#include <clang/AST/ParentMapContext.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Lex/Lexer.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <map>
#include <set>

#include "compile/clang/compat.hpp"
#include "compile/clang/cpp_prelude.hpp"

namespace sdfg::compiler {

namespace {

using tasklet::CppFacts;
using tasklet::CppName;
using tasklet::CppTask;

constexpr const char* kFunction = "sdfg_analysed_tasklet";

clang::LangOptions language() {
  clang::LangOptions options;
  options.CPlusPlus = options.CPlusPlus11 = options.CPlusPlus14 = options.CPlusPlus17 = options.CPlusPlus20 = true;
  options.Bool = options.LineComment = true;
  return options;
}

struct Mentions {
  std::set<std::string> names;  // not keywords, not members, not qualified
  bool has_preprocessor = false;
};

Mentions mentions_in(const std::string& text) {
  Mentions found;
  const clang::LangOptions options = language();
  clang::IdentifierTable identifiers(options);
  clang::Lexer lexer(clang::SourceLocation(), options, text.data(), text.data(), text.data() + text.size());
  clang::tok::TokenKind before = clang::tok::unknown;
  clang::Token token;
  while (true) {
    lexer.LexFromRawLexer(token);
    if (token.is(clang::tok::eof)) break;
    if (token.is(clang::tok::hash) && token.isAtStartOfLine()) found.has_preprocessor = true;
    if (token.is(clang::tok::raw_identifier)) {
      const std::string name = token.getRawIdentifier().str();
      const bool member =
          before == clang::tok::period || before == clang::tok::arrow || before == clang::tok::coloncolon;
      if (!member && identifiers.get(name).getTokenID() == clang::tok::identifier) found.names.insert(name);
    }
    before = token.getKind();
  }
  return found;
}

struct Usage {
  bool read = false;
  bool written = false;
};

// Finds what the function's body does with each parameter.
class Visitor final : public clang::DynamicRecursiveASTVisitor {
 public:
  Visitor(clang::ASTContext& context, const clang::FunctionDecl& function) : context_(context), function_(function) {
    ShouldVisitImplicitCode = true;  // captures of lambdas, converting constructors: code too
  }

  std::map<std::string, Usage> usages;
  std::set<std::string> locals;
  bool side_effects = false;

  bool VisitVarDecl(clang::VarDecl* variable) override {
    locals.insert(variable->getNameAsString());
    if (variable->isStaticLocal() || variable->getType().isVolatileQualified()) side_effects = true;
    return true;
  }
  bool VisitNamedDecl(clang::NamedDecl* declaration) override {
    if (declaration->getIdentifier() != nullptr) locals.insert(declaration->getNameAsString());
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) override {
    if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(reference->getDecl())) {
      if (parameter->getDeclContext() == &function_) {
        const Usage usage = usage_of(reference);
        Usage& total = usages[parameter->getNameAsString()];
        total.read |= usage.read;
        total.written |= usage.written;
        return true;
      }
    }
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    if (variable != nullptr && variable->hasGlobalStorage() && usage_of(reference).written) side_effects = true;
    return true;
  }
  bool VisitCallExpr(clang::CallExpr* call) override {
    if (!is_pure(call->getDirectCallee())) side_effects = true;
    return true;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* construct) override {
    const clang::CXXConstructorDecl* constructor = construct->getConstructor();
    if (!constructor->isTrivial() && !is_pure(constructor)) side_effects = true;
    return true;
  }
  bool VisitCXXThrowExpr(clang::CXXThrowExpr*) override { return effect(); }
  bool VisitCXXNewExpr(clang::CXXNewExpr*) override { return effect(); }
  bool VisitCXXDeleteExpr(clang::CXXDeleteExpr*) override { return effect(); }
  bool VisitAsmStmt(clang::AsmStmt*) override { return effect(); }
  bool VisitReturnStmt(clang::ReturnStmt* statement) override {
    // Inside a lambda it ends the lambda; in the tasklet's own body it would end the generated function.
    if (!inside_lambda(statement)) side_effects = true;
    return true;
  }
  bool VisitImplicitCastExpr(clang::ImplicitCastExpr* cast) override {
    if (cast->getCastKind() == clang::CK_LValueToRValue && cast->getSubExpr()->getType().isVolatileQualified())
      effect();
    return true;
  }

 private:
  bool effect() {
    side_effects = true;
    return true;
  }

  bool is_pure(const clang::FunctionDecl* callee) const {
    if (callee == nullptr) return false;
    const clang::SourceManager& sources = context_.getSourceManager();
    if (callee->getLocation().isValid() &&
        sources.getFileOffset(sources.getExpansionLoc(callee->getLocation())) < analysis_prelude().size()) {
      return true;
    }
    if (callee->hasAttr<clang::ConstAttr>() || callee->hasAttr<clang::PureAttr>()) return true;
    if (const unsigned builtin = callee->getBuiltinID(); builtin != 0) return context_.BuiltinInfo.isConst(builtin);
    // A lambda's body is part of the tasklet and looked at where it stands; a trivial special member does nothing else.
    if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(callee)) {
      if (method->getParent()->isLambda()) return true;
      if (method->isDefaulted() && method->isTrivial()) return true;
    }
    return false;
  }

  bool inside_lambda(const clang::Stmt* statement) {
    clang::DynTypedNode node = clang::DynTypedNode::create(*statement);
    while (true) {
      const auto parents = context_.getParents(node);
      if (parents.empty()) return false;
      node = parents[0];
      if (node.get<clang::LambdaExpr>() != nullptr) return true;
      if (const auto* method = node.get<clang::CXXMethodDecl>(); method != nullptr && method->getParent()->isLambda())
        return true;
      if (node.get<clang::FunctionDecl>() == &function_) return false;
    }
  }

  static constexpr Usage kRead{.read = true};
  static constexpr Usage kWritten{.written = true};
  static constexpr Usage kBoth{.read = true, .written = true};

  static bool is_pointer_to_const(clang::QualType type) {
    return type->isPointerType() && type->getPointeeType().isConstQualified();
  }

  // What happens when a value or object of `from` initialises something of type `to`.
  static Usage usage_by_binding(clang::QualType to) {
    if (to->isReferenceType()) return to->getPointeeType().isConstQualified() ? kRead : kBoth;
    if (to->isPointerType()) return is_pointer_to_const(to) ? kRead : kBoth;
    return kRead;
  }

  static Usage usage_as_argument(const clang::CallExpr& call, unsigned index) {
    const clang::FunctionDecl* callee = call.getDirectCallee();
    if (callee != nullptr && index < callee->getNumParams())
      return usage_by_binding(callee->getParamDecl(index)->getType());
    return kBoth;
  }

  Usage usage_in_operator(const clang::CXXOperatorCallExpr& call, const clang::Expr* current) const {
    const bool is_first = call.getNumArgs() > 0 && call.getArg(0) == current;
    if (is_first && call.getOperator() == clang::OO_Equal) return kWritten;
    if (is_first && call.isAssignmentOp()) return kBoth;
    for (unsigned i = 0; i < call.getNumArgs(); ++i) {
      if (call.getArg(i) != current) continue;
      const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(call.getDirectCallee());
      if (method == nullptr) return usage_as_argument(call, i);
      if (i == 0) return method->isConst() ? kRead : kBoth;
      return i - 1 < method->getNumParams() ? usage_by_binding(method->getParamDecl(i - 1)->getType()) : kBoth;
    }
    return kBoth;
  }

  // Climbs from a name to the expression that decides: `*(p + 1) = x` writes what p points to, `f(p[i])` may read it.
  // `indirect`: the climb has gone from a pointer to what it points to.
  Usage usage_of(const clang::Expr* name) {
    const clang::Expr* current = name;
    while (true) {
      const auto parents = context_.getParents(*current);
      if (parents.size() != 1) return kBoth;
      if (const auto* variable = parents[0].get<clang::VarDecl>()) return usage_by_binding(variable->getType());
      const auto* statement = parents[0].get<clang::Stmt>();
      if (statement == nullptr) return kBoth;
      const auto* parent = llvm::dyn_cast<clang::Expr>(statement);
      if (parent == nullptr)
        return llvm::isa<clang::ReturnStmt>(statement) ? kBoth : kRead;  // evaluated and dropped or tested

      if (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(parent)) {
        if (cast->getCastKind() == clang::CK_LValueToRValue && !cast->getType()->isPointerType()) return kRead;
        if (cast->getCastKind() == clang::CK_PointerToBoolean) return kRead;
      } else if (const auto* assignment = llvm::dyn_cast<clang::BinaryOperator>(parent); assignment != nullptr) {
        if (assignment->isAssignmentOp()) {
          if (assignment->getLHS() != current) return kBoth;  // a pointer that goes somewhere
          // A pointer parameter that is moved is not written through.
          if (current->getType()->isPointerType()) return kRead;
          return assignment->isCompoundAssignmentOp() ? kBoth : kWritten;
        }
        if (assignment->getOpcode() == clang::BO_Comma) {
          if (assignment->getLHS() == current) return kRead;
        } else if (!assignment->isAdditiveOp()) {
          return kRead;  // comparisons of pointers
        } else if (!assignment->getType()->isPointerType()) {
          return kRead;  // difference of pointers
        }
      } else if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(parent)) {
        if (unary->isIncrementDecrementOp()) {
          if (!current->getType()->isPointerType()) return kBoth;
        } else if (unary->getOpcode() == clang::UO_LNot) {
          return kRead;
        }
      } else if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(parent)) {
        return usage_in_operator(*call, current);
      } else if (const auto* member_call = llvm::dyn_cast<clang::CXXMemberCallExpr>(parent)) {
        for (unsigned i = 0; i < member_call->getNumArgs(); ++i) {
          if (member_call->getArg(i) == current) return usage_as_argument(*member_call, i);
        }
        return member_call->getMethodDecl() != nullptr && member_call->getMethodDecl()->isConst() ? kRead : kBoth;
      } else if (const auto* plain_call = llvm::dyn_cast<clang::CallExpr>(parent)) {
        for (unsigned i = 0; i < plain_call->getNumArgs(); ++i) {
          if (plain_call->getArg(i) == current) return usage_as_argument(*plain_call, i);
        }
        return kRead;  // the callee itself
      } else if (const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(parent)) {
        for (unsigned i = 0; i < construct->getNumArgs(); ++i) {
          if (construct->getArg(i) == current)
            return usage_by_binding(construct->getConstructor()->getParamDecl(i)->getType());
        }
        return kBoth;
      } else if (llvm::isa<clang::UnaryExprOrTypeTraitExpr>(parent)) {
        return {};
      } else if (const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(parent)) {
        (void)lambda;
        return {};  // the capture; uses in the lambda's body are seen there
      } else if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(parent)) {
        if (subscript->getIdx() == current) return kRead;
      } else if (!llvm::isa<clang::ParenExpr, clang::MemberExpr, clang::ExplicitCastExpr,
                            clang::AbstractConditionalOperator, clang::MaterializeTemporaryExpr,
                            clang::ExprWithCleanups, clang::ExtVectorElementExpr>(parent)) {
        return kBoth;
      }
      current = parent;
    }
  }

  clang::ASTContext& context_;
  const clang::FunctionDecl& function_;
};

class Consumer final : public clang::ASTConsumer {
 public:
  explicit Consumer(std::unique_ptr<Visitor>& visitor) : visitor_(visitor) {}
  void HandleTranslationUnit(clang::ASTContext& context) override {
    for (clang::Decl* declaration : context.getTranslationUnitDecl()->decls()) {
      auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
      if (function == nullptr || function->getNameAsString() != kFunction || !function->hasBody()) continue;
      visitor_ = std::make_unique<Visitor>(context, *function);
      visitor_->TraverseStmt(function->getBody());
    }
  }

 private:
  std::unique_ptr<Visitor>& visitor_;
};

class Action final : public clang::ASTFrontendAction {
 public:
  explicit Action(std::unique_ptr<Visitor>& visitor) : visitor_(visitor) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<Consumer>(visitor_);
  }

 private:
  std::unique_ptr<Visitor>& visitor_;
};

// The tasklet as the body of a function whose parameters are its connectors and symbols.
std::string function_text(const CppTask& task) {
  std::string declarations;
  std::vector<std::string> declared;
  std::string parameters;
  for (const CppName& name : task.names) {
    if (name.type.is_void()) continue;
    if (!parameters.empty()) parameters += ", ";
    parameters += spelling(name.type, declarations, declared);
    const bool by_reference = name.role == CppName::Role::kOutput || name.role == CppName::Role::kInOut;
    parameters += name.is_pointer ? "* " : by_reference ? "& " : " ";
    parameters += name.name;
  }
  return analysis_prelude() + declarations + task.global_text + "\nvoid " + kFunction + "(" + parameters + ") {{\n" +
         task.text + "\n}}\n";
}

bool contains(const std::vector<std::string>& sorted, const std::string& name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

}  // namespace

CppFacts facts_from_tokens(const CppTask& task) {
  const Mentions mentions = mentions_in(task.text);
  CppFacts facts;
  facts.has_preprocessor = mentions.has_preprocessor;
  facts.side_effects = true;
  std::set<std::string> known;
  for (const CppName& name : task.names) {
    known.insert(name.name);
    if (!mentions.names.contains(name.name)) continue;
    facts.reads.push_back(name.name);
    const bool may_write = name.role == CppName::Role::kOutput || name.role == CppName::Role::kInOut ||
                           (name.is_pointer && name.role != CppName::Role::kSymbol);
    if (may_write) facts.writes.push_back(name.name);
  }
  std::sort(facts.reads.begin(), facts.reads.end());
  std::sort(facts.writes.begin(), facts.writes.end());
  std::set_difference(mentions.names.begin(), mentions.names.end(), known.begin(), known.end(),
                      std::back_inserter(facts.free_names));
  return facts;
}

CppFacts facts_from_syntax(const CppTask& task) {
  CppFacts facts = facts_from_tokens(task);
  const std::string text = function_text(task);
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  files->addFile("tasklet.cpp", 0, llvm::MemoryBuffer::getMemBuffer(text, "tasklet.cpp"));
  clang::IgnoringDiagConsumer silent;
  clang::DiagnosticOptions diagnostic_options;
  auto diagnostics =
      clang::CompilerInstance::createDiagnostics(*files, diagnostic_options, &silent, /*ShouldOwnClient=*/false);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  const std::vector<const char*> args = {"-triple",
                                         "x86_64-pc-linux-gnu",
                                         "-std=c++20",
                                         "-x",
                                         "c++",
                                         "-fsyntax-only",
                                         "-nostdsysteminc",
                                         "-nobuiltininc",
                                         "-fgnuc-version=4.2.1",
                                         "-w",
                                         "-target-feature",
                                         "+avx512fp16",
                                         "-ferror-limit",
                                         "0"};
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, args, *diagnostics)) return facts;
  invocation->getFrontendOpts().Inputs = {
      clang::FrontendInputFile("tasklet.cpp", clang::InputKind(clang::Language::CXX))};
  auto instance = make_instance(std::move(invocation), std::move(files), silent);
  std::unique_ptr<Visitor> visitor;
  Action action(visitor);
  instance->ExecuteAction(action);
  if (!visitor) return facts;

  // Locals are certain even where other parts did not parse: they only make the answer safer.
  facts.locals.assign(visitor->locals.begin(), visitor->locals.end());
  std::erase_if(facts.free_names, [&](const std::string& name) { return contains(facts.locals, name); });
  const bool understood =
      !instance->getDiagnostics().hasErrorOccurred() && !facts.has_preprocessor &&
      std::none_of(task.names.begin(), task.names.end(), [](const CppName& name) { return name.type.is_void(); });
  if (!understood) return facts;

  facts.side_effects = visitor->side_effects;
  facts.reads.clear();
  facts.writes.clear();
  for (const CppName& name : task.names) {
    const auto found = visitor->usages.find(name.name);
    if (found == visitor->usages.end()) continue;
    if (found->second.read) facts.reads.push_back(name.name);
    // A value that comes in is the tasklet's own copy; writing it has no effect outside.
    const bool own_copy =
        !name.is_pointer && (name.role == CppName::Role::kInput || name.role == CppName::Role::kSymbol);
    if (found->second.written && !own_copy) facts.writes.push_back(name.name);
  }
  std::sort(facts.reads.begin(), facts.reads.end());
  std::sort(facts.writes.begin(), facts.writes.end());
  return facts;
}

}  // namespace sdfg::compiler
