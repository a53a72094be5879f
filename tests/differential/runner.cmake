# Random modules, reference against cpu, from LLVM IR and from C: 500 each here; tools/nightly.sh runs 20,000.
file(GLOB differential_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/differential/*.cc)
add_executable(differential ${differential_sources} ${CMAKE_SOURCE_DIR}/tests/support/compile_c.cc)
target_link_libraries(differential PRIVATE profile_devices profile_hlo CLI11::CLI11 ${CMAKE_DL_LIBS})
add_test(NAME differential.cpu COMMAND differential --count 500)
set_tests_properties(differential.cpu PROPERTIES TIMEOUT 300)
add_test(NAME differential.c COMMAND differential --count 500 --language c)
set_tests_properties(differential.c PROPERTIES TIMEOUT 300)
