package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb"
)

const (
	workers     = 3               // on PostgreSQL
	connections = 24              // of the lane, of all nodes together: that many may one of them have
	lease       = 6 * time.Second // of a worker
	cycleTakes  = 2500 * time.Millisecond
)

// The domains of the recipients, and their shares in percent. One refuses
// all recipients permanently, one defers all of them when a rule says so.
var domains = []struct {
	name  string
	share int
}{{"example.org", 95}, {"refused.example", 2}, {"grey.example", 3}}

// scene is an installation with its database, its receiving server, and the
// people that it sends to.
type scene struct {
	options
	random *rand.Rand
	dir    string
	db     *sqldb.DB // beside the program
	front  *harness.Program
	nodes  []*harness.Program // those that send; on SQLite the front itself
	proxy  *harness.Proxy     // before the database of nodes[0]; nil on SQLite
	server *harness.Sink      // that takes the mail
	ready  *harness.Ready
	made   int // nodes

	broadcast string
	people    []string             // addresses to be mailed
	never     []string             // addresses not to be mailed
	left      map[string]time.Time // addresses suppressed during the send
	mayRepeat int
	failures  map[string]int // number of failures by name
}

func newScene(ctx context.Context, o options, database string) (*scene, error) {
	dir, err := os.MkdirTemp("", "packetboat-crash")
	if err != nil {
		return nil, err
	}
	s := &scene{options: o, random: rand.New(rand.NewPCG(o.seed, 1)), dir: dir, left: map[string]time.Time{}, failures: map[string]int{}}
	if err := s.build(ctx, database); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *scene) build(ctx context.Context, database string) (err error) {
	open := connections
	if database == "postgres" {
		open /= 4 // the dead keep their part of them for a while
	}
	delay := time.Duration(open) * time.Duration(s.cycles) * cycleTakes / time.Duration(s.n)
	keypair := filepath.Join(s.dir, "keypair.pem")
	s.server, err = harness.StartSink(context.WithoutCancel(ctx), s.sink, s.dir, "-starttls", "-keypair", keypair,
		"-delay", delay.String(), "-refuse", `@refused\.example$=550 5.1.1 no such user`)
	if err != nil {
		return err
	}
	s.front = &harness.Program{Path: s.program, Dir: filepath.Join(s.dir, "front"),
		Env: []string{"PACKETBOAT_NODE_LEASE=" + lease.String(), "SSL_CERT_FILE=" + keypair}}
	address := "sqlite:packetboat.db"
	if database == "postgres" {
		if address, err = s.newDatabase(ctx); err != nil {
			return err
		}
		if s.proxy, err = harness.StartProxy(address); err != nil {
			return err
		}
		s.front.Database, s.front.Args = address, []string{"--roles", "api,app,track"}
	}
	if err := os.Mkdir(s.front.Dir, 0o700); err != nil {
		return err
	}
	if err := s.front.Start(ctx); err != nil {
		return err
	}
	if s.ready, err = s.front.Ready(ctx); err != nil {
		return err
	}
	s.db, err = sqldb.Open(ctx, address, sqldb.Options{DataDir: s.front.Dir, MaxConns: 2})
	return err
}

// newDatabase makes an empty database on the server.
func (s *scene) newDatabase(ctx context.Context) (string, error) {
	name := fmt.Sprintf("crash_%d_%d", os.Getpid(), time.Now().UnixNano())
	admin, err := sqldb.Open(ctx, s.postgres, sqldb.Options{MaxConns: 1})
	if err != nil {
		return "", err
	}
	defer admin.Close()
	if _, err := admin.Exec(ctx, `CREATE DATABASE `+name+` TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C' ENCODING 'UTF8'`); err != nil {
		return "", err
	}
	return harness.OtherDatabase(s.postgres, name)
}

// schedule makes the people and the broadcast, and the nodes that send it.
func (s *scene) schedule(ctx context.Context) error {
	for _, d := range domains {
		n := s.n * d.share / 100
		if err := harness.Seed(ctx, s.db, s.ready.List, n, d.name); err != nil {
			return err
		}
		for i := range n {
			s.people = append(s.people, fmt.Sprintf("person%d@%s", i, d.name))
		}
	}
	for i, change := range []map[string]any{{"do_not_contact": true}, {"subscriptions": map[string]any{"newsletter": false}}, nil} {
		for k := range 10 { // these must never get a mail
			email := fmt.Sprintf("person%d@example.org", i*10+k)
			s.never = append(s.never, email)
			if err := s.excludeContact(ctx, email, change); err != nil {
				return err
			}
		}
	}
	s.people = s.people[len(s.never):]
	lane, err := s.ready.LaneBy(ctx, "Sink", s.server.Address, connections, map[string]any{"tls": "starttls", "dkim_sign": false})
	if err != nil {
		return err
	}
	s.broadcast, err = s.ready.Broadcast(ctx, lane, map[string]any{
		"subject": "Hello {{ first_name }}", "body_html": `<p>Hello {{ first_name }}, <a href="https://example.com/">read on</a></p>`,
	})
	if err == nil {
		err = s.ready.Schedule(ctx, s.broadcast)
	}
	if err != nil || s.proxy == nil {
		s.nodes = []*harness.Program{s.front}
		return err
	}
	for range workers {
		if err := s.addNode(ctx); err != nil {
			return err
		}
	}
	return nil
}

// excludeContact applies a change after which a contact must not be mailed; nil suppresses it.
func (s *scene) excludeContact(ctx context.Context, email string, change map[string]any) error {
	if change == nil {
		return s.retryCall(ctx, http.MethodPost, "/suppressions", map[string]any{"email": email, "reason": "asked"})
	}
	whole := map[string]any{"email": email}
	maps.Copy(whole, change)
	return s.retryCall(ctx, http.MethodPut, "/contacts", whole)
}

// retryCall calls an operation until it succeeds: the database may be unavailable for a
// moment.
func (s *scene) retryCall(ctx context.Context, method, path string, body any) error {
	for late := time.Now().Add(30 * time.Second); ; {
		a, err := s.ready.Key.Do(ctx, method, path, body)
		switch {
		case err != nil:
			return err
		case a.Status < http.StatusMultipleChoices:
			return nil
		case a.Status != http.StatusServiceUnavailable || time.Now().After(late):
			return fmt.Errorf("%s %s: %d %s", method, path, a.Status, a.Body)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// addNode starts a node that sends. The first one connects to its database through the proxy.
func (s *scene) addNode(ctx context.Context) error {
	s.made++
	dir := filepath.Join(s.dir, fmt.Sprint("node", s.made))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	n := s.front.NewNode(dir, "--roles", "worker")
	if len(s.nodes) == 0 || s.nodes[0].Database != s.proxy.Database {
		n.Database = s.proxy.Database
		s.nodes = append([]*harness.Program{n}, s.nodes...)
	} else {
		s.nodes = append(s.nodes, n)
	}
	return n.Start(ctx)
}

// close ends everything that was started.
func (s *scene) close() error {
	if s.proxy != nil {
		s.proxy.Heal()
	}
	var errs []error
	for _, n := range s.nodes {
		errs = append(errs, n.Kill())
	}
	if s.front != nil {
		errs = append(errs, s.front.Kill())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	if s.proxy != nil {
		errs = append(errs, s.proxy.Close())
	}
	if s.server != nil {
		_ = s.server.Kill() // it may be dead
	}
	if s.keep {
		fmt.Println("data and logs are in", s.dir)
	} else {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

// randomInt returns a random number below n.
func (s *scene) randomInt(n int) int { return s.random.IntN(n) }
