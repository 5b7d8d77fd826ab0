// Package api has the JSON types that a client of the API sends and receives, as
// docs/openapi.json describes them, and as every command prints them with --json. Its only
// logic is how some of them are written as text for people: package server serves these values
// and has the client that asks for them, and the daemon makes them.
//
// The values of the vocabulary stand in package earshot, and who somebody is and what is to be
// done to an agent in package participants and below; nothing else of ours is imported here.
// Names in the description that differ from the names in Go are listed in package server.
package api
