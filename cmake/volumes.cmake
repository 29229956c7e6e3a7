# The libraries of volume and mesh formats that can be left out. TML_VOLUME_LIBRARIES and _DEFINITIONS are what
# trommel-io is built with.
set(TML_VOLUME_LIBRARIES "")
set(TML_VOLUME_DEFINITIONS "")
# tml_optional(option found target package what)
macro(tml_optional option found target package what)
    option(${option} "Read ${what} (Debian: ${package})" ${found})
    if(${option} AND NOT ${found})
        message(FATAL_ERROR "${option} needs what Debian has as ${package}: apt-get install ${package}")
    elseif(${option})
        list(APPEND TML_VOLUME_LIBRARIES ${target})
        list(APPEND TML_VOLUME_DEFINITIONS ${option})
    else()
        message(STATUS "Trommel: no ${what} (Debian: ${package})")
    endif()
endmacro()

find_package(BZip2 QUIET)
tml_optional(TML_BZIP2 "${BZIP2_FOUND}" BZip2::BZip2 libbz2-dev "NRRD volumes in bzip2")
# 4.5 lets each file have handlers of its own.
find_package(TIFF 4.5 QUIET)
tml_optional(TML_TIFF "${TIFF_FOUND}" TIFF::TIFF libtiff-dev "TIFF volumes")
find_package(EXPAT QUIET)
tml_optional(TML_XML "${EXPAT_FOUND}" EXPAT::EXPAT libexpat1-dev "VTK XML files")
