//go:build !libcrypto || !linux || !(amd64 || arm64)

package libcrypto

func load([]string) (native, error) { return nil, ErrNotBuilt }
