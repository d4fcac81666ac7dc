// Package doctor examines an installation: what a server that sends mail needs from its machine, its
// database, the DNS and other servers. Each finding says what to do.
//
// Nothing is changed, apart from a temporary file and the row by which the program tests whether the
// database accepts writes. Each part of the examination has a time limit, so that it ends when the
// database or the network does not answer; the parts that need them are skipped.
package doctor

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// Status is the result of one check.
type Status string

// The statuses, from the worst.
const (
	Error   Status = "error"   // something does not work
	Warning Status = "warning" // something may not work, or could not be checked
	Skipped Status = "skipped" // does not apply here
	OK      Status = "ok"
)

// Finding is the result of one check.
type Finding struct {
	Check   string `json:"check"`   // such as "database"
	Subject string `json:"subject"` // what was checked, such as a host; may be empty
	Status  Status `json:"status"`
	Detail  string `json:"detail"`
	Advice  string `json:"advice"` // what to do; empty for ok and skipped
}

// Report is the result of an examination.
type Report struct {
	Status   Status    `json:"status"` // the worst one: error, warning or ok
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	Findings []Finding `json:"findings"`
}

// Write writes the report as text.
func (r Report) Write(w io.Writer) error {
	var b strings.Builder
	for _, f := range r.Findings {
		subject := f.Check
		if f.Subject != "" {
			subject += " " + f.Subject
		}
		fmt.Fprintf(&b, "%-8s %s: %s\n", f.Status, subject, strings.ReplaceAll(f.Detail, "\n", "; "))
		if f.Advice != "" {
			fmt.Fprintf(&b, "%-8s → %s\n", "", f.Advice)
		}
	}
	switch {
	case r.Errors > 0:
		fmt.Fprintf(&b, "\n%d errors, %d warnings\n", r.Errors, r.Warnings)
	case r.Warnings > 0:
		fmt.Fprintf(&b, "\nno errors, %d warnings\n", r.Warnings)
	default:
		b.WriteString("\nno errors, no warnings\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// notes collects the findings of one part. A part that is abandoned may still add some, which are not
// read any more.
type notes struct {
	check string
	mu    sync.Mutex
	list  []Finding
}

func (n *notes) add(subject string, s Status, advice, format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, Finding{Check: n.check, Subject: subject, Status: s, Detail: fmt.Sprintf(format, args...), Advice: advice})
}

func (n *notes) ok(subject, format string, args ...any) { n.add(subject, OK, "", format, args...) }

func (n *notes) skip(subject, format string, args ...any) {
	n.add(subject, Skipped, "", format, args...)
}

// warn adds a warning, fail an error; both with what to do.
func (n *notes) warn(subject, advice, format string, args ...any) {
	n.add(subject, Warning, advice, format, args...)
}

func (n *notes) fail(subject, advice, format string, args ...any) {
	n.add(subject, Error, advice, format, args...)
}

// part is a part of the examination.
type part struct {
	check string
	run   func(ctx context.Context, n *notes)
}

// within runs parts concurrently, each at most for a time, and returns their findings in order. A part
// that does not end in time is abandoned with a warning: a file system that hangs cannot be
// interrupted.
func within(ctx context.Context, limit time.Duration, parts ...part) []Finding {
	results := make([][]Finding, len(parts))
	var all sync.WaitGroup
	for i, p := range parts {
		all.Go(func() { results[i] = p.within(ctx, limit) })
	}
	all.Wait()
	return slices.Concat(results...)
}

func (p part) within(ctx context.Context, limit time.Duration) []Finding {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	n := &notes{check: p.check}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.run(bounded, n)
	}()
	abandon := time.NewTimer(limit + limit/4) // it may report what was interrupted by itself
	defer abandon.Stop()
	select {
	case <-done:
	case <-abandon.C:
		n.warn("", "look at what it waits for: a disk, a name server or another server that does not answer", "this check did not end within %s", limit)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.list)
}

// report sums findings up, without secrets.
func report(findings []Finding, secrets []string) Report {
	r := Report{Status: OK, Findings: findings}
	var pairs []string
	for _, s := range secrets {
		if len(s) >= 4 { // a shorter one would make the texts unreadable
			pairs = append(pairs, s, "(secret)")
		}
	}
	hide := strings.NewReplacer(pairs...)
	for i := range findings {
		f := &findings[i]
		f.Detail, f.Advice, f.Subject = hide.Replace(f.Detail), hide.Replace(f.Advice), hide.Replace(f.Subject)
		switch f.Status {
		case Error:
			r.Errors++
			r.Status = Error
		case Warning:
			r.Warnings++
			if r.Status == OK {
				r.Status = Warning
			}
		}
	}
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	return r
}
