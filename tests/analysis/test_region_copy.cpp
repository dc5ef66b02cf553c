// Which copies a copy engine can do, and in what pieces.
#include <catch2/catch.hpp>

#include "../support/make.hpp"
#include "analysis/most_points.hpp"
#include "analysis/region_copy.hpp"

namespace test_region_copy {

using namespace sdfg;
using namespace sdfg::test;

namespace {

struct Side {
  std::string shape, subset, strides = {};
};

std::string region(const Side& from, const Side& to) {
  const auto layout = [](const Side& s) {
    return s.strides.empty() ? ir::Layout::packed(Maker::extents(s.shape))
                             : ir::Layout::strided(Maker::extents(s.shape), Maker::extents(s.strides));
  };
  symbolic::Facts facts = symbolic::Facts().with_positive("N").with_positive("M");
  const auto r = analysis::region_copy(symbolic::parse_subset(from.subset), layout(from),
                                       symbolic::parse_subset(to.subset), layout(to), facts);
  if (!r) return "none";
  std::string out;
  for (const auto& d : r->dimensions)
    out += d.size.str() + " at " + d.from_stride.str() + " to " + d.to_stride.str() + ", ";
  return out + "run " + r->run.str();
}

}  // namespace

TEST_CASE("regions of copies") {
  CHECK(region({"N", "0:N"}, {"N", "0:N"}) == "run N");
  CHECK(region({"M, N", "0:M, 0:N"}, {"M, N", "0:M, 0:N"}) == "run M*N");
  CHECK(region({"M, N", "3, 0:N"}, {"N", "0:N"}) == "run N");                         // a row
  CHECK(region({"M, N", "0:M, 2"}, {"M", "0:M"}) == "M at N to 1, run 1");            // a column
  CHECK(region({"M, N", "0:M, 0:3"}, {"M, 3", "0:M, 0:3"}) == "M at N to 3, run 3");  // a band
  CHECK(region({"N", "0:N:2"}, {"N", "0:(N + 1)//2"}).find("at 2 to 1, run 1") != std::string::npos);
  CHECK(region({"M, N", "0:M, 0:N", "N + 4, 1"}, {"M, N", "0:M, 0:N"}) == "M at N + 4 to N, run N");  // padded
  CHECK(region({"M*N", "0:M*N"}, {"M, N", "0:M, 0:N"}) == "run M*N");  // another shape, no gaps
  CHECK(region({"M*N", "0:M*N"}, {"M, N", "0:M, 0:N", "N + 4, 1"}) == "M at N to N + 4, run N");
  CHECK(region({"M, N", "0:M, 0:N", "N + 4, 1"}, {"N, M", "0:N, 0:M", "M + 4, 1"}) == "none");
  CHECK(region({"5, M, N", "0:5, 1:M, 1:N"}, {"5, M, N", "0:5, 1:M, 1:N"}) ==
        "5 at M*N to M*N, M - 1 at N to N, run N - 1");
  // Column-major sides agree with each other.
  CHECK(region({"M, N", "0:M, 0:N", "1, M"}, {"M, N", "0:M, 0:N", "1, M"}) == "run M*N");
}

TEST_CASE("bounds of the points of a range") {
  const auto most = [](const std::string& range) {
    return analysis::most_points(symbolic::parse_subset(range)[0], symbolic::Facts());
  };
  CHECK(most("0:10") == 10);
  CHECK(most("0:10:3") == 4);
  CHECK(most("b:min(N, b + 32)") == 32);
  CHECK(most("0:min(32, N - b)") == 32);
  CHECK(most("7:3") == 1);
  CHECK(!most("0:N"));
}

}  // namespace test_region_copy
