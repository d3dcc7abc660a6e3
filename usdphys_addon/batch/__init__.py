# SPDX-License-Identifier: GPL-3.0-or-later
"""Many files: jobs as lines of JSON, warm child processes that hold Blender, a results file that a rerun goes on with.

An executor of `concurrent.futures` or of Dask schedules the jobs. Each of its threads supervises one child (`worker`),
which runs one job after the other (`serve`). A crash or a hang ends the child, and costs that job alone.
"""
