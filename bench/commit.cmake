# commit.cmake: writes OUTPUT, a header with the commit that FOLDER is at, where it changed. "+" after it: with changes of its own.
execute_process(COMMAND git -C ${FOLDER} describe --always --abbrev=12 --exclude=* --dirty=+ OUTPUT_VARIABLE commit
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(text "#define BENCH_COMMIT \"${commit}\"\n")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT "${before}" STREQUAL "${text}")
  file(WRITE ${OUTPUT} "${text}")
endif()
