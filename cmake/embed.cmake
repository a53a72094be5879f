# embed(TARGET HEADER NAMESPACE FILES…): a header with `struct File { std::string_view name, text; }` and `inline constexpr File kFiles[]`,
# made again when a file changes. A file's name is its stem. Texts are cut into pieces because compilers limit the length of a literal.
function(embed target header namespace)
  set(out ${CMAKE_BINARY_DIR}/${header})
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DNAMESPACE=${namespace} "-DFILES=${ARGN}" -P ${CMAKE_SOURCE_DIR}/cmake/embed_script.cmake
    DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/cmake/embed_script.cmake VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
