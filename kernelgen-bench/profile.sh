#!/bin/sh
# Hardware counters of every kernel and variant of an unpacked archive, by Nsight Compute: one CSV
# file a variant in the folder profile/, for `report --ncu profile`.
# Usage: ./profile.sh [options of the runner, such as --kernel jacobi --size quick]
# The runner's own functions are left out: their names begin with "tool_".
set -eu
cd "$(dirname "$0")"
mkdir -p profile

stalls="smsp__average_warps_issue_stalled_.*_per_issue_active"
counters="smsp__inst_executed.sum,l1tex__data_pipe_lsu_wavefronts.sum,\
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,\
dram__bytes_read.sum,dram__bytes_write.sum,launch__registers_per_thread,\
sm__warps_active.avg.pct_of_peak_sustained_active,gpu__time_duration.sum"

for variant in $(./runner --list | sed -n 's/^variants: *//p' | sed 's/([^)]*)//g'); do
  echo "profiling variant $variant"
  ncu --csv --page raw --print-units base --clock-control base \
    --kernel-name-base function --kernel-name 'regex:^([^t]|t[^o])' \
    --metrics "regex:$stalls,$counters" --log-file "profile/$variant.csv" \
    ./runner --profile --block 512x1 --variant "$variant" "$@"
done
