// How long a state is waited for. It comes within milliseconds as a rule, and after seconds where a
// machine is busy with other work; the number only ends what hangs.

export const PATIENT = { timeout: 30_000, interval: 25 }
