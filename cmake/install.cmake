# What `cmake --install` lays down, in three components, and the packages made of them:
#   runtime      ptxasw, what it preloads into other programs, man pages, completions, an example of settings
#   emulate      libptxasw_emulate.so with its C header, for pkg-config, and examples; the runtime for programs without a GPU
#   development  headers and static libraries of the layers that others can use, for find_package(ptxasw)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# package-COMPONENT builds what a component holds. An installation begins with it if something of it is missing, as after
# quickstart.sh, which builds the programs alone.
set(exported ptxasw_flags ptxasw_antlr ptxasw_grammar ptxasw_semantics ptxasw_symbolic ptxasw_machine ptxasw_translate ptxasw_emulator ptxasw_facts ptxasw_analysis)
set(described ${PROJECT_BINARY_DIR}/described)
set(parts_runtime ptxasw ptxasw-exec ptxasw_launch ptxasw_launch_archive)
set(parts_emulate ptxasw_emulate ptxasw_cudart_archive ptxasw_cudart ptxasw_cuda)
set(parts_development ${exported})
foreach(component runtime emulate development)
  add_custom_target(package-${component} DEPENDS changelogs)
  set(files ${PROJECT_BINARY_DIR}/changelog.gz)
  foreach(part ${parts_${component}})
    if(TARGET ${part})
      add_dependencies(package-${component} ${part})
      get_target_property(type ${part} TYPE)
      if(type MATCHES "EXECUTABLE|STATIC_LIBRARY|SHARED_LIBRARY")
        list(APPEND files $<TARGET_FILE:${part}>)
      endif()
    endif()
  endforeach()
  if(component STREQUAL "runtime")
    add_dependencies(package-runtime described)
    list(APPEND files ${described}/stamp)
  elseif(component STREQUAL "emulate" AND TARGET ptxasw_cudart_archive)
    list(APPEND files ${PROJECT_BINARY_DIR}/no-gpu/libptxasw_cudart.a)
  endif()
  install(CODE "set(files \"${files}\")
  foreach(file IN LISTS files)
    if(NOT EXISTS \${file})
      message(STATUS \"Building what ${component} lacks: \${file} and others\")
      execute_process(COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target package-${component}
                      OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
      break()
    endif()
  endforeach()" COMPONENT ${component})
endforeach()

install(TARGETS ptxasw RUNTIME COMPONENT runtime)
# Beside ../bin at a fixed place: the program and what it preloads find each other from where they lie.
foreach(library ptxasw-exec ptxasw_launch)
  if(TARGET ${library})
    install(TARGETS ${library} LIBRARY DESTINATION libexec/ptxasw COMPONENT runtime)
  endif()
endforeach()

# The runtime for programs without a GPU, where the toolkit's headers were there to build it: beside
# ptxasw, where no real cudart and no real driver is hidden by it.
if(TARGET ptxasw_cudart)
  install(TARGETS ptxasw_cudart ptxasw_cuda LIBRARY DESTINATION libexec/ptxasw/no-gpu COMPONENT emulate)
  install(FILES ${PROJECT_BINARY_DIR}/no-gpu/libptxasw_cudart.a ${PROJECT_BINARY_DIR}/no-gpu/libcudart_static.a
                ${PROJECT_BINARY_DIR}/no-gpu/libcudart.so.12
          DESTINATION libexec/ptxasw/no-gpu COMPONENT emulate)
endif()

# The program describes itself, so no page or completion can lack a command.
add_custom_command(OUTPUT ${described}/stamp
  COMMAND ${CMAKE_COMMAND} -DPTXASW=$<TARGET_FILE:ptxasw> -DDIRECTORY=${described} -P ${CMAKE_CURRENT_LIST_DIR}/describe.cmake
  DEPENDS ptxasw ${CMAKE_CURRENT_LIST_DIR}/describe.cmake
  COMMENT "Writing man pages and completions" VERBATIM)
add_custom_target(described ALL DEPENDS ${described}/stamp)
install(DIRECTORY ${described}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT runtime)
install(FILES ${described}/bash/ptxasw DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        COMPONENT runtime)
install(FILES ${described}/zsh/_ptxasw DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
        COMPONENT runtime)
install(FILES ${described}/fish/ptxasw.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
        COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/lint-codes DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(FILES ${described}/examples/ptxasw.toml DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT runtime)

if(TARGET ptxasw_launch_archive) # for --link-helper of the overlay's nvcc
  install(TARGETS ptxasw_launch_archive ARCHIVE DESTINATION libexec/ptxasw COMPONENT runtime)
endif()

install(TARGETS ptxasw_emulate LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT emulate
        PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT emulate)
file(RELATIVE_PATH from_pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/ptxasw_emulate.pc.in ${PROJECT_BINARY_DIR}/ptxasw_emulate.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ptxasw_emulate.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT emulate)
install(FILES ${PROJECT_SOURCE_DIR}/docs/examples/saxpy.c ${PROJECT_SOURCE_DIR}/docs/examples/saxpy.py
        ${PROJECT_SOURCE_DIR}/docs/examples/saxpy.ptx
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libptxasw-emulate/examples COMPONENT emulate)

# The libraries. A static library needs what it was built from at its user's link, so all layers up to the
# analyses are exported, and the generated parser.
foreach(library ${exported})
  string(REPLACE ptxasw_ "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
endforeach()
install(TARGETS ${exported} EXPORT ptxasw ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
foreach(layer grammar emulator analysis)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${layer} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ptxasw
          COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN generated EXCLUDE
          PATTERN "*_implementation.h" EXCLUDE)
endforeach()
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/ptxasw)
install(EXPORT ptxasw NAMESPACE ptxasw:: FILE ptxasw-targets.cmake DESTINATION ${package} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ptxasw-config.cmake.in
  ${PROJECT_BINARY_DIR}/ptxasw-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ptxasw-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ptxasw-config.cmake ${PROJECT_BINARY_DIR}/ptxasw-config-version.cmake
        DESTINATION ${package} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/examples/list_accesses
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libptxasw-dev/examples COMPONENT development)

# Debian wants these in every package: the licence, what changed, and what changed in the packaging.
set(debian_release 1)
set(PTXASW_MAINTAINER "" CACHE STRING
    "name and address of whoever gives the Debian packages to others; empty: the author of the last commit")
set(maintainer "${PTXASW_MAINTAINER}")
if(NOT maintainer)
  execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} log -1 "--format=%an <%ae>"
    OUTPUT_VARIABLE maintainer OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT maintainer) # an archive that git made
  file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/commit.txt maintainer REGEX "<[^%]*>")
endif()
string(TIMESTAMP today "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH, where it is set
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/changelog.Debian @ONLY CONTENT
"ptxasw (@PROJECT_VERSION@-@debian_release@) unstable; urgency=medium

  * Built from version @PROJECT_VERSION@; see changelog.gz.

 -- @maintainer@  @today@
")
set(changelogs "")
foreach(pair "${PROJECT_SOURCE_DIR}/CHANGELOG.md|changelog.gz" "${PROJECT_BINARY_DIR}/changelog.Debian|changelog.Debian.gz")
  string(REGEX MATCH "^(.*)\\|(.*)$" matched "${pair}")
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/${CMAKE_MATCH_2}
    COMMAND sh -c "gzip -9nc < '${CMAKE_MATCH_1}' > '${PROJECT_BINARY_DIR}/${CMAKE_MATCH_2}'"
    DEPENDS ${CMAKE_MATCH_1} VERBATIM)
  list(APPEND changelogs ${PROJECT_BINARY_DIR}/${CMAKE_MATCH_2})
endforeach()
add_custom_target(changelogs ALL DEPENDS ${changelogs})
foreach(pair "runtime|ptxasw" "emulate|libptxasw-emulate" "development|libptxasw-dev")
  string(REGEX MATCH "^(.*)\\|(.*)$" matched "${pair}")
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/copyright ${changelogs}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CMAKE_MATCH_2} COMPONENT ${CMAKE_MATCH_1})
endforeach()

# Takes away what the last `cmake --install` of this folder laid down.
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR}
  -P ${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake USES_TERMINAL VERBATIM)

include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)
