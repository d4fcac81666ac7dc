// Command screens takes pictures of all pages of the application, of two programs with the same data, and compares
// them. It writes the pictures and an index.html that shows those that differ side by side, and ends with 1 if any do.
//
// The data are those of the demo, made by the first program: the second serves a copy of them. No engine runs
// meanwhile, so that nothing changes, and pages begin at the same moment of the browser's clock.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"

	"github.com/packetboat/packetboat/e2e/chromium"
	"github.com/packetboat/packetboat/e2e/harness"
)

func main() {
	base := flag.String("base", "", "the program to compare with")
	head := flag.String("head", "bin/packetboat", "the program")
	dir := flag.String("dir", "dist/screens", "directory of the pictures, which is emptied")
	only := flag.String("only", "", "only the routes that match this expression, such as ^/contacts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	n, err := run(ctx, *base, *head, *dir, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "screens:", err)
	}
	if err != nil || n > 0 {
		os.Exit(1)
	}
}

// run returns how many pictures differ.
func run(ctx context.Context, base, head, dir, only string) (int, error) {
	match, err := regexp.Compile(only)
	if err != nil {
		return 0, err
	}
	path, ok := chromium.Find()
	if !ok {
		return 0, fmt.Errorf("no Chromium")
	}
	data, err := os.MkdirTemp("", "packetboat-screens")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(data)
	if err := os.RemoveAll(dir); err != nil {
		return 0, err
	}
	a := account{data: filepath.Join(data, "demo")}
	if err := a.fill(ctx, base); err != nil {
		return 0, fmt.Errorf("fill the demo: %w", err)
	}
	browser, err := chromium.Start(ctx, path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = browser.Stop() }()
	var routes []string
	setUp, content, sequences, reports := harness.Routes()
	for _, page := range slices.Concat(setUp, content, sequences, reports) {
		if match.MatchString(page) && !slices.Contains(routes, page) {
			routes = append(routes, page)
		}
	}
	var shots []shot
	for i, program := range []string{base, head} {
		name := []string{"before", "after"}[i]
		out := filepath.Join(dir, name)
		if err := os.MkdirAll(out, 0o755); err != nil {
			return 0, err
		}
		copied := filepath.Join(data, name)
		if err := os.CopyFS(copied, os.DirFS(a.data)); err != nil {
			return 0, err
		}
		if shots, err = a.photograph(ctx, browser, program, copied, routes, out); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
	}
	n, err := report(dir, shots)
	if err == nil {
		fmt.Printf("%d of %d pictures differ: %s\n", n, len(shots), filepath.Join(dir, "index.html"))
	}
	return n, err
}
