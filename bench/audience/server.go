package main

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// serverTime returns the processor time that the PostgreSQL server has used
// since it started, in all its processes; 0 on SQLite, and when the server is not
// on this machine.
func (s *site) serverTime(ctx context.Context) (time.Duration, error) {
	if s.dialect != "postgres" {
		return 0, nil
	}
	db, err := sql.Open("pgx", s.Database)
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
	head, rest, ok := strings.Cut(string(text), ") ")
	_, name, named := strings.Cut(head, "(")
	fields := strings.Fields(rest)
	if !ok || !named || len(fields) < 15 {
		return process{}, false
	}
	n := func(i int) time.Duration {
		ticks, _ := strconv.ParseInt(fields[i], 10, 64)
		return time.Duration(ticks) * 10 * time.Millisecond // USER_HZ is 100
	}
	parent, _ := strconv.Atoi(fields[1])
	return process{name, parent, n(11) + n(12), n(13) + n(14)}, true
}
