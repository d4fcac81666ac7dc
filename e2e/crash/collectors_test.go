package crash

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestKilledProcessesApplyEachAnsweredWebsiteRequestOnce kills the program with SIGKILL while a website's
// visitor views pages. Each page view that was answered is in the contact's activity once, one
// that was not at most once.
func TestKilledProcessesApplyEachAnsweredWebsiteRequestOnce(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		const clients, kills = 4, 2
		ctx := t.Context()
		// Clients have different addresses, so that they are not limited together.
		p := &harness.Program{Env: []string{"PACKETBOAT_TRUSTED_PROXIES=127.0.0.0/8"}}
		e2etest.Begin(t, p, address)
		owner, err := p.SignIn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		account, err := owner.Must(ctx, http.MethodGet, "/settings/account", nil)
		if err != nil {
			t.Fatal(err)
		}
		post := func(ctx context.Context, n int, route, fields string) bool {
			body := fmt.Sprintf(`{"site_key": %q, "visitor_id": "v", %s}`, account["site_key"], fields)
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.BaseURL+"/_q/"+route, strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return false
			}
			r.Header.Set("X-Forwarded-For", fmt.Sprintf("10.1.%d.%d", n/250, n%250))
			r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36")
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				return false
			}
			_ = a.Body.Close()
			return a.StatusCode == http.StatusNoContent
		}
		if !post(ctx, 0, "identify", `"email": "ann@example.org"`) {
			t.Fatal("the first request is not answered")
		}
		var mu sync.Mutex
		next, sent := 1, map[string]bool{} // whether each page's request was answered
		running, stop := context.WithCancel(ctx)
		var work sync.WaitGroup
		for range clients {
			work.Go(func() {
				for running.Err() == nil {
					mu.Lock()
					n := next
					next++
					mu.Unlock()
					url := fmt.Sprintf("https://shop.example/%d", n)
					done := post(running, n, "page", `"url": "`+url+`"`)
					mu.Lock()
					sent[url] = done
					mu.Unlock()
					e2etest.Wait(t, 20*time.Millisecond)
				}
			})
		}
		answered := func() (n int) {
			mu.Lock()
			defer mu.Unlock()
			for _, done := range sent {
				if done {
					n++
				}
			}
			return n
		}
		for range kills {
			for goal := answered() + 25; answered() < goal; {
				e2etest.Wait(t, 5*time.Millisecond)
			}
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := p.Start(ctx); err != nil {
				t.Fatal(err)
			}
		}
		for goal := answered() + 25; answered() < goal; {
			e2etest.Wait(t, 5*time.Millisecond)
		}
		stop()
		work.Wait()
		n := answered()
		viewed := map[string]int{}
		for range 1200 { // a minute
			clear(viewed)
			pages(t, owner, viewed)
			if len(viewed) >= n {
				break
			}
			e2etest.Wait(t, 50*time.Millisecond)
		}
		for url, done := range sent {
			if got := viewed[url]; got > 1 || done && got != 1 {
				t.Errorf("%s was viewed %d times; answered: %v", url, got, done)
			}
		}
		t.Logf("%d requests, %d answered, %d applied", len(sent), n, len(viewed))
	})
}

// pages counts the page views of the contact by URL.
func pages(t *testing.T, owner *harness.Client, viewed map[string]int) {
	t.Helper()
	a, err := owner.Do(t.Context(), http.MethodGet, "/contacts/lookup?email=ann@example.org", nil)
	if err != nil {
		t.Fatal(err)
	}
	contact, ok := a.Map()["id"].(string)
	if !ok {
		return
	}
	for cursor := ""; ; {
		list, err := owner.Must(t.Context(), http.MethodGet, "/contacts/"+contact+"/activity?types=page_viewed&limit=200"+cursor, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range list["data"].([]any) {
			viewed[strings.TrimPrefix(row.(map[string]any)["title"].(string), "Viewed ")]++
		}
		next, more := list["next_cursor"].(string)
		if !more {
			return
		}
		cursor = "&cursor=" + next
	}
}
