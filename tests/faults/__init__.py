"""Faults from outside: processes that are killed or interrupted at any moment, full disks, little memory, files that are traps."""
