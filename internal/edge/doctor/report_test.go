package doctor

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestPartsThatHangAreAbandoned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		release := make(chan struct{})
		list := within(t.Context(), time.Minute,
			part{"quick", func(_ context.Context, n *notes) { n.ok("a", "fine") }},
			part{"hung", func(_ context.Context, n *notes) { n.ok("b", "first"); <-release; n.ok("b", "second") }},
			part{"patient", func(ctx context.Context, n *notes) { <-ctx.Done(); n.warn("c", "wait", "interrupted") }},
		)
		close(release)
		if took := time.Since(begun); took > 2*time.Minute {
			t.Errorf("the parts took %s", took)
		}
		var texts []string
		for _, f := range list {
			texts = append(texts, f.Check+" "+string(f.Status))
		}
		if got := strings.Join(texts, ", "); got != "quick ok, hung ok, hung warning, patient warning" {
			t.Errorf("findings are %s", got)
		}
	})
}

func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	r := report([]Finding{{Detail: "login of hunter22 failed", Advice: "not hunter22"}, {Status: Warning}}, []string{"hunter22", "", "a"})
	if strings.Contains(r.Findings[0].Detail+r.Findings[0].Advice, "hunter22") || r.Warnings != 1 || r.Status != Warning {
		t.Errorf("%+v", r)
	}
}
