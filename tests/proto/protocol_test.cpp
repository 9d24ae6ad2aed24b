// Goal: PROTOCOL.md says what the code does.
// Method: its tables of errors and its example are read from the page and checked.
#include <gmock/gmock.h>

#include <fstream>
#include <string>
#include <variant>

#include "proto/columnar.h"
#include "proto/message.h"
#include "proto/value.h"
#include "tests/proto/arrays.h"
#include "tests/proto/bytes.h"

namespace shortq::proto {
namespace {

std::vector<std::string> lines_of_the_page() {
    std::ifstream page(SHORTQ_PROTOCOL_PAGE);
    std::vector<std::string> lines;
    for (std::string line; std::getline(page, line);) {
        lines.push_back(line);
    }
    return lines;
}

std::string trimmed(std::string_view text) {
    while (text.starts_with(' ')) {
        text.remove_prefix(1);
    }
    while (text.ends_with(' ')) {
        text.remove_suffix(1);
    }
    return std::string(text);
}

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "| a | b |" gives "a", "b"; other lines give nothing.
std::vector<std::string> cells_of(std::string_view line) {
    std::vector<std::string> cells;
    if (!line.starts_with('|') || !line.ends_with('|')) {
        return cells;
    }
    line.remove_prefix(1);
    for (auto bar = line.find('|'); bar != std::string_view::npos; bar = line.find('|')) {
        cells.push_back(trimmed(line.substr(0, bar)));
        line.remove_prefix(bar + 1);
    }
    return cells;
}

// "| 5 | `timeout` | what it means | yes |"
TEST(ProtocolPageTest, ErrorsAreTheCodes) {
    std::size_t rows = 0;
    for (const std::string& line : lines_of_the_page()) {
        const auto cells = cells_of(line);
        if (cells.size() != 4 || !is_number(cells[0]) || !cells[1].starts_with('`')) {
            continue;
        }
        ++rows;
        const auto code = error_code_from(std::stoull(cells[0]));
        ASSERT_TRUE(code) << line;
        EXPECT_EQ('`' + std::string(name_of(*code)) + '`', cells[1]);
        EXPECT_FALSE(retryable_by_default(*code) && cells[3] == "no") << line;
    }
    EXPECT_EQ(rows, static_cast<std::size_t>(ErrorCode::kConnection));
}

// How many fields "id u64, role u8 (0 client, 1 worker), FACTS" names.
std::size_t field_count(const std::string& fields) {
    if (fields == "none") {
        return 0;
    }
    const std::size_t facts = fields.find("FACTS") == std::string::npos ? 0 : 5;
    std::size_t count = 1 + facts;
    bool inside = false;
    for (const char c : fields) {
        inside = c == '(' || (inside && c != ')');
        count += c == ',' && !inside ? 1U : 0U;
    }
    return count;
}

// "| recall | 10 | P W | id u64 |"
TEST(ProtocolPageTest, KindsHaveTheirNumbersAndFields) {
    std::size_t rows = 0;
    for (const std::string& line : lines_of_the_page()) {
        const auto cells = cells_of(line);
        if (cells.size() != 4 || is_number(cells[0]) || !is_number(cells[1]) || cells[2].empty()) {
            continue;
        }
        ++rows;
        // An array of the kind and nothing else tells how many fields were expected.
        auto bytes = test::from_hex("92 01 00");
        bytes[2] = static_cast<std::byte>(std::stoul(cells[1]));
        const auto decoded = decode(bytes);
        const std::size_t count = field_count(cells[3]);
        EXPECT_EQ(decoded ? std::string() : decoded.error().message,
                  count == 0 ? std::string()
                             : "malformed " + cells[0] + ": 2 fields instead of " +
                                   std::to_string(count + 2));
    }
    EXPECT_EQ(rows, std::variant_size_v<Message>);
}

// The indented lines that are bytes: "    C  99 01 ..." or "       93 02 ...".
std::vector<test::Bytes> frames_of_the_example() {
    std::vector<test::Bytes> frames;
    for (const std::string& line : lines_of_the_page()) {
        const std::string hex = line.size() > 7 ? line.substr(7) : std::string();
        if (line.starts_with("    ") &&
            hex.find_first_not_of("0123456789abcdef ") == std::string::npos && !hex.empty()) {
            frames.push_back(test::from_hex(hex));
        }
    }
    return frames;
}

TEST(ProtocolPageTest, TheExampleDecodesToWhatTheTextSays) {
    const auto frames = frames_of_the_example();
    ASSERT_EQ(frames.size(), 8U);
    const auto hello = decode(frames[0]);
    const auto welcome = decode(frames[1]);
    const auto request = decode(frames[2]);
    const auto reply = decode(frames[4]);
    ASSERT_TRUE(hello && welcome && request && reply);
    EXPECT_TRUE(*hello == Message(Hello{.pid = 258, .agent = "cli"}));
    EXPECT_EQ(std::get<Welcome>(*welcome).session, 9U);
    EXPECT_TRUE(*request == Message(Request{.id = 7, .session = 9, .timeout_ms = 1000}));
    EXPECT_EQ(decode_parameters(frames[3]), (Parameters{{"", std::int64_t{-1}}}));

    const auto schema = decode_schema(frames[5]);
    ASSERT_TRUE(schema);
    const auto values = test::buffer_of(frames[7]);
    const auto batch = assemble(*schema, frames[6], std::span(&values, 1));
    ASSERT_TRUE(batch) << batch.error().message;
    EXPECT_TRUE(test::same(batch->columns[0], test::numbers<std::int64_t>("l", {-1}).array));
    const auto& facts = std::get<Reply>(*reply).facts;
    EXPECT_EQ(facts.rows, 1U);
    EXPECT_EQ(facts.bytes, frames[5].size() + frames[6].size() + frames[7].size());
}

}  // namespace
}  // namespace shortq::proto
