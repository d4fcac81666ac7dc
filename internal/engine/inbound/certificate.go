package inbound

import (
	"crypto/tls"
	"fmt"
	"sync"
	"time"
)

// certificateKept is how long a certificate is used before its files are read again.
const certificateKept = 10 * time.Minute

// CertificateFiles returns a configuration with the certificate in two files, which are read again
// now and then, since certificates are renewed. If that fails, the last one is used.
func CertificateFiles(chain, key string, now func() time.Time) (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(chain, key)
	if err != nil {
		return nil, fmt.Errorf("read certificate for inbound mail: %w", err)
	}
	var mu sync.Mutex
	read := now()
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			mu.Lock()
			defer mu.Unlock()
			if now().Sub(read) >= certificateKept {
				if fresh, err := tls.LoadX509KeyPair(chain, key); err == nil {
					cert = fresh
				}
				read = now()
			}
			current := cert
			return &current, nil
		},
	}, nil
}
