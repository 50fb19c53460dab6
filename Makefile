# One front door. `make help` lists the rooms.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
UV     := UV_PYTHON_DOWNLOADS=never $(BIN)/uv
LOCK   := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate
TRIPLE := $(shell rustc -vV | sed -n 's/^host: //p')
STATIC := target/$(TRIPLE)/release/iosonde-agent
PAGE   := src/iosonde/serve/static/index.html
TYPES  := web/api/generated.ts
PREFIX ?= /usr/local
SHARE  := build/wheel/data/share
FRESH            ?= demo test
FUZZ_INPUTS      ?= 2000000
FUZZ_CONNECTIONS ?= 20000
MISCHIEF_SCHEDULES ?= 1000
MISCHIEF_KILLS     ?= 300
MISCHIEF_FILES     ?= 500
MISCHIEF_LAWS      ?= 2000

RUST_SOURCES := $(shell find rust schema -type f) Cargo.toml Cargo.lock
WEB_SOURCES  := $(shell find web -type f -not -path '*/node_modules/*' -not -path '*/dist/*')

.DEFAULT_GOAL := help
.PHONY: help build types demo test test-quick lint fresh format bench fuzz mischief pictures wheel man packages install uninstall lock services clean

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(BIN)/iosonde $(BIN)/iosonde-agent $(PAGE) ## leave .venv/bin/iosonde and .venv/bin/iosonde-agent

types: $(TYPES) ## web/api/generated.ts: TypeScript types of the API's answers, from its description

demo: build ## watch a directory of this machine, load it, say how slow it was; DEMO_SERVE=0 does not serve the page
	$(BIN)/iosonde demo

test: ## everything; fails if a service cannot be had. TESTS="tests/model ..." runs these of Python's alone
	$(MAKE) --no-print-directory -j2 build services
	$(if $(TESTS),,$(MAKE) --no-print-directory lint wheel)
	$(if $(TESTS),,cargo test --workspace --quiet)
	$(if $(TESTS),,cd web && npm test --silent)
	$(if $(TESTS),$(BIN)/pytest -rfEs -n 2 --dist loadfile $(TESTS),scripts/tests)

test-quick: build ## what needs no server, browser, mount or root
	cargo test --workspace --quiet
	cd web && npm test --silent
	$(BIN)/pytest -n 2 --dist loadfile -m "not service"

fresh: ## make demo and make test in a pristine Debian 12, as root. FRESH="build services" others, FRESH_CACHES=1 with caches of this machine
	scripts/fresh $(FRESH)

services: ## the programs that tests start, from the distribution; servers of S3 and MongoDB's protocol from Go modules
	PYTHON=$(PYTHON) scripts/services

lint: build ## formats, layers, circles, types
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet
	$(BIN)/python scripts/circles_rust.py
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python scripts/structure.py --check >/dev/null
	cd web && npm run --silent check

format: ## let the formatters have their way
	cargo fmt --all
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: build ## measure what docs/performance.md claims, for hours; ONLY="now month" takes some
	$(BIN)/python -m benchmarks claims $(ONLY)

fuzz: ## mutated configurations, spools, windows and requests; FUZZ_INPUTS=2000000 says how many of each
	IOSONDE_FUZZ_INPUTS=$(FUZZ_INPUTS) cargo test --release --quiet -p iosonde-probe --test fuzz_config --test fuzz_spool -- --nocapture
	IOSONDE_FUZZ_INPUTS=$(FUZZ_INPUTS) cargo test --release --quiet -p iosonde-agent --bin iosonde-agent http::fuzz -- --nocapture
	IOSONDE_FUZZ_CONNECTIONS=$(FUZZ_CONNECTIONS) cargo test --release --quiet -p iosonde-agent --test fuzz_http -- --nocapture

mischief: build ## simulated schedules, kills, lives of stores, damaged files, hostile stores and buckets; tables. MISCHIEF_SCHEDULES, _KILLS, _FILES, _LAWS
	scripts/mischief $(MISCHIEF_SCHEDULES) $(MISCHIEF_KILLS) $(MISCHIEF_FILES)
	$(BIN)/python -m tests.kit.law --schedules $(MISCHIEF_LAWS)
	$(BIN)/python -m tests.mischief --files $(MISCHIEF_FILES)
	$(BIN)/python -m tests.hostile

pictures: build services ## draw the pictures of the README anew
	$(BIN)/python scripts/pictures.py

man: $(BIN)/iosonde ## completions and manual pages, in build/wheel/data/share; a wheel carries them
	rm -rf $(SHARE)
	$(BIN)/python scripts/manual.py $(SHARE)

wheel: $(BIN)/iosonde $(BIN)/iosonde-agent $(PAGE) man ## one wheel with the extension, the agent, the page, completions, manual pages
	mkdir -p build/wheel/scripts && cp $(BIN)/iosonde-agent build/wheel/scripts/
	. $(BIN)/activate && maturin build --release --out dist

packages: $(BIN)/iosonde-agent man ## dist/iosonde-agent .deb and .rpm: the agent, which answers now and check, its unit, manual pages
	scripts/packages $(BIN)/iosonde-agent $(SHARE) dist

install: wheel ## below PREFIX (/usr/local): lib/iosonde, bin/iosonde, bin/iosonde-agent, completions, manual pages
	$(PYTHON) -m venv $(PREFIX)/lib/iosonde
	$(UV) pip install --quiet --python $(PREFIX)/lib/iosonde/bin/python --require-hashes -r requirements-run.lock
	$(UV) pip install --quiet --no-deps --reinstall-package iosonde --python $(PREFIX)/lib/iosonde/bin/python "$$(ls -t dist/iosonde-*.whl | head -1)"
	mkdir -p $(PREFIX)/bin $(PREFIX)/share
	ln -sf ../lib/iosonde/bin/iosonde ../lib/iosonde/bin/iosonde-agent $(PREFIX)/bin/
	cp -R $(SHARE)/. $(PREFIX)/share/
	(cd $(SHARE) && find . -type f) > $(PREFIX)/lib/iosonde/installed-share

uninstall: ## what `make install` put below PREFIX; stores, configurations and probes' files stay
	@test -f $(PREFIX)/lib/iosonde/installed-share || { echo "nothing is installed below $(PREFIX); try PREFIX=DIR" >&2; exit 1; }
	cd $(PREFIX)/share && xargs -r rm -f < $(abspath $(PREFIX))/lib/iosonde/installed-share
	rm -f $(PREFIX)/bin/iosonde $(PREFIX)/bin/iosonde-agent
	rm -rf $(PREFIX)/lib/iosonde

clean: ## remove what was built
	rm -rf target build dist $(VENV) web/node_modules src/iosonde/serve/static

$(BIN)/uv: requirements-uv.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip --quiet --disable-pip-version-check install --require-hashes -r requirements-uv.lock
	touch $@

$(VENV)/.packages: requirements.lock | $(BIN)/uv
	$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements.lock
	touch $@

lock: $(BIN)/uv ## pin the Python packages anew: of developers, of `make install` and containers, uv itself
	$(LOCK) pyproject.toml --group dev -o requirements.lock
	$(LOCK) pyproject.toml --constraints requirements.lock -o requirements-run.lock
	echo uv | $(LOCK) - -o requirements-uv.lock

$(BIN)/iosonde: $(VENV)/.packages $(RUST_SOURCES) pyproject.toml
	rm -rf build/wheel/scripts && mkdir -p build/wheel # else the agent of an earlier wheel replaces this one's
	. $(BIN)/activate && maturin develop --uv --release --quiet
	$(BIN)/python -m compileall -q src/iosonde
	touch $@

$(BIN)/iosonde-agent: $(RUST_SOURCES) | $(BIN)/uv
	RUSTFLAGS="-C target-feature=+crt-static" cargo build --release --quiet -p iosonde-agent --target $(TRIPLE)
	install -m 755 $(STATIC) $@

web/node_modules/.package-lock.json: web/package-lock.json
	cd web && npm ci --silent --no-fund --no-audit
	touch $@

$(TYPES): $(shell find src/iosonde/serve -name '*.py') scripts/openapi.py web/scripts/types.mjs | $(BIN)/iosonde web/node_modules/.package-lock.json
	mkdir -p build && $(BIN)/python scripts/openapi.py >build/openapi.json
	cd web && node scripts/types.mjs <../build/openapi.json >../build/generated.ts
	cp build/generated.ts $@

$(PAGE): web/node_modules/.package-lock.json $(WEB_SOURCES) $(TYPES)
	cd web && npm run --silent build
	touch $@
