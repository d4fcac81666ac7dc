// Command web builds the browser application: it fetches the packages of web/package-lock.json, bundles
// web/src with esbuild, compresses the result and writes it to internal/edge/webapp/dist, where the server
// embeds it. It needs no Node.
//
//	web build    fetch, bundle, compress; does nothing when the inputs have not changed
//	web dev      the same without compression, again after every change of a file
//	web packages fetch the packages for development too, such as axe for the browser tests
//	web types    write web/src/api/schema.ts from the description of the API
//	web licences print the licences of the packages in the application that is built
//	web messages write the texts to translate to the given directory
//	web check    budgets, types of the API, messages and translations, type check, lint and advisories of packages
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// project has the directories that the commands work on.
type project struct {
	root string // of the repository
	web  string // sources, package.json, node_modules
	dist string // what the server embeds
}

func main() {
	root := flag.String("root", "../..", "`directory` of the repository")
	release := flag.Bool("release", false, "compress as much as possible, which takes longer")
	flag.Parse()
	abs, err := filepath.Abs(*root)
	if err != nil {
		fail(err)
	}
	p := project{root: abs, web: filepath.Join(abs, "web"), dist: filepath.Join(abs, "internal", "edge", "webapp", "dist")}
	switch flag.Arg(0) {
	case "build":
		err = p.build(*release)
	case "dev":
		err = p.dev()
	case "packages":
		err = p.fetch(true)
	case "types":
		err = p.writeTypes()
	case "licences":
		err = p.printLicences(os.Stdout)
	case "messages":
		if flag.NArg() != 2 {
			err = errors.New("usage: web messages directory")
			break
		}
		err = p.writeMessages(flag.Arg(1))
	case "check":
		err = p.check()
	default:
		err = errors.New("usage: web [-root directory] [-release] build|dev|packages|types|licences|messages|check")
	}
	if err != nil {
		fail(err)
	}
}

// fail prints err and exits. A registry that cannot be reached is a warning: the server is built without
// the application, and says so on its page.
func fail(err error) {
	if errors.Is(err, errUnreachable) {
		fmt.Fprintf(os.Stderr, "web: WARNING: the browser application is not built (%v).\n"+
			"              The program is built without it. Run make again to try again.\n", err)
		os.Exit(0)
	}
	fmt.Fprintln(os.Stderr, "web:", err)
	os.Exit(1)
}
