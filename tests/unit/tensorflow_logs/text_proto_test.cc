// Protobuf text in all the ways in which writers write it.
#include "importers/tensorflow/text_proto.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using importers::tensorflow::Message;
using importers::tensorflow::TextProto;

namespace {

/// "a=1 b{c=2}": the events of a text, or the error.
std::string events(std::string_view text) {
  TextProto proto("test", text);
  std::string all;
  while (true) {
    const TextProto::Event event = proto.next();
    if (event == TextProto::Event::end) return all;
    if (event == TextProto::Event::bad) return proto.error().message;
    if (event == TextProto::Event::close) {
      all += "}";
      continue;
    }
    all += all.empty() || all.ends_with('{') ? "" : " ";
    all += proto.field().name;
    all += event == TextProto::Event::open ? std::string("{") : fmt::format("={}", proto.field().value);
  }
}

}  // namespace

TEST(TextProto, ScalarsMessagesAndStrings) {
  EXPECT_EQ(events("a: 1 b { c: \"x y\" d: DT_FLOAT } e: -1.5e-3f"), "a=1 b{c=\"x y\" d=DT_FLOAT} e=-1.5e-3f");
}

TEST(TextProto, AnglesColonsBeforeMessagesSeparatorsAndComments) {
  EXPECT_EQ(events("# first\na: { b: 1; }, c < d: 2 > # last"), "a{b=1} c{d=2}");
}

TEST(TextProto, AListIsTheFieldRepeated) {
  EXPECT_EQ(events("dim: [8, 16] m: [{ a: 1 }, { a: [2] }] none: []"), "dim=8 dim=16 m{a=1} m{a=2}");
}

TEST(TextProto, DebugMarkersAndExtensionNames) {
  EXPECT_EQ(events("{ goo.gle/debugproto   a: 1 }").substr(0, 9), "test:1:1:");
  EXPECT_EQ(events("m { goo.gle/debugproto   a: 1 } [type.googleapis.com/x.Y] { b: 2 }"), "m{a=1} type.googleapis.com/x.Y{b=2}");
}

TEST(TextProto, StringsSideBySideAreOne) { EXPECT_EQ(importers::tensorflow::unquoted("\"ab\" 'c\"d'\n\"e\""), "abc\"de"); }

TEST(TextProto, EscapesOfC) {
  EXPECT_EQ(importers::tensorflow::unquoted(R"("\000\001\x41\n\"\\\377z")"), std::string("\0\001A\n\"\\\377z", 8));
}

TEST(TextProto, Numbers) {
  EXPECT_EQ(importers::tensorflow::whole("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(importers::tensorflow::whole("0x10"), 16);
  EXPECT_FALSE(importers::tensorflow::whole("1.5"));
  EXPECT_EQ(importers::tensorflow::real("1.5f"), 1.5);
  EXPECT_TRUE(std::isinf(*importers::tensorflow::real("-inf")));
  EXPECT_FALSE(importers::tensorflow::real("abc"));
}

TEST(TextProto, ATreeFindsTheLastFieldOfAName) {
  TextProto proto("test", "m { a: 1 b { c: 2 c: 3 } a: 4 }");
  ASSERT_EQ(proto.next(), TextProto::Event::open);
  const auto message = proto.message();
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(message->integer("a"), 4);
  EXPECT_EQ(message->message("b").integer("c"), 3);
  EXPECT_EQ(message->integer("absent", 7), 7);
}

TEST(TextProto, MistakesHaveAPlace) {
  EXPECT_EQ(events("a { b: 1").substr(0, 40), "test:1:9: the text ends inside a message");
  EXPECT_EQ(events("a: 1 }").substr(0, 20), "test:1:6: '}' closes");
  EXPECT_EQ(events("a: \"x").substr(0, 30), "test:1:6: a string does not en");
  EXPECT_EQ(events("a b").substr(0, 30), "test:1:3: expected ':' or '{' ");
  EXPECT_EQ(events("a: [[1]]").substr(0, 30), "test:1:5: a list lies in a lis");
}

TEST(TextProto, DeepNestingIsAnError) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "a{";
  EXPECT_NE(events(deep).find("messages lie deeper than 100"), std::string::npos);
  std::string lists;
  for (int i = 0; i < 100000; ++i) lists += "a:[]";
  EXPECT_EQ(events(lists), "");
}
