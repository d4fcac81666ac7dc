package form

import (
	"bytes"
	"context"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Embed is the code that puts a form into a page.
type Embed struct {
	TrackingDomain string // the host that serves the form; empty: the tenant has none yet
	HTML           string
	ScriptTag      string
}

// EmbedCode returns the code of a form. The scheme is that of the tenant's links.
func EmbedCode(ctx context.Context, db *sqldb.DB, f Form, scheme string) (Embed, error) {
	host, err := f.trackingHost(ctx, db)
	if err != nil {
		return Embed{}, err
	}
	base := ""
	if host != "" {
		base = scheme + "://" + host
	}
	e := Embed{TrackingDomain: host, ScriptTag: `<script src="` + template.HTMLEscapeString(base) + `/_q/f.js" defer></script>`}
	var b bytes.Buffer
	err = embedTemplate.Execute(&b, markup{f, base + "/_q/f/" + f.Slug, Honeypot})
	e.HTML = b.String()
	return e, err
}

// trackingHost returns the live tracking host that serves the form: one of the same registrable domain
// as an allowed origin, in their order; else that of the default identity; else the oldest.
func (f Form) trackingHost(ctx context.Context, db *sqldb.DB) (string, error) {
	domains, err := sender.Domains(ctx, db, f.Tenant)
	if err != nil {
		return "", err
	}
	account, err := tenant.ByID(ctx, db, f.Tenant)
	if err != nil {
		return "", err
	}
	var preferred id.Domain
	if i := account.Settings.DefaultIdentity; !i.IsZero() {
		list, err := sender.IdentitiesByID(ctx, db, f.Tenant, []id.Identity{i})
		if err != nil {
			return "", err
		}
		if len(list) == 1 {
			preferred = list[0].Domain
		}
	}
	return chooseHost(domains, f.Origins, preferred), nil
}

func chooseHost(domains []sender.Domain, origins []string, preferred id.Domain) string {
	live := slices.DeleteFunc(slices.Clone(domains), func(d sender.Domain) bool { return !d.TrackingLive || d.TrackingHost == "" })
	if len(live) == 0 {
		return ""
	}
	slices.SortStableFunc(live, func(a, b sender.Domain) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for _, o := range origins {
		wanted := registrable(o)
		for _, d := range live {
			if wanted != "" && registrable("https://"+d.TrackingHost) == wanted {
				return d.TrackingHost
			}
		}
	}
	for _, d := range live {
		if d.ID == preferred {
			return d.TrackingHost
		}
	}
	return live[0].TrackingHost
}

// registrable returns the registrable domain of an origin, empty if it has none.
func registrable(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return ""
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(strings.TrimSuffix(u.Hostname(), "."))
	if err != nil {
		return ""
	}
	return domain
}

// markup is the data of embedTemplate.
type markup struct {
	Form
	Action   string
	Honeypot string
}

// ElementID returns the id of a field's element.
func (m markup) ElementID(f Field) string { return "pb-" + m.Slug + "-" + f.ID }

// Name returns the name of a field's input.
func (m markup) Name(f Field) string { return f.name() }

// HTMLType returns the type of an input element.
func (m markup) HTMLType(f Field) string { return string(f.Input) }

// Checked reports whether a checkbox is ticked at first. A consent never is: it must be given by an
// action of the person.
func (m markup) Checked(f Field) bool {
	on, _ := boolean(f.Default)
	return on && f.Type != ConsentField
}

// Value returns the text of the field's default.
func (m markup) Value(f Field) string {
	text, _ := f.Default.(string)
	return text
}

// Selected reports whether an option is chosen at first.
func (m markup) Selected(f Field, option string) bool { return f.Default == any(option) }

// Autocomplete returns the purpose of an input, as
// https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#autofill names it.
func (m markup) Autocomplete(f Field) string {
	if f.Type != ContactField {
		return ""
	}
	return map[string]string{
		"email": "email", "first_name": "given-name", "last_name": "family-name", "full_name": "name", "title": "organization-title",
		"company": "organization", "phone": "tel", "website": "url", "address_line1": "address-line1", "address_line2": "address-line2",
		"city": "address-level2", "state": "address-level1", "postal_code": "postal-code", "country": "country",
	}[f.Binding]
}

// The markup contains neither styles nor scripts, so that a page with a strict content security policy
// shows it, and works without the script.
var embedTemplate = template.Must(template.New("form").Parse(`<form class="packetboat-form" data-packetboat-form="{{.Slug}}" method="post" action="{{.Action}}" accept-charset="utf-8">
{{- range $f := .Fields}}{{$id := $.ElementID .}}
{{- if eq .Type "hidden"}}
<input type="hidden" name="{{$.Name .}}" value="{{$.Value .}}"{{with .Param}} data-param="{{.}}"{{end}}>
{{- else if eq .Type "text_block"}}
<p class="packetboat-text">{{.Label}}</p>
{{- else if eq .Input "radio"}}
<fieldset class="packetboat-field" id="{{$id}}"><legend>{{.Label}}{{if .Required}} <span aria-hidden="true">*</span>{{end}}</legend>
{{- range $i, $o := .Options}}
<label><input type="radio" name="{{$.Name $f}}" value="{{$o}}"{{if $f.Required}} required{{end}}{{if $.Selected $f $o}} checked{{end}}> {{$o}}</label>
{{- end}}
{{- with .HelpText}}<small>{{.}}</small>{{end}}
</fieldset>
{{- else if eq .Input "checkbox"}}
<p class="packetboat-field"><label for="{{$id}}"><input type="checkbox" id="{{$id}}" name="{{$.Name .}}" value="true"{{if .Required}} required{{end}}{{if $.Checked .}} checked{{end}}{{if .HelpText}} aria-describedby="{{$id}}-help"{{end}}> {{.Label}}{{if .Required}} <span aria-hidden="true">*</span>{{end}}</label>{{with .HelpText}} <small id="{{$id}}-help">{{.}}</small>{{end}}</p>
{{- else}}
<p class="packetboat-field"><label for="{{$id}}">{{.Label}}{{if .Required}} <span aria-hidden="true">*</span>{{end}}</label>
{{if eq .Input "select"}}<select id="{{$id}}" name="{{$.Name .}}"{{if .Required}} required{{end}}{{if .HelpText}} aria-describedby="{{$id}}-help"{{end}}><option value="">{{.Placeholder}}</option>{{range $o := .Options}}<option{{if $.Selected $f $o}} selected{{end}}>{{$o}}</option>{{end}}</select>
{{- else if eq .Input "textarea"}}<textarea id="{{$id}}" name="{{$.Name .}}" rows="4"{{with .Placeholder}} placeholder="{{.}}"{{end}}{{if .Required}} required{{end}}{{if .HelpText}} aria-describedby="{{$id}}-help"{{end}}>{{$.Value .}}</textarea>
{{- else}}<input type="{{$.HTMLType .}}" id="{{$id}}" name="{{$.Name .}}"{{with $.Value .}} value="{{.}}"{{end}}{{with .Placeholder}} placeholder="{{.}}"{{end}}{{with $.Autocomplete .}} autocomplete="{{.}}"{{end}}{{if eq .Input "number"}} step="any"{{end}}{{if .Required}} required{{end}}{{if .HelpText}} aria-describedby="{{$id}}-help"{{end}}>
{{- end}}{{with .HelpText}} <small id="{{$id}}-help">{{.}}</small>{{end}}</p>
{{- end}}{{end}}
<div hidden><label>Leave this empty <input type="text" name="{{.Honeypot}}" tabindex="-1" autocomplete="off"></label></div>
{{- if ne .CaptchaProvider "none"}}
<div class="packetboat-captcha"></div>
{{- end}}
<p><button type="submit">{{.SubmitLabel}}</button></p>
<p class="packetboat-status" role="status" tabindex="-1"></p>
</form>
`))
