#include "tests/soak/load.h"

#include <utility>

#include "tests/soak/asker.h"

namespace shortq::soak {
namespace {

constexpr std::uint64_t kFirstStream = 100;

}  // namespace

template <class Asker>
void Load::start(const std::string& name) {
    const auto stream = kFirstStream + threads_.size();
    // Connected here: a connection that fails ends the run, not a thread.
    auto asker = std::make_shared<Asker>(scene_, name, stream);
    threads_.emplace_back([asker] { asker->run(); });
}

Load::Load(Scene scene, bool light) : scene_(std::move(scene)) {
    for (int i = 0; i < (light ? 1 : 4); ++i) start<OneByOne>("one by one " + std::to_string(i));
    for (int i = 0; i < (light ? 1 : 2); ++i) start<Batcher>("batcher " + std::to_string(i));
    for (int i = 0; i < (light ? 1 : 3); ++i) start<Reader>("reader " + std::to_string(i));
    if (!light) start<Burster>("burster");
    start<SyncUser>("sync user");
    start<Visitor>("visitor");
}

void Load::join() {
    for (auto& thread : threads_) thread.join();
    threads_.clear();
}

}  // namespace shortq::soak
