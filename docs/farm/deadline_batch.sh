#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Submits a file of jobs to Deadline 10, in eight parts, each of which is a task:
#
#     sh deadline_batch.sh /shared/jobs.jsonl 8
#
# A task that is requeued does what is not done yet. BLENDER names a Blender with the add-on USD Physics, as the workers
# see it.
exec "${DEADLINE_PATH:+$DEADLINE_PATH/}deadlinecommand" -SubmitCommandLineJob \
    -name "USD Physics Batch" \
    -executable "${BLENDER:-blender}" \
    -arguments "--command usdphys batch <QUOTE>$1<QUOTE> --shard <STARTFRAME>/${2:-8} --workers ${WORKERS:-2}" \
    -frames "1-${2:-8}" -chunksize 1
