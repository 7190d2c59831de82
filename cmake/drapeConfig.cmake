# find_package(drape [COMPONENTS simulate static]) gives
#   drape::solve, drape::solve-static    the linear solvers
#   drape::drape                         all of drape; component simulate: insist that it is there
#   drape::drape-static                  the same as a static library; component static, which looks for jansson,
#                                        libfyaml and zlib by pkg-config
include(CMakeFindDependencyMacro)
find_dependency(Threads)

include(${CMAKE_CURRENT_LIST_DIR}/drape-solve-targets.cmake)
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/drape-targets.cmake)
  include(${CMAKE_CURRENT_LIST_DIR}/drape-targets.cmake)
  set(drape_simulate_FOUND TRUE)
endif()

if("static" IN_LIST drape_FIND_COMPONENTS AND drape_simulate_FOUND)
  find_dependency(PkgConfig)
  foreach(library JANSSON:jansson FYAML:libfyaml ZLIB:zlib)
    string(REPLACE ":" ";" library ${library})
    list(GET library 0 target)
    list(GET library 1 module)
    if(NOT TARGET PkgConfig::${target})
      pkg_check_modules(${target} QUIET IMPORTED_TARGET GLOBAL ${module})
    endif()
    if(NOT TARGET PkgConfig::${target})
      list(APPEND drape_missing ${module})
    endif()
  endforeach()
  if(drape_missing)
    set(drape_NOT_FOUND_MESSAGE "the static library needs, by pkg-config: ${drape_missing}")
  else()
    include(${CMAKE_CURRENT_LIST_DIR}/drape-static-targets.cmake)
    set(drape_static_FOUND TRUE)
  endif()
endif()

foreach(component ${drape_FIND_COMPONENTS})
  if(drape_FIND_REQUIRED_${component} AND NOT drape_${component}_FOUND)
    set(drape_FOUND FALSE)
    if(NOT drape_NOT_FOUND_MESSAGE)
      set(drape_NOT_FOUND_MESSAGE "this drape was installed without the component ${component}")
    endif()
  endif()
endforeach()
