package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
)

// unlicensed are packages without a file of their licence, and its text.
var unlicensed = map[string]string{
	"wouter":                  "The Unlicense: free and unencumbered software released into the public domain (https://unlicense.org).",
	"regexparam":              "The MIT License, Copyright (c) Luke Edwards (https://lukeed.com).",
	"use-sync-external-store": "The MIT License, Copyright (c) Meta Platforms, Inc. and affiliates.",
}

// licences returns the licences of all packages with code in the bundle.
func (p project) licences(b bundle) ([]byte, error) {
	used := map[string]bool{}
	for _, out := range b.meta.Outputs {
		for input, in := range out.Inputs {
			if dir := packageDir(input); dir != "" && in.Bytes > 0 {
				used[dir] = true
			}
		}
	}
	dirs := make([]string, 0, len(used))
	for dir := range used {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	var text bytes.Buffer
	fmt.Fprintln(&text, "The browser application of Packetboat contains these packages.")
	for _, dir := range dirs {
		if err := p.licence(&text, dir); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// printLicences prints the licences of the application that is built.
func (p project) printLicences(out io.Writer) error {
	packed, err := os.Open(filepath.Join(p.dist, "assets", "licences.txt.br"))
	if err != nil {
		return err
	}
	defer packed.Close()
	_, err = io.Copy(out, brotli.NewReader(packed))
	return err
}

// packageDir returns the directory of the package that input belongs to, or "".
func packageDir(input string) string {
	const modules = "node_modules/"
	i := strings.LastIndex(input, modules)
	if i < 0 {
		return ""
	}
	parts := strings.Split(input[i+len(modules):], "/")
	n := 1
	if strings.HasPrefix(parts[0], "@") {
		n = 2
	}
	return input[:i] + modules + strings.Join(parts[:n], "/")
}

func (p project) licence(text *bytes.Buffer, dir string) error {
	full := filepath.Join(p.web, filepath.FromSlash(dir))
	data, err := os.ReadFile(filepath.Join(full, "package.json"))
	if err != nil {
		return err
	}
	var about struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		License string `json:"license"`
	}
	if err := json.Unmarshal(data, &about); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	fmt.Fprintf(text, "\n%s\n%s %s (%s)\n\n", strings.Repeat("-", 72), about.Name, about.Version, about.License)
	entries, err := os.ReadDir(full)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !strings.HasPrefix(name, "LICENSE") && !strings.HasPrefix(name, "LICENCE") && !strings.HasPrefix(name, "NOTICE") && !strings.HasPrefix(name, "COPYING") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(full, e.Name()))
		if err != nil {
			return err
		}
		found = true
		text.Write(bytes.TrimSpace(content))
		text.WriteByte('\n')
	}
	if !found {
		known, ok := unlicensed[about.Name]
		if !ok {
			return fmt.Errorf("%s has no licence file; if its licence allows it, add its text to unlicensed in tools/web/licences.go", about.Name)
		}
		fmt.Fprintln(text, known)
	}
	return nil
}
