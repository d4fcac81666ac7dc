package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// floors are the folders of web/src, lowest first. A file imports files of its own floor and of those
// before it (web/README.md).
var floors = []string{"api", "base", "sync", "ui", "features", "app"}

// features are the folders of web/src/features, lowest first: a feature uses parts of those before it.
var features = []string{
	"assets", "rules", "reports", "mailbox", "signin", "sending",
	"binding", "settings", "design",
	"source", "jobs", "imports", "audit",
	"activity", "blocks", "forms", "templates", "library", "sequences",
	"contacts", "automations",
	"home", "suppressions",
	"broadcasts",
	"segments",
}

// parts are the features that are made of parts for others. shared are the parts of the other features that those
// after them use. A queries.ts is everybody's: it stands below all features, and imports nothing of them but others.
var (
	parts  = []string{"assets", "binding", "design", "rules", "source"}
	shared = []string{
		"activity/ActivityEvent", "activity/Evidence",
		"broadcasts/NameSegment", "broadcasts/criteria",
		"contacts/AddContact", "contacts/contactFields",
		"home/NextStep",
		"jobs/BulkJob", "jobs/JobBadge", "jobs/bulkResult",
		"library/content", "library/holders", "library/useEntryDraft", "library/useEntryEditor", "library/versions",
		"reports/DayRange", "reports/range",
		"sending/ConnectionTest", "sending/MtaEditor", "sending/MtaHealth", "sending/Records", "sending/Senders.module.css", "sending/Sending",
		"sequences/Sequences.module.css", "sequences/StepFields", "sequences/StepLog", "sequences/StepFields.module.css", "sequences/Trigger",
		"sequences/fields/Rule", "sequences/graph", "sequences/stepIcons", "sequences/steps", "sequences/useNames",
		"settings/Account", "settings/Fields", "settings/Settings.module.css", "settings/brandCode",
		"templates/MailChoice", "templates/Starters", "templates/blankMjml", "templates/fromStarter", "templates/mails",
	}
)

// imported finds what a module names in its imports, its exports and its lazy imports.
var imported = regexp.MustCompile(`(?:\bfrom|\bimport)\s*\(?\s*["'](\.{1,2}/[^"']+)["']`)

// placeOf returns where a file stands among the floors and, if it is of a feature, among the features.
// It is -1 for a file or a folder that has no place.
func placeOf(file string) (floor, feature int) {
	parts := strings.Split(file, "/")
	if len(parts) == 1 {
		return len(floors), 0 // main.tsx, which starts the application, and the styles
	}
	floor = slices.Index(floors, parts[0])
	if parts[0] == "features" {
		feature = slices.Index(features, parts[1])
	}
	return floor, feature
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../web/src")
	if err != nil {
		t.Fatal(err)
	}
	imports, used := 0, map[string]bool{}
	err = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if ext := filepath.Ext(name); err != nil || e.IsDir() || ext != ".ts" && ext != ".tsx" && ext != ".css" {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		file := filepath.ToSlash(relative)
		floor, feature := placeOf(file)
		if floor < 0 || feature < 0 {
			t.Errorf("%s is in none of the floors %s and features %s", file, strings.Join(floors, ", "), strings.Join(features, ", "))
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, found := range imported.FindAllSubmatch(text, -1) {
			imports++
			target := path.Join(path.Dir(file), string(found[1]))
			if target == "base/testing" {
				continue // tests of every floor
			}
			switch toFloor, toFeature := placeOf(target); {
			case toFloor > floor:
				t.Errorf("%s imports %s: a floor imports only those before it (%s)", file, target, strings.Join(floors, ", "))
			case toFloor == floor && path.Base(target) == "queries" && strings.HasPrefix(target, "features/"):
			case toFloor == floor && toFeature > feature:
				t.Errorf("%s imports %s: a feature imports only those before it (%s)", file, target, strings.Join(features, ", "))
			case toFloor == floor && toFeature < feature && !slices.Contains(parts, features[toFeature]):
				part := strings.TrimPrefix(target, "features/")
				if used[part] = true; !slices.Contains(shared, part) {
					t.Errorf("%s imports %s, which its feature does not share", file, target)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if imports < 1000 {
		t.Fatalf("only %d imports were found", imports)
	}
	for _, part := range shared {
		if !used[part] {
			t.Errorf("%s is shared, and no other feature imports it", part)
		}
	}
	for _, dir := range features {
		if _, err := os.Stat(filepath.Join(root, "features", dir)); err != nil {
			t.Errorf("features names %s: %v", dir, err)
		}
	}
}
