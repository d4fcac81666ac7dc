package audienceapi

import (
	"context"
	"io"
	"net/http"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// contactsTransfer registers import and export.
func (api Contacts) contactsTransfer(r *endpoint.Router) {
	endpoint.Handle(r, "POST /t/{tenant}/api/contacts/import", endpoint.Op{
		Name: "importContacts", Summary: "Import contacts from a CSV file, in a job.",
		Description: `The file has a header row. Its encoding (UTF-8, UTF-16, Windows-1252 or ISO-8859-15, with or without a byte order mark), its separator (comma, semicolon, tab or |, which a line sep=; may announce) and its quotes are recognised, unless encoding, separator and quote say them. A row may have 1 MB, the body 100 MB. It may also be a workbook (.xlsx), or a zip archive of one file, of at most 16 MB.

mapping names the target of a column: a field of contacts, custom_fields.<key>, subscriptions.<type_key>, tags (comma separated, with members that hold commas in quotes; of any number of columns), stage_id (the slug, name or id of a stage), do_not_contact, global_status; null leaves the column out, whatever its name. Columns that have one name are called by their position, such as #3, in mapping and forms, or all by the name. A column that is not mapped is written to the field of the same name, ignoring case and with spaces for underscores; if there is none, it is left out. The address is looked for in the cells if no column is called so. The job's result, also of a dry run, has a report: how the file was read, and of each column where it went, what decided that, and a sample of its values. What a completed import was told about the columns is kept under the file's header, in whatever order its columns are, and remembered applies it.

Dates, numbers and booleans are read as the file writes them: 31.12.1999 or 12/31/1999, 1.234,50, ja or nein. How a column writes them is guessed from all rows and said in the report, unless forms says it; if two forms are as likely, an import fails before it saves a row, and the report of a dry run asks in questions. A value that does not fit its field leaves its cell empty, and unfit in the result counts such rows, unless strict is true; an address, a status, do_not_contact or consent that cannot be read always makes the row invalid.

A global_status, or a column named status that is not mapped, is applied where it is worse than the contact's own: unsubscribed, bounced, complained, suppressed, and pending for new contacts. The usual words of other systems for these are known, such as blocklisted and cleaned. stopped in the result counts such contacts. A row with an unknown word is invalid.

The file of a dry run is kept for an hour, or until the same user or key sends another one for a dry run: the answer has its file_id, and further dry runs and the import name it in the option file_id instead of sending the file again, each dry run for another hour. The import uses it up. If it is gone, or a contact was anonymised, the answer is 404 with a problem of options.file_id; then send the file.

Each row is saved as by PUT /contacts, but a file never turns a refused subscription into consent, and never reactivates a contact that unsubscribed, bounced, complained or was deleted. An invalid row does not stop the others: it is written to the errors file (errors_url of the result), as are rows with values that do not fit, in the format of the file and with what is wrong in four columns behind its own; corrected, it is imported with the same options.`,
		Tag: "contacts", Scope: auth.ContactsWrite, Status: http.StatusAccepted, MaxBody: 100 * endpoint.Megabyte,
		Faults: []*fault.Error{segment.ErrInvalid, segment.ErrNotStatic, contact.ErrInvalidEmailType, job.ErrLimit, job.ErrNoFile},
	}.ExampleUpload("contacts.csv", "email,First name\nada@example.com,Ada\ngrace@example.com,Grace\n", `{"mapping": {"First name": "first_name"}, "mode": "upsert", "tags": ["import"]}`).Once(), api.importContacts)
	endpoint.Handle(r, "POST /t/{tenant}/api/contacts/export", endpoint.Op{
		Name: "exportContacts", Summary: "Export contacts to a file, in a job.",
		Description: `The file has the contacts in the order in which they were created. Fields are named as in a contact, with custom_fields.<key> and subscriptions.<type_key>. In CSV a stage_id is the slug of the stage, and a list is written as a row of CSV inside its cell. Without fields a CSV file has the fields of the profile, every custom field and every subscription, and NDJSON has whole contacts as GET /contacts shows them. The file is at GET /jobs/{id}/download.`,
		Tag:         "contacts", Scope: auth.ContactsRead, Status: http.StatusAccepted,
		Faults:      []*fault.Error{job.ErrLimit},
		FieldFaults: selectorFaults("selector."),
	}.ExampleBody(`{"format": "csv", "selector": {"status": "active"}, "fields": ["email", "first_name", "country"]}`).Once(), wire.Once(api, api.db, Contacts.exportContacts))
}

type importContactsRequest struct {
	Upload endpoint.Upload[importOptions]
}

type importOptions struct {
	FileID        endpoint.Opt[string]            `json:"file_id" doc:"The file of a dry run, which is kept for an hour, instead of a file in the form."`
	Mapping       map[string]endpoint.Opt[string] `json:"mapping,omitempty" doc:"By column, which is its name, or its position such as #3 if others have the name; null leaves the column out, whatever its name."`
	Mode          transfer.Mode                   `json:"mode,omitempty" enum:"create,update,upsert" doc:"create skips addresses that a contact has, update those that no contact has; upsert when absent."`
	Tags          []string                        `json:"tags,omitempty" doc:"For every contact."`
	SegmentKey    endpoint.Opt[string]            `json:"segment_key" doc:"A static list to which every contact is added. An API key needs lists:write for it."`
	Subscriptions map[string]bool                 `json:"subscriptions,omitempty" doc:"By email type key, for every contact that has not refused the type."`
	Encoding      endpoint.Opt[string]            `json:"encoding" doc:"Such as utf-8, utf-16le, windows-1252 or iso-8859-15; recognised by content when absent, and by a byte order mark in any case."`
	Separator     endpoint.Opt[string]            `json:"separator" doc:"A comma, a semicolon, a tab or |; recognised by the header when absent."`
	Quote         endpoint.Opt[string]            `json:"quote" doc:"A double or a single quote; recognised by the header when absent."`
	Sheet         endpoint.Opt[string]            `json:"sheet" doc:"The sheet of a workbook; the first when absent."`
	Forms         map[string]string               `json:"forms,omitempty" doc:"By column as in mapping: how it writes dates (YYYY-MM-DD, DD.MM.YYYY, MM/DD/YYYY), numbers (1,234.50 or 1.234,50) or booleans (two words such as yes/no); guessed from all rows when absent."`
	Strict        bool                            `json:"strict,omitempty" doc:"Whether a value that does not fit its field makes the row invalid; otherwise its cell is left empty."`
	Remembered    bool                            `json:"remembered,omitempty" doc:"Whether columns that mapping does not name go where they went when a file with the same header was imported last, and forms, encoding, separator and quote that are absent are those of that import."`
	UpdateBlank   bool                            `json:"update_blank,omitempty" doc:"Whether a blank cell clears the field."`
	DryRun        bool                            `json:"dry_run,omitempty" doc:"Only count what would happen, and write the refused rows to the errors file."`
}

// NamedFile is that of endpoint.FileNamer.
func (o importOptions) NamedFile() (path, file string) { return "options.file_id", o.FileID.Or("") }

// importAccepted is the answer to an import.
type importAccepted struct {
	wire.Accepted
	FileID *id.JobFile `json:"file_id,omitempty" format:"uuid" doc:"Of a dry run: its file, which is kept for an hour for the option file_id."`
}

func (api Contacts) importContacts(ctx context.Context, p auth.Principal, in *importContactsRequest) (out importAccepted, err error) {
	var sent transfer.Received
	defer func() {
		if err != nil && !sent.ID.IsZero() {
			if err := sent.Delete(context.WithoutCancel(ctx), api.db); err != nil {
				api.log.Warn("remove upload failed", "err", err)
			}
		}
	}()
	o, err := in.Upload.Receive(func(r io.Reader) (err error) {
		sent, err = transfer.Upload(ctx, api.db, p.Tenant, r, api.now())
		return err
	})
	if err != nil {
		return out, err
	}
	var file transfer.Received
	if name := o.FileID.Or(""); name != "" {
		file, err = transfer.Kept(ctx, api.db, p.Tenant, name, o.Sheet.Or(""), api.now())
	} else {
		sent, err = transfer.Unpack(ctx, api.db, sent, o.Sheet.Or(""), api.now())
		file = sent
	}
	if err != nil {
		return out, err
	}
	err = api.db.InTx(ctx, func(tx *sqldb.DB) error {
		j, err := transfer.StartImport(ctx, tx, p.Tenant, file, transfer.Options{
			Mapping: mappingOf(o.Mapping), Mode: o.Mode, Tags: o.Tags, SegmentKey: o.SegmentKey.Or(""),
			Subscriptions: o.Subscriptions, UpdateBlank: o.UpdateBlank, FileName: in.Upload.FileName(), DryRun: o.DryRun,
			Forms: o.Forms, Strict: o.Strict, Remembered: o.Remembered,
			Encoding: o.Encoding.Or(""), Separator: o.Separator.Or(""), Quote: o.Quote.Or(""), Sheet: o.Sheet.Or(""),
		}, p, api.now())
		if err != nil {
			return err
		}
		out = importAccepted{Accepted: wire.Accepted{JobID: j.ID}}
		if o.DryRun {
			out.FileID = &file.ID
		}
		return endpoint.Remember(ctx, tx, out)
	})
	return out, err
}

// mappingOf returns a mapping with "" for the columns that are left out.
func mappingOf(given map[string]endpoint.Opt[string]) map[string]string {
	mapping := make(map[string]string, len(given))
	for column, target := range given {
		mapping[column] = target.Or("")
	}
	return mapping
}

type exportContactsRequest struct {
	Body *struct {
		Format   transfer.FileFormat  `json:"format,omitempty" enum:"csv,ndjson" doc:"csv when absent."`
		BOM      bool                 `json:"bom,omitempty" doc:"Whether a CSV file begins with a byte order mark, by which Excel knows UTF-8."`
		Selector *ContactSelectorBody `json:"selector,omitempty" doc:"All contacts but suppressed ones, when absent."`
		Fields   []string             `json:"fields,omitempty"`
	}
}

func (api Contacts) exportContacts(ctx context.Context, p auth.Principal, in *exportContactsRequest) (wire.Accepted, error) {
	var r transfer.ExportRequest
	if b := in.Body; b != nil {
		r.Format, r.BOM, r.Fields = b.Format, b.BOM, b.Fields
		if b.Selector != nil {
			r.Selector = b.Selector.input()
		}
	}
	j, err := transfer.StartExport(ctx, api.db, p.Tenant, r, p.Actor(), api.now())
	return wire.Accepted{JobID: j.ID}, err
}

// Encode encodes contacts for exports, as in answers to reads.
func (api Contacts) Encode(ctx context.Context, t id.Tenant, list []contact.Contact) ([][]byte, error) {
	rows, err := api.rowsForRead(ctx, t, list...)
	if err != nil {
		return nil, err
	}
	docs := make([][]byte, len(rows))
	for i := range rows {
		if docs[i], err = rows[i].AppendJSON(nil); err != nil {
			return nil, err
		}
	}
	return docs, nil
}
