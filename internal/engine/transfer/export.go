package transfer

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ExportFile is the name of the file that an export writes.
const ExportFile = "export"

// FileOf returns a file that j wrote, by its name, or ErrNoFile. Without a name it is the file that
// jobs of j's kind write. There is none before the job has ended, job.KeepFor after that, and of an
// export that is not completed, whose file is only a part.
func FileOf(ctx context.Context, db *sqldb.DB, j job.Job, name string, now time.Time) (job.File, error) {
	if name == "" {
		name = map[job.Kind]string{job.Import: ErrorsFile, job.Export: ExportFile}[j.Kind]
	}
	if !j.Status.Ended() || name == ExportFile && j.Status != job.Completed || now.Sub(*j.FinishedAt) > job.KeepFor {
		return job.File{}, job.ErrNoFile
	}
	return job.FileOf(ctx, db, j.Tenant, j.ID, name)
}

// FileFormat is the format of an export.
type FileFormat string

// The formats.
const (
	CSV    FileFormat = "csv"    // a header row, then one row each
	NDJSON FileFormat = "ndjson" // one JSON object per line
)

// mediaTypes are the media types of exports.
var mediaTypes = map[FileFormat]string{CSV: "text/csv; charset=utf-8", NDJSON: "application/x-ndjson"}

// ExportRequest is a request for an export.
type ExportRequest struct {
	Format   FileFormat            `json:"format"` // empty: CSV
	Selector segment.SelectorInput `json:"selector"`
	BOM      bool                  `json:"bom,omitempty"`    // a CSV file begins with a byte order mark, by which Excel knows UTF-8
	Fields   []string              `json:"fields,omitempty"` // empty: for CSV defaultFields and all custom fields and email types, for NDJSON everything
}

// defaultFields are the first columns of a CSV file if the request names none; one column for each
// custom field and email type follows. An import recognizes their names.
var defaultFields = []string{
	"id", "email", "external_id", "first_name", "last_name", "full_name", "title", "company", "phone", "website", "timezone",
	"address_line1", "address_line2", "city", "state", "postal_code", "country", "source", "stage_id", "tags",
	"global_status", "do_not_contact", "created_at", "updated_at",
}

// maxFields is the maximum number of fields in a request.
const maxFields = 500

// StartExport validates a request and queues the job.
func StartExport(ctx context.Context, db *sqldb.DB, tenant id.Tenant, r ExportRequest, by auth.Actor, now time.Time) (job.Job, error) {
	var p problems
	if r.Format == "" {
		r.Format = CSV
	}
	if mediaTypes[r.Format] == "" {
		p.Add("format", "must be csv or ndjson")
	}
	if _, err := segment.Choose(ctx, db, tenant, r.Selector); err != nil {
		if err := p.addAll("", segment.Below("selector", err)); err != nil {
			return job.Job{}, err
		}
	}
	catalog, err := field.Load(ctx, db, tenant)
	if err != nil {
		return job.Job{}, err
	}
	types, err := sender.ContactTypes(ctx, db, tenant)
	if err != nil {
		return job.Job{}, err
	}
	checkFields(&p, r.Fields, catalog, types)
	if len(r.Fields) == 0 && r.Format == CSV {
		r.Fields = everyField(catalog, types)
	}
	if err := p.err(); err != nil {
		return job.Job{}, err
	}
	return job.Create(ctx, db, job.Draft{Tenant: tenant, Kind: job.Export, Title: "Export of contacts", Scope: auth.ContactsRead, Params: r, By: by}, now)
}

// checkFields reports unknown and duplicate fields.
func checkFields(p *problems, fields []string, catalog field.Catalog, types contact.Types) {
	if len(fields) > maxFields {
		p.Add("fields", fmt.Sprintf("at most %d", maxFields))
		return
	}
	for i, name := range fields {
		group, key, nested := strings.Cut(name, ".")
		known := slices.Contains(contact.ColumnNames(), name)
		if nested {
			_, custom := catalog[key]
			known = group == "custom_fields" && custom ||
				group == "subscriptions" && slices.ContainsFunc(types.EmailTypes, func(t contact.EmailType) bool { return t.Key == key }) ||
				group == "category_subscriptions" && slices.ContainsFunc(types.Categories, func(c id.Category) bool { return c.String() == key })
		}
		switch {
		case !known:
			p.AddElement("fields", "is not a field of contacts; custom fields are custom_fields.<key>, consent is subscriptions.<type_key>")
		case slices.Contains(fields[:i], name):
			p.AddElement("fields", "is there twice")
		}
	}
}

// everyField returns the columns of a CSV file if the request names none.
func everyField(catalog field.Catalog, types contact.Types) []string {
	fields := slices.Clone(defaultFields)
	var keys []string
	for key := range catalog {
		keys = append(keys, customPrefix+key)
	}
	slices.Sort(keys)
	for _, t := range types.EmailTypes {
		keys = append(keys, consentPrefix+t.Key)
	}
	return append(fields, keys...)
}

// Exporter runs exports. Its functions encode rows as the API does, one JSON object each.
type Exporter struct {
	Encode     func(ctx context.Context, tenant id.Tenant, list []contact.Contact) ([][]byte, error)
	Recipients func(ctx context.Context, tenant id.Tenant, list []outbox.Record) ([][]byte, error)
	Bounces    func(list []outbox.BounceRecord) ([][]byte, error)
	Audit      func(ctx context.Context, tenant id.Tenant, list []auth.AuditEntry) ([][]byte, error)
}

// ExportResult is the result of an export so far.
type ExportResult struct {
	Rows    int64   `json:"rows"`
	Subject Subject `json:"what,omitempty"` // empty: contacts
}

// exportPage is the number of rows written in one step.
const exportPage = 1000

// written is the checkpoint of an export.
type written struct {
	After  id.Contact             `json:"after"`            // the last contact or recipient written
	Bounce *outbox.BouncePosition `json:"bounce,omitempty"` // the last bounce written
	Entry  *auditPosition         `json:"entry,omitempty"`  // the last entry of the audit log written
	Rows   int64                  `json:"rows"`
	Total  int64                  `json:"total"`
	Done   bool                   `json:"done"`
}

// exportParams are the parameters of an export job: of contacts, unless another is given.
type exportParams struct {
	ExportRequest
	Send  *SendExport  `json:"send,omitempty"`
	Audit *AuditExport `json:"audit,omitempty"`
}

// listing is what an export writes.
type listing interface {
	count(ctx context.Context) (int, error)
	// next returns the rows after a checkpoint, encoded, and moves the checkpoint behind them.
	next(ctx context.Context, at *written) ([][]byte, error)
}

// Run is the job.Runner of exports. It writes rows in an order that does not change, contacts by their
// ids, so that none is duplicated or left out when others come or go meanwhile. Rows and checkpoint
// commit together.
func (e Exporter) Run(ctx context.Context, w *job.Work) error {
	var r exportParams
	var at written
	if err := errors.Join(w.Params(&r), w.State(&at)); err != nil {
		return err
	}
	if at.Done {
		return nil
	}
	x := &export{Work: w, format: r.Format, bom: r.BOM, fields: r.Fields}
	switch {
	case r.Audit != nil:
		x.subject, x.format, x.bom, x.fields = AuditLog, r.Audit.Format, r.Audit.BOM, r.Audit.fields()
		x.listing = auditEntries{w, r.Audit.Filter, e}
	case r.Send != nil:
		x.subject, x.format, x.bom, x.fields = r.Send.Subject, r.Send.Format, r.Send.BOM, r.Send.fields()
		x.listing = r.Send.listing(w, e)
	default:
		sel, err := segment.SelectQueued(ctx, w.DB, w.Job.Tenant, r.Selector, w.Job.CreatedAt)
		if err != nil {
			return err
		}
		x.listing = contacts{w, sel, e}
		if x.stages, err = contact.Stages(ctx, w.DB, w.Job.Tenant); err != nil {
			return err
		}
	}
	if w.Job.State == nil {
		if err := x.begin(ctx, &at); err != nil {
			return err
		}
	}
	for !at.Done {
		if err := x.page(ctx, &at); err != nil {
			return err
		}
	}
	return nil
}

// export is the state of a running export.
type export struct {
	*job.Work
	listing
	subject Subject
	format  FileFormat
	bom     bool
	fields  []string
	stages  []contact.Stage
}

// begin creates the file and writes the header.
func (x *export) begin(ctx context.Context, at *written) error {
	n, err := x.count(ctx)
	if err != nil {
		return err
	}
	at.Total = int64(n)
	var text bytes.Buffer
	if x.format == CSV {
		if x.bom {
			text.WriteString(marks[utf8Text])
		}
		if err := writeRow(&text, x.fields); err != nil {
			return err
		}
	}
	return x.Step(ctx, func(tx *sqldb.DB) (job.Progress, error) {
		f, err := job.NewFile(ctx, tx, x.Job.Tenant, x.Job.ID, ExportFile, mediaTypes[x.format], x.Now())
		if err != nil {
			return job.Progress{}, err
		}
		return x.progress(at), f.Append(ctx, tx, text.Bytes())
	})
}

func (x *export) progress(at *written) job.Progress {
	return job.Progress{Processed: at.Rows, Total: &at.Total, State: at, Result: ExportResult{at.Rows, x.subject}}
}

// page writes the next rows. They are read before the step begins, so that its transaction is short.
func (x *export) page(ctx context.Context, at *written) error {
	next := *at
	docs, err := x.next(ctx, &next)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for _, doc := range docs {
		if err := x.write(&text, doc); err != nil {
			return fmt.Errorf("export a row: %w", err)
		}
	}
	next.Rows += int64(len(docs))
	next.Total = max(next.Total, next.Rows)
	if next.Done {
		next.Total = next.Rows
	}
	err = x.Step(ctx, func(tx *sqldb.DB) (job.Progress, error) {
		f, err := job.FileOf(ctx, tx, x.Job.Tenant, x.Job.ID, ExportFile)
		if err != nil {
			return job.Progress{}, err
		}
		return x.progress(&next), f.Append(ctx, tx, text.Bytes())
	})
	if err == nil {
		*at = next
	}
	return err
}

// contacts are the contacts that an export writes.
type contacts struct {
	*job.Work
	sel contact.Selector
	Exporter
}

func (l contacts) count(ctx context.Context) (int, error) {
	return contact.Count(ctx, l.DB, l.Job.Tenant, l.sel)
}

func (l contacts) next(ctx context.Context, at *written) ([][]byte, error) {
	tenant := l.Job.Tenant
	ids, err := contact.Matching(ctx, l.DB, tenant, l.sel, at.After, exportPage)
	if err != nil {
		return nil, err
	}
	list, err := contact.Load(ctx, l.DB, tenant, ids)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b contact.Contact) int { return strings.Compare(a.ID.String(), b.ID.String()) })
	docs, err := l.Encode(ctx, tenant, list)
	if err != nil {
		return nil, fmt.Errorf("export contacts: %w", err)
	}
	at.Done = len(ids) < exportPage
	if len(ids) > 0 {
		at.After = ids[len(ids)-1]
	}
	return docs, nil
}

// write writes one row.
func (x *export) write(text *bytes.Buffer, doc []byte) error {
	if x.format == NDJSON && len(x.fields) == 0 {
		text.Write(doc)
		return text.WriteByte('\n')
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(doc, &all); err != nil {
		return err
	}
	values, err := pickFields(all, x.fields)
	if err != nil {
		return err
	}
	if x.format == NDJSON {
		return writeObject(text, x.fields, values)
	}
	cells := make([]string, len(values))
	for i, v := range values {
		if cells[i], err = cellOf(v); err != nil {
			return err
		}
		if x.fields[i] == stageTarget {
			cells[i] = x.stageCell(cells[i])
		}
	}
	return writeRow(text, cells)
}

// stageCell returns the slug of a stage: another tenant does not know its id.
func (x *export) stageCell(stage string) string {
	for _, s := range x.stages {
		if s.ID.String() == stage {
			return s.Slug
		}
	}
	return stage
}

func writeRow(text *bytes.Buffer, cells []string) error {
	w := csv.NewWriter(text)
	if err := w.Write(cells); err != nil {
		return fmt.Errorf("write a row: %w", err)
	}
	w.Flush()
	return w.Error()
}

// pickFields returns the values of the fields, null for missing ones.
func pickFields(all map[string]json.RawMessage, fields []string) ([]json.RawMessage, error) {
	values := make([]json.RawMessage, len(fields))
	groups := map[string]map[string]json.RawMessage{}
	for i, name := range fields {
		value := all[name]
		if group, key, nested := strings.Cut(name, "."); nested {
			if _, read := groups[group]; !read {
				var g map[string]json.RawMessage
				if err := json.Unmarshal(all[group], &g); err != nil {
					return nil, err
				}
				groups[group] = g
			}
			value = groups[group][key]
		}
		if value == nil {
			value = json.RawMessage("null")
		}
		values[i] = value
	}
	return values, nil
}

// writeObject writes an object with the requested field names.
func writeObject(text *bytes.Buffer, fields []string, values []json.RawMessage) error {
	text.WriteByte('{')
	for i, name := range fields {
		if i > 0 {
			text.WriteByte(',')
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return err
		}
		text.Write(quoted)
		text.WriteByte(':')
		text.Write(values[i])
	}
	text.WriteString("}\n")
	return nil
}

// cellOf converts a JSON value to a cell: strings with escapeFormula, lists of strings by joinList,
// numbers and booleans unchanged, other values as JSON.
func cellOf(v json.RawMessage) (string, error) {
	switch {
	case string(v) == "null":
		return "", nil
	case v[0] == '"':
		var s string
		err := json.Unmarshal(v, &s)
		return escapeFormula(s), err
	case v[0] == '[':
		var list []string
		if json.Unmarshal(v, &list) == nil {
			return escapeFormula(joinList(list)), nil
		}
	}
	return string(v), nil
}
