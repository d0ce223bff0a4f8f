// Package project knows which source trees are registered and what belongs to
// each: its main checkout, its linked worktrees and their branches.
//
// The registry is a folder of entries named by project id. An entry is a
// symbolic link to the main checkout, made by Register, or a real folder or
// mount of that name, as in a container. All worktrees of one git repository
// are one project. Everything about git is read from its files, so that no git
// binary is needed.
package project
