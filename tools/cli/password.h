// tools/cli/password.h: where a password comes from: the environment, a file, or whoever sits
// there.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "proto/error.h"
#include "shortq/client.h"
#include "tools/cli/interrupts.h"

namespace shortq::cli {

// The first line of a file. Errors: kBadRequest: unreadable, or empty.
[[nodiscard]] Result<std::string> read_password_file(const std::string& path);

// What is typed at the terminal, unseen. None: there is no terminal, or nothing was typed.
// `prepare` is called with what shows the typing again, for who ends the program meanwhile.
[[nodiscard]] std::optional<std::string> ask_password(
    const std::string& prompt, const std::function<void(std::function<void()>)>& prepare = {});

// Connects; if the server wants a password and none was given, asks for it, and keeps it in
// `options`. Errors: as Client::connect().
[[nodiscard]] Result<Client> connect_asking(ConnectOptions& options, Interrupts& interrupts);

// --hash-password: reads a password (twice from a terminal, else a line from stdin) and prints the
// line for the users file. The exit status.
[[nodiscard]] int hash_password_line(const std::string& user);

}  // namespace shortq::cli
