// Package meter measures what a program and its database take of the machine.
package meter

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // asks the server for its processes
)

// Server returns the processor time that the PostgreSQL server at an address has
// used since it started, in all its processes, those that have ended included. It
// is 0 where there is no server (SQLite), and when it is not on this machine.
func Server(ctx context.Context, address string) (time.Duration, error) {
	if !strings.HasPrefix(address, "postgres") {
		return 0, nil
	}
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

// Process returns the processor time that a process has used since it started, in
// all its threads; 0 when it is gone.
func Process(pid int) time.Duration {
	p, _ := processOf(pid)
	return p.used
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
