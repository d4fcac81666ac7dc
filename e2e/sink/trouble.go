package sink

import (
	"errors"
	"net"
	"slices"
	"strings"
	"time"
)

// errDropped ends a session that a rule cut short.
var errDropped = errors.New("dropped")

// anyRule reports whether a rule for the stage exists.
func (c *session) anyRule(stage Stage) bool {
	return slices.ContainsFunc(*c.srv.rules.Load(), func(l *liveRule) bool { return l.Stage == stage })
}

// applyRules applies the first rule that matches, and reports whether it gave the
// answer. An error means that the connection is to be dropped.
func (c *session) applyRules(stage Stage) (replied bool, err error) {
	return c.troubleFor(stage, c.to)
}

func (c *session) troubleFor(stage Stage, to []string) (bool, error) {
	l := c.dueRule(stage, to)
	if l == nil {
		return false, nil
	}
	return c.applyRule(l)
}

// troubleWith applies the rules to a complete message.
func (c *session) troubleWith(m Message, raw []byte, wire int) (bool, error) {
	l := c.dueRule(Dot, m.Rcpt)
	if l == nil {
		return false, nil
	}
	if l.Keep {
		m.Lost = l.Drop || l.Reply != "" && l.Reply[0] != '2'
		if err := c.recordMessage(m, raw, wire); err != nil {
			return false, err
		}
	}
	return c.applyRule(l)
}

// dueRule returns the rule that applies now, if there is one.
func (c *session) dueRule(stage Stage, to []string) *liveRule {
	for _, l := range *c.srv.rules.Load() {
		if l.Over > 0 && l.Stage == stage && c.srv.open() <= l.Over {
			continue
		}
		if len(to) == 0 && l.applies(stage, c.from, "") {
			return l
		}
		for _, t := range to {
			if l.applies(stage, c.from, t) {
				return l
			}
		}
	}
	return nil
}

// applyRule makes the trouble that a rule asks for.
func (c *session) applyRule(l *liveRule) (replied bool, err error) {
	if l.Delay > 0 {
		c.flush()
		if !c.wait(l.Delay) {
			return false, errDropped
		}
	}
	if l.Drip > 0 { // of the answer to come, and no other
		c.flush()
		c.drip = l.Drip
	}
	if l.Reply != "" {
		lines := strings.Split(l.Reply, "\n")
		for _, line := range lines[:len(lines)-1] {
			c.out = append(append(append(append(c.out, line[:3]...), '-'), line[min(4, len(line)):]...), "\r\n"...)
		}
		c.reply(lines[len(lines)-1])
		c.flush()
	}
	if l.Drop {
		if l.Reply == "" {
			c.flush() // answers to commands before this one
		}
		if tcp, ok := c.raw.(*net.TCPConn); ok && l.Reset {
			_ = tcp.SetLinger(0)
		}
		return true, errDropped
	}
	return l.Reply != "", nil
}

// wait lets time go by, and reports whether the server lives on.
func (c *session) wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.srv.quit:
		return false
	}
}

// write writes the answers, byte by byte if a rule wants that.
func (c *session) write(out []byte) {
	if c.drip == 0 {
		_, _ = c.nc.Write(out) // the next read finds out
		return
	}
	for i := range out {
		if _, err := c.nc.Write(out[i : i+1]); err != nil || !c.wait(c.drip) {
			break
		}
	}
	c.drip = 0
}
