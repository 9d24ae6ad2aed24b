// tests/soak/judge.h: from a reply of the client library to an entry in the ledger.
#pragma once

#include <string>

#include "tests/soak/ledger.h"

namespace shortq::soak {

[[nodiscard]] inline std::string outcome_of(const Error& error) {
    return std::string(name_of(error.code)) + ": " + error.message +
           (error.where.empty() ? "" : " (" + error.where + ")");
}

// Threads: any.
class Judge {
public:
    Judge(Ledger& ledger, const Versions& versions) : ledger_(ledger), versions_(versions) {}

    void tell(const Plan& plan, const std::string& client, const Result<Table>& reply) const {
        if (!reply) return tell_error(plan, client, reply.error());
        ledger_.answered(plan.number, client, "ok", true, fault_of_result(plan, *reply, versions_));
    }
    void tell_error(const Plan& plan, const std::string& client, const Error& error) const {
        ledger_.answered(plan.number, client, outcome_of(error), false,
                         fault_of_error(plan, error));
    }
    void tell_rows(const Plan& plan, const std::string& client, LargeCheck& check,
                   const ReplyFacts& facts) const {
        ledger_.answered(plan.number, client, "ok", true, check.finish(facts, versions_));
    }

private:
    Ledger& ledger_;
    const Versions& versions_;
};

}  // namespace shortq::soak
