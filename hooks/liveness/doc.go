// Package liveness proves whether the installed hooks hold, and says what
// mends them where they do not: it is what `satelle doctor` knows.
//
// Examine answers, for each harness and scope: installed, current, trusted,
// live, denies, and how long the answer took. It rests on four looks:
//
//   - the files, read as the harness reads them: whatever turns hooks off,
//     drops the file or the entry, or makes the harness skip it, is a Finding
//     with the command that mends it;
//   - the canary: each installed command is run as the harness would run it
//     (its shell, folder, environment and payload), for a change that nobody
//     may make and for a call that reads;
//   - the harness itself, where its program is there: Codex and Grok are asked
//     what they loaded and trust, Claude Code plays a scripted turn if wanted;
//   - the machine: the engine, $SATELLE_HOME, the PATH, the environment.
//
// The canary marks its calls with [decide.CanarySession], so they leave no
// trace; the mark changes no answer. Nothing here changes a setting.
//
// Openings lists what stays open by the harnesses' own design. Start reading at
// Examine.
package liveness
