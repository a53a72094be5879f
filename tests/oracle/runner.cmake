# Whole steps at their full size against XLA: minutes at full speed, so not under sanitizers.
if(NOT PROFILE_SANITIZE)
  add_executable(oracle_device ${CMAKE_SOURCE_DIR}/tests/oracle/device_test.cc ${CMAKE_SOURCE_DIR}/tests/corpus/check.cc
                               ${CMAKE_SOURCE_DIR}/tests/corpus/replayed.cc ${CMAKE_SOURCE_DIR}/tests/unit/reference/oracle.cc)
  target_link_libraries(oracle_device PRIVATE profile_devices profile_hlo GTest::gtest_main)
  target_compile_definitions(oracle_device PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  gtest_discover_tests(oracle_device TEST_PREFIX "oracle." DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 600 RUN_SERIAL ON)
endif()
