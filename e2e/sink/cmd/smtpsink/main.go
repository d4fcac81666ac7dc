// Command smtpsink runs package sink in a process of its own. Its first line
// on standard output is "listening on HOST:PORT"; on SIGTERM or SIGINT it stops
// and prints what it has seen as one line of JSON.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "smtpsink:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var o sink.Options
	flags := flag.NewFlagSet("smtpsink", flag.ExitOnError)
	flags.StringVar(&o.Addr, "listen", "127.0.0.1:0", "address and port; port 0 takes a free one")
	hosts := flags.String("hosts", "", "listen at these `addresses` too, at the same port; separated by commas")
	flags.StringVar(&o.Log, "log", "", "append one JSON line per message to this `file`")
	fsync := flags.Bool("fsync", true, "answer only when the line is on stable storage")
	flags.StringVar(&o.Store, "store", "", "write raw messages to this `directory`")
	flags.BoolVar(&o.Discard, "discard", false, "count messages and discard them")
	quiet := flags.Bool("quiet", false, "print nothing but the first and the last line")
	flags.BoolVar(&o.STARTTLS, "starttls", false, "offer STARTTLS with a certificate of our own")
	flags.BoolVar(&o.ImplicitTLS, "tls", false, "speak TLS from the first byte")
	flags.BoolVar(&o.RequireTLS, "require-tls", false, "refuse mail without TLS")
	flags.StringVar(&o.Keypair, "keypair", "", "take certificate and key from this `file`, which is made when it is not there")
	certOut := flags.String("cert", "", "write the certificate to this `file`, in PEM")
	flags.StringVar(&o.User, "user", "", "demand a login of this user")
	flags.StringVar(&o.Password, "password", "", "the user's password")
	rulesFile := flags.String("rules", "", "read rules from this JSON `file`; SIGHUP reads it again")
	delay := flags.Duration("delay", 0, "wait so long before each answer to a message")
	dropBeforeData := flags.String("drop-before-data", "", "close the connection instead of answering DATA, for recipients like this `pattern`")
	dropInData := flags.String("drop-in-data", "", "close the connection in the middle of the message")
	dropMessage := flags.String("drop-message", "", "discard the message and close the connection without an answer")
	dropAnswer := flags.String("drop-answer", "", "keep the message and close the connection without an answer")
	var refusals ruleFlag
	flags.Var(&refusals, "refuse", "answer RCPT for recipients like a pattern with a reply: `pattern=reply`; repeatable")
	withoutPipelining := flags.Bool("no-pipelining", false, "do not offer PIPELINING")
	flags.IntVar(&o.MaxConns, "max-connections", 0, "refuse more connections at a time with 421")
	flags.IntVar(&o.PerConn, "max-messages", 0, "refuse more messages on a connection with 421")
	if err := flags.Parse(args); err != nil {
		return err
	}
	o.NoSync = !*fsync
	if *hosts != "" {
		o.Hosts = strings.Split(*hosts, ",")
	}
	if *withoutPipelining {
		o.Without = append(o.Without, "PIPELINING")
	}
	fixed := refusals.rules
	for _, r := range []struct {
		pattern string
		rule    sink.Rule
	}{
		{*dropBeforeData, sink.Rule{Stage: sink.Data, Drop: true}},
		{*dropInData, sink.Rule{Stage: sink.Body, Drop: true}},
		{*dropMessage, sink.Rule{Stage: sink.Dot, Drop: true}},
		{*dropAnswer, sink.Rule{Stage: sink.Dot, Drop: true, Keep: true}},
	} {
		if r.pattern != "" {
			r.rule.To = r.pattern
			fixed = append(fixed, r.rule)
		}
	}
	if *delay > 0 {
		fixed = append(fixed, sink.Rule{Stage: sink.Dot, Delay: *delay})
	}
	load := func() ([]sink.Rule, error) {
		if *rulesFile == "" {
			return fixed, nil
		}
		data, err := os.ReadFile(*rulesFile)
		if err != nil {
			return nil, err
		}
		rules, err := sink.ParseRules(data)
		return append(rules, fixed...), err
	}
	var err error
	if o.Rules, err = load(); err != nil {
		return err
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt, syscall.SIGHUP)
	s, err := sink.Listen(o)
	if err != nil {
		return err
	}
	if *certOut != "" {
		if err := os.WriteFile(*certOut, s.Certificate(), 0o644); err != nil {
			return err
		}
	}
	fmt.Println("listening on", s.Addr())
	wait(s, signals, *quiet, load)
	err = s.Close()
	if out := json.NewEncoder(os.Stdout).Encode(s.Stats()); err == nil {
		err = out
	}
	return err
}

// wait returns on SIGTERM or SIGINT. Unless quiet, it prints every
// ten seconds what came in them.
func wait(s *sink.Server, signals <-chan os.Signal, quiet bool, load func() ([]sink.Rule, error)) {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	last := s.Stats()
	for {
		select {
		case sig := <-signals:
			if sig != syscall.SIGHUP {
				return
			}
			rules, err := load()
			if err == nil {
				err = s.SetRules(rules)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, "smtpsink: rules stay as they are:", err)
			}
		case <-tick.C:
			now := s.Stats()
			if !quiet && now.Messages > last.Messages {
				fmt.Fprintf(os.Stderr, "smtpsink: %d messages in 10 s, %d in all\n", now.Messages-last.Messages, now.Messages)
			}
			last = now
		}
	}
}

// ruleFlag gathers pattern=reply.
type ruleFlag struct{ rules []sink.Rule }

func (f *ruleFlag) String() string { return "" }

func (f *ruleFlag) Set(s string) error {
	i := strings.LastIndexByte(s, '=')
	if i < 1 {
		return errors.New("want pattern=reply")
	}
	f.rules = append(f.rules, sink.Rule{Stage: sink.Rcpt, To: s[:i], Reply: s[i+1:]})
	return nil
}
