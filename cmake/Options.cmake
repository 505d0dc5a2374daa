# Interface targets that carry warnings and sanitizers.
add_library(bgc_options INTERFACE)
target_compile_definitions(bgc_options INTERFACE _POSIX_C_SOURCE=200809L)
target_compile_options(bgc_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
    -Wswitch-enum -Wcast-qual -Wformat=2 -Wimplicit-fallthrough -Wundef -Wvla -Wwrite-strings
    $<$<BOOL:${BGC_WERROR}>:-Werror>)
if(BGC_SANITIZE)
    target_compile_options(bgc_options INTERFACE
        -fsanitize=${BGC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(bgc_options INTERFACE -fsanitize=${BGC_SANITIZE})
    target_compile_definitions(bgc_options INTERFACE BG_DEBUG_ARENA=1)
endif()
if(BGC_FUZZ)
    target_compile_options(bgc_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(BGC_COVERAGE)
    target_compile_options(bgc_options INTERFACE --coverage -O0)
    target_link_options(bgc_options INTERFACE --coverage)
endif()
if(BGC_LTO)
    include(CheckIPOSupported)
    check_ipo_supported(RESULT has_lto OUTPUT lto_output LANGUAGES C)
    if(has_lto)
        set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
        # Objects hold machine code as well, so that the many test programs link without it.
        if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
            target_compile_options(bgc_options INTERFACE -ffat-lto-objects)
        endif()
    else()
        message(STATUS "No link-time optimisation with this compiler")
    endif()
endif()
