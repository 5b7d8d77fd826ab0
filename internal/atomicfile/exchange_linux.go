package atomicfile

import "golang.org/x/sys/unix"

// Exchange exchanges two files or folders of one file system at once, so that nobody finds either
// place empty. It is an [os.ErrNotExist] if one of them is missing, and an [errors.ErrUnsupported]
// where the system or the file system cannot do it.
func Exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if err == unix.EINVAL { // a file system that does not know the flag
		return unix.ENOTSUP
	}
	return err
}
