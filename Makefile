# A thin layer over CMake (CMakePresets.json) and scripts/. Each target first installs what it needs and is
# missing; `make SETUP=: ...` leaves that out.
SETUP ?= scripts/setup
# Where `make install` goes: DESTDIR stands before everything, for those who make packages.
PREFIX ?= /usr/local
DESTDIR ?=
# That of Debian, whose packages have NumPy and SciPy; another may stand before it on the PATH.
PYTHON ?= /usr/bin/python3

.PHONY: all demo gallery python web test test-unit test-release test-long test-apps test-mpi bench docs install uninstall format clean help

all: ## build the program: build/drape
	@$(SETUP)
	@cmake --preset release -DDRAPE_TESTS=OFF >/dev/null
	@cmake --build --preset release

demo: all ## build, simulate, and leave something to look at in demo/
	@scripts/demo

gallery: all ## simulate all scenes that please and show them on one page: gallery/index.html
	@scripts/gallery

python: ## build the Python module: PYTHONPATH=build/python python3 -c 'import drape'
	@$(SETUP) --python
	@cmake --preset release -DDRAPE_TESTS=OFF >/dev/null
	@cmake --build --preset release --target drape
	@cd python && DRAPE_BUILD=../build $(PYTHON) setup.py -q build --build-base ../build/python-temp --build-lib ../build/python
	@echo "PYTHONPATH=build/python $(PYTHON) -c 'import drape'"

web: ## build the page that simulates in a browser: web/dist/index.html
	@$(SETUP) --web
	@scripts/web

test: ## build and run every test, also under sanitizers, and the fuzzers for a while
	@$(SETUP) --test
	@scripts/test

test-unit: ## the release tests of base, sparse, linear and ode: half a minute, after the first build
	@$(SETUP) --test
	@scripts/test unit

test-release: ## every test, built with gcc and optimised: six minutes on two cores
	@$(SETUP) --test
	@scripts/test release

test-long: ## sanitizers, hostile input, fuzzers: twenty minutes on two cores
	@$(SETUP) --test
	@scripts/test asan hostile tsan fuzz

test-apps: all ## try the results in a browser and in Blender
	@$(SETUP) --apps
	@scripts/test-apps

test-mpi: ## try drape-mpi, which runs on PETSc and MPI: a minute on two cores
	@$(SETUP) --mpi
	@scripts/test-mpi

bench: ## build and run the benchmarks, some thirty minutes
	@$(SETUP) --bench
	@cmake --preset release -DDRAPE_TESTS=OFF >/dev/null
	@cmake --build --preset release --target drape-program drape-bench
	@build/bench/drape-bench all

docs: ## the manual and the reference of the headers as a site: site/index.html
	@$(SETUP) --docs
	@scripts/docs

install: ## install program, libraries, headers, manual: PREFIX=/usr/local, DESTDIR=
	@$(SETUP)
	@cmake --preset release -DDRAPE_TESTS=OFF -DCMAKE_INSTALL_PREFIX="$(abspath $(PREFIX))" >/dev/null
	@cmake --build --preset release
	@DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(abspath $(PREFIX))" --strip
	@cp build/install_manifest.txt build/installed.txt
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" -ne 0 ] || ldconfig # so that programs find a new shared library

uninstall: ## remove what `make install` put there
	@DESTDIR="$(DESTDIR)" scripts/uninstall build/installed.txt

format: ## lay out the C code with clang-format
	@$(SETUP) --format
	@find include src cli bench tests examples '(' -name '*.[ch]' -o -name '*.cpp' ')' -exec clang-format -i {} +

clean: ## remove everything that was built
	rm -rf build build-* demo gallery site web/dist

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile
