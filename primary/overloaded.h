// primary/overloaded.h: one lambda per alternative of a std::variant.
#pragma once

namespace shortq::primary {

template <class... Handlers>
struct Overloaded : Handlers... {
    using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

}  // namespace shortq::primary
