/* In front of GCC's OpenACC library: an offloaded kernel is handed to the test, with its host version
   and the addresses of what it reads and writes. The PTX takes these addresses as a structure. */
#include <stddef.h>

typedef void Hook(void (*host)(void *), size_t count, void **addresses);
static Hook *hook;

void set_hook(Hook *to) { hook = to; }

void GOACC_parallel_keyed(int flags, void (*host)(void *), size_t count, void **addresses,
                          size_t *sizes, unsigned short *kinds, ...) {
  (void)flags, (void)sizes, (void)kinds;
  hook(host, count, addresses);
}
