# cmake -DPROGRAM=... -DVERSION=... -DINPUT=drape.1.in -DOUTPUT=drape.1 -P manual.cmake: the manual page, with the lists of
# names that the program itself has: a line @TABLE@ becomes what `drape list TABLE --roff` prints.
cmake_minimum_required(VERSION 3.25) # for the policies of a script

# drape_run(VARIABLE ARGUMENTS...): what the program prints.
function(drape_run variable)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ${ARGN}: ${result}")
  endif()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

file(READ ${INPUT} page)
string(REPLACE "@VERSION@" "${VERSION}" page "${page}")
drape_run(tables list --words)
string(REPLACE "\n" ";" tables "${tables}")
foreach(table IN LISTS tables)
  if(table)
    drape_run(names list ${table} --roff)
    if(NOT page MATCHES "\n@${table}@\n")
      message(FATAL_ERROR "${INPUT} has no line @${table}@")
    endif()
    string(REPLACE "\n@${table}@\n" "\n${names}" page "${page}")
  endif()
endforeach()
file(WRITE ${OUTPUT} "${page}")
