# What the cpu device needs beyond its folder: LLVM (jit.cc alone includes it) and oneDNN.
get_target_property(kind profile_device_cpu TYPE)
if(NOT kind STREQUAL "INTERFACE_LIBRARY")
  target_include_directories(profile_device_cpu SYSTEM PRIVATE ${LLVM_INCLUDE})
  separate_arguments(llvm_ldflags UNIX_COMMAND "${LLVM_LDFLAGS}")
  target_link_libraries(profile_device_cpu PRIVATE ${llvm_ldflags} ${LLVM_LIBS} ${DNNL_LIBRARY} ${CMAKE_DL_LIBS})
  if(PROFILE_SANITIZE)  # LLVM's headers poison memory that its own, uninstrumented code then uses
    set_source_files_properties(replay/device/cpu/jit.cc PROPERTIES COMPILE_OPTIONS -fno-sanitize=all)
  endif()
endif()
