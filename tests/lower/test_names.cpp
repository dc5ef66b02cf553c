// Identifiers and comments of generated code.
#include <catch2/catch.hpp>

#include "lower/names.hpp"

namespace test_names {

using sdfg::lower::comment_text;
using sdfg::lower::Names;
using sdfg::lower::sanitised;

TEST_CASE("identifiers are words that nobody reserves") {
  CHECK(sanitised("alpha") == "alpha");
  CHECK(sanitised("for") == "for_");
  CHECK(sanitised("int64_t") == "int64_t_");
  CHECK(sanitised("exp") == "exp_");
  CHECK(sanitised("call") == "call_");
  CHECK(sanitised("sdfg_abi") == "sdfg_abi_");
  CHECK(sanitised("__return") == "v_return");
  CHECK(sanitised("_X") == "v_X");
  CHECK(sanitised("1st") == "v1st");
  CHECK(sanitised("") == "v");
  CHECK(sanitised("a b\nc\"d") == "a_b_c_d");
  CHECK(sanitised("\xC3\xA9t\xC3\xA9") == "v_t_");
  CHECK(sanitised("a__b") == "a_b");
  CHECK(sanitised(std::string(500, 'x')).size() <= 64);
}

TEST_CASE("different names get different identifiers, equal ones the same") {
  Names n;
  CHECK(n.of("a b") == "a_b");
  CHECK(n.of("a_b") == "a_b_1");
  CHECK(n.of("a b") == "a_b");
  CHECK(n.fresh("a_b") == "a_b_2");
  CHECK(n.of("for") == "for_");
  CHECK(n.of("for_") == "for_1");
  CHECK(n.taken("for_"));
  CHECK(!n.taken("other"));
}

TEST_CASE("comments are one harmless line") {
  CHECK(comment_text("plain label") == "plain label");
  CHECK(comment_text("ends with \\") == "ends with _");
  CHECK(comment_text("two\nlines") == "two_lines");
  CHECK(comment_text("trigraph ?\?/") == "trigraph __/");
  CHECK(comment_text(std::string(500, 'x')).size() <= 83);
}

}  // namespace test_names
