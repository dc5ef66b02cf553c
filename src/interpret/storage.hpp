// Bringing containers to life and releasing them: allocation, binding of arguments, views, references and structures.
#pragma once

#include <map>

#include "interpret/interpreter.hpp"
#include "interpret/plan.hpp"

namespace sdfg::interpret {

class Storage {
 public:
  Storage(const plan::Program& program, Frame& frame, bool track) : program_(program), frame_(frame), track_(track) {}

  // Evaluates extents and layout. Throws for negative extents and for sizes that overflow.
  void shape(int slot);
  std::int64_t bytes(int slot) const;  // of a shaped container
  void allocate(int slot);             // fresh memory: poisoned, or zeroed when the container asks for it
  void bind(int slot, void* memory, bool bounded = true);  // memory of the caller
  void bind_value(int slot, const tasklet::Value& value);
  void bind_constant(int slot);
  void adopt(int slot, const Live& kept);  // memory and queues of an earlier call; layout as shaped now
  void release(int slot);
  // The reference shows the data at the begin of the region from now on; its views follow.
  void set_reference(int slot, const Region& target);

 private:
  const plan::ContainerPlan& plan(int slot) const { return program_.containers[static_cast<std::size_t>(slot)]; }
  const std::string& path(int slot) const { return program_.slots.containers[static_cast<std::size_t>(slot)].path; }
  void allocate_members(int slot);
  void bind_members(int slot);
  void bind_view(int slot);
  void show(int slot, const Region& window);
  void rebind_views(int slot);

  const plan::Program& program_;
  Frame& frame_;
  bool track_;
};

// Addresses of the elements of a region in row-major order of its ranges, tiles innermost; checked as the region asks
// for.
std::vector<std::byte*> elements_of(const Region& region, const Frame& frame);
// Address of the element of a region whose ranges are all single indices.
std::byte* element_of(const Region& region, const Live& c, const std::string& path, const Frame& frame);
// Number of a stream's queue that a region selects.
Queue& queue_of(const Region& region, Frame& frame);

}  // namespace sdfg::interpret
