# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of `core.validate`, by concept. A rule is one function with a decorator that says all about it."""
