package dbtest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// CitusWorkers names the environment variable that makes the databases of tests
// distributed ones: the workers of a Citus cluster as host:port, with commas between
// them. The server of Variable is then its coordinator.
const CitusWorkers = "PACKETBOAT_TEST_CITUS_WORKERS"

const (
	citusShards  = 4    // of a table of a test
	citusTenants = 1000 // whose rows a test may write without making them: of both kinds, from 1 and idtest.Tenant
)

// distributedAddress returns the address of an empty database whose tables are
// distributed. It lives as long as the test.
func distributedAddress(t testing.TB, nodes []string) string {
	t.Helper()
	address, drop, err := NewDistributed(nodes)
	if err != nil {
		t.Fatalf("make a distributed database: %v", err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	return address
}

// CitusNodes returns the addresses of the nodes that CitusWorkers names with a server,
// which comes first; none when the variable is not set.
func CitusNodes(server string) ([]string, error) {
	workers := os.Getenv(CitusWorkers)
	if workers == "" {
		return nil, nil
	}
	nodes := []string{server}
	for w := range strings.SplitSeq(workers, ",") {
		u, err := url.Parse(server)
		if err != nil {
			return nil, err
		}
		u.Host = w
		nodes = append(nodes, u.String())
	}
	return nodes, nil
}

// NewDistributed creates an empty database whose tables are distributed over the nodes
// of a cluster, the coordinator first. It returns its address and how to drop it.
func NewDistributed(nodes []string) (address string, drop func() error, err error) {
	texts, err := migrationTexts()
	if err != nil {
		return "", nil, err
	}
	sum := sha256.Sum256(fmt.Append(nil, sqldb.CitusScript, nodes, citusShards, citusTenants, texts))
	source := "citus_" + hex.EncodeToString(sum[:])[:24]
	templateMu.Lock()
	defer templateMu.Unlock()
	have, err := citusHas(nodes[0], source)
	if err == nil && !have {
		err = citusTemplate(nodes, source)
	}
	if err != nil {
		return "", nil, err
	}
	name := "t_" + strings.ReplaceAll(id.NewText(), "-", "")
	drop = func() error { return onNodes(nodes, `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`) }
	if err = onNodes(nodes, `CREATE DATABASE `+name+` TEMPLATE `+source+` STRATEGY file_copy`); err == nil {
		err = distribute(named(nodes[0], name)) // for what is set on the database
	}
	if err != nil {
		return "", nil, errors.Join(err, drop())
	}
	return named(nodes[0], name), drop, nil
}

// citusTemplate creates a migrated and distributed database that can be copied.
func citusTemplate(nodes []string, name string) error {
	err := onNodes(nodes, `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`,
		`CREATE DATABASE `+name+` TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C' ENCODING 'UTF8'`)
	if err != nil {
		return err
	}
	for i, node := range nodes {
		u, err := url.Parse(node)
		if err != nil {
			return err
		}
		host, port, err := net.SplitHostPort(u.Host)
		if err != nil {
			return err
		}
		if err := run(named(node, name), `CREATE EXTENSION citus`); err != nil {
			return err
		}
		add := "citus_add_node"
		if i == 0 {
			add = "citus_set_coordinator_host"
		}
		if err := run(named(nodes[0], name), fmt.Sprintf(`SELECT %s('%s', %s)`, add, host, port)); err != nil {
			return err
		}
	}
	if err := distribute(named(nodes[0], name)); err != nil {
		return err
	}
	if err := run(named(nodes[0], name), fmt.Sprintf(`INSERT INTO home (key) SELECT key + more FROM generate_series(1, %d) AS key CROSS JOIN (VALUES (0), (1000000)) AS v(more) ON CONFLICT DO NOTHING`, citusTenants)); err != nil {
		return err
	}
	// Nobody may be connected to what is copied, and a daemon of Citus is.
	return onNodes(nodes, `ALTER DATABASE `+name+` ALLOW_CONNECTIONS false`,
		`SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '`+name+`'`)
}

// distribute migrates a database and distributes its tables.
func distribute(address string) error {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, address, sqldb.Options{MaxConns: 2})
	if err != nil {
		return err
	}
	if _, err = db.Migrate(ctx); err == nil {
		err = db.Distribute(ctx, citusShards)
	}
	return errors.Join(err, db.Close())
}

// onNodes runs statements on each node, in the database that its address names.
func onNodes(nodes []string, statements ...string) error {
	for _, node := range nodes {
		if err := run(node, append([]string{`SET citus.enable_create_database_propagation TO off`}, statements...)...); err != nil {
			return err
		}
	}
	return nil
}

func run(address string, statements ...string) error {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

func citusHas(address, name string) (have bool, err error) {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return false, err
	}
	defer db.Close()
	err = db.QueryRow(`SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)`, name).Scan(&have)
	return have, err
}
