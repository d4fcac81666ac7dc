package classify

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/maildomain"
)

// Scenario is a message with its recipients and the requests of its links, as in a file of JSON Lines
// (docs/inspect.md, Opens and clicks).
type Scenario struct {
	Name       string
	Links      int // of the message
	Recipients int
	Gateway    string    // vendor of the recipients' mail gateway; empty: unknown
	AsOf       time.Time // when the verdicts are read
	Live       bool      // the send is sending or paused at AsOf
	Hits       []track.Hit
	Expected   *Expected // nil: the scenario does not say what it expects

	events   []event
	from     time.Time // when the message was accepted, or from when times count
	accepted bool      // the time of acceptance is known
}

// Expected is what a scenario's last line says about the result.
type Expected struct {
	Classes  []string       `json:"classes"`  // of each open and click: a class, or a class and its rules
	Counters map[string]int `json:"counters"` // only those that are compared
}

// event is a line about something that happened.
type event struct {
	at        time.Time
	recipient int // from 0; -1: the token was not ours
	kind      string
	hit       int // index in Hits, of an open or click; -1: none
	ip, agent string
}

// The limits of scenarios.
const (
	maxScenarioLine  = 1 << 20 // bytes
	maxScenarioName  = 200
	maxRecipients    = 10_000
	maxScenarioYears = 10 // between the acceptance and an event
)

// scenarioLine, eventLine and expectedLine are the kinds of lines.
type scenarioLine struct {
	Scenario    string     `json:"scenario"`
	Links       int        `json:"links"`
	Recipients  *int       `json:"recipients"`
	MX          string     `json:"mx"`
	DeliveredAt *time.Time `json:"delivered_at"`
	Live        *bool      `json:"live"`
	AsOf        *int64     `json:"as_of_ms"`
}

type eventLine struct {
	At        int64       `json:"dt_ms"`
	Kind      string      `json:"kind"`
	Recipient *int        `json:"recipient"`
	Link      int         `json:"link"`
	Method    *string     `json:"method"`
	IP        string      `json:"ip"`
	Agent     string      `json:"ua"`
	Headers   headerLines `json:"headers"` // nil: not known
	HTTP      string      `json:"http"`
	HTTPS     *bool       `json:"https"`
}

type expectedLine struct {
	Expected *Expected `json:"expected"`
}

// headerLines are header fields with one value or a list of values.
type headerLines map[string]headerValues

type headerValues []string

// UnmarshalJSON accepts a string or a list of strings.
func (v *headerValues) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*v = headerValues{one}
		return nil
	}
	var list []string
	err := json.Unmarshal(text, &list)
	*v = list
	return err
}

// ReadScenarios reads scenarios, one after the other. Each begins with a line that has the key
// "scenario"; lines of events follow, and at most one with the key "expected". The error names the line
// of the first mistake.
func ReadScenarios(r io.Reader) ([]*Scenario, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxScenarioLine)
	var list []*Scenario
	n := 0
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		if err := readLine(&list, text); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d is longer than %d bytes", n+1, maxScenarioLine)
	} else if lines.Err() != nil {
		return nil, lines.Err()
	}
	if len(list) == 0 {
		return nil, errors.New("there is no scenario: the first line must have the key scenario")
	}
	for _, s := range list {
		if s.AsOf.IsZero() {
			s.AsOf = s.from
			for _, e := range s.events {
				if e.at.After(s.AsOf) {
					s.AsOf = e.at
				}
			}
			s.AsOf = s.AsOf.Add(Interval + minimumSettle) // every hit has been judged
		}
	}
	return list, nil
}

// readLine adds a line to the last scenario of the list, or a new scenario.
func readLine(list *[]*Scenario, text []byte) error {
	var keys struct {
		Scenario, Kind, Expected json.RawMessage
	}
	if err := json.Unmarshal(text, &keys); err != nil {
		return err
	}
	if keys.Scenario != nil {
		var line scenarioLine
		if err := strictly(text, &line); err != nil {
			return err
		}
		s, err := line.scenario()
		*list = append(*list, s)
		return err
	}
	if len(*list) == 0 {
		return errors.New("the first line must have the key scenario")
	}
	s := (*list)[len(*list)-1]
	switch {
	case s.Expected != nil:
		return errors.New("a line with the key scenario must follow")
	case keys.Kind != nil:
		var line eventLine
		if err := strictly(text, &line); err != nil {
			return err
		}
		return s.add(line)
	case keys.Expected != nil:
		var line expectedLine
		if err := strictly(text, &line); err != nil {
			return err
		}
		if line.Expected == nil {
			return errors.New("expected is null")
		}
		s.Expected = line.Expected
		return nil
	}
	return errors.New("none of the keys scenario, kind and expected")
}

func strictly(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// epoch is from when times count in a scenario without a time of acceptance.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (l *scenarioLine) scenario() (*Scenario, error) {
	s := &Scenario{
		Name: l.Scenario, Links: l.Links, Recipients: 1, Live: l.Live == nil || *l.Live, from: epoch,
		Gateway: Gateway(maildomain.Domain{Record: l.MX}),
	}
	switch {
	case l.Scenario == "" || len(l.Scenario) > maxScenarioName:
		return s, fmt.Errorf("scenario must have 1 to %d bytes", maxScenarioName)
	case l.Links < 0 || l.Links >= track.HoneypotLink:
		return s, fmt.Errorf("links must be 0 to %d", track.HoneypotLink-1)
	}
	if l.Recipients != nil {
		if s.Recipients = *l.Recipients; s.Recipients < 1 || s.Recipients > maxRecipients {
			return s, fmt.Errorf("recipients must be 1 to %d", maxRecipients)
		}
	}
	if l.DeliveredAt != nil {
		s.from, s.accepted = l.DeliveredAt.UTC(), true
		if y := s.from.Year(); y < 2000 || y > 2200 {
			return s, errors.New("delivered_at must be in the years 2000 to 2200")
		}
	}
	if l.AsOf != nil {
		var err error
		s.AsOf, err = s.time(*l.AsOf)
		return s, err
	}
	return s, nil
}

// time returns the time of a number of milliseconds after acceptance.
func (s *Scenario) time(ms int64) (time.Time, error) {
	const most = maxScenarioYears * 365 * 24 * time.Hour / time.Millisecond
	if ms < -int64(most) || ms > int64(most) {
		return time.Time{}, fmt.Errorf("a time is more than %d years from the acceptance", maxScenarioYears)
	}
	return s.from.Add(time.Duration(ms) * time.Millisecond), nil
}

// add adds the event of a line.
func (s *Scenario) add(l eventLine) error {
	at, err := s.time(l.At)
	if err != nil {
		return err
	}
	e := event{at: at, kind: l.Kind, hit: -1, agent: l.Agent}
	if l.Recipient != nil {
		if e.recipient = *l.Recipient - 1; e.recipient < -1 || e.recipient >= s.Recipients {
			return fmt.Errorf("recipient must be 1 to %d, or 0 for a token that is not ours", s.Recipients)
		}
	}
	if l.IP != "" {
		ip, err := netip.ParseAddr(l.IP)
		if err != nil {
			return fmt.Errorf("ip: %q is not an address", l.IP)
		}
		e.ip = ip.Unmap().WithZone("").String()
	}
	if l.Kind != "click" && l.Link != 0 {
		return errors.New("link is only for clicks")
	}
	switch l.Kind {
	case "click":
		if l.Link < 1 || l.Link > s.Links {
			return fmt.Errorf("link must be 1 to %d", s.Links)
		}
		fallthrough
	case "open", "honeypot":
		h, err := l.hit(e)
		if err != nil {
			return err
		}
		e.hit = len(s.Hits)
		s.Hits = append(s.Hits, h)
	case "proof", "familiar":
	default:
		return errors.New("kind must be open, click, honeypot, proof or familiar")
	}
	s.events = append(s.events, e)
	return nil
}

// hit returns the request of a line as the server would note it, without the time since acceptance.
func (l *eventLine) hit(e event) (track.Hit, error) {
	h := track.Hit{At: e.at, Method: http.MethodGet, Agent: l.Agent, IP: e.ip, Message: recipientMessage(e.recipient)}
	if l.Method != nil {
		h.Method = *l.Method
	}
	switch l.Kind {
	case "click":
		h.Click, h.Link, h.URL = true, l.Link-1, fmt.Sprintf("https://example.com/%d", l.Link)
	case "honeypot":
		h.Click, h.Honeypot, h.Link = true, true, track.HoneypotLink
	}
	minor, major := 1, 1
	switch l.HTTP {
	case "", "1.1":
	case "1.0":
		minor = 0
	case "2", "3":
		major, minor = int(l.HTTP[0]-'0'), 0
	default:
		return h, errors.New("http must be 1.0, 1.1, 2 or 3")
	}
	if l.Headers == nil {
		if l.HTTP == "1.0" {
			h.Signals = track.HTTP10
		}
		return h, nil
	}
	header := http.Header{}
	for name, values := range l.Headers {
		for _, v := range values {
			header.Add(name, v)
		}
	}
	header.Set("User-Agent", l.Agent)
	h.Prefetch = track.DeclaresPrefetch(header)
	r := &http.Request{Method: h.Method, Header: header, ProtoMajor: major, ProtoMinor: minor}
	h.Signals = track.ReadSignals(r, l.HTTPS == nil || *l.HTTPS, true)
	return h, nil
}

// recipientMessage returns the id of a recipient's message.
func recipientMessage(n int) id.Message {
	var m id.Message
	n++
	m[14], m[15] = byte(n>>8), byte(n)
	return m
}

// verdictText is how a verdict is written in files: the class, and the rules that decided.
func verdictText(class track.Class, rule string) string {
	return strings.TrimSpace(string(class) + " " + rule)
}
