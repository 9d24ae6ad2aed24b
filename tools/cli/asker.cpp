#include "tools/cli/asker.h"

#include <fmt/format.h>

#include <csignal>

namespace shortq::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kTick{50};  // Between two looks at the signals.
// At the server, once it is silent this long.
constexpr milliseconds kSilence{2000};
constexpr milliseconds kNextLook{3000};     // If there was none.
constexpr milliseconds kQuietLook{30'000};  // If there was one: the query is queued, say.
constexpr milliseconds kLookPatience{500};

}  // namespace

std::optional<Result<Table>> Asker::ask(Client& client, const std::string& text, bool sync) {
    interrupts_ = 0;
    server_is_gone_ = false;
    heard_ = Clock::now();
    next_look_ = Clock::now() + kSilence;
    auto how = options_.query;
    how.progress = [this](const Progress& progress) {
        progress_.update(progress);
        heard_ = Clock::now();
    };
    auto submitted = sync ? client.submit_sync(text, options_.parameters, how)
                          : client.submit(text, options_.parameters, how);
    progress_.start();
    while (submitted.reply.wait_for(kTick) == std::future_status::timeout) {
        if (!take_signals(client, submitted.number)) return std::nullopt;
        look_for_server(client);
    }
    if (server_is_gone_) say("the server is back");
    progress_.stop();
    return submitted.reply.get();
}

bool Asker::take_signals(Client& client, RequestNumber number) {
    while (const auto signal = signals_.take()) {
        if (*signal == SIGTERM || *signal == SIGHUP) told_to_leave_ = true;
        if (*signal == SIGINT) {
            client.cancel(number);
            if (++interrupts_ == 1) say("cancelling; Ctrl-C again stops waiting for it");
        }
        if (told_to_leave_ || interrupts_ > 1) {
            if (!told_to_leave_) say("no longer waiting; the server was asked to cancel it");
            progress_.stop();
            return false;
        }
    }
    return true;
}

// The client reconnects silently. Whoever waits is told that there is nobody to wait for.
void Asker::look_for_server(const Client& client) {
    if (Clock::now() < next_look_ || Clock::now() < heard_.load() + kSilence) return;
    auto where = options_.connect;
    where.endpoints = {client.server().endpoint};
    where.connect_timeout = kLookPatience;
    where.wait_until_ready = false;
    const auto found = Client::connect(where);
    next_look_ = Clock::now() + (found ? kQuietLook : kNextLook);
    if (!found && !server_is_gone_) {
        say(fmt::format("no server answers at {}; trying on, Ctrl-C stops", where.endpoints[0]));
    }
    if (found && server_is_gone_) say("the server is back");
    server_is_gone_ = !found;
}

void Asker::say(std::string_view text) {
    progress_.stop();
    log_.append(text);
    log_.append("\n");
    log_.flush();
    progress_.resume();
}

}  // namespace shortq::cli
