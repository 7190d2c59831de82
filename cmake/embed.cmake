# drape_embed(VARIABLE PREFIX FILES...): files as C arrays. Names a source in the build folder, made again whenever a
# file changes, with `const unsigned char PREFIX_ENDING[]` and `const size_t PREFIX_ENDING_size` for each file NAME.ENDING.
# The same file, run as a script (cmake -P), makes that source.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(DRAPE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

  function(drape_embed variable prefix)
    set(inputs)
    foreach(file ${ARGN})
      list(APPEND inputs ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    endforeach()
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${prefix}.c)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DPREFIX=${prefix} "-DINPUTS=${inputs}" -P ${DRAPE_EMBED_SCRIPT}
      DEPENDS ${inputs} ${DRAPE_EMBED_SCRIPT} VERBATIM)
    set(${variable} ${output} PARENT_SCOPE)
  endfunction()
  return()
endif()

set(text "/* Made by cmake/embed.cmake. */\n#include <stddef.h>\n")
foreach(input ${INPUTS})
  get_filename_component(ending ${input} LAST_EXT)
  string(SUBSTRING ${ending} 1 -1 ending)
  file(READ ${input} bytes HEX)
  string(LENGTH "${bytes}" size)
  math(EXPR size "${size} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}") # 16 bytes per line
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND text "\nextern const unsigned char ${PREFIX}_${ending}[];\nextern const size_t ${PREFIX}_${ending}_size;\n"
    "const unsigned char ${PREFIX}_${ending}[] = {\n${bytes}0};\n"
    "const size_t ${PREFIX}_${ending}_size = ${size};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
