// The text of errors and source locations.
#include <catch2/catch.hpp>
#include <sdfg/error.hpp>

namespace test_error {

using sdfg::Error;
using sdfg::ErrorClass;
using sdfg::SourceLocation;

TEST_CASE("an error's text is class, sentence, places innermost first, hint") {
  const Error error(ErrorClass::kGraph, "map 'i, j' writes B[i, j+1] for j up to N-2",
                    {{"element expression", SourceLocation("/home/me/jacobi.cpp", 14, 7)},
                     {"in map", SourceLocation("jacobi.cpp", 13)},
                     {"in state 's'", {}}},
                    "the map's upper bound for j would have to be N-1");
  CHECK(std::string(error.what()) ==
        "graph error: map 'i, j' writes B[i, j+1] for j up to N-2\n"
        "  element expression at jacobi.cpp:14:7\n"
        "  in map at jacobi.cpp:13\n"
        "  in state 's'\n"
        "  hint: the map's upper bound for j would have to be N-1");
  CHECK(error.error_class() == ErrorClass::kGraph);
  CHECK(error.message() == "map 'i, j' writes B[i, j+1] for j up to N-2");
  CHECK(error.places().size() == 3);
}

TEST_CASE("an error without places or hint is one line") {
  CHECK(std::string(Error(ErrorClass::kDeviceLost, "gone").what()) == "device lost error: gone");
}

TEST_CASE("an unknown location has no text") {
  CHECK(SourceLocation().str().empty());
  CHECK(SourceLocation("a/b.cpp", 3).str() == "b.cpp:3");
}

}  // namespace test_error
