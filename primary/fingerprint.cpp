// primary/fingerprint.cpp: one pass over the text. Dispatching waits for it, so it does not parse.
#include "primary/fingerprint.h"

#include <algorithm>

namespace shortq::primary {

namespace {

constexpr std::size_t kLookedAtMax = 4096;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
// What a name goes on with: a digit in it is no literal.
bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

// FNV-1a.
class Hash {
public:
    void add(char c) { value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL; }
    void add(std::uint64_t number) { value_ = (value_ ^ number) * 0x100000001b3ULL; }
    // Its low bits choose a place in a table: they are to depend on all of it.
    [[nodiscard]] std::uint64_t value() const {
        return std::max<std::uint64_t>(value_ ^ value_ >> 29, 1);
    }

private:
    std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

// Where what begins with a quote at `at` ends.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
    const char quote = text[at];
    for (++at; at < text.size(); ++at) {
        if (text[at] != quote) continue;
        if (at + 1 == text.size() || text[at + 1] != quote) return at + 1;
        ++at;  // A quote in it.
    }
    return at;
}
std::size_t end_of_number(std::string_view text, std::size_t at) {
    while (at < text.size() && (is_name(text[at]) || text[at] == '.')) ++at;
    return at;
}

}  // namespace

std::uint64_t fingerprint_of(std::string_view whole) noexcept {
    const auto text = whole.substr(0, kLookedAtMax);
    Hash hash;
    bool in_name = false;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '\'') {
            hash.add('?');
            at = end_of_quoted(text, at);
            in_name = false;
        } else if (c == '"') {
            const auto end = end_of_quoted(text, at);
            while (at < end) hash.add(text[at++]);
            in_name = false;
        } else if (is_digit(c) && !in_name) {
            hash.add('?');
            at = end_of_number(text, at);
        } else if (is_space(c)) {
            hash.add(' ');
            while (at < text.size() && is_space(text[at])) ++at;
            in_name = false;
        } else {
            hash.add(c);
            in_name = is_name(c);
            ++at;
        }
    }
    if (whole.size() > kLookedAtMax) hash.add(std::uint64_t{whole.size()});
    return hash.value();
}

}  // namespace shortq::primary
