// The tool that builds the browser application (../../web), in a module of its own so that the bundler
// stays out of the server's.
module github.com/packetboat/packetboat/tools/web

go 1.26.0

require (
	github.com/andybalholm/brotli v1.2.8
	github.com/evanw/esbuild v0.28.2
	golang.org/x/sync v0.24.0
)

require golang.org/x/sys v0.0.0-20220715151400-c0bba94af5f8 // indirect
