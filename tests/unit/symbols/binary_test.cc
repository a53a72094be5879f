// Binary files are told apart by their first fields; texts, and bytes that only look like fields, are none of them.
#include "importers/binary.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "src/base/wire.h"

namespace {

std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
std::string number(uint32_t field, uint64_t value) { return varint(field << 3) + varint(value); }
std::string bytes(uint32_t field, const std::string& value) { return varint(field << 3 | 2) + varint(value.size()) + value; }

bool is(const std::string& file, std::string_view what) { return importers::binary_kind(file).find(what) != std::string::npos; }

TEST(Binary, ProtobufsAreToldApart) {
  const std::string module = bytes(1, "jit_f") + bytes(2, "main.3") + bytes(3, bytes(1, "main.3")) + number(5, 3) + number(6, 3);
  EXPECT_TRUE(is(module, "HloProto"));
  EXPECT_TRUE(is(bytes(1, module) + bytes(3, "x"), "HloProto"));
  EXPECT_TRUE(is(bytes(1, number(1, 0) + number(2, 0) + bytes(3, bytes(1, "w"))) + bytes(4, number(1, 0)), "ProgramDesc"));
  EXPECT_TRUE(is(number(1, 8) + bytes(2, "pytorch") + bytes(7, bytes(2, "graph")), "ONNX"));
}

TEST(Binary, ACutOneIsStillKnown) {
  const std::string block = bytes(1, number(1, 0) + number(2, 0) + bytes(3, bytes(1, "w")));
  EXPECT_TRUE(is(block + block.substr(0, 5), "ProgramDesc"));
}

TEST(Binary, WhatImportersReadIsNone) {
  EXPECT_EQ(importers::binary_kind(bytes(1, bytes(1, "x") + bytes(2, "Placeholder")) + number(3, 1882)), "") << "GraphDef";
  EXPECT_EQ(importers::binary_kind(number(1, 1) + bytes(2, bytes(1, bytes(5, "2.9")) + bytes(2, bytes(1, "n")))), "") << "SavedModel";
  EXPECT_EQ(importers::binary_kind(bytes(1, number(1, 2) + bytes(2, "/host:CPU") + bytes(3, bytes(2, "python")))), "") << "XSpace";
}

TEST(Binary, TextsAreNone) {
  for (const char* text : {"", "\n", "\n \n", "HloModule m\n", "\nHloModule m", "node {\n  name: \"x\"\n}\n", "<<a>> <<1:0-1>>",
                           "{\"a\": 1}", "PKG", "\n\n\n\n\n\n\n\n\n\n\n\n"})
    EXPECT_EQ(importers::binary_kind(text), "") << text;
}

TEST(Binary, AnyBytesAreHandled) {
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    std::string file;
    for (size_t size = random() % 40; size > 0; --size) file += static_cast<char>(random() % 2 == 0 ? random() : random() % 24);
    (void)importers::binary_kind(file);
  }
}

TEST(Wire, FieldsAreReadWithTheirPlaces) {
  const std::string message = number(1, 300) + bytes(2, "abc") + std::string("\x1d\x01\x02\x03\x04", 5);
  base::WireReader reader(message, 100);
  auto field = reader.next();
  EXPECT_EQ(field->value, 300u);
  EXPECT_EQ(field->at, 100u);
  field = reader.next();
  EXPECT_EQ(field->bytes, "abc");
  EXPECT_EQ(reader.offset_of(*field), 105u);
  field = reader.next();
  EXPECT_EQ(field->value, 0x04030201u);
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.wrong(), "");
}

TEST(Wire, DamageIsSaid) {
  const auto wrong = [](std::string_view message) {
    base::WireReader reader(message);
    while (reader.next()) continue;
    return std::string(reader.wrong());
  };
  EXPECT_EQ(wrong(std::string_view("\x0a\x05"
                                   "ab")),
            "a field is longer than what is left");
  EXPECT_EQ(wrong(std::string_view("\x08\xff")), "a number does not end");
  EXPECT_EQ(wrong(std::string_view("\x0b\x01")), "a field has a type that is not in use");
  EXPECT_EQ(wrong(std::string_view("\x00\x01", 2)), "no field begins here");
  EXPECT_EQ(wrong(std::string_view("\x0d\x01\x02")), "a number is cut");
}

}  // namespace
