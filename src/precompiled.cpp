// Has the standard library's headers precompiled for all rooms; what these are is in CMakeLists.txt.
