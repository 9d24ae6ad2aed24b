# The steps of the install test; the first that fails ends it.
function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE status
        OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${ARGN}\nended with ${status}:\n${output}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

set(prefix "${WORK_DIR}/prefix")
file(REMOVE_RECURSE "${WORK_DIR}")
set(flags "")
if(SANITIZE)  # An archive built with a sanitizer needs its run-time library.
    set(flags "-fsanitize=${SANITIZE}")
endif()

run(${CMAKE_COMMAND} --install "${SHORTQ_BUILD_DIR}" --prefix "${prefix}")
foreach(file IN ITEMS include/shortq/client.h include/shortq/table.h
        include/shortq/proto/columnar.h include/shortq/proto/error.h include/shortq/proto/value.h
        ${LIBDIR}/libduckdb.so bin/shortq bin/shortq-cli libexec/shortq-worker
        share/man/man1/shortq.1 share/man/man1/shortq-cli.1
        share/bash-completion/completions/shortq-cli share/zsh/site-functions/_shortq-cli
        share/fish/vendor_completions.d/shortq-cli.fish
        lib/python3/dist-packages/shortq/client.py lib/python3/dist-packages/shortq/py.typed)
    if(NOT EXISTS "${prefix}/${file}")
        message(FATAL_ERROR "not installed: ${file}")
    endif()
endforeach()

# The programs start from where they are now, with the libraries that lie beside them.
foreach(program IN ITEMS bin/shortq bin/shortq-cli)
    run(${CMAKE_COMMAND} -E env --unset=LD_LIBRARY_PATH "${prefix}/${program}" --version)
    string(FIND "${output}" "${VERSION}" at)
    if(at EQUAL -1)
        message(FATAL_ERROR "${program} --version does not say ${VERSION}: ${output}")
    endif()
endforeach()

run(${CMAKE_COMMAND} -G "${GENERATOR}" -S "${CMAKE_CURRENT_LIST_DIR}/consumer" -B "${WORK_DIR}/build"
    "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
    "-DCMAKE_CXX_FLAGS=${flags}")
run(${CMAKE_COMMAND} --build "${WORK_DIR}/build")
run("${WORK_DIR}/build/consumer" "${VERSION}")
