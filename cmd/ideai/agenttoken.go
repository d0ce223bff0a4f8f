package main

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/idea-ide/ideai/internal/fault"
)

// agentToken is the token found in the environment. Whoever finds the launch
// token of an agent acts as that agent, never as the owner.
type agentToken struct {
	raw                     string
	project, worktree, name string
	agentic                 bool // false for a person's token
}

// readToken reads what a token names. Only the server can tell whether it
// holds; this is to know what to ask for.
func readToken(raw string) (*agentToken, error) {
	parts := strings.Split(raw, ".")
	if len(parts) == 3 {
		if payload, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil {
			var claims struct {
				Project  string   `json:"prj"`
				Worktree string   `json:"wkt"`
				Agent    string   `json:"agt"`
				Surfaces []string `json:"sfc"`
			}
			if json.Unmarshal(payload, &claims) == nil {
				return &agentToken{raw: raw, project: claims.Project, worktree: claims.Worktree, name: claims.Agent, agentic: slices.Contains(claims.Surfaces, "AGENT")}, nil
			}
		}
	}
	return nil, fault.New(fault.ReasonUnauthenticated, nil, "IDEAI_TOKEN is not a token of ideai; unset it to act as yourself")
}
