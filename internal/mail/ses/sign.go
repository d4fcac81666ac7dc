package ses

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	algorithm = "AWS4-HMAC-SHA256"
	service   = "ses"
)

// sign adds the signature of a request with a body, as described in "Create a signed AWS API request"
// of the AWS documentation. It covers the method, the path, all headers that are set, and the body.
// The request must have no query.
func sign(r *http.Request, body []byte, c Config, service string, now time.Time) {
	stamp := now.UTC().Format("20060102T150405Z")
	r.Header.Set("X-Amz-Date", stamp)
	scope := strings.Join([]string{stamp[:8], c.Region, service, "aws4_request"}, "/")
	request, signed := canonical(r, body)
	text := strings.Join([]string{algorithm, stamp, scope, digest([]byte(request))}, "\n")
	key := []byte("AWS4" + c.SecretAccessKey)
	for _, part := range []string{stamp[:8], c.Region, service, "aws4_request", text} {
		key = mac(key, part)
	}
	r.Header.Set("Authorization", algorithm+" Credential="+c.AccessKeyID+"/"+scope+", SignedHeaders="+signed+", Signature="+hex.EncodeToString(key))
}

// canonical returns the canonical form of a request, and the names of the headers in it.
func canonical(r *http.Request, body []byte) (request, signed string) {
	values := map[string]string{"host": r.URL.Host}
	for name, v := range r.Header {
		if name != "Authorization" {
			values[strings.ToLower(name)] = strings.TrimSpace(strings.Join(v, ","))
		}
	}
	var names []string
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	var headers strings.Builder
	for _, name := range names {
		headers.WriteString(name + ":" + values[name] + "\n")
	}
	signed = strings.Join(names, ";")
	return strings.Join([]string{r.Method, r.URL.EscapedPath(), "", headers.String(), signed, digest(body)}, "\n"), signed
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
