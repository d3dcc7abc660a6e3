# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of `core.validate`, by topic. A rule is one function; its decorator holds code, severities and texts."""
