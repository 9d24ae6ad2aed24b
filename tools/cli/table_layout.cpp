#include "tools/cli/table_layout.h"

#include <algorithm>

namespace shortq::cli {
namespace {

constexpr std::size_t kNarrowest = 12;  // Texts are not cut below this, while columns are left.
constexpr std::size_t kSeparator = 3;   // " | "
constexpr std::size_t kEdges = 2;
constexpr std::size_t kGap = 1 + kSeparator;  // The column that stands for those left out.

std::size_t limited(const Wish& wish, std::size_t limit) {
    return std::min(wish.width, std::max(wish.least, limit));
}

// Which columns are shown: the first ones and the last ones.
struct Choice {
    std::size_t front = 0;
    std::size_t back = 0;
};

class Layout {
public:
    Layout(const std::vector<Wish>& wishes, std::size_t total) : wishes_(wishes), total_(total) {}

    std::vector<Slot> run() const {
        const auto count = wishes_.size();
        for (std::size_t shown = count; shown > 0; --shown) {
            const Choice choice{shown - shown / 2, shown / 2};
            if (width(choice, kNarrowest) <= total_) return slots(choice, widest_limit(choice));
        }
        auto slots_of_one = slots({1, 0}, kNarrowest);
        const auto others = count > 1 ? kGap + kEdges : kEdges;
        slots_of_one[0].width = total_ > others ? total_ - others : 1;
        return slots_of_one;
    }

private:
    std::size_t width(const Choice& choice, std::size_t limit) const {
        std::size_t sum = kEdges - kSeparator;  // Wraps around, and back with the first column.
        for (const auto& slot : slots(choice, limit)) sum += slot.width + kSeparator;
        return sum;
    }

    std::size_t widest_limit(const Choice& choice) const {
        std::size_t fits = kNarrowest;
        std::size_t fails = total_ + 1;
        while (fails - fits > 1) {
            const auto middle = fits + (fails - fits) / 2;
            (width(choice, middle) <= total_ ? fits : fails) = middle;
        }
        return fits;
    }

    std::vector<Slot> slots(const Choice& choice, std::size_t limit) const {
        std::vector<Slot> slots;
        const auto count = wishes_.size();
        for (std::size_t i = 0; i < choice.front; ++i) {
            slots.push_back({i, limited(wishes_[i], limit)});
        }
        if (choice.front + choice.back < count) slots.push_back({kLeftOut, 1});
        for (std::size_t i = count - choice.back; i < count; ++i) {
            slots.push_back({i, limited(wishes_[i], limit)});
        }
        return slots;
    }

    const std::vector<Wish>& wishes_;
    std::size_t total_;
};

}  // namespace

std::vector<Slot> lay_out(const std::vector<Wish>& wishes, std::size_t total) {
    std::vector<Slot> all;
    std::size_t width = kEdges - kSeparator;
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        all.push_back({i, wishes[i].width});
        width += wishes[i].width + kSeparator;
    }
    if (total == 0 || wishes.empty() || width <= total) return all;
    return Layout(wishes, total).run();
}

}  // namespace shortq::cli
