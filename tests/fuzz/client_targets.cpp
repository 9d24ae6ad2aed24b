// tests/fuzz/client_targets.cpp: what the client makes of a server's bytes: replies put together,
// cells as text and in every format of shortq-cli, and the session as a whole.
#include <limits>
#include <map>

#include "client/assembly.h"
#include "client/session.h"
#include "proto/engine_type.h"
#include "shortq/arrow.h"
#include "tests/fuzz/frames.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"
#include "tests/proto/arrays.h"
#include "tools/cli/json_value.h"
#include "tools/cli/type_names.h"
#include "tools/cli/writer.h"

namespace shortq::fuzz {
namespace {

using detail::Frames;

// ---- assembly: [attempt, sequence, batches, last, number of bodies, bodies...] again and again

bool is_small(const Table& table) {
    return std::ranges::all_of(table.batches(),
                               [](const Batch& batch) { return fuzz::is_small(batch); });
}

void read_cell(const Table& table, std::uint64_t row, std::size_t column) {
    static_cast<void>(table.is_null(row, column));
    static_cast<void>(table.text(row, column));
    static_cast<void>(table.integer(row, column));
    static_cast<void>(table.number(row, column));
    static_cast<void>(table.view(row, column));
}

void read_nested(const Column& column) {
    static_cast<void>(column.dictionary());
    for (std::int64_t row = 0; row < column.size(); ++row) {
        static_cast<void>(column.list(row));
        static_cast<void>(column.member(row));
        static_cast<void>(column.boolean(row));
        static_cast<void>(column.text(row));
    }
    for (std::size_t i = 0; i < column.children(); ++i) read_nested(column.child(i));
}

void export_arrow(const Table& table) {
    ArrowArrayStream stream{};
    export_stream(table, &stream);
    ArrowSchema schema{};
    if (stream.get_schema(&stream, &schema) == 0) schema.release(&schema);
    for (ArrowArray array{}; stream.get_next(&stream, &array) == 0 && array.release != nullptr;)
        array.release(&array);
    stream.release(&stream);
}

void print(const Table& table) {
    for (const auto format : {cli::Format::kTable, cli::Format::kCsv, cli::Format::kJson,
                              cli::Format::kNdjson, cli::Format::kMarkdown}) {
        cli::Output nowhere(-1);
        cli::make_writer(format, {.columns = 40})->write(table, nowhere);
    }
}

void read_all(const Table& table) {
    for (std::uint64_t row = 0; row < table.rows(); ++row)
        for (std::size_t column = 0; column < table.columns(); ++column)
            read_cell(table, row, column);
    for (std::size_t batch = 0; batch < table.batches().size(); ++batch)
        for (std::size_t column = 0; column < table.columns(); ++column)
            read_nested(table.chunk(batch, column));
    export_arrow(table);
    print(table);
}

void run_assembly(Input input) {
    Taker taker(input);
    detail::ReplyAssembly assembly;
    while (!taker.done()) {
        proto::Reply reply;
        reply.attempt = taker.byte();
        reply.sequence = taker.byte();
        reply.batches = taker.byte();
        reply.last = (taker.byte() & 1U) != 0;
        std::vector<Buffer> bodies;
        for (std::size_t count = taker.byte(); count > 0 && !taker.done(); --count)
            bodies.push_back(own_buffer(taker.frame()));
        const auto table = assembly.add(reply, bodies);
        if (!table) {
            SHORTQ_FUZZ_CHECK(!table.error().message.empty());
            return;
        }
        SHORTQ_FUZZ_CHECK(!*table || reply.last);
        if (*table && is_small(**table)) read_all(**table);
        if (*table) return;
    }
}

std::string piece(std::uint8_t sequence, bool last, std::uint8_t bodies, std::string_view frames) {
    std::string seed{'\0', static_cast<char>(sequence), '\1', static_cast<char>(last ? 1 : 0),
                     static_cast<char>(bodies)};
    return seed.append(frames);
}

// Schema, layout and buffers of a reply of one piece; how many there are is found by counting.
std::vector<std::string> assembly_seeds() {
    std::vector<std::string> seeds;
    for (const auto& frames : batch_seeds()) {
        const auto count = Taker(bytes_of(frames)).frames().size();
        seeds.push_back(piece(0, true, static_cast<std::uint8_t>(count), frames));
    }
    return seeds;
}

// ---- types: names of the engine's types, taken apart by the library and by the program

void run_types(Input input) {
    const auto type = text_of(input);
    const auto inside = [&](std::string_view part) {
        return part.empty() || (part.data() >= type.data() &&
                                part.data() + part.size() <= type.data() + type.size());
    };
    SHORTQ_FUZZ_CHECK(inside(detail::element_type(type)));
    for (std::size_t i = 0; i < 4; ++i) {
        SHORTQ_FUZZ_CHECK(inside(detail::argument_type(type, i, true)));
        SHORTQ_FUZZ_CHECK(inside(detail::argument_type(type, i, false)));
        SHORTQ_FUZZ_CHECK(inside(cli::child_type(type, i)));
    }
}

std::vector<std::string> types_seeds() {
    return {"INTEGER[]",
            "BIT[3]",
            R"(STRUCT(a BIT, "b c" INTEGER[], "d""e" MAP(VARCHAR, BIT)))",
            "UNION(num INTEGER, str VARCHAR)",
            "DECIMAL(18,3)",
            "ENUM('a', 'b,)', 'c''d')"};
}

// ---- session: a script of what a program, a server, a network and the time do to it

class SessionRun {
public:
    explicit SessionRun(Input input) : taker_(input), session_(options()) { session_.start(now_); }

    void run() {
        settle();
        for (int step = 0; step < kStepsMax && !taker_.done(); ++step) {
            act();
            settle();
        }
        session_.stop();
        settle();
        SHORTQ_FUZZ_CHECK(open_.empty());
    }

private:
    static constexpr int kStepsMax = 200;

    static ConnectOptions options() {
        ConnectOptions options;
        options.endpoints = {"tcp://one:1", "tcp://two:2"};
        return options;
    }

    void act() {
        switch (taker_.byte() % 12) {
            case 0:
                return submit();
            case 1:
                return session_.receive(now_, raw());
            case 2:
                return reply();
            case 3:
                return receive(proto::Welcome{.version = proto::kVersionMax,
                                              .session = taker_.byte(),
                                              .workers = taker_.byte(),
                                              .generation = 1,
                                              .query_bytes_max = taker_.number(2),
                                              .pending_max = taker_.byte(),
                                              .heartbeat_ms = 1000});
            case 4:
                return error();
            case 5:
                return session_.disconnected(now_);
            case 6:
                return session_.refused(now_);
            case 7:
                now_ += std::chrono::milliseconds(taker_.number(2));
                return session_.tick(now_);
            case 8:
                return session_.cancel(number());
            case 9:
                return session_.took(number(), taker_.number(3));
            case 10:
                return receive(proto::Heartbeat{.session = taker_.byte()});
            default:
                return receive(proto::Progress{.id = taker_.byte(), .progress_ppm = taker_.byte()});
        }
    }

    RequestNumber number() { return RequestNumber{taker_.byte()}; }

    void submit() {
        const auto flags = taker_.byte();
        QueryOptions options;
        options.timeout = std::chrono::milliseconds((flags & 4U) != 0 ? taker_.number(2) : 0);
        if ((flags & 8U) != 0) options.progress = [](const Progress&) {};
        if ((flags & 16U) != 0) options.service = taker_.text();
        const auto text = taker_.text();
        Parameters parameters;
        if ((flags & 32U) != 0) parameters.push_back({"", std::string("A")});
        const bool streaming = (flags & 2U) != 0;
        const auto number = session_.submit(
            now_, {.mode = (flags & 1U) != 0 ? proto::Mode::kSync : proto::Mode::kDeferred,
                   .text = text,
                   .parameters = &parameters,
                   .options = &options,
                   .streaming = streaming});
        if (number) SHORTQ_FUZZ_CHECK(open_.emplace(*number, streaming).second);
    }

    Frames raw() { return own_buffers(some_frames()); }
    std::vector<Input> some_frames() {
        std::vector<Input> frames;
        for (std::size_t count = taker_.byte() % 8; count > 0; --count)
            frames.push_back(taker_.frame());
        return frames;
    }

    void receive(const proto::Message& message, const Frames& bodies = {}) {
        proto::HeaderBuffer buffer;
        Frames frames{own_buffer(proto::encode(message, buffer))};
        frames.insert(frames.end(), bodies.begin(), bodies.end());
        session_.receive(now_, frames);
    }

    void reply() {
        proto::Reply reply;
        reply.id = taker_.byte();
        reply.attempt = taker_.byte() % 4;
        reply.sequence = taker_.byte() % 4;
        reply.batches = taker_.byte() % 4;
        reply.last = (taker_.byte() & 1U) != 0;
        if ((taker_.byte() & 1U) != 0) return receive(reply, raw());
        receive(reply, number_bodies(reply));
    }

    // Bodies that fit: a column of numbers.
    static Frames number_bodies(proto::Reply& reply) {
        const auto column = test::numbers<std::int64_t>("l", {1, 2});
        const auto batch = proto::split(test::batch_of({column}));
        Frames bodies;
        if (reply.sequence == 0)
            bodies.push_back(own_buffer(proto::encode_schema({{column.field}})));
        for (std::uint32_t i = 0; i < reply.batches; ++i) {
            bodies.push_back(own_buffer(batch.layout));
            bodies.insert(bodies.end(), batch.buffers.begin(), batch.buffers.end());
        }
        return bodies;
    }

    void error() {
        proto::ErrorReply error;
        error.id = taker_.byte();
        error.code = error_code_from(taker_.byte()).value_or(ErrorCode::kUnknownSession);
        error.retryable = (taker_.byte() & 1U) != 0;
        receive(error, raw());
    }

    // What the session orders must make sense, and each request ends once.
    void settle() {
        for (const auto& action : session_.take_actions()) {
            if (const auto* answer = std::get_if<detail::Answer>(&action)) {
                SHORTQ_FUZZ_CHECK(open_.erase(answer->number) == 1);
            } else if (const auto* piece = std::get_if<detail::Piece>(&action)) {
                const auto request = open_.find(piece->number);
                SHORTQ_FUZZ_CHECK(request != open_.end() && request->second);
            } else if (const auto* send = std::get_if<detail::Send>(&action)) {
                SHORTQ_FUZZ_CHECK(!send->frames.empty());
                SHORTQ_FUZZ_CHECK(proto::decode(send->frames.front().bytes).has_value());
            }
        }
        static_cast<void>(session_.next_wake());
    }

    Taker taker_;
    detail::Time now_{std::chrono::hours(1)};
    detail::Session session_;
    std::map<RequestNumber, bool> open_;  // Whether it is streaming.
};

void run_session(Input input) { SessionRun(input).run(); }

std::vector<std::string> session_seeds() {
    const std::string welcome("\3\7\2\xff\xff\x64", 6);
    const std::string submit("\0\0\10select 1", 11);
    const std::string whole("\2\1\0\0\1\1\0", 7);
    const std::string stream("\0\2\10select 1\2\1\0\0\1\0\0\2\1\0\1\1\1\0", 25);
    const std::string later("\7\xff\xff", 3);
    std::string raw("\1", 1);
    for (const auto& header : message_seeds()) {
        raw += '\1';
        append_frame(raw, std::string_view(header));
        raw += '\1';
    }
    return {welcome + submit + whole,
            welcome + stream,
            welcome + submit + "\5" + welcome + whole,
            welcome + submit + std::string("\4\1\7\1\1", 5) + later + later,
            welcome + submit + std::string("\10\1\4\1\6\0\1", 7),
            submit + later + later + later,
            raw};
}

}  // namespace

std::vector<Target> client_targets() {
    return {
        {"assembly", "replies put together, and read as text, numbers, Arrow and in each format",
         2048, run_assembly, assembly_seeds},
        {"types", "names of the engine's types", 256, run_types, types_seeds},
        {"session", "the client's end of a connection", 1024, run_session, session_seeds},
    };
}

}  // namespace shortq::fuzz
