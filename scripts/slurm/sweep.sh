#!/bin/sh
# One shard of a sweep, as a task of a Slurm array. DIR is on a disk that all nodes share,
# and qsim is in the PATH:
#
#   sbatch --array=0-7 sweep.sh 8 DIR SCENARIO --vary KEY=VALUES...
#   qsim merge DIR
#
# Shards that are missing are submitted again by their numbers; their finished cells are not
# computed again:
#
#   sbatch --array="$(qsim merge DIR --missing)" sweep.sh 8 DIR SCENARIO --vary KEY=VALUES...
#
#SBATCH --job-name=qsim-sweep
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --requeue
set -eu
shards=$1
dir=$2
shift 2
exec qsim sweep "$@" --shard "$SLURM_ARRAY_TASK_ID/$shards" --out "$dir" --parallel "${SLURM_CPUS_PER_TASK:-1}"
