package endpoint_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestRateLimits(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{rate: 3})
	get := func(key string) reply { return s.do("GET /t/acme/api/things", "", "X-API-Key: "+key) }
	for i, left := range []string{"2", "1", "0"} {
		if got := get("key+broadcasts:read"); got.status != 200 || got.header.Get("X-RateLimit-Limit") != "3" || got.header.Get("X-RateLimit-Remaining") != left || got.header.Get("X-RateLimit-Reset") != "60" {
			t.Errorf("request %d: %d %v, want 200 with %s left of 3", i+1, got.status, got.header, left)
		}
	}
	s.pass(37 * time.Second)
	for range 3 {
		got := get("key+broadcasts:read")
		if got.status != 429 || got.code() != "RATE_LIMITED" || got.json["statusCode"] != 429.0 || got.header.Get("Retry-After") != "23" || got.header.Get("X-RateLimit-Reset") != "23" || got.header.Get("X-RateLimit-Remaining") != "0" {
			t.Errorf("over the limit: %d %s %v", got.status, got.body, got.header)
		}
		if want := "Rate limit of 3 requests per minute exceeded; retry in 23 s"; !strings.Contains(got.body, want) {
			t.Errorf("message = %s, want %q", got.body, want)
		}
	}
	if got := get("key+broadcasts:read+lists:read"); got.status != 200 {
		t.Errorf("another key: %d, want a window of its own", got.status)
	}
	// A refusal for lack of scope counts, too.
	s.pass(time.Minute)
	if got := s.do("GET /t/acme/api/things", "", "X-API-Key: key+lists:read"); got.status != 403 || got.header.Get("X-RateLimit-Remaining") != "2" || got.json["statusCode"] != nil {
		t.Errorf("403: %d %s %v", got.status, got.body, got.header)
	}
	if got := get("key+broadcasts:read"); got.status != 200 {
		t.Errorf("after the window: %d, want 200", got.status)
	}
}

func TestFailedCredentialsAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	for i := range 60 {
		if got := s.do("GET /t/acme/api/things", "", "X-API-Key: guess"); got.status != 401 {
			t.Fatalf("guess %d = %d, want 401", i+1, got.status)
		}
	}
	got := s.do("GET /t/acme/api/things", "", "X-API-Key: guess")
	if got.status != 429 || got.header.Get("X-RateLimit-Limit") != "60" || got.header.Get("Retry-After") == "" {
		t.Errorf("guess 61 = %d %v, want 429 with the address' bucket", got.status, got.header)
	}
	if got := s.do("GET /t/acme/api/things", "", "X-API-Key: key+broadcasts:read"); got.status != 200 {
		t.Errorf("a good key from there = %d, want 200", got.status)
	}
	if got := s.do("GET /t/nobody/api/things", ""); got.header.Get("X-RateLimit-Limit") != "60" || got.header.Get("X-RateLimit-Remaining") != "0" {
		t.Errorf("an unknown tenant shows %v, want the address' bucket", got.header)
	}
}

// A request without a route shows the limit of its credential and counts against it, so that it cannot be used to try
// credentials either.
func TestRequestsWithoutARouteAreLimited(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{rate: 2})
	const key, guess = "X-API-Key: key+broadcasts:read", "X-API-Key: guess"
	for i, c := range []struct {
		what, header string
		status       int
		limit, left  string
	}{
		{"GET /t/acme/api/nowhere", key, 404, "2", "1"},
		{"DELETE /t/acme/api/things", key, 405, "2", "0"},
		{"GET /t/acme/api/nowhere", key, 429, "2", "0"},
		{"GET /t/acme/api/nowhere", "Cookie: packetboat_session=viewer", 404, "2", "1"},
		{"GET /t/acme/api/nowhere", guess, 404, "60", "59"},
		{"GET /t/acme/api/nowhere", "", 404, "60", "59"}, // nothing was tried
		{"GET /t/nobody/api/nowhere", key, 404, "60", "59"},
		{"GET /t/acme/", guess, 404, "60", "58"},
		{"GET /t/acme", guess, 404, "60", "58"},
		{"GET /t/", guess, 404, "60", "58"},
		{"GET /nowhere", key, 404, "60", "58"},
		{"POST /api/auth/nowhere", "", 404, "60", "58"},
	} {
		got := s.do(c.what, "", c.header)
		if got.status != c.status || got.header.Get("X-RateLimit-Limit") != c.limit || got.header.Get("X-RateLimit-Remaining") != c.left || got.header.Get("X-RateLimit-Reset") == "" {
			t.Errorf("%d: %s with %q: %d %v, want %d with %s of %s left", i, c.what, c.header, got.status, got.header, c.status, c.left, c.limit)
		}
		if got.header.Get("WWW-Authenticate") != "" {
			t.Errorf("%d: %s asks for a credential", i, c.what)
		}
	}
	for range 58 {
		s.do("GET /t/acme/api/nowhere", "", guess)
	}
	if got := s.do("GET /t/acme/api/nowhere", "", guess); got.status != 429 {
		t.Errorf("guess 61 = %d, want 429", got.status)
	}
}

func TestSessionsAnswerToTheirOriginOnly(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	for _, tt := range []struct {
		name   string
		header []string
		status int
	}{
		{"same origin", []string{"Sec-Fetch-Site: same-origin", "Origin: https://mail.example.com"}, 200},
		{"our base address behind a proxy", []string{"Origin: https://mail.example.com"}, 200},
		{"cross-site", []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example"}, 403},
		{"foreign origin of an old browser", []string{"Origin: https://evil.example"}, 403},
		{"no browser", nil, 200},
	} {
		if got := s.do("PUT /t/acme/api/settings", "{}", append(tt.header, "Cookie: packetboat_session=owner")...); got.status != tt.status {
			t.Errorf("%s: %d %s, want %d", tt.name, got.status, got.body, tt.status)
		}
	}
	if got := s.do("POST /t/acme/api/things", `{"name": "x"}`, "X-API-Key: "+writer, "Origin: https://evil.example"); got.status != 201 {
		t.Errorf("a key from anywhere: %d, want 201", got.status)
	}
	if got := s.do("GET /t/acme/api/things", "", "Cookie: packetboat_session=viewer", "Sec-Fetch-Site: cross-site"); got.status != 200 {
		t.Errorf("a cross-site read: %d, want 200", got.status)
	}
}

func TestHeadIsGetWithoutTheBody(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	server := httptest.NewServer(s.router)
	t.Cleanup(server.Close)
	req, _ := http.NewRequestWithContext(t.Context(), "HEAD", server.URL+"/t/acme/api/things", nil)
	req.Header.Set("X-API-Key", "key+broadcasts:read")
	res, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	if res.StatusCode != 200 || len(body) != 0 || res.Header.Get("Content-Type") != "application/json" {
		t.Errorf("HEAD = %d %v %q", res.StatusCode, res.Header, body)
	}
	if got := s.do("PUT /t/acme/api/things", ""); got.status != 405 || got.header.Get("Allow") != "GET, HEAD, POST" {
		t.Errorf("PUT = %d, Allow %q", got.status, got.header.Get("Allow"))
	}
}

func TestLongResponsesAreCompressedOnRequest(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	long := "GET /t/acme/api/things/01900000-0000-7000-8000-00000000ac3e"
	plain := s.do(long, "", "X-API-Key: key+lists:read")
	if plain.header.Get("Content-Encoding") != "" || plain.header.Get("Vary") != "Accept-Encoding" || plain.json["name"] == nil {
		t.Errorf("plain: %v", plain.header)
	}
	zipped := s.do(long, "", "X-API-Key: key+lists:read", "Accept-Encoding: br, gzip;q=0.5")
	z, err := gzip.NewReader(strings.NewReader(zipped.body))
	if err != nil || zipped.header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("zipped: %v %v", err, zipped.header)
	}
	if text, err := io.ReadAll(z); err != nil || string(text) != plain.body {
		t.Errorf("unzipped is not the plain answer: %v", err)
	}
	for _, short := range []string{"GET /t/acme/api/things", "GET /t/acme/api/nowhere"} {
		if got := s.do(short, "", "X-API-Key: key+broadcasts:read", "Accept-Encoding: gzip"); got.header.Get("Content-Encoding") != "" {
			t.Errorf("%s is compressed, though it is short", short)
		}
	}
	if got := s.do(long, "", "X-API-Key: key+lists:read", "Accept-Encoding: gzip;q=0"); got.header.Get("Content-Encoding") != "" {
		t.Error("compressed although the caller refuses it")
	}
}

func TestStreamsAreWholeOrBreakOff(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	server := httptest.NewServer(s.router)
	t.Cleanup(server.Close)
	get := func(query string) (int, string, error) {
		req, _ := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/t/acme/api/stream?"+query, nil)
		req.Header.Set("X-API-Key", "key+x")
		res, err := server.Client().Do(req)
		if err != nil {
			return 0, "", err
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		return res.StatusCode, string(body), err
	}
	if status, body, err := get("rows=0"); err != nil || status != 200 || body != `{"data":[],"next_cursor":null,"has_more":false}`+"\n" {
		t.Errorf("no rows: %d %q %v", status, body, err)
	}
	if status, body, err := get("rows=5000"); err != nil || status != 200 || strings.Count(body, "@") != 5000 || !strings.HasSuffix(body, "false}\n") {
		t.Errorf("5000 rows: %d, %d bytes, %v", status, len(body), err)
	}
	if status, body, err := get("rows=9&break=3"); err != nil || status != 500 || !strings.Contains(body, "INTERNAL_ERROR") {
		t.Errorf("early error: %d %q %v, want a clean 500", status, body, err)
	}
	if _, body, err := get("rows=5000&break=4000"); err == nil {
		t.Errorf("late error: %d bytes and no error, want the connection broken", len(body))
	}
}

func TestInternalErrorsDiscloseNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	for what, want := range map[string]int{"GET /t/acme/api/panic": 500, "GET /t/broken/api/things": 500, "GET /t/outage/api/things": 503} {
		got := s.do(what, "", "X-API-Key: key+broadcasts:read", "X-Request-Id: from-the-proxy_1.2")
		if got.status != want {
			t.Fatalf("%s = %d %s, want %d", what, got.status, got.body, want)
		}
		if want == 500 && (got.code() != "INTERNAL_ERROR" || !strings.Contains(got.body, `"request_id":"from-the-proxy_1.2"`)) {
			t.Errorf("%s = %s", what, got.body)
		}
		if want == 503 && got.code() != "UNAVAILABLE" {
			t.Errorf("%s = %s", what, got.body)
		}
		if strings.Contains(got.body, "secrets") || strings.Contains(got.body, "disco") {
			t.Errorf("%s leaks: %s", what, got.body)
		}
	}
	log := s.log.String()
	for _, once := range []string{"at the disco", "a bug with secrets in it"} {
		if strings.Count(log, once) != 1 {
			t.Errorf("the log says %q %d times, want once:\n%s", once, strings.Count(log, once), log)
		}
	}
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	for given, kept := range map[string]bool{"abc-123": true, "": false, "two words": false, "new\tline": false, strings.Repeat("x", 129): false, "é": false} {
		got := s.do("GET /nowhere", "", "X-Request-Id: "+given).header.Get("X-Request-Id")
		if (got == given) != kept || got == "" {
			t.Errorf("X-Request-Id %q became %q", given, got)
		}
	}
}

func TestTheCallerIsFoundBehindTrustedProxiesOnly(t *testing.T) {
	t.Parallel()
	trust := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, tt := range []struct {
		name, peer string
		forwarded  []string
		want       string
	}{
		{"no proxy", "198.51.100.7:1234", nil, "198.51.100.7"},
		{"an untrusted peer's word", "198.51.100.7:1234", []string{"203.0.113.9"}, "198.51.100.7"},
		{"one proxy", "10.1.1.1:1234", []string{"203.0.113.9"}, "203.0.113.9"},
		{"a spoofed first hop", "10.1.1.1:1234", []string{"1.2.3.4, 203.0.113.9"}, "203.0.113.9"},
		{"two proxies, two headers", "10.1.1.1:1234", []string{"1.2.3.4, 203.0.113.9", "10.2.2.2"}, "203.0.113.9"},
		{"all trusted", "10.1.1.1:1234", []string{"10.3.3.3, 10.2.2.2"}, "10.3.3.3"},
		{"nonsense stops the search", "10.1.1.1:1234", []string{"203.0.113.9, unknown"}, "10.1.1.1"},
		{"with a port", "10.1.1.1:1234", []string{"203.0.113.9:555"}, "203.0.113.9"},
		{"IPv6 and mapped IPv4", "[::ffff:10.1.1.1]:1234", []string{"2001:db8::7"}, "2001:db8::7"},
		{"an IPv6 proxy", "[fd00::1%eth0]:1234", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
	} {
		s := newServer(t, options{trust: trust})
		req := httptest.NewRequest("POST", "/api/auth/login", strings.NewReader(`{"email": "ann@example.org"}`))
		req.RemoteAddr = tt.peer
		req.Header["X-Forwarded-For"] = tt.forwarded
		if got := s.send(req); got.json["ip"] != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got.body, tt.want)
		}
	}
}

func TestAnAnswerMayHaveHeadersAndAStatusOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	if got := s.do("POST /api/auth/login", `{"email": "ann@example.org"}`); got.status != 200 || got.header.Get("Set-Cookie") == "" {
		t.Errorf("login = %d %v", got.status, got.header)
	}
	if got := s.do("DELETE /t/acme/api/things/x", "", "X-API-Key: "+writer); got.status != 204 || got.body != "" || got.header.Get("Content-Type") != "" {
		t.Errorf("delete = %d %q %v", got.status, got.body, got.header)
	}
}

func TestADeprecatedOperationNamesItsSuccessor(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	got := s.do("POST /t/acme/api/poke", "", "X-API-Key: key+x")
	if d, l := got.header.Get("Deprecation"), got.header.Get("Link"); d != "@1767225600" || l != `<https://mail.example.com/t/acme/api/things>; rel="successor-version"` {
		t.Errorf("Deprecation %q, Link %q", d, l)
	}
	if got := s.do("GET /t/acme/api/things", "", "X-API-Key: key+x"); got.header.Get("Deprecation") != "" {
		t.Error("an operation that stays is announced to go")
	}
}

// What the router costs a small write and a small read.
func BenchmarkRouter(b *testing.B) {
	s := newServer(b, options{rate: 1 << 30})
	for name, what := range map[string]string{"post": "POST /t/acme/api/things", "get": "GET /t/acme/api/things"} {
		method, target, _ := strings.Cut(what, " ")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				req := httptest.NewRequest(method, target, strings.NewReader(`{"name": "x", "tags": ["a", "b"], "weight": 5, "props": {"a": 1}, "owner": {"email": "ann@example.org"}}`))
				req.Header.Set("X-API-Key", "key+broadcasts:write+broadcasts:read")
				s.router.ServeHTTP(httptest.NewRecorder(), req)
			}
		})
	}
}
