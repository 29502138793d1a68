// Package event is what an agent does while it runs, in words of no provider:
// both transports tell it as the same stream of events, which a person sees on
// standard error and which is kept, sanitised, as JSON lines.
//
// What it promises: hidden reasoning never becomes an event; text is bounded
// and free of credentials and of what a terminal would obey before anything is
// written; a log that can't be written disturbs no dispatch, and says so once;
// an agent that is silent is seen to live.
//
// event.go has the nouns, log.go what is kept, message.go how pieces become a
// text, raw.go and reasoning.go the trace for whoever debugs a transport,
// line.go what a person sees, printable.go what no terminal obeys.
package event
