// worker/engine/engine.cpp: makes engines by name.
#include "worker/engine/engine.h"

#include "worker/engine/duckdb_engine.h"
#include "worker/engine/test_engine.h"

namespace shortq::engine {

Result<void> Engine::load_base(const std::filesystem::path& source) {
    return fail(ErrorCode::kUnavailable, "this engine cannot be forked", source.string());
}

Result<ForkBase> Engine::prepare_fork(Warm /*warm*/) {
    return fail(ErrorCode::kUnavailable, "this engine cannot be forked");
}

Result<void> Engine::start_forked(const EngineOptions& /*options*/) {
    return fail(ErrorCode::kUnavailable, "this engine cannot be forked");
}

Result<std::unique_ptr<Engine>> make_engine(std::string_view name, EngineOptions options) {
    if (name == "test") return std::make_unique<TestEngine>(std::move(options));
    if (name == "duckdb") {
        if (auto checked = check_duckdb_version(); !checked) {
            return tl::unexpected(checked.error());
        }
        return std::make_unique<DuckDbEngine>(std::move(options));
    }
    return fail(ErrorCode::kBadRequest,
                "no engine is called \"" + std::string(name) + "\"; there are duckdb and test");
}

}  // namespace shortq::engine
