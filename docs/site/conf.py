# conf.py: the site that `make docs` builds (scripts/docs) from docs/*.md by Sphinx, with the theme Furo. Nothing on it is loaded from elsewhere.
import os

project = "drape"
author = "the authors of drape"
copyright = "the authors of drape"
release = os.environ.get("DRAPE_VERSION", "")
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
myst_heading_anchors = 4
myst_enable_extensions = []
suppress_warnings = ["myst.header"]  # pages may begin with any level
highlight_language = "none"
pygments_style = "tango"
pygments_dark_style = "monokai"
html_theme = "furo"
html_title = "drape"
html_static_path = ["_static"]
html_css_files = ["drape.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False

LONG = 45  # a column with a cell of this many letters gets more space on a phone (drape.css)
SHORT = 10  # a cell of at most this many letters, such as two figures, stays on one line


def mark_cells(app, doctree, name):
    """Gives the cells of columns with long texts the class `long`, and cells with short texts the class `short`."""
    from docutils import nodes

    for group in doctree.findall(nodes.tgroup):
        rows = [list(row.findall(nodes.entry)) for row in group.findall(nodes.row)]
        for cells in zip(*rows):
            if max(len(cell.astext()) for cell in cells) >= LONG:
                for cell in cells:
                    cell["classes"].append("long")
            for cell in cells:
                if len(cell.astext()) <= SHORT:
                    cell["classes"].append("short")


def setup(app):
    app.connect("doctree-resolved", mark_cells)
