"""Faults from outside: processes that are killed or interrupted at any moment, full disks, little memory, files that are traps.

``faults.csv`` has the lines of ``python -m tests.faults --kills 500 --seed 1`` (15 minutes), but for interrupts: one that comes
while the interpreter calls back from collected objects is lost by it, or leaves a line "Exception ignored".
"""
