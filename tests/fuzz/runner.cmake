# Files of any format, damaged (hostile.cc says how); tools/nightly.sh builds it under the sanitizers.
add_executable(fuzz_hostile EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/fuzz/hostile.cc)
target_link_libraries(fuzz_hostile PRIVATE profile_importers CLI11::CLI11)

# Fuzzing with libFuzzer, which clang has: cmake -DPROFILE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++-19. tools/fuzz.sh builds and runs.
if(PROFILE_FUZZ)
  foreach(target parse verify cost plan reference)
    add_executable(fuzz_${target} EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/fuzz/targets.cc)
    target_compile_definitions(fuzz_${target} PRIVATE FUZZ_TARGET=${target})
    target_link_libraries(fuzz_${target} PRIVATE profile_replay_base profile_reference profile_hlo)
    target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
  endforeach()
endif()
