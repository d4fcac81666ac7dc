package harness_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/harness"
)

// The application's list of its pages, and the two parts of it: those of workspaces and those outside.
const pathsFile = "../../web/src/base/paths.ts"

var pathIn = regexp.MustCompile(`(?m)^\t\w+: "(/[^"]*)",$`)

// elsewhere are pages that Routes and Outside do not visit, and why.
var elsewhere = map[string]string{
	"/broadcasts/:id/report": "is /broadcasts/{sent}",
	"/jobs/:id":              "leads to the page of the job's contacts",
	"/mailbox/:lane/:id":     "needs a mail, and is opened by tests that send",
	"/sending/domains":       "is /sending",
	"/sending/mta":           "is /sending",
	"/templates/new":         "is /templates?new=1",
	"/app/":                  "leads to a workspace",
	"/app/-/me":              "is of the person: TestMembersAreManagedInTheApplication checks it",
	"/app/-/frame":           "is a frame of pages with mails",
	"/docs":                  "is the reference of the API",
}

// Each page of the application is among those that are checked for accessibility and of which pictures are taken,
// and each of these is a page.
func TestRoutesAreThePagesOfTheApplication(t *testing.T) {
	text, err := os.ReadFile(pathsFile)
	if err != nil {
		t.Fatal(err)
	}
	var pages []string
	for _, m := range pathIn.FindAllStringSubmatch(string(text), -1) {
		pages = append(pages, m[1])
	}
	if len(pages) < 60 {
		t.Fatalf("%s has only %d pages", pathsFile, len(pages))
	}
	setUp, content, sequences, reports := harness.Routes()
	visited := map[string]bool{}
	for _, route := range slices.Concat(setUp, content, sequences, reports, harness.Outside()) {
		path, _, _ := strings.Cut(route, "?")
		page, ok := pageAt(pages, path)
		if !ok && path != "/no-such-page" {
			t.Errorf("%s is no page of %s", route, pathsFile)
		}
		visited[page] = true
	}
	for _, page := range pages {
		if why, left := elsewhere[page]; left && visited[page] {
			t.Errorf("%s is visited, though it %s", page, why)
		} else if !left && !visited[page] {
			t.Errorf("%s is not visited", page)
		}
	}
}

// pageAt returns the first page that a path is of.
func pageAt(pages []string, path string) (page string, ok bool) {
	parts := strings.Split(path, "/")
	for _, page := range pages {
		if wants := strings.Split(page, "/"); len(wants) == len(parts) && matches(wants, parts) {
			return page, true
		}
	}
	return "", false
}

func matches(wants, parts []string) bool {
	for i, w := range wants {
		if !strings.HasPrefix(w, ":") && w != parts[i] {
			return false
		}
	}
	return true
}
