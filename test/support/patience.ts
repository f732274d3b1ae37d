// How long tests wait for a state. Usually it comes within milliseconds, and on a busy machine
// after seconds. The limit only ends tests that hang.

export const PATIENT = { timeout: 30_000, interval: 50 }
