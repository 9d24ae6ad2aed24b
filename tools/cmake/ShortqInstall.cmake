# What `cmake --install` adds to the programs, whose install() lines are their own: the client
# library, its public headers, DuckDB's library, and the package for find_package(shortq).
include(CMakePackageConfigHelpers)
set(SHORTQ_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/shortq")

install(TARGETS shortq_client EXPORT shortqTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The rest of proto is the wire format, which users of the client never see.
install(FILES proto/columnar.h proto/error.h proto/value.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/shortq/proto)

# The programs look for it in ../lib (CMAKE_INSTALL_RPATH).
install(FILES ${DuckDB_LIBRARY} DESTINATION ${CMAKE_INSTALL_LIBDIR})

install(EXPORT shortqTargets NAMESPACE shortq:: DESTINATION ${SHORTQ_PACKAGE_DIR})
configure_package_config_file(
    ${CMAKE_CURRENT_LIST_DIR}/shortqConfig.cmake.in ${PROJECT_BINARY_DIR}/shortqConfig.cmake
    INSTALL_DESTINATION ${SHORTQ_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/shortqConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/shortqConfig.cmake
    ${PROJECT_BINARY_DIR}/shortqConfigVersion.cmake
    DESTINATION ${SHORTQ_PACKAGE_DIR})
