package host

import "golang.org/x/sys/windows"

// errQuota: the disk is full, in Windows' own number.
const errQuota = windows.ERROR_DISK_FULL
