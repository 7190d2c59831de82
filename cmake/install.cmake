# What `cmake --install` (and `make install`) puts in place, and what is built for that alone. The libraries are made of
# the objects that are there already, so both kinds cost one compilation.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/drape)

# drape_shared_library(TARGET NAME OBJECTS...): libNAME.so.0.1.0, which shows what is DRAPE_API and nothing else.
function(drape_shared_library target name)
  add_library(${target} SHARED ${ARGN})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_link_libraries(${target} PRIVATE Threads::Threads m)
  target_link_options(${target} PRIVATE -Wl,--no-undefined)
endfunction()

# drape_install_library(TARGET EXPORTED SET): under the name drape::EXPORTED for find_package.
function(drape_install_library target exported set)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${exported})
  # The build's own include folder is no business of those who use the installed one.
  set_property(TARGET ${target} PROPERTY INTERFACE_INCLUDE_DIRECTORIES
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS ${target} EXPORT ${set} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# drape_install_export(SET): the file that find_package includes for these libraries.
function(drape_install_export set)
  install(EXPORT ${set} NAMESPACE drape:: DESTINATION ${package_dir})
endfunction()

# drape_install_pkgconfig(NAME): prefix is told from where the file lies, so that `--prefix`, DESTDIR and moving the
# whole tree do no harm.
function(drape_install_pkgconfig name)
  file(RELATIVE_PATH PREFIX_FROM_HERE ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" PREFIX_FROM_HERE ${PREFIX_FROM_HERE})
  set(LIBDIR "\${prefix}")
  set(INCLUDEDIR "\${prefix}")
  cmake_path(APPEND LIBDIR ${CMAKE_INSTALL_LIBDIR}) # which replaces the prefix where that is absolute
  cmake_path(APPEND INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# ---- Libraries ----

drape_shared_library(drape-solve-shared drape-solve ${solve_objects})
drape_install_library(drape-solve-shared solve drape-solve-targets)
drape_install_library(drape-solve solve-static drape-solve-targets)
drape_install_export(drape-solve-targets)
drape_install_pkgconfig(drape-solve)
file(GLOB headers CONFIGURE_DEPENDS include/drape/*.h include/drape/*.hpp)
list(FILTER headers EXCLUDE REGEX "/(cholmod|petsc)\\.h$")

if(DRAPE_PROGRAM)
  drape_shared_library(drape-shared drape ${all_objects})
  target_link_libraries(drape-shared PRIVATE PkgConfig::JANSSON PkgConfig::FYAML PkgConfig::ZLIB)
  drape_install_library(drape-shared drape drape-targets)
  drape_install_export(drape-targets)
  # Apart, because only who links it needs jansson, libfyaml and zlib.
  drape_install_library(drape drape-static drape-static-targets)
  drape_install_export(drape-static-targets)
  drape_install_pkgconfig(drape)
else()
  list(FILTER headers INCLUDE REGEX "/((base|sparse|solve|ode)\\.h|drape\\.hpp)$")
endif()

# ---- CHOLMOD: only where it is insisted on, because of its licence (cmake/cholmod.cmake) ----

if(DRAPE_CHOLMOD AND NOT DRAPE_CHOLMOD STREQUAL "AUTO")
  install(TARGETS drape-cholmod ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  list(APPEND headers include/drape/cholmod.h)
endif()
# ---- PETSc: likewise, because who installs drape does not want MPI by chance (cmake/petsc.cmake) ----

if(TARGET drape-petsc AND NOT DRAPE_PETSC STREQUAL "AUTO")
  install(TARGETS drape-petsc ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS drape-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES docs/man/drape-mpi.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  list(APPEND headers include/drape/petsc.h)
endif()
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/drape)

write_basic_package_version_file(${PROJECT_BINARY_DIR}/drapeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/drapeConfig.cmake ${PROJECT_BINARY_DIR}/drapeConfigVersion.cmake DESTINATION ${package_dir})

# ---- The program ----

if(DRAPE_PROGRAM)
  set(installed_program drape-program)
  if(TARGET drape-cholmod AND DRAPE_CHOLMOD STREQUAL "AUTO")
    add_executable(drape-program-installed cli/direct.c $<TARGET_OBJECTS:drape-program-objects>)
    set_target_properties(drape-program-installed PROPERTIES OUTPUT_NAME drape
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/installed)
    target_link_libraries(drape-program-installed PRIVATE drape ${CMAKE_DL_LIBS})
    set(installed_program drape-program-installed)
  endif()
  install(TARGETS ${installed_program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/drape.1
    COMMAND ${CMAKE_COMMAND} "-DPROGRAM=$<TARGET_PROPERTY:drape-program,CROSSCOMPILING_EMULATOR>;$<TARGET_FILE:drape-program>"
      -DVERSION=${PROJECT_VERSION} -DINPUT=${PROJECT_SOURCE_DIR}/docs/man/drape.1.in -DOUTPUT=${PROJECT_BINARY_DIR}/drape.1
      -P ${PROJECT_SOURCE_DIR}/cmake/manual.cmake
    DEPENDS drape-program docs/man/drape.1.in cmake/manual.cmake VERBATIM)
  add_custom_target(drape-manual ALL DEPENDS ${PROJECT_BINARY_DIR}/drape.1)
  install(FILES ${PROJECT_BINARY_DIR}/drape.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES completions/drape DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES completions/_drape DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
# The benchmarks are compiled for this machine and look for other libraries on it: `--component bench` alone installs them,
# where `drape bench` finds them.
if(TARGET drape-bench)
  install(TARGETS drape-bench RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/drape COMPONENT bench EXCLUDE_FROM_ALL)
endif()

# ---- Texts ----

install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN man EXCLUDE PATTERN site EXCLUDE)
