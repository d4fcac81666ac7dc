package webapp

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

var colorToken = regexp.MustCompile(`--([a-z-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\);`)

// luminance is the relative luminance of a colour (WCAG 2.2, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance).
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	part := func(shift uint) float64 {
		c := float64(n>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

// The colours of text reach a contrast of 4.5 on every surface that they may stand on, those of controls, rings and
// plots 3, in both themes (WCAG 2.2, criteria 1.4.3 and 1.4.11).
func TestColoursHaveEnoughContrast(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("../../../web/src/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	tokens := map[string][2]string{}
	for _, m := range colorToken.FindAllStringSubmatch(string(css), -1) {
		tokens[m[1]] = [2]string{m[2], m[3]}
	}
	surfaces := []string{"canvas", "surface", "sunken", "raised", "selected"}
	for _, tt := range []struct {
		on    []string
		least float64
		marks []string
	}{
		{surfaces, 4.5, []string{"text", "muted", "accent"}},
		{[]string{"surface", "canvas", "raised"}, 4.5, []string{"faint", "success", "warning", "danger", "neutral", "progress"}},
		{[]string{"surface"}, 3, []string{"control", "plot-blue", "plot-orange", "plot-teal", "plot-magenta", "plot-olive", "plot-grey"}},
		{[]string{"success-tint"}, 4.5, []string{"success", "text"}},
		{[]string{"warning-tint"}, 4.5, []string{"warning", "text"}},
		{[]string{"danger-tint"}, 4.5, []string{"danger", "text"}},
		{[]string{"neutral-tint"}, 4.5, []string{"neutral", "text", "muted"}},
		{[]string{"progress-tint"}, 4.5, []string{"progress", "text"}},
		{[]string{"accent"}, 4.5, []string{"on-accent"}},
		{[]string{"danger"}, 4.5, []string{"on-danger"}},
	} {
		for _, surface := range tt.on {
			for _, mark := range tt.marks {
				for theme, name := range []string{"light", "dark"} {
					if tokens[surface][theme] == "" || tokens[mark][theme] == "" {
						t.Fatalf("no token %s or %s", surface, mark)
					}
					a, b := luminance(t, tokens[surface][theme]), luminance(t, tokens[mark][theme])
					if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < tt.least {
						t.Errorf("%s: %s on %s has a contrast of %.2f, want %.1f", name, mark, surface, ratio, tt.least)
					}
				}
			}
		}
	}
}
