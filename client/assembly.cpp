#include "client/assembly.h"

#include <utility>

namespace shortq::detail {

ReplyFacts to_public(const proto::Facts& facts) {
    ReplyFacts converted;
    converted.worker = facts.worker;
    converted.generation = facts.generation;
    converted.queued_ms = static_cast<double>(facts.queued_us) / 1000;
    converted.run_ms = static_cast<double>(facts.run_us) / 1000;
    converted.rows = facts.rows;
    converted.bytes = facts.bytes;
    return converted;
}

Result<std::optional<Table>> ReplyAssembly::add(const proto::Reply& reply,
                                                std::span<const Buffer> bodies) {
    const auto added = pieces_.add(reply, bodies);
    if (!added) return tl::unexpected(added.error());
    if (*added != proto::ReplyAssembly::Added::kLast) return std::nullopt;
    return take(reply.facts);
}

Table ReplyAssembly::take(const proto::Facts& facts) {
    return Table(pieces_.schema(), pieces_.take_batches(), to_public(facts));
}

}  // namespace shortq::detail
