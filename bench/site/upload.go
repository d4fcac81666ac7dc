package site

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/e2e/harness"
)

// Job is what the API says about an import.
type Job struct {
	Status string
	Error  json.RawMessage
	Result struct{ Rows, Created, Updated, Skipped, Invalid int }
}

// Upload imports contacts as a user does: it uploads the CSV file that write writes, and returns the id of
// the job. The options are the JSON of the import's.
func Upload(ctx context.Context, p *harness.Program, options string, write func(io.Writer) error) (job string, err error) {
	in, out := io.Pipe()
	form := multipart.NewWriter(out)
	go func() { out.CloseWithError(writeForm(form, options, write)) }()
	defer in.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.BaseURL+"/t/"+harness.Tenant+"/api/contacts/import", in)
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("X-API-Key", p.Key)
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

func writeForm(form *multipart.Writer, options string, write func(io.Writer) error) error {
	if err := form.WriteField("options", options); err != nil {
		return err
	}
	part, err := form.CreateFormFile("file", "people.csv")
	if err != nil {
		return err
	}
	return errors.Join(write(part), form.Close())
}

// AwaitJob waits until a job is over.
func AwaitJob(ctx context.Context, p *harness.Program, id string) (Job, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Minute)
	defer cancel()
	c := p.Keyed()
	for {
		var j Job
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
