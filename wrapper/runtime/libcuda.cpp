// Nothing: libcuda.so.1 is a name behind which libcudart.so.13 is found, so that the Driver API and
// the Runtime API of a process are one.
