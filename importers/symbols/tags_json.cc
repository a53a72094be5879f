// One object a line. Only _type, name and path are sure; whatever type a field has, what is not understood is left out.
#include <fmt/format.h>

#include "importers/symbols/ctags.h"
#include "importers/symbols/finish.h"
#include "importers/symbols/json_walk.h"
#include "importers/symbols/lines.h"
#include "importers/symbols/tag.h"

namespace importers::symbols {
namespace {

/// The fields of one line.
struct TagFields {
  std::string type, name, path, pattern, kind, scope, signature, roles, typeref, language;
  int64_t line = 0, end = 0;
  bool is_object = false;
};

struct TagsJsonTextField {
  std::string_view name;
  std::string TagFields::*member;
};
constexpr TagsJsonTextField kTagsJsonTexts[] = {{"_type", &TagFields::type},          {"name", &TagFields::name},
                                                {"path", &TagFields::path},           {"pattern", &TagFields::pattern},
                                                {"kind", &TagFields::kind},           {"scope", &TagFields::scope},
                                                {"signature", &TagFields::signature}, {"roles", &TagFields::roles},
                                                {"typeref", &TagFields::typeref},     {"language", &TagFields::language}};

class TagWalk : public JsonWalk {
 public:
  const TagFields& fields() const { return fields_; }
  void clear() { fields_ = {}; }

  void open(std::string_view, bool is_object) override { fields_.is_object |= is_object; }
  void close(std::string_view, bool) override {}
  void value(std::string_view path, const JsonValue& value) override {
    for (const TagsJsonTextField& field : kTagsJsonTexts) {
      if (path == field.name && value.is_text()) fields_.*field.member = value.text;
    }
    if (path == "line" && value.is_integer()) fields_.line = value.integer;
    if (path == "end" && value.is_integer()) fields_.end = value.integer;
  }

 private:
  TagFields fields_;
};

Tag tag_of(const TagFields& fields) {
  const auto line = [](int64_t number) { return number > 0 && number <= INT32_MAX ? static_cast<int32_t>(number) : 0; };
  Tag tag;
  tag.name = fields.name, tag.file = fields.path, tag.pattern = fields.pattern, tag.kind = fields.kind, tag.language = fields.language;
  tag.scope = fields.scope, tag.roles = fields.roles, tag.type = fields.typeref, tag.signature = fields.signature;
  if (tag.type.starts_with("typename:")) tag.type.remove_prefix(9);
  tag.line = line(fields.line), tag.end = line(fields.end);
  return tag;
}

void read_pseudo_tag(Collector& out, const TagFields& tag) {
  if (tag.name == "TAG_PROGRAM_NAME" || tag.name == "PROGRAM_NAME") out.index().tool = tag.path;
  if (tag.name == "TAG_PROGRAM_VERSION" || tag.name == "PROGRAM_VERSION") out.index().tool += " " + tag.path;
}

}  // namespace

Match match_tags_json(const Input& input) {
  Match match{Match::none, "the first line is no object with \"_type\""};
  each_line(input.bytes, [&](const Line& line) {
    TagWalk tag;
    if (!line.text.starts_with('{') || line.text.find("\"_type\"") == std::string_view::npos) return false;
    if (walk_json(line.text, tag, input.path, line.text, 0).ok() && !tag.fields().type.empty())
      match = {Match::sure, "the first line is an object with \"_type\""};
    else
      match = {Match::weak, "the first line has \"_type\", but is no JSON object"};
    return false;
  });
  return match;
}

base::Result<model::Imported> read_tags_json(const Input& input, const TakeModule&) {
  Collector out(input, "ctags-json");
  const PatternIndex patterns(input.source_text);
  TagWalk walk;
  each_line(input.bytes, [&](const Line& line) {
    walk.clear();
    const base::Status walked = walk_json(line.text, walk, input.path, line.text, 0);
    const TagFields& tag = walk.fields();
    if (!walked.ok() || !tag.is_object)
      out.drop(line.begin, "this line is no JSON object");
    else if (tag.type == "ptag")
      read_pseudo_tag(out, tag);
    else if (tag.type != "tag" || tag.name.empty() || tag.path.empty())
      out.drop(line.begin, "expected \"_type\": \"tag\" with a name and a path");
    else
      add_tag(out, tag_of(tag), patterns);
    return !out.full();
  });
  return finish(out, input);
}

}  // namespace importers::symbols
