// Opens a plug-in that uses the library, calls it, closes it, again and again: the library's sleeping threads must
// survive.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>

int main(int count, char** arguments) {
  if (count < 2) return 2;
  for (int round = 0; round < 3; ++round) {
    void* plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    auto* run = reinterpret_cast<int (*)(int)>(dlsym(plugin, "plugin_run"));
    if (run == nullptr || run(3 + round) != 0) return std::fputs("wrong result\n", stderr), 1;
    dlclose(plugin);
    usleep(30'000);
  }
  return 0;
}
