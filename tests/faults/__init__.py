"""Faults from outside: processes that are killed or interrupted at any moment, full disks, little memory, files that are traps.

``faults.csv`` has the lines of ``python -m tests.faults --kills 500 --seed 1``;
it was made before interrupts of single commands were added, which are `long_commands`.
"""
