// tools/cli/history.h: what was typed at the prompt, also in earlier sessions.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace shortq::cli {

// $SHORTQ_HISTORY, else shortq/history in $XDG_STATE_HOME, else in ~/.local/state. Empty: none is
// kept ($SHORTQ_HISTORY is empty, or there is no home).
[[nodiscard]] std::filesystem::path history_file();

// A file with an entry per line (\n and \\ stand for themselves), oldest first, readable by its
// owner only. Each text is in it once, where it was typed last. Faults of the file are nobody's
// concern at the prompt: then it is not kept.
class History {
public:
    static constexpr std::size_t kEntriesMax = 2000;

    // Reads the file. An empty path keeps nothing.
    explicit History(std::filesystem::path file);

    // Appends to the file at once: other prompts append to it, too.
    void add(const std::string& entry);
    [[nodiscard]] const std::vector<std::string>& entries() const noexcept { return entries_; }

private:
    void remember(const std::string& entry);
    void rewrite() const;

    std::filesystem::path file_;
    std::vector<std::string> entries_;
};

}  // namespace shortq::cli
