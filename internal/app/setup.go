package app

import (
	"packetboat/internal/contact"
	"packetboat/internal/segment"
	"packetboat/internal/sender"
	"packetboat/internal/tenant"
)

// TenantSetup lists what a new tenant is given, in order.
func TenantSetup() []tenant.Setup {
	return []tenant.Setup{
		contact.FirstStages,
		sender.Newsletter,
		segment.BuiltIn,
	}
}
