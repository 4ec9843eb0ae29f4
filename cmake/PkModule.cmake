# SPDX-License-Identifier: Apache-2.0
# pk_add_module(TARGET FILE.pk [DEFINES NAME=VALUE ...] [INCLUDES DIR ...] [ARCH sm_90a])
#
# Compiles FILE.pk when TARGET is built, into TARGET's binary folder:
#   NAME.pk.h   a C header with the PTX and typed functions to bind and launch its kernels (#include "NAME.pk.h")
#   NAME.ptx    the module itself, for pkrun and to look at
# TARGET gets the folder on its include path and is rebuilt when FILE.pk, what it imports, or pkc changes.
function(pk_add_module target file)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "ARCH" "DEFINES;INCLUDES")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "pk_add_module: what is '${arg_UNPARSED_ARGUMENTS}'?")
    endif()
    if(TARGET pkc)
        set(pkc pkc)
    elseif(TARGET Pkc::pkc)
        set(pkc Pkc::pkc)
    else()
        message(FATAL_ERROR "pk_add_module: there is no target pkc or Pkc::pkc; call find_package(Pkc) first")
    endif()

    get_filename_component(source ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME_WE)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.pk)
    file(MAKE_DIRECTORY ${folder})
    set(options)
    foreach(define ${arg_DEFINES})
        list(APPEND options -D ${define})
    endforeach()
    foreach(dir ${arg_INCLUDES})
        list(APPEND options -I ${dir})
    endforeach()
    if(arg_ARCH)
        list(APPEND options --arch ${arg_ARCH})
    endif()

    foreach(emit header ptx)
        set(out ${folder}/${name}.ptx)
        if(emit STREQUAL header)
            set(out ${folder}/${name}.pk.h)
        endif()
        add_custom_command(OUTPUT ${out}
                           COMMAND ${pkc} ${source} ${options} --emit=${emit} -o ${out} -MF ${out}.d
                           DEPENDS ${source} ${pkc} DEPFILE ${out}.d COMMENT "Compiling ${name}.pk to ${emit}" VERBATIM)
    endforeach()
    target_sources(${target} PRIVATE ${folder}/${name}.pk.h ${folder}/${name}.ptx)
    target_include_directories(${target} PRIVATE ${folder})
endfunction()
