package audience

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/bench/press"
)

// answer is how long a question took in one database.
type answer struct {
	took    []time.Duration // by length
	cpu     time.Duration   // that the program used for one, without PostgreSQL's share
	refused string          // what came instead of an answer
}

func (a answer) at(p float64) time.Duration { return press.Result{Took: a.took}.At(p) }

// How often a question is asked.
const (
	maxRequests    = 40
	maxOfTexts     = 60 // of the search box
	minRequests    = 3
	usualScaleTime = 4 * time.Second // in all, unless minRequests take longer
	maxScaleTime   = 20 * time.Second
)

// scale asks the questions of a large database and of one a tenth of its size.
func scale(ctx context.Context, o options) error {
	sizes := []extent{{o.Contacts / 10, o.Entries / 10}, {o.Contacts, o.Entries}}
	var asked []question
	for _, q := range questions() {
		if strings.Contains(q.name, o.Operation) {
			asked = append(asked, q)
		}
	}
	answers := map[string][][]answer{}
	for _, dialect := range o.Dialects() {
		for _, x := range sizes {
			list, err := ask(ctx, o, dialect, x, asked)
			if err != nil {
				return fmt.Errorf("scale, %s: %w", dialect, err)
			}
			answers[dialect] = append(answers[dialect], list)
		}
	}
	if len(answers) > 0 {
		printScale(sizes[1], asked, answers)
	}
	return nil
}

func ask(ctx context.Context, o options, dialect string, x extent, asked []question) (list []answer, err error) {
	s, err := open(ctx, o, dialect, x)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	c, err := press.Dial(s.account.Address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.Keep = true
	cursors := map[string]string{}
	for _, q := range asked {
		a, err := s.ask(ctx, c, q, cursors)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.name, err)
		}
		progressf("%s %7d  %-26s %s", dialect, x.contacts, q.name, a)
		list = append(list, a)
	}
	return list, nil
}

// String is the answer's line in the log.
func (a answer) String() string {
	if a.refused != "" {
		return a.refused
	}
	return fmt.Sprintf("%9.2f ms, p95 %9.2f ms, CPU %8.2f ms (%d times)", ms(a.at(.5)), ms(a.at(.95)), ms(a.cpu), len(a.took))
}

func (s *instance) ask(ctx context.Context, c *press.Conn, q question, cursors map[string]string) (answer, error) {
	if q.segment != nil {
		made, err := s.Keyed().Must(ctx, "POST", "/segments", object{"name": q.name, "type": "dynamic", "definition": q.segment})
		if err != nil {
			return answer{refused: fmt.Sprintf("%.60s", err)}, nil
		}
		key, _ := made["segment_key"].(string)
		defer func() { _, _ = s.Keyed().Do(ctx, "DELETE", "/segments/"+key, nil) }()
		q.path += key
		if q.method == "POST" {
			q.path += "/refresh-count"
		} else {
			q.path += "/members?limit=50"
		}
	}
	if q.depth > 0 {
		at := fmt.Sprint(q.path, q.depth)
		if cursors[at] == "" {
			cursor, err := s.walk(ctx, strings.TrimPrefix(q.path, "/contacts?limit=50"), int(float64(s.extent.contacts)*q.depth))
			if err != nil {
				return answer{refused: fmt.Sprintf("%.60s", err)}, nil
			}
			cursors[at] = cursor
		}
		q.path += "&cursor=" + cursors[at]
	}
	var body []byte
	if q.body != nil {
		var err error
		if body, err = json.Marshal(q.body); err != nil {
			return answer{}, err
		}
	}
	request := s.account.Request(nil, q.method, q.path, body)
	most, do := maxRequests, func(int) (int, []byte, error) {
		status, err := c.Do(request)
		return status, c.Body, err
	}
	if len(q.texts) > 0 {
		owner, err := s.SignIn(ctx)
		if err != nil {
			return answer{}, err
		}
		most, do = maxOfTexts, func(n int) (int, []byte, error) {
			a, err := owner.Do(ctx, q.method, q.path+url.QueryEscape(q.texts[n%len(q.texts)]), nil)
			return a.Status, a.Body, err
		}
	}
	if q.warm {
		if err := warm(ctx, do); err != nil {
			return answer{}, err
		}
	}
	before, err := s.Usage()
	if err != nil {
		return answer{}, err
	}
	var a answer
	for began := time.Now(); len(a.took) < most && ctx.Err() == nil; {
		if spent := time.Since(began); spent > usualScaleTime && len(a.took) >= minRequests || spent > maxScaleTime {
			break
		}
		start := time.Now()
		status, text, err := do(len(a.took))
		if err != nil {
			return a, err
		}
		if status >= 300 {
			return answer{refused: fmt.Sprintf("%d %.60s", status, text)}, nil
		}
		a.took = append(a.took, time.Since(start))
	}
	after, err := s.Usage()
	if err != nil {
		return a, err
	}
	a.cpu = (after.CPU - before.CPU) / time.Duration(max(len(a.took), 1))
	if len(a.took) > minRequests { // the first answer read what the next ones found in memory
		a.took = a.took[1:]
	}
	slices.Sort(a.took)
	return a, ctx.Err()
}

// warmFor is how long the program may take to read attributes of contacts into memory.
const warmFor = time.Minute

// warm asks a question until the answer takes less than a quarter of what the first took, and at most for a while.
func warm(ctx context.Context, do func(int) (int, []byte, error)) error {
	var first time.Duration
	for began := time.Now(); ctx.Err() == nil && time.Since(began) < warmFor; {
		start := time.Now()
		if _, _, err := do(0); err != nil {
			return err
		}
		took := time.Since(start)
		if first == 0 {
			first = took
			progressf("  the first answer took %.0f ms", ms(took))
		}
		if took < first/4 {
			return nil
		}
		time.Sleep(200 * time.Millisecond) // as a person who changes the rule
	}
	return ctx.Err()
}

func printScale(x extent, asked []question, answers map[string][][]answer) {
	fmt.Printf("\n%d contacts, %d journal entries; ms; growth is p50 over that of a tenth of them\n", x.contacts, x.entries)
	fmt.Printf("%-27s %7s", "", "target")
	for _, d := range []string{"sqlite", "postgres"} {
		if answers[d] != nil {
			fmt.Printf(" | %9s %9s %7s", d, "p95", "growth")
		}
	}
	if len(answers) == 2 {
		fmt.Printf(" | %6s", "ratio")
	}
	fmt.Println()
	for i, q := range asked {
		target := "-"
		if q.target > 0 {
			target = fmt.Sprint(q.target.Milliseconds())
			if q.relaxed {
				target += "/" + fmt.Sprint(4*q.target.Milliseconds())
			}
		}
		fmt.Printf("%-27s %7s", q.name, target)
		for _, d := range []string{"sqlite", "postgres"} {
			if answers[d] == nil {
				continue
			}
			small, large := answers[d][0][i], answers[d][1][i]
			if large.refused != "" || small.refused != "" {
				fmt.Printf(" | %27.27s", large.refused+small.refused)
				continue
			}
			fmt.Printf(" | %9.2f %9.2f %7.1f", ms(large.at(.5)), ms(large.at(.95)), ms(large.at(.5))/ms(small.at(.5)))
		}
		if len(answers) == 2 {
			a, b := answers["sqlite"][1][i], answers["postgres"][1][i]
			if a.refused == "" && b.refused == "" {
				fmt.Printf(" | %6.2f", ms(a.at(.5))/ms(b.at(.5)))
			}
		}
		fmt.Println()
	}
}
