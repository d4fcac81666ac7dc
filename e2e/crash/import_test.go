package crash

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// The crash proof of imports: enough rows that the program is killed in the
// middle of them several times. Of ten rows one is wrong, one repeats the row
// before, and eight are new contacts.
const importRows = 30_000

// TestKilledImportsApplyEachRowOnce kills the program without a warning, at random
// moments of an import, and starts it again. In the end each row was applied, and
// none twice: in the counts of the job, in the contacts, in their list, and
// in the journal.
func TestKilledImportsApplyEachRowOnce(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 1))
		p, ready, _ := e2etest.Start(t, address)
		var file strings.Builder
		file.WriteString("E-Mail;First Name;Ort\n")
		for i := range importRows {
			switch i % 10 {
			case 3:
				fmt.Fprintf(&file, "person %d;wrong;\"\"\n", i)
			case 7:
				fmt.Fprintf(&file, "person%d@example.org;Again;\n", i-1)
			default:
				fmt.Fprintf(&file, "person%d@example.org;Person;\"Bonn; am\nRhein\"\n", i)
			}
		}
		job := upload(t, p, file.String(), map[string]any{
			"mapping": map[string]string{"E-Mail": "email", "Ort": "city"}, "segment_key": ready.List, "tags": []string{"imported"},
		})
		kills, most := 0, 5
		if _, alone := e2etest.SQLiteDir(address); !alone {
			most = 2 // each waits for the end of the lease that the dead process had
		}
		for at := 0.0; kills < most; {
			j := advanced(t, ready, job, at)
			at, _ = j["progress"].(map[string]any)["processed"].(float64)
			e2etest.Wait(t, time.Duration(random.IntN(300))*time.Millisecond)
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
			kills++
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			j = read(t, ready, "/jobs/"+job)
			t.Logf("killed at %v", j["progress"])
			if j["status"] == "completed" {
				break
			}
		}
		t.Logf("%d kills", kills)
		j := ended(t, ready, job)
		const wrong, again, fresh = importRows / 10, importRows / 10, importRows / 10 * 8
		result, _ := j["result"].(map[string]any)
		for name, want := range map[string]float64{"rows": importRows, "created": fresh, "updated": again, "skipped": 0, "invalid": wrong} {
			if result[name] != want {
				t.Errorf("the result says %s = %v, want %v", name, result[name], want)
			}
		}
		if progress, _ := j["progress"].(map[string]any); j["status"] != "completed" || progress["processed"] != float64(importRows) || progress["total"] != float64(importRows) {
			t.Errorf("the job = %v", j)
		}
		if n := read(t, ready, "/contacts/count?search=example.org")["count"]; n != float64(fresh) {
			t.Errorf("%v contacts, want %d", n, fresh)
		}
		if list := read(t, ready, "/segments/"+ready.List); list["member_count_total"] != float64(fresh) {
			t.Errorf("the list has %v members, want %d", list["member_count_total"], fresh)
		}
		db := e2etest.Database(t, p)
		defer db.Close()
		for typ, want := range map[string]int{"contact_created": fresh, "list_added": fresh, "contact_updated": again} {
			var n int
			if err := db.QueryRow(t.Context(), `
				SELECT COALESCE(SUM(CASE WHEN packed IS NULL THEN 1 ELSE LENGTH(packed) / 16 END), 0) FROM journal
				WHERE type = $1 /* all tenants: there is one */`, typ).Scan(&n); err != nil {
				t.Fatal(err)
			}
			if n != want {
				t.Errorf("the journal has %d entries %s, want %d", n, typ, want)
			}
		}
		url, _ := result["errors_url"].(string)
		a, err := ready.Key.Raw(t.Context(), http.MethodGet, strings.TrimPrefix(url, p.BaseURL), nil)
		if err != nil || a.Status != http.StatusOK {
			t.Fatalf("GET %s: %d %s, %v", url, a.Status, a.Body, err)
		}
		r := csv.NewReader(bytes.NewReader(a.Body))
		r.Comma = ';' // as the file has it
		rows, err := r.ReadAll()
		if err != nil || len(rows) != 1+wrong {
			t.Fatalf("the errors file has %d rows, %v; want %d", len(rows), err, 1+wrong)
		}
		for i, row := range rows[1:] {
			if want := fmt.Sprint(10*i + 3 + 2); row[3] != want || row[0] != fmt.Sprintf("person %d", 10*i+3) {
				t.Fatalf("row %d of the errors file = %q, want row %s of the file", i+1, row, want)
			}
		}
		undoneOnce(t, p, ready, job, fresh)
	})
}

// undoneOnce undoes an import that created contacts, and kills the program meanwhile.
func undoneOnce(t *testing.T, p *harness.Program, ready *harness.Ready, imported string, created int) {
	t.Helper()
	a, err := ready.Key.Must(t.Context(), http.MethodPost, "/jobs/"+imported+"/undo", nil)
	if err != nil {
		t.Fatal(err)
	}
	undo, _ := a["job_id"].(string)
	j := advanced(t, ready, undo, 0)
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("killed at %v of the undo", j["progress"])
	j = ended(t, ready, undo)
	result, _ := j["result"].(map[string]any)
	if j["status"] != "completed" || result["deleted"] != float64(created) || result["restored"] != 0.0 {
		t.Errorf("the undo = %v, want %d deleted", j, created)
	}
	if n := read(t, ready, "/contacts/count?search=example.org")["count"]; n != 0.0 {
		t.Errorf("%v contacts after the undo", n)
	}
	if list := read(t, ready, "/segments/"+ready.List); list["member_count_total"] != 0.0 {
		t.Errorf("the list has %v members after the undo", list["member_count_total"])
	}
}

// upload posts a file to be imported, and returns the job's id.
func upload(t *testing.T, p *harness.Program, file string, options any) string {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	text, err := json.Marshal(options)
	if err != nil {
		t.Fatal(err)
	}
	if err := form.WriteField("options", string(text)); err != nil {
		t.Fatal(err)
	}
	part, err := form.CreateFormFile("file", "people.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(part, file); err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.BaseURL+"/t/"+harness.Tenant+"/api/contacts/import", &body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("X-API-Key", p.Key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	var said struct {
		JobID string `json:"job_id"`
	}
	if err != nil || res.StatusCode != http.StatusAccepted || json.Unmarshal(answer, &said) != nil {
		t.Fatalf("POST /contacts/import: %d %s, %v", res.StatusCode, answer, err)
	}
	return said.JobID
}

func read(t *testing.T, ready *harness.Ready, path string) map[string]any {
	t.Helper()
	m, err := ready.Key.Must(t.Context(), http.MethodGet, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ended waits until a job has ended.
func ended(t *testing.T, ready *harness.Ready, job string) map[string]any {
	t.Helper()
	return advanced(t, ready, job, math.Inf(1))
}

// advanced waits until a job is beyond some of its work, or has ended.
func advanced(t *testing.T, ready *harness.Ready, job string, beyond float64) map[string]any {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), e2etest.Patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		j := read(t, ready, "/jobs/"+job)
		progress, _ := j["progress"].(map[string]any)
		if n, _ := progress["processed"].(float64); n > beyond || j["status"] != "queued" && j["status"] != "running" {
			return j
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the job does not end: %v", j)
		case <-tick.C:
		}
	}
}
