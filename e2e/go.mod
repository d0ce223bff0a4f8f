module github.com/idea-ide/ideai/e2e

go 1.26.0

require github.com/idea-ide/ideai v0.0.0

replace github.com/idea-ide/ideai => ../
