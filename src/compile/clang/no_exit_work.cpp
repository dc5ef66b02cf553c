// Keeps LLVM's static objects alive until the process is gone.
//
// A lane may compile while another thread leaves main(). Destroying LLVM's option tables under it would crash, and
// waiting for it would block the exit. The symbol is local to this library, so only its own static objects are
// affected; the library is opened with RTLD_NODELETE and never unloaded.
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*, void*) {
  return 0;
}
