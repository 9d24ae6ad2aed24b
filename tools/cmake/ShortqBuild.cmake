# Compiler settings that every target of the project shares.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

add_library(shortq_warnings INTERFACE)
target_compile_options(shortq_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC bug 105651: assigning a literal to a std::string is reported as overlapping memory.
    target_compile_options(shortq_warnings INTERFACE -Wno-restrict)
endif()

if(SHORTQ_SANITIZE)
    # Without the check of vptrs: it opens a pipe to look at an object, and so reports sound objects in
    # the tests that leave a process no descriptor.
    add_compile_options("-fsanitize=${SHORTQ_SANITIZE}" -fno-sanitize=vptr
        -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options("-fsanitize=${SHORTQ_SANITIZE}")
    # GCC's own advice for instrumented code: this warning then reports code that is sound.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(shortq_warnings INTERFACE -Wno-maybe-uninitialized)
    endif()
endif()
