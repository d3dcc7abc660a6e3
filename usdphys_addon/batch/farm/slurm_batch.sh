#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Does a file of jobs on a Slurm cluster, in eight parts:
#
#     sbatch --array=1-8 slurm_batch.sh /shared/jobs.jsonl
#
# The same command again does what is not done yet. BLENDER names a Blender with the add-on USD Physics.
#SBATCH --job-name=usdphys
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --requeue

exec "${BLENDER:-blender}" --command usdphys batch "$1" \
    --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
    --workers "${SLURM_CPUS_PER_TASK:-1}"
