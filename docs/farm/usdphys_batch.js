// SPDX-License-Identifier: GPL-3.0-or-later
// A job type for Flamenco 3: each task does one part of a file of jobs. Put it into the folder "scripts" beside the
// manager. All workers need the add-on USD Physics in their Blender, and see the files under the same names.

const JOB_TYPE = {
    label: "USD Physics Batch",
    description: "Convert, check and simulate many files. Each line of the file of jobs is one job.",
    settings: [
        { key: "jobs", type: "string", subtype: "file_path", required: true, visible: "submission",
          description: "File of jobs, a line of JSON each, with absolute names" },
        { key: "parts", type: "int32", default: 10, visible: "submission",
          description: "How many tasks share the jobs" },
        { key: "workers", type: "int32", default: 2, visible: "submission",
          description: "Processes with Blender per task" },
        { key: "timeout", type: "int32", default: 600, visible: "submission",
          description: "Seconds after which a job hangs" },
    ]
};

function compileJob(job) {
    const settings = job.settings;
    const parts = Math.max(1, settings.parts);
    for (let part = 1; part <= parts; part++) {
        const task = author.Task(`part ${part} of ${parts}`, "blender");
        // A task that fails is tried again by Flamenco: it then does what is not done yet.
        task.addCommand(author.Command("exec", {
            exe: "{blender}",
            args: [
                "--command", "usdphys", "batch", settings.jobs,
                "--shard", `${part}/${parts}`,
                "--workers", `${settings.workers}`,
                "--timeout", `${settings.timeout}`,
            ],
        }));
        job.addTask(task);
    }
}
