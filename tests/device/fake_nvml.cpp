// Stands in for NVML: one GPU at 0000:1b:00.0, warm and held down by its power limit.
#include <cstring>

extern "C" {

int nvmlInit_v2() {
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  static int gpu = 0;
  *device = &gpu;
  return std::strcmp(bus, "0000:1b:00.0") == 0 ? 0 : 6;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
  *mhz = type == 1 ? 1410 : type == 2 ? 3201 : 0;
  return 0;
}
int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
  *celsius = 77;
  return sensor;
}
/// An older driver: no function of the newer name.
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits) {
  *bits = 0x1 | 0x4 | 0x40;
  return 0;
}
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::strncpy(text, "580.65.06", length);
  return 0;
}

}  // extern "C"
