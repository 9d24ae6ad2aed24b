// tests/fuzz/proto_targets.cpp: every decoder of proto/. What is accepted must survive encoding and
// decoding; what assembles to a batch must be safe to read, cell by cell.
#include "proto/bundle.h"
#include "proto/columnar.h"
#include "proto/fork.h"
#include "proto/format.h"
#include "proto/layout.h"
#include "proto/message.h"
#include "proto/reader.h"
#include "proto/utf8.h"
#include "proto/value.h"
#include "tests/fuzz/frames.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"
#include "tests/proto/arrays.h"
#include "tests/proto/bundles.h"
#include "tests/proto/samples.h"
#include "tests/proto/walk.h"

namespace shortq::fuzz {
namespace {

using proto::HeaderBuffer;

std::string text_of(const std::vector<std::byte>& bytes) {
    return std::string(fuzz::text_of(bytes));
}

void expect_said(const Error& error) {
    SHORTQ_FUZZ_CHECK(error.code == ErrorCode::kBadRequest || error.code == ErrorCode::kTooLarge);
    SHORTQ_FUZZ_CHECK(!error.message.empty());
}

// ---- message

void run_message(Input input) {
    const auto message = proto::decode(input);
    if (!message) return expect_said(message.error());
    HeaderBuffer buffer;
    const auto again = proto::decode(proto::encode(*message, buffer));
    SHORTQ_FUZZ_CHECK(again && *again == *message);
}

// ---- bundle: the body of one; then its bytes as frames, of which a bundle is made.

using Messages = std::vector<std::vector<Input>>;

// Leaves in `messages` those that had room. Pre: they are small.
std::vector<std::byte> write_bundle(Messages& messages) {
    proto::BundleWriter writer;
    for (const auto& message : messages) {
        std::size_t bytes = 0;
        for (const auto frame : message) bytes += frame.size();
        SHORTQ_FUZZ_CHECK(proto::BundleWriter::is_small(bytes, message.size()));
        if (!writer.has_room(bytes, message.size())) break;
        const auto before = writer.body().size();
        writer.begin(message.size());
        for (const auto frame : message) writer.frame(frame);
        SHORTQ_FUZZ_CHECK(writer.body().size() > before + bytes);
        SHORTQ_FUZZ_CHECK(writer.body().size() <= proto::kBundleBytesMax);
    }
    SHORTQ_FUZZ_CHECK(writer.messages() > 0 || messages.empty());
    messages.resize(writer.messages());
    return {writer.body().begin(), writer.body().end()};
}

// An error ends it, and what came before counts.
Messages read_bundle(Input body, bool& whole) {
    Messages messages;
    std::vector<Input> frames;
    whole = true;
    for (proto::BundleReader reader(body); !reader.done();) {
        if (const auto read = reader.next(frames); !read) {
            expect_said(read.error());
            SHORTQ_FUZZ_CHECK(reader.done());
            whole = false;
            break;
        }
        SHORTQ_FUZZ_CHECK(!frames.empty());
        for (const auto frame : frames) {
            SHORTQ_FUZZ_CHECK(frame.data() >= body.data());
            SHORTQ_FUZZ_CHECK(frame.data() + frame.size() <= body.data() + body.size());
        }
        messages.push_back(frames);
    }
    return messages;
}

bool same(const Messages& left, const Messages& right) {
    return std::ranges::equal(left, right, [](const auto& one, const auto& other) {
        return std::ranges::equal(one, other, std::ranges::equal);
    });
}

void expect_same_again(Messages messages) {
    bool whole = false;
    const auto body = write_bundle(messages);
    SHORTQ_FUZZ_CHECK(same(read_bundle(body, whole), messages));
    SHORTQ_FUZZ_CHECK(whole);
}

void run_bundle(Input input) {
    bool whole = false;
    auto messages = read_bundle(input, whole);
    std::erase_if(messages,
                  [](const auto& frames) { return frames.size() > proto::kBundledFramesMax; });
    expect_same_again(messages);
    messages.clear();
    for (Taker taker(input); !taker.done();) {
        auto& frames = messages.emplace_back();
        for (auto left = 1 + taker.byte() % proto::kBundledFramesMax; left > 0; --left)
            frames.push_back(taker.frame());
    }
    expect_same_again(messages);
}

std::vector<std::string> bundle_seeds() {
    const auto headers = message_seeds();
    std::string taken;  // As run_bundle() makes frames of it.
    for (const std::size_t size : {0, 255, 256}) {
        taken += '\x01';
        append_frame(taken, headers.front());
        append_frame(taken, std::string(size, 'x'));
    }
    return {test::bundle_body({{headers[0]}, {headers[1], "select 1"}, {headers[2], "", "z"}}),
            test::bundle_body({{std::string(255, 'a')}, {std::string(256, 'b')}}),
            test::bundle_body({test::Texts(proto::kBundledFramesMax, "e")}),
            std::string("\xdc\x00\x01\xc6\x00\x00\x00\x01z", 9), std::move(taken)};
}

// ---- parameters: NaN is not equal to itself, so bytes are compared.

void run_parameters(Input input) {
    const auto parameters = proto::decode_parameters(input);
    if (!parameters) return expect_said(parameters.error());
    const auto bytes = proto::encode_parameters(*parameters);
    const auto again = proto::decode_parameters(bytes);
    SHORTQ_FUZZ_CHECK(again && proto::encode_parameters(*again) == bytes);
}

std::vector<std::string> parameters_seeds() {
    return {text_of(proto::encode_parameters(Parameters{{"a", Null{}},
                                                        {"", true},
                                                        {"", std::int64_t{-300}},
                                                        {"", 0.5},
                                                        {"n", std::string("text")},
                                                        {"", Blob{"bytes"}},
                                                        {"", Date{9}},
                                                        {"", Timestamp{10}}}))};
}

// ---- schema, layout

void run_schema(Input input) {
    const auto schema = proto::decode_schema(input);
    if (!schema) return expect_said(schema.error());
    SHORTQ_FUZZ_CHECK(proto::decode_schema(proto::encode_schema(*schema)) == *schema);
}

std::vector<std::string> schema_seeds() {
    std::vector<std::string> seeds;
    for (const auto& column : test::every_layout())
        seeds.push_back(text_of(proto::encode_schema({{column.field}})));
    return seeds;
}

void run_layout(Input input) {
    const auto layout = proto::decode_layout(input);
    SHORTQ_FUZZ_CHECK(proto::buffer_frames_of(input).has_value() == layout.has_value());
    if (!layout) return expect_said(layout.error());
    SHORTQ_FUZZ_CHECK(proto::decode_layout(proto::encode_layout(*layout)) == *layout);
}

std::vector<std::string> layout_seeds() {
    std::vector<std::string> seeds;
    for (const auto& column : test::every_layout())
        seeds.push_back(text_of(proto::split(test::batch_of({column})).layout));
    return seeds;
}

// ---- batch: frames as in a reply: schema, layout, buffers.

void run_batch(Input input) {
    Taker taker(input);
    const auto schema = proto::decode_schema(taker.frame());
    if (!schema) return expect_said(schema.error());
    const auto layout = taker.frame();
    const auto buffers = own_buffers(taker.frames());
    const auto batch = proto::assemble(*schema, layout, buffers);
    if (!batch) return expect_said(batch.error());
    if (!is_small(*batch)) return;
    for (std::size_t i = 0; i < batch->columns.size(); ++i)
        static_cast<void>(test::walk(schema->fields[i], batch->columns[i]));
    const auto frames = proto::split(*batch);
    const auto again = proto::assemble(*schema, frames.layout, frames.buffers);
    SHORTQ_FUZZ_CHECK(again && again->rows == batch->rows);
    for (std::size_t i = 0; i < batch->columns.size(); ++i)
        SHORTQ_FUZZ_CHECK(test::same(again->columns[i], batch->columns[i]));
}

// ---- format

void run_format(Input input) {
    const auto format = proto::parse_format(fuzz::text_of(input));
    if (!format) return;
    SHORTQ_FUZZ_CHECK(format->type_ids <= proto::kTypeIdsMax);
    SHORTQ_FUZZ_CHECK(proto::buffer_count(format->shape) <= 3);
    for (const auto child : format->child_of_id)
        SHORTQ_FUZZ_CHECK(format->type_ids == 0 || child < static_cast<int>(format->type_ids));
}

std::vector<std::string> format_seeds() {
    return {"n",    "b",   "l",   "u",       "vz",          "d:18,3", "d:38,0,128", "w:16",
            "tsu:", "tdD", "ttu", "tin",     "tsn:UTC",     "+l",     "+vL",        "+w:3",
            "+s",   "+m",  "+r",  "+us:0,1", "+ud:5,0,127", "tDm"};
}

// ---- reader: no item moves it past the end, and a refused one not at all.

bool read_item(proto::Reader& reader, std::uint8_t kind) {
    std::uint64_t number = 0;
    std::int64_t whole = 0;
    double real = 0;
    bool truth = false;
    std::string_view text;
    switch (kind % 8) {
        case 0:
            return reader.array(number);
        case 1:
            return reader.nil();
        case 2:
            return reader.boolean(truth);
        case 3:
            return reader.unsigned_int(number);
        case 4:
            return reader.signed_int(whole);
        case 5:
            return reader.floating(real);
        case 6:
            return reader.str(text);
        default:
            return reader.bin(text);
    }
}

void run_reader(Input input) {
    proto::Reader reader(input);
    while (!reader.done()) {
        const auto left = reader.left();
        bool any = false;
        for (std::uint8_t kind = 0; kind < 8 && !any; ++kind) {
            any = read_item(reader, kind);
            SHORTQ_FUZZ_CHECK(any ? reader.left() < left : reader.left() == left);
        }
        if (!any) return;
    }
}

std::vector<std::string> reader_seeds() {
    auto seeds = message_seeds();
    seeds.emplace_back("\x93\xc0\xcb\x3f\xf0\0\0\0\0\0\0\xd9\x02hi", 14);
    return seeds;
}

// ---- utf8: against a decoder that goes by the code points.

bool is_utf8_by_code_points(std::string_view text) {
    constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
    for (std::size_t at = 0; at < text.size();) {
        const auto first = static_cast<unsigned char>(text[at]);
        const std::size_t length = first < 0x80               ? 1
                                   : (first & 0xe0U) == 0xc0U ? 2
                                   : (first & 0xf0U) == 0xe0U ? 3
                                   : (first & 0xf8U) == 0xf0U ? 4
                                                              : 0;
        if (length == 0 || text.size() - at < length) return false;
        std::uint32_t code = length == 1 ? first : first & (0x7fU >> length);
        for (std::size_t i = 1; i < length; ++i) {
            const auto next = static_cast<unsigned char>(text[at + i]);
            if ((next & 0xc0U) != 0x80U) return false;
            code = code << 6 | (next & 0x3fU);
        }
        if (code < kLeast[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
            return false;
        at += length;
    }
    return true;
}

void run_utf8(Input input) {
    const auto text = fuzz::text_of(input);
    SHORTQ_FUZZ_CHECK(proto::is_utf8(text) == is_utf8_by_code_points(text));
}

std::vector<std::string> utf8_seeds() {
    return {"plain",
            "j\xc3\xb6rg",
            "\xe2\x82\xac",
            "\xf0\x9f\xa6\x86",
            "\xed\x9f\xbf\xee\x80\x80",
            "\xf4\x8f\xbf\xbf"};
}

// ---- fork: packets between the primary and a fork server.

void run_fork(Input input) {
    if (const auto order = proto::decode_fork_order(input); order) {
        SHORTQ_FUZZ_CHECK(proto::decode_fork_order(proto::encode(*order)) == *order);
    } else {
        expect_said(order.error());
    }
    if (const auto report = proto::decode_fork_report(input); report) {
        SHORTQ_FUZZ_CHECK(proto::decode_fork_report(proto::encode(*report)) == *report);
    } else {
        expect_said(report.error());
    }
}

}  // namespace

std::vector<std::string> message_seeds() {
    std::vector<std::string> seeds;
    for (const auto& messages : {test::typical_messages(), test::largest_messages()}) {
        for (const auto& message : messages) {
            HeaderBuffer buffer;
            seeds.emplace_back(fuzz::text_of(proto::encode(message, buffer)));
        }
    }
    return seeds;
}

std::vector<std::string> fork_seeds() {
    const std::vector<ForkReport> reports{
        BaseLoaded{.load_us = 300, .base_bytes = 1 << 20},
        BaseFailed{Error{ErrorCode::kQueryError, "no such table", "startup.sql:14", false}},
        CannotFork{"a thread is left"}, Forked{.worker = 7, .pid = 4711},
        ForkFailed{.worker = 7, .reason = "no memory"}};
    std::vector<std::string> seeds{
        text_of(proto::encode(ForkOrder{.worker = 7, .seat = 2, .temp_directory = "/tmp/x"}))};
    for (const auto& report : reports) seeds.push_back(text_of(proto::encode(report)));
    return seeds;
}

std::vector<std::string> batch_seeds() {
    std::vector<std::string> seeds;
    for (const auto& column : test::every_layout()) {
        std::string seed;
        append_frame(seed, proto::encode_schema({{column.field}}));
        const auto frames = proto::split(test::batch_of({column}));
        append_frame(seed, frames.layout);
        for (const auto& buffer : frames.buffers) append_frame(seed, buffer.bytes);
        seeds.push_back(std::move(seed));
    }
    return seeds;
}

std::vector<Target> proto_targets() {
    return {
        {"message", "frame 0 of every kind", proto::kHeaderBytesMax + 8, run_message,
         message_seeds},
        {"bundle", "messages that go together", 1024, run_bundle, bundle_seeds},
        {"parameters", "a request's parameters", 1024, run_parameters, parameters_seeds},
        {"schema", "a result's schema", 1024, run_schema, schema_seeds},
        {"layout", "the layout of a batch", 512, run_layout, layout_seeds},
        {"batch", "a batch of rows, put together and read", 2048, run_batch, batch_seeds},
        {"format", "Arrow format strings", 64, run_format, format_seeds},
        {"reader", "msgpack items", 256, run_reader, reader_seeds},
        {"utf8", "well-formed UTF-8", 64, run_utf8, utf8_seeds},
        {"fork", "orders and reports of fork servers", 1024, run_fork, fork_seeds},
    };
}

}  // namespace shortq::fuzz
