package mjml

import (
	"os"
	"strings"
	"testing"
)

// open returns a compiler, which the test closes.
func open(t testing.TB) *Compiler {
	t.Helper()
	c := New()
	if !c.Available() {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no MJML compiler: scripts/mjml could not fetch it")
		}
		t.Skip("there is no MJML compiler: run make build where the npm registry can be reached")
	}
	t.Cleanup(c.Close)
	return c
}

func TestCompile(t *testing.T) {
	c := open(t)
	r, err := c.Compile(t.Context(), `<mjml><mj-body><mj-section><mj-column><mj-text>Hello {{ name | default: "<you>" }}</mj-text></mj-column></mj-section></mj-body></mjml>`)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.HTML, `>Hello {{ name | default: "<you>" }}</div>`) {
		t.Errorf("the greeting is not in the HTML: %s", r.HTML)
	}
}
