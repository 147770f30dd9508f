# agtmux. Two commands are enough: `make start` and `make test`. Both set up everything they need, on a machine with no
# more than npm. Works with GNU make 3.81 (macOS) and newer; the steps themselves are small sh scripts in scripts/.

SHELL := /bin/sh
RUN := sh scripts/run.sh
SEEDS ?= 20000
FROM ?= 1

# Fuzz, fault and adversary suites read COUNT. Unset they take their own small number.
ifdef COUNT
export COUNT
endif

REPORTS := coverage
REPORTERS := --reporter=default --reporter=json

.PHONY: help start test test-agents test-tmux test-terminals test-editor test-hub editor build package deb corpus check static unit setup references sim clocks mutants proof upgrades bench walk coverage clean test-package docs pictures first-minute

help:
	@echo 'make start          set up, build, and list your agents; where there are none, open the board with simulated ones'
	@echo 'make test           set up, and pass every test (COUNT=n for longer fuzz and fault suites)'
	@echo 'make test-agents    fetch the real agents (1.4 GB) and lead each through every state (AGENTS="claude codex" for some)'
	@echo 'make test-tmux      run the suites in which the version of tmux matters, and print a table (TMUX="/path/tmux /other/tmux")'
	@echo 'make test-terminals install kitty, Xvfb and GNU screen, and act on agents in them (COUNT=200 for the whole run)'
	@echo 'make editor         the VS Code extension as a .vsix, in $(REPORTS)/'
	@echo 'make test-editor    install VS Code as a server, Chromium and Neovim, and try the extension and the plugin in them'
	@echo 'make test-hub       install NATS and PostgreSQL, and pass the suites of the hub on them, under load and kills (COUNT=seconds)'
	@echo 'make corpus         the labelled screens and their scorer, for other tools (corpus/README.md)'
	@echo 'make check          types, lint, layers, unused code, unit tests: before every commit'
	@echo 'make build          bundle src/ into dist/'
	@echo 'make package        the tarball that users install, in $(REPORTS)/'
	@echo 'make deb            the same as a Debian package, which brings its own Node'
	@echo 'make test-package   install both as users do, without Node and with Node 22, 24 and 26, and remove them again'
	@echo 'make docs           all documents as pages to search in, in $(REPORTS)/docs; says which links lead nowhere'
	@echo 'make pictures       make the pictures in docs/ again: the pages in a browser, the board on a terminal'
	@echo 'make first-minute   play the first minute from git clone to an answered request, and write docs/first-minute.md'
	@echo 'make references     renew src/README.md, docs/config.md and the reference in docs/cli.md from the code'
	@echo 'make sim SEEDS=n    n seeded schedules against the reference fold (default $(SEEDS))'
	@echo 'make clocks SEEDS=n n scripts of clocks that are set, drift and sleep, against steady ones (default $(SEEDS))'
	@echo 'make mutants        plant every known bug and see that the simulation catches it'
	@echo 'make proof          try every promise again and again, over several sittings (QUICK=1, PLANTED=1, MINUTES=n, ONLY=name)'
	@echo 'make upgrades       bring earlier states to this one and back with everything alive (STATES="commit tag")'
	@echo 'make bench          measure, and print one table'
	@echo 'make walk           count files, importers, circles of folders and the files of three paths'
	@echo 'make coverage       branch coverage of the pure rooms, as text and HTML in coverage/'
	@echo 'make clean          remove what was built and fetched'

setup:
	@sh scripts/setup.sh

build:
	@sh scripts/build.sh

package: build
	@$(RUN) node scripts/pack.ts npm $(REPORTS)

deb: build
	@$(RUN) node scripts/pack.ts deb $(REPORTS)

editor: setup
	@$(RUN) node scripts/editor.ts $(REPORTS)

# Fetches the supported versions of Node from npm, and wants Linux with namespaces.
test-package: build
	@$(RUN) node scripts/test-package.ts

docs: setup
	@$(RUN) node scripts/docs.ts $(REPORTS)/docs

corpus: setup
	@$(RUN) node corpus/build.ts $(REPORTS)/agtmux-corpus.tgz

# Needs a browser, which the tests need as well.
pictures: setup
	@sh scripts/system-packages.sh browser
	@sh scripts/build.sh
	$(RUN) node scripts/board-picture.ts
	$(RUN) node scripts/screenshots.ts

first-minute: setup
	@sh scripts/system-packages.sh
	$(RUN) node scripts/first-minute.ts

start:
	@sh scripts/system-packages.sh
	@./agtmux demo --auto

# Everything that needs no test run.
static: setup
	$(RUN) tsc -p tsconfig.json
	$(RUN) tsc -p tsconfig.pure.json
	$(RUN) tsc -p tsconfig.web.json
	$(RUN) tsc -p editors/vscode/tsconfig.json
	$(RUN) tsc -p tsconfig.worker.json
	$(RUN) biome check --error-on-warnings .
	$(RUN) depcruise --config .dependency-cruiser.cjs --output-type err-long src test bench scripts corpus
	$(RUN) knip

# Many files in one process, which takes half the time; `make test` gives each file one of its own.
unit: setup
	$(RUN) vitest run --project unit --no-isolate

check: static unit

# The last line says what vitest counted: the build machine reads it. Whole-system suites are part of the vitest run; they
# mostly wait for other programs, so three run at once on two cores.
test: setup
	@sh scripts/system-packages.sh browser
	@rm -f $(REPORTS)/unit.json $(REPORTS)/system.json
	$(MAKE) --no-print-directory static
	@sh scripts/build.sh
	$(RUN) vitest run --project unit --coverage $(REPORTERS) --outputFile=$(REPORTS)/unit.json
	$(RUN) vitest run --project system --maxWorkers=3 $(REPORTERS) --outputFile=$(REPORTS)/system.json
	$(RUN) node test/sim/main.ts --seeds 2000
	$(RUN) node test/sim/main.ts --clocks --seeds 2000
	@./agtmux --version
	$(RUN) publint
	@$(RUN) node scripts/closing-line.ts

# The real programs against mock models on this machine: large, therefore no part of `make test`.
test-agents: setup
	@sh scripts/system-packages.sh
	@sh scripts/agents.sh
	@sh scripts/build.sh
	$(RUN) node test/agents/main.ts $(AGENTS)

# The suites that depend on tmux with other programs than the installed one, which stand in TMUX. Inside of tmux there is a
# variable of that name, which says something else.
test-tmux: setup
	@sh scripts/system-packages.sh
	@sh scripts/build.sh
	@unset TMUX; $(RUN) node scripts/test-tmux.ts $(if $(filter command line,$(origin TMUX)),$(TMUX))

# Real terminals on a display of their own: kitty needs a hundred megabytes of libraries, therefore no part of `make test`.
test-terminals: setup
	@sh scripts/system-packages.sh terminals
	@sh scripts/build.sh
	$(RUN) vitest run --project terminals

# VS Code as a server takes 600 MB, therefore no part of `make test`.
test-editor: setup
	@sh scripts/system-packages.sh
	@sh scripts/system-packages.sh editor
	@sh scripts/editor.sh
	@sh scripts/build.sh
	$(RUN) vitest run --project editor

# The hub on engines of its own, under load and kills (COUNT=600 for ten minutes of that), and with machines in networks of their own,
# which needs Linux and root.
test-hub: setup
	@sh scripts/system-packages.sh hub
	@sh scripts/build.sh
	$(RUN) vitest run --project hub --no-file-parallelism

references: setup
	$(RUN) node scripts/references.ts

sim: setup
	$(RUN) node test/sim/main.ts --seeds $(SEEDS) --from $(FROM)

clocks: setup
	$(RUN) node test/sim/main.ts --clocks --seeds $(SEEDS) --from $(FROM)

mutants: setup
	$(RUN) node test/sim/main.ts --mutants --seeds $(SEEDS)
	$(RUN) node test/sim/main.ts --mutants --clocks --seeds $(SEEDS)

# Hours for the whole table; goes on where it was stopped, and writes docs/reliability.md.
proof: setup
	@sh scripts/system-packages.sh
	@sh scripts/build.sh
	@$(RUN) node test/proof/main.ts $(if $(QUICK),--quick) $(if $(PLANTED),--planted) $(if $(REPORT),--report) \
		$(if $(ONLY),--only '$(ONLY)') $(if $(MINUTES),--minutes $(MINUTES)) $(if $(PIECES),--pieces $(PIECES))

# Three earlier states, if no others are named; each is built in a temporary folder.
STATES ?= HEAD~25 HEAD~50 HEAD~75
upgrades: setup
	@sh scripts/build.sh
	$(RUN) node test/upgrade/main.ts $(STATES)

bench: setup
	$(RUN) node bench/main.ts

walk: setup
	@$(RUN) node scripts/walk.ts

coverage: setup
	$(RUN) vitest run --coverage --coverage.reporter=text --coverage.reporter=html

clean:
	rm -rf dist dist.* coverage .agents .runtime node_modules
