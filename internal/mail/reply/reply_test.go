package reply_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/mail/reply"
)

func read(t *testing.T, wire string) (reply.Reply, error) {
	t.Helper()
	var r reply.Reply
	err := r.Read(reply.NewReader(strings.NewReader(wire)))
	return r, err
}

func TestReadUnderstandsReplies(t *testing.T) {
	for _, tt := range []struct {
		name, wire     string
		code           int
		enhanced, text string
	}{
		{"one line", "250 ok\r\n", 250, "", "ok"},
		{"enhanced code", "550 5.1.1 no such user\r\n", 550, "5.1.1", "no such user"},
		{"enhanced code alone", "250 2.0.0\r\n", 250, "2.0.0", ""},
		{"several lines", "550-5.7.26 unauthenticated\r\n550-5.7.26 see\r\n550 5.7.26 https://x.example\r\n", 550, "5.7.26", "unauthenticated see https://x.example"},
		{"code and nothing", "354\r\n", 354, "", ""},
		{"no space", "250ok\r\n", 250, "", "ok"},
		{"bare line feed", "250 ok\n", 250, "", "ok"},
		{"class does not match", "550 4.1.1 later\r\n", 550, "", "4.1.1 later"},
		{"long detail", "550 5.1.1234 no\r\n", 550, "", "5.1.1234 no"},
		{"last code counts", "250-a\r\n251 b\r\n", 251, "", "a b"},
		{"enhanced code in the second line", "550-sorry\r\n550 5.2.1 closed\r\n", 550, "5.2.1", "sorry closed"},
		{"control characters", "550 a\x00b\x1b[31m\tc\u0085d\u2028e\xffg\r\n", 550, "", "ab[31m c d e\ufffdg"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := read(t, tt.wire)
			if err != nil || r.Code != tt.code || r.Enhanced() != tt.enhanced || r.Text() != tt.text {
				t.Errorf("Read(%q) = %d %q %q, %v; want %d %q %q", tt.wire,
					r.Code, r.Enhanced(), r.Text(), err, tt.code, tt.enhanced, tt.text)
			}
		})
	}
}

func TestReadRefusesWhatIsNoReply(t *testing.T) {
	for name, wire := range map[string]string{
		"no code":       "hello\r\n",
		"empty line":    "\r\n",
		"code too low":  "150 wait\r\n",
		"code too high": "650 what\r\n",
		"four digits":   "2500 ok\r\n",
		"classes mixed": "250-ok\r\n550 no\r\n",
		"endless line":  "250 " + strings.Repeat("x", reply.MaxLine) + "\r\n",
		"endless reply": strings.Repeat("250-"+strings.Repeat("x", 1000)+"\r\n", 70) + "250 ok\r\n",
	} {
		if r, err := read(t, wire); !errors.Is(err, reply.ErrMalformed) {
			t.Errorf("%s: Read = %d, %v; want ErrMalformed", name, r.Code, err)
		}
	}
	if _, err := read(t, "250-half\r\n"); !errors.Is(err, io.EOF) {
		t.Errorf("half a reply: error = %v, want EOF", err)
	}
}

func TestReadTakesReplyAfterReply(t *testing.T) {
	br := reply.NewReader(strings.NewReader("250-a\r\n250 b\r\n550 5.1.1 c\r\n354 d\r\n"))
	var r reply.Reply
	for _, want := range []string{"250 a b", "550 5.1.1 c", "354 d"} {
		if err := r.Read(br); err != nil {
			t.Fatal(err)
		}
		if got := r.Outcome(reply.Dot).String(); got != want {
			t.Errorf("reply = %q, want %q", got, want)
		}
	}
}

func TestTextIsBounded(t *testing.T) {
	r, err := read(t, strings.Repeat("550-"+strings.Repeat("\u00e4", 400)+"\r\n", 20)+"550 end\r\n")
	if text := r.Text(); err != nil || len(text) > reply.MaxText || len(text) < reply.MaxText-2 || !utf8.ValidString(text) {
		t.Errorf("Text has %d bytes, valid %v, error %v; want about %d", len(text), utf8.ValidString(text), err, reply.MaxText)
	}
}

func TestCleanIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once := reply.Clean(rapid.String().Draw(t, "text"))
		if twice := reply.Clean(once); twice != once {
			t.Fatalf("Clean(%q) = %q", once, twice)
		}
	})
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"250 ok\r\n", "250-a\r\n250 b\r\n", "550 5.1.1 no\r\n", "354\r\n", "2\r\n", "25x ok\r\n", "250-\n250\n",
		"550-5.1.1 a\r\n550 5.1.1\r\n", "421 4.7.0\xff\x00\r\n", "999 \r\n", "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		br := reply.NewReader(strings.NewReader(string(wire)))
		var r reply.Reply
		for {
			if err := r.Read(br); err != nil {
				return
			}
			o := r.Outcome(reply.Rcpt)
			if o.Code < 200 || o.Code > 599 {
				t.Fatalf("code %d", o.Code)
			}
			if o.Enhanced != "" && int(o.Enhanced[0]-'0') != o.Code/100 {
				t.Fatalf("enhanced code %s with %d", o.Enhanced, o.Code)
			}
			if len(o.Text) > reply.MaxText || !utf8.ValidString(o.Text) || strings.ContainsFunc(o.Text, unicode.IsControl) {
				t.Fatalf("text %q", o.Text)
			}
			if v := reply.Classify(o); v.Class == reply.Accepted || v.Rule == "" {
				t.Fatalf("Classify(%+v) = %+v", o, v)
			}
		}
	})
}

func TestNextTryFollowsTheSchedule(t *testing.T) {
	failed := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	for i, minutes := range []float64{1, 1, 5, 15, 30, 60, 120, 240, 240, 240} {
		for jitter, factor := range map[float64]float64{0: 0.8, 0.5: 1, 0.75: 1.1, 1: 1.2, -3: 0.8, 9: 1.2} {
			got := reply.NextTry(i, failed, jitter).Sub(failed)
			want := time.Duration(minutes * factor * float64(time.Minute))
			if diff := (got - want).Abs(); diff > time.Millisecond {
				t.Errorf("NextTry(%d, jitter %v) waits %v, want %v", i, jitter, got, want)
			}
		}
	}
}

// What needs no cleaning is found out quickly, and nothing else is taken for it.
func TestCleanTextStaysAsItIs(t *testing.T) {
	t.Parallel()
	atom := rapid.SampledFrom([]string{"a", "ok.", " ", "  ", "\t", "\r\n", "\x00", "\x7f", "ü", "\u200b", "\xff", strings.Repeat("x", reply.MaxText)})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(atom, 0, 6).Draw(t, "atoms"), "")
		const invisible = "\u200b" // is dropped, so that the long way is taken
		if got, want := reply.Clean(s), reply.Clean(invisible+s); got != want {
			t.Errorf("Clean(%q) = %q, want %q", s, got, want)
		}
	})
}
