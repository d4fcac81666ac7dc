package ses

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/reply"
)

var now = time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)

func example() Config {
	return Config{
		Region: "us-east-1", AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
		Guard: netguard.Guard{AllowPrivate: true}, Connections: 2, Now: func() time.Time { return now },
	}
}

// The request and the signature are those of get-vanilla in the test suite that AWS publishes.
func TestSignaturesAreThoseOfAWS(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodGet, "https://example.amazonaws.com/", nil)
	sign(r, nil, example(), "service", now)
	want := "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, " +
		"Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
	if got := r.Header.Get("Authorization"); got != want {
		t.Errorf("Authorization: %s\nwant %s", got, want)
	}
}

// standIn answers as SES does, after checking the signature.
func standIn(t *testing.T, answer func(to, raw, set string) (status int, kind, body string)) *Client {
	t.Helper()
	c := example()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		again, _ := http.NewRequest(r.Method, "http://"+r.Host+r.URL.Path, nil)
		if v := r.Header.Get("Content-Type"); v != "" {
			again.Header.Set("Content-Type", v)
		}
		sign(again, body, example(), service, now)
		if got := r.Header.Get("Authorization"); got != again.Header.Get("Authorization") {
			w.Header().Set(typeHeader, "InvalidSignatureException")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"message": "The request signature does not match."}`)
			return
		}
		var in sendRequest
		_ = json.Unmarshal(body, &in)
		raw, _ := base64.StdEncoding.DecodeString(in.Content.Raw.Data)
		status, kind, text := answer(strings.Join(in.Destination.ToAddresses, ","), string(raw), in.ConfigurationSetName)
		if kind != "" {
			w.Header().Set(typeHeader, kind+":http://internal.amazon.com/")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	c.Endpoint, c.ConfigurationSet = s.URL, "news"
	client, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func TestMessagesAreSent(t *testing.T) {
	t.Parallel()
	c := standIn(t, func(to, raw, set string) (int, string, string) {
		if to != "ada@example.com" || raw != "Subject: x\r\n\r\ny\r\n" || set != "news" {
			t.Errorf("SES got %q for %s with %q", raw, to, set)
		}
		return 200, "", `{"MessageId": "0100-1"}`
	})
	o, name := c.Send(t.Context(), "ada@example.com", []byte("Subject: x\r\n\r\ny\r\n"))
	if !o.Accepted || name != "0100-1" || reply.Classify(o).Class != reply.Accepted {
		t.Errorf("Send = %+v, %q", o, name)
	}
}

func TestErrorsAreClassified(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status  int
		kind    string
		message string
		class   reply.Class
	}{
		{429, "TooManyRequestsException", "Maximum sending rate exceeded.", reply.Deferred},
		{400, "LimitExceededException", "Daily message quota exceeded.", reply.Deferred},
		{400, "AccountSuspendedException", "suspended", reply.Lane},
		{400, "SendingPausedException", "paused", reply.Lane},
		{400, "MailFromDomainNotVerifiedException", "x", reply.Lane},
		{404, "NotFoundException", "Configuration set <news> does not exist.", reply.Lane},
		{400, "MessageRejected", "Email address is not verified. The following identities failed the check", reply.Lane},
		{400, "MessageRejected", "The message contains a virus", reply.Block},
		{400, "BadRequestException", "Invalid header", reply.Block},
		{403, "AccessDeniedException", "not authorized", reply.Lane},
		{500, "InternalFailure", "", reply.Deferred},
		{503, "", "<html>", reply.Deferred},
	} {
		t.Run(tt.kind+tt.message, func(t *testing.T) {
			c := standIn(t, func(string, string, string) (int, string, string) {
				text, _ := json.Marshal(map[string]string{"message": tt.message})
				return tt.status, tt.kind, string(text)
			})
			o, name := c.Send(t.Context(), "ada@example.com", []byte("x"))
			if v := reply.Classify(o); v.Class != tt.class || name != "" || o.Uncertain {
				t.Errorf("%+v is %+v, want %s", o, v, tt.class)
			}
		})
	}
}

func TestAWrongKeyIsTheLanesFailure(t *testing.T) {
	t.Parallel()
	c := standIn(t, func(string, string, string) (int, string, string) { return 200, "", "{}" })
	if err := c.Check(t.Context()); err != nil {
		t.Errorf("Check = %v", err)
	}
	c.config.SecretAccessKey = "other"
	if o, _ := c.Send(t.Context(), "ada@example.com", nil); reply.Classify(o).Class != reply.Lane {
		t.Errorf("Send = %+v", o)
	}
	if err := c.Check(t.Context()); err == nil || strings.Contains(err.Error(), "other") {
		t.Errorf("Check = %v", err)
	}
}

// A request that was written and not answered may have been carried out.
func TestALostAnswerIsUncertain(t *testing.T) {
	t.Parallel()
	c := standIn(t, func(string, string, string) (int, string, string) { panic(http.ErrAbortHandler) })
	if o, _ := c.Send(t.Context(), "ada@example.com", []byte("x")); !o.Uncertain {
		t.Errorf("Send = %+v", o)
	}
	c.config.Guard, c.config.Endpoint = netguard.Guard{}, c.base.String()
	guarded, err := New(c.config)
	if err != nil {
		t.Fatal(err)
	}
	if o, _ := guarded.Send(t.Context(), "ada@example.com", []byte("x")); o.Uncertain || o.Accepted || o.Stage != reply.Connect {
		t.Errorf("a private endpoint was connected to: %+v", o)
	}
}
