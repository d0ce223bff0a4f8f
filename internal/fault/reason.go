package fault

// Reason says why a call failed. It is the name of an idea.type.v1.Reason
// without its REASON_ prefix; a test in grpcerr keeps the two equal. The proto
// comments tell what each means.
type Reason string

// The reasons, in the order of the proto enum.
const (
	InvalidField           Reason = "INVALID_FIELD"
	PageTokenInvalid       Reason = "PAGE_TOKEN_INVALID"
	ProjectNotFound        Reason = "PROJECT_NOT_FOUND"
	WorktreeNotFound       Reason = "WORKTREE_NOT_FOUND"
	NoteNotFound           Reason = "NOTE_NOT_FOUND"
	PersonaNotFound        Reason = "PERSONA_NOT_FOUND"
	SkillNotFound          Reason = "SKILL_NOT_FOUND"
	ProfileNotFound        Reason = "PROFILE_NOT_FOUND"
	LaunchNotFound         Reason = "LAUNCH_NOT_FOUND"
	StaleEtag              Reason = "STALE_ETAG"
	IDReused               Reason = "ID_REUSED"
	ProjectUntrusted       Reason = "PROJECT_UNTRUSTED"
	OverBudget             Reason = "OVER_BUDGET"
	InjectionUnsupported   Reason = "INJECTION_UNSUPPORTED"
	InjectionTooLarge      Reason = "INJECTION_TOO_LARGE"
	ArgumentConflict       Reason = "ARGUMENT_CONFLICT"
	HiddenText             Reason = "HIDDEN_TEXT"
	TooLarge               Reason = "TOO_LARGE"
	Damaged                Reason = "DAMAGED"
	NameMismatch           Reason = "NAME_MISMATCH"
	OutsideProject         Reason = "OUTSIDE_PROJECT"
	ReasonUnauthenticated  Reason = "UNAUTHENTICATED"
	TokenExpired           Reason = "TOKEN_EXPIRED"
	CallerNotAllowed       Reason = "CALLER_NOT_ALLOWED"
	OutOfScope             Reason = "OUT_OF_SCOPE"
	StoreLocked            Reason = "STORE_LOCKED"
	StoreReadOnly          Reason = "STORE_READ_ONLY"
	StoreFull              Reason = "STORE_FULL"
	StoreUnavailable       Reason = "STORE_UNAVAILABLE"
	WatchLagged            Reason = "WATCH_LAGGED"
	Draining               Reason = "DRAINING"
	ServiceUnavailable     Reason = "SERVICE_UNAVAILABLE"
	ReasonDeadlineExceeded Reason = "DEADLINE_EXCEEDED"
	ReasonCanceled         Reason = "CANCELED"
	MessageTooLarge        Reason = "MESSAGE_TOO_LARGE"
	ReasonInternal         Reason = "INTERNAL"
	UnknownMethod          Reason = "UNKNOWN_METHOD"
)

// reasons fixes each reason's kind and the keys of its metadata.
var reasons = map[Reason]struct {
	kind Kind
	keys []string
}{
	InvalidField:           {InvalidArgument, nil},
	PageTokenInvalid:       {InvalidArgument, nil},
	ProjectNotFound:        {NotFound, []string{"project"}},
	WorktreeNotFound:       {NotFound, []string{"project", "worktree"}},
	NoteNotFound:           {NotFound, []string{"note"}},
	PersonaNotFound:        {NotFound, []string{"agent"}},
	SkillNotFound:          {NotFound, []string{"skill"}},
	ProfileNotFound:        {NotFound, []string{"profile"}},
	LaunchNotFound:         {NotFound, []string{"launch"}},
	StaleEtag:              {Aborted, []string{"current_etag"}},
	IDReused:               {AlreadyExists, []string{"id"}},
	ProjectUntrusted:       {FailedPrecondition, []string{"project"}},
	OverBudget:             {FailedPrecondition, []string{"section", "tokens", "budget"}},
	InjectionUnsupported:   {FailedPrecondition, []string{"profile", "strategy", "kind", "workspace"}},
	InjectionTooLarge:      {FailedPrecondition, []string{"profile", "carrier", "bytes", "limit", "instead"}},
	ArgumentConflict:       {InvalidArgument, []string{"profile", "argument"}},
	HiddenText:             {InvalidArgument, []string{"name", "position"}},
	TooLarge:               {InvalidArgument, []string{"name", "bytes", "limit"}},
	Damaged:                {FailedPrecondition, []string{"name", "line"}},
	NameMismatch:           {InvalidArgument, []string{"name", "id"}},
	OutsideProject:         {FailedPrecondition, []string{"name", "target"}},
	ReasonUnauthenticated:  {Unauthenticated, nil},
	TokenExpired:           {Unauthenticated, nil},
	CallerNotAllowed:       {PermissionDenied, []string{"method", "surface"}},
	OutOfScope:             {PermissionDenied, []string{"claim"}},
	StoreLocked:            {FailedPrecondition, []string{"project", "service", "holder"}},
	StoreReadOnly:          {FailedPrecondition, []string{"path"}},
	StoreFull:              {ResourceExhausted, []string{"path"}},
	StoreUnavailable:       {Unavailable, []string{"path"}},
	WatchLagged:            {ResourceExhausted, nil},
	Draining:               {Unavailable, nil},
	ServiceUnavailable:     {Unavailable, []string{"service"}},
	ReasonDeadlineExceeded: {DeadlineExceeded, nil},
	ReasonCanceled:         {Canceled, nil},
	MessageTooLarge:        {ResourceExhausted, []string{"bytes", "limit"}},
	ReasonInternal:         {Internal, []string{"request_id"}},
	UnknownMethod:          {Unimplemented, []string{"method"}},
}

// Kind returns the class of a reason, Internal for an unknown one.
func (r Reason) Kind() Kind { return reasons[r].kind }

// MetaKeys returns the keys that Meta has for this reason. The caller must not
// change the slice.
func (r Reason) MetaKeys() []string { return reasons[r].keys }

// Reasons returns every reason, in no order.
func Reasons() []Reason {
	out := make([]Reason, 0, len(reasons))
	for r := range reasons {
		out = append(out, r)
	}
	return out
}
