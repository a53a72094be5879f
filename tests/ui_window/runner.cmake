# profile-view as a program: pictures of every panel (kept in the build folder), what it says of bad files, and a window under Xvfb that
# xdotool uses as a person would.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(TARGET profile-view AND TARGET profile)
  foreach(part pictures messages window)
    add_test(NAME ui_${part} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/${part}_test.py --programs $<TARGET_FILE_DIR:profile>
                                     --samples ${CMAKE_SOURCE_DIR}/samples --artefacts ${CMAKE_BINARY_DIR}/ui_pictures)
    set_tests_properties(ui_${part} PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77)
  endforeach()
endif()
