// tests/temporary_folder.h: a folder for one test, which goes away with its contents.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace shortq::test {

class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "shortq-test-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

    // Writes a file in it; returns its path.
    std::string write(const std::string& name, std::string_view content) const {
        const auto path = path_ / name;
        std::ofstream file(path, std::ios::binary);
        file << content;
        if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
        return path.string();
    }

private:
    std::filesystem::path path_;
};

}  // namespace shortq::test
