package links_test

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/links"
)

func TestCheckTarget(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"https://x.org", "HTTP://X.org/", "https://x.org:8443/a?b#c", "http://localhost/", "https://xn--bcher-kva.example/",
		"https://bücher.example/ä", "https://[2001:db8::1]:80/", "https://x.org/100%/a b?a={b}|c", "https://x.org/@user", "https://x.org?a@b",
	} {
		if err := links.CheckTarget(good); err != nil {
			t.Errorf("CheckTarget(%q) = %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "x.org", "//x.org", "/a", "ftp://x.org", "javascript:alert(1)//https://x.org", "https:x.org", "https:/x.org",
		"https://", "https:///a", "https://?a", "https://:80", "https://.", "https://a@x.org", "https://a:b@x.org/",
		"https://good.org\\@evil.org", "https://x.org\\.evil.org/", "https://x.org/\r\nSet-Cookie: a", "https://x.org/\x00", "https://x.org/\x7f",
		" https://x.org", "https://x y.org", "https://x.org:a/", "https://x.org:123456", "https://[::1", "https://[x]/", "https://x[::1]/", "https://[::1]x/", "https://x%2eorg/",
	} {
		if err := links.CheckTarget(bad); err == nil {
			t.Errorf("CheckTarget(%q) gave no error", bad)
		}
	}
}

func TestAddUTM(t *testing.T) {
	t.Parallel()
	utm := links.UTM{Source: "acme", Medium: "email", Campaign: "spring sale&co", Content: ""}
	const all = "utm_source=acme&utm_medium=email&utm_campaign=spring%20sale%26co"
	for _, tt := range []struct{ in, want string }{
		{"https://x.org", "https://x.org?" + all},
		{"https://x.org/a#b?c", "https://x.org/a?" + all + "#b?c"},
		{"https://x.org/?a=%C3%A4&&b=+#c", "https://x.org/?a=%C3%A4&&b=+&" + all + "#c"},
		{"https://x.org/?", "https://x.org/?" + all},
		{"https://x.org/?a&", "https://x.org/?a&" + all},
		{"https://x.org/?utm_source=b&utm_medium&utm%5Fcampaign=", "https://x.org/?utm_source=b&utm_medium&utm%5Fcampaign="},
		{"https://x.org/?utm_source=b#utm_medium=c", "https://x.org/?utm_source=b&utm_medium=email&utm_campaign=spring%20sale%26co#utm_medium=c"},
		{"https://x.org/?my_utm_source=b", "https://x.org/?my_utm_source=b&" + all},
		{"https://x.org/{{ a | default: '#?' }}#b", "https://x.org/{{ a | default: '#?' }}?" + all + "#b"},
		{"https://x.org/?a={{ b | append: \"&utm_source=\" }}", "https://x.org/?a={{ b | append: \"&utm_source=\" }}&" + all},
		{"{{ url }}", "{{ url }}?" + all},
	} {
		if got := links.AddUTM(tt.in, utm); got != tt.want {
			t.Errorf("AddUTM(%q)\n got %q\nwant %q", tt.in, got, tt.want)
		}
	}
	if got := links.AddUTM("https://x.org", links.UTM{}); got != "https://x.org" {
		t.Errorf("AddUTM of nothing = %q", got)
	}
}

func TestInserts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, start, end string }{
		{"<html><body class='a>b'><p>x</p></BODY ></html>", "<html><body class='a>b'>|<p>x</p></BODY ></html>", "<html><body class='a>b'><p>x</p>|</BODY ></html>"},
		{"<p>x</p>", "|<p>x</p>", "<p>x</p>|"},
		{"", "|", "|"},
		{"<!doctype html><p>x", "<!doctype html>|<p>x", "<!doctype html><p>x|"},
		{"<!doctype html><html><head></head><p>x", "<!doctype html><html><head></head>|<p>x", "<!doctype html><html><head></head><p>x|"},
		{"<body>a</body><body>b</body>c", "<body>|a</body><body>b</body>c", "<body>a</body><body>b|</body>c"},
		{"<body><!-- </body> --><script>'</body>'</script>", "<body>|<!-- </body> --><script>'</body>'</script>", "<body><!-- </body> --><script>'</body>'</script>|"},
		{"<!-- <body> --><body>a</body>", "<!-- <body> --><body>|a</body>", "<!-- <body> --><body>a|</body>"},
		{"<html><head><title>T</title></head>\n<table>", "<html><head><title>T</title></head>|\n<table>", "<html><head><title>T</title></head>\n<table>|"},
		{"<!--[if mso]><body><![endif]-->{% if a %}<p>x{% endif %}", "|<!--[if mso]><body><![endif]-->{% if a %}<p>x{% endif %}", "<!--[if mso]><body><![endif]-->{% if a %}<p>x{% endif %}|"},
		{`<body {{ "</body>" }}>a{{ "</body>" }}`, `<body {{ "</body>" }}>|a{{ "</body>" }}`, `<body {{ "</body>" }}>a{{ "</body>" }}|`},
	} {
		if got := links.InsertAfterBodyStart(tt.in, "|"); got != tt.start {
			t.Errorf("InsertAfterBodyStart(%s)\n got %s\nwant %s", tt.in, got, tt.start)
		}
		if got := links.InsertBeforeBodyEnd(tt.in, "|"); got != tt.end {
			t.Errorf("InsertBeforeBodyEnd(%s)\n got %s\nwant %s", tt.in, got, tt.end)
		}
	}
}

// Content filters count text in a tiny font as hidden, whatever hides it besides.
func TestPreviewsOfMJMLFillTheLineWithoutTinyFont(t *testing.T) {
	t.Parallel()
	const (
		style  = `color:#ffffff;line-height:1px;max-height:0px;max-width:0px;opacity:0;overflow:hidden;">`
		before = `<body><div style="display:none;font-size:1px;` + style
		after  = `<body><div style="display:none;` + style
		rest   = `</div><p style="font-size:1px">x</p>`
		unit   = "&#847;&zwnj;&nbsp;"
	)
	fill := strings.Repeat(unit, strings.Count(links.PreheaderText(""), unit))
	for _, tt := range []struct{ name, text, want string }{
		{"a text", "Hi {{ first_name }}", "Hi {{ first_name }}" + fill},
		{"filled already", links.PreheaderText("Hi"), "Hi" + fill},
		{"filled by hand", "Hi {% for i in (1..9) %}&#847;{% endfor %}", "Hi {% for i in (1..9) %}&#847;{% endfor %}"},
		{"blank", " ", " "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, want := links.FinishPreview(before+tt.text+rest), after+tt.want+rest; got != want {
				t.Errorf("FinishPreview = %s; want %s", got, want)
			}
		})
	}
	for _, same := range []string{"", "<p>x</p>", `<div style="display:none;">x</div>`, before} {
		if got := links.FinishPreview(same); strings.Contains(got, "&#847;") {
			t.Errorf("FinishPreview(%q) = %s", same, got)
		}
	}
	if got := links.Preheader("Hi"); strings.Contains(got, "font-size") {
		t.Errorf("Preheader = %s", got)
	}
}

func TestPreheader(t *testing.T) {
	t.Parallel()
	got := links.Preheader("Only <today>\r\n& {{ name | default: \"you\" }}")
	want := `<div style="display:none;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden;mso-hide:all">` +
		"Only &lt;today&gt;  &amp; {{ name | default: \"you\" }}&#847;&zwnj;&nbsp;"
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "&#847;&zwnj;&nbsp;</div>") {
		t.Errorf("Preheader = %s; want %s…", got, want)
	}
	if n := strings.Count(got, "&#847;&zwnj;&nbsp;"); n < 90 || n > 150 {
		t.Errorf("%d units of padding", n)
	}
	if got := links.Preheader(`{% if a < b %}"x"{% endif %}</div>`); !strings.Contains(got, `>{% if a < b %}&#34;x&#34;{% endif %}&lt;/div&gt;&#847;`) {
		t.Errorf("Preheader with tags = %s", got)
	}
	if got := links.Preheader(" \n"); got != "" {
		t.Errorf("blank Preheader = %q", got)
	}
}

func TestDeclareUTF8(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`<meta charset="iso-8859-1"><p>a`:   `<meta charset="utf-8"><p>a`,
		`<META CHARSET=windows-1252 /><p>a`: `<META CHARSET=utf-8 /><p>a`,
		`<meta charset="UTF-8"/>`:           `<meta charset="UTF-8"/>`,
		`<meta http-equiv="Content-Type" content="text/html; Charset=ISO-8859-1; a">`: `<meta http-equiv="Content-Type" content="text/html; Charset=utf-8; a">`,
		`<meta name="viewport" content="width=device-width">`:                         `<meta name="viewport" content="width=device-width">`,
		`<!-- <meta charset=x> --><body><meta charset=x>`:                             `<!-- <meta charset=x> --><body><meta charset=x>`,
		``: ``,
	} {
		if got := links.DeclareUTF8(in); got != want {
			t.Errorf("DeclareUTF8(%s) = %s; want %s", in, got, want)
		}
	}
}

func TestAddParameter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"https://x.org", "https://x.org?_ev=a%26b"},
		{"https://x.org/a#b?c", "https://x.org/a?_ev=a%26b#b?c"},
		{"https://x.org/?a=%C3%A4&&b=+#c", "https://x.org/?a=%C3%A4&&b=+&_ev=a%26b#c"},
		{"https://x.org/?", "https://x.org/?_ev=a%26b"},
		{"https://x.org/?_ev=authored", "https://x.org/?_ev=authored&_ev=a%26b"},
	} {
		if got := links.AddParameter(tt.in, "_ev", "a&b"); got != tt.want {
			t.Errorf("AddParameter(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
