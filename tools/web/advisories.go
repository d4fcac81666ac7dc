package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// maxAdvisories bounds the bytes of the registry's answer, and advisoriesTimeout the time for it.
const (
	maxAdvisories     = 4 << 20
	advisoriesTimeout = 20 * time.Second
)

// locked are the versions of packages in a lock file by name. The value is true for versions that are
// installed for development only.
type locked map[string]map[string]bool

// advisory is a known vulnerability of a package, as the registry describes it.
type advisory struct {
	Title    string `json:"title"`
	URL      string `json:"url"`
	Severity string `json:"severity"` // info, low, moderate, high or critical
	Versions string `json:"vulnerable_versions"`
}

// finding is an advisory about a version in the lock file.
type finding struct {
	advisory
	name, version string
	dev           bool
}

// checkAdvisories looks up the advisories about the packages of the lock file. Those about packages of the
// application are errors from severity moderate; others, and a registry that gives no advisories, are warnings.
func (p project) checkAdvisories() error {
	versions, err := lockedVersions(filepath.Join(p.web, "package-lock.json"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), advisoriesTimeout)
	defer cancel()
	return reportAdvisories(ctx, os.Stderr, registryURL(p.web), versions)
}

func lockedVersions(file string) (locked, error) {
	entries, err := lockEntries(file)
	if err != nil {
		return nil, err
	}
	all := locked{}
	for _, e := range entries {
		if all[e.Name] == nil {
			all[e.Name] = map[string]bool{}
		}
		dev, known := all[e.Name][e.Version]
		all[e.Name][e.Version] = e.Dev && (dev || !known)
	}
	return all, nil
}

// reportAdvisories writes warnings to out, and returns those of its findings that are errors.
func reportAdvisories(ctx context.Context, out io.Writer, registry string, versions locked) error {
	byName, err := requestAdvisories(ctx, registry, versions)
	if err != nil {
		fmt.Fprintf(out, "web: warning: advisories about npm packages could not be looked up: %.300s\n", strings.Join(strings.Fields(err.Error()), " "))
		return nil
	}
	var problems []error
	for _, f := range findings(byName, versions) {
		line := fmt.Sprintf("%s %s: %s (%s): %.300q %.200q", f.name, f.version, f.Severity, f.Versions, f.Title, f.URL)
		if f.dev || f.Severity == "low" || f.Severity == "info" {
			fmt.Fprintln(out, "web: warning: advisory about", line)
		} else {
			problems = append(problems, errors.New("advisory about "+line))
		}
	}
	return errors.Join(problems...)
}

// requestAdvisories returns the registry's advisories by the names of packages.
func requestAdvisories(ctx context.Context, registry string, versions locked) (map[string][]advisory, error) {
	question := map[string][]string{}
	for name, of := range versions {
		for version := range of {
			question[name] = append(question[name], version)
		}
		slices.Sort(question[name])
	}
	body, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, registry+"/-/npm/v1/security/advisories/bulk", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", registry, res.Status)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAdvisories+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxAdvisories {
		return nil, fmt.Errorf("the answer of %s is larger than %d bytes", registry, maxAdvisories)
	}
	var byName map[string][]advisory
	if err := json.Unmarshal(data, &byName); err != nil {
		return nil, fmt.Errorf("the answer of %s: %w", registry, err)
	}
	if byName == nil {
		return nil, fmt.Errorf("the answer of %s is no object", registry)
	}
	for name, list := range byName {
		for _, a := range list {
			if a.Severity == "" || a.Versions == "" {
				return nil, fmt.Errorf("the answer of %s: an advisory about %.100q has no severity or no versions", registry, name)
			}
		}
	}
	return byName, nil
}

// findings returns the advisories about locked versions, in the order of names and versions.
func findings(byName map[string][]advisory, versions locked) []finding {
	var found []finding
	for name, list := range byName {
		for version, dev := range versions[name] {
			for _, a := range list {
				if inRange(version, a.Versions) {
					found = append(found, finding{a, name, version, dev})
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.name, b.name), semver.Compare("v"+a.version, "v"+b.version), strings.Compare(a.URL, b.URL))
	})
	return found
}

// inRange reports whether version is in a range of advisories, such as ">=1.0.0 <1.4.2 || =2.0.0". A range in
// another form contains every version: the registry was asked about these versions.
func inRange(version, ranges string) bool {
	for alternative := range strings.SplitSeq(ranges, "||") {
		if meets(version, alternative) {
			return true
		}
	}
	return false
}

// meets reports whether version meets all comparators, which are separated by spaces.
func meets(version, comparators string) bool {
	if strings.Contains(comparators, " - ") {
		return true
	}
	for _, operator := range []string{"<", ">", "="} { // "< 1.4.2" is "<1.4.2"
		comparators = strings.ReplaceAll(comparators, operator+" ", operator)
	}
	for comparator := range strings.FieldsSeq(comparators) {
		bound := strings.TrimLeft(comparator, "<>=")
		operator := strings.TrimSuffix(comparator, bound)
		if semver.Canonical("v"+bound) != "v"+bound || !semver.IsValid("v"+version) { // such as "1.2" or "^1.2.0"
			continue
		}
		order := semver.Compare("v"+version, "v"+bound)
		met := map[string]bool{"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0, "=": order == 0, "": order == 0}
		if is, known := met[operator]; known && !is {
			return false
		}
	}
	return true
}
