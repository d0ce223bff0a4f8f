// Package contextsvc owns what an agent is told at launch: the project's rules,
// personas and skills, and the effective context composed of them.
//
// Its documents are files under a worktree's .ideai/, edited by people and
// merged by git; the service keeps none of its own and caches only what it can
// check against a document's version. A save touches the lines it means and
// leaves the rest of the file as it was.
//
// An effective context has six sections in a fixed order: rules, persona,
// capabilities, memory (the stable part), state and handoff (the volatile
// part). These hold:
//
//   - Equal inputs give equal bytes, hence an equal digest. Nothing in the text
//     depends on the time, on paths of this machine or on the order of a map.
//   - Rules, persona and capabilities are never cut: beyond their budget
//     composing fails. The other sections are cut to theirs, and every cut is
//     reported.
//   - Rules and a persona that are there and cannot be used fail the call; an
//     agent never starts without them unnoticed. A skill that cannot be used is
//     left out and reported.
//   - What comes from notes and from other agents stands in data blocks that
//     nothing in it can close.
//   - Of a project its person has not trusted, no text enters that speaks as a
//     rule: no rules, no persona, no skills, no descriptions of other agents.
package contextsvc
