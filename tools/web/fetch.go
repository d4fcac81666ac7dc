package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// errUnreachable means that the registry, or a package in it, cannot be reached.
var errUnreachable = errors.New("the package registry cannot be reached")

// maxArchive bounds the size of one package's archive, and maxFile that of a file in it.
const (
	maxArchive = 80 << 20
	maxFile    = 160 << 20
)

// fetch installs the packages of the lock file in node_modules, unless they are there. Packages only
// for development are installed when dev is set.
func (p project) fetch(dev bool) error {
	lockFile := filepath.Join(p.web, "package-lock.json")
	all, err := readLock(lockFile)
	if err != nil {
		return err
	}
	stamp, err := fileHash(lockFile)
	if err != nil {
		return err
	}
	modules := filepath.Join(p.web, "node_modules")
	fetched := func(kind string) bool {
		was, err := os.ReadFile(filepath.Join(modules, ".fetched-"+kind))
		return err == nil && string(was) == stamp
	}
	switch {
	case fetched("all"), !dev && fetched("production"):
		return nil
	case !fetched("production"): // of another lock file, or not complete
		if err := os.RemoveAll(modules); err != nil {
			return err
		}
	}
	kind := "production"
	if dev {
		kind = "all"
	}
	registry := registryURL(p.web)
	started, count := time.Now(), 0
	var group errgroup.Group
	group.SetLimit(8)
	for _, d := range all {
		if d.dev && !dev {
			continue
		}
		if _, err := os.Stat(filepath.Join(p.web, filepath.FromSlash(d.dir), "package.json")); err == nil {
			continue
		}
		count++
		group.Go(func() error {
			if err := p.install(d, registry); err != nil {
				return fmt.Errorf("%s %s: %w", d.name, d.version, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "web: %d packages fetched in %.1f s\n", count, time.Since(started).Seconds())
	return os.WriteFile(filepath.Join(modules, ".fetched-"+kind), []byte(stamp), 0o644)
}

func fileHash(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// registryURL returns the address of the registry: as the environment says, or else an .npmrc of the
// project or the user, or else npm's.
func registryURL(web string) string {
	if u := os.Getenv("npm_config_registry"); u != "" {
		return strings.TrimSuffix(u, "/")
	}
	home, _ := os.UserHomeDir()
	for _, file := range []string{filepath.Join(web, ".npmrc"), filepath.Join(home, ".npmrc"), "/etc/npmrc"} {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			key, value, ok := strings.Cut(line, "=")
			if ok && strings.TrimSpace(key) == "registry" {
				return strings.TrimSuffix(strings.Trim(strings.TrimSpace(value), `"`), "/")
			}
		}
	}
	return "https://registry.npmjs.org"
}

// install downloads, verifies and unpacks d.
func (p project) install(d dependency, registry string) error {
	archive, err := download(fmt.Sprintf("%s/%s/-/%s-%s.tgz", registry, d.name, path.Base(d.name), d.version))
	if err != nil {
		return err
	}
	if sum := sha512.Sum512(archive); !bytes.Equal(sum[:], d.integrity) {
		return errors.New("the archive is not the one of the lock file")
	}
	dir := filepath.Join(p.web, filepath.FromSlash(d.dir))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return unpack(archive, dir)
}

var client = &http.Client{Timeout: 2 * time.Minute}

func download(url string) ([]byte, error) {
	var last error
	for range 3 {
		res, err := client.Get(url)
		if err != nil {
			last = err
			continue
		}
		data, err := io.ReadAll(io.LimitReader(res.Body, maxArchive+1))
		_ = res.Body.Close()
		switch {
		case res.StatusCode >= 500 || err != nil:
			last = errors.Join(err, fmt.Errorf("%s answered %s", url, res.Status))
		case res.StatusCode != http.StatusOK:
			return nil, fmt.Errorf("%w: %s answered %s", errUnreachable, url, res.Status)
		case len(data) > maxArchive:
			return nil, fmt.Errorf("%s is larger than %d bytes", url, maxArchive)
		default:
			return data, nil
		}
	}
	return nil, fmt.Errorf("%w: %w", errUnreachable, last)
}

// unpack writes the regular files of a package's archive to dir, without their first directory and
// without source maps. No file can be written outside of dir.
func unpack(archive []byte, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	files := tar.NewReader(zipped)
	for {
		h, err := files.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		_, name, ok := strings.Cut(path.Clean(h.Name), "/")
		if !ok || h.Typeflag != tar.TypeReg || strings.HasSuffix(name, ".map") {
			continue
		}
		if h.Size > maxFile {
			return fmt.Errorf("%s is larger than %d bytes", name, maxFile)
		}
		name = filepath.FromSlash(name)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		out, err := root.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644|os.FileMode(h.Mode&0o111))
		if err != nil {
			return err
		}
		_, err = io.Copy(out, files)
		if err := errors.Join(err, out.Close()); err != nil {
			return err
		}
	}
}
