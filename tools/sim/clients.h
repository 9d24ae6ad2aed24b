// tools/sim/clients.h: client processes: they connect, ask, read, cancel, fall silent, leave and
// come back; and each keeps account of what it was told.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <vector>

#include "tools/sim/ground.h"
#include "tools/sim/kdb_door.h"
#include "tools/sim/messages.h"

namespace shortq::sim {

class Primary;

class Clients {
public:
    Clients(Ground& ground, Primary& primary);

    // The first connections, and requests until the scenario's number has been sent.
    void begin();
    void send_no_more() { requests_left_ = 0; }
    // Phase 2: whoever did not read or answer does from now on.
    void heal();
    [[nodiscard]] bool all_sent() const { return requests_left_ == 0; }
    // Requests whose final reply has not come, of clients that live.
    [[nodiscard]] std::size_t waiting() const;

    // A message of the primary's to the other end of a connection.
    void carry(ConnectionId connection, const ToClient& message);

private:
    struct Asked {
        core::RequestArrived request;
        Payload payload;
        int finals_due = 1;  // More when the same number was sent twice.
        std::uint32_t attempt = 0;
        std::uint32_t sequence = 0;
        std::uint64_t taken = 0;  // Of this attempt.
        bool stopped = false;     // Its reader takes nothing.
    };
    struct Client {
        std::size_t number = 0;
        ConnectionId connection{};
        bool welcome = false;
        bool alive = true;
        bool kdb = false;
        bool deaf = false;             // Does not read its connection.
        std::vector<ToClient> unread;  // Then.
        std::uint64_t last_request = 0;
        std::uint64_t taken = 0;       // Bytes of replies, in this session.
        std::uint32_t generation = 0;  // The latest that answered it.
        std::map<std::uint64_t, Asked> asked;
        // kdb+: what is unanswered, in the order in which its replies have to come.
        std::array<std::deque<std::uint64_t>, kLines> lines;
    };
    struct Connection {
        std::size_t client = 0;
        bool open = true;
        Link up;
        Link down;
    };

    // clients.cpp: connections.
    void create();
    void connect(Client& client);
    void connect_again(Client& client);
    void beat(ConnectionId id);
    void send(Client& client, core::Event event, const Payload& payload = {});
    void die(Client& client);
    void hang_up(const Client& client);
    void fall_silent(Client& client);
    void receive(Client& client, const ToClient& message);
    void welcome(Client& client);

    // client_requests.cpp: what they ask.
    void ask_somebody();
    void ask(Client& client);
    [[nodiscard]] core::RequestArrived draw_request(Client& client);
    [[nodiscard]] Payload draw_payload(const core::RequestArrived& request);
    void plan_cancel(const Client& client, std::uint64_t id);
    void maybe_misfortune(Client& client);

    // client_replies.cpp: what they are told.
    void read(Client& client, const ToClient& message);
    void read_in_order(Client& client, const ToClient& message);
    void end(Client& client, std::uint64_t id, const ToClient& message);
    [[nodiscard]] bool in_sequence(Asked& asked, const ToClient& message);
    void give_credit(Client& client, const Asked& asked, const ToClient& message);
    void take(std::size_t number, ConnectionId connection, std::uint64_t id, std::uint32_t attempt,
              std::uint64_t bytes);
    void fail(const Client& client, std::uint64_t id, const char* what);

    Ground& ground_;
    Primary& primary_;
    std::deque<Client> clients_;
    std::deque<Connection> connections_;
    std::uint32_t requests_left_ = 0;
    std::uint64_t last_words_ = 0;
    std::uint64_t finals_ = 0;
};

}  // namespace shortq::sim
