// tests/fuzz/prompt_targets.cpp: what is typed into shortq-cli, or shown by it.
#include <clocale>
#include <set>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"
#include "tests/temporary_folder.h"
#include "tests/tools/cli/catalogue.h"
#include "tools/cli/commands.h"
#include "tools/cli/completion.h"
#include "tools/cli/highlight.h"
#include "tools/cli/hints.h"
#include "tools/cli/history.h"
#include "tools/cli/json_text.h"
#include "tools/cli/lexer.h"
#include "tools/cli/statements.h"
#include "tools/cli/terminal_text.h"
#include "worker/engine/sql_lexer.h"

namespace shortq::fuzz {
namespace {

using Texts = std::vector<std::string>;

// ---- statements: tokens lie side by side; what is cut out is one statement by itself, and the
// server takes it for one, too.

bool is_ascii(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void run_statements(Input input) {
    const auto script = text_of(input);
    std::size_t at = 0;
    for (const auto& token : cli::tokenize(script)) {
        SHORTQ_FUZZ_CHECK(token.begin == at && token.end > at);
        at = token.end;
    }
    SHORTQ_FUZZ_CHECK(at == script.size());
    const auto statements = cli::split_statements(script);
    for (const auto& statement : statements)
        SHORTQ_FUZZ_CHECK(cli::split_statements(statement) == Texts{statement});
    SHORTQ_FUZZ_CHECK(cli::cut_statements(script).statements.size() <= statements.size());
    if (is_ascii(script))
        SHORTQ_FUZZ_CHECK(engine::split_statements(script).size() == statements.size());
}

Texts statements_seeds() {
    return {"select 1; select 2;\n",
            "select 'it''s; one', \"a;b\", e'\\'', x'00', $$a;b$$, $tag$ ; $$ $tag$; select 2",
            "-- only a comment\n; /* nested /* ; */ */ select $1, $a from t where x > 1.5e-3",
            "values (1_000, 0xff, .5); select 'open"};
}

// ---- typing: completion, colours, commands

void run_typing(Input input) {
    Taker taker(input);
    const bool sync = (taker.byte() & 1U) != 0;
    const auto before = taker.text();
    const auto word = taker.text();
    const auto after = std::string(text_of(taker.rest()));
    static const auto kCatalogue = cli::a_catalogue();
    const auto candidates = cli::complete(kCatalogue, {before, word, after, sync});
    SHORTQ_FUZZ_CHECK(std::set<std::string>(candidates.begin(), candidates.end()).size() ==
                      candidates.size());
    SHORTQ_FUZZ_CHECK(cli::highlight(before, after).size() == after.size());
    const auto command = cli::parse_command(after);
    SHORTQ_FUZZ_CHECK(command.command == nullptr || command.command->name == command.name);
    static_cast<void>(cli::command_meant(after));
    static_cast<void>(cli::nearest_name(word, {"--format", "--file", "--sync"}));
    static_cast<void>(
        cli::hint_for_deferred({ErrorCode::kQueryError, after, {}, false}, before, "use --sync"));
}

std::string typed(char sync, std::string_view before, std::string_view word,
                  std::string_view after) {
    std::string seed(1, sync);
    append_frame(seed, before);
    append_frame(seed, word);
    return seed.append(after);
}

Texts typing_seeds() {
    return {typed('\0', "select ", "pr", " from trade t"),
            typed('\0', "from ref.", "ai", ""),
            typed('\1', "call ", "shortq_", ""),
            typed('\0', "select 1; set ", "thr", ""),
            typed('\0', "select * from \"Tw", "Tw", "' /* a"),
            typed('\0', "", "", "\\format csv ;"),
            typed('\0', "", "", "\\d trade"),
            typed('\1', "select * from shortq.workers", "",
                  "Catalog Error: Table with name workers does not exist!")};
}

// ---- shown: nothing that is shown steers a terminal, or is wider than it may be.

void run_shown(Input input) {
    static const bool kLocale = std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr;
    SHORTQ_FUZZ_CHECK(kLocale);
    const auto text = text_of(input);
    const auto shown = cli::printable(text);
    for (std::string_view rest = shown; !rest.empty();) {
        const auto glyph = cli::first_glyph(rest);
        SHORTQ_FUZZ_CHECK(glyph.bytes > 0 && glyph.bytes <= rest.size());
        SHORTQ_FUZZ_CHECK(!glyph.malformed && !glyph.control);
        rest.remove_prefix(glyph.bytes);
    }
    SHORTQ_FUZZ_CHECK(cli::printable(shown) == shown);
    for (const std::size_t width : {1U, 2U, 7U})
        SHORTQ_FUZZ_CHECK(cli::display_width(cli::cut_to_width(shown, width)) <= width);
    std::string json;
    cli::append_json_string(json, text);
    cli::append_json_document(json, text);
    cli::append_json_bytes(json, text);
    SHORTQ_FUZZ_CHECK(std::ranges::none_of(json, [](char c) { return c == '\n' || c == '\r'; }));
}

Texts shown_seeds() {
    return {"plain",
            "j\xc3\xb6rg \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\xa6\x86",
            "\x1b[31mred\x1b[0m\n",
            "\xe2\x80\xae"
            "txt.exe",
            "e\xcc\x81 \xff\xc2",
            R"({"a": [1, "b\n", null]})"};
}

// ---- history: what is added is there again when the file is read.

void run_history(Input input) {
    static const test::TemporaryFolder kFolder;
    Taker taker(input);
    const auto path = kFolder.write("history", taker.text());
    cli::History history(path);
    history.add(std::string(text_of(taker.rest())));
    const auto again = cli::History(path).entries();
    SHORTQ_FUZZ_CHECK(again == history.entries());
}

Texts history_seeds() {
    std::string seed;
    append_frame(seed, std::string_view("select 1\nselect\\n2\nselect 'a\\\\b'\n"));
    return {seed + "select\n3", seed + "select 1", seed};
}

}  // namespace

std::vector<Target> prompt_targets() {
    return {
        {"statements", "scripts cut into statements, as the server would", 512, run_statements,
         statements_seeds},
        {"typing", "completion, colours, commands and hints", 256, run_typing, typing_seeds},
        {"shown", "texts on a terminal and in JSON", 256, run_shown, shown_seeds},
        {"history", "the file of what was typed", 256, run_history, history_seeds},
    };
}

}  // namespace shortq::fuzz
