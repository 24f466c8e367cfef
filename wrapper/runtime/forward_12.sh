#!/bin/sh
# forward_12.sh OBJECT... > ASSEMBLY: the Runtime API's functions once more, with the version of symbols that programs
# linked with libcudart.so.12 ask for. Each leads to the function of its name, or to the one with _cuda12 behind
# it where CUDA 12's has other parameters, and notes that a program of CUDA 12 is there.
set -eu
nm --defined-only "$@" | awk '
  $2 == "T" && $3 ~ /^(cuda|__cuda)/ { defined[$3] = 1 }
  END {
    for (name in defined)
      if (name !~ /_cuda12$/) {
        one = name
        sub(/_pt[sd][sz]$/, "", one) # the default stream of a thread is the same function
        target = one "_cuda12" in defined ? one "_cuda12" : name
        printf "\t.globl ptxasw_12_%s\n\t.type ptxasw_12_%s, @function\n", name, name
        printf "\t.symver ptxasw_12_%s, %s@libcudart.so.12, remove\n", name, name
        printf "ptxasw_12_%s:\n\tmovb $1, ptxasw_seen_cuda_12(%%rip)\n\tjmp %s@PLT\n", name, target
      }
    print "\t.section .note.GNU-stack,\"\",@progbits"
  }'
