// Random input over all panels. The seed is printed; PROFILE_SEED and PROFILE_INPUTS repeat or lengthen it.
#include <cstdlib>
#include <random>

#include "tests/unit/ui/person.h"
#include "ui/panel.h"

namespace ui {
namespace {

int setting(const char* name, int otherwise) {
  const char* given = std::getenv(name);
  return given == nullptr ? otherwise : std::atoi(given);
}

constexpr int kKeys[] = {Session::kEscape,
                         Session::kEnter,
                         Session::kLeft,
                         Session::kRight,
                         Session::kUp,
                         Session::kDown,
                         Session::kF1,
                         Session::kDelete,
                         '/',
                         '?',
                         ' ',
                         '-',
                         '=',
                         '0',
                         '1',
                         '5',
                         '9',
                         ':'};
constexpr const char* kTexts[] = {"fusion", "a", "9", "%s", "##", "SELECT * FROM top", "(", "*", "\xc3\xa9", "1e400", " "};

class Monkey {
 public:
  Monkey(Person& person, unsigned seed) : person_(person), random_(seed) {}

  void act() {
    Offscreen::Hand& hand = person_.hand;
    hand.ctrl = chance(10) ? !hand.ctrl : hand.ctrl && !chance(3);
    hand.shift = chance(30) ? !hand.shift : hand.shift && !chance(3);
    if (chance(3)) hand.mouse = word_or_place();
    for (int i = 0; i < 3; ++i) hand.down[i] = hand.down[i] ? !chance(2) : chance(i == 0 ? 4 : 40);
    Offscreen::Hand now = hand;
    if (chance(6)) now.wheel = static_cast<float>(below(7)) - 3;
    if (chance(30)) now.wheel_x = static_cast<float>(below(7)) - 3;
    if (chance(8)) now.keys.push_back({key(), chance(6), chance(6), chance(20)});
    if (chance(12)) now.text = kTexts[below(std::size(kTexts))];
    person_.frame(now);
    if (chance(150)) person_.show(chance(3) ? std::string_view() : panels()[below(panels().size())].name);
  }

 private:
  size_t below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }
  bool chance(size_t one_in) { return below(one_in) == 0; }
  int key() { return chance(2) ? kKeys[below(std::size(kKeys))] : static_cast<int>('A' + below(26)); }
  ImVec2 word_or_place() {
    if (chance(2) && !screen::words().empty()) return screen::words()[below(screen::words().size())].middle();
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    return {static_cast<float>(below(static_cast<size_t>(size.x) + 20)) - 10,
            static_cast<float>(below(static_cast<size_t>(size.y) + 20)) - 10};
  }

  Person& person_;
  std::mt19937 random_;
};

class RandomInput : public ::testing::TestWithParam<std::string_view> {};

TEST_P(RandomInput, LeavesTheViewerWhole) {
  const auto seed = static_cast<unsigned>(setting("PROFILE_SEED", static_cast<int>(std::random_device{}() >> 1)));
  SCOPED_TRACE("PROFILE_SEED=" + std::to_string(seed));
  std::printf("PROFILE_SEED=%u\n", seed);
  Person person({sample(GetParam()), sample("interrupted")});
  Monkey monkey(person, seed);
  const int inputs = setting("PROFILE_INPUTS", GetParam() == "mnist" ? 10'000 : 1'000);
  for (int i = 0; i < inputs && !::testing::Test::HasFailure(); ++i) monkey.act();
}

INSTANTIATE_TEST_SUITE_P(Of, RandomInput, ::testing::Values("mnist", "hostile", "recorded", "empty", "newer"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace ui
