# Every .hlo file here on the reference and on every device that opens: program `ops`, one test a file.
add_executable(ops ${CMAKE_SOURCE_DIR}/tests/ops/runner.cc ${CMAKE_SOURCE_DIR}/tests/ops/op_file.cc)
target_link_libraries(ops PRIVATE profile_device_cpu profile_device_reference profile_replay_base profile_reference profile_hlo GTest::gtest_main)
target_compile_definitions(ops PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_link_options(ops PRIVATE -rdynamic)
gtest_discover_tests(ops TEST_PREFIX "ops." DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
