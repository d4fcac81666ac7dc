package main

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
)

// result is what became of a page: Pixels differ, if they are more than share allows.
type result struct {
	shot
	Pixels  int
	Differs bool
}

var index = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Screens</title>
<style>
body { font: 14px/20px system-ui, sans-serif; margin: 24px; background: #edf0f3; color: #161b22 }
h2 { font-size: 16px; margin: 32px 0 8px }
div { display: flex; gap: 16px; align-items: start }
figure { margin: 0; min-width: 0 }
img { max-width: 100%; border: 1px solid #808b98 }
</style>
<h1>{{len .Differ}} pictures differ, {{len .Same}} do not</h1>
{{range .Differ}}<h2 id="{{.File}}">{{.Who}} · {{.Route}} · {{.Screen}} · {{.Pixels}} pixels</h2>
<div>{{$file := .File}}{{range $side := $.Sides}}<figure><figcaption>{{$side}}</figcaption><a href="{{$side}}/{{$file}}"><img loading="lazy" src="{{$side}}/{{$file}}" alt=""></a></figure>{{end}}</div>
{{end}}{{range .Same}}<h2>{{.Who}} · {{.Route}} · {{.Screen}}</h2><a href="after/{{.File}}"><img loading="lazy" src="after/{{.File}}" alt=""></a>
{{end}}</html>
`))

// report compares the pictures in dir/before and dir/after, writes dir/index.html, and returns how many differ, each of
// which is named on stderr.
func report(dir string, shots []shot) (int, error) {
	if err := os.MkdirAll(filepath.Join(dir, "difference"), 0o755); err != nil {
		return 0, err
	}
	var all struct {
		Sides        []string
		Differ, Same []result
	}
	all.Sides = []string{"before", "after", "difference"}
	for _, s := range shots {
		n, different, err := look(dir, s.File)
		if err != nil {
			return 0, err
		}
		r := result{s, n, different}
		if !different {
			all.Same = append(all.Same, r)
			continue
		}
		all.Differ = append(all.Differ, r)
		fmt.Fprintf(os.Stderr, "%s: %s, %s: %d pixels differ\n", s.Who, s.Route, s.Screen, n)
	}
	slices.SortStableFunc(all.Differ, func(a, b result) int { return b.Pixels - a.Pixels })
	var page bytes.Buffer
	err := index.Execute(&page, all)
	return len(all.Differ), errors.Join(err, os.WriteFile(filepath.Join(dir, "index.html"), page.Bytes(), 0o644))
}

// look compares the two pictures of a page. It writes one with the difference, if there is any.
func look(dir, file string) (int, bool, error) {
	var raw [2][]byte
	var pictures [2]*image.RGBA
	for i, side := range []string{"before", "after"} {
		b, err := os.ReadFile(filepath.Join(dir, side, file))
		if err != nil {
			return 0, false, err
		}
		raw[i] = b
	}
	if bytes.Equal(raw[0], raw[1]) {
		return 0, false, nil
	}
	for i, b := range raw {
		p, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			return 0, false, err
		}
		pictures[i] = rgba(p)
	}
	n, marked := compare(pictures[0], pictures[1])
	if !differ(n, marked.Rect) {
		return n, false, nil
	}
	var b bytes.Buffer
	if err := png.Encode(&b, marked); err != nil {
		return 0, false, err
	}
	return n, true, os.WriteFile(filepath.Join(dir, "difference", file), b.Bytes(), 0o644)
}
