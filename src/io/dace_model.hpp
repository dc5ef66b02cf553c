// DaCe's graph as it stands in a file: blocks, states, scope nodes, memlet paths. Only `io` knows it; read_dace.cpp
// fills it from JSON, import_graph.cpp translates it to ir::Graph and export_graph.cpp makes it from one.
//
// Expressions are already parsed (both syntaxes); code blocks and interstate expressions stay text, with their JSON
// path for errors.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <sdfg/error.hpp>
#include <sdfg/types.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/container.hpp"
#include "ir/graph.hpp"
#include "symbolic/subset.hpp"

namespace sdfg::io::dace {

using symbolic::Expr;
using symbolic::Subset;

enum class Schedule : std::uint8_t {
  kDefault,
  kSequential,
  kMpi,
  kCpuMulticore,
  kCpuPersistent,
  kSveMap,
  kGpuDevice,
  kGpuThreadBlock,
  kGpuThreadBlockDynamic,
  kGpuPersistent,
  kGpuWarp,
};
enum class Lifetime : std::uint8_t { kScope, kState, kSdfg, kGlobal, kPersistent, kExternal };
enum class Language : std::uint8_t { kPython, kCpp, kOther };

struct CodeBlock {
  std::string text;
  Language language = Language::kPython;
  std::string path;
};

enum class DescriptorClass : std::uint8_t {
  kScalar,
  kArray,
  kStream,
  kStructure,
  kContainerArray,
  kArrayView,
  kStructureView,
  kContainerView,
  kArrayReference,
  kStructureReference,
  kContainerArrayReference,
  kOther,  // Tensor, ProcessGrid, ...: kept as JSON
};
struct Descriptor {
  std::string name;
  DescriptorClass kind = DescriptorClass::kArray;
  std::string class_name;  // as in the file
  Type type = ScalarType::kInt32;
  std::vector<Expr> shape, strides, offset;
  std::optional<Expr> total_size;  // nothing: derived
  std::int64_t start_offset = 0;
  bool transient = false;
  ir::Storage storage = ir::Storage::kDefault;
  Lifetime lifetime = Lifetime::kScope;
  std::int64_t alignment = 0;
  bool may_alias = false;
  std::optional<bool> optional;
  Expr buffer_size = 0;             // streams
  std::string structure_name;       // structures
  std::vector<Descriptor> members;  // structures; element of container arrays
  SourceLocation location;
  std::string path;
};

struct Memlet {
  std::string data;  // empty: an empty memlet
  std::optional<Subset> subset, other_subset;
  std::optional<bool> is_data_src;
  bool dynamic = false, wcr_nonatomic = false, allow_oob = false;
  std::string wcr;  // lambda text; empty: none
  SourceLocation location;
};

struct Connector {
  std::string name;
  Type type;
};  // void: inferred
using Connectors = std::vector<Connector>;

struct Sdfg;

struct AccessNode {
  std::string data;
  bool setzero = false;
};
struct TaskletNode {
  CodeBlock code, code_global, code_init, code_exit;
  std::vector<std::string> state_fields, environments, ignored_symbols;
  std::optional<bool> side_effects;
};
struct MapInfo {
  std::vector<std::string> params;
  Subset range;
  Schedule schedule = Schedule::kDefault;
  bool unroll = false;
  int collapse = 1;
  int omp_num_threads = 0;
  ir::OmpSchedule omp_schedule = ir::OmpSchedule::kDefault;
  std::int64_t omp_chunk_size = 0;
  std::vector<std::int64_t> gpu_block_size;
  std::string gpu_launch_bounds = "0";
  int gpu_maxnreg = 0;
};
struct ConsumeInfo {
  std::string pe_index;
  Expr num_pes = 1;
  std::optional<CodeBlock> condition;
  Schedule schedule = Schedule::kDefault;
  std::int64_t chunk_size = 1;
};
struct MapEntry {
  MapInfo map;
  int exit = -1;
};
struct MapExit {
  int entry = -1;
};
struct ConsumeEntry {
  ConsumeInfo consume;
  int exit = -1;
};
struct ConsumeExit {
  int entry = -1;
};
struct NestedSdfg {
  std::shared_ptr<Sdfg> sdfg;
  std::vector<std::pair<std::string, std::string>> symbol_mapping;
  std::vector<Expr> mapped;
  bool no_inline = false;
};
struct LibraryNode {
  std::string class_path;
  std::string implementation;
  std::string properties;
  Schedule schedule = Schedule::kDefault;
};  // properties: the attributes as JSON text

struct Node {
  int index = 0;  // position in the state
  std::string label;
  Connectors inputs, outputs;
  SourceLocation location;
  std::string path;
  std::variant<AccessNode, TaskletNode, MapEntry, MapExit, ConsumeEntry, ConsumeExit, NestedSdfg, LibraryNode> kind;
};
struct Edge {
  int src = 0, dst = 0;
  std::string src_connector, dst_connector;
  Memlet memlet;
  std::string path;
};

struct State {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

struct InterstateEdge {
  int src = 0, dst = 0;
  CodeBlock condition;                                           // empty text or "1": unconditional
  std::vector<std::pair<std::string, std::string>> assignments;  // in stored order
  std::string path;
};

struct Block;
struct Region {
  std::vector<Block> blocks;
  std::vector<InterstateEdge> edges;
  std::optional<int> start;
};

struct LoopBlock {
  std::string variable;
  std::optional<CodeBlock> init, update;
  CodeBlock condition;
  bool inverted = false, update_before_condition = true, unroll = false;
  int unroll_factor = 0;
  Region body;
};
struct ConditionalBlock {
  struct Branch {
    std::optional<CodeBlock> condition;
    Region body;
  };
  std::vector<Branch> branches;
};
struct BreakBlock {};
struct ContinueBlock {};
struct ReturnBlock {};
struct Block {
  std::string label;
  std::string path;
  std::variant<State, Region, LoopBlock, ConditionalBlock, BreakBlock, ContinueBlock, ReturnBlock> kind;
};

// Names that control flow below the region binds: targets of assignments and loop variables. Nested graphs have names
// of their own.
std::set<std::string, std::less<>> bound_symbols(const Region& r);

struct Constant {
  Descriptor descriptor;
  std::vector<std::uint8_t> bytes;
};

struct Sdfg {
  std::string name;
  std::vector<std::string> arg_names;
  std::vector<Descriptor> containers;  // in file order; `add` keeps `find` quick
  std::map<std::string, std::size_t, std::less<>> positions;
  std::vector<std::pair<std::string, Type>> symbols;  // declared
  std::map<std::string, Type> occurrence_types;       // types written on occurrences in expressions
  std::vector<std::pair<std::string, Constant>> constants;
  std::string global_code, cuda_code, init_code, exit_code;
  Region body;
  std::string path;

  void add(Descriptor container);
  const Descriptor* find(std::string_view container) const;
};

// Reads `.sdfg` text (JSON; gzip is undone by the caller). Throws Error(kGraph), or Error(kLimit) beyond the limits,
// whose message ends with the JSON path.
// Warnings (unknown enumeration values, FPGA-era names, ...) are appended to `warnings`.
struct ReadLimits {
  std::size_t max_bytes = std::size_t{256} << 20;
  int max_depth = 128;
  std::size_t max_nodes = 2'000'000;
  std::size_t max_values = std::size_t{16} << 20;  // of JSON
  std::size_t max_name = 1024;
};
Sdfg read_json(std::string_view text, const ReadLimits& limits, std::vector<std::string>& warnings);

}  // namespace sdfg::io::dace
