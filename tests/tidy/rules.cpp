// tests/tidy/rules.cpp: the rules as tables: which floor may see which, and which library is
// allowed where.
#include "tests/tidy/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace shortq::tidy {
namespace {

using std::string_view;
using Names = std::span<const string_view>;

// A floor and the floors below it that its files may include. Inner floors come before outer ones:
// the first whose folder is a prefix of a path is the path's floor.
struct Floor {
    string_view folder;
    std::array<string_view, 6> may_include;
};
constexpr std::array<Floor, 8> kFloors{{
    {"proto/", {"proto/"}},
    {"client/", {"client/", "shortq/", "proto/"}},
    {"worker/engine/", {"worker/engine/", "proto/"}},
    {"worker/", {"worker/", "proto/"}},
    {"primary/core/", {"primary/core/", "proto/"}},
    {"primary/auth/", {"primary/auth/", "proto/"}},
    {"primary/", {"primary/", "worker/engine/", "proto/"}},
    {"tools/", {"tools/", "shortq/", "primary/auth/", "primary/core/", "worker/engine/", "proto/"}},
}};

// A library by the beginning of its headers' names, and the folders that may use it. `in_headers`:
// whether their headers may include it too, or only their sources.
struct Library {
    string_view prefix;
    std::array<string_view, 4> folders;
    bool in_headers;
};
constexpr std::array<Library, 9> kLibraries{{
    {"duckdb", {"worker/engine/"}, true},
    {"zmq", {"primary/", "worker/", "client/", "tools/"}, true},
    {"msgpack", {"proto/"}, true},
    {"boost/", {"primary/"}, false},
    {"spdlog/", {"primary/", "worker/"}, true},
    {"CLI/", {"primary/", "worker/", "tools/"}, true},
    {"sodium", {"primary/auth/"}, false},
    {"toml++/", {"primary/"}, false},
    {"nlohmann/", {"primary/", "worker/", "tools/"}, true},
}};

// Headers that are an interface to the floors above: no library shows through them.
constexpr std::array<string_view, 3> kInterfaces{"proto/", "client/include/",
                                                 "worker/engine/engine.h"};

// Headers that only their folder's own sources include.
constexpr std::array<string_view, 2> kPrivateHeaders{"proto/writer.h", "primary/kdb/connection.h"};

// Floors that know no socket at all, though a folder around them may.
constexpr std::array<string_view, 2> kWithoutSockets{"primary/core/", "worker/engine/"};

constexpr std::size_t kShortestPurpose = 20;

// What the core must not know: threads, files, clocks, random devices, the operating system.
constexpr std::array<string_view, 16> kNotInCore{"thread",  "mutex",      "condition_variable",
                                                 "future",  "semaphore",  "stop_token",
                                                 "fstream", "filesystem", "iostream",
                                                 "random",  "ctime",      "time.h",
                                                 "sys/",    "unistd.h",   "fcntl.h",
                                                 "spdlog/"};

bool starts_with_any(string_view text, Names prefixes) {
    return std::ranges::any_of(prefixes, [text](string_view prefix) {
        return !prefix.empty() && text.starts_with(prefix);
    });
}

bool is_interface(string_view path) {
    return starts_with_any(path, kInterfaces) && !starts_with_any(path, kPrivateHeaders);
}
bool is_header(string_view path) { return path.ends_with(".h"); }
bool is_cpp(string_view path) { return is_header(path) || path.ends_with(".cpp"); }
bool is_cmake(string_view path) {
    return path.ends_with("CMakeLists.txt") || path.ends_with(".cmake");
}

string_view trimmed(string_view line) {
    const auto first = line.find_first_not_of(" \t");
    return first == string_view::npos ? string_view{} : line.substr(first);
}

// "zmq.hpp" of `#include <zmq.hpp>`; `quote` is '<' or '"'. Empty if the line is no include.
string_view included(string_view line, char& quote) {
    line = trimmed(line);
    if (!line.starts_with('#')) return {};
    line = trimmed(line.substr(1));
    if (!line.starts_with("include")) return {};
    const auto open = line.find_first_of("<\"");
    if (open == string_view::npos) return {};
    quote = line[open];
    const auto close = line.find_first_of(">\"", open + 1);
    return close == string_view::npos ? string_view{} : line.substr(open + 1, close - open - 1);
}

// "loop" of "worker/loop.cpp".
string_view stem(string_view path) {
    path.remove_prefix(std::min(path.rfind('/') + 1, path.size()));
    return path.substr(0, path.find('.'));
}

// Collects the findings of one file.
class Checker {
public:
    explicit Checker(string_view path) : path_(path) {}

    std::vector<std::string> check(string_view text) {
        if (is_cpp(path_) || path_.ends_with(".cmake")) check_purpose(text);
        if (is_header(path_) && text.find("#pragma once") == string_view::npos)
            report(1, "a header needs #pragma once");
        for (std::size_t number = 1; !text.empty(); ++number) {
            const auto end = std::min(text.find('\n'), text.size());
            check_line(number, text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        return std::move(findings_);
    }

private:
    void report(std::size_t line, string_view what) {
        findings_.push_back(fmt::format("{}:{}: {}", path_, line, what));
    }

    // A file says in its first line what it is for: "// proto/message.h: frame 0 of every ...". A
    // source that begins with its own header leaves that to the header; a test may say it anywhere
    // at the left margin.
    void check_purpose(string_view text) {
        const string_view first_line = text.substr(0, text.find('\n'));
        const string_view mark = is_cpp(path_) ? "// " : "# ";
        char quote = 0;
        const string_view header = included(first_line, quote);
        if (!is_header(path_) && !header.empty() && stem(header) == stem(path_)) return;
        if (first_line.starts_with(mark) && first_line.size() >= kShortestPurpose) return;
        if (path_.ends_with("_test.cpp") && text.find("\n// ") != string_view::npos) return;
        report(1, "the first line must be a comment that says what the file is for");
    }

    void check_line(std::size_t number, string_view line) {
        if (is_cmake(path_)) check_cmake_line(number, line);
        if (!is_cpp(path_)) return;
        char quote = 0;
        if (const string_view header = included(line, quote); !header.empty()) {
            if (quote == '"') check_floor(number, header);
            check_library(number, header);
        }
        // Indented, it is inside a function and harms nobody.
        if (is_header(path_) && line.starts_with("using namespace"))
            report(number, "`using namespace` in a header reaches everybody who includes it");
        if (path_.starts_with("primary/core/") && line.find("_clock::now") != string_view::npos)
            report(number, "the core is told the time and never asks for it");
    }

    void check_cmake_line(std::size_t number, string_view line) {
        std::string lower(trimmed(line));
        std::ranges::transform(lower, lower.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
        std::erase(lower, ' ');
        if (lower.starts_with("file(glob") || lower.starts_with("aux_source_directory("))
            report(number, "sources are listed by name, never globbed");
    }

    void check_floor(std::size_t number, string_view header) {
        const auto floor = std::ranges::find_if(
            kFloors, [this](const Floor& f) { return path_.starts_with(f.folder); });
        if (floor == kFloors.end()) return;  // tests/ may see everything.
        if (header.find('/') == string_view::npos)
            report(number, fmt::format("\"{}\": includes are from the project's folder", header));
        else if (!starts_with_any(header, floor->may_include))
            report(number, fmt::format("\"{}\" is not on a floor below {}", header, floor->folder));
    }

    void check_library(std::size_t number, string_view header) {
        if (path_.starts_with("primary/core/") && starts_with_any(header, kNotInCore))
            report(number, fmt::format("<{}>: the core does no IO and has no threads", header));
        const auto library = std::ranges::find_if(
            kLibraries, [header](const Library& l) { return header.starts_with(l.prefix); });
        if (library == kLibraries.end() || path_.starts_with("tests/")) return;
        const bool socket_free =
            library->prefix == "zmq" && starts_with_any(path_, kWithoutSockets);
        if (socket_free || !starts_with_any(path_, library->folders))
            report(number, fmt::format("<{}> does not belong in this folder", header));
        else if (is_header(path_) && !starts_with_any(path_, kPrivateHeaders) &&
                 (!library->in_headers || is_interface(path_)))
            report(number, fmt::format("<{}> must not show in this header", header));
    }

    string_view path_;
    std::vector<std::string> findings_;
};

}  // namespace

std::vector<std::string> check_file(string_view path, string_view text) {
    return Checker(path).check(text);
}

}  // namespace shortq::tidy
