package site

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Cost is what was used meanwhile.
type Cost struct {
	Took        time.Duration
	CPU, Server time.Duration // processor time of the program, and of PostgreSQL in all its processes
	Peak        int64         // bytes that the program had resident at the most since it started
	Written     int64         // bytes that the program wrote to files
}

// During returns what do costs a program and its database.
func During(ctx context.Context, p *harness.Program, do func() error) (c Cost, err error) {
	server, err := serverTime(ctx, p.Database)
	if err != nil {
		return c, err
	}
	before, err := p.Usage()
	if err != nil {
		return c, err
	}
	began := time.Now()
	if err := do(); err != nil {
		return c, err
	}
	c.Took = time.Since(began)
	after, err := p.Usage()
	if err != nil {
		return c, err
	}
	served, err := serverTime(ctx, p.Database)
	c.CPU, c.Server, c.Peak, c.Written = after.CPU-before.CPU, served-server, after.PeakMemory, after.Written-before.Written
	return c, err
}

// serverTime returns the processor time of the PostgreSQL server at an address, with that of the workers when it
// is a coordinator; 0 on SQLite.
func serverTime(ctx context.Context, address string) (sum time.Duration, err error) {
	if address == "" {
		return 0, nil
	}
	nodes, err := dbtest.CitusNodes(address)
	if nodes == nil {
		nodes = []string{address}
	}
	for _, n := range nodes {
		used, failed := nodeTime(ctx, n)
		sum, err = sum+used, errors.Join(err, failed)
	}
	return sum, err
}

// nodeTime returns the processor time that the PostgreSQL server at an address has
// used since it started, in all its processes, those that have ended included. It
// is 0 when the server is not on this machine.
func nodeTime(ctx context.Context, address string) (time.Duration, error) {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	var backend int
	if err := db.QueryRowContext(ctx, `SELECT pg_backend_pid()`).Scan(&backend); err != nil {
		return 0, err
	}
	one, ok := processOf(backend)
	if !ok || one.name != "postgres" {
		return 0, nil
	}
	server, ok := processOf(one.parent)
	if !ok {
		return 0, nil
	}
	total := server.used + server.ended
	list, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, dir := range list {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if p, ok := processOf(pid); ok && p.parent == one.parent {
			total += p.used
		}
	}
	return total, nil
}

// process is what Linux says about one.
type process struct {
	name        string
	parent      int
	used, ended time.Duration // by itself, and by its children that have ended
}

func processOf(pid int) (process, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	return parseStat(string(text))
}

// parseStat reads proc_pid_stat(5). The name may hold blanks and brackets.
func parseStat(text string) (process, bool) {
	end := strings.LastIndex(text, ") ")
	_, name, ok := strings.Cut(text[:max(end, 0)], "(")
	if !ok {
		return process{}, false
	}
	fields := strings.Fields(text[end+2:])
	if len(fields) < 15 {
		return process{}, false
	}
	n := func(i int) time.Duration {
		ticks, _ := strconv.ParseInt(fields[i], 10, 64)
		return time.Duration(ticks) * 10 * time.Millisecond // USER_HZ is 100
	}
	parent, _ := strconv.Atoi(fields[1])
	return process{name, parent, n(11) + n(12), n(13) + n(14)}, true
}
