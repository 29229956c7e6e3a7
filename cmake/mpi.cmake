# MPI is optional: without it there is no trommel-mpi, and nothing else is missing.
find_package(MPI QUIET COMPONENTS C)
option(TML_MPI "Build trommel-mpi, for several processes (needs MPI)" ${MPI_C_FOUND})
if(TML_MPI AND NOT MPI_C_FOUND)
    message(FATAL_ERROR "TML_MPI needs MPI; Debian: apt-get install libopenmpi-dev openmpi-bin")
elseif(NOT TML_MPI)
    message(STATUS "Trommel: no trommel-mpi (Debian: libopenmpi-dev, openmpi-bin)")
endif()
