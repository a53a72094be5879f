# SIGKILL at 50 moments of the built program; Ctrl-C, kill and hang-up in each of its stages.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(TARGET profile)
  add_test(NAME kill COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/kill_test.py $<TARGET_FILE:profile>
                             ${CMAKE_SOURCE_DIR}/samples/mnist_train_step.hlo.txt)
  set_tests_properties(kill PROPERTIES TIMEOUT 300 PROCESSORS 2)
  add_test(NAME interrupt COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/interrupt_test.py $<TARGET_FILE:profile>
                                  ${CMAKE_SOURCE_DIR}/samples)
  set_tests_properties(interrupt PROPERTIES TIMEOUT 300 PROCESSORS 2)
endif()
