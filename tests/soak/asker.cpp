#include "tests/soak/asker.h"

#include <algorithm>
#include <utility>

#include "tests/patience.h"

namespace shortq::soak {
namespace {

using std::chrono::milliseconds;

const Mix kMixed{{Kind::kShort, 80},   {Kind::kParameter, 24}, {Kind::kMedium, 24},
                 {Kind::kLong, 2},     {Kind::kLarge, 6},      {Kind::kError, 8},
                 {Kind::kMissing, 6},  {Kind::kRefused, 6},    {Kind::kHeavy, 2},
                 {Kind::kSpilling, 1}, {Kind::kEndless, 2},    {Kind::kForever, 2},
                 {Kind::kSync, 16},    {Kind::kSyncError, 4},  {Kind::kSyncView, 8}};
const Mix kDeferred{{Kind::kShort, 60}, {Kind::kParameter, 10}, {Kind::kMedium, 10},
                    {Kind::kError, 4},  {Kind::kMissing, 4},    {Kind::kLarge, 1}};
const Mix kSync{
    {Kind::kSync, 30}, {Kind::kSyncError, 4}, {Kind::kSyncView, 10}, {Kind::kSyncEndless, 1}};
const Mix kTiny{{Kind::kShort, 10},
                {Kind::kParameter, 3},
                {Kind::kError, 1},
                {Kind::kEndless, 1},
                {Kind::kForever, 2}};

}  // namespace

Asker::Asker(const Scene& scene, std::string name, std::uint64_t stream)
    : scene_(scene),
      name_(std::move(name)),
      random_(scene.seed, stream),
      judge_(scene.ledger, scene.versions),
      client_(scene.connect("soak " + name_)) {}

void Asker::run() try {
    while (true) {
        const Gate::Turn turn(scene_.gate);
        if (!turn) return;
        work();
        come_and_go();
    }
} catch (const std::exception& error) {
    scene_.ledger.wrong(name_ + ": " + error.what());
}

void Asker::come_and_go() {
    if (random_.one_in(200)) client_ = scene_.connect("soak " + name_ + " again");
}

Plan Asker::next(Kind kind, bool cancellable) {
    auto plan = make_plan(random_, kind, scene_.ledger.next_number(), scene_.versions);
    if (cancellable) allow_cancel(plan);
    if (scene_.restarts) allow_restart(plan);
    scene_.ledger.sent(plan, name_);
    return plan;
}

void OneByOne::work() {
    auto plan = next(draw(random_, kMixed), true);
    if (!scene_.restarts) plan.least_generation = newest_;
    const auto mode = plan.sync ? &Client::submit_sync : &Client::submit;
    auto submitted = (client_.*mode)(plan.text, plan.parameters, plan.options);
    const bool forever = plan.kind == Kind::kForever;
    if (forever || random_.one_in(12)) {
        const auto wait = random_.milliseconds(0, forever ? 1500 : 60);
        static_cast<void>(submitted.reply.wait_for(wait));
        scene_.ledger.note(plan.number, "cancelled by its client");
        client_.cancel(submitted.number);
    }
    const auto reply = submitted.reply.get();
    judge_.tell(plan, name_, reply);
    if (reply && !plan.sync) newest_ = std::max(newest_, reply->facts().generation);
}

void SyncUser::work() {
    const auto plan = next(draw(random_, kSync));
    judge_.tell(plan, name_, client_.sync(plan.text, plan.parameters, plan.options));
    scene_.gate.pause(random_.milliseconds(0, 40));
}

bool Batcher::send(std::map<RequestNumber, Plan>& under_way) {
    auto plan = next(draw(random_, kDeferred));
    const auto number = client_.async(plan.text, plan.parameters, plan.options);
    if (!number) {
        judge_.tell_error(plan, name_, number.error());
        return false;
    }
    under_way.emplace(*number, std::move(plan));
    return true;
}

void Batcher::work() {
    constexpr std::size_t kAtOnce = 12;
    constexpr int kInAll = 60;
    std::map<RequestNumber, Plan> under_way;
    for (int sent = 0; sent < kInAll || !under_way.empty();) {
        while (sent < kInAll && under_way.size() < kAtOnce && send(under_way)) ++sent;
        const auto arrived = client_.wait_for(test::kPatience * 3);
        if (!arrived) return scene_.ledger.wrong("wait(): " + outcome_of(arrived.error()));
        const auto plan = under_way.extract(arrived->number);
        if (!plan) {
            scene_.ledger.wrong(name_ + " got a reply to a request that it does not wait for");
            continue;
        }
        judge_.tell(plan.mapped(), name_, arrived->reply);
    }
}

void Burster::work() {
    constexpr std::int64_t kMost = 330;  // A client may have 300.
    std::deque<std::pair<Plan, Submitted>> out;
    const auto count = random_.between(20, kMost);
    for (std::int64_t i = 0; i < count; ++i) {
        auto plan = make_plan(random_, draw(random_, kDeferred), scene_.ledger.next_number(),
                              scene_.versions);
        plan.may_fail.add(ErrorCode::kOverloaded);
        allow_cancel(plan);
        if (scene_.restarts) allow_restart(plan);
        scene_.ledger.sent(plan, name_);
        auto submitted = client_.submit(plan.text, plan.parameters, plan.options);
        out.emplace_back(std::move(plan), std::move(submitted));
    }
    for (auto& [plan, submitted] : out) {
        if (!random_.one_in(5)) continue;
        scene_.ledger.note(plan.number, "cancelled by its client");
        client_.cancel(submitted.number);
    }
    take_as_they_come(out);
    scene_.gate.pause(random_.milliseconds(0, 1500));
}

// Not in their order: one that has come is not to look lost because an earlier one has not.
void Burster::take_as_they_come(std::deque<std::pair<Plan, Submitted>>& out) {
    while (!out.empty()) {
        static_cast<void>(out.front().second.reply.wait_for(milliseconds(20)));
        std::erase_if(out, [&](auto& one) {
            auto& [plan, submitted] = one;
            if (submitted.reply.wait_for(milliseconds(0)) != std::future_status::ready)
                return false;
            judge_.tell(plan, name_, submitted.reply.get());
            return true;
        });
    }
}

void Reader::work() {
    auto plan = next(Kind::kLarge);
    plan.may_fail.add(ErrorCode::kTimeout);  // It may read too slowly.
    auto stream = client_.stream(plan.text, plan.parameters, plan.options);
    if (!stream) return judge_.tell_error(plan, name_, stream.error());
    read(*stream, plan);
    scene_.gate.pause(random_.milliseconds(0, 300));
}

void Reader::read(Stream& stream, const Plan& plan) {
    LargeCheck check(plan);
    const bool leaves = random_.one_in(8);
    for (auto pieces_left = random_.between(1, 5);; --pieces_left) {
        if (leaves && pieces_left <= 0) return scene_.ledger.left(plan.number);
        const auto piece = stream.next();
        if (!piece) return judge_.tell_error(plan, name_, piece.error());
        if (!*piece) return judge_.tell_rows(plan, name_, check, stream.facts());
        check.add(**piece);
        pause_between(plan);
    }
}

void Reader::pause_between(const Plan& plan) {
    if (random_.one_in(5)) scene_.gate.pause(random_.milliseconds(1, 200));
    if (!random_.one_in(150)) return;
    scene_.ledger.note(plan.number, "its reader takes nothing for a while");
    scene_.gate.pause(random_.milliseconds(1000, 14'000));
}

void Visitor::work() {
    const auto name = name_ + " visiting";
    std::vector<std::pair<Plan, Submitted>> out;
    {
        auto visitor = scene_.connect("soak " + name);
        for (auto left = random_.between(0, 6); left > 0; --left) {
            auto plan = next(draw(random_, kTiny), true);
            auto submitted = visitor.submit(plan.text, plan.parameters, plan.options);
            out.emplace_back(std::move(plan), std::move(submitted));
        }
        // What never ends may hold up what was sent after it.
        const bool ends = std::ranges::none_of(
            out, [](const auto& one) { return one.first.kind == Kind::kForever; });
        const bool waits = ends && random_.one_in(2);
        for (auto& [plan, submitted] : out) {
            if (waits) submitted.reply.wait();
            scene_.ledger.note(plan.number, "its client goes");
        }
    }
    // Those that were under way end with the client.
    for (auto& [plan, submitted] : out) judge_.tell(plan, name_, submitted.reply.get());
    scene_.gate.pause(random_.milliseconds(0, 200));
}

}  // namespace shortq::soak
