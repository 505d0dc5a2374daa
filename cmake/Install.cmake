# What `cmake --install` puts where. bgc finds its std modules by its own place (bin/../share/bgc/stdlib), so the tree can be moved
# as a whole.
install(TARGETS bgc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/stdlib/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bgc/stdlib
    FILES_MATCHING PATTERN "*.bgraph")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/bgc
    FILES_MATCHING PATTERN "*.md")
configure_file(${PROJECT_SOURCE_DIR}/bgc.pc.in ${PROJECT_BINARY_DIR}/bgc.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/bgc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_file(${PROJECT_SOURCE_DIR}/docs/bgc.1.in ${PROJECT_BINARY_DIR}/bgc.1 @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/bgc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
