// Package api has the JSON types that a client of the API sends and receives, as
// docs/openapi.json describes them, and as every command prints them with --json. Its only
// logic is how some of them are written as text for people: package server serves these values
// and has the client that asks for them, and the daemon makes them.
//
// The values of the vocabulary stand in package earshot, and who somebody is in package
// participants; nothing else of ours is imported here. What is to be done to an agent stands in
// package participants/agents, and why something is refused in package server/wire.
// Names in the description that differ from the names in Go are listed in package server.
package api
