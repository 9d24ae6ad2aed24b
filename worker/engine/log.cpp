#include "worker/engine/log.h"

#include <spdlog/fmt/chrono.h>
#include <spdlog/formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

namespace shortq {
namespace {

struct NamedLevel {
    std::string_view name;
    spdlog::level::level_enum level;
};
constexpr std::array kLevels{
    NamedLevel{"trace", spdlog::level::trace}, NamedLevel{"debug", spdlog::level::debug},
    NamedLevel{"info", spdlog::level::info},   NamedLevel{"warn", spdlog::level::warn},
    NamedLevel{"error", spdlog::level::err},   NamedLevel{"off", spdlog::level::off}};

const NamedLevel* find_level(std::string_view name) noexcept {
    const auto* found = std::ranges::find(kLevels, name, &NamedLevel::name);
    return found == kLevels.end() ? nullptr : found;
}

std::string_view name_of_level(spdlog::level::level_enum level) {
    const auto* found = std::ranges::find(kLevels, level, &NamedLevel::level);
    return found == kLevels.end() ? std::string_view("error") : found->name;
}

// One JSON object per line: {"time":"2024-05-01T12:00:00.000Z","level":"info","name":...}.
class JsonFormatter : public spdlog::formatter {
public:
    void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
        const auto time = std::chrono::time_point_cast<std::chrono::milliseconds>(message.time);
        const auto milliseconds = time.time_since_epoch().count() % 1000;
        nlohmann::ordered_json line;
        line["time"] = fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                                   fmt::gmtime(std::chrono::system_clock::to_time_t(message.time)),
                                   milliseconds);
        line["level"] = name_of_level(message.level);
        line["name"] = std::string(message.logger_name.data(), message.logger_name.size());
        line["message"] = std::string(message.payload.data(), message.payload.size());
        const auto text =
            line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
        out.append(text.data(), text.data() + text.size());
    }
    [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
        return std::make_unique<JsonFormatter>();
    }
};

}  // namespace

bool is_log_level(std::string_view name) noexcept { return find_level(name) != nullptr; }

Result<void> set_up_logging(const LogOptions& options) {
    const auto* level = find_level(options.level);
    if (level == nullptr) {
        return fail(
            ErrorCode::kBadRequest,
            "unknown log level \"" + options.level + "\"; trace, debug, info, warn, error or off",
            "--log-level");
    }
    auto logger = std::make_shared<spdlog::logger>(
        options.name, std::make_shared<spdlog::sinks::stderr_sink_mt>());
    logger->set_level(level->level);
    if (options.json) {
        logger->set_formatter(std::make_unique<JsonFormatter>());
    } else {
        logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %n: %v", spdlog::pattern_time_type::utc);
    }
    logger->flush_on(spdlog::level::trace);
    spdlog::set_default_logger(std::move(logger));
    return {};
}

}  // namespace shortq
