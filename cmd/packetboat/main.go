// Command packetboat is the whole program: the server and the tools of its
// operator.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/nearest"
	"github.com/packetboat/packetboat/internal/edge/app"
)

// Exit statuses.
const (
	exitFailure = 1
	exitUsage   = 2 // of the command line or the configuration
)

// commandLine is the command line.
type commandLine struct {
	ConfigFile  kong.ConfigFlag  `name:"config" env:"PACKETBOAT_CONFIG" placeholder:"FILE" help:"Configuration in TOML: the names of the options below, with underscores."`
	JSON        bool             `name:"json" help:"Print JSON: what the API would show."`
	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`

	app.Options `embed:"" group:"Configuration"`

	Serve      serveCommand      `cmd:"" help:"Serve the API, the links in mails, and send."`
	Demo       demoCommand       `cmd:"" help:"Serve with a tenant that holds sample data, ready to send."`
	Release    releaseCommand    `cmd:"" help:"Let sends go on that serve --hold holds."`
	Migrate    migrateCommand    `cmd:"" help:"Bring the database schema up to date, and do nothing else."`
	Distribute distributeCommand `cmd:"" help:"Distribute the tables over the nodes of a Citus cluster."`
	Copy       copyCommand       `cmd:"" help:"Copy an installation from SQLite to an empty PostgreSQL database."`
	Recount    recountCommand    `cmd:"" help:"Compare stored sums with what they count, and correct them."`
	Doctor     doctorCommand     `cmd:"" help:"Examine the machine, the database, the DNS and other servers, and say what to do."`
	Health     healthCommand     `cmd:"" help:"Say whether the program that serves on this machine is ready."`
	Inspect    inspectCommands   `cmd:"" help:"Show how mail is read and written, without a database and network."`
	Tenant     tenantCommands    `cmd:"" help:"Make and manage tenants."`
	User       userCommands      `cmd:"" help:"Make users, reset their passwords."`
	APIKey     apiKeyCommands    `cmd:"" name:"apikey" help:"Make and manage API keys."`
	Domain     domainCommands    `cmd:"" help:"Manage sending domains."`
	Outage     outageCommands    `cmd:"" help:"Decide about bounces that are held because a mailbox provider may be wrong."`
	Version    versionCommand    `cmd:"" help:"Print the version."`

	Completion completionCommand `cmd:"" help:"Print a script that completes commands in bash, zsh or fish."`
}

// console is the environment of a command.
type console struct {
	ctx  context.Context
	cfg  app.Config
	json bool
	// configFile is the file of the configuration, or empty.
	configFile string
	in         io.Reader
	out, err   io.Writer
	now        func() time.Time
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// helped ends the parsing of a command line with --help.
type helped int

// run runs the command of args and returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) (status int) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case helped:
			status = int(cause)
		default:
			panic(cause)
		}
	}()
	var line commandLine
	parser, err := kong.New(&line,
		kong.Name("packetboat"),
		kong.Description("Packetboat sends email for many tenants, and says what became of it."),
		kong.Writers(out, errOut),
		kong.Exit(func(code int) { panic(helped(code)) }),
		kong.Configuration(readTOML),
		kong.Vars{"version": programBuild().String()},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		panic(err) // the declarations above are wrong
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(errOut, "packetboat: %v\nTry: packetboat --help\n", err)
		return exitUsage
	}
	cfg, err := line.Config()
	if err != nil {
		fmt.Fprintf(errOut, "packetboat: %v\n", err)
		return exitUsage
	}
	for _, warning := range unknownVariables(os.Environ()) {
		fmt.Fprintf(errOut, "packetboat: %s\n", warning)
	}
	c := &console{ctx: ctx, cfg: cfg, json: line.JSON, configFile: string(line.ConfigFile), in: in, out: out, err: errOut, now: time.Now}
	if err := parsed.Run(c); err != nil {
		fmt.Fprintf(errOut, "packetboat: %s\n", explain(err))
		if _, ok := errors.AsType[usageError](err); ok {
			return exitUsage
		}
		return exitFailure
	}
	return 0
}

// unknownVariables returns a warning for each environment variable that has the program's prefix and is no
// option. Those of the tests are not meant for the program.
func unknownVariables(environment []string) (warnings []string) {
	const prefix = "PACKETBOAT_"
	names := []string{"CONFIG"}
	for _, o := range app.AllOptions() {
		names = append(names, strings.TrimPrefix(o.Env, prefix))
	}
	for _, v := range environment {
		variable, _, _ := strings.Cut(v, "=")
		name, ours := strings.CutPrefix(variable, prefix)
		if !ours || strings.HasPrefix(name, "TEST_") || slices.Contains(names, name) {
			continue
		}
		warning := "there is no option " + variable
		if meant := nearest.Of(name, names); meant != "" {
			warning += "; did you mean " + prefix + meant + "?"
		}
		warnings = append(warnings, warning)
	}
	return warnings
}

// usageError is an error of a command line that could be parsed.
type usageError string

// Error returns the text, which says what to type instead.
func (e usageError) Error() string { return string(e) }

// explain returns the text of an error for a user: of a fault, its message.
func explain(err error) string {
	if f, ok := fault.As(err); ok {
		return f.Message
	}
	return err.Error()
}

// open opens the store of a command that works on the database itself.
func (c *console) open() (*app.Store, error) { return app.Open(c.ctx, c.cfg) }

// with opens the store, runs f and closes the store.
func (c *console) with(f func(s *app.Store) error) error {
	s, err := c.open()
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

// withTenant is with, for a tenant given by its slug.
func (c *console) withTenant(slug string, f func(s *app.Store, t tenant.Tenant) error) error {
	return c.with(func(s *app.Store) error {
		t, err := tenant.BySlug(c.ctx, s.DB, slug)
		if errors.Is(err, tenant.ErrNotFound) {
			return fmt.Errorf("there is no tenant %q; packetboat tenant list shows those there are", slug)
		}
		if err != nil {
			return err
		}
		return f(s, t)
	})
}

// show prints v as JSON, or the text for a person.
func (c *console) show(v any, text string, args ...any) error {
	if c.json {
		e := json.NewEncoder(c.out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(v)
	}
	_, err := fmt.Fprintf(c.out, text, args...)
	return err
}

type migrateCommand struct{}

// Run opens the database, which migrates it. Like serve it may be started
// together with PostgreSQL.
func (migrateCommand) Run(c *console) error {
	s, err := app.OpenToMigrate(c.ctx, c.cfg, c.cfg.Logger(c.err))
	if err != nil {
		return err
	}
	return errors.Join(c.show(map[string]string{"status": "ok"}, "the schema is up to date\n"), s.Close())
}

type distributeCommand struct {
	Shards int `default:"32" help:"In how many shards each table is divided: 1, 2, 4, 8, 16, 32 or 64. It stays as it is when the tables have been distributed before."`
}

// Run distributes the tables over the nodes of the cluster that the database's server
// coordinates.
func (cmd distributeCommand) Run(c *console) error {
	if cmd.Shards < 1 || cmd.Shards > id.Groups || cmd.Shards&(cmd.Shards-1) != 0 {
		return usageError("--shards: write 1, 2, 4, 8, 16, 32 or 64")
	}
	return c.with(func(s *app.Store) error {
		if err := s.DB.Distribute(c.ctx, cmd.Shards); err != nil {
			return err
		}
		return c.show(map[string]string{"status": "ok"}, "the tables are distributed\n")
	})
}
