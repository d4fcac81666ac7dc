package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"time"
)

// importing measures how many rows of a file become contacts in a second: the
// first import into a fresh database, which PostgreSQL has no statistics of; the
// same file again, when all rows are known; and another file of new rows.
func importing(ctx context.Context, o options, dialect string) (err error) {
	o.keep = "" // it is written to
	s, err := open(ctx, o, dialect, extent{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	fmt.Printf("\n%-9s %-20s %8s %8s %8s %8s %8s %11s %11s %8s\n", dialect, "import", "rows", "rows/s", "target", "s", "upload s", "CPU s/1000", "server", "peak MB")
	for _, name := range []string{"first, all new", "all known", "more, all new"} {
		if err := s.importOnce(ctx, name, o.rows); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) importOnce(ctx context.Context, name string, rows int) error {
	before, err := s.Usage()
	if err != nil {
		return err
	}
	server, err := s.serverTime(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	job, err := s.upload(ctx, name, rows)
	if err != nil {
		return err
	}
	uploaded := time.Since(began)
	done, err := s.awaitJob(ctx, job)
	if err != nil {
		return err
	}
	took := time.Since(began)
	after, err := s.Usage()
	if err != nil {
		return err
	}
	used, err := s.serverTime(ctx)
	if err != nil {
		return err
	}
	perThousand := "-"
	if used > 0 {
		perThousand = fmt.Sprintf("%.3f", (used-server).Seconds()*1000/float64(rows))
	}
	if done.Status != "completed" || done.Result.Created+done.Result.Updated != rows {
		return fmt.Errorf("import: %s, %+v %s", done.Status, done.Result, done.Error)
	}
	fmt.Printf("%-9s %-20s %8d %8.0f %8d %8.2f %8.2f %11.3f %11s %8.0f\n", s.dialect, name, rows, float64(rows)/took.Seconds(), 50_000,
		took.Seconds(), uploaded.Seconds(), (after.CPU-before.CPU).Seconds()*1000/float64(rows), perThousand, float64(after.PeakMemory)/(1<<20))
	return nil
}

// upload sends a file of so many rows, which is made as it goes.
func (s *site) upload(ctx context.Context, name string, rows int) (job string, err error) {
	in, out := io.Pipe()
	form := multipart.NewWriter(out)
	go func() { out.CloseWithError(s.writeForm(form, name, rows)) }()
	defer in.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.BaseURL+s.account.prefix+"/contacts/import", in)
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("X-API-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return "", err
	}
	var made struct {
		JobID string `json:"job_id"`
	}
	if err := json.Unmarshal(text, &made); err != nil || res.StatusCode != http.StatusAccepted {
		return "", fmt.Errorf("POST /contacts/import: %d %.300s", res.StatusCode, text)
	}
	return made.JobID, nil
}

func (s *site) writeForm(form *multipart.Writer, name string, rows int) error {
	if err := form.WriteField("options", `{"mode":"upsert"}`); err != nil {
		return err
	}
	part, err := form.CreateFormFile("file", "people.csv")
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(part, 64<<10)
	fmt.Fprintln(w, "email,first_name,last_name,company,country,city,custom_fields.plan,custom_fields.age,tags")
	prefix := "i"
	if strings.HasPrefix(name, "more") {
		prefix = "m"
	}
	from := people{n: rows, now: s.people.now}
	for i := range rows {
		p := from.person(i)
		age := ""
		if p.age > 0 {
			age = fmt.Sprint(p.age)
		}
		fmt.Fprintf(w, "%s%s,%s,%s,%s,%s,%s,%s,%s,%q\n", prefix, p.email, p.first, p.last, p.company, p.country, p.city, p.plan, age, strings.Join(p.tags, ","))
	}
	return errors.Join(w.Flush(), form.Close())
}

// job is what the API says about an import.
type job struct {
	Status string
	Error  json.RawMessage
	Result struct{ Rows, Created, Updated, Skipped, Invalid int }
}

// awaitJob waits until a job is over.
func (s *site) awaitJob(ctx context.Context, id string) (job, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	c := s.Keyed()
	for {
		var j job
		a, err := c.Do(ctx, http.MethodGet, "/jobs/"+id, nil)
		if err != nil {
			return j, err
		}
		if err := a.Decode(&j); err != nil || a.Status != http.StatusOK {
			return j, fmt.Errorf("GET /jobs/%s: %d %s", id, a.Status, a.Body)
		}
		if j.Status != "queued" && j.Status != "running" {
			return j, nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return j, ctx.Err()
		}
	}
}
