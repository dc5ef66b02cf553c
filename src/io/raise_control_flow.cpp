// Structured control flow from dominators, natural loops and merge points; then clean-up into while loops.
#include "io/raise_control_flow.hpp"

#include <algorithm>
#include <sdfg/error.hpp>
#include <set>

namespace sdfg::io {

namespace {

using dace::InterstateEdge;
using dace::Region;

bool unconditional(const InterstateEdge& e) {
  std::string text = e.condition.text;
  std::erase_if(text, [](char c) { return c == ' ' || c == '(' || c == ')' || c == '\n'; });
  return text.empty() || text == "1" || text == "True" || text == "true";
}

class Raiser {
 public:
  Raiser(const Region& region, const std::string& path, const RaiseHooks& hooks)
      : region_(region), path_(path), hooks_(hooks) {}

  FlowList run() {
    if (region_.blocks.empty()) return {};
    start_ = find_start();
    collect_edges();
    order_blocks();
    FlowList out;
    if (!is_reducible()) {
      out.push_back({dispatch()});
      return out;
    }
    find_loops();
    place_blocks();
    FlowList body;
    tree(start_, body, 0);
    FlowLabel whole{kEnd, std::move(body)};
    out.push_back({std::move(whole)});
    drop_trivial(out);
    // Each round can expose a further shape: a dropped jump makes a tail, a tail makes a loop.
    for (int round = 0; round < 4; ++round) {
      retarget_breaks(out);
      trim_tails(out, {});
      splice_labels(out);
      make_while(out);
    }
    return out;
  }

 private:
  // Branches, labels and loops inside one another; everything behind this walks them recursively.
  static constexpr int kMaxDepth = 1000;
  static constexpr int kEnd = 0;  // label of the region's end; blocks and loops use 2 b + 1 and 2 b + 2
  static int block_label(int b) { return 2 * b + 1; }
  static int loop_label(int b) { return 2 * b + 2; }

  // A single block without predecessors starts; otherwise the stored index decides.
  int find_start() const {
    std::vector<bool> has_pred(region_.blocks.size(), false);
    for (const InterstateEdge& e : region_.edges) has_pred[static_cast<std::size_t>(e.dst)] = true;
    std::vector<int> sources;
    for (std::size_t i = 0; i < has_pred.size(); ++i) {
      if (!has_pred[i]) sources.push_back(static_cast<int>(i));
    }
    if (sources.size() == 1) return sources.front();
    if (region_.start) return *region_.start;
    if (sources.empty()) return 0;
    throw Error(ErrorClass::kGraph, "it is not clear where the region starts: blocks " + std::to_string(sources[0]) +
                                        " and " + std::to_string(sources[1]) + " have no predecessor (at " + path_ +
                                        ")");
  }

  // Out-edges in stored order; the first unconditional one ends the list, a complement of the only condition before it
  // counts as one.
  void collect_edges() {
    out_.resize(region_.blocks.size());
    for (const InterstateEdge& e : region_.edges)
      out_[static_cast<std::size_t>(e.src)].push_back({&e, unconditional(e)});
    for (std::size_t b = 0; b < out_.size(); ++b) {
      auto& edges = out_[b];
      if (hooks_.ends(region_.blocks[b])) {
        edges.clear();
        continue;
      }
      std::stable_sort(edges.begin(), edges.end(),
                       [](const Out& x, const Out& y) { return !x.otherwise && y.otherwise; });
      if (edges.size() == 2 && !edges[1].otherwise &&
          hooks_.complementary(edges[0].edge->condition, edges[1].edge->condition))
        edges[1].otherwise = true;
      for (std::size_t i = 0; i < edges.size(); ++i) {
        if (edges[i].otherwise) {
          edges.resize(i + 1);
          break;
        }
      }
    }
  }

  void order_blocks() {
    const std::size_t n = region_.blocks.size();
    rank_.assign(n, -1);
    std::vector<int> post;
    std::vector<char> seen(n, 0);
    std::vector<std::pair<int, std::size_t>> stack{{start_, 0}};
    seen[static_cast<std::size_t>(start_)] = 1;
    while (!stack.empty()) {
      auto& [b, next] = stack.back();
      const auto& edges = out_[static_cast<std::size_t>(b)];
      if (next < edges.size()) {
        // Last edge first, so that the first one comes first in reverse post-order.
        const int t = edges[edges.size() - 1 - next++].edge->dst;
        if (!seen[static_cast<std::size_t>(t)]) {
          seen[static_cast<std::size_t>(t)] = 1;
          stack.emplace_back(t, 0);
        }
      } else {
        post.push_back(b);
        stack.pop_back();
      }
    }
    order_.assign(post.rbegin(), post.rend());
    for (std::size_t i = 0; i < order_.size(); ++i) rank_[static_cast<std::size_t>(order_[i])] = static_cast<int>(i);
    preds_.assign(n, {});
    for (const int b : order_) {
      for (const Out& o : out_[static_cast<std::size_t>(b)]) preds_[static_cast<std::size_t>(o.edge->dst)].push_back(b);
    }
    // Immediate dominators by iteration over the reverse post-order (Cooper, Harvey, Kennedy).
    idom_.assign(n, -1);
    idom_[static_cast<std::size_t>(start_)] = start_;
    for (bool changed = true; changed;) {
      changed = false;
      for (const int b : order_) {
        if (b == start_) continue;
        int best = -1;
        for (const int p : preds_[static_cast<std::size_t>(b)]) {
          if (idom_[static_cast<std::size_t>(p)] < 0) continue;
          best = best < 0 ? p : meet(best, p);
        }
        if (best >= 0 && idom_[static_cast<std::size_t>(b)] != best) {
          idom_[static_cast<std::size_t>(b)] = best;
          changed = true;
        }
      }
    }
  }
  int meet(int a, int b) const {
    while (a != b) {
      while (rank(a) > rank(b)) a = idom_[static_cast<std::size_t>(a)];
      while (rank(b) > rank(a)) b = idom_[static_cast<std::size_t>(b)];
    }
    return a;
  }
  int rank(int b) const { return rank_[static_cast<std::size_t>(b)]; }
  bool dominates(int a, int b) const {
    while (rank(b) > rank(a)) b = idom_[static_cast<std::size_t>(b)];
    return a == b;
  }
  bool is_back_edge(int from, int to) const { return rank(to) <= rank(from); }
  bool is_reducible() const {
    for (const int b : order_) {
      for (const Out& o : out_[static_cast<std::size_t>(b)]) {
        if (is_back_edge(b, o.edge->dst) && !dominates(o.edge->dst, b)) return false;
      }
    }
    return true;
  }

  // Natural loops: header -> all blocks that reach a back edge without passing the header.
  void find_loops() {
    loops_.assign(region_.blocks.size(), {});
    for (const int b : order_) {
      for (const Out& o : out_[static_cast<std::size_t>(b)]) {
        const int header = o.edge->dst;
        if (!is_back_edge(b, header)) continue;
        auto& members = loops_[static_cast<std::size_t>(header)];
        members.insert(header);
        std::vector<int> work{b};
        while (!work.empty()) {
          const int x = work.back();
          work.pop_back();
          if (!members.insert(x).second) continue;
          for (const int p : preds_[static_cast<std::size_t>(x)]) work.push_back(p);
        }
      }
    }
  }
  bool is_header(int b) const { return !loops_[static_cast<std::size_t>(b)].empty(); }

  // Where each block is printed: below its immediate dominator, but behind every loop that it is not part of.
  void place_blocks() {
    inner_.assign(region_.blocks.size(), {});
    after_.assign(region_.blocks.size(), {});
    merge_.assign(region_.blocks.size(), false);
    std::vector<std::vector<int>> around(region_.blocks.size());  // headers of the loops of each block, outermost first
    for (const int header : order_) {
      for (const int member : loops_[static_cast<std::size_t>(header)])
        around[static_cast<std::size_t>(member)].push_back(header);
    }
    for (const int b : order_) {
      if (b == start_) continue;
      int forward = 0;
      for (const int p : preds_[static_cast<std::size_t>(b)]) {
        if (!is_back_edge(p, b)) ++forward;
      }
      int parent = idom_[static_cast<std::size_t>(b)];
      bool behind_loop = false;
      // The outermost loop around the parent that does not contain the block.
      for (const int header : around[static_cast<std::size_t>(parent)]) {
        if (loops_[static_cast<std::size_t>(header)].contains(b)) continue;
        parent = header;
        behind_loop = true;
        break;
      }
      merge_[static_cast<std::size_t>(b)] = forward > 1 || behind_loop;
      if (behind_loop)
        after_[static_cast<std::size_t>(parent)].push_back(b);
      else if (forward > 1)
        inner_[static_cast<std::size_t>(parent)].push_back(b);
    }
    auto later_first = [this](int x, int y) { return rank(x) > rank(y); };
    for (auto& list : inner_) std::sort(list.begin(), list.end(), later_first);
    for (auto& list : after_) std::sort(list.begin(), list.end(), later_first);
  }

  // A block, all that it dominates, and what follows. What follows in the same list is a step of the loop here, so
  // that only real nesting costs stack: state machines of many thousand blocks are usual.
  void tree(int b, FlowList& out, int depth) {
    if (depth > kMaxDepth) {
      throw Error(ErrorClass::kLimit, "the control flow of a region is nested more than " + std::to_string(kMaxDepth) +
                                          " deep (at " + path_ + ")");
    }
    while (b >= 0) b = wrap(b, after_[static_cast<std::size_t>(b)], 0, out, &Raiser::loop_or_body, depth);
  }
  // label_Y { ...rest... } Y. Returns the block that is to follow; -1: none.
  int wrap(int b, const std::vector<int>& targets, std::size_t next, FlowList& out,
           int (Raiser::*core)(int, FlowList&, int), int depth) {
    if (next == targets.size()) return (this->*core)(b, out, depth);
    const int y = targets[next];
    FlowLabel label{block_label(y), {}};
    const int follows = wrap(b, targets, next + 1, label.body, core, depth + 1);
    tree(follows, label.body, depth + 1);
    out.push_back({std::move(label)});
    return y;
  }
  int loop_or_body(int b, FlowList& out, int depth) {
    if (!is_header(b)) return within(b, out, depth);
    FlowLoop loop;
    loop.label = loop_label(b);
    tree(within(b, loop.body, depth + 1), loop.body, depth + 1);
    out.push_back({std::move(loop)});
    return -1;
  }
  int within(int b, FlowList& out, int depth) {
    return wrap(b, inner_[static_cast<std::size_t>(b)], 0, out, &Raiser::content, depth);
  }
  int content(int b, FlowList& out, int depth) {
    out.push_back({FlowVisit{b}});
    const auto& edges = out_[static_cast<std::size_t>(b)];
    if (edges.empty()) {
      if (!hooks_.ends(region_.blocks[static_cast<std::size_t>(b)]))
        out.push_back({FlowJump{FlowJump::Kind::kBreak, kEnd}});
      return -1;
    }
    if (edges.front().otherwise) return follow(b, *edges.front().edge, out);
    FlowBranch branch;
    for (const Out& o : edges) {
      FlowBranch::Arm arm;
      if (!o.otherwise) arm.condition = &o.edge->condition;
      tree(follow(b, *o.edge, arm.body), arm.body, depth + 1);
      branch.arms.push_back(std::move(arm));
    }
    if (!edges.back().otherwise) {  // nothing matches: the region ends
      FlowBranch::Arm arm;
      arm.body.push_back({FlowJump{FlowJump::Kind::kBreak, kEnd}});
      branch.arms.push_back(std::move(arm));
    }
    out.push_back({std::move(branch)});
    return -1;
  }
  int follow(int from, const InterstateEdge& e, FlowList& out) {
    if (!e.assignments.empty()) out.push_back({FlowAssign{&e}});
    if (is_back_edge(from, e.dst)) {
      out.push_back({FlowJump{FlowJump::Kind::kContinue, loop_label(e.dst)}});
    } else if (merge_[static_cast<std::size_t>(e.dst)]) {
      out.push_back({FlowJump{FlowJump::Kind::kBreak, block_label(e.dst)}});
    } else {
      return e.dst;
    }
    return -1;
  }

  FlowDispatch dispatch() const {
    FlowDispatch d;
    d.start = start_;
    for (const int b : order_) {
      FlowList part;
      if (!hooks_.is_trivial(region_.blocks[static_cast<std::size_t>(b)])) part.push_back({FlowVisit{b}});
      FlowBranch branch;
      const auto& edges = out_[static_cast<std::size_t>(b)];
      if (edges.empty()) part.push_back({FlowGoto{-1}});
      for (const Out& o : edges) {
        FlowList follow;
        if (!o.edge->assignments.empty()) follow.push_back({FlowAssign{o.edge}});
        follow.push_back({FlowGoto{o.edge->dst}});
        if (o.otherwise && branch.arms.empty()) {
          for (FlowNode& n : follow) part.push_back(std::move(n));
        } else {
          branch.arms.push_back({o.otherwise ? nullptr : &o.edge->condition, false, std::move(follow)});
        }
      }
      if (!branch.arms.empty()) {
        if (branch.arms.back().condition != nullptr) {
          FlowBranch::Arm arm;
          arm.body.push_back({FlowGoto{-1}});
          branch.arms.push_back(std::move(arm));
        }
        part.push_back({std::move(branch)});
      }
      d.parts.emplace_back(b, std::move(part));
    }
    return d;
  }

  // ---- clean-up
  // ------------------------------------------------------------------------------------------------------

  template <typename F>
  static void for_children(FlowNode& node, F&& visit) {
    if (auto* branch = std::get_if<FlowBranch>(&node.kind)) {
      for (auto& arm : branch->arms) visit(arm.body);
    } else if (auto* label = std::get_if<FlowLabel>(&node.kind)) {
      visit(label->body);
    } else if (auto* loop = std::get_if<FlowLoop>(&node.kind)) {
      visit(loop->body);
    }
  }

  void drop_trivial(FlowList& list) const {
    std::erase_if(list, [this](const FlowNode& n) {
      const auto* visit = std::get_if<FlowVisit>(&n.kind);
      return visit != nullptr && hooks_.is_trivial(region_.blocks[static_cast<std::size_t>(visit->block)]);
    });
    for (FlowNode& n : list) for_children(n, [this](FlowList& l) { drop_trivial(l); });
  }

  static void replace_jumps(FlowList& list, FlowJump from, FlowJump to) {
    for (FlowNode& n : list) {
      if (auto* jump = std::get_if<FlowJump>(&n.kind);
          jump != nullptr && jump->kind == from.kind && jump->label == from.label)
        *jump = to;
      for_children(n, [&](FlowList& l) { replace_jumps(l, from, to); });
    }
  }
  static bool uses_label(const FlowList& list, int label) {
    for (const FlowNode& n : list) {
      if (const auto* jump = std::get_if<FlowJump>(&n.kind); jump != nullptr && jump->label == label) return true;
      bool found = false;
      for_children(const_cast<FlowNode&>(n), [&](FlowList& l) { found = found || uses_label(l, label); });
      if (found) return true;
    }
    return false;
  }

  // A break to a label whose body ends with a loop is a break of that loop, when it comes from inside it.
  static void retarget_breaks(FlowList& list) {
    for (FlowNode& n : list) {
      if (auto* label = std::get_if<FlowLabel>(&n.kind); label != nullptr && !label->body.empty()) {
        if (auto* loop = std::get_if<FlowLoop>(&label->body.back().kind)) {
          replace_jumps(loop->body, {FlowJump::Kind::kBreak, label->label}, {FlowJump::Kind::kBreak, loop->label});
        }
      }
      for_children(n, [](FlowList& l) { retarget_breaks(l); });
    }
  }

  // Removes jumps that go where falling off the end goes anyway, and what stands behind a jump.
  static void trim_tails(FlowList& list, std::vector<FlowJump> tail) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (std::holds_alternative<FlowJump>(list[i].kind))
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(i) + 1, list.end());
    }
    auto in_tail = [&](const FlowNode& n) {
      const auto* jump = std::get_if<FlowJump>(&n.kind);
      return jump != nullptr && std::any_of(tail.begin(), tail.end(), [&](const FlowJump& t) {
               return t.kind == jump->kind && t.label == jump->label;
             });
    };
    while (!list.empty() && in_tail(list.back())) list.pop_back();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool last = i + 1 == list.size();
      std::vector<FlowJump> inner = last ? tail : std::vector<FlowJump>{};
      if (auto* label = std::get_if<FlowLabel>(&list[i].kind)) {
        inner.push_back({FlowJump::Kind::kBreak, label->label});
        trim_tails(label->body, inner);
      } else if (auto* loop = std::get_if<FlowLoop>(&list[i].kind)) {
        trim_tails(loop->body, {{FlowJump::Kind::kContinue, loop->label}});
      } else if (auto* branch = std::get_if<FlowBranch>(&list[i].kind)) {
        for (auto& arm : branch->arms) trim_tails(arm.body, inner);
        while (!branch->arms.empty() && branch->arms.back().condition == nullptr && branch->arms.back().body.empty())
          branch->arms.pop_back();
      }
    }
  }

  static void splice_labels(FlowList& list) {
    FlowList out;
    out.reserve(list.size());
    for (FlowNode& n : list) {
      for_children(n, [](FlowList& l) { splice_labels(l); });
      auto* label = std::get_if<FlowLabel>(&n.kind);
      if (label == nullptr || uses_label(label->body, label->label)) {
        out.push_back(std::move(n));
      } else {
        append(out, std::move(label->body));
      }
    }
    list = std::move(out);
  }

  static bool is_break_of(const FlowList& list, int label) {
    if (list.size() != 1) return false;
    const auto* jump = std::get_if<FlowJump>(&list.front().kind);
    return jump != nullptr && jump->kind == FlowJump::Kind::kBreak && jump->label == label;
  }
  static void append(FlowList& to, FlowList&& from) {
    for (FlowNode& n : from) to.push_back(std::move(n));
  }

  // for ever { if (c) body else break; rest } -> while (c) { body; rest }, and the three variants of it.
  static void make_while(FlowList& list) {
    for (FlowNode& n : list) {
      for_children(n, [](FlowList& l) { make_while(l); });
      auto* loop = std::get_if<FlowLoop>(&n.kind);
      if (loop == nullptr || loop->condition != nullptr || loop->body.empty()) continue;
      auto* branch = std::get_if<FlowBranch>(&loop->body.front().kind);
      if (branch == nullptr || branch->arms.empty() || branch->arms.size() > 2 || branch->arms[0].condition == nullptr)
        continue;
      if (branch->arms.size() == 2 && branch->arms[1].condition != nullptr) continue;
      const bool first_breaks = is_break_of(branch->arms[0].body, loop->label);
      const bool second_breaks = branch->arms.size() == 2 && is_break_of(branch->arms[1].body, loop->label);
      if (!first_breaks && !second_breaks) continue;
      FlowList body;
      const dace::CodeBlock* condition = branch->arms[0].condition;
      if (first_breaks && branch->arms.size() == 2) append(body, std::move(branch->arms[1].body));
      if (second_breaks && !first_breaks) append(body, std::move(branch->arms[0].body));
      const bool negate = first_breaks != branch->arms[0].negate;
      for (std::size_t i = 1; i < loop->body.size(); ++i) body.push_back(std::move(loop->body[i]));
      loop->body = std::move(body);
      loop->condition = condition;
      loop->negate = negate;
    }
  }

  struct Out {
    const InterstateEdge* edge;
    bool otherwise;  // taken when no earlier edge was
  };
  const Region& region_;
  const std::string& path_;
  const RaiseHooks& hooks_;
  int start_ = 0;
  std::vector<std::vector<Out>> out_;
  std::vector<std::vector<int>> preds_;
  std::vector<int> order_, rank_, idom_;
  std::vector<std::set<int>> loops_;
  std::vector<std::vector<int>> inner_, after_;
  std::vector<bool> merge_;
};

}  // namespace

FlowList raise_control_flow(const dace::Region& region, const std::string& path, const RaiseHooks& hooks) {
  return Raiser(region, path, hooks).run();
}

}  // namespace sdfg::io
