extern "C" __attribute__((visibility("default"))) const int adaptyst_opencl_interposer = 1;
