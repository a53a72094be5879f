# Random modules, reference against cpu: 500 here; tools/nightly.sh runs 20,000.
add_executable(differential ${CMAKE_SOURCE_DIR}/tests/differential/main.cc ${CMAKE_SOURCE_DIR}/tests/differential/generate.cc)
target_link_libraries(differential PRIVATE profile_devices profile_hlo CLI11::CLI11)
add_test(NAME differential.cpu COMMAND differential --count 500)
set_tests_properties(differential.cpu PROPERTIES TIMEOUT 300)
