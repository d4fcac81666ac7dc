package lane

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/spf"
)

// Limits on the records of a return path.
const (
	maxReturnPathRecords = 10
	maxTXT               = 1000 // bytes of a value
	maxPreference        = 65535
	defaultPreference    = 10
)

// ReturnPathRecord is a DNS record that the relay of a lane needs so that bounces come back to it.
type ReturnPathRecord struct {
	Type     string `json:"type"`               // MX, TXT or CNAME
	Host     string `json:"host,omitempty"`     // empty: the return path host of each sending domain
	Value    string `json:"value"`              // of MX and CNAME records a host name, without a final dot
	Priority int    `json:"priority,omitempty"` // of MX records
}

// For reports whether the record is for a sending domain: it has no host, or one in the domain.
func (r ReturnPathRecord) For(domain string) bool {
	return r.Host == "" || r.Host == domain || strings.HasSuffix(r.Host, "."+domain)
}

// ReturnPathRecordFields are the fields of one record in a request. Priority is nil if it is absent.
type ReturnPathRecordFields struct {
	Type, Host, Value string
	Priority          *int
}

// ReturnPath is where the bounces of a tenant's mail come back to.
type ReturnPath struct {
	Lane    string             // the name of the lane to whose relay they come
	Records []ReturnPathRecord // that the relay needs; none: they come to this installation
}

// ReturnPathOf returns where the bounces of a tenant with these lanes come back to. That is its relay if
// all active lanes that send mail have one, and the preferred lane, or else the oldest, has records.
// Preferred is the account's lane, or zero.
func ReturnPathOf(lanes []Config, preferred id.Lane) ReturnPath {
	var found *Config
	for i, c := range lanes {
		switch {
		case !c.Active || c.Type == Sink:
		case !hasReturnPath(c.Type):
			return ReturnPath{}
		case found == nil || found.ID != preferred && (c.ID == preferred || c.olderThan(*found)):
			found = &lanes[i]
		}
	}
	if found == nil || len(found.ReturnPath) == 0 {
		return ReturnPath{}
	}
	return ReturnPath{Lane: found.Name, Records: found.ReturnPath}
}

func (c Config) olderThan(o Config) bool {
	return cmp.Or(c.CreatedAt.Compare(o.CreatedAt), strings.Compare(c.ID.String(), o.ID.String())) < 0
}

// hasReturnPath reports whether lanes of a type send by a relay, to which bounces may come back.
func hasReturnPath(t Type) bool { return t == SMTP || t == SES }

// applyReturnPath sets the records in f and validates them.
func (f Fields) applyReturnPath(before []ReturnPathRecord, t Type, p *fault.Problems) []ReturnPathRecord {
	if f.ReturnPath == nil {
		return before
	}
	list := *f.ReturnPath
	switch {
	case len(list) > 0 && t != "" && !hasReturnPath(t):
		p.Add("return_path_records", "only MTA configs of type smtp or ses have such records")
		return nil
	case len(list) > maxReturnPathRecords:
		p.Add("return_path_records", fmt.Sprintf("at most %d", maxReturnPathRecords))
		return nil
	}
	var out []ReturnPathRecord
	for i, r := range list {
		at := fmt.Sprintf("return_path_records[%d]", i)
		var known fault.Problems
		record := r.record(at, &known)
		if !known.Any() {
			record.checkBeside(at, out, &known)
		}
		p.AddFrom(known.Err())
		out = append(out, record)
	}
	return out
}

// record validates one record by itself and returns it as stored.
func (r ReturnPathRecordFields) record(at string, p *fault.Problems) ReturnPathRecord {
	out := ReturnPathRecord{Type: strings.ToUpper(strings.TrimSpace(r.Type)), Host: strings.TrimSuffix(strings.TrimSpace(r.Host), "."), Value: strings.TrimSpace(r.Value)}
	if out.Host != "" {
		host, err := address.Hostname(out.Host)
		if err != nil {
			p.Add(at+".host", err.Error())
		}
		out.Host = host
	}
	switch out.Type {
	case "MX":
		out.Value = recordHost(at, out.Value, p)
		out.Priority = defaultPreference
		set(&out.Priority, r.Priority)
		checkRange(p, at+".priority", out.Priority, 0, maxPreference)
	case "CNAME":
		if out.Value = recordHost(at, out.Value, p); out.Value != "" && out.Value == out.Host {
			p.Add(at+".value", "must be another host")
		}
	case "TXT":
		out.Value = recordText(at, out.Value, p)
	case "":
		p.Add(at+".type", "required: MX, TXT or CNAME")
	default:
		p.Add(at+".type", "must be MX, TXT or CNAME")
	}
	if out.Type != "MX" && r.Priority != nil {
		p.Add(at+".priority", "only MX records have a priority")
	}
	if r.Value == "" {
		p.Add(at+".value", "required")
	}
	return out
}

// recordHost validates the host to which a record refers.
func recordHost(at, text string, p *fault.Problems) string {
	if text == "" {
		return ""
	}
	host, err := address.Hostname(strings.TrimSuffix(text, "."))
	if err != nil {
		p.Add(at+".value", "must be a host name: "+err.Error())
	}
	return host
}

// recordText validates the value of a TXT record, which may be in quotes as in a zone file.
func recordText(at, text string, p *fault.Problems) string {
	if len(text) > 1 && strings.HasPrefix(text, `"`) && strings.HasSuffix(text, `"`) {
		text = strings.TrimSpace(text[1 : len(text)-1])
	}
	switch {
	case len(text) > maxTXT:
		p.Add(at+".value", fmt.Sprintf("must be at most %d bytes", maxTXT))
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == '"' }):
		p.Add(at+".value", "must be one line of ASCII characters without quotes")
	case spf.Is(text):
		policy, err := spf.Parse(text)
		switch {
		case err != nil:
			p.Add(at+".value", err.Error())
		case policy.Permissive():
			p.Add(at+".value", "+all allows everyone to send; use -all")
		}
	}
	return text
}

// checkBeside reports conflicts of a record with earlier ones.
func (r ReturnPathRecord) checkBeside(at string, others []ReturnPathRecord, p *fault.Problems) {
	for _, o := range others {
		switch {
		case o.Host != r.Host:
		case o.Type == r.Type && o.Value == r.Value:
			p.Add(at, "is there twice")
			return
		case o.Type == "CNAME" || r.Type == "CNAME": // RFC 1034 section 3.6.2
			p.Add(at+".host", "a host with a CNAME record can have no other record")
			return
		case r.IsSPF() && o.IsSPF(): // RFC 7208 section 4.5
			p.Add(at+".value", "a host can have only one SPF record; join them into one")
			return
		}
	}
}

// IsSPF reports whether the record is an SPF policy.
func (r ReturnPathRecord) IsSPF() bool { return r.Type == "TXT" && spf.Is(r.Value) }
