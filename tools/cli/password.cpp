#include "tools/cli/password.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>

#include "primary/auth/password_hash.h"
#include "primary/auth/secret.h"
#include "primary/auth/users.h"
#include "tools/cli/runner.h"
#include "tools/cli/terminal.h"

namespace shortq::cli {
namespace {

// Of the terminal that is not shown at the moment; for a signal's handler, which finds nothing
// else.
int unseen_descriptor = -1;
termios seen_before{};

constexpr std::array kEndings{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// Ends the program as the signal would have done. Safe in a signal's handler.
void show_and_die(int signal) {
    ::tcsetattr(unseen_descriptor, TCSANOW, &seen_before);
    [[maybe_unused]] const auto written = ::write(unseen_descriptor, "\n", 1);
    std::signal(signal, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signal);
    pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
    std::raise(signal);
}

// While this exists, signals that end the program show the typing again.
class Endings {
public:
    explicit Endings(Interrupts* interrupts) : interrupts_(interrupts) {
        struct sigaction dying {};
        dying.sa_handler = show_and_die;
        for (std::size_t i = 0; i < kEndings.size(); ++i) {
            ::sigaction(kEndings[i], nullptr, &before_[i]);
            const bool is_ignored = before_[i].sa_handler == SIG_IGN;  // As by nohup.
            if (!is_ignored) ::sigaction(kEndings[i], &dying, nullptr);
        }
        if (interrupts_ != nullptr) {
            interrupts_->handle_with([](int signal) {
                if (std::ranges::find(kEndings, signal) != kEndings.end()) show_and_die(signal);
                return true;
            });
        }
    }
    Endings(const Endings&) = delete;
    Endings& operator=(const Endings&) = delete;
    ~Endings() {
        if (interrupts_ != nullptr) interrupts_->handle_with(nullptr);
        for (std::size_t i = 0; i < kEndings.size(); ++i)
            ::sigaction(kEndings[i], &before_[i], nullptr);
    }

private:
    Interrupts* interrupts_;
    std::array<struct sigaction, kEndings.size()> before_{};
};

// The terminal, which shows nothing of what is typed while this exists.
class Unseen {
public:
    explicit Unseen(Interrupts* interrupts) : descriptor_(::open("/dev/tty", O_RDWR | O_CLOEXEC)) {
        if (descriptor_ < 0 || ::tcgetattr(descriptor_, &seen_before) != 0) return;
        unseen_descriptor = descriptor_;
        endings_.emplace(interrupts);
        termios quiet = seen_before;
        quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        quiet.c_lflag |= ECHONL | ICANON;
        works_ = ::tcsetattr(descriptor_, TCSAFLUSH, &quiet) == 0;
    }
    Unseen(const Unseen&) = delete;
    Unseen& operator=(const Unseen&) = delete;
    ~Unseen() {
        if (works_) ::tcsetattr(descriptor_, TCSAFLUSH, &seen_before);
        endings_.reset();
        unseen_descriptor = -1;
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] bool works() const { return works_; }

    void say(const std::string& text) {
        [[maybe_unused]] const auto written = ::write(descriptor_, text.data(), text.size());
    }
    // None: it has ended (Ctrl-D).
    [[nodiscard]] std::optional<std::string> read_line() {
        std::string line;
        for (char c = 0; ::read(descriptor_, &c, 1) == 1; line.push_back(c)) {
            if (c == '\n') return line;
        }
        say("\n");
        auth::wipe(line);
        return std::nullopt;
    }

private:
    int descriptor_;
    std::optional<Endings> endings_;
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
    if (!first) return fail(ErrorCode::kBadRequest, "no password was typed");
    auto second = ask_password("Again: ");
    const bool same = second && *first == *second;
    if (second) auth::wipe(*second);
    if (same) return std::move(*first);
    auth::wipe(*first);
    return fail(ErrorCode::kBadRequest, "the two differ");
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

std::optional<std::string> ask_password(const std::string& prompt, Interrupts* interrupts) {
    Unseen terminal(interrupts);
    if (!terminal.works()) return std::nullopt;
    terminal.say(prompt);
    auto line = terminal.read_line();
    if (line && line->empty()) return std::nullopt;
    return line;
}

Result<Client> connect_asking(ConnectOptions& options, Interrupts& interrupts) {
    auto client = Client::connect(options);
    const bool may_ask = !client && client.error().code == ErrorCode::kDenied &&
                         options.password.empty() && !options.user.empty() &&
                         client.error().where == "primary" && is_terminal(STDERR_FILENO);
    if (!may_ask) return client;
    auto password = ask_password("Password for " + options.user + ": ", &interrupts);
    if (!password) return client;
    options.password = std::move(*password);
    return Client::connect(options);
}

int hash_password_line(const Options& options) {
    const auto complain = [](const std::string& what) {
        std::cerr << "shortq-cli: --hash-password: " << what << '\n';
        return kExitUsage;
    };
    const auto& name = options.connect.user;
    if (const auto problem = auth::problem_of_name(name); !problem.empty())
        return complain(problem + " (--user NAME)");
    const auto& given = options.connect.password;
    if (!given.empty() && options.password_file.empty())  // It may be another one's than `name`'s.
        std::cerr << "shortq-cli: --hash-password: of $SHORTQ_PASSWORD\n";
    auto password = given.empty() ? new_password(name) : Result<std::string>(given);
    if (!password) return complain(password.error().message);
    const auto hash = auth::hash_password(*password);
    auth::wipe(*password);
    if (!hash) return complain(hash.error().message);
    std::cout << name << ':' << *hash << std::endl;
    return kExitOk;
}

}  // namespace shortq::cli
