package server_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/idea-ide/ideai/"

// goPackage is what `go list -json` tells of a package, paths as named gives
// them.
type goPackage struct {
	ImportPath string
	Imports    []string // direct, without those of tests
	Deps       []string // transitive
}

// layer is one row of the import table. A package belongs to the first row
// whose pattern matches.
type layer struct {
	packages []string // path.Match patterns; a final /... takes all below
	may      []string // packages of this module it may import directly
	never    []string // packages, of this module or not, it may not reach at all
}

var (
	wire      = []string{"google.golang.org/grpc/...", "gen/..."}
	drivers   = []string{"internal/store/storemem", "internal/store/storefile", "internal/store/storefault", "internal/store/storenats"}
	plain     = []string{"internal/fault", "internal/store", "internal/page", "internal/tokens", "internal/frontmatter", "internal/safetext", "internal/safeyaml"}
	everyones = []string{"services/..."}
)

// table says who may import whom. cmd/ideai and internal/server may import
// everything, so they are no rows.
var table = []layer{
	{packages: []string{"gen/..."}, may: []string{"gen/..."}},
	{packages: []string{"internal/fault"}, may: nil, never: wire},
	{packages: []string{"internal/page", "internal/tokens", "internal/frontmatter", "internal/safetext", "internal/safeyaml", "internal/merge3", "internal/build"},
		may: []string{"internal/fault", "internal/safetext", "internal/safeyaml"}, never: append([]string{"internal/store/..."}, wire...)},
	{packages: []string{"internal/store"}, may: []string{"internal/fault"}, never: slices.Concat(wire, everyones)},
	{packages: []string{"internal/store/storetest"}, may: []string{"internal/fault", "internal/store", "internal/store/storemem", "internal/store/storefault"}, never: slices.Concat(wire, everyones)},
	{packages: []string{"internal/store/*"}, may: []string{"internal/fault", "internal/store", "internal/store/changes"}, never: slices.Concat(wire, everyones)},
	{packages: []string{"internal/project"}, may: plain, never: slices.Concat(wire, everyones, drivers)},
	{packages: []string{"internal/grpcerr", "internal/rpc/...", "internal/auth", "internal/telemetry", "internal/lifecycle", "internal/config"},
		may: []string{"internal/...", "gen/..."}, never: slices.Concat(everyones, drivers, []string{"provider", "host/..."})},
	{packages: []string{"internal/agenttools"}, may: []string{"internal/...", "gen/...", "provider"}, never: slices.Concat(everyones, drivers)},
	{packages: []string{"internal/background"}, may: []string{"internal/...", "gen/..."}, never: slices.Concat(everyones, drivers)},
	{packages: []string{"provider"}, may: plain, never: slices.Concat(wire, everyones, drivers)},
	{packages: []string{"internal/prove"}, may: []string{"gen/...", "provider", "host"}, never: slices.Concat(everyones, drivers)},
	{packages: []string{"host"}, may: []string{"gen/...", "provider", "internal/fault", "internal/safetext"}, never: slices.Concat(everyones, drivers)},
	{packages: []string{"services/memory/recall"}, never: slices.Concat(wire, []string{"internal/store/..."})},
	{packages: []string{"services/launcher"}, may: append([]string{"gen/...", "provider", "internal/project", "internal/auth", "internal/grpcerr", "internal/build"}, plain...),
		never: slices.Concat(drivers, []string{"services/context/...", "services/memory/..."})},
	{packages: []string{"services/context"}, may: append([]string{"provider"}, plain...),
		never: slices.Concat(wire, drivers, []string{"services/memory/...", "services/launcher/..."})},
	{packages: []string{"services/memory"}, may: append([]string{"services/memory/recall"}, plain...),
		never: slices.Concat(wire, drivers, []string{"services/context/...", "services/launcher/..."})},
	{packages: []string{"services/*/*grpc"}, may: append([]string{"services/SAME", "gen/...", "provider", "internal/grpcerr", "internal/rpc", "internal/auth"}, plain...),
		never: drivers},
	{packages: []string{"services/*/*test"}, may: []string{"services/SAME/...", "gen/...", "internal/...", "provider"}},
	{packages: []string{"internal/server/...", "internal/server", "cmd/ideai", "e2e/...", "tools/..."}, may: []string{"..."}},
}

func TestImportTable(t *testing.T) {
	for _, p := range listPackages(t) {
		row, ok := rowOf(p.ImportPath)
		if !ok {
			t.Errorf("%s is in no row of the import table; add it there with what it may import", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			if ours(imp) && !allowed(row.may, p.ImportPath, imp) {
				t.Errorf("%s imports %s, which the import table does not allow", p.ImportPath, imp)
			}
		}
		for _, dep := range p.Deps {
			if allowed(row.never, p.ImportPath, dep) {
				t.Errorf("%s reaches %s, which the import table forbids", p.ImportPath, dep)
			}
		}
	}
}

// The table's patterns are tried too: a typo in them would allow everything.
func TestImportTableRefuses(t *testing.T) {
	for _, c := range []struct{ from, to string }{
		{"services/memory", "services/context"},
		{"services/memory", "gen/idea/memory/v1"},
		{"services/context/contextgrpc", "services/memory"},
		{"services/launcher", "services/memory"},
		{"host", "services/launcher"},
		{"internal/fault", "internal/store"},
		{"internal/store/storemem", "internal/store/storefile"},
	} {
		row, ok := rowOf(c.from)
		if !ok || allowed(row.may, c.from, c.to) {
			t.Errorf("%s may import %s", c.from, c.to)
		}
	}
	row, _ := rowOf("services/memory")
	for _, dep := range []string{"google.golang.org/grpc/codes", "internal/store/storefile", "gen/idea/type/v1"} {
		if !allowed(row.never, "services/memory", dep) {
			t.Errorf("services/memory may reach %s", dep)
		}
	}
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", module+"...")
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		t.Fatalf("go list: %v\n%s", err, failed.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		p.ImportPath = named(p.ImportPath)
		for _, list := range [][]string{p.Imports, p.Deps} {
			for i := range list {
				list[i] = named(list[i])
			}
		}
		all = append(all, p)
	}
}

func rowOf(pkg string) (layer, bool) {
	for _, row := range table {
		if allowed(row.packages, pkg, pkg) {
			return row, true
		}
	}
	return layer{}, false
}

// named shortens a package's path: those of this module lose its prefix, those
// of the standard library get one, so that the two cannot be mixed up.
func named(pkg string) string {
	if rest, ok := strings.CutPrefix(pkg, module); ok {
		return rest
	}
	if first, _, _ := strings.Cut(pkg, "/"); !strings.Contains(first, ".") {
		return "std/" + pkg
	}
	return pkg
}

// ours reports whether a shortened path is one of this module.
func ours(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return first != "std" && !strings.Contains(first, ".")
}

// allowed reports whether a pattern of the list takes a package. SAME stands
// for the service of the importing package.
func allowed(patterns []string, from, pkg string) bool {
	for _, p := range patterns {
		if strings.Contains(p, "SAME") {
			service := strings.SplitN(from, "/", 3)
			p = strings.ReplaceAll(p, "SAME", service[min(1, len(service)-1)])
		}
		if p == "..." {
			return true
		}
		if prefix, ok := strings.CutSuffix(p, "/..."); ok {
			if pkg == prefix || strings.HasPrefix(pkg, prefix+"/") {
				return true
			}
			continue
		}
		if ok, err := path.Match(p, pkg); ok && err == nil {
			return true
		}
	}
	return false
}
