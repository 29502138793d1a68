// Package seatread reads single values out of a ledger file that another
// process may be writing to, without its lock: a hook that runs on every tool
// call of every agent must never wait for a writer.
//
// A bbolt file is a tree of pages that are never changed in place. A commit
// writes new pages where the tree of the commit before has none, then one of
// two meta pages that points to the new root. So whoever holds the newest meta
// page can walk its tree undisturbed until the second commit after it begins.
// [Get] therefore reads the meta pages, walks, and reads the meta pages again:
// if the newest transaction is still the same one, no page that it saw can
// have been reused. Otherwise it starts over, up to eight times.
//
// Every page is checked against what points to it: its number, type, counts
// and the bounds of all its entries. A file that is damaged, or not a ledger,
// gives [ErrCorrupt], never a panic and never more than a bounded number of
// reads.
//
// The package serves a program whose whole run takes ten milliseconds. It
// imports the standard library and gjson only. It is for local file
// systems, and never for a read that a write depends on.
//
// Start with get.go; file.go knows pages, row.go the row that the hook needs.
package seatread
