package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/packetboat/packetboat/internal/base/secret"
)

// The free space below which there are findings, in bytes, and how long a durable write may take.
const (
	littleSpace = 2 << 30
	noSpace     = 200 << 20
	slowSync    = 100 * time.Millisecond
)

// disk examines the data directory.
func (e *examination) disk(_ context.Context, n *notes) {
	dir := e.DataDir
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		parent := filepath.Dir(filepath.Clean(dir))
		if _, err := os.Stat(parent); err != nil {
			n.fail(dir, "create "+parent+", or set PACKETBOAT_DATA_DIR to another directory", "neither the directory nor its parent exists")
			return
		}
		n.warn(dir, "start packetboat serve, which creates it, or set PACKETBOAT_DATA_DIR to where the data are", "the directory does not exist yet")
		return
	case err != nil:
		n.fail(dir, "let the user that runs packetboat read the directory", "%s", err)
		return
	case !info.IsDir():
		n.fail(dir, "set PACKETBOAT_DATA_DIR to a directory", "it is not a directory")
		return
	}
	e.modeOf(n, dir, info, 0o007, "chmod 700 "+dir)
	took, err := writeDurably(dir, e.Now)
	switch {
	case err != nil:
		n.fail(dir, "let the user that runs packetboat write to the directory, on a disk that supports fsync", "a durable write failed: %s", err)
	case took > slowSync:
		n.warn(dir, "use a faster disk, or a database on another machine: each commit waits for the disk", "a durable write took %s", took.Round(time.Millisecond))
	default:
		n.ok(dir, "writes are durable within %s", max(took.Round(time.Millisecond), time.Millisecond))
	}
	free, total, err := space(dir)
	advice := "delete what is not needed, or move the data to a larger disk"
	switch {
	case err != nil:
		n.skip(dir, "the free space is not known: %s", err)
	case free < noSpace:
		n.fail(dir, advice, "only %s are free", bytesText(free))
	case free < littleSpace || free < total/20:
		n.warn(dir, advice, "%s of %s are free", bytesText(free), bytesText(total))
	default:
		n.ok(dir, "%s of %s are free", bytesText(free), bytesText(total))
	}
}

// writeDurably writes a file and its name in dir to the disk, and returns how long that took.
func writeDurably(dir string, now func() time.Time) (time.Duration, error) {
	begun := now()
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, 4096))
	err = errors.Join(err, f.Sync(), f.Close())
	if d, openErr := os.Open(dir); openErr == nil && runtime.GOOS != "windows" {
		err = errors.Join(err, d.Sync(), d.Close())
	}
	return now().Sub(begun), err
}

func bytesText(n uint64) string {
	switch {
	case n >= 1<<40:
		return fmt.Sprintf("%.1f TB", float64(n)/(1<<40))
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%d MB", n>>20)
}

// modeOf adds a warning if a file has any of the permissions in mask.
func (e *examination) modeOf(n *notes, path string, info fs.FileInfo, mask fs.FileMode, advice string) bool {
	if runtime.GOOS == "windows" || info.Mode().Perm()&mask == 0 {
		return true
	}
	n.warn(path, advice, "other users of this machine may use it (mode %04o)", info.Mode().Perm())
	return false
}

// key examines the secret key.
func (e *examination) key(_ context.Context, n *notes) {
	key, from := e.SecretKey, "PACKETBOAT_SECRET_KEY"
	if key == nil {
		from = filepath.Join(e.DataDir, "secret.key")
		info, err := os.Stat(from)
		if errors.Is(err, fs.ErrNotExist) {
			n.warn(from, "bring back the file if the installation is not new: serve makes a new key for an empty database, and refuses to start with another one", "there is no secret key yet")
			return
		}
		if key, err = secret.Kept(e.DataDir); err != nil {
			n.fail(from, "bring back the file from a backup; without it, stored passwords and the links of mails that were sent cannot be used", "the key cannot be read: %s", err)
			return
		}
		if !e.modeOf(n, from, info, 0o077, "chmod 600 "+from) {
			n.warn(from, "back the key up apart from the database", "the key is readable by others")
		}
	}
	box, err := secret.NewBox(key)
	if err != nil {
		n.fail(from, "make a key with: openssl rand -base64 32", "the key cannot be used: %s", err)
		return
	}
	e.box.Store(box)
	if bytes.Equal(key, bytes.Repeat(key[:1], len(key))) || bytes.Equal(key, []byte("0123456789abcdef0123456789abcdef")) {
		n.fail(from, "make a key with: openssl rand -base64 32 (stored passwords must then be entered again)", "the key can be guessed")
		return
	}
	n.ok(from, "there is a key")
}

// configFile examines who may read the configuration file.
func (e *examination) configFile(_ context.Context, n *notes) {
	if e.ConfigFile == "" {
		return
	}
	info, err := os.Stat(e.ConfigFile)
	if err != nil {
		n.fail(e.ConfigFile, "let the user that runs packetboat read the file", "%s", err)
		return
	}
	if e.modeOf(n, e.ConfigFile, info, 0o007, "chmod o= "+e.ConfigFile+", since it may contain passwords") {
		n.ok(e.ConfigFile, "it can be read, by its owner and group only")
	}
}
