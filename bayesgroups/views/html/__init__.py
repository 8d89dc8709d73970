"""A report as one self-contained page: no script, no font and no picture from elsewhere."""

from bayesgroups.views.html.page import write_html as write_html
from bayesgroups.views.html.systems_page import write_systems_html as write_systems_html
