# SPDX-License-Identifier: GPL-3.0-or-later
"""Work that must not block the window: jobs in slices of Blender's main thread, and one thread beside its importer."""
