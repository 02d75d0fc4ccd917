#!/bin/bash
# Written by runall cluster plan; sbatch submits it. Partition, account and time limit go
# on sbatch's command line; RUNALL and RESULTS may be set in its environment.
#SBATCH --job-name={{.Name}}
#SBATCH --array={{.First}}-{{.Last}}
#SBATCH --requeue
#SBATCH --cpus-per-task=1
#SBATCH --mem={{.Memory}}M
#SBATCH --signal=B:TERM@60
#SBATCH --open-mode=append
#SBATCH --output={{.Log}}
set -eu
{{template "place" .}}
export GOMAXPROCS="${SLURM_CPUS_PER_TASK:-1}" GOMEMLIMIT="${GOMEMLIMIT:-{{.Limit}}MiB}"
# In the place of this shell, so that runall gets the scheduler's signals.
exec "$RUNALL" cluster exec "$PLAN" --task "$SLURM_ARRAY_TASK_ID" --results "$RESULTS" ${DATA:+--data-dir "$DATA"} --progress plain
