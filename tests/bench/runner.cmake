# Programs that measure: bench_NAME from bench/NAME.cc. Built on demand (`ninja bench_NAME`), run by hand: ctest must not depend on a machine's mood.
file(GLOB benches CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cc)
foreach(source ${benches})
  get_filename_component(name ${source} NAME_WE)
  add_executable(bench_${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(bench_${name} PRIVATE profile_cli)
  target_link_options(bench_${name} PRIVATE -rdynamic)
endforeach()
