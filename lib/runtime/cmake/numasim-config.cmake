# The task runtime that is installed with the Python package, for programs that are built with CMake:
#
#   find_package(numasim CONFIG REQUIRED)
#   target_link_libraries(fib PRIVATE numasim::numasim)
#
#   cmake -S . -B build -Dnumasim_DIR=$(numasim-runtime --cmake-dir)
include(CMakeFindDependencyMacro)
find_dependency(Threads)
if(NOT TARGET numasim::numasim)
  cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH numasim_folder)
  add_library(numasim::numasim STATIC IMPORTED)
  add_library(numasim::virtual STATIC IMPORTED)
  set_target_properties(numasim::virtual PROPERTIES
    IMPORTED_LOCATION "${numasim_folder}/libnumasim-virtual.a"
    INTERFACE_LINK_LIBRARIES "numasim::numasim;stdc++;m")
  add_library(numasim::turns STATIC IMPORTED)
  set_target_properties(numasim::turns PROPERTIES
    IMPORTED_LOCATION "${numasim_folder}/libnumasim-turns.a"
    INTERFACE_LINK_LIBRARIES "numasim::numasim")
  set_target_properties(numasim::numasim PROPERTIES
    IMPORTED_LOCATION "${numasim_folder}/libnumasim.a"
    INTERFACE_INCLUDE_DIRECTORIES "${numasim_folder}/include"
    # links virtual time and turns, to which nothing else refers
    INTERFACE_LINK_OPTIONS "LINKER:--undefined=ns_virtual_mode,--undefined=ns_turns_mode"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;numasim::virtual;numasim::turns")
endif()
