package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/packetboat/packetboat/bench/meter"
	"github.com/packetboat/packetboat/bench/page"
	"github.com/packetboat/packetboat/e2e/sink"
)

// listmonkConns are the SMTP connections of a send beside listmonk.
const listmonkConns = 20

// measureBesideListmonk measures a send as listmonk measures it: over 20 connections, from the
// first mail to the last.
func measureBesideListmonk(ctx context.Context, o options, s *site) (f figures, err error) {
	ready, _, err := s.audience(ctx, o.n)
	if err != nil {
		return f, err
	}
	into, err := sink.Listen(sink.Options{Discard: true})
	if err != nil {
		return f, err
	}
	defer into.Close()
	lane, err := ready.Lane(ctx, "Bench", into.Addr(), listmonkConns, false)
	if err != nil {
		return f, err
	}
	span := timeBetweenMails(ctx, into, o.n)
	took, t, err := s.timed(ctx, ready, lane, o.n)
	if err != nil {
		return f, err
	}
	f.add("msgs/s, first mail to last", float64(o.n)/(<-span).Seconds(), 0)
	f.add("msgs/s, whole", float64(o.n)/took.Seconds(), 0)
	f.spent("", t, o.n)
	return f, nil
}

// timeBetweenMails returns how long it takes from the first of n mails to the last.
func timeBetweenMails(ctx context.Context, into *sink.Server, n int) <-chan time.Duration {
	span := make(chan time.Duration, 1)
	go func() {
		var first time.Time
		for ctx.Err() == nil {
			got := into.Stats().Messages
			if first.IsZero() && got > 0 {
				first = time.Now()
			}
			if got >= int64(n) {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		span <- time.Since(first)
	}()
	return span
}

// listmonkServer is a running listmonk.
type listmonkServer struct {
	base, token string
	database    string
	cmd         *exec.Cmd
}

// listmonk measures the same send by listmonk: the same mail, in its own words, to as
// many subscribers, with links and opens tracked for each.
func listmonk(ctx context.Context, o options) (f figures, err error) {
	address, drop, err := database(ctx, o.postgres, "")
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	dir, err := os.MkdirTemp("", "packetboat-listmonk")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir)
	into, err := sink.Listen(sink.Options{Discard: true})
	if err != nil {
		return f, err
	}
	defer into.Close()
	m, err := startListmonk(ctx, o, dir, address, into.Addr())
	if err != nil {
		return f, err
	}
	defer m.stop()
	if err := m.subscribe(ctx, o.n); err != nil {
		return f, fmt.Errorf("import: %w", err)
	}
	campaign, err := m.campaign(ctx)
	if err != nil {
		return f, err
	}
	before, err := m.spent(ctx)
	if err != nil {
		return f, err
	}
	span := timeBetweenMails(ctx, into, o.n)
	if err := m.call(ctx, "PUT", campaign+"/status", map[string]any{"status": "running"}, nil); err != nil {
		return f, err
	}
	if err := m.await(ctx, campaign, "finished"); err != nil {
		return f, err
	}
	after, err := m.spent(ctx)
	if err != nil {
		return f, err
	}
	if got := into.Stats().Messages; got != int64(o.n) {
		return f, fmt.Errorf("%d of %d were sent", got, o.n)
	}
	f.add("msgs/s, first mail to last", float64(o.n)/(<-span).Seconds(), 0)
	f.spent("", spent{after.program - before.program, after.server - before.server}, o.n)
	return f, nil
}

var listmonkToken = regexp.MustCompile(`LISTMONK_ADMIN_API_TOKEN="([^"]+)"`)

// startListmonk installs listmonk into a database and starts it, set to send by 20
// connections as fast as it can. A binary without its files inside takes them from
// where it was built to look for them, and the texts from the current directory.
func startListmonk(ctx context.Context, o options, dir, address, smtp string) (*listmonkServer, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(o.listmonk)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	host := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	m := &listmonkServer{base: "http://" + host, database: address}
	password, _ := u.User.Password()
	env := append(os.Environ(), "LISTMONK_app__address="+host, "LISTMONK_ADMIN_USER=admin", "LISTMONK_ADMIN_PASSWORD=lantern-pickle-91", "LISTMONK_ADMIN_API_USER=bench",
		"LISTMONK_db__host="+cmp.Or(u.Hostname(), u.Query().Get("host")), "LISTMONK_db__port="+cmp.Or(u.Port(), "5432"),
		"LISTMONK_db__user="+u.User.Username(), "LISTMONK_db__password="+cmp.Or(password, "none"),
		"LISTMONK_db__database="+strings.TrimPrefix(u.Path, "/"), "LISTMONK_db__ssl_mode=disable",
		"LISTMONK_db__max_open=25", "LISTMONK_db__max_idle=25", "LISTMONK_db__max_lifetime=300s")
	command := func(ctx context.Context, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, path, append([]string{"--config", ""}, args...)...)
		cmd.Env, cmd.Dir = env, os.Getenv("LISTMONK_DIR")
		return cmd
	}
	out, err := command(ctx, "--install", "--yes").CombinedOutput()
	found := listmonkToken.FindSubmatch(out)
	if err != nil || found == nil {
		return nil, fmt.Errorf("listmonk --install: %w: %s", err, out)
	}
	m.token = "token bench:" + string(found[1])
	if err := m.settings(ctx, o, smtp); err != nil {
		return nil, err
	}
	m.cmd = command(context.WithoutCancel(ctx))
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	m.cmd.Stdout, m.cmd.Stderr = log, log
	if err := errors.Join(m.cmd.Start(), log.Close()); err != nil {
		return nil, err
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if err = m.call(ctx, "GET", "/api/health", nil, nil); err == nil {
			return m, nil
		}
		if time.Now().After(end) {
			text, _ := os.ReadFile(log.Name())
			m.stop()
			return nil, fmt.Errorf("listmonk does not come up: %w: %s", err, text)
		}
	}
}

func (m *listmonkServer) stop() {
	_ = m.cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan struct{})
	go func() { _ = m.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		_ = m.cmd.Process.Kill()
		<-done
	}
}

// settings sets what the first start must know.
func (m *listmonkServer) settings(ctx context.Context, o options, smtp string) error {
	host, port, err := net.SplitHostPort(smtp)
	if err != nil {
		return err
	}
	db, err := sql.Open("pgx", m.database)
	if err != nil {
		return err
	}
	defer db.Close()
	for key, value := range map[string]string{
		"smtp": fmt.Sprintf(`[{"enabled":true,"host":%q,"port":%s,"auth_protocol":"none","username":"","password":"","hello_hostname":"",
			"max_conns":%d,"idle_timeout":"15s","wait_timeout":"30s","max_msg_retries":2,"msg_retry_delay":"10ms","tls_type":"none","tls_skip_verify":false,
			"email_headers":[],"from_addresses":[]}]`, host, port, listmonkConns),
		"app.concurrency": fmt.Sprint(listmonkConns),
		// A worker pauses for a second after so many.
		"app.message_rate":            fmt.Sprint(max(o.n/10, 1000)),
		"app.check_updates":           "false",
		"app.root_url":                fmt.Sprintf("%q", m.base),
		"privacy.individual_tracking": "true",
	} {
		if _, err := db.ExecContext(ctx, `UPDATE settings SET value = $2::jsonb WHERE key = $1`, key, value); err != nil {
			return fmt.Errorf("listmonk's setting %s: %w", key, err)
		}
	}
	return nil
}

// subscribe imports n subscribers into the first list.
func (m *listmonkServer) subscribe(ctx context.Context, n int) error {
	// The list has some of the installation's own.
	db, err := sql.Open("pgx", m.database)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, `DELETE FROM subscribers`); err != nil {
		return err
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField("params", `{"mode":"subscribe","subscription_status":"confirmed","delim":",","lists":[1],"overwrite":true}`); err != nil {
		return err
	}
	file, err := form.CreateFormFile("file", "people.csv")
	if err != nil {
		return err
	}
	fmt.Fprintln(file, "email,name,attributes")
	for i := range n {
		p := person(i)
		fmt.Fprintf(file, "%s,%s %s,\"{\"\"city\"\":\"\"%s\"\",\"\"plan\"\":\"\"%s\"\"}\"\n", p.email, p.first, p.last, p.city, p.plan)
	}
	if err := form.Close(); err != nil {
		return err
	}
	if err := m.request(ctx, "POST", "/api/import/subscribers", form.FormDataContentType(), &body, nil); err != nil {
		return err
	}
	if err := m.await(ctx, "/api/import/subscribers", "finished"); err != nil {
		return err
	}
	var got int
	if err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM subscribers`).Scan(&got); err != nil || got != n {
		return fmt.Errorf("%d of %d were imported: %w", got, n, err)
	}
	return nil
}

// campaign makes one with the mail that sends are measured with, and returns its path.
func (m *listmonkServer) campaign(ctx context.Context) (string, error) {
	var template, made struct{ Data struct{ ID int } }
	if err := m.call(ctx, "POST", "/api/templates", map[string]any{
		"name": "Bare", "type": "campaign", "subject": "", "body": `{{ template "content" . }}`,
	}, &template); err != nil {
		return "", err
	}
	html := strings.NewReplacer(
		`{{ first_name | default: "reader" }}`, `{{ .Subscriber.FirstName }}`, `{{ city }}`, `{{ .Subscriber.Attribs.city }}`,
		`{{ unsubscribe_url }}`, `{{ UnsubscribeURL }}`, `">Read more`, `@TrackLink">Read more`, `</body>`, `{{ TrackView }}</body>`).Replace(page.HTML())
	err := m.call(ctx, "POST", "/api/campaigns", map[string]any{
		"name": "Spring news", "subject": "News for {{ .Subscriber.FirstName }}", "lists": []int{1}, "from_email": "Acme News <news@example.com>",
		"content_type": "html", "messenger": "email", "type": "regular", "body": html, "template_id": template.Data.ID,
	}, &made)
	return fmt.Sprint("/api/campaigns/", made.Data.ID), err
}

// await asks until something has a status.
func (m *listmonkServer) await(ctx context.Context, path, status string) error {
	for {
		var got struct{ Data struct{ Status string } }
		if err := m.call(ctx, "GET", path, nil, &got); err != nil {
			return err
		}
		switch got.Data.Status {
		case status:
			return nil
		case "failed", "cancelled", "paused":
			return fmt.Errorf("%s is %s", path, got.Data.Status)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *listmonkServer) call(ctx context.Context, method, path string, body, into any) error {
	if body == nil {
		return m.request(ctx, method, path, "", nil, into)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return m.request(ctx, method, path, "application/json", bytes.NewReader(raw), into)
}

func (m *listmonkServer) request(ctx context.Context, method, path, contentType string, body io.Reader, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, m.base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", m.token)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %d %.300s", method, path, res.StatusCode, text)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	return err
}

func (m *listmonkServer) spent(ctx context.Context) (t spent, err error) {
	t.program = meter.Process(m.cmd.Process.Pid)
	t.server, err = meter.Server(ctx, m.database)
	return t, err
}
