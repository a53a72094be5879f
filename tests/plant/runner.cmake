add_executable(plant ${CMAKE_CURRENT_LIST_DIR}/plant_test.cc)
target_link_libraries(plant PRIVATE profile_devices profile_hlo GTest::gtest_main)
gtest_discover_tests(plant TEST_PREFIX "plant." DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300 PROCESSORS 2)
