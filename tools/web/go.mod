// The tool that builds the browser application (../../web), in a module of its own so that the bundler
// stays out of the server's.
module github.com/packetboat/packetboat/tools/web

go 1.26.0

require (
	github.com/andybalholm/brotli v1.2.8
	github.com/evanw/esbuild v0.28.2
	github.com/packetboat/packetboat v0.0.0 // tests compile MJML with the server's compiler
	golang.org/x/mod v0.43.0
	golang.org/x/sync v0.24.0
	modernc.org/quickjs v0.27.0
)

require (
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	modernc.org/libc v1.79.0 // indirect
	modernc.org/libquickjs v0.14.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)

replace github.com/packetboat/packetboat => ../..
