// Visiting variants of the scalar code tree with a set of lambdas.
#pragma once

namespace sdfg::tasklet {

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace sdfg::tasklet
