// primary/core/types.cpp: what each reason means on the wire.
#include "primary/core/types.h"

namespace shortq::core {

ErrorCode code_of(Reason reason) noexcept {
    switch (reason) {
        case Reason::kQueueFull:
        case Reason::kClientQueueFull:
        case Reason::kBytesFull:
            return ErrorCode::kOverloaded;
        case Reason::kDuplicateId:
            return ErrorCode::kBadRequest;
        case Reason::kDraining:
        case Reason::kNoWorker:
            return ErrorCode::kUnavailable;
        case Reason::kTimedOutQueued:
        case Reason::kTimedOutRunning:
        case Reason::kStalled:
            return ErrorCode::kTimeout;
        case Reason::kCancelled:
        case Reason::kInterrupted:
            return ErrorCode::kCancelled;
        case Reason::kPoison:
        case Reason::kLostNotRetried:
        case Reason::kLostMidStream:
            return ErrorCode::kWorkerLost;
    }
    return ErrorCode::kInternal;
}

bool retryable(Reason reason) noexcept {
    return reason == Reason::kLostMidStream || retryable_by_default(code_of(reason));
}

}  // namespace shortq::core
