package versus

import "testing"

// TestMedianIsTheMiddle takes the middle of a figure's rounds, and finds none where
// no round has it.
func TestMedianIsTheMiddle(t *testing.T) {
	t.Parallel()
	round := func(values ...float64) (f figures) {
		for i, v := range values {
			f.add(string(rune('a'+i)), v, 0)
		}
		return f
	}
	rounds := []figures{round(3, 1), round(1), round(10, 2), round(4)}
	for name, want := range map[string]float64{"a": 3.5, "b": 1.5} {
		if got, ok := median(rounds, name); !ok || got != want {
			t.Errorf("median of %s = %v, %v; want %v", name, got, ok, want)
		}
	}
	if got, ok := median(rounds, "c"); ok {
		t.Errorf("median of c = %v", got)
	}
}

// TestPeopleDiffer looks for two people of the same address.
func TestPeopleDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i := range 10_000 {
		if p := person(i); seen[p.email] {
			t.Fatalf("person %d has the address of another: %s", i, p.email)
		} else {
			seen[p.email] = true
		}
	}
}

// TestPartsOfMailAreFound finds the pixel and the links of a mail.
func TestPartsOfMailAreFound(t *testing.T) {
	t.Parallel()
	const text = `<a href="http://127.0.0.1:8080/_q/c/Ab_-9">x</a><img src="http://127.0.0.1:8080/_q/o/Cd_-8.gif" alt="">`
	if open, click := pixel.FindString(text), link.FindString(text); open != "/_q/o/Cd_-8.gif" || click != "/_q/c/Ab_-9" {
		t.Errorf("pixel %q, link %q", open, click)
	}
}
