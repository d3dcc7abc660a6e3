#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Does a file of jobs on a Slurm cluster, in eight parts:
#
#     sbatch --array=1-8 slurm_batch.sh /shared/jobs.jsonl
#
# The same command again does what is not done yet. To do single parts again, such as the fourth and the sixth, say how
# many parts there are, because Slurm then counts two:
#
#     sbatch --array=4,6 slurm_batch.sh /shared/jobs.jsonl 8
#
# BLENDER names a Blender with the add-on USD Physics.
#SBATCH --job-name=usdphys
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --requeue

if [ -z "$2" ] && [ "$SLURM_ARRAY_TASK_MIN-$SLURM_ARRAY_TASK_MAX" != "1-$SLURM_ARRAY_TASK_COUNT" ]; then
    echo "$0: only some parts are asked for; add their whole number behind the file of jobs, such as: $1 8" >&2
    exit 2
fi
exec "${BLENDER:-blender}" --command usdphys batch "$1" \
    --shard "$SLURM_ARRAY_TASK_ID/${2:-$SLURM_ARRAY_TASK_COUNT}" \
    --workers "${SLURM_CPUS_PER_TASK:-1}"
