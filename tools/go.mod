// The tools of this project, in a module of their own so that what they depend
// on stays out of ours. Run them with: go tool -modfile=tools/go.mod NAME
module github.com/packetboat/packetboat/tools

go 1.26.0

tool (
	golang.org/x/vuln/cmd/govulncheck
	honnef.co/go/tools/cmd/staticcheck
)

require (
	github.com/BurntSushi/toml v1.4.1-0.20240526193622-a339e1f7089c // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/mod v0.35.0 // indirect
	golang.org/x/sync v0.20.0 // indirect
	golang.org/x/sys v0.43.0 // indirect
	golang.org/x/telemetry v0.0.0-20260421165255-392afab6f40e // indirect
	golang.org/x/tools v0.44.1-0.20260420230617-19499e7caabc // indirect
	golang.org/x/vuln v1.3.0 // indirect
	honnef.co/go/tools v0.8.0 // indirect
)
