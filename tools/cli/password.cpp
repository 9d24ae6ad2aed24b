#include "tools/cli/password.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <mutex>

#include "primary/auth/password_hash.h"
#include "primary/auth/secret.h"
#include "primary/auth/users.h"
#include "tools/cli/runner.h"
#include "tools/cli/terminal.h"

namespace shortq::cli {
namespace {

// The terminal, which shows nothing of what is typed while this exists.
class Unseen {
public:
    Unseen() : descriptor_(::open("/dev/tty", O_RDWR | O_CLOEXEC)) {
        if (descriptor_ < 0 || ::tcgetattr(descriptor_, &before_) != 0) return;
        termios quiet = before_;
        quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        quiet.c_lflag |= ECHONL | ICANON;
        works_ = ::tcsetattr(descriptor_, TCSAFLUSH, &quiet) == 0;
    }
    Unseen(const Unseen&) = delete;
    Unseen& operator=(const Unseen&) = delete;
    ~Unseen() {
        restore();
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    // Threads: any.
    void restore() {
        if (works_) ::tcsetattr(descriptor_, TCSAFLUSH, &before_);
    }
    [[nodiscard]] bool works() const { return works_; }

    void say(const std::string& text) {
        [[maybe_unused]] const auto written = ::write(descriptor_, text.data(), text.size());
    }
    [[nodiscard]] std::string read_line() {
        std::string line;
        for (char c = 0; ::read(descriptor_, &c, 1) == 1 && c != '\n';) line.push_back(c);
        return line;
    }

private:
    int descriptor_;
    termios before_{};
    bool works_ = false;
};

Result<std::string> new_password(const std::string& user) {
    if (!is_terminal(STDIN_FILENO)) {
        std::string line;
        std::getline(std::cin, line);
        if (line.ends_with('\r')) line.pop_back();
        return line;
    }
    auto first = ask_password("New password for " + user + ": ");
    auto second = ask_password("Again: ");
    const bool same = first && second && *first == *second;
    if (second) auth::wipe(*second);
    if (same) return std::move(*first);
    return fail(ErrorCode::kBadRequest, first ? "the two differ" : "no password was typed");
}

}  // namespace

Result<std::string> read_password_file(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    if (!file || (!std::getline(file, line) && !file.eof())) {
        return fail(ErrorCode::kBadRequest,
                    "cannot read " + path + ": " + std::strerror(errno != 0 ? errno : EISDIR));
    }
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) return fail(ErrorCode::kBadRequest, "no password in " + path);
    return line;
}

std::optional<std::string> ask_password(const std::string& prompt,
                                        const std::function<void(std::function<void()>)>& prepare) {
    Unseen terminal;
    if (!terminal.works()) return std::nullopt;
    if (prepare) prepare([&terminal] { terminal.restore(); });
    terminal.say(prompt);
    auto line = terminal.read_line();
    if (prepare) prepare({});
    if (line.empty()) return std::nullopt;
    return line;
}

Result<Client> connect_asking(ConnectOptions& options, Interrupts& interrupts) {
    auto client = Client::connect(options);
    const bool may_ask = !client && client.error().code == ErrorCode::kDenied &&
                         options.password.empty() && !options.user.empty() &&
                         client.error().where == "primary" && is_terminal(STDERR_FILENO);
    if (!may_ask) return client;
    const auto show_again = [&](std::function<void()> restore) {
        if (!restore) return interrupts.handle_with(nullptr);
        interrupts.handle_with([restore = std::move(restore)](int) {
            restore();
            return false;
        });
    };
    auto password = ask_password("Password for " + options.user + ": ", show_again);
    if (!password) return client;
    options.password = std::move(*password);
    return Client::connect(options);
}

int hash_password_line(const std::string& user) {
    const auto complain = [](const std::string& what) {
        std::cerr << "shortq-cli: --hash-password: " << what << '\n';
        return kExitUsage;
    };
    const auto name = user.empty() ? environment("USER") : user;
    if (const auto problem = auth::problem_of_name(name); !problem.empty())
        return complain(problem + " (--user NAME)");
    auto password = new_password(name);
    if (!password) return complain(password.error().message);
    const auto hash = auth::hash_password(*password);
    auth::wipe(*password);
    if (!hash) return complain(hash.error().message);
    std::cout << name << ':' << *hash << std::endl;
    return kExitOk;
}

}  // namespace shortq::cli
