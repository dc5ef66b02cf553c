// Carries the precompiled Catch2 header; test executables reuse it.
