# CHOLMOD of SuiteSparse behind the method "direct": the library drape-cholmod, where DRAPE_CHOLMOD is ON, or AUTO and
# CHOLMOD is there. Partly under the GPL (include/drape/cholmod.h), so nothing else may come to need it.
set(DRAPE_CHOLMOD AUTO CACHE STRING "Build drape-cholmod, the direct solver (needs CHOLMOD, GPL): AUTO, ON or OFF")
set_property(CACHE DRAPE_CHOLMOD PROPERTY STRINGS AUTO ON OFF)

if(DRAPE_CHOLMOD)
  # Debian 12 has no pkg-config file for it.
  find_path(CHOLMOD_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse)
  find_library(CHOLMOD_LIBRARY cholmod)
  mark_as_advanced(CHOLMOD_INCLUDE_DIR CHOLMOD_LIBRARY)
  if(CHOLMOD_INCLUDE_DIR AND CHOLMOD_LIBRARY)
    add_library(drape-cholmod STATIC src/linear/direct/cholmod.c)
    add_library(drape::cholmod ALIAS drape-cholmod)
    target_include_directories(drape-cholmod PUBLIC include)
    target_include_directories(drape-cholmod SYSTEM PRIVATE ${CHOLMOD_INCLUDE_DIR})
    target_link_libraries(drape-cholmod PUBLIC ${CHOLMOD_LIBRARY})
    # For those who can do with it or without.
    target_compile_definitions(drape-cholmod INTERFACE DRAPE_HAS_CHOLMOD)
    # For the program, which loads it only when the method "direct" is asked for. CHOLMOD brings a BLAS, and OpenBLAS
    # starts threads and takes memory in every program that is linked with it.
    add_library(drape-cholmod-module MODULE src/linear/direct/cholmod.c)
    set_target_properties(drape-cholmod-module PROPERTIES OUTPUT_NAME drape-cholmod PREFIX "")
    target_include_directories(drape-cholmod-module PRIVATE include SYSTEM ${CHOLMOD_INCLUDE_DIR})
    target_link_libraries(drape-cholmod-module PRIVATE ${CHOLMOD_LIBRARY} m)
  elseif(NOT DRAPE_CHOLMOD STREQUAL "AUTO")
    message(FATAL_ERROR "DRAPE_CHOLMOD is ${DRAPE_CHOLMOD}, but there is no CHOLMOD (Debian: libsuitesparse-dev)")
  endif()
endif()
