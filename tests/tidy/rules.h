// tests/tidy/rules.h: the house rules that a program can check in the text of the sources.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shortq::tidy {

// What is wrong with one file: "worker/loop.cpp:12: ...", one text for each finding; empty if
// nothing is. `path` is relative to the project's folder and decides which rules apply.
[[nodiscard]] std::vector<std::string> check_file(std::string_view path, std::string_view text);

}  // namespace shortq::tidy
