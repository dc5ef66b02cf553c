// Dataflow of the interpreter: tasklets with their connectors, copies, streams and references.
#include <algorithm>
#include <cstring>

#include "interpret/library.hpp"
#include "interpret/machine.hpp"

namespace sdfg::interpret {

using plan::Port;
using tasklet::Value;

Flow Machine::run(const plan::State& state, ir::Id) {
  if (registers_.size() < static_cast<std::size_t>(state.registers))
    registers_.resize(static_cast<std::size_t>(state.registers));
  for (const plan::Step& step : state.steps) {
    const auto id = std::visit(
        [](const auto& s) {
          if constexpr (std::is_same_v<std::decay_t<decltype(s)>, plan::CopyStep>)
            return s.memlet;
          else
            return s.node;
        },
        step);
    try {
      if (const auto* t = std::get_if<plan::TaskletStep>(&step))
        run_tasklet(*t);
      else if (const auto* c = std::get_if<plan::CopyStep>(&step))
        run_copy(*c);
      else
        run_library(std::get<plan::LibraryStep>(step), frame_);
    } catch (const Error& error) {
      if (!error.places().empty()) throw;
      throw Error(error.error_class(), error.message(), ir::places_of(*program_.graph, id), error.hint());
    }
  }
  return {};
}

// The element that a value port moves for one lane: a component of a vector element, or one of the elements that make
// up a vector.
std::byte* Machine::port_address(const Port& port, int lane, int& element_lane) {
  const Live& c = frame_.existing(port.region.container);
  const std::string& name = path(port.region.container);
  element_lane = 0;
  if (port.region.single) {
    if (c.desc->type.kind() == Type::Kind::kVector) element_lane = std::min(lane, c.desc->type.lanes() - 1);
    return element_of(port.region, c, name, frame_);
  }
  const std::vector<std::byte*> all = elements_of(port.region, frame_);
  const std::size_t wanted = static_cast<std::size_t>(c.desc->type.kind() == Type::Kind::kVector ? 1 : port.lanes);
  if (all.size() != wanted)
    throw Error(ErrorClass::kGraph, "connector '" + port.connector + "' holds " + std::to_string(wanted) +
                                        " elements, but its memlet on '" + name + "' moves " +
                                        std::to_string(all.size()));
  if (c.desc->type.kind() == Type::Kind::kVector) {
    element_lane = std::min(lane, c.desc->type.lanes() - 1);
    return all.front();
  }
  return all[static_cast<std::size_t>(std::min(lane, port.lanes - 1))];
}

void Machine::bind_pointer(const Port& port) {
  PointerBinding& p = pointers_[static_cast<std::size_t>(port.target)];
  p.container = &frame_.existing(port.region.container);
  p.path = &path(port.region.container);
  p.region = &port.region;
  p.wcr = port.wcr ? &*port.wcr : nullptr;
  p.ranges.clear();
  for (const RangePlan& r : port.region.ranges) p.ranges.push_back(evaluate(r, frame_));
}

void Machine::load_inputs(const plan::TaskletStep& t, int lane) {
  for (const Port& port : t.inputs) {
    const auto target = static_cast<std::size_t>(port.target);
    switch (port.kind) {
      case Port::Kind::kValue: {
        int component = 0;
        const std::byte* at = port_address(port, lane, component);
        locals_[target] = load_element(frame_.live(port.region.container), path(port.region.container), at, component);
        if (locals_[target].type() != port.type) locals_[target] = locals_[target].cast(port.type);
        assigned_[target] = 1;
        break;
      }
      case Port::Kind::kPointer: bind_pointer(port); break;
      case Port::Kind::kPop: {
        Queue& queue = queue_of(port.region, frame_);
        if (queue.empty())
          throw Error(ErrorClass::kLaunch, "stream '" + path(port.region.container) + "' is popped while it is empty");
        locals_[target] = Value::load(queue.front().data(), port.type);
        assigned_[target] = 1;
        queue.pop_front();
        break;
      }
      case Port::Kind::kQueue: queues_[target] = &queue_of(port.region, frame_); break;
      case Port::Kind::kRegister:
        locals_[target] = registers_[static_cast<std::size_t>(port.reg + std::min(lane, port.lanes - 1))];
        assigned_[target] = 1;
        break;
      case Port::Kind::kPush: break;
    }
  }
  for (const Port& port : t.outputs) {
    if (port.kind == Port::Kind::kPointer) bind_pointer(port);
    if (port.kind == Port::Kind::kQueue)
      queues_[static_cast<std::size_t>(port.target)] = &queue_of(port.region, frame_);
  }
}

void Machine::store_outputs(const plan::TaskletStep& t, int lane) {
  for (const Port& port : t.outputs) {
    if (port.kind == Port::Kind::kPointer || port.kind == Port::Kind::kQueue) continue;
    const auto target = static_cast<std::size_t>(port.target);
    if (!assigned_[target])
      throw Error(ErrorClass::kLaunch,
                  "output connector '" + port.connector + "' was not assigned, but its memlet is not dynamic");
    switch (port.kind) {
      case Port::Kind::kValue: {
        int component = 0;
        std::byte* at = port_address(port, lane, component);
        write_element(frame_.live(port.region.container), path(port.region.container), at, locals_[target],
                      port.wcr ? &*port.wcr : nullptr, frame_, component);
        break;
      }
      case Port::Kind::kPush: {
        std::vector<std::byte> bytes(static_cast<std::size_t>(size_of(port.type)));
        locals_[target].cast(port.type).store(bytes.data());
        queue_of(port.region, frame_).push(std::move(bytes));
        break;
      }
      case Port::Kind::kRegister:
        registers_[static_cast<std::size_t>(port.reg + std::min(lane, port.lanes - 1))] =
            locals_[target].cast(port.type);
        break;
      case Port::Kind::kPointer:
      case Port::Kind::kPop:
      case Port::Kind::kQueue: break;
    }
  }
}

// Vector code is the scalar code of each lane; inputs of all lanes are read before any lane's outputs only where
// memlets don't overlap, which validation demands anyway.
void Machine::run_tasklet(const plan::TaskletStep& t) {
  const auto grow = [](auto& v, int size) {
    if (v.size() < static_cast<std::size_t>(size)) v.resize(static_cast<std::size_t>(size));
  };
  grow(locals_, t.locals);
  grow(assigned_, t.locals);
  grow(pointers_, t.pointers);
  grow(queues_, t.queues);
  CodeContext context{frame_, locals_.data(), assigned_.data(), pointers_.data(), queues_.data(), 0};
  for (int lane = 0; lane < t.lanes; ++lane) {
    std::fill_n(assigned_.begin(), t.locals, std::uint8_t{0});
    context.lane = lane;
    load_inputs(t, lane);
    execute(t.body, context);
    store_outputs(t, lane);
  }
}

void Machine::copy_from_stream(const plan::CopyStep& c) {
  Queue& queue = queue_of(c.src, frame_);
  Live& to = frame_.live(c.dst.container);
  if (to.desc->kind == ir::ContainerKind::kStream) {
    Queue& target = queue_of(c.dst, frame_);
    while (!queue.empty()) {
      target.push(std::move(queue.front()));
      queue.pop_front();
    }
    return;
  }
  // Drains into the first elements of the destination's subset.
  const std::vector<std::byte*> at = elements_of(c.dst, frame_);
  if (queue.size() > at.size())
    throw Error(ErrorClass::kLaunch, "stream '" + path(c.src.container) + "' holds " + std::to_string(queue.size()) +
                                         " elements, more than the " + std::to_string(at.size()) + " of '" +
                                         path(c.dst.container) + "' that it is copied to");
  const ScalarType type = element_scalar(frame_.live(c.src.container), path(c.src.container));
  for (std::size_t i = 0; !queue.empty(); ++i) {
    write_element(to, path(c.dst.container), at[i], Value::load(queue.front().data(), type), c.wcr ? &*c.wcr : nullptr,
                  frame_);
    queue.pop_front();
  }
}

void Machine::copy_to_stream(const plan::CopyStep& c) {
  Queue& queue = queue_of(c.dst, frame_);
  const Live& from = frame_.existing(c.src.container);
  const ScalarType type = element_scalar(frame_.live(c.dst.container), path(c.dst.container));
  for (const std::byte* at : elements_of(c.src, frame_)) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(size_of(type)));
    load_element(from, path(c.src.container), at).cast(type).store(bytes.data());
    queue.push(std::move(bytes));
  }
}

// The k-th element of the source's subset goes to the k-th of the destination's, in row-major order of the ranges. All
// are read before any is written.
void Machine::run_copy(const plan::CopyStep& c) {
  if (c.set_reference) return storage_.set_reference(c.dst.container, c.src);
  const Live& from = frame_.existing(c.src.container);
  const Live& to = frame_.existing(c.dst.container);
  if (from.desc->kind == ir::ContainerKind::kStream) return copy_from_stream(c);
  if (to.desc->kind == ir::ContainerKind::kStream) return copy_to_stream(c);
  const std::string& from_path = path(c.src.container);
  const std::string& to_path = path(c.dst.container);
  if (to.desc->constant) throw Error(ErrorClass::kGraph, "'" + to_path + "' is a constant and can't be written");
  const std::vector<std::byte*> source = elements_of(c.src, frame_);
  const std::vector<std::byte*> target = elements_of(c.dst, frame_);
  if (source.size() != target.size())
    throw Error(ErrorClass::kGraph, "a copy from '" + from_path + "' to '" + to_path + "' reads " +
                                        std::to_string(source.size()) + " elements and writes " +
                                        std::to_string(target.size()));
  const Type& from_type = from.desc->type;
  const Type& to_type = to.desc->type;
  if (from_type == to_type && !c.wcr) {
    const auto size = static_cast<std::size_t>(from.element_size);
    const bool tracks = to.allocation && to.allocation->is_tracked();
    std::vector<std::byte> snapshot(size * source.size());
    std::vector<std::uint8_t> written(source.size(), 1);
    for (std::size_t i = 0; i < source.size(); ++i) {
      std::memcpy(snapshot.data() + i * size, source[i], size);
      if (!from.allocation || !from.allocation->is_tracked()) continue;
      written[i] = from.allocation->is_written(source[i], from.element_size);
      // What is not tracked belongs to the caller.
      if (written[i] == 0 && !tracks) throw_unwritten(from, from_path, source[i]);
    }
    for (std::size_t i = 0; i < target.size(); ++i) {
      std::memcpy(target[i], snapshot.data() + i * size, size);
      if (tracks) to.allocation->mark_written(target[i], to.element_size, written[i] != 0);
    }
    return;
  }
  const int lanes = std::max(from_type.lanes(), to_type.lanes());
  if (from_type.lanes() != to_type.lanes())
    throw Error(ErrorClass::kGraph, "a copy from '" + from_path + "' (" + from_type.str() + ") to '" + to_path + "' (" +
                                        to_type.str() + ") changes the vector length");
  std::vector<Value> snapshot;
  for (const std::byte* at : source)
    for (int lane = 0; lane < lanes; ++lane) snapshot.push_back(load_element(from, from_path, at, lane));
  for (std::size_t i = 0; i < snapshot.size(); ++i)
    write_element(to, to_path, target[i / static_cast<std::size_t>(lanes)], snapshot[i], c.wcr ? &*c.wcr : nullptr,
                  frame_, static_cast<int>(i % static_cast<std::size_t>(lanes)));
}

}  // namespace sdfg::interpret
