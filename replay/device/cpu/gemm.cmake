# Files of the packed product and of transforms that are compiled for an instruction set beyond the baseline; the set is chosen at run time.
set(cpu ${CMAKE_SOURCE_DIR}/replay/device/cpu)
set_source_files_properties(${cpu}/packed_baseline.cc ${cpu}/fft_baseline.cc PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=fast")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(${cpu}/packed_avx2.cc ${cpu}/fft_avx2.cc PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=fast;-mavx2;-mfma;-mf16c")
  set_source_files_properties(${cpu}/packed_avx512.cc ${cpu}/fft_avx512.cc PROPERTIES
    COMPILE_OPTIONS "-O3;-ffp-contract=fast;-mavx2;-mfma;-mf16c;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl")
  set_source_files_properties(${cpu}/packed_amx.cc PROPERTIES
    COMPILE_OPTIONS "-O3;-ffp-contract=fast;-mavx2;-mfma;-mf16c;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mamx-tile;-mamx-bf16")
  # GCC 12 warns of its own intrinsics' deliberately undefined operands (bug 105593).
  set_source_files_properties(${cpu}/parts_amx.cc PROPERTIES
    COMPILE_OPTIONS "-O3;-mavx2;-mfma;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mamx-tile;-mamx-bf16;-Wno-uninitialized;-Wno-maybe-uninitialized")
endif()
target_link_libraries(profile_device_cpu PRIVATE ${DNNL_LIBRARY})
