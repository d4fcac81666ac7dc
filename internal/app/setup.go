package app

import (
	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/segment"
	"github.com/packetboat/packetboat/internal/sender"
	"github.com/packetboat/packetboat/internal/tenant"
)

// TenantSetup lists what a new tenant is given, in order.
func TenantSetup() []tenant.Setup {
	return []tenant.Setup{
		contact.FirstStages,
		sender.Newsletter,
		segment.BuiltIn,
	}
}
