// Control flow of the interpreter.
#include "interpret/machine.hpp"

#include <algorithm>

namespace sdfg::interpret {

using tasklet::Value;

// Values of symbols that a scope binds anew, to be put back: nothing that a map's body assigns is seen outside of its
// iteration.
struct Machine::SavedSymbols {
  std::vector<int> slots;
  std::vector<std::int64_t> values;
  std::vector<std::uint8_t> defined;

  SavedSymbols(const std::vector<int>& which, const Frame& frame) : slots(which) {
    for (int s : slots) {
      values.push_back(frame.symbols[static_cast<std::size_t>(s)]);
      defined.push_back(frame.defined[static_cast<std::size_t>(s)]);
    }
  }
  void restore(Frame& frame) const {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      frame.symbols[static_cast<std::size_t>(slots[i])] = values[i];
      frame.defined[static_cast<std::size_t>(slots[i])] = defined[i];
    }
  }
};

Value Machine::value_of(const CodeNode& node) {
  CodeContext context{frame_};
  return evaluate(node, context);
}

// splitmix64: the same sequence on every platform, unlike std::shuffle's.
std::uint64_t Machine::random(std::uint64_t below) {
  random_ += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = random_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return (z ^ (z >> 31)) % below;
}

std::vector<std::int64_t> Machine::order_of(std::int64_t count) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::int64_t>(i);
  for (std::size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[random(i)]);
  return out;
}

Flow Machine::run(const plan::Sequence& sequence) {
  for (const plan::Element& e : sequence)
    if (const Flow flow = run(e); !flow.is_next()) return flow;
  return {};
}

Flow Machine::run(const plan::Element& e) {
  try {
    return std::visit([&](const auto& kind) { return this->run(kind, e.source->id); }, e.kind);
  } catch (const Error& error) {
    if (!error.places().empty()) throw;
    throw Error(error.error_class(), error.message(), ir::places_of(*program_.graph, e.source->id), error.hint());
  }
}

Flow Machine::run(const plan::Assign& assign, ir::Id) {
  std::vector<Value> values;
  for (const auto& [slot, node] : assign.items) values.push_back(value_of(node));
  for (std::size_t i = 0; i < values.size(); ++i) frame_.set_symbol_value(assign.items[i].first, values[i]);
  return {};
}

Flow Machine::run(const plan::Block& block, ir::Id id) {
  for (int slot : block.locals) storage_.allocate(slot);
  Flow flow = run(block.body);
  for (int slot : block.locals) storage_.release(slot);
  return flow.breaks(id) ? Flow{} : flow;
}

Flow Machine::run(const plan::For& loop, ir::Id id) {
  frame_.set_symbol_value(loop.variable, value_of(loop.init));
  if (loop.form == ir::LoopForm::kTestFirst && !truth_of(loop.condition)) return {};
  while (true) {
    if (const Flow flow = run(loop.body); flow.breaks(id))
      return {};
    else if (!flow.is_next() && !flow.continues(id))
      return flow;
    count_iteration();
    if (loop.form == ir::LoopForm::kTestThenUpdate && !truth_of(loop.condition)) return {};
    frame_.set_symbol_value(loop.variable, value_of(loop.update));
    if (loop.form != ir::LoopForm::kTestThenUpdate && !truth_of(loop.condition)) return {};
  }
}

Flow Machine::run(const plan::While& loop, ir::Id id) {
  if (loop.test_first && !truth_of(loop.condition)) return {};
  while (true) {
    if (const Flow flow = run(loop.body); flow.breaks(id))
      return {};
    else if (!flow.is_next() && !flow.continues(id))
      return flow;
    count_iteration();
    if (!truth_of(loop.condition)) return {};
  }
}

void Machine::count_iteration() {
  if (++iterations_ != options_.most_iterations) return;
  throw Error(ErrorClass::kLimit,
              "the loops ran " + std::to_string(iterations_) + " iterations, the most that this run allows");
}

Flow Machine::run(const plan::If& branch, ir::Id) {
  for (const auto& [condition, body] : branch.branches)
    if (truth_of(condition)) return run(body);
  return {};
}

Flow Machine::run(const plan::Map& map, ir::Id id) {
  std::vector<int> bound = map.params;
  bound.insert(bound.end(), map.assigned.begin(), map.assigned.end());
  const SavedSymbols outer(bound, frame_);
  run_map_dimension(map, id, 0, SavedSymbols(map.assigned, frame_));
  outer.restore(frame_);
  return {};
}

void Machine::run_map_dimension(const plan::Map& map, ir::Id id, std::size_t dimension, const SavedSymbols& outer) {
  if (dimension == map.params.size()) {
    outer.restore(frame_);
    const Flow flow = run(map.body);
    if (!flow.is_next() && !flow.continues(id))
      throw Error(ErrorClass::kGraph, "an exit or return leaves a map from inside");
    return;
  }
  const EvaluatedRange range = evaluate(map.ranges[dimension], frame_);
  if (range.step <= 0)
    throw Error(ErrorClass::kLaunch, "the step " + std::to_string(range.step) + " of a map is not positive");
  const int param = map.params[dimension];
  std::vector<std::int64_t> shuffled;
  if (options_.order == MapOrder::kShuffled) shuffled = order_of(range.count);
  for (std::int64_t k = 0; k < range.count; ++k) {
    std::int64_t point = k;
    if (options_.order == MapOrder::kReverse) point = range.count - 1 - k;
    if (options_.order == MapOrder::kShuffled) point = shuffled[static_cast<std::size_t>(k)];
    frame_.set_symbol(param, range.begin + point * range.step);
    run_map_dimension(map, id, dimension + 1, outer);
  }
}

// Workers take turns: worker w pops up to chunk_size elements and runs the body with them.
Flow Machine::run(const plan::Consume& consume, ir::Id id) {
  const std::int64_t workers = consume.num_workers(frame_);
  if (workers < 1) throw Error(ErrorClass::kLaunch, "a consume scope has " + std::to_string(workers) + " workers");
  std::vector<int> bound = consume.assigned;
  if (consume.worker >= 0) bound.push_back(consume.worker);
  const SavedSymbols outer(bound, frame_);
  Region whole;
  whole.container = consume.stream;
  for (std::int64_t turn = 0;; ++turn) {
    Queue& queue = queue_of(whole, frame_);
    if (consume.condition ? truth_of(*consume.condition) : queue.empty()) break;
    if (queue.empty()) break;
    outer.restore(frame_);
    if (consume.worker >= 0) frame_.set_symbol(consume.worker, turn % workers);
    storage_.allocate(consume.element);
    const Live& element = frame_.live(consume.element);
    for (std::int64_t k = 0; k < consume.chunk_size && !queue.empty(); ++k) {
      std::byte* at = address_at(element, path(consume.element), k);
      std::copy(queue.front().begin(), queue.front().end(), at);
      if (element.allocation && element.allocation->is_tracked())
        element.allocation->mark_written(at, element.element_size);
      queue.pop_front();
    }
    const Flow flow = run(consume.body);
    storage_.release(consume.element);
    if (!flow.is_next() && !flow.continues(id))
      throw Error(ErrorClass::kGraph, "an exit or return leaves a consume scope from inside");
  }
  outer.restore(frame_);
  return {};
}

Flow Machine::run(const plan::Exit& exit, ir::Id) {
  return {Flow::Kind::kExit, exit.target, exit.kind};
}
Flow Machine::run(const plan::Return&, ir::Id) {
  return {Flow::Kind::kReturn, 0, ir::Exit::Kind::kBreak};
}

}  // namespace sdfg::interpret
