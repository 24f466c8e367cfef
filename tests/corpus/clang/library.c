// VARIANTS: sm_75 ptx63 -O2 | sm_80 ptx70 -O1 | sm_60 ptx50 -Os | sm_75 ptx63 -O2 -g -gdwarf-2
typedef unsigned long size;
typedef __attribute__((ext_vector_type(2))) double Double2;
typedef int (*Compare)(const void *, const void *);

int shared_counter;
static const char words[2][6] = {"alpha", "beta"};
__attribute__((weak)) int weak_function(int x) { return x + 1; }

size length(const char *s) {
  size n = 0;
  while (s[n])
    ++n;
  return n;
}

void sort(char *base, size count, size width, Compare compare) {
  for (size i = 1; i < count; ++i)
    for (size j = i; j && compare(base + j * width, base + (j - 1) * width) < 0; --j)
      for (size k = 0; k < width; ++k) {
        const char t = base[j * width + k];
        base[j * width + k] = base[(j - 1) * width + k];
        base[(j - 1) * width + k] = t;
      }
}

Double2 mixed(Double2 a, const __fp16 *h, __int128 w, _Bool b) {
  a.x += (float)*h + (double)(long)(w >> 7);
  a.y = b ? a.x : weak_function((int)w) + shared_counter;
  __atomic_fetch_add(&shared_counter, length(words[b]), __ATOMIC_SEQ_CST);
  return a;
}

int dense(int n) {
  switch (n) {
  case 0:
    return 5;
  case 1:
    return weak_function(3);
  case 2:
    return shared_counter;
  case 3:
    return -n;
  case 4:
    return n * n;
  case 5:
    shared_counter = 2;
    return 1;
  }
  __asm__ volatile("{ .reg .pred p; setp.ne.b32 p, %0, 0; @p trap; }" ::"r"(n));
  return 0;
}
