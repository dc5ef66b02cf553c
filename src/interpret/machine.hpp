// Runs a prepared program: control flow, maps in a chosen order, tasklets, copies and streams.
#pragma once

#include <vector>

#include "interpret/storage.hpp"

namespace sdfg::interpret {

// How an element was left.
struct Flow {
  enum class Kind : std::uint8_t { kNext, kExit, kReturn };
  Kind kind = Kind::kNext;
  ir::Id target = 0;
  ir::Exit::Kind exit = ir::Exit::Kind::kBreak;

  bool is_next() const { return kind == Kind::kNext; }
  bool breaks(ir::Id id) const { return kind == Kind::kExit && target == id && exit == ir::Exit::Kind::kBreak; }
  bool continues(ir::Id id) const { return kind == Kind::kExit && target == id && exit == ir::Exit::Kind::kContinue; }
};

class Machine {
 public:
  Machine(const plan::Program& program, Frame& frame, Storage& storage, const Options& options)
      : program_(program), frame_(frame), storage_(storage), options_(options), random_(options.seed) {}

  Flow run(const plan::Sequence& sequence);

 private:
  Flow run(const plan::Element& element);
  Flow run(const plan::State& state, ir::Id id);
  Flow run(const plan::Assign& assign, ir::Id id);
  Flow run(const plan::Block& block, ir::Id id);
  Flow run(const plan::For& loop, ir::Id id);
  Flow run(const plan::While& loop, ir::Id id);
  Flow run(const plan::If& branch, ir::Id id);
  Flow run(const plan::Map& map, ir::Id id);
  Flow run(const plan::Consume& consume, ir::Id id);
  Flow run(const plan::Exit& exit, ir::Id id);
  Flow run(const plan::Return& ret, ir::Id id);

  struct SavedSymbols;
  void run_map_dimension(const plan::Map& map, ir::Id id, std::size_t dimension, const SavedSymbols& outer);
  void run_tasklet(const plan::TaskletStep& t);
  void load_inputs(const plan::TaskletStep& t, int lane);
  void store_outputs(const plan::TaskletStep& t, int lane);
  void bind_pointer(const plan::Port& port);
  void run_copy(const plan::CopyStep& c);
  void copy_from_stream(const plan::CopyStep& c);
  void copy_to_stream(const plan::CopyStep& c);
  std::byte* port_address(const plan::Port& port, int lane, int& element_lane);

  void count_iteration();
  tasklet::Value value_of(const CodeNode& node);
  bool truth_of(const CodeNode& node) { return value_of(node).as_bool(); }
  const std::string& path(int slot) const { return program_.slots.containers[static_cast<std::size_t>(slot)].path; }
  std::uint64_t random(std::uint64_t below);
  std::vector<std::int64_t> order_of(std::int64_t count);

  const plan::Program& program_;
  Frame& frame_;
  std::int64_t iterations_ = 0;
  Storage& storage_;
  const Options& options_;
  std::uint64_t random_;

  // Of the tasklet that runs; tasklets don't nest.
  std::vector<tasklet::Value> locals_;
  std::vector<std::uint8_t> assigned_;
  std::vector<PointerBinding> pointers_;
  std::vector<Queue*> queues_;
  std::vector<tasklet::Value> registers_;
};

}  // namespace sdfg::interpret
