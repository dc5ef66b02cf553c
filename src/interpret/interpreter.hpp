// The reference interpreter: what each construct of a graph means, element by element, checked at every access.
//
// Bounds, extents and overflow are always checked; a violation is an Error that names container, index, extent and
// element. Fresh transients are filled with NaN or 0xA5, so that a read before the first write shows;
// `check_uninitialised` makes it an error. Tasklets of C++ text can't be run and are an Error. Not thread-safe: one
// Instance runs one call at a time.
#pragma once

#include <cstdint>
#include <memory>

#include "interpret/arguments.hpp"
#include "ir/graph.hpp"

namespace sdfg::interpret {

// In which order the iterations of each map run: a right graph gives the same in all of them (up to reassociation of
// WCR).
enum class MapOrder : std::uint8_t { kForward, kReverse, kShuffled };

struct Options {
  MapOrder order = MapOrder::kForward;
  std::uint64_t seed = 0;            // of kShuffled
  bool check_uninitialised = false;  // reading an element of a transient that was never written is an Error
  std::int64_t most_iterations = 0;  // of all loops of a call together; more is an Error; 0: no limit
};

// A graph ready to run, with its Persistent containers: they keep their contents from call to call.
class Instance {
 public:
  // Prepares the graph, which must stay alive and unchanged. Throws Error(kGraph) for what can't be interpreted.
  explicit Instance(const ir::Graph& graph, Options options = {});
  Instance(Instance&&) noexcept;
  Instance& operator=(Instance&&) noexcept;
  ~Instance();

  // One call. Throws Error; memory is then left as far as the call came.
  void run(const Arguments& arguments);
  // Bytes that External containers of a storage need for these arguments (only symbols are looked at): packed in table
  // order, each aligned to 64 bytes. Without a workspace in the arguments the instance owns that memory.
  std::int64_t workspace_size(ir::Storage storage, const Arguments& arguments) const;
  void set_options(const Options& options);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One call of a fresh Instance.
void run(const ir::Graph& graph, const Arguments& arguments, const Options& options = {});

}  // namespace sdfg::interpret
