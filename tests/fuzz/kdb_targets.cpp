// tests/fuzz/kdb_targets.cpp: what a kdb+ client may send, and results on their way to it.
#include <algorithm>
#include <optional>

#include "proto/kdb/compress.h"
#include "proto/kdb/handshake.h"
#include "proto/kdb/message.h"
#include "proto/kdb/object.h"
#include "proto/kdb/query.h"
#include "proto/kdb/reply.h"
#include "proto/kdb/table.h"
#include "proto/utf8.h"
#include "tests/fuzz/frames.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"

namespace shortq::fuzz {
namespace {

using kdb::ByteOrder;
using kdb::Kind;
using kdb::Object;
using kdb::Type;

constexpr std::uint64_t kMessageBytes = std::uint64_t{64} << 10;

void expect_said(const Error& error) {
    SHORTQ_FUZZ_CHECK(error.code == ErrorCode::kBadRequest || error.code == ErrorCode::kTooLarge);
    SHORTQ_FUZZ_CHECK(proto::is_utf8(error.message) && !error.message.empty());
}

std::string text_of(const std::vector<std::byte>& bytes) {
    return std::string(fuzz::text_of(bytes));
}

// ---- handshake: whole and byte by byte it is the same one, of the same bytes.

struct Greeting {
    std::optional<kdb::Handshake> handshake{};
    bool refused = false;
    std::size_t used = 0;
    bool operator==(const Greeting&) const = default;
};

Greeting greet(Input input, std::size_t piece) {
    kdb::HandshakeReader reader;
    Greeting greeting;
    while (greeting.used < input.size() && !greeting.handshake && !greeting.refused) {
        const auto next = input.subspan(greeting.used);
        auto rest = next.first(std::min(piece, next.size()));
        const auto before = rest.size();
        auto read = reader.read(rest);
        greeting.used += before - rest.size();
        greeting.refused = !read;
        if (read) greeting.handshake = std::move(*read);
    }
    return greeting;
}

void run_handshake(Input input) {
    const auto whole = greet(input, input.size());
    SHORTQ_FUZZ_CHECK(greet(input, 1) == whole);
    SHORTQ_FUZZ_CHECK(whole.used <= kdb::kHandshakeBytesMax);
    SHORTQ_FUZZ_CHECK(!whole.handshake || proto::is_utf8(whole.handshake->user));
}

std::vector<std::string> handshake_seeds() {
    using namespace std::string_literals;
    return {"anonymous\3\0"s, "user:pw\3\0next"s, ":\3\0"s,
            "user:pw\0"s,     "user:p:w\6\0"s,    "GET / HTTP/1.1\r\n\r\n"s};
}

// ---- messages: however the stream is cut, the same bodies come out.

struct Found {
    std::vector<std::string> bodies{};
    bool failed = false;
    bool operator==(const Found&) const = default;
};

Found find_all(Input input, std::size_t piece) {
    kdb::MessageReader reader(kMessageBytes);
    Found found;
    for (std::size_t at = 0; at < input.size(); at += piece) {
        auto rest = input.subspan(at, std::min(piece, input.size() - at));
        while (true) {
            const auto message = reader.read(rest);
            if (!message) {
                expect_said(message.error());
                found.failed = true;
                return found;
            }
            if (!*message) break;
            SHORTQ_FUZZ_CHECK((*message)->body.size() < kMessageBytes);
            found.bodies.emplace_back(fuzz::text_of((*message)->body));
        }
        SHORTQ_FUZZ_CHECK(rest.empty() && reader.buffered() <= input.size());
    }
    return found;
}

void run_messages(Input input) {
    if (input.empty()) return;
    const auto piece = 1 + std::to_integer<std::size_t>(input.front()) % 32;
    const auto stream = input.subspan(1);
    SHORTQ_FUZZ_CHECK(find_all(stream, piece) == find_all(stream, input.size()));
}

std::vector<Object> objects() {
    const auto item = [](Type type, Object::Items items) {
        return kdb::atom_of(type, std::move(items));
    };
    const Object sql = kdb::text_of("select ?");
    const Object name = item(Type::kSymbol, std::vector<std::string>{"x"});
    const Object lambda =
        kdb::vector_of(Type::kLambda, std::vector<Object>{name, kdb::text_of("{x+y}")});
    const Object columns = kdb::vector_of(
        Type::kDictionary,
        std::vector<Object>{
            kdb::vector_of(Type::kSymbol, std::vector<std::string>{"a"}),
            kdb::list_of({kdb::vector_of(Type::kInt, std::vector<std::int32_t>{1, 2})})});
    return {sql,
            Object{},
            kdb::list_of({sql, item(Type::kLong, std::vector<std::int64_t>{1}), name}),
            kdb::list_of({sql, item(Type::kDate, std::vector<std::int32_t>{1}),
                          item(Type::kTimestamp, std::vector<std::int64_t>{-1}),
                          item(Type::kTimespan, std::vector<std::int64_t>{-1}),
                          item(Type::kMonth, std::vector<std::int32_t>{1}),
                          item(Type::kDatetime, std::vector<double>{0.5}),
                          item(Type::kGuid, std::vector<kdb::Guid>{kdb::Guid{}}),
                          item(Type::kReal, std::vector<float>{0.5F}),
                          item(Type::kShort, std::vector<std::int16_t>{1}),
                          item(Type::kBoolean, std::vector<std::uint8_t>{1})}),
            kdb::list_of({kdb::text_of(".o.ex"), sql, kdb::list_of({name})}),
            kdb::list_of({lambda, kdb::text_of(".o.ex"), sql}),
            kdb::vector_of(Type::kError, std::string("type")),
            kdb::vector_of(Type::kTable, std::vector<Object>{columns}),
            kdb::vector_of(Type::kProjection, std::vector<Object>{lambda, Object{}}),
            kdb::vector_of(Type::kEach, std::vector<Object>{lambda})};
}

std::vector<std::string> messages_seeds() {
    std::string all{'\x07'};
    std::vector<std::string> seeds;
    for (const auto& object : objects()) {
        const auto order = seeds.size() % 2 == 0 ? ByteOrder::kLittle : ByteOrder::kBig;
        const auto message = text_of(kdb::encode_message(object, Kind::kSync, order));
        seeds.push_back('\x03' + message);
        all += message;
    }
    const auto many = kdb::vector_of(Type::kLong, std::vector<std::int64_t>(20, 7));
    all += text_of(*kdb::compress(kdb::encode_message(many, Kind::kAsync)));
    seeds.push_back(all);
    return seeds;
}

// ---- object, query: a byte for the order, and a body.

ByteOrder take_order(Input& input) {
    const auto order = std::to_integer<unsigned>(input.front()) % 2;
    input = input.subspan(1);
    return static_cast<ByteOrder>(order);
}

void run_object(Input input) {
    if (input.empty()) return;
    const auto order = take_order(input);
    const auto object = kdb::decode(input, order);
    if (!object) return expect_said(object.error());
    std::vector<std::byte> again;
    kdb::append_object(*object, order, again);
    SHORTQ_FUZZ_CHECK(std::ranges::equal(again, input));
}

void run_query(Input input) {
    if (input.empty()) return;
    const auto order = take_order(input);
    const auto query = kdb::read_query(input, order);
    if (!query) return expect_said(query.error());
    if (!*query) return;
    SHORTQ_FUZZ_CHECK(proto::is_utf8((*query)->text));
    const auto* const begin = reinterpret_cast<const char*>(input.data());
    SHORTQ_FUZZ_CHECK((*query)->text.empty() ||
                      ((*query)->text.data() > begin &&
                       (*query)->text.data() + (*query)->text.size() <= begin + input.size()));
    // What the workers are told.
    const auto frame = proto::encode_parameters((*query)->parameters);
    SHORTQ_FUZZ_CHECK(proto::decode_parameters(frame).has_value());
}

std::vector<std::string> body_seeds() {
    std::vector<std::string> seeds;
    for (const auto& object : objects()) {
        const auto order = seeds.size() % 2 == 0 ? ByteOrder::kLittle : ByteOrder::kBig;
        std::vector<std::byte> body{static_cast<std::byte>(order)};
        kdb::append_object(object, order, body);
        seeds.push_back(text_of(body));
    }
    return seeds;
}

// ---- compression: the input as a plain message, and as a compressed one.

void run_compress(Input input) {
    if (input.size() < kdb::kHeaderBytes) return;
    std::vector<std::byte> plain;
    if (const auto packed = kdb::compress(input)) {
        SHORTQ_FUZZ_CHECK(packed->size() <= input.size() / 2);
        SHORTQ_FUZZ_CHECK(
            kdb::decompress(*packed, ByteOrder::kLittle, input.size(), plain).has_value());
        SHORTQ_FUZZ_CHECK(std::ranges::equal(std::span(plain).subspan(kdb::kHeaderBytes),
                                             input.subspan(kdb::kHeaderBytes)));
    }
    const auto done = kdb::decompress(input, ByteOrder::kLittle, kMessageBytes, plain);
    if (!done) return expect_said(done.error());
    SHORTQ_FUZZ_CHECK(plain.size() <= kMessageBytes);
}

std::vector<std::string> compress_seeds() {
    const auto plain = kdb::encode_message(
        kdb::vector_of(Type::kLong, std::vector<std::int64_t>{1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 4, 4}),
        Kind::kAsync);
    const auto equal = kdb::encode_message(kdb::text_of(std::string(300, 'x')), Kind::kAsync);
    return {text_of(plain), text_of(equal), text_of(*kdb::compress(equal)),
            text_of(*kdb::compress(plain))};
}

// ---- table: frames as in a reply. What is measured is written, and can be read.

std::size_t depth_of(const Field& field) {
    std::size_t depth = 0;
    for (const auto& child : field.children) depth = std::max(depth, depth_of(child));
    return depth + 1;
}

void write_table(const Schema& schema, const Batch& batch, bool char_vectors) {
    auto table = kdb::TableWriter::make(schema, {.texts_as_char_vectors = char_vectors});
    if (!table) return;
    for (int i = 0; i < 2; ++i) {
        if (const auto measured = table->measure(batch); !measured) return;
    }
    const auto bytes = table->message_bytes();
    if (!bytes || *bytes > 16 * kMessageBytes) return;
    std::vector<std::byte> out;
    const std::vector<Batch> twice{batch, batch};
    kdb::append_table(*table, Kind::kResponse, twice, out);
    SHORTQ_FUZZ_CHECK(out.size() == *bytes);
    const auto deep = std::ranges::any_of(
        schema.fields, [](const Field& field) { return depth_of(field) > kdb::kDepthMax / 4; });
    const auto body = std::span<const std::byte>(out).subspan(kdb::kHeaderBytes);
    SHORTQ_FUZZ_CHECK(deep || kdb::decode(body, ByteOrder::kLittle).has_value());
}

void run_table(Input input) {
    Taker taker(input);
    const auto schema = proto::decode_schema(taker.frame());
    if (!schema) return;
    const auto layout = taker.frame();
    const auto buffers = own_buffers(taker.frames());
    const auto batch = proto::assemble(*schema, layout, buffers);
    if (!batch || !is_small(*batch)) return;
    write_table(*schema, *batch, false);
    write_table(*schema, *batch, true);
}

}  // namespace

std::vector<Target> kdb_targets() {
    return {
        {"kdb_handshake", "a kdb+ client's first bytes", 1100, run_handshake, handshake_seeds},
        {"kdb_messages", "a stream of kdb+ messages, cut in pieces", 1024, run_messages,
         messages_seeds},
        {"kdb_object", "any kdb+ object", 512, run_object, body_seeds},
        {"kdb_query", "a kdb+ client's query and its parameters", 512, run_query, body_seeds},
        {"kdb_compress", "kdb+'s compression, both ways", 1024, run_compress, compress_seeds},
        {"kdb_table", "a batch of rows as a kdb+ table", 2048, run_table, batch_seeds},
    };
}

}  // namespace shortq::fuzz
