// Package event is what an agent does while it runs, in words of no provider:
// both transports tell it as the same stream of events, which a person sees on
// standard error and which is kept, sanitised, as JSON lines.
//
// What it promises: hidden reasoning never becomes an event; text is bounded
// and free of credentials and of what a terminal would obey before anything is
// written.
package event
