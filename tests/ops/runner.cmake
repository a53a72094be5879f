# Every .hlo file here on the reference and on every device that opens: program `ops`, one test a file; and all of them from C at once.
add_executable(ops ${CMAKE_SOURCE_DIR}/tests/ops/runner.cc ${CMAKE_SOURCE_DIR}/tests/ops/op_file.cc
                   ${CMAKE_SOURCE_DIR}/tests/support/compile_c.cc)
target_link_libraries(ops PRIVATE profile_device_cpu profile_device_cuda profile_device_reference profile_replay_base profile_reference profile_hlo GTest::gtest_main ${CMAKE_DL_LIBS})
target_compile_definitions(ops PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_link_options(ops PRIVATE -rdynamic)
gtest_discover_tests(ops TEST_PREFIX "ops." DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
