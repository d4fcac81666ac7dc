package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInspect(t *testing.T) {
	t.Parallel()
	zone, links := filepath.Join(t.TempDir(), "dns.json"), filepath.Join(t.TempDir(), "links.json")
	if err := os.WriteFile(zone, []byte(`{"example.com": {"TXT": ["v=spf1 ip4:192.0.2.1 -all"]}, "_dmarc.example.com": {"TXT": ["v=DMARC1; p=reject"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args, in string
		status   int
		out, err string // the whole output; part of the error
	}{
		{"inbound", "hello", 0, `{"kind":"none","recipients":[],"feedback":null,"original":{"message_id":"","to":"","ref":""}}` + "\n", ""},
		{"reply", "550 5.1.1 no such user\n\n250 ok\n", 0, `{"class":"invalid_recipient","kind":"hard","retry":false,"rule":"no-mailbox-words"}` + "\n" + `{"class":"","kind":"none","retry":false,"rule":"accepted"}` + "\n", ""},
		{"verify --dns=" + zone, "From: a@example.com\n\nhi\n", 0, "[]\n", ""},
		{"verify --dns=missing.json", "", exitFailure, "", "missing.json"},
		{"spf --ip=192.0.2.1 --from=a@example.com --dns=" + zone, "", 0, `{"result":"pass","domain":"example.com","reason":"matched ip"}` + "\n", ""},
		{"spf --ip=192.0.2.1 --dns=" + zone, "", exitUsage, "", "--from"},
		{"spf --ip=x --from=a@example.com --dns=" + zone, "", exitUsage, "", "not an IP address"},
		{"dmarc --from=a@example.com --dkim-domain=example.org --dkim-domain=example.com --dns=" + zone, "", 0, `{"record_domain":"example.com","org_domain":"example.com","policy":"reject","aligned_spf":false,"aligned_dkim":true,"result":"pass","warnings":[]}` + "\n", ""},
		{"build", "{}", exitFailure, "", "no date"},
		{"sign --domain=example.com --selector=es1 --key=" + zone, "From: a@example.com\n\nhi\n", exitFailure, "", "PEM"},
		{"html --links=" + links, `<a href="https://example.com/">x</a>`, 0, `<a href="https://go.example.com/_q/c/0">x</a>`, ""},
		{"text", "<p>Hello</p>", 0, "Hello\n", ""},
		{"address", "A@Example.com\nx\n", 0, `{"address":"a@example.com","local":"a","domain":"example.com","error":""}` + "\n" + `{"address":"","local":"","domain":"","error":"the address has no @"}` + "\n", ""},
		{"header --name=Subject", "Hello\n", 0, "Subject: Hello\r\n", ""},
		{"header --name=To", "nobody\n", exitFailure, "", "not an address"},
		{"events", `{"scenario":"x","links":1}` + "\n" + `{"kind":"click","link":1,"ua":"curl/8.0"}` + "\n", 0, `{"scenario":"x","events":[{"class":"bot","rule":"R2","stored":true}],"counters":{"apparent_opened":0,"verified_opened":0,"total_opened":0,"confirmed_opened":0,"bot_opened":0,"pending_opened":0,"total_clicked":0,"bot_clicked":1,"pending_clicked":0},"as_expected":null,"differences":[]}` + "\n", ""},
		{"events", "x\n", exitFailure, "", "line 1: "},
		{"events --lists=missing.txt", "", exitFailure, "", "missing.txt"},
		{"ua", "curl/8.0\n", 0, `{"machine":true,"proxy":false,"client":"other","vendor":""}` + "\n", ""},
		{"ua", strings.Repeat("x", maxInput+1), exitFailure, "", "longer than 16 MB"},
		{"text", strings.Repeat("x", maxInput+1), exitFailure, "", "longer than 16 MB"},
	} {
		var out, errOut bytes.Buffer
		args := append([]string{"inspect"}, strings.Fields(tt.args)...)
		status := run(t.Context(), args, strings.NewReader(tt.in), &out, &errOut)
		if status != tt.status || out.String() != tt.out || !strings.Contains(errOut.String(), tt.err) || tt.err == "" && errOut.Len() > 0 {
			t.Errorf("inspect %s: status %d, output %q, error %q; want %d, %q, %q", tt.args, status, out.String(), errOut.String(), tt.status, tt.out, tt.err)
		}
	}
	if text, err := os.ReadFile(links); err != nil || !strings.Contains(string(text), `"url": "https://example.com/"`) {
		t.Errorf("links: %s, %v", text, err)
	}
}
