#include "tools/bench/processes.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace shortq::bench {
namespace {

std::string content(pid_t pid, const char* name) {
    std::ifstream file("/proc/" + std::to_string(pid) + '/' + name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::multimap<pid_t, pid_t> children_by_parent() {
    std::multimap<pid_t, pid_t> children;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const auto name = entry.path().filename().string();
        pid_t pid = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (error != std::errc() || end != name.data() + name.size()) continue;
        if (const auto parent = parent_in(content(pid, "stat"))) children.emplace(*parent, pid);
    }
    return children;
}

// The value of a line like "Pss:     123 kB".
std::optional<std::uint64_t> bytes_of(std::string_view wanted, std::string_view text) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name;
        std::string unit;
        std::uint64_t kilobytes = 0;
        if (words >> name >> kilobytes >> unit && name == wanted && unit == "kB")
            return kilobytes * 1024;
    }
    return std::nullopt;
}

}  // namespace

std::optional<pid_t> parent_in(std::string_view stat) {
    // "pid (name) state parent ...": the name may hold anything, so look for its last bracket.
    const auto close = stat.rfind(')');
    if (close == std::string_view::npos) return std::nullopt;
    std::istringstream rest{std::string(stat.substr(close + 1))};
    char state = 0;
    pid_t parent = 0;
    if (!(rest >> state >> parent)) return std::nullopt;
    return parent;
}

std::optional<std::uint64_t> proportional_bytes_in(std::string_view smaps_rollup) {
    return bytes_of("Pss:", smaps_rollup);
}

std::optional<std::uint64_t> anonymous_bytes_in(std::string_view status) {
    return bytes_of("RssAnon:", status);
}

std::uint64_t anonymous_bytes(pid_t process) {
    return anonymous_bytes_in(content(process, "status")).value_or(0);
}

std::vector<pid_t> family_of(pid_t root) {
    const auto children = children_by_parent();
    std::vector<pid_t> family{root};
    for (std::size_t next = 0; next < family.size(); ++next) {
        const auto [from, to] = children.equal_range(family[next]);
        std::for_each(from, to, [&](const auto& child) { family.push_back(child.second); });
    }
    return family;
}

Result<std::uint64_t> proportional_bytes(const std::vector<pid_t>& processes) {
    std::optional<std::uint64_t> sum;
    for (const pid_t pid : processes) {
        if (const auto bytes = proportional_bytes_in(content(pid, "smaps_rollup")))
            sum = sum.value_or(0) + *bytes;
    }
    if (!sum) return fail(ErrorCode::kInternal, "the kernel does not tell the processes' memory");
    return *sum;
}

}  // namespace shortq::bench
