// Asks the graph what it has for a device, the options what is wanted, and the machine what is there.
#include "jit/placement.hpp"

#include "base/log.hpp"
#include "transform/gpu/prepare.hpp"

namespace sdfg::jit {

namespace {

Placement cuda(const Options& o, const DeviceChoice& choice) {
  Placement p;
  p.kind = Placement::Kind::kCuda;
  if (*o.gpu_arch != "host") compiler::check_architecture(*o.gpu_arch);
  p.device = device::open(choice);
  const std::string wanted = *o.gpu_arch == "host" ? p.device->target().architecture : *o.gpu_arch;
  p.build = compiler::device_build_for(wanted, p.device->driver_version());
  p.reason = "kernels run on " + p.device->target().name + " (" + p.build.architecture + ")";
  return p;
}

Placement host(std::string reason) {
  Placement p;
  p.kind = Placement::Kind::kHost;
  p.reason = std::move(reason);
  return p;
}

}  // namespace

void Placement::write(ByteWriter& out) const {
  out.u8(static_cast<std::uint8_t>(kind));
  if (kind != Kind::kCuda) return;
  out.text(build.architecture);
  out.u8(static_cast<std::uint8_t>(build.kind));
  for (const std::string& id : compiler::device_build_ids()) out.text(id);
}

Placement place(const ir::Graph& g, const Options& o) {
  if (!transform::uses_device(g)) return {};
  switch (o.device->kind) {
    case DeviceChoice::Kind::kCpu: return host("kernels run as maps of the host: SDFG_DEVICE=cpu");
    case DeviceChoice::Kind::kCuda: return cuda(o, *o.device);
    case DeviceChoice::Kind::kEmulated: {
      Placement p;
      p.kind = Placement::Kind::kEmulated;
      p.device = device::open(*o.device);
      p.reason = "kernels run on the emulated device";
      return p;
    }
    case DeviceChoice::Kind::kAuto: break;
  }
  if (!device::cuda_available()) {
    warn_once(Logger::kDevice, "kernels run as maps of the host: there is no CUDA device");
    return host("kernels run as maps of the host: there is no CUDA device");
  }
  try {
    return cuda(o, {DeviceChoice::Kind::kCuda, o.device->ordinal});
  } catch (const Error& e) {
    warn_once(Logger::kDevice, "kernels run as maps of the host: " + e.message());
    return host("kernels run as maps of the host: " + e.message());
  }
}

}  // namespace sdfg::jit
