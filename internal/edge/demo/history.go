package demo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// past is how long before its first start the demo's tenant was created.
const past = 75 * day

// joining is the time in which all contacts came, one after the other.
const joining = past - 14*day

const day = 24 * time.Hour

// History is what happened in the demo's tenant before its first start. Its acts are calls of the API,
// requests of readers and submissions of a form, each at its own time; in between, the engines do what is
// due. Each act can be repeated: it finds what an interrupted call has made by its name.
type History struct {
	DB     *sqldb.DB
	Tenant id.Tenant
	Began  time.Time // when the tenant was created
	Access Access
	Dir    string       // of the file with Access
	API    http.Handler // answers at the time of Clock
	Host   string       // of the API
	Stock  string       // the URL of StockSystem; empty: it is not served
	Keys   *track.Keys
	Log    *slog.Logger
	Clock  *Clock
	// Settle lets the engines do what is due at the time of Clock.
	Settle func(ctx context.Context) error

	cookie string
	hits   []track.Hit // that are yet to come, by time
	people []sample
	began  time.Time // when the owner signed in
	used   time.Time // when the session was last used
}

// act is a part of the history.
type act struct {
	at   time.Duration // since midnight (UTC) of the day of the first start; negative
	what string
	do   func(h *History, ctx context.Context) error
	// again is set for acts that only compute what is to come: an interrupted history repeats them.
	again bool
}

// historyDone is the action of the audit log's entry that ends the history.
const historyDone = "demo.complete"

// end returns when the history ends: at midnight (UTC) of the day of the first start.
func (h *History) end() time.Time { return h.Began.Add(past) }

// Done reports whether the history was carried out.
func (h *History) Done(ctx context.Context) (bool, error) {
	list, err := auth.AuditLog(ctx, h.DB, h.Tenant, auth.AuditFilter{}, h.end().Add(time.Microsecond), id.AuditEntry{}, 1)
	return err == nil && len(list) == 1 && list[0].Action == historyDone, err
}

// Possible reports whether the tenant can have a history: it was created long enough ago, and holds nothing
// that a person or a program made after the history's end. The engines of the past would carry out what
// such callers have scheduled, at times of the past.
func (h *History) Possible(ctx context.Context) (bool, error) {
	if h.end().After(time.Now()) {
		return false, nil
	}
	var used bool
	err := h.DB.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM audit WHERE tenant_id = $1 AND created_at > $2 AND actor_type <> 'system')
			OR EXISTS (SELECT 1 FROM contact WHERE tenant_id = $1 AND created_at > $2)
			OR EXISTS (SELECT 1 FROM broadcast WHERE tenant_id = $1 AND scheduled_at > $2 AND status <> 'draft')
			OR EXISTS (SELECT 1 FROM job WHERE tenant_id = $1 AND created_at > $2)`, h.Tenant, h.end().UnixMicro()).Scan(&used)
	if err != nil {
		return false, fmt.Errorf("look for what was made since the demo's first start: %w", err)
	}
	return !used, nil
}

// Run carries out the history.
func (h *History) Run(ctx context.Context) error {
	h.people = contacts(h.end())
	h.Clock.Forward(h.Access.Reached)
	acts := slices.Concat(settingUp(), seeding(), sending(), shopping(), subscribing())
	slices.SortStableFunc(acts, func(a, b act) int { return int((a.at - b.at) / time.Second) })
	for _, a := range acts {
		at := h.end().Add(a.at)
		if at.Before(h.Access.Reached) {
			if a.again {
				if err := a.do(h, ctx); err != nil {
					return fmt.Errorf("%s: %w", a.what, err)
				}
			}
			continue
		}
		h.Log.DebugContext(ctx, "history of the demo", "act", a.what)
		if err := h.forward(ctx, at); err != nil {
			return fmt.Errorf("before %s: %w", a.what, err)
		}
		h.Access.Reached = at
		if err := h.Access.save(h.Dir); err != nil {
			return err
		}
		if err := a.do(h, ctx); err != nil {
			return fmt.Errorf("%s: %w", a.what, err)
		}
	}
	if err := h.forward(ctx, h.end()); err != nil {
		return err
	}
	if err := h.signOut(ctx); err != nil {
		return err
	}
	return auth.Audit(ctx, h.DB, auth.BySystem.Did(h.Tenant, historyDone, "tenant", Slug, h.end()))
}

// forward puts the clock forward, records what readers did until then, and lets the engines work.
func (h *History) forward(ctx context.Context, to time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h.Clock.Forward(to)
	if err := h.recordHits(ctx, to); err != nil {
		return err
	}
	return h.Settle(ctx)
}

// reply is a decoded answer of the API.
type reply map[string]any

func (r reply) text(name string) string { s, _ := r[name].(string); return s }

// rows returns the objects of an answer that lists them.
func (r reply) rows() []reply {
	list, _ := r["data"].([]any)
	rows := make([]reply, 0, len(list))
	for _, one := range list {
		if m, ok := one.(map[string]any); ok {
			rows = append(rows, m)
		}
	}
	return rows
}

// call calls an operation as the owner, who signs in again before the session ends. body is encoded as
// JSON, unless it is nil.
func (h *History) call(ctx context.Context, method, path string, body any) (reply, error) {
	now := h.Clock.Now()
	if now.Sub(h.used) > 6*day || now.Sub(h.began) > 28*day {
		if err := h.signIn(ctx); err != nil {
			return nil, err
		}
		h.began = now
	}
	h.used = now
	return h.request(ctx, method, "/t/"+Slug+"/api"+path, body)
}

func (h *History) request(ctx context.Context, method, path string, body any) (reply, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+h.Host+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.RemoteAddr = owner
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if h.cookie != "" {
		r.AddCookie(&http.Cookie{Name: auth.CookieName, Value: h.cookie})
	}
	a, err := h.serve(r)
	if err != nil {
		return nil, err
	}
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		if c.Name == auth.CookieName {
			h.cookie = c.Value
		}
	}
	var out reply
	if a.body.Len() > 0 {
		if err := json.Unmarshal(a.body.Bytes(), &out); err != nil {
			return nil, fmt.Errorf("decode the answer to %s %s: %w", method, path, err)
		}
	}
	return out, nil
}

// answer is an answer of the API, in memory.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the header, to be set.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader sets the status.
func (a *answer) WriteHeader(status int) { a.status = cmp.Or(a.status, status) }

// Write adds to the body.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// serve returns the answer to a request, or an error if the request was refused.
func (h *History) serve(r *http.Request) (*answer, error) {
	a := &answer{header: http.Header{}}
	h.API.ServeHTTP(a, r)
	if a.status >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s %s: %d %s", r.Method, r.URL.Path, a.status, &a.body)
	}
	return a, nil
}

// owner is the address from which the owner works.
const owner = "192.0.2.10:50000"

func (h *History) signIn(ctx context.Context) error {
	_, err := h.request(ctx, http.MethodPost, "/api/auth/login", map[string]string{"email": h.Access.Email, "password": h.Access.Password})
	return err
}

func (h *History) signOut(ctx context.Context) error {
	_, err := h.request(ctx, http.MethodPost, "/api/auth/logout", nil)
	return err
}

// find returns the record whose field has a value, or nil. path lists records.
func (h *History) find(ctx context.Context, path, field, value string) (reply, error) {
	out, err := h.call(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range out.rows() {
		if r.text(field) == value {
			return r, nil
		}
	}
	return nil, nil
}

// ensure returns the record whose field has the value that it has in body, and creates it if there is none.
func (h *History) ensure(ctx context.Context, path, field string, body map[string]any) (reply, error) {
	value, _ := body[field].(string)
	found, err := h.find(ctx, path, field, value)
	if found != nil || err != nil {
		return found, err
	}
	made, err := h.call(ctx, http.MethodPost, path, body)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", value, err)
	}
	return made, nil
}
