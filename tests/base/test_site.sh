#!/usr/bin/env bash
# `make docs`: builds without a warning, loads nothing from elsewhere, has a search index, and its links lead somewhere.
# shellcheck disable=SC2317 source=tests/support/shell.sh
source "$1/tests/support/shell.sh"
source_dir=$1

is_there() { command -v sphinx-build >/dev/null && command -v doxygen >/dev/null && /usr/bin/python3 -c 'import furo, myst_parser' 2>/dev/null; }

builds() {
    is_there || skip "Sphinx, MyST, Furo or Doxygen is missing (scripts/setup --docs)"
    "$source_dir/scripts/docs" "$scratch/site"
    [ -s "$scratch/site/searchindex.js" ]
    [ -s "$scratch/site/reference/group__solve__h.html" ]
}

built() { [ -s "$scratch/site/index.html" ] || skip "there is no site"; }

# Links that a reader may follow are fine; scripts, styles, fonts and pictures are not.
loads_nothing_from_elsewhere() {
    built
    ! grep -rlE '(<script[^>]*src|<link[^>]*href|<img[^>]*src)="(https?:)?//' "$scratch/site" --include='*.html'
    ! grep -rlE '@import|url\((https?:)?//' "$scratch/site" --include='*.css'
}

links_lead_somewhere() {
    built
    python3 - "$scratch/site" <<'PYTHON'
import glob, os, re, sys
from urllib.parse import unquote
root, bad, count = sys.argv[1], [], 0
for page in glob.glob(root + "/*.html") + glob.glob(root + "/notes/*.html"):
    for target in re.findall(r'(?:href|src)="([^"]+)"', open(page).read()):
        path = unquote(target.split("#")[0].split("?")[0])
        if re.match(r"[a-z]+:", target) or not path:
            continue
        count += 1
        if not os.path.exists(os.path.join(os.path.dirname(page), path)):
            bad.append(f"{os.path.relpath(page, root)}: {target}")
print("\n".join(bad))
sys.exit(1 if bad or count < 100 else 0)
PYTHON
}

run_test builds builds
run_test loads_nothing_from_elsewhere loads_nothing_from_elsewhere
run_test links_lead_somewhere links_lead_somewhere
finish_tests
