package transfer

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/xuri/excelize/v2"
	"golang.org/x/sync/semaphore"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Limits of archives and workbooks, which are read into memory, though not their sheets and texts.
const (
	maxArchive  = 16 << 20  // bytes
	maxUnpacked = 100 << 20 // bytes of rows, as of a file that is uploaded as such
	maxSheets   = 256 << 20 // bytes of the parts of a workbook that are kept in temporary files
	maxParts    = 16 << 20  // bytes of its other parts
	maxCells    = 2_000_000 // of a sheet
	maxNames    = 100       // sheets that a report lists
)

// Why an archive or a workbook is refused.
const (
	damaged  = "is a damaged workbook or archive"
	tooLarge = "is a workbook that is too large; save the sheet as CSV"
)

// unpacking bounds the memory and the processor time of a process for archives: so many are read at a time.
var unpacking = semaphore.NewWeighted(2)

// workbookMark begins archives, and so workbooks.
const workbookMark = "PK\x03\x04"

// Unpack returns the rows of an uploaded workbook (.xlsx), of its first sheet unless another is named, or those of an
// archive that holds one such file or one of CSV. The new file takes the place of the upload. Any other upload is
// returned as it is.
func Unpack(ctx context.Context, db *sqldb.DB, in Received, sheet string, now time.Time) (Received, error) {
	mark := make([]byte, len(workbookMark))
	if _, err := io.ReadFull(in.Reader(ctx, db, 0), mark); err != nil || string(mark) != workbookMark {
		return in, nil
	}
	if in.Size > maxArchive {
		return in, badFile(fmt.Sprintf("is a workbook or an archive of more than %d MB; save it as CSV", maxArchive>>20))
	}
	if err := unpacking.Acquire(ctx, 1); err != nil {
		return in, err
	}
	defer unpacking.Release(1)
	packed, err := io.ReadAll(in.Reader(ctx, db, 0))
	if err != nil {
		return in, fmt.Errorf("read an archive: %w", err)
	}
	out, err := newUpload(ctx, db, in.Tenant, now, func(out *Received, w io.Writer) error {
		return unpack(out, w, packed, sheet)
	})
	if err != nil {
		return in, err
	}
	return out, in.Delete(ctx, db)
}

// newUpload stores what write writes. If that fails, nothing is left.
func newUpload(ctx context.Context, db *sqldb.DB, tenant id.Tenant, now time.Time, write func(*Received, io.Writer) error) (Received, error) {
	var out Received
	var err error
	if out.File, err = job.NewFile(ctx, db, tenant, id.Job{}, job.Input, "text/csv", now); err != nil {
		return Received{}, err
	}
	w := out.Writer(ctx, db)
	if err = write(&out, io.MultiWriter(w, &out.about.Seen)); err == nil {
		err = w.Close()
	}
	if err != nil {
		return Received{}, errors.Join(err, out.Delete(context.WithoutCancel(ctx), db))
	}
	return out, nil
}

// unpack writes the rows of an archive.
func unpack(out *Received, w io.Writer, packed []byte, sheet string) error {
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return badFile(damaged)
	}
	if slices.ContainsFunc(archive.File, func(f *zip.File) bool { return f.Name == "xl/workbook.xml" }) {
		return readWorkbook(out, w, archive, packed, sheet)
	}
	var files []*zip.File
	for _, f := range archive.File {
		name := path.Base(f.Name)
		if !strings.HasSuffix(f.Name, "/") && !strings.HasPrefix(f.Name, "__MACOSX/") && !strings.HasPrefix(name, ".") {
			files = append(files, f)
		}
	}
	if len(files) != 1 {
		return badFile("is an archive that does not hold exactly one file")
	}
	f, err := files[0].Open()
	if err != nil {
		return badFile(damaged)
	}
	defer f.Close()
	if strings.HasSuffix(strings.ToLower(files[0].Name), ".xlsx") {
		inner, err := io.ReadAll(io.LimitReader(f, maxArchive+1))
		if err != nil || len(inner) > maxArchive {
			return badFile(fmt.Sprintf("is a workbook or an archive of more than %d MB; save it as CSV", maxArchive>>20))
		}
		archive, err := zip.NewReader(bytes.NewReader(inner), int64(len(inner)))
		if err != nil {
			return badFile(damaged)
		}
		return readWorkbook(out, w, archive, inner, sheet)
	}
	_, err = io.Copy(&limitedWriter{w, maxUnpacked}, packedReader{f})
	return err
}

// packedReader reads a file of an archive. That it cannot be read is the fault of who sent it.
type packedReader struct{ io.Reader }

// Read reads, and returns a fault for any error.
func (r packedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = badFile(damaged)
	}
	return n, err
}

// limitedWriter refuses to write more than some bytes.
type limitedWriter struct {
	io.Writer
	left int64
}

// Write writes p, or nothing of it and returns a fault.
func (l *limitedWriter) Write(p []byte) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, badFile(fmt.Sprintf("is an archive with more than %d MB of rows", maxUnpacked>>20))
	}
	return l.Writer.Write(p)
}

// inTemporaryFiles reports whether a part of a workbook is one that is not kept in memory.
func inTemporaryFiles(name string) bool {
	return strings.HasPrefix(name, "xl/worksheets/sheet") || name == "xl/sharedStrings.xml"
}

// readWorkbook writes the rows of a sheet as CSV.
func readWorkbook(out *Received, w io.Writer, archive *zip.Reader, packed []byte, sheet string) error {
	var sheets, others uint64
	for _, f := range archive.File {
		if inTemporaryFiles(f.Name) {
			sheets += f.UncompressedSize64
		} else {
			others += f.UncompressedSize64
		}
	}
	if sheets > maxSheets || others > maxParts {
		return badFile(tooLarge)
	}
	book, err := excelize.OpenReader(bytes.NewReader(packed), excelize.Options{
		UnzipSizeLimit: maxSheets + maxParts, UnzipXMLSizeLimit: 1 << 20, ShortDatePattern: "yyyy-mm-dd", LongDatePattern: "yyyy-mm-dd", LongTimePattern: "hh:mm:ss",
	})
	if err != nil {
		return badFile(damaged)
	}
	defer book.Close()
	names := book.GetSheetList()
	out.about.Sheets = names[:min(len(names), maxNames)]
	switch {
	case len(names) == 0:
		return badFile("is a workbook without sheets")
	case sheet == "":
		sheet = names[0]
	case !slices.Contains(names, sheet):
		return fault.Input(fault.Field{Path: "options.sheet", Message: "the workbook has no such sheet"})
	}
	out.about.Sheet = sheet
	props, err := book.GetWorkbookProps()
	if err != nil {
		return badFile(damaged)
	}
	return writeSheet(&limitedWriter{w, maxUnpacked}, book, sheet, props.Date1904 != nil && *props.Date1904)
}

// writeSheet writes the rows of a sheet. It reads them twice at a time: as the sheet stores them and as it shows them,
// since only the latter says which numbers are dates, and only the former has them whole.
func writeSheet(w io.Writer, book *excelize.File, sheet string, since1904 bool) error {
	stored, err := book.Rows(sheet)
	if err != nil {
		return badFile(damaged)
	}
	defer stored.Close()
	shown, err := book.Rows(sheet)
	if err != nil {
		return badFile(damaged)
	}
	defer shown.Close()
	lines := csv.NewWriter(w)
	for left := maxCells; stored.Next() && shown.Next(); {
		cells, err := stored.Columns(excelize.Options{RawCellValue: true})
		if err != nil {
			return badFile(damaged)
		}
		if left -= len(cells); left < 0 {
			return badFile(tooLarge)
		}
		if slices.ContainsFunc(cells, startsNumber) {
			texts, err := shown.Columns()
			if err != nil {
				return badFile(damaged)
			}
			for i := range min(len(cells), len(texts)) {
				cells[i] = sheetCell(cells[i], texts[i], since1904)
			}
		}
		if len(cells) == 0 {
			cells = []string{""}
		}
		if err := lines.Write(cells); err != nil {
			return err
		}
	}
	if stored.Error() != nil || shown.Error() != nil {
		return badFile(damaged)
	}
	lines.Flush()
	return lines.Error()
}

// startsNumber reports whether a cell may be a number, and so a date.
func startsNumber(cell string) bool {
	return cell != "" && strings.IndexByte("-.0123456789", cell[0]) >= 0
}

// sheetCell returns the text of a cell: a date as ISO 8601 writes it, any other number as it is stored.
func sheetCell(stored, shown string, since1904 bool) string {
	serial, err := strconv.ParseFloat(stored, 64)
	if err != nil || stored == shown {
		return stored
	}
	for _, f := range []form{dayFirst, monthFirst} {
		if _, ok := parseDate(shown, f); !ok {
			continue
		}
		at, err := excelize.ExcelDateToTime(serial, since1904)
		if err != nil {
			break
		}
		if at = at.Round(time.Second); at.Equal(at.Truncate(24 * time.Hour)) {
			return at.Format(time.DateOnly)
		}
		return at.Format(time.DateTime)
	}
	if strings.Contains(shown, ":") || strings.ContainsFunc(shown, unicode.IsLetter) && !strings.ContainsAny(shown, "eE") {
		return shown
	}
	return stored
}
