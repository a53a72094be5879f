# Kernels of the op files, samples and random modules through NVRTC and on the host, some of them; tools/nightly.sh takes all, for three
# architectures.
set(cuda_on_host_sources ${CMAKE_CURRENT_LIST_DIR}/on_host.cc ${CMAKE_SOURCE_DIR}/tests/support/compile_c.cc
                         ${CMAKE_SOURCE_DIR}/tests/support/dims.cc ${CMAKE_SOURCE_DIR}/tests/support/shrink.cc)
add_executable(cuda_text ${CMAKE_CURRENT_LIST_DIR}/main.cc ${CMAKE_CURRENT_LIST_DIR}/distinct.cc ${CMAKE_CURRENT_LIST_DIR}/machine_code.cc
                         ${CMAKE_CURRENT_LIST_DIR}/host_run.cc ${CMAKE_CURRENT_LIST_DIR}/pairs.cc
                         ${CMAKE_SOURCE_DIR}/tests/differential/generate.cc ${cuda_on_host_sources})
target_link_libraries(cuda_text PRIVATE profile_device_cuda profile_device_cpu profile_replay_base profile_importers CLI11::CLI11
                                        ${CMAKE_DL_LIBS})
target_compile_definitions(cuda_text PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_link_options(cuda_text PRIVATE -rdynamic)
file(GLOB op_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/ops/*.hlo)
add_test(NAME cuda_text.ops COMMAND cuda_text --every 16 --architecture 80 100 -- ${op_files})
file(GLOB program_samples CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/samples/*.hlo.txt ${CMAKE_SOURCE_DIR}/samples/*.paddle.txt
                                            ${CMAKE_SOURCE_DIR}/samples/*.tfnodes.txt)
add_test(NAME cuda_text.samples COMMAND cuda_text --every 20 --architecture 90 -- ${program_samples})
add_test(NAME cuda_text.libraries COMMAND cuda_text --architecture 80 90 100 -- ${CMAKE_SOURCE_DIR}/tests/gpu/convolutions.hlo)
set_tests_properties(cuda_text.ops cuda_text.samples cuda_text.libraries PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
add_test(NAME cuda_text.random COMMAND cuda_text --architecture 90 --random 20)
set_tests_properties(cuda_text.random PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
# On the host: MNIST whole, some of the others, and some opcodes and types.
add_test(NAME cuda_text.mnist_on_host COMMAND cuda_text --host -- ${CMAKE_SOURCE_DIR}/samples/mnist_train_step.hlo.txt)
add_test(NAME cuda_text.samples_on_host COMMAND cuda_text --host --every 16 -- ${program_samples})
add_test(NAME cuda_text.types_on_host COMMAND cuda_text --host --types --every 8)
set_tests_properties(cuda_text.mnist_on_host cuda_text.samples_on_host cuda_text.types_on_host PROPERTIES TIMEOUT 300)
# Sizes around the borders of schedules, what the prelude holds, planted faults.
add_executable(cuda_on_host ${CMAKE_CURRENT_LIST_DIR}/faults_test.cc ${CMAKE_CURRENT_LIST_DIR}/prelude_test.cc
                            ${CMAKE_CURRENT_LIST_DIR}/shapes_test.cc ${CMAKE_CURRENT_LIST_DIR}/shrink_test.cc ${cuda_on_host_sources})
target_link_libraries(cuda_on_host PRIVATE profile_device_cuda profile_device_cpu profile_replay_base profile_reference profile_hlo GTest::gtest_main ${CMAKE_DL_LIBS})
target_compile_definitions(cuda_on_host PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_link_options(cuda_on_host PRIVATE -rdynamic)
gtest_discover_tests(cuda_on_host TEST_PREFIX "cuda_on_host." DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
