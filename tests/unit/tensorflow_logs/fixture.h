// Programs as text in, what an importer makes of them out.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "importers/importer.h"

inline const std::filesystem::path kCorpus = SOURCE_DIR "/../shared/corpus/tf";

inline model::Imported imported(std::string_view text, const importers::Options& options = {}) {
  auto result = importers::import({"test", text, options});
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? *std::move(result) : model::Imported();
}

inline std::string refusal(std::string_view text) {
  const auto result = importers::import({"test", text});
  EXPECT_FALSE(result.ok());
  return result.ok() ? "" : result.error().message;
}

/// Of a module or of a log; a test fails where there is none of that name.
inline model::Operator op(const model::Imported& from, std::string_view name) {
  const auto& all = from.module_operators.empty() ? from.operators : from.module_operators[0];
  const auto found = std::ranges::find(all, name, &model::Operator::name);
  EXPECT_NE(found, all.end()) << name;
  return found == all.end() ? model::Operator() : *found;
}

inline std::string note(const model::Imported& from, std::string_view code) {
  const auto found = std::ranges::find(from.notes, code, &model::Note::code);
  return found == from.notes.end() ? "" : found->text;
}
