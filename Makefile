# `make help` lists the targets.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

GO      ?= go
BIN     := $(CURDIR)/bin
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X github.com/idea-ide/ideai/internal/build.version=$(VERSION)
SRC     := $(shell git ls-files '*.go' ':!gen')

## Use

.PHONY: demo
demo: build ## build, then show an agent's launch plan for the example project
	@scripts/demo

.PHONY: build
build: ## build bin/ideai, static
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/ideai ./cmd/ideai

.PHONY: install
install: ## install ideai into GOBIN
	CGO_ENABLED=0 $(GO) install -trimpath -ldflags '$(LDFLAGS)' ./cmd/ideai

## Test

.PHONY: test
test: ## every test but e2e, with the race detector
	$(GO) test -race ./...

.PHONY: e2e
e2e: build e2e-clis ## the real CLIs against a stub model on loopback
	IDEAI_E2E_BIN=$(BIN)/ideai IDEAI_E2E_CLIS=$(CURDIR)/e2e/.clis $(GO) test -count=1 -timeout 30m ./e2e/...

.PHONY: e2e-clis
e2e-clis: ## fetch the exact CLIs e2e needs, from npm, into e2e/.clis
	@e2e/install-clis $(CURDIR)/e2e/.clis

.PHONY: bench
bench: ## the figures of docs/performance.md
	$(GO) test -run '^$$' -bench . -benchmem ./...

## Check

.PHONY: lint
lint: verify-lint verify-proto ## linters for Go and the protos

.PHONY: verify
verify: verify-generate verify-breaking verify-format verify-tidy verify-cross ## everything CI checks beside tests and lint

.PHONY: verify-lint fix-lint
verify-lint: $(BIN)/golangci-lint
	$(BIN)/golangci-lint run ./... ./e2e/...
fix-lint: $(BIN)/golangci-lint ## mend what the linters can mend
	$(BIN)/golangci-lint run --fix ./... ./e2e/...

.PHONY: verify-proto fix-proto
verify-proto: $(BIN)/buf .protos
	$(BIN)/buf lint
	$(BIN)/buf format --diff --exit-code proto
fix-proto: $(BIN)/buf .protos ## format the protos
	$(BIN)/buf format -w proto

.PHONY: verify-generate fix-generate generate
verify-generate: generate
	@git diff --exit-code --stat -- gen && test -z "$$(git ls-files --others --exclude-standard gen)" || \
		{ echo "gen/ is not what the protos say: make fix-generate, and commit"; exit 1; }
fix-generate: generate
generate: $(BIN)/buf .protos ## gen/ from proto/
	$(BIN)/buf generate

# The baseline is the image of the last published protos. It changes at a
# release, by fix-breaking, and never to make a check pass.
.PHONY: verify-breaking fix-breaking
verify-breaking: $(BIN)/buf .protos
	$(BIN)/buf breaking proto --against proto/published.binpb
fix-breaking: $(BIN)/buf .protos ## publish the protos: they become the baseline
	$(BIN)/buf build proto --exclude-source-info -o proto/published.binpb

.PHONY: verify-format fix-format
verify-format:
	@out="$$(gofmt -l $(SRC))"; test -z "$$out" || { echo "not gofmt'd: $$out"; exit 1; }
fix-format: ## gofmt
	gofmt -w $(SRC)

.PHONY: verify-tidy fix-tidy
verify-tidy:
	$(GO) mod tidy -diff
	cd e2e && $(GO) mod tidy -diff
	cd tools && GOWORK=off $(GO) mod tidy -diff
fix-tidy: ## go mod tidy in every module
	$(GO) mod tidy
	cd e2e && $(GO) mod tidy
	cd tools && GOWORK=off $(GO) mod tidy

.PHONY: verify-cross fix-cross
verify-cross:
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=windows GOARCH=amd64 $(GO) build ./...
fix-cross: verify-cross # nothing can mend it by itself

.PHONY: verify-vuln fix-vuln
verify-vuln: $(BIN)/govulncheck ## known vulnerabilities; asks the network
	$(BIN)/govulncheck ./...
fix-vuln: # raise the module that govulncheck names, then fix-tidy
	@echo "go get MODULE@VERSION for what verify-vuln names, then make fix-tidy"

## Tools, built from the versions tools/go.mod pins

$(BIN)/buf: tools/go.mod
	GOWORK=off $(GO) -C tools build -o $@ github.com/bufbuild/buf/cmd/buf
$(BIN)/golangci-lint: tools/go.mod
	GOWORK=off $(GO) -C tools build -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
$(BIN)/govulncheck: tools/go.mod
	GOWORK=off $(GO) -C tools build -o $@ golang.org/x/vuln/cmd/govulncheck

# protovalidate's protos, from the Go module that carries them. The version is
# that of the rules in gen's protovalidate dependency, see go.mod.
PROTOVALIDATE := v1.2.2
.protos: Makefile
	rm -rf $@ && mkdir -p $@/buf/validate
	dir="$$(cd tools && GOWORK=off $(GO) mod download -json github.com/bufbuild/protovalidate@$(PROTOVALIDATE) | sed -n 's/^\t"Dir": "\(.*\)",$$/\1/p')"; \
		cp "$$dir/proto/protovalidate/buf/validate/validate.proto" $@/buf/validate/
	chmod -R u+w $@ && touch $@

.PHONY: clean
clean: ## remove what make built
	rm -rf $(BIN) .protos e2e/.clis

.PHONY: help
help: ## this list
	@awk 'BEGIN {FS=":.*## "} /^## / {printf "\n%s\n", substr($$0,4)} /^[a-z0-9-]+:.*## / {printf "  %-16s %s\n", $$1, $$2} /^[a-z-]+ [a-z -]*:.*## / {split($$1,a," "); printf "  %-16s %s\n", a[1], $$2}' $(MAKEFILE_LIST)
