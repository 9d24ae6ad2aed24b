# How tests are found by ctest.
include(GoogleTest)

# shortq_discover_tests(TARGET [LONG PATTERN...] [EXCEPT PATTERN...] [ARGUMENT...])
#
# gtest_discover_tests(), but tests that match a LONG pattern get the label `long`, and those that
# match an EXCEPT pattern are left out. The sanitizers' presets leave out `long`: it is for tests of
# much work that teaches a sanitizer nothing that a shorter one does not (tests/README.md).
# Patterns are GoogleTest's. ARGUMENTs go to gtest_discover_tests(); PROPERTIES come last.
function(shortq_discover_tests target)
    cmake_parse_arguments(PARSE_ARGV 1 tests "" "" "LONG;EXCEPT;PROPERTIES")
    list(JOIN tests_LONG ":" long)
    list(APPEND tests_EXCEPT ${tests_LONG})
    list(JOIN tests_EXCEPT ":" except)
    gtest_discover_tests(${target} ${tests_UNPARSED_ARGUMENTS} TEST_FILTER "*-${except}"
        PROPERTIES ${tests_PROPERTIES})
    if(long)
        gtest_discover_tests(${target} ${tests_UNPARSED_ARGUMENTS} TEST_FILTER "${long}"
            PROPERTIES ${tests_PROPERTIES} LABELS long)
    endif()
endfunction()
