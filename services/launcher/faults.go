package launchersvc

import (
	"errors"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/grpcerr"
	"github.com/idea-ide/ideai/internal/store"
)

// The services this one calls, as SERVICE_UNAVAILABLE names them.
const (
	contextService = "context"
	memoryService  = "memory"
)

// serviceFault turns the error of a call to another service into a fault: its
// own, or SERVICE_UNAVAILABLE when it did not answer at all.
func serviceFault(err error, service string) error {
	if err == nil {
		return nil
	}
	err = grpcerr.FromStatus(err, grpcerr.Call{Method: service})
	if fault.ReasonOf(err) == fault.ServiceUnavailable {
		return fault.New(fault.ServiceUnavailable, fault.Meta{"service": service},
			"the %s service does not answer, and a launch needs it; check `ideai serve` and its log, then try again", service).Wrap(err)
	}
	return err
}

// storeFault turns an error of a store that concerns no single document into a
// fault.
func storeFault(err error) error {
	if errors.Is(err, store.ErrClosed) {
		return fault.New(fault.Draining, nil, "the server is going down; connect again and retry").Wrap(err)
	}
	return err
}
