// One walk over a graph of a file finds the names whose values outlive the loops that define them.
#include <cctype>

#include "base/words.hpp"
#include "io/importer.hpp"

namespace sdfg::io {

namespace {

class Collector {
 public:
  std::set<std::string, std::less<>> found;

  void region(const dace::Region& r) {
    for (const dace::InterstateEdge& e : r.edges) {
      words(e.condition.text);
      for (const auto& [symbol, value] : e.assignments) {
        name(symbol);
        words(value);
      }
    }
    for (const dace::Block& b : r.blocks) {
      if (const auto* s = std::get_if<dace::State>(&b.kind)) {
        state(*s);
      } else if (const auto* inner = std::get_if<dace::Region>(&b.kind)) {
        region(*inner);
      } else if (const auto* l = std::get_if<dace::LoopBlock>(&b.kind)) {
        loop(*l);
      } else if (const auto* c = std::get_if<dace::ConditionalBlock>(&b.kind)) {
        for (const auto& branch : c->branches) {
          if (branch.condition) words(branch.condition->text);
          region(branch.body);
        }
      }
    }
  }

 private:
  void name(std::string_view n) {
    if (!defined_.contains(n)) found.emplace(n);
  }
  // Every identifier of a text; keywords and members among them do no harm.
  void words(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
      if (!is_word(text[i])) {
        ++i;
        continue;
      }
      std::size_t end = i;
      while (end < text.size() && is_word(text[end])) ++end;
      if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) name(text.substr(i, end - i));
      i = end;
    }
  }
  template <typename Symbols>
  void names(const Symbols& symbols) {
    for (const std::string& s : symbols) name(s);
  }

  void loop(const dace::LoopBlock& l) {
    // "i = i": the old value comes from outside.
    if (l.init) words(std::string_view(l.init->text).substr(l.init->text.find('=') + 1));
    const auto defined = l.variable.empty() ? defined_.end() : defined_.insert(l.variable);
    words(l.condition.text);
    if (l.update) words(l.update->text);
    region(l.body);
    if (defined != defined_.end()) defined_.erase(defined);
  }

  void state(const dace::State& s) {
    for (const dace::Edge& e : s.edges) {
      if (e.memlet.subset) names(e.memlet.subset->free_symbols());
      if (e.memlet.other_subset) names(e.memlet.other_subset->free_symbols());
    }
    for (const dace::Node& n : s.nodes) {
      if (const auto* t = std::get_if<dace::TaskletNode>(&n.kind)) {
        words(t->code.text);
      } else if (const auto* m = std::get_if<dace::MapEntry>(&n.kind)) {
        names(m->map.range.free_symbols());
      } else if (const auto* c = std::get_if<dace::ConsumeEntry>(&n.kind)) {
        names(symbolic::free_symbols(c->consume.num_pes));
        if (c->consume.condition) words(c->consume.condition->text);
      } else if (const auto* nested = std::get_if<dace::NestedSdfg>(&n.kind)) {
        for (const auto& e : nested->mapped) names(symbolic::free_symbols(e));
      } else if (const auto* l = std::get_if<dace::LibraryNode>(&n.kind)) {
        words(l->properties);
      }
    }
  }

  std::multiset<std::string, std::less<>> defined_;  // variables of the loops around
};

}  // namespace

std::set<std::string, std::less<>> used_outside_loops(const dace::Region& r) {
  Collector c;
  c.region(r);
  return std::move(c.found);
}

}  // namespace sdfg::io
