# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: programs, libraries, headers, the standard library, pkg-config files, a CMake package.
include(CMakePackageConfigHelpers)

foreach(target pkc pkc_lib pkrt pksim pkrun)
    if(NOT TARGET ${target})
        return()
    endif()
endforeach()

install(TARGETS pkc pkc_lib pkrt pksim pkrun EXPORT PkcTargets
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT PkcTargets NAMESPACE Pkc:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Pkc)

install(DIRECTORY compiler/include/pkc runtime/include/pkrt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(FILES runtime/sim/pksim.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pksim)
install(DIRECTORY stdlib/ DESTINATION ${CMAKE_INSTALL_DATADIR}/pkc/stdlib FILES_MATCHING PATTERN "*.pk")

foreach(name pkc pkrt)
    configure_file(cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/lib${name}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/lib${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

configure_package_config_file(cmake/PkcConfig.cmake.in ${CMAKE_BINARY_DIR}/PkcConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Pkc)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/PkcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/PkcConfig.cmake ${CMAKE_BINARY_DIR}/PkcConfigVersion.cmake cmake/PkModule.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Pkc)
