// A model is known by the name of its first convolution; how many stages and blocks it has, the other names tell.
#include "importers/tensorflow/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

namespace importers::tensorflow {
namespace {

/// The scope that a node of this name stands in, outside of gradients: "resnet50/" of "resnet50/conv1_conv/Conv2D".
std::optional<std::string> scope_before(const TypedList& list, std::string_view ending) {
  for (size_t at = 0; at < list.size(); ++at) {
    const std::string_view name = list.name(at);
    if (!name.ends_with(ending) || list.phase(at) != model::Phase::forward) continue;
    const std::string_view before = name.substr(0, name.size() - ending.size());
    if (before.empty() || before.ends_with('/')) return std::string(before);
  }
  return std::nullopt;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}
int64_t take_number(std::string_view& text) {
  int64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return failed == std::errc() ? value : 0;
}

/// The last of numbered blocks: half of those before it are named too, or it is a slip.
int64_t last_of(const std::set<int64_t>& blocks) {
  int64_t last = 0, named = 0;
  for (const int64_t block : blocks) {
    if (block <= 2 * ++named) last = block;
  }
  return last;
}

/// How many blocks the names "first S second B" tell, by stage: "conv3_block4" → 4 for stage 3. No network has a thousand.
std::vector<int64_t> stages(const TypedList& list, std::string_view root, std::string_view first, std::string_view second, int64_t from,
                            int64_t to) {
  constexpr int64_t kTooMany = 1000;
  std::vector<std::set<int64_t>> blocks(static_cast<size_t>(to - from + 1));
  for (const ListedName& listed : list.list.names) {
    std::string_view name = listed.name;
    if (!take_word(name, root) || !take_word(name, first)) continue;
    const int64_t stage = take_number(name);
    if (stage < from || stage > to || !take_word(name, second)) continue;
    if (const int64_t block = take_number(name); block > 0 && block < kTooMany) blocks[static_cast<size_t>(stage - from)].insert(block);
  }
  std::vector<int64_t> counts;
  for (const std::set<int64_t>& of_stage : blocks) counts.push_back(last_of(of_stage));
  return counts;
}

/// What the dense layer is called, which Keras has changed.
std::string last_layer(const TypedList& list, const std::string& root) {
  for (const std::string_view name : {"predictions", "probs", "fc1000"}) {
    const std::string whole = root + std::string(name) + "/MatMul";
    if (list.list.find(whole) >= 0) return std::string(name);
  }
  return "predictions";
}

/// Layers "max_pooling2d", "max_pooling2d_1", … in the order of their numbers, which count on from model to model.
std::vector<std::string> numbered(const TypedList& list, std::string_view root, std::string_view base, std::string_view ending) {
  std::vector<std::pair<int64_t, std::string>> found;
  for (size_t at = 0; at < list.size(); ++at) {
    std::string_view name = list.name(at);
    if (!take_word(name, root) || !name.starts_with(base) || !name.ends_with(ending) || list.phase(at) != model::Phase::forward) continue;
    name.remove_suffix(ending.size());
    std::string_view number = name.substr(base.size());
    if (!number.empty() && !take_word(number, "_")) continue;
    found.emplace_back(take_number(number), name);
  }
  std::ranges::sort(found);
  std::vector<std::string> names;
  for (auto& [number, name] : found) names.push_back(std::move(name));
  return names;
}

bool complete(const std::vector<int64_t>& stages) { return std::ranges::find(stages, 0) == stages.end(); }

std::optional<Family> recognise_resnet(const TypedList& list) {
  const auto root = scope_before(list, "conv1_conv/Conv2D");
  if (!root) return std::nullopt;
  Variant variant{stages(list, *root, "conv", "_block", 2, 5), last_layer(list, *root), {}};
  if (!complete(variant.stages)) return std::nullopt;
  if (!scope_before(list, "conv2_block1_preact_bn/FusedBatchNormV3")) return Family{resnet(variant), *root};
  variant.pools = numbered(list, *root, "max_pooling2d", "/MaxPool");
  return Family{resnet_v2(variant), *root};
}

/// Blocks by their letter: "res4c_branch2a" → 3 for stage 4.
std::vector<int64_t> lettered_stages(const TypedList& list, std::string_view root) {
  std::vector<int64_t> counts(4, 0);
  for (const ListedName& listed : list.list.names) {
    std::string_view name = listed.name;
    if (!take_word(name, root) || !take_word(name, "res")) continue;
    const int64_t stage = take_number(name);
    if (stage < 2 || stage > 5 || name.empty() || name.front() < 'a' || name.front() > 'z' || !name.substr(1).starts_with("_branch"))
      continue;
    int64_t& count = counts[static_cast<size_t>(stage - 2)];
    count = std::max<int64_t>(count, name.front() - 'a' + 1);
  }
  return counts;
}

/// Convolutions and norms of keras_applications before 1.0.8: "conv3_block2_1_conv" was "res3b_branch2a", its norm "bn3b_branch2a".
std::string lettered(std::string_view name) {
  static constexpr std::string_view kBranches[] = {"1", "2a", "2b", "2c"};
  if (name == "conv1_conv") return "conv1";
  if (name == "conv1_bn") return "bn_conv1";
  std::string_view rest = name;
  take_word(rest, "conv");
  const int64_t stage = take_number(rest);
  take_word(rest, "_block");
  const int64_t block = take_number(rest);
  take_word(rest, "_");
  const auto branch = static_cast<size_t>(take_number(rest));
  return fmt::format("{}{}{}_branch{}", rest == "_bn" ? "bn" : "res", stage, static_cast<char>('a' + block - 1),
                     kBranches[std::min<size_t>(branch, 3)]);
}

/// Layers that had no names of their own were numbered: activation_k, add_k, max_pooling2d_k.
class Numbers {
 public:
  Numbers(const TypedList& list, std::string_view root, std::string base, std::string_view ending)
      : base_(std::move(base)), names_(numbered(list, root, base_, ending)) {}
  std::string next() {
    const size_t k = next_++;
    return k < names_.size() ? names_[k] : fmt::format("{}_{}", base_, k + 1);
  }

 private:
  std::string base_;
  std::vector<std::string> names_;
  size_t next_ = 0;
};

std::optional<Family> recognise_lettered_resnet(const TypedList& list) {
  auto root = scope_before(list, "res2a_branch2a/Conv2D");
  if (!root) root = scope_before(list, "res2a_branch2a/convolution");
  if (!root) return std::nullopt;
  Variant variant{lettered_stages(list, *root), last_layer(list, *root), {}};
  if (!complete(variant.stages)) return std::nullopt;
  variant.pool_pad = scope_before(list, "pool1_pad/Pad").has_value();
  Family family{resnet(variant), *root};
  Numbers activations(list, *root, "activation", "/Relu"), sums(list, *root, "add", "/add"),
      pools(list, *root, "max_pooling2d", "/MaxPool");
  for (Layer& layer : family.model.layers) {
    if (layer.kind == LayerKind::convolution || layer.kind == LayerKind::norm) layer.name = lettered(layer.name);
    if (layer.kind == LayerKind::relu) layer.name = activations.next();
    if (layer.kind == LayerKind::add) layer.name = sums.next();
    if (layer.kind == LayerKind::max_pool) layer.name = pools.next();
  }
  return family;
}

std::optional<Family> recognise_vgg(const TypedList& list) {
  const auto root = scope_before(list, "block1_conv1/Conv2D");
  if (!root) return std::nullopt;
  const Variant variant{stages(list, *root, "block", "_conv", 1, 5), last_layer(list, *root), {}};
  if (!complete(variant.stages)) return std::nullopt;
  return Family{vgg(variant), *root};
}

}  // namespace

std::optional<Family> recognise(const TypedList& list) {
  if (auto family = recognise_resnet(list)) return family;
  if (auto family = recognise_lettered_resnet(list)) return family;
  return recognise_vgg(list);
}

}  // namespace importers::tensorflow
