package launchersvc

import (
	"path"
	"strings"
)

// hostOS reads and builds paths as the host sees them: the server may run on
// another system, so path/filepath does not serve.
type hostOS string

const windows hostOS = "windows"

// slashed turns a path of the host into one with slashes.
func (o hostOS) slashed(p string) string {
	if o == windows {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

func (o hostOS) native(p string) string {
	if o == windows {
		return strings.ReplaceAll(p, "/", `\`)
	}
	return p
}

// absolute reports whether p is an absolute path that an operating system
// takes.
func (o hostOS) absolute(p string) bool {
	if strings.ContainsRune(p, 0) {
		return false
	}
	p = o.slashed(p)
	if o == windows && len(p) > 2 && p[1] == ':' {
		drive := p[0] | 0x20
		return drive >= 'a' && drive <= 'z' && p[2] == '/'
	}
	return strings.HasPrefix(p, "/") && (o != windows || strings.HasPrefix(p, "//"))
}

// join cleans the path of elements below dir.
func (o hostOS) join(dir string, elem ...string) string {
	dir = o.slashed(dir)
	prefix := ""
	if o == windows && strings.HasPrefix(dir, "//") {
		prefix = "/" // path.Clean would merge the two slashes of a share
	}
	for i, e := range elem {
		elem[i] = o.slashed(e)
	}
	return o.native(prefix + path.Join(append([]string{dir}, elem...)...))
}

// inside reports whether p lies below dir.
func (o hostOS) inside(p, dir string) bool {
	return strings.HasPrefix(o.join(p), o.join(dir)+o.native("/"))
}

// local reports whether rel stays where it is joined to: it is relative and
// does not climb out.
func (o hostOS) local(rel string) bool {
	slashed := o.slashed(rel)
	if strings.ContainsRune(rel, 0) || path.IsAbs(slashed) || o == windows && strings.Contains(slashed, ":") {
		return false
	}
	clean := path.Clean(slashed)
	return clean != ".." && !strings.HasPrefix(clean, "../")
}
