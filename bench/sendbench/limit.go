package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rsa"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // makes the databases measured on

	"github.com/packetboat/packetboat/bench/bare"
	"github.com/packetboat/packetboat/bench/page"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// limits are messages a second of clients that do nothing but send.
type limits struct{ plain, pipelined float64 }

// bareLimits sends the sample to the sink as fast as bare clients can; with a
// key, they sign it each time.
func bareLimits(ctx context.Context, o options, address string, sample []byte, n int, key *rsa.PrivateKey) (limits, error) {
	n = min(n, 100_000)
	var signer func([]byte) ([]byte, error)
	if key != nil {
		var err error
		if signer, err = bare.Signer(key); err != nil {
			return limits{}, err
		}
	}
	r, err := bare.Run(ctx, bare.Options{
		Addr: address, Conns: o.connections, Messages: n, Sign: signer,
		Next: func(i int) (string, string, []byte) { return "b@example.com", "person@example.com", sample },
	})
	if err != nil {
		return limits{}, err
	}
	plain, err := bare.Plain(address, o.connections, n, sample, signer)
	return limits{plain, r.Rate()}, err
}

// sinkProcess is a running sink.
type sinkProcess struct {
	address string
	cmd     *exec.Cmd
	out     *bufio.Reader
}

func startSink(ctx context.Context, path string, args ...string) (*sinkProcess, error) {
	cmd := exec.CommandContext(ctx, path, append([]string{"-listen", "127.0.0.1:0"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	from := bufio.NewReader(out)
	line, err := from.ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		return nil, fmt.Errorf("the sink said %q: %v", line, err)
	}
	return &sinkProcess{address, cmd, from}, nil
}

// stop ends the sink and returns what it has seen.
func (s *sinkProcess) stop() (seen sink.Stats) {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = json.NewDecoder(s.out).Decode(&seen)
	_ = s.cmd.Wait()
	return seen
}

// cpu returns the processor time of a sink that was stopped.
func (s *sinkProcess) cpu() time.Duration {
	return s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
}

// oneMessage sends the broadcast to one recipient and returns the bytes.
func oneMessage(ctx context.Context, o options, ready *harness.Ready) ([]byte, error) {
	dir, err := os.MkdirTemp("", "packetboat-sample")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	sink, err := startSink(ctx, o.sink, "-quiet", "-store", dir, "-fsync=false")
	if err != nil {
		return nil, err
	}
	defer sink.stop()
	lane, err := ready.Lane(ctx, "Sample", sink.address, 1, false)
	if err != nil {
		return nil, err
	}
	list, err := ready.Key.Must(ctx, "POST", "/segments", map[string]any{"name": "One", "type": "static"})
	if err != nil {
		return nil, err
	}
	if _, err := ready.Key.Must(ctx, "POST", "/contacts", map[string]any{"email": "one@example.net", "first_name": "Ada", "city": "Bergen"}); err != nil {
		return nil, err
	}
	if _, err := ready.Key.Must(ctx, "POST", fmt.Sprintf("/segments/%s/members", list["segment_key"]), map[string]any{"emails": []string{"one@example.net"}}); err != nil {
		return nil, err
	}
	one := *ready
	one.List = list["segment_key"].(string)
	id, err := one.Broadcast(ctx, lane, map[string]any{"subject": "News for {{ first_name }}", "body_html": page.HTML()})
	if err != nil {
		return nil, err
	}
	if err := one.Schedule(ctx, id); err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if _, err := one.Await(waiting, id, "completed"); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("the sink stored %d messages, %v", len(files), err)
	}
	return os.ReadFile(files[0])
}

// databaseFor returns the address of a fresh database and how to drop it; an
// empty address is SQLite in the program's own directory.
func databaseFor(ctx context.Context, o options, dialect string) (string, func() error, error) {
	if dialect == "sqlite" {
		return "", func() error { return nil }, nil
	}
	nodes, err := dbtest.CitusNodes(o.postgres)
	if err != nil {
		return "", nil, err
	}
	if nodes != nil {
		return dbtest.NewDistributed(nodes)
	}
	admin, err := sql.Open("pgx", o.postgres)
	if err != nil {
		return "", nil, err
	}
	name := "bench_" + strings.ReplaceAll(id.NewText(), "-", "")
	if _, err := admin.ExecContext(ctx, `CREATE DATABASE `+name); err != nil {
		return "", nil, errors.Join(err, admin.Close())
	}
	u, err := url.Parse(o.postgres)
	if err != nil {
		return "", nil, err
	}
	u.Path = "/" + name
	return u.String(), func() error {
		_, err := admin.Exec(`DROP DATABASE IF EXISTS ` + name + ` WITH (FORCE)`)
		return errors.Join(err, admin.Close())
	}, nil
}

// seed fills the list in a database that the program has open as well, and
// returns the key that the program signs with.
func seed(ctx context.Context, p *harness.Program, ready *harness.Ready, n int) (key *rsa.PrivateKey, err error) {
	err = inDatabase(ctx, p, func(db *sqldb.DB) error {
		if key, err = p.SigningKey(ctx, db, ready.Domain); err != nil {
			return err
		}
		return harness.Seed(ctx, db, ready.List, n, "example.com")
	})
	return key, err
}

// inDatabase calls do with the database of a program, which may be running.
func inDatabase(ctx context.Context, p *harness.Program, do func(db *sqldb.DB) error) error {
	db, err := sqldb.Open(ctx, cmp.Or(p.Database, "sqlite:packetboat.db"), sqldb.Options{DataDir: p.Dir})
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.Close())
}
