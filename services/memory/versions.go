package memorysvc

// Bounds of what is kept of replaced versions, per shelf.
const (
	recentCount = 256
	recentBytes = 8 << 20
)

// versions keeps the last replaced versions of notes, as bases for three-way
// merges. It is guarded by the shelf's lock.
type versions struct {
	byEtag map[versionKey]*Note
	order  []versionKey // oldest first
	bytes  int
}

type versionKey struct{ id, etag string }

func newVersions() *versions { return &versions{byEtag: map[versionKey]*Note{}} }

func (v *versions) add(n *Note) {
	key := versionKey{n.ID, n.Etag}
	if n.Etag == "" || v.byEtag[key] != nil {
		return
	}
	v.byEtag[key] = n
	v.order = append(v.order, key)
	v.bytes += len(n.Body)
	for len(v.order) > recentCount || v.bytes > recentBytes && len(v.order) > 1 {
		oldest := v.order[0]
		v.bytes -= len(v.byEtag[oldest].Body)
		delete(v.byEtag, oldest)
		v.order = v.order[1:]
	}
}

// get returns a replaced version, nil when it is not known any more.
func (v *versions) get(id, etag string) *Note { return v.byEtag[versionKey{id, etag}] }
