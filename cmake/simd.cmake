# drape_add_objects(NAME SOURCES...): an object library. A source named *_simd.c is compiled once per
# instruction set, each time with its own DRAPE_VARIANT (see src/base/simd.h); which one runs is decided at
# run time. On anything but x86-64, and with DRAPE_BASELINE_ONLY, there is the baseline alone.
set(DRAPE_SIMD_VARIANTS baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT DRAPE_BASELINE_ONLY)
  list(APPEND DRAPE_SIMD_VARIANTS avx2 avx512)
endif()
set(DRAPE_SIMD_FLAGS_avx2 -mavx2 -DDRAPE_VARIANT_IS_AVX2)
set(DRAPE_SIMD_FLAGS_avx512 -mavx2 -mavx512f -mavx512vl -mavx512dq -mprefer-vector-width=512 -DDRAPE_VARIANT_IS_AVX512)

function(drape_add_objects name)
  set(plain ${ARGN})
  set(kernels ${ARGN})
  list(FILTER plain EXCLUDE REGEX "_simd\\.c$")
  list(FILTER kernels INCLUDE REGEX "_simd\\.c$")
  add_library(${name} OBJECT ${plain})
  if(kernels)
    foreach(variant ${DRAPE_SIMD_VARIANTS})
      add_library(${name}-${variant} OBJECT ${kernels})
      target_compile_options(${name}-${variant} PRIVATE ${DRAPE_SIMD_FLAGS_${variant}} -Wno-psabi)
      if(DRAPE_FUZZ) # readers are fuzzed, not kernels, which take minutes to compile with all checks
        target_compile_options(${name}-${variant} PRIVATE -fno-sanitize=all)
      elseif(NOT variant STREQUAL baseline AND CMAKE_C_FLAGS MATCHES "-fsanitize=[a-z,]*undefined")
        # The source of all variants is the same, so the baseline shows what is undefined in it; with these checks kernels
        # take twice as long to compile. What they read and write depends on the width, and is checked in each.
        target_compile_options(${name}-${variant} PRIVATE -fno-sanitize=undefined)
      endif()
      target_compile_definitions(${name}-${variant} PRIVATE DRAPE_VARIANT=${variant})
      set_property(GLOBAL APPEND PROPERTY ${name}_parts ${name}-${variant})
    endforeach()
  endif()
endfunction()

# drape_objects(VARIABLE NAME...): generator expressions of all objects of these libraries.
function(drape_objects variable)
  set(all)
  foreach(name ${ARGN})
    list(APPEND all $<TARGET_OBJECTS:${name}>)
    get_property(parts GLOBAL PROPERTY ${name}_parts)
    foreach(part ${parts})
      list(APPEND all $<TARGET_OBJECTS:${part}>)
    endforeach()
  endforeach()
  set(${variable} ${all} PARENT_SCOPE)
endfunction()
