package public

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// TestTextOnOurPagesHasContrast checks the ratio of WCAG 2.2, success criterion
// 1.4.3, in both colour schemes.
func TestTextOnOurPagesHasContrast(t *testing.T) {
	t.Parallel()
	const least = 4.5
	for file, pairs := range map[string][][2]string{
		"page.html":         {{"ink", "card"}, {"soft", "card"}, {"link", "card"}, {"#fff", "key"}, {"ink", "note"}, {"ink", "back"}, {"link", "back"}},
		"mailbox/style.css": {{"ink", "card"}, {"ink", "back"}, {"soft", "card"}, {"soft", "back"}, {"key", "card"}, {"key", "back"}, {"bad", "card"}},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		schemes := regexp.MustCompile(`:root \{([^}]*)\}`).FindAllSubmatch(text, -1)
		if len(schemes) != 2 {
			t.Fatalf("%s has %d colour schemes, want 2", file, len(schemes))
		}
		colours := map[string]string{} // the dark scheme overrides some
		for i, scheme := range schemes {
			for _, c := range regexp.MustCompile(`--([a-z]+): (#[0-9a-f]+);`).FindAllStringSubmatch(string(scheme[1]), -1) {
				colours[c[1]] = c[2]
			}
			for _, pair := range pairs {
				front, back := pair[0], pair[1]
				if front[0] != '#' {
					front = colours[front]
				}
				if got := contrast(t, front, colours[back]); got < least {
					t.Errorf("%s, scheme %d: %s on %s has a contrast of %.2f, want at least %.1f", file, i, pair[0], back, got, least)
				}
			}
		}
	}
}

// contrast returns the contrast ratio defined by WCAG 2.2.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	la, lb := luminance(t, a), luminance(t, b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	if len(colour) == 4 {
		colour = string([]byte{'#', colour[1], colour[1], colour[2], colour[2], colour[3], colour[3]})
	}
	if len(colour) != 7 {
		t.Fatalf("%q is not a colour", colour)
	}
	var sum float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatalf("%q is not a colour", colour)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
