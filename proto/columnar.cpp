// proto/columnar.cpp: placeholder until schema.cpp and batch.cpp follow.
#include "proto/columnar.h"

namespace shortq::proto {

std::vector<std::byte> encode_schema(const Schema& /*schema*/) { return {}; }
Result<Schema> decode_schema(std::span<const std::byte> /*frame*/) {
    return fail(ErrorCode::kInternal, "not there yet");
}
BatchFrames split(const Batch& /*batch*/) { return {}; }
Result<std::size_t> buffer_frames_of(std::span<const std::byte> /*layout*/) {
    return fail(ErrorCode::kInternal, "not there yet");
}
Result<Batch> assemble(const Schema& /*schema*/, std::span<const std::byte> /*layout*/,
                       std::span<const Buffer> /*buffers*/) {
    return fail(ErrorCode::kInternal, "not there yet");
}

}  // namespace shortq::proto
