# Everything that is done with this project; `make` lists it.
.DEFAULT_GOAL := help
SHELL := bash
GO ?= go
export CGO_ENABLED ?= 0
# libcrypto: sign with the system's OpenSSL where it is there. Such a program needs
# glibc to start; `make build TAGS=` makes one that needs nothing.
TAGS ?= $(shell scripts/tags)

.PHONY: help mjml web web-dev web-types build run test test-fast check e2e screens crash fuzz bench release clean

help: ## show the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

mjml: # bring the MJML compiler, which is embedded, unless it is there
	@scripts/mjml

web: # build the browser application, which is embedded, unless it is built
	@scripts/web build

web-dev: ## build the browser application after every change, for `go run -tags webdev ./cmd/packetboat demo`
	@scripts/web dev

web-types: ## write the application's types from the description of the API
	@scripts/web types

build: mjml web ## build bin/packetboat (with TAGS= it is static, and needs no glibc)
	@$(GO) build -trimpath -tags "$(TAGS)" -ldflags "-s -w" -o bin/packetboat ./cmd/packetboat

run: build ## start a demo on an embedded database in ./data, ready to send
	@exec bin/packetboat demo

test: mjml web ## run every test on SQLite and on PostgreSQL, with the race detector where it is worth it
	@scripts/test

test-fast: mjml ## run the tests of packages, on SQLite, without browsers and other servers
	@scripts/test fast

check: mjml web ## look for mistakes without running anything
	@scripts/check

e2e: mjml web ## run only the tests that drive the whole program
	@scripts/test e2e

screens: mjml web ## take pictures of all pages of the application, and compare them with those of BASE (default: what the changes began from)
	@scripts/screens

crash: mjml web ## send N recipients (default 20000) while everything is killed CYCLES times (default 30), and take account
	@scripts/crash

fuzz: mjml ## fuzz every parser of strangers' bytes for FUZZTIME (default 30s) each
	@scripts/fuzz

bench: mjml web ## measure a send of N recipients (default 100000), the audience of CONTACTS (default 1000000), HITS (default 200000) opens and clicks, and all else
	@scripts/bench

release: mjml ## build the archives of a release into dist/: static programs and their checksums
	@scripts/web -release build
	@scripts/release

clean: ## remove what was built
	@rm -rf bin dist
