"""Public data sets that the reproductions read from a folder; nothing is fetched.

Each function takes the path of its data and answers with a pandas DataFrame.
"""

from examples.published.data.adult import load_adult as load_adult
from examples.published.data.bios import load_bios_confusion as load_bios_confusion
from examples.published.data.bios import load_bios_runs as load_bios_runs
from examples.published.data.common_voice import load_common_voice as load_common_voice
from examples.published.data.compas import load_compas as load_compas
from examples.published.data.dressel_farid import load_dressel_farid as load_dressel_farid
