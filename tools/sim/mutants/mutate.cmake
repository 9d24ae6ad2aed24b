# tools/sim/mutants/mutate.cmake: copies the core into OUT and puts every fault of mutants.cmake in,
# switched off. Run by the build: cmake -DCORE=DIR -DFILES=NAME,NAME... -DOUT=DIR -P mutate.cmake

set(names "")
set(number 0)

# A fault whose text has moved on with the core stops the build: it would prove nothing.
function(mutant name file original fault)
    math(EXPR number "${number} + 1")
    file(READ "${CORE}/${file}" pristine)
    string(FIND "${pristine}" "${original}" first)
    string(FIND "${pristine}" "${original}" last REVERSE)
    if(first EQUAL -1 OR NOT first EQUAL last)
        message(FATAL_ERROR "The text of mutant ${name} is not in ${CORE}/${file} exactly once. "
            "Change its entry in tools/sim/mutants/mutants.cmake along with the core.")
    endif()
    file(READ "${OUT}/primary/core/${file}" text)
    string(REPLACE "FAULT" "shortq::sim::fault_is_on(${number})" fault "${fault}")
    string(REPLACE "${original}" "${fault}" text "${text}")
    file(WRITE "${OUT}/primary/core/${file}" "${text}")
    set(number ${number} PARENT_SCOPE)
    set(names "${names}        \"${name}\",\n" PARENT_SCOPE)
endfunction()

string(REPLACE "," ";" FILES "${FILES}")
foreach(file IN LISTS FILES)
    file(READ "${CORE}/${file}" text)
    if(file MATCHES "types.h$")
        string(REPLACE "#pragma once" "#pragma once\n#include \"tools/sim/mutants/fault.h\"" text
            "${text}")
    endif()
    file(WRITE "${OUT}/primary/core/${file}" "${text}")
endforeach()

include("${CMAKE_CURRENT_LIST_DIR}/mutants.cmake")

file(WRITE "${OUT}/mutant_names.cpp" "// Made by tools/sim/mutants/mutate.cmake.
#include \"tools/sim/mutants/fault.h\"

namespace shortq::sim {
std::vector<std::string> mutant_names() {
    return {
${names}    };
}
}  // namespace shortq::sim
")
