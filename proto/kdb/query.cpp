#include "proto/kdb/query.h"

#include <cstdint>
#include <string>
#include <utility>

#include "proto/kdb/bytes.h"
#include "proto/kdb/parameter.h"
#include "proto/limits.h"
#include "proto/utf8.h"

namespace shortq::kdb {
namespace {

// The name under which KX's SQL lives in a q process; KX's JDBC driver calls it.
constexpr std::string_view kJdbcFunction = ".o.ex";

constexpr std::int8_t kCharVector = static_cast<std::int8_t>(Type::kChar);
constexpr std::int8_t kCharAtom = -kCharVector;
constexpr std::int8_t kSymbolAtom = -static_cast<std::int8_t>(Type::kSymbol);
constexpr std::int8_t kLambda = static_cast<std::int8_t>(Type::kLambda);
constexpr std::int8_t kList = static_cast<std::int8_t>(Type::kList);
constexpr std::int8_t kError = static_cast<std::int8_t>(Type::kError);

tl::unexpected<Error> malformed(std::string_view problem) {
    return fail(ErrorCode::kBadRequest, "malformed kdb+ message: " + std::string(problem));
}

tl::unexpected<Error> not_a_query(std::int8_t type, std::string_view where) {
    return fail(ErrorCode::kBadRequest,
                std::string(where) + " of kdb+ type " + std::to_string(type) + " (" +
                    name_of_type(type) +
                    ") is not a query: send SQL as a char vector (10), or a general list (0) of "
                    "it and its parameters");
}

constexpr std::string_view kCutShort = "its query is cut short, or its count is wrong";

// Whether it is a text; then what its bytes say, behind the type that was taken.
bool is_text(std::int8_t type, bool symbols) {
    return type == kCharVector || type == kCharAtom || (symbols && type == kSymbolAtom);
}
bool take_text(ByteReader& reader, std::int8_t type, std::string_view& text) {
    if (type == kSymbolAtom) return reader.symbol(text);
    std::uint8_t attribute = 0;
    std::size_t count = 1;
    std::span<const std::byte> bytes;
    if (type == kCharVector && !reader.vector_head(attribute, count)) return false;
    if (!reader.items(count, 1, bytes)) return false;
    text = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    return true;
}

// A lambda is the symbol of its context and a text.
bool take_lambda(ByteReader& reader) {
    std::string_view text;
    std::int8_t type = 0;
    return reader.symbol(text) && reader.number(type) && type == kCharVector &&
           take_text(reader, type, text);
}

// Reads a list as a query. The list's type has been taken.
class ListReader {
public:
    explicit ListReader(ByteReader reader) : reader_(reader) {}

    Result<Query> read() {
        std::uint8_t attribute = 0;
        if (!reader_.vector_head(attribute, left_))
            return malformed("the count of its list is missing or negative");
        if (left_ == 0) return not_a_query(kList, "an empty list");
        Query query;
        return check_count()
            .and_then([&] { return read_text(query.text); })
            .and_then([&] { return read_parameters(query.parameters); })
            .and_then([&] { return finish(); })
            .map([&] { return std::move(query); });
    }

private:
    // Before anything is read by a count that somebody else has written.
    [[nodiscard]] Result<void> check_count() const {
        constexpr std::size_t kItemBytesMin = 2;  // Its type, and a byte.
        if (left_ <= reader_.left() / kItemBytesMin) return {};
        return malformed("the count of its list does not fit: " + std::to_string(left_) +
                         " items would have to be in " + std::to_string(reader_.left()) + " bytes");
    }

    // The query, behind what JDBC puts in front of it.
    Result<void> read_text(std::string_view& text) {
        std::int8_t type = 0;
        if (!next(type)) return malformed(kCutShort);
        if (type == kLambda) {
            if (!take_lambda(reader_)) return malformed("a function is cut short or broken");
            if (!take_jdbc_function())
                return not_a_query(kLambda, "a list that begins with an item");
            return read_statement(text);
        }
        if (!is_text(type, true)) return not_a_query(type, "a list that begins with an item");
        if (!take_text(reader_, type, text)) return malformed(kCutShort);
        if (text == kJdbcFunction || take_jdbc_function()) return read_statement(text);
        return {};
    }

    // The item behind JDBC's function.
    Result<void> read_statement(std::string_view& text) {
        std::int8_t type = 0;
        if (left_ == 0) return malformed(".o.ex without a statement");
        if (!next(type)) return malformed(kCutShort);
        if (!is_text(type, false)) return not_a_query(type, "the argument of .o.ex");
        if (!take_text(reader_, type, text)) return malformed(kCutShort);
        return {};
    }

    // Takes the next item if it is the name of that function.
    bool take_jdbc_function() {
        ListReader ahead = *this;
        std::int8_t type = 0;
        std::string_view text;
        // The statement follows: alone, the name is a parameter.
        if (!ahead.next(type) || !is_text(type, true) || !take_text(ahead.reader_, type, text) ||
            text != kJdbcFunction || ahead.left_ == 0)
            return false;
        *this = ahead;
        return true;
    }

    Result<void> read_parameters(Parameters& parameters) {
        if (left_ == 1) enter_list();
        if (auto fits = check_count(); !fits) return fits;
        if (left_ > proto::kParametersMax) {
            return fail(ErrorCode::kTooLarge, std::to_string(left_) + " parameters; at most " +
                                                  std::to_string(proto::kParametersMax) +
                                                  " are accepted");
        }
        for (std::size_t number = 1; left_ > 0; ++number, --left_) {
            auto value = read_parameter(reader_, number);
            if (!value) return tl::unexpected(std::move(value.error()));
            parameters.push_back({{}, std::move(*value)});
        }
        return {};
    }

    // If a general list comes next, its items are the parameters.
    void enter_list() {
        ByteReader ahead = reader_;
        std::int8_t type = 0;
        std::uint8_t attribute = 0;
        std::size_t count = 0;
        if (!ahead.number(type) || type != kList || !ahead.vector_head(attribute, count)) return;
        reader_ = ahead;
        left_ = count;
    }

    [[nodiscard]] Result<void> finish() const {
        return reader_.left() == 0 ? Result<void>{} : malformed("spare bytes behind its object");
    }

    bool next(std::int8_t& type) {
        if (left_ == 0 || !reader_.number(type)) return false;
        --left_;
        return true;
    }

    ByteReader reader_;
    std::size_t left_ = 0;  // Items of the list.
};

Result<Query> read_text_alone(ByteReader reader, std::int8_t type) {
    Query query;
    if (!take_text(reader, type, query.text)) return malformed(kCutShort);
    if (reader.left() != 0) return malformed("spare bytes behind its object");
    return query;
}

}  // namespace

bool Query::is_blank() const {
    return parameters.empty() && text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

Result<std::optional<Query>> read_query(std::span<const std::byte> body, ByteOrder order) {
    ByteReader reader(body, order);
    std::int8_t type = 0;
    if (!reader.number(type)) return malformed("it has no object");
    if (type == kError) return std::nullopt;
    if (type != kList && !is_text(type, false)) return not_a_query(type, "an object");
    auto query = type == kList ? ListReader(reader).read() : read_text_alone(reader, type);
    if (!query) return tl::unexpected(std::move(query.error()));
    if (!proto::is_utf8(query->text)) {
        return fail(ErrorCode::kBadRequest,
                    "the text of the query is not UTF-8 (in Java: c.setEncoding(\"UTF-8\"))");
    }
    return std::optional<Query>(std::move(*query));
}

}  // namespace shortq::kdb
