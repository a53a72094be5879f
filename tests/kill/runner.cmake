# SIGKILL at 50 moments of the built program.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(TARGET profile)
  add_test(NAME kill COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/kill_test.py $<TARGET_FILE:profile>
                             ${CMAKE_SOURCE_DIR}/samples/mnist_train_step.hlo.txt)
  set_tests_properties(kill PROPERTIES TIMEOUT 300)
endif()
