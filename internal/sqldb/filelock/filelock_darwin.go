package filelock

// From bsd/sys/fcntl.h of Apple's kernel, as in the SQLite driver.
const (
	ofdSetLock = 90
	ofdGetLock = 92
)
