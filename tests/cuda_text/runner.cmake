# Kernels of the op files and of the samples through NVRTC, some of them; tools/nightly.sh takes all, for three architectures.
add_executable(cuda_text ${CMAKE_SOURCE_DIR}/tests/cuda_text/main.cc ${CMAKE_SOURCE_DIR}/tests/differential/generate.cc)
target_link_libraries(cuda_text PRIVATE profile_device_cuda profile_replay_base profile_importers CLI11::CLI11)
file(GLOB op_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/ops/*.hlo)
add_test(NAME cuda_text.ops COMMAND cuda_text --every 16 --architecture 80 100 -- ${op_files})
file(GLOB program_samples CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/samples/*.hlo.txt ${CMAKE_SOURCE_DIR}/samples/*.paddle.txt
                                            ${CMAKE_SOURCE_DIR}/samples/*.tfnodes.txt)
add_test(NAME cuda_text.samples COMMAND cuda_text --every 20 --architecture 90 -- ${program_samples})
add_test(NAME cuda_text.libraries COMMAND cuda_text --architecture 80 90 100 -- ${CMAKE_SOURCE_DIR}/tests/gpu/convolutions.hlo)
set_tests_properties(cuda_text.ops cuda_text.samples cuda_text.libraries PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
add_test(NAME cuda_text.random COMMAND cuda_text --architecture 90 --random 20)
set_tests_properties(cuda_text.random PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
# The text on the host: sizes around the borders of schedules, what the prelude holds, and planted faults.
add_executable(cuda_on_host ${CMAKE_SOURCE_DIR}/tests/cuda_text/faults_test.cc ${CMAKE_SOURCE_DIR}/tests/cuda_text/prelude_test.cc
                            ${CMAKE_SOURCE_DIR}/tests/cuda_text/shapes_test.cc
                            ${CMAKE_SOURCE_DIR}/tests/cuda_text/on_host.cc ${CMAKE_SOURCE_DIR}/tests/support/compile_c.cc)
target_link_libraries(cuda_on_host PRIVATE profile_device_cpu profile_replay_base profile_reference profile_hlo GTest::gtest_main ${CMAKE_DL_LIBS})
target_compile_definitions(cuda_on_host PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_link_options(cuda_on_host PRIVATE -rdynamic)
gtest_discover_tests(cuda_on_host TEST_PREFIX "cuda_on_host." DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
