#include "tools/cli/history.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

#include "tools/cli/output.h"
#include "tools/cli/terminal.h"

namespace shortq::cli {
namespace {

constexpr mode_t kOwnerOnly = 0600;

std::string escaped(std::string_view entry) {
    std::string line;
    for (const char c : entry) {
        if (c == '\n') {
            line += "\\n";
        } else if (c == '\\') {
            line += "\\\\";
        } else {
            line += c;
        }
    }
    return line + "\n";
}

std::string unescaped(std::string_view line) {
    std::string entry;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\\' && i + 1 < line.size()) {
            entry += line[++i] == 'n' ? '\n' : line[i];
        } else {
            entry += line[i];
        }
    }
    return entry;
}

bool ends_its_last_line(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    in.seekg(-1, std::ios::end);
    return in.get() == '\n';
}

// False: it could not be written.
bool write_file(const std::filesystem::path& path, int flags, std::string_view text) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, kOwnerOnly);
    if (file < 0) return false;
    struct stat status {};
    if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode)) ::fchmod(file, kOwnerOnly);
    Output out(file);
    out.append(text);
    out.flush();
    ::close(file);
    return !out.failed();
}

}  // namespace

std::filesystem::path history_file() {
    if (const char* file = std::getenv("SHORTQ_HISTORY")) return file;
    const std::filesystem::path state = environment("XDG_STATE_HOME");
    if (state.is_absolute()) return state / "shortq" / "history";
    const std::filesystem::path home = environment("HOME");
    if (home.empty()) return {};
    return home / ".local" / "state" / "shortq" / "history";
}

History::History(std::filesystem::path file) : file_(std::move(file)) {
    if (file_.empty()) return;
    std::error_code ignored;
    const auto folder = file_.parent_path();
    if (!folder.empty() && !std::filesystem::exists(folder, ignored)) {
        std::filesystem::create_directories(folder, ignored);
        std::filesystem::permissions(folder, std::filesystem::perms::owner_all, ignored);
    }
    if (!std::filesystem::is_regular_file(file_, ignored)) return;
    std::ifstream in(file_, std::ios::binary);
    std::size_t lines = 0;
    for (std::string line; std::getline(in, line); ++lines) remember(unescaped(line));
    // Duplicates, and beyond the limit; or a line without its end, which the next would join.
    const bool cut = lines > 0 && !ends_its_last_line(file_);
    if (cut || lines > entries_.size() + kEntriesMax / 4) rewrite();
}

void History::remember(const std::string& entry) {
    if (entry.empty()) return;
    std::erase(entries_, entry);
    entries_.push_back(entry);
    if (entries_.size() > kEntriesMax) entries_.erase(entries_.begin());
}

void History::add(const std::string& entry) {
    const bool repeated = !entries_.empty() && entries_.back() == entry;
    remember(entry);
    if (file_.empty() || repeated || entry.empty()) return;
    static_cast<void>(write_file(file_, O_APPEND, escaped(entry)));
}

// Through a file of its own, so that a reader never sees half of it.
void History::rewrite() const {
    std::string text;
    for (const auto& entry : entries_) text += escaped(entry);
    auto fresh = file_;
    fresh += "." + std::to_string(::getpid());
    std::error_code failed;
    if (write_file(fresh, O_TRUNC, text)) std::filesystem::rename(fresh, file_, failed);
    if (failed) std::filesystem::remove(fresh, failed);
}

}  // namespace shortq::cli
