package ses

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode"

	"github.com/packetboat/packetboat/internal/mail/reply"
)

// FuzzAnswers reads answers of SES, or of a proxy before it. Each is an outcome that can be classified and
// shown, and is never taken for an acceptance.
func FuzzAnswers(f *testing.F) {
	f.Add(400, "", `{"message": "Email address is not verified", "__type": "com.amazon#MessageRejected:http://x/"}`)
	f.Add(429, "TooManyRequestsException:http://internal.amazon.com/", `{"message": "Rate exceeded"}`)
	f.Add(503, "", "<html>\x00 unavailable\r\n</html>")
	f.Add(-1, "#", `{"message": null, "__type": ":#:"}`)
	f.Add(301, "", "")
	f.Fuzz(func(t *testing.T, status int, kind, text string) {
		var a answer
		_ = json.Unmarshal([]byte(text), &a)
		if kind != "" {
			a.Type = kind
		}
		o := a.outcome(status, reply.Outcome{Stage: reply.Connect})
		if o.Accepted || o.Code < 400 || o.Code > 599 {
			t.Errorf("%d %q: %+v", status, kind, o)
		}
		if strings.ContainsFunc(o.Text, unicode.IsControl) {
			t.Errorf("the text %q has control characters", o.Text)
		}
		if v := reply.Classify(o); v.Class == reply.Accepted || v.Class == reply.Hard && status == http.StatusForbidden {
			t.Errorf("%d %q is %+v", status, kind, v)
		}
	})
}
