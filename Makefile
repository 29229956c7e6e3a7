# The everyday commands, thin over CMake's presets. "make help" lists them.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PRECIOUS: build/%/build.ninja
MAKEFLAGS += --no-print-directory
PREFIX ?= /usr/local
# Which cases of the samples run: others with every commit, the same again with TML_SEED=N make test.
TML_SEED ?= $(shell expr 1009 '*' $$(git rev-list --count HEAD 2>/dev/null || echo 1))
export TML_SEED

help: ## list the commands, and how long they take from nothing on two processors (minutes:seconds)
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

setup: needs ## install from Debian what "make build" needs, or can use

# These install what they need themselves; the others only check, and say what to install.
installs_setup := --build
installs_demo := --build
installs_test := --build --test --python
installs_check := --build --test --python
installs_test-all := --build --test
installs_test-windows := --build --windows
installs_test-arm64 := --build --arm64
installs_test-s390x := --build --s390x
installs_test-i386 := --build --i386
installs_test-musl := --build --musl
installs_fuzz := --build --test
installs_web := --build --web
installs_web-serve := --build --web
installs_test-web := --build --web
installs_bench-peers := --build --peers
installs_format := --lint
installs_lint := --build --lint
installs_docs := --docs
installs_python := --build --python
INSTALLS := $(sort $(foreach goal,$(MAKECMDGOALS),$(installs_$(goal))))

needs:
	@scripts/setup $(or $(INSTALLS),--check)

# One configured folder for each preset; Ninja reruns CMake when a CMakeLists.txt changes. Builds for other machines and
# with sanitizers take generated code from the release build. CMake says what they go without.
build/%/build.ninja: CMakePresets.json | needs
	@echo "Configuring $*"
	@cmake --preset $* >build/$*.log 2>&1 || { cat build/$*.log; exit 1; }
	@sed -n 's/^-- Trommel: /  /p' build/$*.log

build/asan-ubsan/build.ninja build/tsan/build.ninja build/windows/build.ninja build/arm64/build.ninja \
build/s390x/build.ninja build/i386/build.ninja build/musl/build.ninja: | checked-release

# All that the tests of a preset run.
checked-%: build/%/build.ninja
	@echo "Building $*"
	@scripts/build build/$* trommel-checked

$(shell mkdir -p build)
release := build/release/build.ninja

build: $(release) ## the optimised libraries and the command, in build/release; installs nothing (1:30)
	@scripts/build build/release trommel-build

demo: $(release) ## a mesh and a picture from a CT volume and from a point cloud (1:45)
	@scripts/build build/release trommel-cli
	@scripts/demo build/release/bin/trommel build/demo

test: $(release) ## every operation, program, file format and command, on the CPU and two software drivers (10:00)
	@scripts/build build/release trommel-tested
	@scripts/test "-LE check" release

check: checked-release checked-asan-ubsan checked-tsan ## sanitizers, threads, fuzz targets, faults, random programs, a third driver, packages (25:00)
	@scripts/test "-L check" release asan-ubsan tsan

# What the tests' programs call --all.
test-all: checked-release ## what the tests take samples of, whole: every fault, float and case on drivers (hours)
	@ctest --test-dir build/release --output-on-failure -C exhaustive -L exhaustive -j $$(nproc)

# Cross-compiled; Wine or qemu runs it, or this machine itself. Wine has Vulkan where there is a display.
runs_windows = $(if $(shell command -v xvfb-run),xvfb-run -a)
test-windows: ## the tests of the CPU and Vulkan engines as programs of Windows, under Wine
test-arm64: ## the CPU engine's tests for ARM64, under qemu
test-s390x: ## the same for a big-endian machine, under qemu
test-i386: ## the same for 32-bit x86
test-musl: ## the same with musl in place of glibc
test-windows test-arm64 test-s390x test-i386 test-musl: test-%: checked-release checked-%
	@$(runs_$*) ctest --test-dir build/$* --output-on-failure -j $$(nproc)

fuzz: checked-release checked-asan-ubsan ## every fuzz target for 60 s
	@cmake -D TML_FUZZ_SECONDS=60 build/asan-ubsan >/dev/null
	@ctest --test-dir build/asan-ubsan --output-on-failure -L fuzz -j $$(nproc); status=$$?; \
	 cmake -D TML_FUZZ_SECONDS=10 build/asan-ubsan >/dev/null; exit $$status

# Emscripten runs on this machine; two small programs of the build do too.
web: $(release) ## the web page and the package for JavaScript, in build/web
	@scripts/build build/release trommel-generated
	@scripts/web

python: $(release) ## the package for Python, a wheel in build/python, tested in an environment of its own
	@scripts/build build/release trommel-build trommel-python
	@scripts/python build/release build/python

web-serve: web ## the page on this machine: http://127.0.0.1:8080/
	@node scripts/web-serve.mjs

test-web: web ## the page and the package, in Node and in a browser without a screen (10:00)
	@scripts/build build/release trommel-cli
	@scripts/test-web

bench: $(release) ## how fast the library and the command are here, beside memcpy and cat
	@scripts/build build/release trommel-cli trommel-benches
	@scripts/bench build/release/bin

bench-peers: | needs ## the same inputs through installed peers (VTK, TBB, FCL, CGAL, OpenSubdiv ...), side by side
	@$(MAKE) build/bench/build.ninja
	@scripts/build build/bench all trommel-benches
	@scripts/bench-peers build/bench

papers: $(release) ## the tables of the papers that Trommel implements, made again (minutes)
	@scripts/build build/release trommel-benches
	@scripts/papers build/release/bin

format: | needs ## clang-format every C file
	@git ls-files '*.c' '*.h' | xargs clang-format -i

lint: checked-release ## are the files formatted, and has clang-tidy nothing to say?
	@scripts/lint build/release

docs: | needs ## the reference as HTML, from the headers, docs/ and examples/, in build/docs/html
	@scripts/docs build/docs
	@echo "The reference is build/docs/html/index.html"

packages: ## Debian's packages, and recipes of vcpkg, Conan and Homebrew, in build/packages (minutes)
	@scripts/setup --build --packages
	@scripts/packages build/packages

amalgamation: build/release/build.ninja ## the library as one C file and one header, in build/amalgamation
	@scripts/build build/release trommel-amalgamation
	@rm -rf build/amalgamation && cp -r build/release/amalgamation build/

abi: ## what has changed in the libraries' binary interface since the last release, or since BASE
	@scripts/setup --build --packages
	@scripts/abi $(BASE)

install: $(release) ## install the libraries, the commands and their pages under PREFIX (/usr/local)
	@scripts/build build/release all
	@cmake --install build/release --prefix $(PREFIX)

clean: ## remove all that was built
	@rm -rf build

.PHONY: help setup needs build demo test check test-all test-windows test-arm64 test-s390x test-i386 test-musl fuzz web web-serve test-web bench bench-peers papers python format lint docs packages amalgamation abi install clean
