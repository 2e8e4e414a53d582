# Two commands for everybody: `make run` and `make test`. Both build what they need.
CARGO ?= cargo
RUN ?= runs/default
TRIBUNAL = target/debug/tribunal

.PHONY: run test build plugins bench reproducible check clean

run: plugins ## the main job: every scripted policy over the analytics suite, a table and a page
	$(TRIBUNAL) run --suite analytics --policy all --out $(RUN) --overwrite

test: plugins ## everything: formatting, unit, property, conformance and end-to-end tests
	./.ci/test

build:
	$(CARGO) build --workspace

plugins: build
	$(TRIBUNAL) build

bench: plugins ## measure, beside yardsticks of the same run
	$(CARGO) bench --profile dev -p tribunal-tests

reproducible: ## build guests in two places and compare their bytes (minutes)
	$(CARGO) test -p tribunal-component --test guest -- --ignored

check: ## quick: formatting and lints
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

clean:
	rm -rf target runs
