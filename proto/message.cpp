// proto/message.cpp: frame 0 to and from bytes. Every message's fields are listed once, in
// `fields()`; the encoder, the decoder and the field counter all walk that list.
#include "proto/message.h"

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <msgpack.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include "proto/reader.h"
#include "proto/utf8.h"

namespace shortq::proto {
namespace {

// ---- The fields of each message, in wire order. `M` is the message, const or not. ----

template <class M, class T>
concept Is = std::is_same_v<std::remove_const_t<M>, T>;

void fields(auto& io, Is<Hello> auto& m) {
    io.choice("role", m.role, Role::kWorker);
    io.number("version_min", m.version_min);
    io.number("version_max", m.version_max);
    io.number("pid", m.pid);
    io.text("agent", m.agent, kAgentBytesMax);
    io.text("user", m.user, kUserBytesMax);
    io.token("token", m.token);
}

void fields(auto& io, Is<Welcome> auto& m) {
    io.number("version", m.version);
    io.number("session", m.session);
    io.number("workers", m.workers);
    io.number("generation", m.generation);
    io.number("query_bytes_max", m.query_bytes_max);
    io.number("result_bytes_max", m.result_bytes_max);
    io.number("pending_max", m.pending_max);
    io.number("heartbeat_ms", m.heartbeat_ms);
    io.text("server", m.server, kAgentBytesMax);
}

void fields(auto& io, Is<Request> auto& m) {
    io.number("id", m.id);
    io.number("session", m.session);
    io.choice("mode", m.mode, Mode::kSync);
    io.choice("priority", m.priority, Priority::kLow);
    io.flag("streaming", m.streaming);
    io.number("timeout_ms", m.timeout_ms);
    io.number("min_generation", m.min_generation);
    io.text("service", m.service, kServiceBytesMax);
}

void fields(auto& io, Is<Cancel> auto& m) {
    io.number("id", m.id);
    io.number("session", m.session);
}

void fields(auto& io, Is<Facts> auto& m) {
    io.number("worker", m.worker);
    io.number("generation", m.generation);
    io.number("queued_us", m.queued_us);
    io.number("run_us", m.run_us);
    io.number("rows", m.rows);
    io.number("bytes", m.bytes);
}

void fields(auto& io, Is<Reply> auto& m) {
    io.number("id", m.id);
    io.number("attempt", m.attempt);
    io.number("sequence", m.sequence);
    io.number("batches", m.batches, std::uint32_t{kBatchesPerReplyMax});
    io.flag("last", m.last);
    fields(io, m.facts);
}

void fields(auto& io, Is<ErrorReply> auto& m) {
    io.number("id", m.id);
    io.choice("code", m.code, ErrorCode::kConnection);
    io.flag("retryable", m.retryable);
    io.flag("sick", m.sick);
    fields(io, m.facts);
}

void fields(auto& io, Is<Ready> auto& m) {
    io.number("generation", m.generation);
    io.number("load_us", m.load_us);
}

void fields(auto& io, Is<Heartbeat> auto& m) {
    io.number("session", m.session);
    io.number("running", m.running);
    io.progress("progress_ppm", m.progress_ppm);
    io.number("rss_bytes", m.rss_bytes);
}

void fields(auto& /*io*/, Is<Ping> auto& /*m*/) {}
void fields(auto& io, Is<Recall> auto& m) { io.number("id", m.id); }
void fields(auto& io, Is<Recalled> auto& m) { io.number("id", m.id); }
void fields(auto& io, Is<Interrupt> auto& m) { io.number("id", m.id); }
void fields(auto& /*io*/, Is<Drain> auto& /*m*/) {}
void fields(auto& io, Is<Goodbye> auto& m) { io.number("session", m.session); }
void fields(auto& io, Is<WornOut> auto& m) { io.text("why", m.why, kAgentBytesMax); }

void fields(auto& io, Is<Credit> auto& m) {
    io.number("id", m.id);
    io.number("session", m.session);
    io.number("attempt", m.attempt);
    io.number("bytes", m.bytes);
}

void fields(auto& io, Is<Progress> auto& m) {
    io.number("id", m.id);
    io.progress("progress_ppm", m.progress_ppm);
}

// ---- Kinds: the wire's number, the name in error texts, the alternative of Message. ----

template <class M>
struct KindOf;
#define SHORTQ_KIND(type, text)                      \
    template <>                                      \
    struct KindOf<type> {                            \
        static constexpr Kind kKind = Kind::k##type; \
        static constexpr const char* kName = text;   \
    }
SHORTQ_KIND(Hello, "hello");
SHORTQ_KIND(Welcome, "welcome");
SHORTQ_KIND(Request, "request");
SHORTQ_KIND(Cancel, "cancel");
SHORTQ_KIND(Reply, "reply");
SHORTQ_KIND(Ready, "ready");
SHORTQ_KIND(Heartbeat, "heartbeat");
SHORTQ_KIND(Ping, "ping");
SHORTQ_KIND(Recall, "recall");
SHORTQ_KIND(Recalled, "recalled");
SHORTQ_KIND(Interrupt, "interrupt");
SHORTQ_KIND(Drain, "drain");
SHORTQ_KIND(Goodbye, "goodbye");
SHORTQ_KIND(WornOut, "worn_out");
SHORTQ_KIND(Credit, "credit");
SHORTQ_KIND(Progress, "progress");
#undef SHORTQ_KIND
template <>
struct KindOf<ErrorReply> {
    static constexpr Kind kKind = Kind::kError;
    static constexpr const char* kName = "error";
};

// Their layout is the same in every version, so that two peers of different versions can part
// with a clear word.
constexpr bool frozen(Kind kind) { return kind == Kind::kHello || kind == Kind::kError; }

// The version that brought these layouts; later ones have not changed them.
constexpr std::uint16_t kLayoutVersion = 1;

// ---- Counting ----

struct Counter {
    std::uint32_t count = 0;
    void number(const char* /*name*/, auto /*value*/, auto... /*max*/) { ++count; }
    void choice(const char* /*name*/, auto /*value*/, auto /*max*/) { ++count; }
    void flag(const char* /*name*/, bool /*value*/) { ++count; }
    void progress(const char* /*name*/, std::int32_t /*value*/) { ++count; }
    void text(const char* /*name*/, std::string_view /*value*/, std::size_t /*max*/) { ++count; }
    void token(const char* /*name*/, std::string_view /*value*/) { ++count; }
};

template <class M>
std::uint32_t field_count() {
    Counter counter;
    const M message{};
    fields(counter, message);
    return counter.count;
}

// ---- Encoding ----

// The stream msgpack's packer writes to. Never too small: every text is bounded.
class FixedStream {
public:
    explicit FixedStream(HeaderBuffer& buffer) : buffer_(buffer) {}
    void write(const char* data, std::size_t size) {
        if (size == 0) {
            return;  // An empty view's data may be null, which memcpy must not see.
        }
        if (size > buffer_.size() - used_) {
            std::abort();  // A text over its limit: our bug, and worse things follow if it goes on.
        }
        std::memcpy(buffer_.data() + used_, data, size);
        used_ += size;
    }
    [[nodiscard]] std::span<const std::byte> used() const {
        return std::span(buffer_).first(used_);
    }

private:
    HeaderBuffer& buffer_;
    std::size_t used_ = 0;
};

class Encoder {
public:
    explicit Encoder(FixedStream& stream) : packer_(stream) {}

    void begin(std::uint32_t items, Kind kind) {
        packer_.pack_array(items + 2);
        packer_.pack(kLayoutVersion);
        packer_.pack(static_cast<std::uint8_t>(kind));
    }
    void number(const char* /*name*/, auto value) { packer_.pack(value); }
    void number(const char* /*name*/, auto value, [[maybe_unused]] auto max) {
        assert(value <= max);
        packer_.pack(value);
    }
    void choice(const char* /*name*/, auto value, [[maybe_unused]] auto max) {
        assert(value <= max);
        packer_.pack(static_cast<std::uint8_t>(value));
    }
    void flag(const char* /*name*/, bool value) { packer_.pack(value); }
    void progress(const char* /*name*/, std::int32_t value) { packer_.pack(value); }
    void text(const char* /*name*/, std::string_view value, [[maybe_unused]] std::size_t max) {
        assert(value.size() <= max);
        packer_.pack_str(static_cast<std::uint32_t>(value.size()));
        packer_.pack_str_body(value.data(), static_cast<std::uint32_t>(value.size()));
    }
    void token(const char* /*name*/, std::string_view value) {
        assert(value.empty() || value.size() == kTokenBytes);
        packer_.pack_bin(static_cast<std::uint32_t>(value.size()));
        packer_.pack_bin_body(value.data(), static_cast<std::uint32_t>(value.size()));
    }

private:
    msgpack::packer<FixedStream> packer_;
};

// ---- Decoding ----

// Reads fields until one is wrong; what follows the first wrong one is not looked at.
class Decoder {
public:
    explicit Decoder(Reader& reader) : reader_(reader) {}

    template <class T>
    void number(const char* name, T& value, T max = std::numeric_limits<T>::max()) {
        std::uint64_t raw = 0;
        if (failed()) {
            return;
        }
        if (!reader_.unsigned_int(raw)) {
            return set_failed(name, "is not an unsigned integer");
        }
        if (raw > max) {
            return set_failed(name, "is out of range", ErrorCode::kTooLarge);
        }
        value = static_cast<T>(raw);
    }

    template <class T>
    void choice(const char* name, T& value, T max) {
        std::uint8_t raw = 0;
        number(name, raw);
        if (failed()) {
            code_ = ErrorCode::kBadRequest;
            return;
        }
        if (raw > static_cast<std::uint8_t>(max) ||
            (std::is_same_v<T, ErrorCode> && !error_code_from(raw))) {
            return set_failed(name, "has an unknown value");
        }
        value = static_cast<T>(raw);
    }

    void flag(const char* name, bool& value) {
        if (!failed() && !reader_.boolean(value)) {
            set_failed(name, "is not a boolean");
        }
    }

    void progress(const char* name, std::int32_t& value) {
        std::int64_t raw = 0;
        if (failed()) {
            return;
        }
        if (!reader_.signed_int(raw)) {
            return set_failed(name, "is not an integer");
        }
        if (raw < -1 || raw > 1'000'000) {
            return set_failed(name, "is out of range");
        }
        value = static_cast<std::int32_t>(raw);
    }

    void text(const char* name, std::string_view& value, std::size_t max) {
        if (failed()) {
            return;
        }
        if (!reader_.str(value)) {
            return set_failed(name, "is not a string");
        }
        if (value.size() > max) {
            return set_failed(name, "is too long", ErrorCode::kTooLarge);
        }
        if (!is_utf8(value)) {
            return set_failed(name, "is not UTF-8");
        }
    }

    void token(const char* name, std::string_view& value) {
        if (failed()) {
            return;
        }
        if (!reader_.bin(value)) {
            return set_failed(name, "is not binary");
        }
        if (!value.empty() && value.size() != kTokenBytes) {
            return set_failed(name, "has the wrong size");
        }
    }

    [[nodiscard]] bool failed() const { return problem_ != nullptr; }
    [[nodiscard]] tl::unexpected<Error> error(const char* kind) const {
        return fail(code_, std::string("malformed ") + kind + ": field " + name_ + ' ' + problem_);
    }

private:
    void set_failed(const char* name, const char* problem,
                    ErrorCode code = ErrorCode::kBadRequest) {
        name_ = name;
        problem_ = problem;
        code_ = code;
    }

    Reader& reader_;
    const char* name_ = nullptr;
    const char* problem_ = nullptr;
    ErrorCode code_ = ErrorCode::kBadRequest;
};

tl::unexpected<Error> malformed(const char* kind, std::string problem) {
    return fail(ErrorCode::kBadRequest, std::string("malformed ") + kind + ": " + problem);
}

// What a field's own range cannot say.
const char* contradiction(const auto& /*message*/) { return nullptr; }
const char* contradiction(const Hello& m) {
    return m.version_min > m.version_max ? "version_min is above version_max" : nullptr;
}
const char* contradiction(const Request& m) {
    return m.id == 0 ? "id is 0, which stands for the connection" : nullptr;
}

template <class M>
Result<Message> decode_as(Reader& reader, std::uint64_t items) {
    constexpr const char* kName = KindOf<M>::kName;
    const std::uint32_t expected = field_count<M>() + 2;
    if (items != expected) {
        return malformed(kName,
                         std::to_string(items) + " fields instead of " + std::to_string(expected));
    }
    M message{};
    Decoder decoder(reader);
    fields(decoder, message);
    if (decoder.failed()) {
        return decoder.error(kName);
    }
    if (!reader.done()) {
        return malformed(kName, "spare bytes after the last field");
    }
    if (const char* problem = contradiction(message)) {
        return malformed(kName, problem);
    }
    return message;
}

template <std::size_t I = 0>
Result<Message> decode_kind(std::uint64_t kind, Reader& reader, std::uint64_t items) {
    if constexpr (I < std::variant_size_v<Message>) {
        using M = std::variant_alternative_t<I, Message>;
        if (kind == static_cast<std::uint64_t>(KindOf<M>::kKind)) {
            return decode_as<M>(reader, items);
        }
        return decode_kind<I + 1>(kind, reader, items);
    } else {
        return malformed("message", "unknown kind " + std::to_string(kind));
    }
}

}  // namespace

Result<Message> decode(std::span<const std::byte> frame) {
    if (frame.size() > kHeaderBytesMax) {
        return fail(ErrorCode::kTooLarge, "malformed message: frame 0 is over " +
                                              std::to_string(kHeaderBytesMax) + " bytes");
    }
    Reader reader(frame);
    std::uint64_t items = 0;
    std::uint64_t version = 0;
    std::uint64_t kind = 0;
    if (!reader.array(items)) {
        return malformed("message", "frame 0 is not a msgpack array");
    }
    if (items < 2 || !reader.unsigned_int(version) || !reader.unsigned_int(kind)) {
        return malformed("message", "frame 0 does not start with a version and a kind");
    }
    if (version != kLayoutVersion && !(kind <= 0xff && frozen(static_cast<Kind>(kind)))) {
        return malformed("message", "unknown protocol version " + std::to_string(version));
    }
    return decode_kind(kind, reader, items);
}

std::span<const std::byte> encode(const Message& message, HeaderBuffer& buffer) {
    FixedStream stream(buffer);
    Encoder encoder(stream);
    std::visit(
        [&](const auto& m) {
            using M = std::remove_cvref_t<decltype(m)>;
            encoder.begin(field_count<M>(), KindOf<M>::kKind);
            fields(encoder, m);
        },
        message);
    return stream.used();
}

}  // namespace shortq::proto
