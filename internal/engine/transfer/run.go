package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Limits of a batch, which is what one step saves.
const (
	batchRows  = 1000
	batchBytes = 4 << 20
	batchCells = 12_500 // an empty cell is one byte of a file, and some thirty in memory
)

// batch is some rows and the drafts made from them.
type batch struct {
	rows    []row
	drafts  []contact.Draft
	at, row int64 // offset and number after the last row
	last    bool  // the file ends here
	err     error // reading failed after these rows
}

// row is a row with its draft, or its error.
type row struct {
	number int64
	cells  []string
	draft  int // index in batch.drafts
	err    *rowError
	unfit  []rowError // of the cells that are left out

	hash uint64 // of the address, unless the row was refused
}

// checkpoint is the state of an import.
type checkpoint struct {
	At      int64        `json:"at"`  // offset in the file
	Row     int64        `json:"row"` // number of the last row done
	Total   int64        `json:"total"`
	Done    bool         `json:"done"` // all rows are done
	Forms   map[int]form `json:"forms,omitempty"`
	Unsaved []int64      `json:"unsaved,omitempty"` // numbers of the first maxUnsaved rows that could be read, but not saved
	Sum     ImportResult `json:"sum"`
	Report  Report       `json:"report"`
}

// Import is the job.Runner of imports. While one batch is saved, the next is read.
func Import(ctx context.Context, w *job.Work) error {
	im := &importRun{Work: w}
	at := checkpoint{}
	if err := errors.Join(w.Params(&im.importParams), w.State(&at)); err != nil {
		return err
	}
	if im.DryRun {
		w.MarkTrial()
	}
	if at.Done {
		return nil
	}
	file, err := im.inputOf(ctx, w.DB, w.Job)
	if err != nil {
		return err
	}
	im.open = func(at int64) io.Reader { return file.Reader(ctx, w.DB, at) }
	if im.fields, err = field.Load(ctx, w.DB, w.Job.Tenant); err != nil {
		return err
	}
	if w.Job.State == nil {
		if at, err = im.look(ctx); err != nil || at.Done {
			return err
		}
	}
	im.forms = at.Forms
	if im.stages, err = contact.Stages(ctx, w.DB, w.Job.Tenant); err != nil {
		return err
	}
	if err := im.readAgain(at); err != nil {
		return err
	}
	if im.traced, err = loadTraced(ctx, w.DB, w.Job.Tenant, w.Job.ID); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	batches := make(chan batch)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(batches)
		im.readBatches(ctx, at, batches)
	})
	defer reading.Wait()
	defer stop()
	for b := range batches {
		if b.err != nil {
			return b.err
		}
		if at, err = im.saveBatch(ctx, at, b); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// importRun is the state of a running import.
type importRun struct {
	*job.Work
	drafter
	open    func(at int64) io.Reader
	guess   modeGuess
	traced  traced  // the steps so far
	pending step    // that is not committed yet
	seen    hashSet // of the addresses of earlier batches, up to maxSeen
}

// maxSeen is how many addresses of a file are known apart, to count repeats.
const maxSeen = 2_000_000

// look reads the whole file before any row is saved. An import fails here if a column has more than one likely form; a
// dry run reports it, and ends if no column has the addresses.
func (im *importRun) look(ctx context.Context) (checkpoint, error) {
	found, err := takeSurvey(NewRows(im.open, im.Format, len(im.Columns), im.At, im.Row), im.Columns, im.fields)
	if err != nil {
		return checkpoint{}, err
	}
	forms, unclear := found.forms(im.Columns, im.Format.Comma)
	if unclear.Any() && !im.DryRun {
		return checkpoint{}, unclear.Err()
	}
	warnings := found.warnings(im.Columns)
	at := checkpoint{
		At: im.At, Row: im.Row, Total: found.rows, Done: !hasAddress(im.Columns), Forms: forms,
		Sum: ImportResult{DryRun: im.DryRun},
		Report: Report{
			File:    FileRead{Encoding: cmp.Or(im.Format.Encoding, utf8Text), Separator: string(im.Format.Comma), Quote: string(im.Format.quote()), Sheet: im.Sheet, Sheets: im.Sheets},
			Options: ReportOptions{im.Mode, im.Tags, im.SegmentKey, im.Subscriptions, im.UpdateBlank, im.Strict},
			Columns: found.columns, ColumnsOmitted: found.omitted, Questions: unclear.Fields().Fields,
			Warnings: warnings.Fields().Fields, Faults: []FaultReport{},
		},
	}
	if at.Done {
		at.Report.Questions = append(at.Report.Questions, noAddress)
	}
	return at, im.Step(ctx, func(tx *sqldb.DB) (job.Progress, error) {
		return at.progress(), im.writeFiles(ctx, tx, errorRows{}, &at)
	})
}

func (at checkpoint) progress() job.Progress {
	return job.Progress{Processed: at.Sum.Rows, Total: &at.Total, State: at, Result: at.Sum}
}

// readBatches sends batches of the remaining rows to out.
func (im *importRun) readBatches(ctx context.Context, at checkpoint, out chan<- batch) {
	rows := NewRows(im.open, im.Format, len(im.Columns), at.At, at.Row)
	for last := false; !last; {
		b := im.readBatch(rows, at.At, at.Row)
		last, at.At, at.Row = b.last || b.err != nil, b.at, b.row
		select {
		case out <- b:
		case <-ctx.Done():
			return
		}
	}
}

func (im *importRun) readBatch(rows *Rows, at, number int64) batch {
	b := batch{at: at, row: number, rows: make([]row, 0, batchRows), drafts: make([]contact.Draft, 0, batchRows)}
	for cells := 0; len(b.rows) < batchRows && b.at-at < batchBytes && cells < batchCells; {
		read, err := rows.Next()
		if errors.Is(err, io.EOF) {
			b.last = true
			return b
		}
		if err != nil {
			b.err = fmt.Errorf("read an import: %w", err)
			return b
		}
		b.at, b.row = read.End, read.Number
		cells += len(read.Cells)
		t := row{number: read.Number, cells: append([]string(nil), read.Cells...)}
		if read.Flaw != "" {
			t.err = misfit(read.Flaw)
			t.err.value = read.Cells[0]
		} else {
			var d contact.Draft
			if d, t.unfit, t.err = im.draft(t.cells); t.err == nil {
				t.draft = len(b.drafts)
				b.drafts = append(b.drafts, d)
			}
		}
		b.rows = append(b.rows, t)
	}
	return b
}

// saveBatch saves one batch as a step of the job. If a concurrent transaction inserts the same address or key, it is
// retried.
func (im *importRun) saveBatch(ctx context.Context, at checkpoint, b batch) (checkpoint, error) {
	for try := 1; ; try++ {
		var next checkpoint
		var err error
		if im.DryRun {
			next, err = im.tryBatch(ctx, at, b)
		} else {
			err = im.Step(ctx, func(tx *sqldb.DB) (job.Progress, error) {
				var errs errorRows
				var err error
				if next, errs, err = im.applyBatch(ctx, tx, at, b); err == nil {
					err = im.writeFiles(ctx, tx, errs, &next)
				}
				return next.progress(), err
			})
		}
		if err == nil {
			im.remember(b)
			im.traced = im.traced.after(im.pending)
		}
		if err == nil || try == 5 || !sqldb.IsUniqueViolation(err) {
			return next, err
		}
		im.guess.recordFailure()
	}
}

// errDryRun rolls the transaction of a dry run back.
var errDryRun = errors.New("dry run")

// tryBatch is applyBatch in a transaction that is rolled back. Only the progress and the rows that were refused
// are stored.
func (im *importRun) tryBatch(ctx context.Context, at checkpoint, b batch) (checkpoint, error) {
	var tried, next checkpoint
	var errs errorRows
	err := im.DB.InTx(ctx, func(tx *sqldb.DB) (err error) {
		if tried, errs, err = im.applyBatch(ctx, tx, at, b); err == nil {
			err = errDryRun
		}
		return err
	})
	if !errors.Is(err, errDryRun) {
		return at, err
	}
	err = im.Step(ctx, func(tx *sqldb.DB) (job.Progress, error) {
		next = tried
		err := im.writeFiles(ctx, tx, errs, &next)
		return next.progress(), err
	})
	return next, err
}

// writeFiles writes the rows that a step refused, and the report after the last step.
func (im *importRun) writeFiles(ctx context.Context, tx *sqldb.DB, errs errorRows, at *checkpoint) error {
	err := errs.write(ctx, tx, im, at)
	if err == nil && at.Done {
		err = at.Report.write(ctx, tx, im)
	}
	if err == nil && at.Done && !im.DryRun {
		err = im.memorize(ctx, tx, im.Job.Tenant, im.Now())
	}
	return err
}

// remember keeps the addresses of a batch.
func (im *importRun) remember(b batch) {
	for _, t := range b.rows {
		if t.hash != 0 && im.seen.size < maxSeen {
			im.seen.add(t.hash)
		}
	}
}

// maxUnsaved limits Unsaved. An import that continues counts an address that only later ones of these rows had as one that
// was there before.
const maxUnsaved = 1000

// readAgain remembers the addresses of the rows before a checkpoint, when an import continues.
func (im *importRun) readAgain(done checkpoint) error {
	rows := NewRows(im.open, im.Format, len(im.Columns), im.At, im.Row)
	for at, number := im.At, im.Row; at < done.At; {
		b := im.readBatch(rows, at, number)
		if b.err != nil {
			return b.err
		}
		for i, t := range b.rows {
			if _, unsaved := slices.BinarySearch(done.Unsaved, t.number); t.err == nil && !unsaved {
				b.rows[i].hash = hashOf(b.drafts[t.draft].Email)
			}
		}
		im.remember(b)
		if at, number = b.at, b.row; b.last {
			return nil
		}
	}
	return nil
}

// applyBatch saves a batch's drafts and counts the results. It returns the rows that were refused.
func (im *importRun) applyBatch(ctx context.Context, tx *sqldb.DB, at checkpoint, b batch) (checkpoint, errorRows, error) {
	var errs errorRows
	tenant, now := im.Job.Tenant, im.Now()
	rules, err := sender.ContactRules(ctx, tx, tenant)
	if err != nil {
		return at, errs, err
	}
	save := contact.SaveAll
	if im.guess.fresh {
		save = contact.LoadAll
	}
	for i := range b.drafts {
		b.drafts[i].Trace = !im.DryRun && !im.traced.full
	}
	outcomes, err := save(ctx, tx, tenant, b.drafts, rules, now)
	if err != nil {
		return at, errs, err
	}
	created, trace := at.Sum.Created, trace{at: now}
	at.At, at.Row, at.Done = b.at, b.row, b.last
	at.Report.Faults = cloneFaults(at.Report.Faults) // the transaction may be done again
	at.Unsaved = slices.Clip(at.Unsaved)
	here := map[uint64]bool{} // addresses of this batch
	var members segment.Saved
	for i, t := range b.rows {
		at.Sum.Rows++
		if t.err == nil {
			o := outcomes[t.draft]
			refused, _ := fault.As(o.Err)
			skipped := im.isSkipped(o.Err)
			if refused == nil && o.Err != nil {
				return at, errs, o.Err
			}
			if o.Err == nil || skipped {
				b.rows[i].hash = im.countKept(&at.Sum, b.drafts[t.draft].Email, o, here)
			}
			if o.Err == nil {
				members.Add(o.Contact, o.Created)
				im.traceRow(&trace, o, b.rows[i].hash)
			}
			if o.Err == nil && len(t.unfit) > 0 {
				at.Sum.Unfit++
				for _, why := range t.unfit {
					at.Report.addFault(t.number, why)
				}
				t.err = &t.unfit[0]
				errs.add(t)
			}
			if o.Err == nil || skipped {
				continue
			}
			b.rows[i].hash = 0 // it may have been saved at the first try
			t.err = im.rowErrorOf(refused)
			if len(at.Unsaved) < maxUnsaved {
				at.Unsaved = append(at.Unsaved, t.number)
			}
		}
		at.Report.addFault(t.number, *t.err)
		at.Sum.Invalid++
		errs.add(t)
	}
	im.guess.recordBatch(at.Sum.Created-created, len(b.drafts))
	if b.last {
		at.Total = at.Sum.Rows
	}
	if !im.Segment.IsZero() {
		joined, err := segment.AddSaved(ctx, tx, tenant, im.Segment, members, b.last, now)
		if err != nil {
			return at, errs, err
		}
		trace.list(im.Segment, joined)
	}
	im.pending, err = im.storeTrace(ctx, tx, trace, b.row)
	return at, errs, err
}

// countKept counts a row that was saved or skipped, and returns the hash of its address; here has those of the batch.
func (im *importRun) countKept(sum *ImportResult, email string, o contact.Outcome, here map[uint64]bool) uint64 {
	hash := hashOf(email)
	before := im.seen.has(hash)
	if before || here[hash] {
		sum.Repeated++
	}
	here[hash] = true
	again := before && o.Created && im.DryRun // what an earlier batch of a dry run would have created is not there
	switch {
	case o.Err != nil || again && im.Mode == Create:
		sum.Skipped++
	case o.Created && !again:
		sum.Created++
	default:
		sum.Updated++
	}
	if o.Stopped {
		sum.Stopped++
	}
	return hash
}

// modeGuess predicts whether the next batch has only new contacts, which LoadAll writes faster. If
// that fails, the batch is saved again with SaveAll, and a number of batches that doubles with each
// failure follows before the next guess.
type modeGuess struct {
	fresh        bool
	pause, times int // remaining batches without a guess; number of failures
}

// recordBatch records how many contacts of a batch were new.
func (g *modeGuess) recordBatch(created int64, drafts int) {
	g.pause = max(g.pause-1, 0)
	g.fresh = g.pause == 0 && 50*created >= 49*int64(drafts) && drafts > 0
}

func (g *modeGuess) recordFailure() {
	if g.fresh {
		g.fresh, g.pause, g.times = false, 2<<min(g.times, 6), g.times+1
	}
}

// isSkipped reports whether an error is one that the mode ignores.
func (im *importRun) isSkipped(err error) bool {
	switch im.Mode {
	case Create:
		return errors.Is(err, contact.ErrDuplicateEmail)
	case Update:
		return errors.Is(err, contact.ErrNotFound)
	}
	return false
}
