# A program to run by hand over the oracle's corpus; not a test of every build.
add_executable(oracle_corpus ${CMAKE_SOURCE_DIR}/tests/oracle/corpus.cc ${CMAKE_SOURCE_DIR}/tests/unit/reference/oracle.cc)
target_link_libraries(oracle_corpus PRIVATE profile_reference profile_hlo)
target_compile_definitions(oracle_corpus PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
