# The oracle's corpus: the program `corpus` runs all of it (by hand, minutes); ctest every 39th record, about a hundred.
add_executable(corpus ${CMAKE_SOURCE_DIR}/tests/corpus/main.cc ${CMAKE_SOURCE_DIR}/tests/corpus/check.cc
                      ${CMAKE_SOURCE_DIR}/tests/corpus/replayed.cc ${CMAKE_SOURCE_DIR}/tests/corpus/apart.cc
                      ${CMAKE_SOURCE_DIR}/tests/corpus/differences.cc ${CMAKE_SOURCE_DIR}/tests/corpus/table.cc
                      ${CMAKE_SOURCE_DIR}/tests/corpus/programs.cc ${CMAKE_SOURCE_DIR}/tests/unit/reference/oracle.cc)
target_link_libraries(corpus PRIVATE profile_devices profile_hlo CLI11::CLI11)
target_compile_definitions(corpus PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_link_options(corpus PRIVATE -rdynamic)
set(corpus_memory 4)
if(PROFILE_SANITIZE)
  set(corpus_memory 0)
endif()
add_test(NAME corpus.sample COMMAND corpus --every 39 --seconds 120 --memory ${corpus_memory})
set_tests_properties(corpus.sample PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 PROCESSORS 2)
add_test(NAME corpus.programs COMMAND corpus --programs --device cpu --every 5 --seconds 120 --memory 0)
set_tests_properties(corpus.programs PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 PROCESSORS 2)

add_executable(corpus_program ${CMAKE_SOURCE_DIR}/tests/corpus/program_test.cc ${CMAKE_SOURCE_DIR}/tests/corpus/apart.cc
                              ${CMAKE_SOURCE_DIR}/tests/corpus/differences.cc ${CMAKE_SOURCE_DIR}/tests/corpus/table.cc
                              ${CMAKE_SOURCE_DIR}/tests/corpus/check.cc ${CMAKE_SOURCE_DIR}/tests/corpus/replayed.cc
                              ${CMAKE_SOURCE_DIR}/tests/unit/reference/oracle.cc)
target_link_libraries(corpus_program PRIVATE profile_devices profile_hlo GTest::gtest_main)
target_compile_definitions(corpus_program PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
gtest_discover_tests(corpus_program TEST_PREFIX "corpus." DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 60)
