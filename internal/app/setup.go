package app

import (
	"packetboat/internal/sender"
	"packetboat/internal/tenant"
)

// TenantSetup lists what a new tenant is given, in order.
func TenantSetup() []tenant.Setup {
	return []tenant.Setup{
		sender.Newsletter,
	}
}
