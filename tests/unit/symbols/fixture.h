// Reading an index from a text, a sample or the corpus, for the tests of the symbol importers.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "importers/importer.h"
#include "src/base/file.h"

namespace symbols_test {

inline std::string shared_folder() {
  const char* given = std::getenv("PROFILE_SHARED");
  return given != nullptr ? given : SOURCE_DIR "/../shared";
}
inline std::string corpus(const std::string& name) { return shared_folder() + "/corpus/symbols/" + name; }
inline bool has_corpus() { return std::filesystem::exists(corpus("manifest.tsv")); }

inline const std::string kSample = SOURCE_DIR "/samples/multi_gpu_impl.symbols.txt";
inline constexpr const char* kSourceFile = "rllib_multi_gpu_impl_07d8cbf4_LF.py";

inline std::string bytes_of(const std::string& path) {
  const auto bytes = base::read_file(path);
  EXPECT_TRUE(bytes.ok()) << path;
  return bytes.ok() ? *bytes : std::string();
}

/// What the importer that matches best makes of it.
inline model::Imported read(const std::string& path, std::string_view bytes, std::string_view source_text = {}, std::string source = {}) {
  importers::Input input{path, bytes};
  input.source_text = source_text;
  input.options.source = std::move(source);
  auto imported = importers::import(input);
  EXPECT_TRUE(imported.ok()) << (imported.ok() ? "" : imported.error().message);
  if (!imported.ok()) return {};
  EXPECT_EQ(imported->source.read, imported->source.kept + imported->source.dropped);
  EXPECT_TRUE(imported->symbols.has_value());
  return *std::move(imported);
}

/// A sample or file of the corpus, with the source file of the corpus or without.
inline model::Imported read_file(const std::string& path, bool with_source) {
  const std::string bytes = bytes_of(path), source = corpus(kSourceFile);
  return with_source ? read(path, bytes, bytes_of(source), source) : read(path, bytes);
}

inline std::string note(const model::Imported& imported, std::string_view code) {
  for (const model::Note& note : imported.notes) {
    if (note.code == code) return note.text;
  }
  return "";
}

inline std::string error_of(const std::string& path, std::string_view bytes) {
  const auto imported = importers::import({path, bytes});
  return imported.ok() ? "" : imported.error().message;
}

}  // namespace symbols_test
