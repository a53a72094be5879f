// Readers of Paddle's forms: what each gives, what the sample and the corpus hold, what is refused and where.
#include "importers/paddle/listing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "importers/paddle/attribute.h"
#include "src/base/file.h"

namespace importers::paddle {
namespace {

template <typename T>
std::vector<T> list(std::span<const T> kept) {
  return {kept.begin(), kept.end()};
}

std::string shared() {
  const char* given = std::getenv("PROFILE_SHARED");
  return given != nullptr ? given : SOURCE_DIR "/../shared";
}

Listing listing_of(std::string_view text) {
  auto listing = read_listing({"p.txt", text});
  EXPECT_TRUE(listing.ok()) << (listing.ok() ? "" : listing.error().message);
  return listing.ok() ? *std::move(listing) : Listing{};
}

std::string error_of(std::string_view text) {
  auto listing = read_listing({"p.txt", text});
  if (listing.ok()) return "";
  return listing.error().message.substr(0, listing.error().message.find('\n'));
}

std::vector<std::string> codes(const Listing& listing) {
  std::vector<std::string> codes;
  for (const PlacedNote& note : listing.notes) codes.push_back(note.code);
  return codes;
}

constexpr std::string_view kBlock = R"({ // block_idx:0  parent_idx:-1  forward_idx:-1  backward_idx:-1
    persist trainable param w_0 : LOD_TENSOR.shape(10, 3).dtype(float32).stop_gradient(False)
    var x@GRAD : DENSE_TENSOR.shape().dtype(bool).stop_gradient(True), dist_attr = {tensor name: x, dims_mapping (annotated): [-1]}
    var scopes : STEP_SCOPES)

    {Out=['a', 'b'], XShape=[]} = while(inputs={X=['x'], Y=[]}, op_device = , names = ['p, q = 1', "it's"], scale = 1e-06, sub_block = block[1], dist_attr = {op type: while, a's dims_mapping: [-1]; chunk_id: 0 })
1122{Out=['a']} = relu(inputs={X=['b']}, , op_role = 1)
    send_v2(inputs={X=['a']}, peer = 1)
    {Y=['y']} = relu(inputs={X=['b']}, )
}
{ // block_idx:1  parent_idx:0  forward_idx:-1  backward_idx:-1
}
)";

TEST(ReadableForm, HoldsVariablesOperatorsAndBlocks) {
  const Listing listing = listing_of(kBlock);
  ASSERT_EQ(listing.programs.size(), 1u);
  const Program& program = listing.programs[0];
  ASSERT_EQ(program.blocks.size(), 2u);
  EXPECT_EQ(program.blocks[1].parent, 0);
  const Block& block = program.blocks[0];
  ASSERT_EQ(block.variables.size(), 3u);
  EXPECT_TRUE(block.variables[0].persistable && block.variables[0].parameter && block.variables[0].trainable);
  EXPECT_EQ(list(block.variables[0].type.dims), (std::vector<int64_t>{10, 3}));
  EXPECT_EQ(block.variables[1].name, "x@GRAD");
  EXPECT_EQ(block.variables[1].type.dtype, "bool");
  EXPECT_TRUE(block.variables[1].type.dims.empty());
  EXPECT_TRUE(block.variables[1].distribution.starts_with("{tensor name"));
  EXPECT_EQ(block.variables[2].type.kind, Type::Kind::other);
  ASSERT_EQ(block.operators.size(), 4u);
  const Operator& loop = block.operators[0];
  EXPECT_EQ(list(loop.outputs[0].arguments), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_TRUE(loop.inputs[1].arguments.empty());
  EXPECT_EQ(loop.attribute("op_device"), "");
  EXPECT_EQ(items_of(loop.attribute("names")).size(), 2u);
  EXPECT_EQ(number_of(loop.attribute("scale")), 1e-06);
  EXPECT_EQ(loop.blocks, std::vector<int32_t>{1});
  EXPECT_TRUE(loop.distribution.ends_with("chunk_id: 0 }"));
  EXPECT_EQ(block.operators[1].attribute("op_role"), "1");
  EXPECT_EQ(block.operators[2].type, "send_v2");
  EXPECT_EQ(codes(listing), std::vector<std::string>{"junk"});
  EXPECT_EQ(listing.read, 7);
}

TEST(ReadableForm, OfEveryVersion) {
  const Listing listing = listing_of(
      "{ // block 0\n   var a : fluid.VarType.LOD_TENSOR.shape(-1, 10).astype(VarType.FP32)\n"
      "   var b : paddle.VarType.LOD_TENSOR.shape(7,).astype(VarType.INT64)\n}\n");
  const Block& block = listing.programs[0].blocks[0];
  EXPECT_EQ(block.variables[0].type.dtype, "float32");
  EXPECT_EQ(block.variables[1].type.dtype, "int64");
  EXPECT_EQ(list(block.variables[1].type.dims), std::vector<int64_t>{7});
}

TEST(ReadableForm, IsRefusedWhereItBreaks) {
  EXPECT_EQ(error_of("{ // block 0\n    var a : LOD_TENSOR.shape(1, b)\n"), "p.txt:2:30: expected sizes, got '1, b)'");
  EXPECT_EQ(error_of("{ // block 0\n    {Out=['a} = relu(inputs={X=['b']})\n"),
            "p.txt:2:34: expected a variable in quotes or ']', got 'b']})'");
  EXPECT_EQ(error_of("{ // block 0\n    relu(inputs={X=['b']}\n"), "p.txt:2:26: expected ')' at the end of the operator");
  EXPECT_EQ(error_of("{ // block 0\n    hello\n"), "p.txt:2:5: expected a variable, an operator or '}', got 'hello'");
  EXPECT_EQ(error_of("{ // block 0\n}\n{ // block 2\n}\n"), "p.txt:3:1: block 2 does not follow block 1; give the whole program");
}

TEST(ProtobufForm, HoldsTypesAttributesAndPlaces) {
  const Listing listing = listing_of(R"(blocks {
  idx: 0
  parent_idx: -1
  vars { name: "x" type { type: LOD_TENSOR lod_tensor { tensor { data_type: FP32 dims: -1 dims: 10 } lod_level: 0 } } persistable: true }
  ops {
    inputs { parameter: "X" arguments: "x" }
    outputs { parameter: "Out" arguments: "y" arguments: "z" }
    type: "mul"
    attrs { name: "x_num_col_dims" type: INT i: 1 }
    attrs { name: "shape" type: INTS ints: 1 ints: -1 }
    attrs { name: "op_device" type: STRING s: "" }
    attrs { name: "op_callstack" type: STRINGS strings: "  File \"a.py\", line 3, in <module>" strings: "    f" strings: "  File \"b.py\", line 7, in f" }
    is_target: false
}
}
version { version: 0 }
)");
  const Block& block = listing.programs[0].blocks[0];
  EXPECT_TRUE(block.variables[0].persistable);
  EXPECT_EQ(list(block.variables[0].type.dims), (std::vector<int64_t>{-1, 10}));
  const Operator& op = block.operators[0];
  EXPECT_EQ(op.type, "mul");
  EXPECT_EQ(list(op.outputs[0].arguments), (std::vector<std::string_view>{"y", "z"}));
  EXPECT_EQ(op.attribute("x_num_col_dims"), "1");
  EXPECT_EQ(integers_of(op.attribute("shape")), (std::vector<int64_t>{1, -1}));
  EXPECT_EQ(op.file, "b.py");
  EXPECT_EQ(op.file_line, 7);
  EXPECT_TRUE(listing.notes.empty());
}

TEST(PirForm, HoldsRegionsListsNullsAndTypedAttributes) {
  const Listing listing = listing_of(R"(IR before lowering = {
    (%0) = "builtin.parameter" () {parameter_name:"w",persistable:[true]} : () -> builtin.tensor<64x64xf32>
    (%1, %2) = "pd_op.dropout" [id:7] (%0, <<NULL VALUE>>) {seed:(Int32)0,kernel_key:<backend:GPU|layout:Undefined(AnyLayout)|dtype:float32>} : (builtin.tensor<64x64xf32>, <<NULL TYPE>>) -> tensor<64x64xf32>, <<NULL TYPE>>
    (%3) = "builtin.combine" (%0, %1) {} : (builtin.tensor<64x64xf32>, builtin.tensor<64x64xf32>) -> vec[tensor<64x64xf32>,tensor<f32>]
    (%5) = "pd_op.if" (%4) {stop_gradient:[true]} -> pd_dist.tensor<3x-1xb, mesh_shape:[2],dims_mappings:[0,-1]> {
        () = "cf.yield" (%9) {} : (tensor<3x5xf32>) ->
    } else {
    }
    (%6, %7) = "pd_op.while" (cond=%4, inputs=%1, %2) {
    ^%arg_0 {stop_gradient:true}, %arg_1
        () = "cf.yield" (%arg_0) {} : (tensor<f32>) ->
    }
}
IR after lowering = {
}
)");
  ASSERT_EQ(listing.programs.size(), 2u);
  EXPECT_EQ(listing.programs[0].title, "IR before lowering");
  const Program& program = listing.programs[0];
  ASSERT_EQ(program.blocks.size(), 4u);
  const std::vector<Operator>& operators = program.blocks[0].operators;
  ASSERT_EQ(operators.size(), 5u);
  EXPECT_EQ(text_of(operators[0].attribute("parameter_name")), "w");
  EXPECT_EQ(operators[1].id, 7);
  EXPECT_EQ(list(operators[1].inputs[0].arguments), (std::vector<std::string_view>{"%0", ""}));
  EXPECT_EQ(integer_of(operators[1].attribute("seed")), 0);
  EXPECT_EQ(operators[3].blocks, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(operators[4].blocks, std::vector<int32_t>{3});
  ASSERT_EQ(operators[4].inputs.size(), 2u);
  EXPECT_EQ(list(operators[4].inputs[1].arguments), (std::vector<std::string_view>{"%1", "%2"}));
  const std::vector<Variable>& variables = program.blocks[0].variables;
  EXPECT_EQ(variables[3].type.kind, Type::Kind::list);
  EXPECT_EQ(variables[3].type.elements[1].dims.size(), 0u);
  EXPECT_EQ(list(variables[4].type.dims), (std::vector<int64_t>{3, -1}));
  EXPECT_EQ(program.blocks[3].variables.size(), 2u);
  EXPECT_EQ(codes(listing), (std::vector<std::string>{"type-differs", "not-made"}));
  ASSERT_EQ(program.blocks[1].missing.size(), 1u);
  EXPECT_EQ(program.blocks[1].missing[0].name, "%9");
}

/// Values stand in a table by number: other spellings of a number, and numbers too large for it, are names of their own.
TEST(PirForm, TellsValuesApartByTheirSpelling) {
  const std::string text = R"({
    (%1) = "pd_op.data" () {} : () -> tensor<1xf32>
    (%01) = "pd_op.data" () {} : () -> tensor<2xf32>
    (%1000001) = "pd_op.data" () {} : () -> tensor<3xf32>
    (%0) = "builtin.combine" (%1, %01, %1000001) {} : (tensor<1xf32>, tensor<2xf32>, tensor<3xf32>) -> vec[tensor<1xf32>,tensor<2xf32>,tensor<3xf32>]
    (%2) = "builtin.combine" (%1, %01) {} : (tensor<2xf32>, tensor<2xf64>) -> vec[tensor<1xf32>,tensor<2xf32>]
})";
  const Listing listing = listing_of(text);
  EXPECT_EQ(codes(listing), (std::vector<std::string>{"type-differs", "type-differs"}));
  EXPECT_EQ(listing.notes[0].text, "%1 is tensor<1xf32> where it is made, tensor<2xf32> here");
  EXPECT_EQ(listing.notes[1].text, "%01 is tensor<2xf32> where it is made, tensor<2xf64> here");
}

TEST(PirForm, IsRefusedWhereItBreaks) {
  EXPECT_EQ(error_of("{\n    (%0) = \"pd_op.full\" () {a} : () -> tensor<f32>\n}"),
            "p.txt:2:30: expected an attribute 'name:value', got '} : () -> tensor<f32>'");
  EXPECT_EQ(error_of("{\n    (%0) = \"pd_op.full\" () {} : () -> tensor<2xq7>\n}"), "p.txt:2:50: expected a data type, got '>'");
  EXPECT_EQ(error_of("{\n    (%0) = \"a\" () {} : () -> tensor<f32>, tensor<f32>\n}"), "p.txt:2:5: 1 results, but 2 types");
}

TEST(PythonForm, TakesTypesFromCommentsAndNamesFromStatements) {
  const Listing listing = listing_of(R"(class GraphModule(paddle.nn.Layer):
    def forward(self, parameter_0, data_0):
        # pd_op.embedding: (1x21x128xf32) <- (1x21xi64, 30000x128xf32)
        embedding_0 = paddle._C_ops.embedding(data_0, parameter_0, 0, False)
        del parameter_0

        # builtin.combine: ([1x1xf32, 1x2xf32]) <- (1x1xf32, 1x2xf32)
        combine_0 = [embedding_0, data_0]
)");
  const Block& block = listing.programs[0].blocks[0];
  ASSERT_EQ(block.operators.size(), 2u);
  EXPECT_EQ(list(block.operators[0].inputs[0].arguments), (std::vector<std::string_view>{"data_0", "parameter_0"}));
  EXPECT_EQ(block.operators[0].attribute("padding_idx"), "0");
  EXPECT_EQ(list(block.variables[0].type.dims), (std::vector<int64_t>{30000, 128}));  // of its first use
  EXPECT_EQ(list(block.operators[1].inputs[0].arguments), (std::vector<std::string_view>{"embedding_0", "data_0"}));
  EXPECT_EQ(list(block.variables[2].type.dims), (std::vector<int64_t>{1, 21, 128}));
}

TEST(Match, SaysHowTheTextBegins) {
  EXPECT_EQ(match({"", kBlock}).how, Match::sure);
  EXPECT_EQ(match({"", "the program:\n{ // block 0\n}\n"}).how, Match::likely);
  EXPECT_EQ(match({"", "HloModule m\n\nENTRY e {\n  ROOT c = f32[] constant(1)\n}\n"}).how, Match::none);
  EXPECT_EQ(match({"", "{\n  \"json\": 1\n}\n"}).how, Match::none);
}

/// Every file of the corpus is read, or refused with its place.
TEST(Corpus, IsReadWithBalancedAccounts) {
  const std::filesystem::path folder = shared() + "/corpus/paddle";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no corpus at " << folder;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name == "manifest.tsv" || name == "README.md") continue;
    const auto text = base::read_file(entry.path().string());
    ASSERT_TRUE(text.ok());
    auto listing = read_listing({name, *text});
    if (name.ends_with(".py")) {
      EXPECT_FALSE(listing.ok());  // a description of inputs: no operators
      continue;
    }
    ASSERT_TRUE(listing.ok()) << listing.error().message;
    int64_t kept = 0;
    for (const Program& program : listing->programs) {
      for (const Block& block : program.blocks) kept += static_cast<int64_t>(block.variables.size() + block.operators.size());
    }
    EXPECT_EQ(listing->read, kept + listing->dropped) << name;
    EXPECT_GT(kept, 0) << name;
    std::string notes;
    for (const PlacedNote& note : listing->notes) notes += " " + note.code;
    std::printf("%-45s %zu programs %4ld records%s\n", name.c_str(), listing->programs.size(), listing->read, notes.c_str());
  }
}

TEST(LlamaListing, HasTheCountsOfTheFacts) {
  const auto text = base::read_file(shared() + "/samples/llama_stage.paddle.txt");
  if (!text.ok()) GTEST_SKIP() << text.error().message;
  const Listing listing = listing_of(*text);
  ASSERT_EQ(listing.programs.size(), 1u);
  const Block& block = listing.programs[0].blocks[0];
  EXPECT_EQ(block.variables.size(), 682u);
  EXPECT_EQ(block.operators.size(), 558u);
  EXPECT_EQ(listing.read, 682 + 558);
  std::set<std::string_view> types;
  std::map<int64_t, int> roles;
  std::map<std::string_view, int> scopes, dtypes, rings;
  for (const Operator& op : block.operators) {
    types.insert(op.type);
    ++roles[integer_of(op.attribute("op_role")).value_or(-1)];
    ++scopes[op.attribute("op_namescope")];
    if (!op.attribute("ring_id").empty()) ++rings[op.attribute("ring_id")];
  }
  for (const Variable& variable : block.variables) ++dtypes[variable.type.dtype];
  EXPECT_EQ(types.size(), 60u);
  EXPECT_EQ(roles, (std::map<int64_t, int>{{0, 179}, {1, 305}, {2, 72}, {256, 1}, {257, 1}}));
  EXPECT_EQ(scopes["//auto_parallel/rc_2/"], 173);
  EXPECT_EQ(scopes["//auto_parallel/rc_3/"], 173);
  EXPECT_EQ(scopes["/auto_parallel/data_parallel"], 60);
  EXPECT_EQ(scopes["/gradient_clip/"], 34);
  EXPECT_EQ(scopes["/"], 66);
  EXPECT_EQ(rings, (std::map<std::string_view, int>{{"0", 1}, {"28", 40}, {"29", 1}, {"30", 1}, {"32", 1}}));
  EXPECT_EQ(dtypes, (std::map<std::string_view, int>{
                        {"bool", 18}, {"float16", 566}, {"float32", 56}, {"float64", 12}, {"int32", 3}, {"int64", 27}}));
  ASSERT_EQ(listing.notes.size(), 1u);
  EXPECT_EQ(listing.notes[0].code, "junk");
  EXPECT_EQ(std::count(text->begin(), text->begin() + static_cast<std::ptrdiff_t>(listing.notes[0].offset), '\n') + 1, 1218);
}

}  // namespace
}  // namespace importers::paddle
