// tools/cli/password.h: where a password comes from: the environment, a file, or whoever sits
// there.
#pragma once

#include <optional>
#include <string>

#include "proto/error.h"
#include "shortq/client.h"
#include "tools/cli/interrupts.h"
#include "tools/cli/options.h"

namespace shortq::cli {

// The first line of a file. Errors: kBadRequest: unreadable, or empty.
[[nodiscard]] Result<std::string> read_password_file(const std::string& path);

// What is typed at the terminal, unseen. None: there is no terminal, or nothing was typed.
// A signal that ends the program meanwhile shows the typing again first. With `interrupts`, those
// that it takes do.
[[nodiscard]] std::optional<std::string> ask_password(const std::string& prompt,
                                                      Interrupts* interrupts = nullptr);

// Connects; if the server wants a password and none was given, asks for it, and keeps it in
// `options`. Errors: as Client::connect().
[[nodiscard]] Result<Client> connect_asking(ConnectOptions& options, Interrupts& interrupts);

// --hash-password: prints the line for the users file, of the password in `options`; if there is
// none, of one that is read (twice from a terminal, else a line from stdin). The exit status.
[[nodiscard]] int hash_password_line(const Options& options);

}  // namespace shortq::cli
