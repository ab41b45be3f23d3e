# Everything from a fresh clone: needs make and Python 3.11 or newer, nothing else.
# 从全新的克隆开始：只需要 make 和 Python 3.11 或更新版本。

PYTHONS := $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --no-input install
LOCKED := $(VENV)/.stamp-locked-
CATALOGUES := $(wildcard jobclaw/texts/locales/*.po agents/*/locales/*.po agents/*/*/locales/*.po \
                         channels/*/*/locales/*.po)
COMPILE := $(PY) -m uv pip compile --quiet --generate-hashes --no-emit-index-url --no-annotate \
           --universal --python-version 3.11 --custom-compile-command "make lock"
SOURCES := pyproject.toml requirements/build.in
ARGS ?=

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run chat llm test lint check bench lock clean browser

help:           ## this list | 本列表
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | \
	  sed -E 's/^([a-z]+):.*## *(.*) \| (.*)$$/  make \1 |\2 · \3/' | \
	  awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'

run: install    ## start jobclaw and show the web chat's address | 启动 jobclaw，显示网页对话的地址
	@exec $(VENV)/bin/jobclaw run $(ARGS)

chat: install   ## talk to it in this terminal | 在终端里对话
	@exec $(VENV)/bin/jobclaw chat $(ARGS)

llm: install $(LOCKED)llm       ## add the library for language models | 安装语言模型所需的库
	@echo "Now choose a model: $(VENV)/bin/jobclaw init   现在选择模型：$(VENV)/bin/jobclaw init"

test: install $(LOCKED)test browser    ## run all tests | 运行全部测试
	@$(PY) -m pytest -n auto --dist loadfile $(ARGS)

lint: install $(LOCKED)check    ## style, types, layers | 风格、类型、分层检查
	@failed=; \
	for step in "ruff check ." "ruff format --check ." pyright lint-imports; do \
	  echo "== $$step"; $(VENV)/bin/$$step || failed="$$failed, $$step"; \
	done; \
	if [ -n "$$failed" ]; then echo "failed$$failed" | sed "s/^failed, /not good yet · 未通过: /" >&2; exit 1; fi

check:          ## lint, then all tests | 检查并运行全部测试
	@failed=; for part in lint test; do $(MAKE) --no-print-directory $$part || failed=yes; done; \
	[ -z "$$failed" ]

bench: install $(LOCKED)test    ## measure (see bench/README.md) | 性能测量（见 bench/README.md）
	@for script in $$(grep -l '__main__' bench/*.py); do \
	  echo "== $$script" && $(PY) $$script $(ARGS) || exit 1; done

lock: install $(LOCKED)check    ## pin newer versions of the libraries | 更新依赖锁定文件
	$(COMPILE) --upgrade $(SOURCES) -o requirements/run.lock
	$(COMPILE) $(SOURCES) --extra llm -c requirements/run.lock -o requirements/llm.lock
	$(COMPILE) $(SOURCES) --extra llm --group test -c requirements/llm.lock -o requirements/test.lock
	$(COMPILE) $(SOURCES) --extra llm --group test --group check -c requirements/test.lock \
	  -o requirements/check.lock

clean:          ## remove what was built, keep workspace/ and config/ | 删除构建产物，保留 workspace/ 和 config/
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find jobclaw channels agents tests -name __pycache__ -type d -prune -exec rm -rf {} +
	find jobclaw channels agents -name '*.mo' -delete

# The web chat is tested in a real browser.
browser:
	@for name in chromium chromium-browser google-chrome "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"; do \
	  if command -v "$$name" >/dev/null; then exit 0; fi; \
	done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Chromium for the browser tests … 正在安装浏览器测试需要的 Chromium …"; \
	  apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	else \
	  echo "The browser tests need Chromium. On Debian or Ubuntu run: sudo apt install chromium" >&2; \
	  echo "浏览器测试需要 Chromium。Debian 或 Ubuntu 请运行：sudo apt install chromium" >&2; \
	fi

.PHONY: install
install: $(VENV)/.stamp-installed

# The project itself, editable; again when its metadata or a catalogue has changed.
$(VENV)/.stamp-installed: $(LOCKED)run pyproject.toml hatch_build.py $(CATALOGUES)
	@echo "Installing jobclaw … 正在安装 jobclaw …"
	@$(PIP) --quiet --no-build-isolation --no-deps --editable .
	@$(PY) -m compileall -q jobclaw channels agents
	@touch $@

# Pinned libraries; each list holds the shorter ones, with the same versions.
$(LOCKED)%: requirements/%.lock | $(PY)
	@echo "Installing the libraries of $< … 正在安装 $< 中的依赖 …"
	@$(PIP) --require-hashes --requirement $<
	@touch $@

$(PY):
	@for python in $(PYTHONS); do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "Making $(VENV) with $$python … 正在用 $$python 创建 $(VENV) …"; \
	    rm -rf $(VENV); \
	    if $$python -m venv $(VENV); then exit 0; fi; \
	    rm -rf $(VENV); \
	    echo "$$python cannot make a virtual environment. On Debian or Ubuntu run: apt install python3-venv" >&2; \
	    echo "$$python 无法创建虚拟环境。Debian 或 Ubuntu 请运行：apt install python3-venv" >&2; \
	    exit 1; \
	  fi; \
	done; \
	echo "Python 3.11 or newer is needed (https://www.python.org/downloads). If you have one, say which: make PYTHON=/path/to/python3" >&2; \
	echo "需要 Python 3.11 或更新版本（https://www.python.org/downloads）。已安装的话请指定：make PYTHON=/path/to/python3" >&2; \
	exit 1
