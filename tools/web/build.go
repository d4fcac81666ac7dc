package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/evanw/esbuild/pkg/api"
	"golang.org/x/sync/errgroup"
)

// qualities of brotli: the second is small enough for work, and takes a third of the time.
const (
	releaseQuality = 11
	workQuality    = 6
)

// build makes the files that the server embeds, unless they are those of the present sources.
func (p project) build(release bool) error {
	stamp, err := p.inputs(release)
	if err != nil {
		return err
	}
	stampFile := filepath.Join(p.dist, "stamp.txt")
	if was, err := os.ReadFile(stampFile); err == nil && string(was) == stamp {
		return nil
	}
	if err := p.fetch(false); err != nil {
		return err
	}
	started := time.Now()
	b, err := p.bundle(true)
	if err != nil {
		return err
	}
	licences, err := p.licences(b)
	if err != nil {
		return err
	}
	b.files["licences.txt"] = licences
	quality := workQuality
	if release {
		quality = releaseQuality
	}
	if err := p.write(b, quality); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "web: %d files built in %.1f s\n", len(b.files), time.Since(started).Seconds())
	return os.WriteFile(stampFile, []byte(stamp), 0o644)
}

// write replaces the files of dist.
func (p project) write(b bundle, quality int) error {
	m, err := b.manifest()
	if err != nil {
		return err
	}
	assets := filepath.Join(p.dist, "assets")
	if err := errors.Join(os.RemoveAll(assets), os.MkdirAll(assets, 0o755)); err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(2)
	for name, data := range b.files {
		if filepath.Ext(name) == ".css" && name != m.Style {
			continue // that of a lazy page, which is in the one style sheet too
		}
		group.Go(func() error {
			var out bytes.Buffer
			w := brotli.NewWriterLevel(&out, quality)
			_, err := w.Write(data)
			if err := errors.Join(err, w.Close()); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(assets, name+".br"), out.Bytes(), 0o644)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	data, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.dist, "manifest.json"), append(data, '\n'), 0o644)
}

// inputs returns a hash of everything that the build depends on.
func (p project) inputs(release bool) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, release)
	add := func(root string, include func(name string) bool) error {
		return filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				if err == nil && e.Name() == "node_modules" {
					return fs.SkipDir
				}
				return err
			}
			if !include(e.Name()) {
				return nil
			}
			data, err := os.ReadFile(file)
			name, _ := filepath.Rel(p.root, file)
			fmt.Fprintln(sum, filepath.ToSlash(name), len(data))
			sum.Write(data)
			return err
		})
	}
	all := func(string) bool { return true }
	goFiles := func(name string) bool { return strings.HasSuffix(name, ".go") || name == "go.mod" }
	err := errors.Join(
		add(filepath.Join(p.web, "src"), all),
		add(filepath.Join(p.web, "package-lock.json"), all),
		add(filepath.Join(p.web, "tsconfig.json"), all),
		add(filepath.Join(p.root, "tools", "web"), goFiles),
	)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// dev builds after every change, quickly. A server of the build tag webdev reads the files at each request.
func (p project) dev() error {
	if err := p.fetch(false); err != nil {
		return err
	}
	options := p.options(false)
	options.Sourcemap = api.SourceMapInline
	options.Plugins = append(options.Plugins, api.Plugin{Name: "write", Setup: func(b api.PluginBuild) {
		b.OnEnd(func(result *api.BuildResult) (api.OnEndResult, error) {
			built, err := collect(*result)
			if err == nil {
				err = errors.Join(os.Remove(filepath.Join(p.dist, "stamp.txt")), p.write(built, 1))
			}
			if errors.Is(err, fs.ErrNotExist) {
				err = p.write(built, 1)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, "web:", err)
				return api.OnEndResult{}, nil
			}
			fmt.Fprintln(os.Stderr, "web: built", time.Now().Format(time.TimeOnly))
			return api.OnEndResult{}, nil
		})
	}})
	ctx, buildErr := api.Context(options)
	if buildErr != nil {
		return buildErr
	}
	if err := ctx.Watch(api.WatchOptions{}); err != nil {
		return err
	}
	select {}
}
