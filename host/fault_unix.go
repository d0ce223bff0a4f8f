//go:build unix

package host

import "syscall"

// errQuota: the person's share of the disk is used up.
const errQuota = syscall.EDQUOT
