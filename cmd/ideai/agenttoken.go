package main

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/idea-ide/ideai/internal/fault"
)

// agentToken is the launch token of the agent that runs this command. Whoever
// has one in the environment acts as that agent, never as the owner.
type agentToken struct {
	raw                     string
	project, worktree, name string
}

// readToken reads what a token names. Only the server can tell whether it
// holds; this is to know what to ask for.
func readToken(raw string) (*agentToken, error) {
	parts := strings.Split(raw, ".")
	if len(parts) == 3 {
		if payload, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil {
			var claims struct {
				Project  string `json:"prj"`
				Worktree string `json:"wkt"`
				Agent    string `json:"agt"`
			}
			if json.Unmarshal(payload, &claims) == nil {
				return &agentToken{raw: raw, project: claims.Project, worktree: claims.Worktree, name: claims.Agent}, nil
			}
		}
	}
	return nil, fault.New(fault.ReasonUnauthenticated, nil, "IDEAI_TOKEN is not a token of ideai; unset it to act as yourself")
}
