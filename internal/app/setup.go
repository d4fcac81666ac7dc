package app

import (
	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/segment"
	"github.com/packetboat/packetboat/internal/sender"
	"github.com/packetboat/packetboat/internal/tenant"
)

// TenantSetup returns the setups of a new tenant, in order.
func TenantSetup() []tenant.Setup {
	return []tenant.Setup{
		contact.CreateDefaultStages,
		sender.Newsletter,
		segment.BuiltIn,
	}
}
