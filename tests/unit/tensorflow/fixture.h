// Reading lists from a text, the sample or the corpus, for the tests of the TensorFlow importer.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "importers/importer.h"
#include "importers/tensorflow/tensorflow.h"
#include "src/base/file.h"

namespace tensorflow_test {

inline std::string shared_folder() {
  const char* given = std::getenv("PROFILE_SHARED");
  return given != nullptr ? given : SOURCE_DIR "/../shared";
}
inline std::string corpus(const std::string& name) { return shared_folder() + "/corpus/tf/" + name; }
inline bool has_corpus() { return std::filesystem::exists(corpus("manifest.tsv")); }

inline const std::string kResNet = SOURCE_DIR "/samples/resnet50_train_step.tfnodes.txt";

inline std::string bytes_of(const std::string& path) {
  const auto bytes = base::read_file(path);
  EXPECT_TRUE(bytes.ok()) << path;
  return bytes.ok() ? *bytes : std::string();
}

/// A list as the importer gives it, modules kept.
inline model::Imported read_list(std::string_view bytes, importers::Options options = {}) {
  importers::Input input{"list.txt", bytes};
  input.options = std::move(options);
  auto imported = importers::keep_modules(input, importers::tensorflow::read_nodes);
  EXPECT_TRUE(imported.ok()) << (imported.ok() ? "" : imported.error().message);
  if (!imported.ok()) return {};
  EXPECT_EQ(imported->source.read, imported->source.kept + imported->source.dropped);
  return *std::move(imported);
}

inline importers::Options sized(int64_t batch, int64_t image) {
  importers::Options options;
  options.batch = batch;
  options.image = image;
  return options;
}

/// Of the file, whether they stand in a module or not.
inline std::vector<model::Operator> operators_of(const model::Imported& imported) {
  std::vector<model::Operator> all = imported.operators;
  for (const auto& of_module : imported.module_operators) all.insert(all.end(), of_module.begin(), of_module.end());
  return all;
}

inline const model::Note* note(const model::Imported& imported, std::string_view code) {
  for (const model::Note& note : imported.notes)
    if (note.code == code) return &note;
  return nullptr;
}

}  // namespace tensorflow_test
