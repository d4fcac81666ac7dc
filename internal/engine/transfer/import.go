package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Mode selects what an import may do.
type Mode string

// The modes.
const (
	Upsert Mode = "upsert" // create contacts and update existing ones
	Create Mode = "create" // skip existing contacts
	Update Mode = "update" // skip unknown addresses
)

// Options are the options of an import.
type Options struct {
	Mapping       map[string]string // column → target; an empty target leaves the column out, whatever its name
	Forms         map[string]string // column → how its dates, numbers or booleans are written; guessed of the others
	Remembered    bool              // take what is absent here from the last import of a file with the same header
	Strict        bool              // a row is invalid if a value does not fit; otherwise its cell is left empty
	Mode          Mode              // empty: Upsert
	Tags          []string          // added to each contact
	SegmentKey    string            // a static list to which each contact is added; may be empty
	Subscriptions map[string]bool   // by email type, set for each contact
	UpdateBlank   bool              // an empty cell clears the field; otherwise it is ignored
	Encoding      string            // of the file, by a name of the WHATWG's list; empty: recognised by content
	Separator     string            // a comma, semicolon, tab or |; empty: recognised by the header
	Quote         string            // " or '; empty: recognised by the header
	Sheet         string            // that Unpack was told, which is for workbooks and their errors files
	FileName      string            // what the caller calls the file; may be empty
	DryRun        bool              // count what would happen, and change nothing
}

// title returns the title of the job.
func (o Options) title() string {
	name := []rune(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, o.FileName))
	title := "Import of contacts"
	if len(name) > 0 {
		title = "Import of " + string(name[:min(len(name), maxFileName)])
	}
	if o.DryRun {
		title += " (dry run)"
	}
	return title
}

// maxFileName is how many characters of a file's name a job's title has.
const maxFileName = 100

// importParams are the parameters of an import's job.
type importParams struct {
	File          id.JobFile      `json:"file_id,omitzero"` // zero: of an earlier version, which has the file as the job's input
	Format        Format          `json:"format"`
	Columns       []column        `json:"columns"`
	At            int64           `json:"at"`  // offset of the first row
	Row           int64           `json:"row"` // number of the header's row
	Mode          Mode            `json:"mode"`
	Tags          []string        `json:"tags,omitempty"`
	Segment       id.Segment      `json:"segment_id,omitzero"`
	SegmentKey    string          `json:"segment_key,omitempty"`
	Subscriptions map[string]bool `json:"subscriptions,omitempty"`
	UpdateBlank   bool            `json:"update_blank,omitempty"`
	Sheet         string          `json:"sheet,omitempty"`
	Sheets        []string        `json:"sheets,omitempty"`
	Strict        bool            `json:"strict,omitempty"`
	DryRun        bool            `json:"dry_run,omitempty"`
	Header        []byte          `json:"header,omitempty"` // by which Given is remembered
	Given         reading         `json:"given,omitzero"`
}

// StartImport validates the options of an import against the file's header and the tenant's schema,
// reports all problems together, and queues the job. The error is auth.ErrScope if an option needs a
// scope that the caller's key lacks. The file of a dry run is kept for other imports (Kept).
func StartImport(ctx context.Context, db *sqldb.DB, tenant id.Tenant, file Received, o Options, by auth.Principal, now time.Time) (job.Job, error) {
	if err := o.admit(by); err != nil {
		return job.Job{}, err
	}
	if o.FileName != "" {
		file.about.Name = o.FileName
	}
	o.FileName = file.about.Name
	in, err := prepare(ctx, db, tenant, file, o)
	if err != nil {
		return job.Job{}, err
	}
	var j job.Job
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		j, err = job.Create(ctx, tx, job.Draft{Tenant: tenant, Kind: job.Import, Title: o.title(), Scope: auth.ContactsWrite, Params: in, By: by.Actor()}, now)
		if err != nil {
			return err
		}
		return file.assign(ctx, tx, j, o.DryRun, now)
	})
	return j, err
}

// admit checks the scopes of what the options do besides writing contacts.
func (o Options) admit(by auth.Principal) error {
	if o.SegmentKey != "" {
		return by.Need(auth.ListsWrite)
	}
	return nil
}

func prepare(ctx context.Context, db *sqldb.DB, tenant id.Tenant, file Received, o Options) (importParams, error) {
	var p problems
	how := reading{o.Encoding, o.Separator, o.Quote}
	how.check(&p)
	if p.Any() {
		how = reading{}
	}
	open := func(at int64) io.Reader { return file.Reader(ctx, db, at) }
	key, err := headerKey(open, file.about.Seen)
	if err != nil {
		return importParams{}, err
	}
	before, err := o.recall(ctx, db, tenant, key)
	if err != nil {
		return importParams{}, err
	}
	how = how.or(before.Reading)
	head, err := readHeader(open, file.about.Seen, how)
	if p.addAll("", err) != nil {
		return importParams{}, err
	}
	in := importParams{
		File:   file.ID,
		Format: head.format, At: head.at, Row: head.number,
		Mode: cmp.Or(o.Mode, Upsert), Tags: o.Tags, Subscriptions: o.Subscriptions, UpdateBlank: o.UpdateBlank, Strict: o.Strict, DryRun: o.DryRun, Sheet: file.about.Sheet, Sheets: file.about.Sheets,
		Header: key, Given: how,
	}
	if o.Sheet != "" && in.Sheet == "" && ownColumns(head.names) == len(head.names) {
		p.Add("options.sheet", "is for workbooks only")
	}
	if !slices.Contains([]Mode{Upsert, Create, Update}, in.Mode) {
		p.Add("options.mode", "must be create, update or upsert")
	}
	rules, err := sender.ContactRules(ctx, db, tenant)
	if err != nil {
		return importParams{}, err
	}
	if head.names != nil {
		catalog, err := field.Load(ctx, db, tenant)
		if err != nil {
			return importParams{}, err
		}
		t := targets{catalog, rules.Types}
		in.Columns = t.of(head.names, o.Mapping, before, &p)
		if !hasAddress(in.Columns) {
			if err := findAddress(in.Columns, NewRows(open, in.Format, len(in.Columns), in.At, in.Row)); err != nil {
				return importParams{}, err
			}
		}
		if !hasAddress(in.Columns) && !o.DryRun { // a dry run asks for it in its report
			p.Add(noAddress.Path, noAddress.Message)
		}
		t.recallForms(in.Columns, before)
		t.setForms(in.Columns, o.Forms, &p)
	}
	all := contact.Change{Tags: &o.Tags, Subscriptions: consentOf(o.Subscriptions)}
	if err := p.addAll("options.", all.Check(ctx, db, tenant, rules)); err != nil {
		return importParams{}, err
	}
	if o.SegmentKey != "" {
		s, err := segment.Find(ctx, db, tenant, o.SegmentKey)
		switch {
		case errors.Is(err, segment.ErrNotFound) || err == nil && s.Key != o.SegmentKey:
			p.refuse(segment.ErrInvalid, "options.segment_key", "there is no such list")
		case err != nil:
			return importParams{}, err
		case s.Type != segment.Static:
			p.specific(segment.ErrNotStatic)
		}
		in.Segment, in.SegmentKey = s.ID, s.Key
	}
	return in, p.err()
}

func consentOf(m map[string]bool) map[string]*bool {
	out := make(map[string]*bool, len(m))
	for k, v := range m {
		out[k] = &v
	}
	return out
}

// problems collects the problems of a request. A fault with a code of its own is returned unchanged
// if it is the only problem.
type problems struct {
	fault.Problems
	own *fault.Error
}

// addAll adds the problems of a fault, with a path prefix; it returns an error that is no fault.
func (p *problems) addAll(prefix string, err error) error {
	f, ok := fault.As(err)
	if !ok {
		return err
	}
	details, _ := f.Details.(fault.Fields)
	fields := make([]fault.Field, len(details.Fields))
	for i, d := range details.Fields {
		fields[i] = fault.Field{Path: prefix + d.Path, Message: d.Message}
	}
	if f.Code != fault.ErrInput.Code {
		p.specific(f.With(fault.Fields{Fields: fields}))
		return nil
	}
	for _, d := range fields {
		p.Add(d.Path, d.Message)
	}
	return nil
}

// refuse records a problem that has a fault code of its own.
func (p *problems) refuse(f *fault.Error, path, message string) {
	p.specific(f.Sayf("%s: %s", path, message).With(fault.Fields{Fields: []fault.Field{{Path: path, Message: message}}}))
}

func (p *problems) specific(f *fault.Error) {
	if p.own == nil {
		p.own = f
	}
}

func (p *problems) err() error {
	if !p.Any() && p.own != nil {
		return p.own
	}
	if p.own != nil {
		details, _ := p.own.Details.(fault.Fields)
		for _, d := range details.Fields {
			p.Add(d.Path, d.Message)
		}
	}
	return p.Err()
}

// ImportResult is the result of an import so far.
type ImportResult struct {
	Rows     int64 `json:"rows"`                     // that are not empty
	Created  int64 `json:"created"`                  // contacts
	Updated  int64 `json:"updated"`                  // rows for an existing contact, changed or not
	Repeated int64 `json:"repeated,omitempty"`       // of the updated and skipped rows, those whose address an earlier row of the file has
	Skipped  int64 `json:"skipped"`                  // rows skipped because of the mode
	Invalid  int64 `json:"invalid"`                  // rows refused
	Unfit    int64 `json:"unfit,omitempty"`          // rows imported without the cells whose values do not fit
	Stopped  int64 `json:"stopped,omitempty"`        // rows whose status made the contact one that gets no mail
	Omitted  int64 `json:"errors_omitted,omitempty"` // refused and unfit rows that are not in the errors file, since it is full
	DryRun   bool  `json:"dry_run,omitempty"`
}

// ImportResultOf decodes the result of an import's job; false if there is none yet.
func ImportResultOf(j job.Job) (ImportResult, bool, error) {
	var r ImportResult
	if j.Result == nil {
		return r, false, nil
	}
	if err := json.Unmarshal(j.Result, &r); err != nil {
		return r, false, fmt.Errorf("the result of job %s: %w", j.ID, err)
	}
	return r, true, nil
}
