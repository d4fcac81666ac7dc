// Command screens takes pictures of all pages of the application, of two programs with the same data, and compares
// them. It writes the pictures and an index.html that shows those that differ side by side, and ends with 1 if any do.
//
// The pages are those that the owner of the demo's account sees, a viewer of it, the owner of an account in which
// nothing was made yet, and somebody who is not signed in. The first program makes the data: the second serves a copy
// of them. No engine runs meanwhile, so that nothing changes, and pages begin at the same moment of the browser's clock.
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
	"strings"
	"syscall"

	"github.com/packetboat/packetboat/e2e/chromium"
	"github.com/packetboat/packetboat/e2e/harness"
)

func main() {
	base := flag.String("base", "", "the program to compare with")
	head := flag.String("head", "bin/packetboat", "the program")
	dir := flag.String("dir", "dist/screens", "directory of the pictures, which is emptied")
	only := flag.String("only", "", "only the routes that match this expression, such as ^/contacts")
	who := flag.String("who", "owner,viewer,fresh,outside", "who sees the pages")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	n, err := run(ctx, *base, *head, *dir, *only, strings.Split(*who, ","))
	if err != nil {
		fmt.Fprintln(os.Stderr, "screens:", err)
	}
	if err != nil || n > 0 {
		os.Exit(1)
	}
}

// run returns how many pictures differ.
func run(ctx context.Context, base, head, dir, only string, who []string) (int, error) {
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
	demo := &account{slug: "demo", data: filepath.Join(data, "demo")}
	if err := demo.make(ctx, base, []string{"demo"}, demo.demo); err != nil {
		return 0, fmt.Errorf("make the demo: %w", err)
	}
	fresh := &account{slug: "fresh", data: filepath.Join(data, "fresh")}
	if err := fresh.make(ctx, base, []string{"serve"}, fresh.fresh); err != nil {
		return 0, fmt.Errorf("make an account: %w", err)
	}
	browser, err := chromium.Start(ctx, path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = browser.Stop() }()
	setUp, content, sequences, reports := harness.Routes()
	all := slices.Concat(setUp, content, sequences, reports)
	sights := []sight{
		{who: "owner", account: demo, login: demo.owner, routes: all, screens: every},
		{who: "viewer", account: demo, login: demo.viewer, routes: all, screens: few},
		{who: "fresh", account: fresh, login: fresh.owner, routes: harness.Fresh(), screens: few},
		{who: "outside", account: demo, routes: harness.Outside(), screens: few},
	}
	sights = slices.DeleteFunc(sights, func(s sight) bool { return !slices.Contains(who, s.who) })
	for i, s := range sights {
		var routes harness.Pages
		for _, page := range s.routes {
			if match.MatchString(page) && !slices.Contains(routes, page) {
				routes = append(routes, page)
			}
		}
		sights[i].routes = routes
	}
	var shots []shot
	for i, program := range []string{base, head} {
		name := []string{"before", "after"}[i]
		out := filepath.Join(dir, name)
		if err := os.MkdirAll(out, 0o755); err != nil {
			return 0, err
		}
		shots = nil
		for _, s := range sights {
			taken, err := s.photograph(ctx, browser, program, filepath.Join(data, name+"-"+s.who), out)
			if err != nil {
				return 0, fmt.Errorf("%s: %s: %w", name, s.who, err)
			}
			shots = append(shots, taken...)
		}
	}
	n, err := report(dir, shots)
	if err == nil {
		fmt.Printf("%d of %d pictures differ: %s\n", n, len(shots), filepath.Join(dir, "index.html"))
	}
	return n, err
}
