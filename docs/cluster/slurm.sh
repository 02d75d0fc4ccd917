#!/bin/bash
# A job array of N shards: sbatch --array=1-N docs/cluster/slurm.sh N [SPEC... FLAG...]
#SBATCH --job-name=polk
#SBATCH --requeue
#SBATCH --cpus-per-task=1
#SBATCH --mem=4G
#SBATCH --signal=B:TERM@60
#SBATCH --open-mode=append
#SBATCH --output=shard-%a.out
export GOMAXPROCS="$SLURM_CPUS_PER_TASK" GOMEMLIMIT="$((SLURM_MEM_PER_NODE * 9 / 10))MiB"
# In the place of this shell, so that runall gets the scheduler's signals.
exec "${RUNALL:-bin/runall}" reproduce "${@:2}" --shard "$SLURM_ARRAY_TASK_ID/$1" \
	--results "shards/$SLURM_ARRAY_TASK_ID" --require-data --progress plain
