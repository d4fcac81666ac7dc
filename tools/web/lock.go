package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// dependency is a package of the lock file.
type dependency struct {
	dir       string // where it is installed, such as "node_modules/react"
	name      string
	version   string
	integrity []byte // SHA-512 of the archive
	dev       bool
}

// lockEntry is an entry of "packages" in a lock file of version 3
// (https://docs.npmjs.com/cli/configuring-npm/package-lock-json).
type lockEntry struct {
	Name             string   `json:"name"`
	Version          string   `json:"version"`
	Integrity        string   `json:"integrity"`
	Dev              bool     `json:"dev"`
	Link             bool     `json:"link"`
	HasInstallScript bool     `json:"hasInstallScript"`
	OS               []string `json:"os"`
	CPU              []string `json:"cpu"`
	Libc             []string `json:"libc"`
}

// readLock returns the packages for this machine, in the order of their directories. Packages with
// install scripts are an error, because scripts are never run.
func readLock(file string) ([]dependency, error) {
	entries, err := lockEntries(file)
	if err != nil {
		return nil, err
	}
	var all []dependency
	for dir, e := range entries {
		if !e.forThisMachine() {
			continue
		}
		if e.HasInstallScript || e.Link {
			return nil, fmt.Errorf("%s: has an install script or is a link, which is not supported", dir)
		}
		hash, err := e.sha512()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		if path.Clean(dir) != dir || !strings.HasPrefix(dir, "node_modules/") {
			return nil, fmt.Errorf("%s: not a directory in node_modules", dir)
		}
		all = append(all, dependency{dir, e.Name, e.Version, hash, e.Dev})
	}
	slices.SortFunc(all, func(a, b dependency) int { return strings.Compare(a.dir, b.dir) })
	return all, nil
}

// lockEntries returns the packages for all machines by their directories, each with its name.
func lockEntries(file string) (map[string]lockEntry, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var lock struct {
		Version  int                  `json:"lockfileVersion"`
		Packages map[string]lockEntry `json:"packages"`
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	if lock.Version != 3 {
		return nil, fmt.Errorf("%s: version %d of the format, not 3", filepath.Base(file), lock.Version)
	}
	delete(lock.Packages, "") // the application
	for dir, e := range lock.Packages {
		if e.Name == "" {
			_, e.Name, _ = strings.Cut(dir[max(0, strings.LastIndex(dir, "node_modules/")):], "node_modules/")
			lock.Packages[dir] = e
		}
	}
	return lock.Packages, nil
}

// sha512 returns the SHA-512 among the hashes of e (https://www.w3.org/TR/SRI/).
func (e lockEntry) sha512() ([]byte, error) {
	for h := range strings.FieldsSeq(e.Integrity) {
		if text, ok := strings.CutPrefix(h, "sha512-"); ok {
			return base64.StdEncoding.DecodeString(text)
		}
	}
	return nil, fmt.Errorf("no SHA-512 in the lock file")
}

// forThisMachine reports whether e is for every machine, or for one like this.
func (e lockEntry) forThisMachine() bool {
	cpu := map[string]string{"amd64": "x64", "386": "ia32"}
	arch, ok := cpu[runtime.GOARCH]
	if !ok {
		arch = runtime.GOARCH
	}
	system := runtime.GOOS
	if system == "windows" {
		system = "win32"
	}
	matches := func(list []string, value string) bool { return len(list) == 0 || slices.Contains(list, value) }
	return matches(e.OS, system) && matches(e.CPU, arch) && matches(e.Libc, "glibc")
}
