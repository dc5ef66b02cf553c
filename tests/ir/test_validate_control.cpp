// Rules of maps, loops, branches, exits, schedules, storages and streams.
#include <catch2/catch.hpp>

#include "validation.hpp"

namespace test_validate_control {

using namespace sdfg;
using namespace sdfg::ir;
using symbolic::Expr;
using test::problems_of;
using test::usual;

TEST_CASE("maps have as many ranges as parameters, positive steps, and ranges over symbols") {
  test::Hand h = usual();
  Map& a = h.map(h.g.body, {{"i", "0:N"}});
  a.ranges.push_back(Range::index(0));
  Map& b = h.map(h.g.body, {{"j", "0:N:0"}});
  b.collapse = 3;
  Map& c = h.map(h.g.body, {{"k", "0:l"}, {"l", "0:N"}});
  c.ranges[1].end = Expr::read("s", {0});
  h.append(h.g.body, Map{});
  Map& d = h.map(h.g.body, {{"q", "0:N"}});
  d.gpu_block_size = {1, 2, 3, 4};
  CHECK(problems_of(h.g) ==
        "map-parameters: map 'i' has 1 parameters and 2 ranges\n"
        "map-step: the step 0 of 'j' in map 'j' is not positive\n"
        "map-parameters: map 'j' collapses 3 of its 1 dimensions\n"
        "map-range: the range of 'k' in map 'k, l' uses 'l', which comes at or after it (a range may use the "
        "parameters before its "
        "own)\n"
        "map-range: the range of 'l' in map 'k, l' uses s[0], which reads a container (assign the value to a symbol "
        "before the map)\n"
        "map-parameters: a map has no parameters\n"
        "map-parameters: map 'q' has a thread-block size that is not one to three positive numbers");
}

TEST_CASE("loop variables change by the loop only") {
  test::Hand h = usual();
  For& t = h.loop(h.g.body, "t", "0", "t < N", "t + 1");
  Assign a;
  a.items.push_back({"t", h.code("0")});
  h.append(t.body, std::move(a));
  h.loop(h.g.body, "u", "0", "u < N", "u");
  For& v = h.loop(h.g.body, "v", "0", "v < N", "v + 1");
  h.loop(v.body, "v", "0", "v < N", "v + 1");
  CHECK(
      problems_of(h.g) ==
      "declared-once: symbol 'v' is bound by 2 maps or loops (each needs a symbol of its own; clone_renamed makes "
      "them)\n"
      "loop-variable: loop variable 't' is assigned in the loop's own body (use a while loop over an assigned symbol)\n"
      "loop-variable: loop 'u' never changes its variable (use a while loop if that is meant)\n"
      "loop-variable: loop 'v' is inside another loop over 'v'");
}

TEST_CASE("conditions are true or false") {
  test::Hand h = usual();
  h.argument("z", "1", ScalarType::kComplex128);
  h.while_loop(h.g.body, "True").condition = h.code("z[0]");
  CHECK(problems_of(h.g) ==
        "condition-type: the condition of while loop has type complex128, which is neither true nor false (compare it "
        "with "
        "something)");
}

TEST_CASE("only assigned symbols are assigned, once at a time") {
  test::Hand h = usual();
  h.bind("k", BinderKind::kAssigned);
  Assign a;
  a.items.push_back({"k", h.code("1")});
  a.items.push_back({"k", h.code("2")});
  a.items.push_back({"N", h.code("3")});
  a.items.push_back({"x", h.code("4")});
  a.items.push_back({"nothing", h.code("5")});
  h.append(h.g.body, std::move(a));
  CHECK(problems_of(h.g) ==
        "assign-target: 'k' is assigned twice at once\n"
        "assign-target: parameter 'N' is assigned (assign to a symbol of its own)\n"
        "assign-target: container 'x' is the target of a symbol assignment (write it in a state)\n"
        "assign-target: the assigned 'nothing' is not in the symbol table");
}

TEST_CASE("exits lead to enclosing loops, blocks or the iteration of a map") {
  test::Hand h = usual();
  For& t = h.loop(h.g.body, "t", "0", "t < N", "t + 1");
  const Id loop = h.g.body.items.back()->id;
  const auto exit = [&](Sequence& where, Exit::Kind kind, Id target) {
    Exit x;
    x.kind = kind;
    x.target = target;
    h.append(where, std::move(x));
  };
  exit(t.body, Exit::Kind::kBreak, loop);
  exit(t.body, Exit::Kind::kContinue, loop);
  Map& m = h.map(t.body, {{"i", "0:N"}});
  const Id map = t.body.items.back()->id;
  exit(m.body, Exit::Kind::kContinue, map);
  exit(m.body, Exit::Kind::kBreak, map);
  exit(m.body, Exit::Kind::kBreak, loop);
  h.append(m.body, Return{});
  exit(h.g.body, Exit::Kind::kBreak, loop);
  Block& b = h.block(h.g.body);
  exit(b.body, Exit::Kind::kContinue, h.g.body.items.back()->id);
  h.append(h.g.body, Return{});
  CHECK(problems_of(h.g) ==
        "exit-target: break has map 'i' as its target (break leaves a loop or a block)\n"
        "exit-target: break would leave map 'i' (only the current iteration of a map can end early)\n"
        "return-in-map: return inside map 'i'\n"
        "exit-target: break has no enclosing element 1 as its target\n"
        "exit-target: continue has block as its target (continue goes on with a loop or a map)");
}

TEST_CASE("schedules nest as kernels, blocks and warps do") {
  test::Hand h = usual();
  Map& device = h.map(h.g.body, {{"i", "0:N"}});
  device.schedule = Schedule::kDevice;
  Map& threads = h.map(device.body, {{"j", "0:32"}});
  threads.schedule = Schedule::kThreadBlock;
  Map& nested = h.map(threads.body, {{"k", "0:32"}});
  nested.schedule = Schedule::kThreadBlock;
  Map& parallel = h.map(threads.body, {{"l", "0:32"}});
  parallel.schedule = Schedule::kParallel;
  Map& lonely = h.map(h.g.body, {{"m", "0:32"}});
  lonely.schedule = Schedule::kThreadBlock;
  Map& warp = h.map(device.body, {{"n", "0:32"}});
  warp.schedule = Schedule::kWarp;
  CHECK(problems_of(h.g) ==
        "schedule-nesting: ThreadBlock map 'k' is inside the ThreadBlock map 'j'\n"
        "schedule-nesting: Parallel map 'l' is inside the kernel of map 'i'\n"
        "schedule-nesting: Warp map 'n' is not inside a ThreadBlock map\n"
        "schedule-nesting: ThreadBlock map 'm' is not inside a Device map");
}

TEST_CASE("code reaches the memory of its side only") {
  test::Hand h = usual();
  h.transient("d", "N").storage = Storage::kGpuGlobal;
  h.transient("c", "N").storage = Storage::kHeap;
  h.compute(h.g.body, "o = p", {{"p", "d", "0"}}, {"o", "s", "0"});
  State& copy = h.state(h.g.body);
  h.copy(copy, h.access(copy, "c"), "0:N", h.access(copy, "d"), "0:N");
  Map& device = h.map(h.g.body, {{"i", "0:N"}});
  device.schedule = Schedule::kDevice;
  h.compute(device.body, "o = p", {{"p", "c", "i"}}, {"o", "d", "i"});
  h.while_loop(h.g.body, "d[0] > 1.0");
  Block& b = h.block(h.g.body);
  h.transient("shared", "32", ScalarType::kFloat64, &b).storage = Storage::kGpuShared;
  CHECK(
      problems_of(h.g) ==
      "storage-access: memlet from access of 'd' to tasklet 't' reads 'd' in GpuGlobal storage on the host "
      "(expressions and slices of whole arrays are host code; write the elements in a map with the Device schedule, as "
      "in g.map({\"i\", 0, N}, body, {.schedule = sdfg::Schedule::kDevice}), or copy it to a container of the host)\n"
      "storage-access: memlet from access of 'c' to tasklet 't' reads 'c' in Heap storage in the kernel of map 'i' "
      "(copy it to a "
      "container that both can reach)\n"
      "storage-access: while loop reads 'd' in GpuGlobal storage on the host "
      "(expressions and slices of whole arrays are host code; write the elements in a map with the Device schedule, as "
      "in g.map({\"i\", 0, N}, body, {.schedule = sdfg::Schedule::kDevice}), or copy it to a container of the host)\n"
      "storage-lifetime: 'shared' in GpuShared storage is declared outside a kernel (declare it in a block inside "
      "the Device map)");
}

TEST_CASE("a value per thread is not read where a block has one") {
  test::Hand h = usual();
  for (const char* name : {"x", "s"}) h.g.containers.at(name).storage = Storage::kGpuGlobal;
  Map& device = h.map(h.g.body, {{"i", "0:N"}});
  device.schedule = Schedule::kDevice;
  Block& b = h.block(device.body);
  h.transient("r", "", ScalarType::kFloat64, &b).storage = Storage::kRegister;
  Map& threads = h.map(b.body, {{"j", "0:N"}});
  threads.schedule = Schedule::kThreadBlock;
  h.compute(threads.body, "o = p", {{"p", "x", "j"}}, {"o", "r", ""});
  If& branch = h.branch(b.body, {"True"});
  branch.branches[0].condition =
      tasklet::infer_types(tasklet::Expr::binary(tasklet::BinaryOp::kGreater, tasklet::Expr::subscript("r", {}),
                                                 tasklet::Expr::literal(1.0)),
                           type_environment(h.g));
  Map& more = h.map(branch.branches[0].body, {{"k", "0:N"}});
  more.schedule = Schedule::kThreadBlock;
  h.compute(more.body, "o = p", {{"p", "r", ""}}, {"o", "x", "k"});
  CHECK(problems_of(h.g) ==
        "block-uniform: branch reads 'r' outside a thread-block map, where its value differs among the threads of a "
        "block (reduce it "
        "first, or move the reading into a thread-block map)");
}

TEST_CASE("streams are popped and pushed, nothing else") {
  test::Hand h = usual();
  h.transient("q", "").kind = ContainerKind::kStream;
  h.compute(h.g.body, "o = p", {{"p", "q", ""}}, {"o", "q", ""});
  h.compute(h.g.body, "o = 1.0", {}, {"o", "q", ""}, ReduceOp::kSum);
  Consume c;
  c.stream = "x";
  c.element = "e";
  c.chunk_size = 0;
  h.g.containers.insert([] {
    Container e = test::Hand::describe("e", ScalarType::kFloat64, "");
    e.transient = true;
    return e;
  }());
  h.append(h.g.body, std::move(c));
  CHECK(problems_of(h.g) ==
        "wcr-target: memlet from tasklet 't' to access of 'q' accumulates into stream 'q'\n"
        "stream-use: consume of 'x' pops from array 'x', which is no stream\n"
        "stream-use: consume of 'x' pops chunks of 0 elements");
}

TEST_CASE("too deep nesting is refused") {
  test::Hand h = usual();
  Sequence* at = &h.g.body;
  for (std::size_t k = 0; k <= kMaxDepth; ++k) at = &h.block(*at).body;
  CHECK(problems_of(h.g) == "depth: block is nested deeper than the limit of 200 elements");
  try {
    check(h.g);
    FAIL("not refused");
  } catch (const Error& e) {
    CHECK(e.error_class() == ErrorClass::kLimit);
  }
}

TEST_CASE("scalars of the host reach a kernel by value, C++ text may hand on device pointers") {
  test::Hand h = usual();
  h.transient("d", "N").storage = Storage::kGpuGlobal;
  h.transient("c", "").storage = Storage::kHeap;
  h.g.containers.at("s").storage = Storage::kRegister;
  Map& device = h.map(h.g.body, {{"i", "0:N"}});
  device.schedule = Schedule::kDevice;
  h.compute(device.body, "o = p", {{"p", "c", ""}}, {"o", "d", "i"});
  State& call = h.compute(h.g.body, "o = p", {{"p", "d", "0:N"}}, {"o", "d", "0:N"});
  auto& code = std::get<Tasklet>(call.nodes[0].kind).code;
  code.language = tasklet::Language::kCpp;
  code.text = "library_call(p, o);";
  CHECK(problems_of(h.g) == "");
}

}  // namespace test_validate_control
