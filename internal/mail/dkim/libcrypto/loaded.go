//go:build libcrypto && linux && (amd64 || arm64)

package libcrypto

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// What OpenSSL's headers call these. They are part of its ABI in 1.1 and 3.
const (
	initNoLoadConfig = 0x80     // OPENSSL_INIT_NO_LOAD_CONFIG
	initNoAtExit     = 0x080000 // OPENSSL_INIT_NO_ATEXIT
	pkeyRSA          = 6        // EVP_PKEY_RSA
)

// functions are the addresses of what we call. All of it is in OpenSSL 1.1 and
// in 3, and is safe to call from any thread.
type functions struct {
	initCrypto      uintptr
	opensslVersion  uintptr
	d2iPrivateKey   uintptr
	pkeyFree        uintptr
	contextNew      uintptr
	contextFree     uintptr
	contextControl  uintptr
	signInit        uintptr
	pkeySign        uintptr
	errorsClear     uintptr
	versionAsLoaded string
}

// load opens the first of names that there is and that has all we need. The
// configuration of OpenSSL is not read: it may name engines and providers that
// are not made for a program like this.
func load(names []string) (native, error) {
	runtime.LockOSThread() // the loader keeps its messages by thread
	defer runtime.UnlockOSThread()
	var failed []error
	for _, name := range names {
		f, err := loadOne(name)
		if err == nil {
			return f, nil
		}
		failed = append(failed, err)
	}
	return nil, fmt.Errorf("load libcrypto: %w", errors.Join(failed...))
}

func loadOne(name string) (*functions, error) {
	lib, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	var f functions
	for symbol, to := range map[string]*uintptr{
		"OPENSSL_init_crypto":   &f.initCrypto,
		"OpenSSL_version":       &f.opensslVersion,
		"d2i_PrivateKey":        &f.d2iPrivateKey,
		"EVP_PKEY_free":         &f.pkeyFree,
		"EVP_PKEY_CTX_new":      &f.contextNew,
		"EVP_PKEY_CTX_free":     &f.contextFree,
		"EVP_PKEY_CTX_ctrl_str": &f.contextControl,
		"EVP_PKEY_sign_init":    &f.signInit,
		"EVP_PKEY_sign":         &f.pkeySign,
		"ERR_clear_error":       &f.errorsClear,
	} {
		if *to, err = purego.Dlsym(lib, symbol); err != nil {
			return nil, err
		}
	}
	if r, _, _ := purego.SyscallN(f.initCrypto, initNoLoadConfig|initNoAtExit, 0); int32(r) != 1 {
		return nil, fmt.Errorf("%s does not start", name)
	}
	r, _, _ := purego.SyscallN(f.opensslVersion, 0)
	f.versionAsLoaded = text(r)
	return &f, nil
}

func (f *functions) version() string { return f.versionAsLoaded }

func (f *functions) open(der []byte) (handle, error) {
	if len(der) == 0 {
		return handle{}, errors.New("libcrypto: an empty key")
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&der[0])
	at := new(uintptr(unsafe.Pointer(&der[0]))) // which the library moves past what it read
	var h handle
	h.key, _, _ = purego.SyscallN(f.d2iPrivateKey, pkeyRSA, 0, uintptr(unsafe.Pointer(at)), uintptr(len(der)))
	if h.key == 0 {
		return handle{}, f.failed("read a private key")
	}
	h.context, _, _ = purego.SyscallN(f.contextNew, h.key, 0)
	if h.context == 0 {
		f.close(h)
		return handle{}, f.failed("make a context")
	}
	if r, _, _ := purego.SyscallN(f.signInit, h.context); int32(r) <= 0 {
		f.close(h)
		return handle{}, f.failed("begin to sign")
	}
	for _, option := range [...][2]string{{"rsa_padding_mode", "pkcs1"}, {"digest", "SHA256"}} {
		name, value := cString(option[0]), cString(option[1])
		r, _, _ := purego.SyscallN(f.contextControl, h.context, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&value[0])))
		if int32(r) <= 0 {
			f.close(h)
			return handle{}, f.failed("set " + option[0])
		}
	}
	return h, nil
}

func (f *functions) sign(h handle, signature, digest []byte) error {
	size := new(uintptr(len(signature)))
	r, _, _ := purego.SyscallN(f.pkeySign, h.context,
		uintptr(unsafe.Pointer(unsafe.SliceData(signature))), uintptr(unsafe.Pointer(size)),
		uintptr(unsafe.Pointer(unsafe.SliceData(digest))), uintptr(len(digest)))
	if int32(r) <= 0 {
		return f.failed("sign")
	}
	if *size != uintptr(len(signature)) {
		return fmt.Errorf("libcrypto: a signature of %d bytes", *size)
	}
	return nil
}

func (f *functions) close(h handle) {
	purego.SyscallN(f.contextFree, h.context)
	purego.SyscallN(f.pkeyFree, h.key)
}

// failed returns the error of what could not be done. What the library notes
// about it is for the thread that failed, which may not be ours any more.
func (f *functions) failed(what string) error {
	purego.SyscallN(f.errorsClear)
	return errors.New("libcrypto: could not " + what)
}

func cString(s string) []byte { return append([]byte(s), 0) }

// text returns a copy of a C string, which is short.
func text(at uintptr) string {
	if at == 0 {
		return ""
	}
	p := *(*unsafe.Pointer)(unsafe.Pointer(&at)) // of the library's memory, not of ours
	var out []byte
	for i := range 200 {
		c := *(*byte)(unsafe.Add(p, i))
		if c == 0 {
			break
		}
		out = append(out, c)
	}
	return string(out)
}
