package app

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// listen opens a listener. If the address is in use, the error says which option changes it.
func listen(option, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if !errors.Is(err, syscall.EADDRINUSE) {
		if err != nil {
			err = fmt.Errorf("listen on %s: %w; %s (%s) names the address", address, err, option, flagOf(option))
		}
		return l, err
	}
	instead := "127.0.0.1:8081"
	if option == "PACKETBOAT_ADMIN_LISTEN" {
		instead = "127.0.0.1:9091, or off for no metrics"
	}
	return nil, fmt.Errorf("another program listens on %s already, perhaps a second packetboat; stop it, or choose another address with %s: %s=%s",
		address, flagOf(option), option, instead)
}
