// Goal: no bytes at all crash a decoder.
// Method: a fixed slice of a seeded stream: noise, and good frames with random edits. Raise
// SHORTQ_FUZZ_INPUTS to run longer; a failure prints the input as hex.
#include <gmock/gmock.h>

#include <cstdlib>
#include <functional>
#include <random>

#include "proto/columnar.h"
#include "proto/layout.h"
#include "proto/message.h"
#include "proto/value.h"
#include "tests/proto/arrays.h"
#include "tests/proto/bytes.h"
#include "tests/proto/samples.h"
#include "tests/proto/walk.h"

namespace shortq::proto {
namespace {

using test::Bytes;

std::size_t inputs() {
    const char* text = std::getenv("SHORTQ_FUZZ_INPUTS");
    return text == nullptr ? 30'000 : std::strtoull(text, nullptr, 10);
}

class Noise {
public:
    explicit Noise(std::uint64_t seed) : random_(seed) {}

    std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

    Bytes bytes(std::size_t length) {
        Bytes noise(length);
        for (std::byte& byte : noise) {
            byte = static_cast<std::byte>(random_());
        }
        return noise;
    }

    // One to four edits: overwrite, insert, remove, or copy from another place.
    Bytes edited(Bytes frame) {
        for (std::size_t edits = 1 + below(4); edits > 0 && !frame.empty(); --edits) {
            const auto at = frame.begin() + static_cast<std::ptrdiff_t>(below(frame.size()));
            const auto from = frame.begin() + static_cast<std::ptrdiff_t>(below(frame.size()));
            switch (below(4)) {
                case 0:
                    *at = static_cast<std::byte>(random_());
                    break;
                case 1:
                    frame.insert(at, static_cast<std::byte>(random_()));
                    break;
                case 2:
                    frame.erase(at);
                    break;
                default:
                    *at = *from;
                    break;
            }
        }
        return frame;
    }

private:
    std::mt19937_64 random_;
};

// Feeds `decodes` (true: accepted) with noise and with edits of `good` frames.
void feed(std::uint64_t seed, const std::vector<Bytes>& good,
          const std::function<bool(const Bytes&)>& decodes) {
    Noise noise(seed);
    std::size_t accepted = 0;
    const std::size_t count = inputs();
    for (std::size_t i = 0; i < count; ++i) {
        const Bytes input = i % 2 == 0 ? noise.bytes(noise.below(48))
                                       : noise.edited(good[noise.below(good.size())]);
        accepted += decodes(input) ? 1U : 0U;
        if (testing::Test::HasFailure()) {
            FAIL() << "input " << i << " of seed " << seed << ": " << test::to_hex(input);
        }
    }
    EXPECT_GT(accepted, 0U) << "the edits were too wild to teach anything";
    EXPECT_LT(accepted, count);
}

TEST(RandomTest, Messages) {
    std::vector<Bytes> good;
    for (const Message& message : test::typical_messages()) {
        HeaderBuffer buffer;
        good.push_back(test::copy_of(encode(message, buffer)));
    }
    feed(1, good, [](const Bytes& input) {
        const auto decoded = decode(input);
        if (decoded) {
            HeaderBuffer buffer;
            const auto again = decode(encode(*decoded, buffer));
            EXPECT_TRUE(again && *again == *decoded);
        }
        return decoded.has_value();
    });
}

TEST(RandomTest, Parameters) {
    const std::vector<Bytes> good = {encode_parameters(Parameters{{"a", Null{}},
                                                                  {"", true},
                                                                  {"", std::int64_t{300}},
                                                                  {"", 0.5},
                                                                  {"n", std::string("text")},
                                                                  {"", Blob{"bytes"}},
                                                                  {"", Date{9}},
                                                                  {"", Timestamp{10}}})};
    feed(2, good, [](const Bytes& input) {
        const auto decoded = decode_parameters(input);
        if (decoded) {
            const Bytes bytes = encode_parameters(*decoded);
            const auto again = decode_parameters(bytes);
            EXPECT_TRUE(again && encode_parameters(*again) == bytes);
        }
        return decoded.has_value();
    });
}

TEST(RandomTest, Schemas) {
    std::vector<Bytes> good;
    for (const auto& column : test::every_layout()) {
        good.push_back(encode_schema({{column.field}}));
    }
    feed(3, good, [](const Bytes& input) {
        const auto decoded = decode_schema(input);
        if (decoded) {
            EXPECT_EQ(decode_schema(encode_schema(*decoded)), *decoded);
        }
        return decoded.has_value();
    });
}

TEST(RandomTest, Layouts) {
    std::vector<Bytes> good;
    for (const auto& column : test::every_layout()) {
        good.push_back(split(test::batch_of({column})).layout);
    }
    feed(4, good, [](const Bytes& input) {
        const auto decoded = decode_layout(input);
        EXPECT_EQ(buffer_frames_of(input).has_value(), decoded.has_value());
        if (decoded) {
            EXPECT_EQ(decode_layout(encode_layout(*decoded)), *decoded);
        }
        return decoded.has_value();
    });
}

// Schema, layout and buffers edited at once: what passes is read cell by cell.
TEST(RandomTest, Batches) {
    Noise noise(5);
    const auto columns = test::every_layout();
    std::size_t accepted = 0;
    for (std::size_t i = 0; i < inputs() / 2; ++i) {
        const auto& column = columns[noise.below(columns.size())];
        BatchFrames frames = split(test::batch_of({column}));
        if (noise.below(2) == 0) {
            frames.layout = noise.edited(frames.layout);
        }
        if (!frames.buffers.empty()) {
            Buffer& buffer = frames.buffers[noise.below(frames.buffers.size())];
            buffer = test::buffer_of(noise.edited(test::copy_of(buffer.bytes)));
        }
        const Field& other = columns[noise.below(columns.size())].field;
        const Schema schema{{noise.below(8) == 0 ? other : column.field}};
        const auto batch = assemble(schema, frames.layout, frames.buffers);
        if (batch && batch->rows <= 100) {
            ++accepted;
            test::walk(schema.fields[0], batch->columns[0]);
        }
    }
    EXPECT_GT(accepted, inputs() / 100);
}

}  // namespace
}  // namespace shortq::proto
