package classify

import (
	"strings"

	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/people/maildomain"
)

// gateways are suffixes of the names of mail servers that scan links, with their vendors.
var gateways = []struct{ suffix, vendor string }{
	{"pphosted.com", vendorProofpoint}, {"ppe-hosted.com", vendorProofpoint}, {"gpphosted.com", vendorProofpoint},
	{"mimecast.com", vendorMimecast}, {"mimecast.co.za", vendorMimecast}, {"mimecast-offshore.com", vendorMimecast},
	{"barracudanetworks.com", vendorBarracuda}, {"cudaops.com", vendorBarracuda},
	{"iphmx.com", vendorCisco},
	{"messagelabs.com", vendorSymantec}, {"symantec.com", vendorSymantec},
	{"trendmicro.com", vendorTrendMicro}, {"trendmicro.eu", vendorTrendMicro},
	{"mailcontrol.com", vendorForcepoint},
	{"sophos.com", vendorSophos}, {"reflexion.net", vendorSophos},
	{"protection.outlook.com", vendorMicrosoft}, {"mx.microsoft", vendorMicrosoft},
	{"google.com", vendorGoogle}, {"googlemail.com", vendorGoogle},
}

// Gateway returns the vendor of the gateway that receives mail of a domain, or "" if none is known.
func Gateway(d maildomain.Domain) string {
	host := strings.ToLower(strings.TrimSuffix(d.Record, "."))
	for _, g := range gateways {
		if host == g.suffix || strings.HasSuffix(host, "."+g.suffix) {
			return g.vendor
		}
	}
	switch d.Provider {
	case mx.Outlook, mx.Microsoft365:
		return vendorMicrosoft
	case mx.Gmail, mx.GoogleWorkspace:
		return vendorGoogle
	}
	return ""
}
