# hot_embed(TARGET HEADER NAME files…): the files' text, one after the other, as `extern const std::string_view NAME` of
# namespace hot::reports, which HEADER declares; generated when a file changes. Run as a script it writes the source file.
set(hot_embed_script ${CMAKE_CURRENT_LIST_FILE})

function(hot_embed target header name)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE files)
  string(REPLACE ";" "|" joined "${files}")
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D NAME=${name} -D HEADER=${header} -D FILES=${joined} -D OUTPUT=${output}
      -P ${hot_embed_script}
    DEPENDS ${files} ${hot_embed_script} VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  set(pieces "")
  string(REPLACE "|" ";" FILES "${FILES}")
  foreach(file IN LISTS FILES)
    file(READ ${file} text)
    string(APPEND pieces "    R\"embedded(${text})embedded\"\n")
  endforeach()
  file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\nnamespace hot::reports {\nconst std::string_view ${NAME} =\n${pieces}    ;\n}\n")
endif()
