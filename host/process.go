package host

// process identifies a process beyond the reuse of its pid.
type process struct {
	Pid   int    `json:"pid"`
	Start string `json:"start"` // opaque, differs between two lives of a pid
}

// describe returns the identity of a running process.
func describe(pid int) (process, error) {
	start, err := startOf(pid)
	if err != nil {
		return process{}, err
	}
	return process{Pid: pid, Start: start}, nil
}

// alive reports whether this very process still runs.
func (p process) alive() bool {
	if p.Pid <= 0 {
		return false
	}
	start, err := startOf(p.Pid)
	return err == nil && start == p.Start
}
