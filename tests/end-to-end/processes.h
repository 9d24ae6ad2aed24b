// tests/end-to-end/processes.h: what tests of processes need: signals, and what is to be seen of
// processes from outside.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/end-to-end/fixture.h"

namespace shortq::test {

class Processes : public EndToEnd {
protected:
    // Whether this run is of workers that are forked, as they are by default.
    [[nodiscard]] static bool forks() {
        const char* spawn = std::getenv("SHORTQ_TEST_SPAWN");
        return spawn == nullptr || std::string_view(spawn) == "fork";
    }
    // As kill(2), for one process and no other number: -1 would mean every process there is.
    [[nodiscard]] static bool send_signal(pid_t pid, int signal) {
        if (pid <= 1) throw std::runtime_error("no process to send a signal to");
        return ::kill(pid, signal) == 0;
    }
    // Waits until a fork server, and only one, is there. Throws if it does not come.
    [[nodiscard]] static pid_t fork_server(const Server& server, pid_t other_than = -1) {
        pid_t found = -1;
        const bool came = wait_until([&] {
            const auto all = server.fork_servers();
            if (all.size() != 1 || all[0] == other_than) return false;
            found = all[0];
            return true;
        });
        if (!came) throw std::runtime_error("no fork server; log:\n" + server.log());
        return found;
    }
    [[nodiscard]] static bool wait_until_ready(Client& client, std::size_t workers) {
        return wait_until([&] {
            return cell(client.sync("select count(*) from shortq.workers where state = 'ready'")) ==
                   std::to_string(workers);
        });
    }
    // Waits until there are as many workers as in `before`, and none of those.
    [[nodiscard]] static bool wait_for_others(const Server& server,
                                              const std::vector<pid_t>& before) {
        return wait_until([&] {
            const auto now = server.workers();
            return now.size() == before.size() && std::ranges::none_of(now, [&](pid_t pid) {
                       return std::ranges::find(before, pid) != before.end();
                   });
        });
    }
    // Ends a worker, and waits until its seat has another one that can answer.
    static void replace(const Server& server, Client& client, pid_t worker) {
        // By the primary's word: a fork server that has just begun still looks like a worker.
        const auto count = static_cast<std::size_t>(client.server().workers);
        ASSERT_TRUE(send_signal(worker, SIGKILL));
        ASSERT_TRUE(wait_until([&] {
            const auto now = server.workers();
            return now.size() == count && std::ranges::find(now, worker) == now.end();
        })) << server.log();
        ASSERT_TRUE(wait_until_ready(client, count));
    }
    // The children of a process that have ended and that it has not collected.
    [[nodiscard]] static std::vector<std::string> zombies_of(pid_t parent) {
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            const auto stat = read_file(entry.path() / "stat");
            const auto close = stat.rfind(')');
            if (close == std::string::npos) continue;
            const auto rest = stat.substr(close);
            if (rest.starts_with(") Z " + std::to_string(parent) + " ")) found.push_back(stat);
        }
        return found;
    }
    // Puts new content in a file's place, as data is refreshed: a new file, renamed over the old.
    void rewrite(const std::string& name, std::string_view content) const {
        folder_.write(name + ".new", content);
        std::filesystem::rename(folder_.path() / (name + ".new"), folder_.path() / name);
    }
    // Makes a database file with a table t of 1000 rows, by a script that ends with an error.
    [[nodiscard]] std::string write_database(const std::string& name) const {
        auto file = (folder_.path() / name).string();
        EXPECT_THAT(
            attempt_to_write(file, "create table f.t as select range as i from range(1000)"),
            ::testing::HasSubstr("it was written"));
        return file;
    }
    // What another process says that opens the file for writing.
    [[nodiscard]] std::string attempt_to_write(const std::string& file,
                                               const std::string& sql = "select 1") const {
        const auto script = folder_.write("write.sql", "attach '" + file + "' as f;\n" + sql +
                                                           ";\ndetach f;\n"
                                                           "select error('it was written');\n");
        const auto outcome = run(shortq_program(), {"--port", "0", "--spawn", "exec", "--log-level",
                                                    "error", "1", script});
        EXPECT_EQ(outcome.status, kFailed) << outcome.err;
        return outcome.err;
    }
};

}  // namespace shortq::test
