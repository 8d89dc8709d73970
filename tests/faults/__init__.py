"""Faults from outside: processes that are killed or interrupted at any moment, full disks, little memory, files that are traps.

``faults.csv`` has the lines of ``python -m tests.faults --kills 500 --seed 1`` (an hour), made part by part (``--parts``); kills
have ``--kills 560``.
"""
