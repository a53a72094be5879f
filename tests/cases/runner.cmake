# One test a .case file, against the built program; and the runner's own test.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(cases_folder ${CMAKE_CURRENT_LIST_DIR})
add_test(NAME case_runner COMMAND ${Python3_EXECUTABLE} -B ${cases_folder}/run_test.py)
# Cases that wait, or run one thread: another test may run beside them. The others take all cores.
set(on_one_core bad_files compare cuda damaged environment export import llama names predict query read_only replay_null reports
    resnet second_writer sniff symbols version wrong_use)
if(TARGET profile)
  file(GLOB cases CONFIGURE_DEPENDS ${cases_folder}/*.case)
  foreach(case ${cases})
    get_filename_component(name ${case} NAME_WE)
    add_test(NAME case.${name} COMMAND ${Python3_EXECUTABLE} -B ${cases_folder}/run.py --programs $<TARGET_FILE_DIR:profile> ${case})
    set(places 2)
    if(name IN_LIST on_one_core)
      set(places 1)
    endif()
    set_tests_properties(case.${name} PROPERTIES TIMEOUT 300 PROCESSORS ${places})
  endforeach()
endif()
