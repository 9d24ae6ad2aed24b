// client/stream.cpp: one reader's place in a result.
#include <cassert>
#include <utility>

#include "client/connection.h"
#include "shortq/client.h"

namespace shortq {

class Stream::Impl {
public:
    Impl(std::shared_ptr<detail::Connection> connection, RequestNumber number)
        : connection_(std::move(connection)), number_(number) {}
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() { connection_->forget(number_); }

    Result<std::optional<Table>> next() {
        while (true) {
            if (!ahead_ && over_) return at_end();
            if (!ahead_) fetch();
            if (!ahead_) continue;
            auto rows = *std::exchange(ahead_, std::nullopt);
            if (rows.rows() > 0) return std::optional(std::move(rows));
        }
    }

    Result<Schema> schema() {
        if (!schema_ && !over_) fetch();
        if (schema_) return *schema_;
        return tl::unexpected(*error_);
    }

    [[nodiscard]] const ReplyFacts& facts() const noexcept { return facts_; }
    [[nodiscard]] RequestNumber number() const noexcept { return number_; }

private:
    // Pre: nothing is ahead, and the end has not come.
    void fetch() {
        if (in_use_ > 0) connection_->took(number_, in_use_);
        auto [rows, bytes, last] = connection_->next(number_);
        over_ = last;
        in_use_ = bytes;
        if (!rows) {
            error_ = std::move(rows.error());
            return;
        }
        facts_ = rows->facts();
        if (!schema_) schema_ = rows->schema();
        ahead_ = *std::move(rows);
    }

    [[nodiscard]] Result<std::optional<Table>> at_end() const {
        if (error_) return tl::unexpected(*error_);
        return std::nullopt;
    }

    std::shared_ptr<detail::Connection> connection_;
    RequestNumber number_;
    std::optional<Schema> schema_;
    std::optional<Table> ahead_;  // Fetched, not given out.
    std::uint64_t in_use_ = 0;    // Bytes of what was fetched last.
    bool over_ = false;
    std::optional<Error> error_;
    ReplyFacts facts_;
};

Stream::Stream(std::shared_ptr<detail::Connection> connection, RequestNumber number)
    : impl_(std::make_unique<Impl>(std::move(connection), number)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

Result<std::optional<Table>> Stream::next() { return impl_->next(); }
Result<Schema> Stream::schema() { return impl_->schema(); }
const ReplyFacts& Stream::facts() const noexcept { return impl_->facts(); }
RequestNumber Stream::number() const noexcept { return impl_->number(); }

}  // namespace shortq
