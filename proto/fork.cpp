#include "proto/fork.h"

#include <cstdint>
#include <string_view>

#include "proto/reader.h"
#include "proto/writer.h"

namespace shortq::proto {
namespace {

constexpr std::size_t kTextBytesMax = std::size_t{48} << 10;  // Of each of a report's two texts.

// Every report has the same fields: kind, two numbers, two texts.
enum class ReportKind : std::uint8_t {
    kBaseLoaded,
    kBaseFailed,
    kCannotFork,
    kForked,
    kForkFailed
};

struct ReportFields {
    ReportKind kind{};
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::string_view text{};
    std::string_view place{};
};

ReportFields fields_of(const BaseLoaded& loaded) {
    return {ReportKind::kBaseLoaded, loaded.load_us, loaded.base_bytes};
}
ReportFields fields_of(const BaseFailed& failed) {
    return {ReportKind::kBaseFailed, static_cast<std::uint64_t>(failed.error.code), 0,
            failed.error.message, failed.error.where};
}
ReportFields fields_of(const CannotFork& cannot) {
    return {ReportKind::kCannotFork, 0, 0, cannot.reason};
}
ReportFields fields_of(const Forked& forked) {
    return {ReportKind::kForked, forked.worker, static_cast<std::uint64_t>(forked.pid)};
}
ReportFields fields_of(const ForkFailed& failed) {
    return {ReportKind::kForkFailed, failed.worker, 0, failed.reason};
}

// Before a character, not within one: clients are shown the text.
std::string_view cut(std::string_view text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return text;
    constexpr auto kContinues = [](char byte) { return (byte & 0xC0) == 0x80; };
    auto size = bytes_max;
    while (size > 0 && kContinues(text[size])) --size;
    return text.substr(0, size);
}

tl::unexpected<Error> malformed() {
    return fail(ErrorCode::kBadRequest, "a packet that is not understood", "fork server");
}

Result<ForkReport> report_of(const ReportFields& fields) {
    const std::string text(fields.text);
    switch (fields.kind) {
        case ReportKind::kBaseLoaded:
            return BaseLoaded{.load_us = fields.first, .base_bytes = fields.second};
        case ReportKind::kBaseFailed: {
            const auto code = error_code_from(fields.first);
            if (!code) return malformed();
            return BaseFailed{Error{*code, text, std::string(fields.place), false}};
        }
        case ReportKind::kCannotFork:
            return CannotFork{text};
        case ReportKind::kForked:
            return Forked{.worker = fields.first, .pid = static_cast<std::int64_t>(fields.second)};
        case ReportKind::kForkFailed:
            return ForkFailed{.worker = fields.first, .reason = text};
    }
    return malformed();
}

}  // namespace

std::vector<std::byte> encode(const ForkOrder& order) {
    ByteStream stream;
    Packer packer(stream);
    packer.pack_array(3);
    packer.pack_uint64(order.worker);
    packer.pack_uint32(order.seat);
    pack_text(packer, order.temp_directory);
    return stream.take();
}

std::vector<std::byte> encode(const ForkReport& report) {
    const auto fields = std::visit([](const auto& one) { return fields_of(one); }, report);
    ByteStream stream;
    Packer packer(stream);
    packer.pack_array(5);
    packer.pack_uint8(static_cast<std::uint8_t>(fields.kind));
    packer.pack_uint64(fields.first);
    packer.pack_uint64(fields.second);
    pack_text(packer, cut(fields.text, kTextBytesMax));
    pack_text(packer, cut(fields.place, kTextBytesMax));
    return stream.take();
}

Result<ForkOrder> decode_fork_order(std::span<const std::byte> packet) {
    Reader reader(packet);
    std::uint64_t items = 0;
    std::uint64_t seat = 0;
    std::string_view folder;
    ForkOrder order;
    if (!reader.array(items) || items != 3 || !reader.unsigned_int(order.worker) ||
        !reader.unsigned_int(seat) || seat > UINT32_MAX || !reader.str(folder) || !reader.done())
        return malformed();
    order.seat = static_cast<std::uint32_t>(seat);
    order.temp_directory = folder;
    return order;
}

Result<ForkReport> decode_fork_report(std::span<const std::byte> packet) {
    Reader reader(packet);
    std::uint64_t items = 0;
    std::uint64_t kind = 0;
    ReportFields fields;
    if (!reader.array(items) || items != 5 || !reader.unsigned_int(kind) || kind > 4 ||
        !reader.unsigned_int(fields.first) || !reader.unsigned_int(fields.second) ||
        !reader.str(fields.text) || !reader.str(fields.place) || !reader.done())
        return malformed();
    fields.kind = static_cast<ReportKind>(kind);
    return report_of(fields);
}

}  // namespace shortq::proto
