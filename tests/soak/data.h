// tests/soak/data.h: the data that is served. Each version of it is computed from its number, so
// that whoever knows the version knows every sum.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>

namespace shortq::soak {

inline constexpr std::int64_t kRows = 20'000;  // Of the table t.

// The sum of t.x in a version.
[[nodiscard]] std::int64_t checksum(std::int64_t version);

// Which versions a generation may answer with. Threads: any.
class Versions {
public:
    // `restarts`: another primary may count generations anew, so that nothing is known of them.
    explicit Versions(bool restarts) : restarts_(restarts) {}

    // A version is about to take its place on disk.
    void writing(std::int64_t version);
    // A generation serves that has loaded this version, or a later one.
    void serving(std::uint32_t generation, std::int64_t least);

    [[nodiscard]] std::int64_t newest() const;
    // The least version that a generation, or a later one, may answer with; 0: not known.
    [[nodiscard]] std::int64_t least(std::uint32_t generation) const;
    [[nodiscard]] std::uint32_t generation() const;  // The newest known to serve.

private:
    bool restarts_;
    mutable std::mutex mutex_;
    std::int64_t newest_ = 0;
    std::map<std::uint32_t, std::int64_t> least_;
};

// The files: a database with the tables about(version) and t(x), and a script that attaches it as
// d and copies both into memory. Threads: one at a time.
class DataFiles {
public:
    DataFiles(std::filesystem::path folder, std::filesystem::path shortq);

    // Makes a database of this version and renames it over the one before. Throws if it cannot.
    void refresh(std::int64_t version);
    // Makes the script fail at its end, or well again, by renaming another one over it.
    void write_script(bool well);
    [[nodiscard]] std::string script() const { return (folder_ / "startup.sql").string(); }

private:
    void replace(const std::string& name, const std::string& content) const;

    std::filesystem::path folder_;
    std::filesystem::path shortq_;
};

}  // namespace shortq::soak
