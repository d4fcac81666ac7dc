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

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/field"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/job"
	"github.com/packetboat/packetboat/internal/segment"
	"github.com/packetboat/packetboat/internal/sender"
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
	CSV    FileFormat = "csv"    // a header row, then one row per contact
	NDJSON FileFormat = "ndjson" // one JSON object per line
)

// mediaTypes are the media types of exports.
var mediaTypes = map[FileFormat]string{CSV: "text/csv; charset=utf-8", NDJSON: "application/x-ndjson"}

// ExportRequest is a request for an export.
type ExportRequest struct {
	Format   FileFormat            `json:"format"` // empty: CSV
	Selector segment.SelectorInput `json:"selector"`
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
	return job.Create(ctx, db, job.Draft{Tenant: tenant, Kind: job.Export, Scope: auth.ContactsRead, Params: r, By: by}, now)
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

// Exporter runs exports.
type Exporter struct {
	// Encode encodes a tenant's contacts as the API does, one JSON object each.
	Encode func(ctx context.Context, tenant id.Tenant, list []contact.Contact) ([][]byte, error)
}

// ExportResult is the result of an export so far.
type ExportResult struct {
	Rows int64 `json:"rows"`
}

// exportPage is the number of contacts written in one step.
const exportPage = 1000

// written is the checkpoint of an export.
type written struct {
	After id.Contact `json:"after"` // the last contact written
	Rows  int64      `json:"rows"`
	Total int64      `json:"total"`
	Done  bool       `json:"done"`
}

// Run is the job.Runner of exports. It processes contacts in the order of their ids, so that none
// is duplicated or left out when others are created or deleted meanwhile. Rows and checkpoint
// commit together.
func (e Exporter) Run(ctx context.Context, w *job.Work) error {
	var r ExportRequest
	var at written
	if err := errors.Join(w.Params(&r), w.State(&at)); err != nil {
		return err
	}
	if at.Done {
		return nil
	}
	sel, err := segment.SelectQueued(ctx, w.DB, w.Job.Tenant, r.Selector, w.Job.CreatedAt)
	if err != nil {
		return err
	}
	x := &export{w, r, sel, e}
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
	ExportRequest
	sel contact.Selector
	Exporter
}

// begin creates the file and writes the header.
func (x *export) begin(ctx context.Context, at *written) error {
	n, err := contact.Count(ctx, x.DB, x.Job.Tenant, x.sel)
	if err != nil {
		return err
	}
	at.Total = int64(n)
	var text bytes.Buffer
	if x.Format == CSV {
		if err := writeRow(&text, x.Fields); err != nil {
			return err
		}
	}
	return x.Step(ctx, func(tx *sqldb.DB) (job.Progress, error) {
		f, err := job.NewFile(ctx, tx, x.Job.Tenant, x.Job.ID, ExportFile, mediaTypes[x.Format], x.Now())
		if err != nil {
			return job.Progress{}, err
		}
		return at.progress(), f.Append(ctx, tx, text.Bytes())
	})
}

func (at written) progress() job.Progress {
	return job.Progress{Processed: at.Rows, Total: &at.Total, State: at, Result: ExportResult{at.Rows}}
}

// page writes the next contacts. They are read before the step begins, so that its transaction is
// short.
func (x *export) page(ctx context.Context, at *written) error {
	tenant := x.Job.Tenant
	ids, err := contact.Matching(ctx, x.DB, tenant, x.sel, at.After, exportPage)
	if err != nil {
		return err
	}
	list, err := contact.Load(ctx, x.DB, tenant, ids)
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b contact.Contact) int { return strings.Compare(a.ID.String(), b.ID.String()) })
	docs, err := x.Encode(ctx, tenant, list)
	if err != nil {
		return fmt.Errorf("export contacts: %w", err)
	}
	var text bytes.Buffer
	for i, doc := range docs {
		if err := x.write(&text, doc); err != nil {
			return fmt.Errorf("export contact %s: %w", list[i].ID, err)
		}
	}
	next := *at
	next.Rows += int64(len(list))
	next.Total = max(next.Total, next.Rows)
	if next.Done = len(ids) < exportPage; next.Done {
		next.Total = next.Rows
	}
	if len(ids) > 0 {
		next.After = ids[len(ids)-1]
	}
	err = x.Step(ctx, func(tx *sqldb.DB) (job.Progress, error) {
		f, err := job.FileOf(ctx, tx, tenant, x.Job.ID, ExportFile)
		if err != nil {
			return job.Progress{}, err
		}
		return next.progress(), f.Append(ctx, tx, text.Bytes())
	})
	if err == nil {
		*at = next
	}
	return err
}

// write writes one contact.
func (x *export) write(text *bytes.Buffer, doc []byte) error {
	if x.Format == NDJSON && len(x.Fields) == 0 {
		text.Write(doc)
		return text.WriteByte('\n')
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(doc, &all); err != nil {
		return err
	}
	values, err := pickFields(all, x.Fields)
	if err != nil {
		return err
	}
	if x.Format == NDJSON {
		return writeObject(text, x.Fields, values)
	}
	cells := make([]string, len(values))
	for i, v := range values {
		if cells[i], err = cellOf(v); err != nil {
			return err
		}
	}
	return writeRow(text, cells)
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

// cellOf converts a JSON value to a cell: strings with escapeFormula, lists of strings joined by
// commas, numbers and booleans unchanged, other values as JSON.
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
			return escapeFormula(strings.Join(list, ",")), nil
		}
	}
	return string(v), nil
}
