package harness

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// Ready is an account that can send.
type Ready struct {
	Owner  *Client
	Key    *Client
	Domain string
	Sender string // the identity's address
	List   string // segment_key
}

// Ready makes the account able to send: a domain verified by the operator, an
// identity for the newsletter, and an empty list.
func (p *Program) Ready(ctx context.Context) (*Ready, error) {
	owner, err := p.SignIn(ctx)
	if err != nil {
		return nil, err
	}
	r := &Ready{Owner: owner, Key: p.Keyed(), Domain: "example.com", Sender: "news@example.com"}
	if _, err := owner.Must(ctx, http.MethodPost, "/sending-domains", map[string]any{"domain": r.Domain}); err != nil {
		return nil, err
	}
	host := strings.TrimPrefix(p.BaseURL, "http://")
	if _, err := p.Run(ctx, "domain", "verify", "--tenant", p.slug(), "--domain", r.Domain, "--force", "--tracking-host", host); err != nil {
		return nil, err
	}
	types, err := owner.Must(ctx, http.MethodGet, "/email-types", nil)
	if err != nil {
		return nil, err
	}
	rows, _ := types["data"].([]any)
	if len(rows) == 0 {
		return nil, fmt.Errorf("a new tenant has no email type: %v", types)
	}
	newsletter := rows[0].(map[string]any)["id"]
	if _, err := owner.Must(ctx, http.MethodPost, "/sending-identities", map[string]any{
		"email_address": r.Sender, "display_name": "Acme News", "email_type_ids": []any{newsletter}, "active": true,
	}); err != nil {
		return nil, err
	}
	list, err := r.Key.Must(ctx, http.MethodPost, "/segments", map[string]any{"name": "Everyone", "type": "static"})
	if err != nil {
		return nil, err
	}
	r.List = list["segment_key"].(string)
	return r, nil
}

// Lane makes an MTA config for the SMTP server at address and returns its key.
func (r *Ready) Lane(ctx context.Context, name, address string, connections int, sign bool) (string, error) {
	return r.LaneBy(ctx, name, address, connections, map[string]any{"tls": "none", "dkim_sign": sign})
}

// LaneBy is Lane with settings of one's own.
func (r *Ready) LaneBy(ctx context.Context, name, address string, connections int, settings map[string]any) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return "", err
	}
	all := map[string]any{"host": host, "port": number, "auth": "none"}
	maps.Copy(all, settings)
	lane, err := r.Owner.Must(ctx, http.MethodPost, "/mta-configs", map[string]any{
		"name": name, "type": "smtp", "settings": all,
		"caps": map[string]any{"max_connections": connections, "max_messages_per_connection": 100000},
	})
	if err != nil {
		return "", err
	}
	return lane["key"].(string), nil
}

// Broadcast makes a draft for the list, to be sent at once, and returns its id.
func (r *Ready) Broadcast(ctx context.Context, lane string, content map[string]any) (string, error) {
	return r.BroadcastAt(ctx, lane, time.Now().Add(-time.Second), content)
}

// BroadcastAt is Broadcast for a later time.
func (r *Ready) BroadcastAt(ctx context.Context, lane string, at time.Time, content map[string]any) (string, error) {
	b, err := r.Key.Must(ctx, http.MethodPost, "/broadcasts", map[string]any{
		"name": "Spring news", "email_type_key": "newsletter", "mta_config_key": lane,
		"include_segment_keys": []string{r.List}, "scheduled_at": at.UTC().Format(time.RFC3339),
		"content": content,
	})
	if err != nil {
		return "", err
	}
	return b["id"].(string), nil
}

// Schedule schedules a broadcast.
func (r *Ready) Schedule(ctx context.Context, broadcast string) error {
	_, err := r.Key.Must(ctx, http.MethodPost, "/broadcasts/"+broadcast+"/schedule", nil)
	return err
}

// Await waits until the broadcast has a status, and returns it.
func (r *Ready) Await(ctx context.Context, broadcast, status string) (map[string]any, error) {
	for wait := 25 * time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) { // frequent requests would slow down the program
		b, err := r.Key.Must(ctx, http.MethodGet, "/broadcasts/"+broadcast, nil)
		if err != nil {
			return nil, err
		}
		if b["status"] == status {
			return b, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the broadcast is %v, not %s: %v", b["status"], status, b["view_model"])
		case <-time.After(wait):
		}
	}
}

// Hurry waits until a disturbed broadcast is completed. Messages that were deferred
// become due at once, since the schedule of retries takes days.
func (r *Ready) Hurry(ctx context.Context, db *sqldb.DB, broadcast string) error {
	for {
		if _, err := db.Exec(ctx, `
			UPDATE outbox SET due_at = $1 WHERE state = 'queued' AND due_at > $2`,
			time.Now().Add(time.Second).UnixMicro(), time.Now().Add(3*time.Second).UnixMicro()); err != nil {
			return err
		}
		if _, err := db.Exec(ctx, `UPDATE send SET low_due = 0, low_id = NULL, low_turn = low_turn + 1`); err != nil {
			return err
		}
		within, cancel := context.WithTimeout(ctx, 2*time.Second)
		_, err := r.Await(within, broadcast, "completed")
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}
