# Everything a person runs. Each target sets up .venv when it is missing or out of date.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
SETUP := .venv/.done
EXTRAS := .venv/.extras
DEMO := runs/demo
CUP := runs/cup
PAIRS := 60
BENCHMARK := runs/benchmark/benchmark
RULES := fives-and-threes:players=2
MEETINGS := $(addprefix fives-and-threes-2/,greedy/$(RULES)/9000 greedy/$(RULES),mode=round/20000 tactic/$(RULES)/4000 pimc:64/$(RULES)/600) \
  threes-and-fives-2/greedy/threes-and-fives:players=2/2000 all-fives-2/greedy/all-fives:players=2/2000 \
  fives-and-threes-4-partners/greedy/fives-and-threes:players=4/2000
export MPLBACKEND := Agg

.PHONY: setup demo test test-extras test-nightly lint cup strength exact ladder benchmark measured results clean

demo: $(SETUP)  ## train an agent, let it play a tournament, measure speed, write a page
	rm -rf $(DEMO)
	$(BIN)/python -m train selfplay --rules $(RULES) --minutes 2 --seed 1 --out $(DEMO)/train
	$(BIN)/python -m eval tournament --agents model:$(DEMO)/train tactic careful greedy random --rules $(RULES) --pairs 1000 --seed 1 --workers 2 --out $(DEMO)/tournament
	$(BIN)/python -m eval benchmark --json $(DEMO)/benchmark/benchmark.json --seconds 0.1
	$(BIN)/python -m eval report --demo $(DEMO)
	@echo "The page of results is $(DEMO)/report.html"

setup: $(SETUP)  ## .venv, with what the commands and the tests need

test: $(SETUP)  ## the whole test suite
	$(BIN)/python -m tests.warm_up
	$(BIN)/python -m pytest -n 2 --dist loadfile --ignore tests/extras --ignore tests/nightly

test-extras: $(EXTRAS)  ## what needs Ray, OpenSpiel or ONNX
	$(BIN)/python -m pytest tests/extras

test-nightly: $(SETUP)  ## 300,000 decisions of each trainer in every preset: about five minutes
	$(BIN)/python -m pytest -n 2 tests/nightly

lint: $(SETUP)  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

cup: $(SETUP)  ## the tournament of docs/results.md: eight agents in three games, about a quarter of an hour
	for game in fives-and-threes threes-and-fives all-fives; do \
	  $(BIN)/python -m eval tournament --rules $$game:players=2 --pairs $(PAIRS) --seed 1 --workers 2 --block 20 --anchor greedy --out $(CUP)/$$game \
	    --agents random greedy careful tactic pimc:16 pimc:64 ismcts:1000 model:$$game-2 || exit 1; \
	done
	$(BIN)/python -m eval report --tournament $(CUP)/fives-and-threes $(CUP)/threes-and-fives $(CUP)/all-fives --out $(CUP)/report.html

ladder: $(SETUP)  ## what python -m agents shows: strength against greedy and time of a move
	$(BIN)/python -m eval ladder

strength: $(SETUP)  ## the meetings of the shipped models in docs/results.md
	for meeting in $(MEETINGS); do \
	  set -- $$(echo $$meeting | tr / ' '); \
	  $(BIN)/python -m eval tournament --agents model:$$1 $$2 --rules $$3 --pairs $$4 --seed 1 --workers 2 --out runs/strength/$$1.$$2.$$4 || exit 1; \
	done

exact: $(EXTRAS)  ## how far agents are from best in two small games
	for game in 3:60 2:300; do \
	  $(BIN)/python -m eval exact --rules fives-and-threes:max_pip=$${game%:*},deal=3,mode=round --cfr $${game#*:} --json runs/exact/$${game%:*}.json \
	    --agents ismcts:1000 pimc:64 tactic careful greedy random || exit 1; \
	done

benchmark: $(SETUP)  ## rollout speed beside the peers, which get a venv of their own
	$(BIN)/python -m eval benchmark --json $(BENCHMARK).json --peers --training 20

measured: $(SETUP)  ## takes what cup, strength, exact and benchmark left in runs/ into docs/measured, and makes the tables
	$(BIN)/python docs/results.py take

results: $(SETUP)  ## the tables of docs/*.md, from agents/strength.json and docs/measured
	$(BIN)/python docs/results.py

docs/table.svg: $(SETUP) fives_env/rendering/picture.py docs/table.py  ## the picture at the top of README.md
	$(BIN)/python docs/table.py > $@

docs/ladder.png: $(SETUP) agents/strength.json  ## strength against time of a move; make ladder measures, and draws it too
	$(BIN)/python -m eval ladder --agents greedy --plot $@.new && mv $@.new $@

docs/equity.png: $(SETUP) agents/equity/picture.py  ## what a score is worth, from the stored table
	$(BIN)/python -m agents.equity.picture

docs/speed.png: $(BENCHMARK).png  ## cost of a step by batch and threads
	cp $< $@

$(BENCHMARK).png:
	$(MAKE) benchmark

$(SETUP): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(INSTALL) 'pip>=25.1'  # the first that knows groups
	$(INSTALL) --editable . --group dev
	touch $@

$(EXTRAS): $(SETUP)
	$(INSTALL) --group extras
	touch $@

clean:  ## everything that was made here but the runs
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -not -path './runs/*' -prune -exec rm -rf {} +
