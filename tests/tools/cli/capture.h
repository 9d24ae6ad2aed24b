// tests/tools/cli/capture.h: what shortq-cli's writers print, as a string.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>

#include "tools/cli/writer.h"

namespace shortq::cli::test {

// Everything that `print` writes to the output it is given.
[[nodiscard]] inline std::string captured(const std::function<void(Output&)>& print) {
    const int file = ::memfd_create("captured", MFD_CLOEXEC);
    EXPECT_GE(file, 0);
    Output out(file);
    print(out);
    out.flush();
    EXPECT_EQ(out.error(), 0);
    std::string text;
    std::array<char, 4096> part;
    ::lseek(file, 0, SEEK_SET);
    for (ssize_t got = 0; (got = ::read(file, part.data(), part.size())) > 0;) {
        text.append(part.data(), static_cast<std::size_t>(got));
    }
    ::close(file);
    return text;
}

[[nodiscard]] inline std::string print(Format format, const Table& table, Screen screen = {}) {
    return captured([&](Output& out) { make_writer(format, screen)->write(table, out); });
}

}  // namespace shortq::cli::test
