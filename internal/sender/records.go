package sender

import "strings"

// Record is a DNS record for a domain's owner to publish (contract 5.3).
type Record struct {
	Purpose  string
	Type     string
	Host     string
	Value    string
	Priority int // of MX records
	Required bool
}

// Records returns what the domain's owner publishes so that it can be verified.
// baseHost is the host of the installation's own address.
func (d Domain) Records(baseHost string) []Record {
	list := []Record{
		{Purpose: "dkim", Type: "TXT", Host: d.DKIMSelector + "._domainkey." + d.Name, Value: d.DKIMRecord, Required: true},
		{Purpose: "return_path", Type: "MX", Host: d.ReturnPathHost, Value: "mx." + baseHost, Priority: 10, Required: true},
		{Purpose: "return_path_spf", Type: "TXT", Host: d.ReturnPathHost, Value: "v=spf1 include:spf." + baseHost + " -all", Required: true},
		{Purpose: "dmarc", Type: "TXT", Host: "_dmarc." + d.Name, Value: "v=DMARC1; p=none;"},
	}
	// A host that the operator chose may lie elsewhere, or in no DNS at all.
	if strings.HasSuffix(d.TrackingHost, "."+d.Name) {
		list = append(list, Record{Purpose: "tracking", Type: "CNAME", Host: d.TrackingHost, Value: "track." + baseHost, Required: true})
	}
	return list
}
