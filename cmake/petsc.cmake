# PETSc over MPI for what does not fit one machine: the library drape-petsc and the program drape-mpi. They are built where
# DRAPE_PETSC is ON, or AUTO and PETSc (real numbers) and MPI are found. Nothing else needs them.
set(DRAPE_PETSC AUTO CACHE STRING "Build drape-petsc and drape-mpi (needs PETSc and MPI): AUTO, ON or OFF")
set_property(CACHE DRAPE_PETSC PROPERTY STRINGS AUTO ON OFF)

set(drape_petsc_found OFF)
if(DRAPE_PETSC AND DRAPE_PROGRAM)
  if(PkgConfig_FOUND)
    pkg_check_modules(PETSC QUIET IMPORTED_TARGET GLOBAL petsc)
  endif()
  find_package(MPI QUIET COMPONENTS C)
  if(TARGET PkgConfig::PETSC AND TARGET MPI::MPI_C)
    set(drape_petsc_found ON)
  elseif(NOT DRAPE_PETSC STREQUAL "AUTO")
    message(FATAL_ERROR "DRAPE_PETSC is ${DRAPE_PETSC}, but there is no PETSc or no MPI (Debian: libpetsc-real-dev openmpi-bin)")
  endif()
endif()

if(drape_petsc_found)
  file(GLOB mpi_sources CONFIGURE_DEPENDS src/mpi/*.c)
  add_library(drape-petsc STATIC ${mpi_sources})
  add_library(drape::petsc ALIAS drape-petsc)
  # Its headers are not written for our warnings.
  target_include_directories(drape-petsc SYSTEM PRIVATE $<TARGET_PROPERTY:PkgConfig::PETSC,INTERFACE_INCLUDE_DIRECTORIES>
    $<TARGET_PROPERTY:MPI::MPI_C,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(drape-petsc PUBLIC drape PkgConfig::PETSC MPI::MPI_C)

  # What both programs share, and the commands of this one.
  file(GLOB mpi_program_sources CONFIGURE_DEPENDS cli/mpi/*.c)
  add_executable(drape-mpi ${mpi_program_sources} cli/arguments.c cli/list.c cli/output.c cli/ode_examples.c)
  target_include_directories(drape-mpi PRIVATE cli)
  target_link_libraries(drape-mpi PRIVATE drape-petsc)
  set_target_properties(drape-mpi PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endif()
