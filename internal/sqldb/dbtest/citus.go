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

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// CitusWorkers is the environment variable with the workers of a Citus cluster, as host:port
// separated by commas. If it is set, the server of ServerVariable is their coordinator, and the
// tables of test databases are distributed.
const CitusWorkers = "PACKETBOAT_TEST_CITUS_WORKERS"

const (
	citusShards  = 4    // of each table
	citusTenants = 1000 // tenants of either kind, from 1 and of idtest.Tenant, that tests need not create
)

// distributedAddress returns the address of an empty database whose tables are distributed. It is
// dropped when the test ends.
func distributedAddress(t testing.TB, nodes []string) string {
	t.Helper()
	address, drop, err := NewDistributed(nodes)
	if err != nil {
		t.Fatalf("create a distributed database: %v", err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	return address
}

// CitusNodes returns the addresses of a server and of the nodes in CitusWorkers; none if the
// variable is not set.
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

// NewDistributed creates an empty database whose tables are distributed over the nodes of a
// cluster, the coordinator first. It returns its address, and a function that drops it.
func NewDistributed(nodes []string) (address string, drop func() error, err error) {
	texts, err := migrationTexts()
	if err != nil {
		return "", nil, err
	}
	sum := sha256.Sum256(fmt.Append(nil, sqldb.CitusScript, nodes, citusShards, citusTenants, texts))
	source := "citus_" + hex.EncodeToString(sum[:])[:24]
	templateMu.Lock()
	defer templateMu.Unlock()
	have, err := databaseExists(nodes[0], source)
	if err == nil && !have {
		err = citusTemplate(nodes, source)
	}
	if err != nil {
		return "", nil, err
	}
	name := "t_" + strings.ReplaceAll(id.NewText(), "-", "")
	drop = func() error { return onNodes(nodes, `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`) }
	if err = onNodes(nodes, `CREATE DATABASE `+name+` TEMPLATE `+source+` STRATEGY file_copy`); err == nil {
		err = distribute(databaseAddress(nodes[0], name)) // for the settings of the database
	}
	if err != nil {
		return "", nil, errors.Join(err, drop())
	}
	return databaseAddress(nodes[0], name), drop, nil
}

// citusTemplate creates a migrated and distributed database to copy.
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
		if err := execAll(databaseAddress(node, name), `CREATE EXTENSION citus`); err != nil {
			return err
		}
		add := "citus_add_node"
		if i == 0 {
			add = "citus_set_coordinator_host"
		}
		if err := execAll(databaseAddress(nodes[0], name), fmt.Sprintf(`SELECT %s('%s', %s)`, add, host, port)); err != nil {
			return err
		}
	}
	if err := distribute(databaseAddress(nodes[0], name)); err != nil {
		return err
	}
	if err := execAll(databaseAddress(nodes[0], name), fmt.Sprintf(`INSERT INTO home (key) SELECT key + more FROM generate_series(1, %d) AS key CROSS JOIN (VALUES (0), (1000000)) AS v(more) ON CONFLICT DO NOTHING`, citusTenants)); err != nil {
		return err
	}
	// A database can only be copied while there are no connections to it, and a daemon of Citus has
	// one.
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

// onNodes runs statements on each node, in the database of its address.
func onNodes(nodes []string, statements ...string) error {
	for _, node := range nodes {
		if err := execAll(node, append([]string{`SET citus.enable_create_database_propagation TO off`}, statements...)...); err != nil {
			return err
		}
	}
	return nil
}

func execAll(address string, statements ...string) error {
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

func databaseExists(address, name string) (have bool, err error) {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return false, err
	}
	defer db.Close()
	err = db.QueryRow(`SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)`, name).Scan(&have)
	return have, err
}
