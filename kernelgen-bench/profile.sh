#!/bin/sh
# Hardware counters of every kernel and variant of an unpacked archive, by Nsight Compute: one CSV
# file per variant in the folder profile/, for `report --ncu profile`. Counters that this GPU or
# this version of the profiler does not have are left out. Clocks stay as they are.
# Usage: ./profile.sh [options of the runner, such as --kernel jacobi --size quick]
# The runner's own functions are left out: their names begin with "tool_".
set -eu
cd "$(dirname "$0")"
if ! command -v ncu >/dev/null; then
  echo "profile.sh: ncu (NVIDIA Nsight Compute, of the CUDA toolkit) is not on PATH" >&2
  exit 1
fi
mkdir -p profile
echo "--block 512x1${*:+ $*}" >profile/options

counters="smsp__inst_executed.sum
smsp__inst_issued.sum
smsp__issue_active.avg.pct_of_peak_sustained_active
smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum
smsp__thread_inst_executed_per_inst_executed.ratio
sm__inst_executed_pipe_lsu.sum
l1tex__data_pipe_lsu_wavefronts.sum
l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed
l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed
l1tex__lsu_writeback_active.avg.pct_of_peak_sustained_elapsed
l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct
lts__t_sectors_srcunit_tex_op_read.sum
lts__t_sectors.avg.pct_of_peak_sustained_elapsed
dram__bytes_read.sum
dram__bytes_write.sum
dram__throughput.avg.pct_of_peak_sustained_elapsed
sm__warps_active.avg.pct_of_peak_sustained_active
gpu__time_duration.sum"
for reason in barrier branch_resolve dispatch_stall drain gmma imc_miss lg_throttle long_scoreboard \
  math_pipe_throttle membar mio_throttle misc no_instruction not_selected selected short_scoreboard \
  sleeping tex_throttle wait; do
  counters="$counters
smsp__average_warps_issue_stalled_${reason}_per_issue_active.ratio"
done

ncu --query-metrics | sed -n 's/^ *\([a-z0-9]*__[a-zA-Z0-9_]*\).*/\1/p' | sort -u >profile/known.txt
metrics=launch__registers_per_thread
for counter in $counters; do
  if grep -qx "${counter%%.*}" profile/known.txt; then
    metrics="$metrics,$counter"
  else
    echo "no counter $counter here"
  fi
done

for variant in $(./runner --list | sed -n 's/^variants: *//p' | sed 's/([^)]*)//g'); do
  echo "profiling variant $variant"
  ncu --csv --page raw --print-units base --clock-control none \
    --kernel-name-base function --kernel-name 'regex:^([^t]|t[^o])' \
    --metrics "$metrics" --log-file "profile/$variant.csv" \
    ./runner --profile --block 512x1 --variant "$variant" "$@"
done
