// How long tests wait for a state. It usually takes milliseconds, and seconds on a busy machine.
// The limit only ends tests that hang.

export const PATIENT = { timeout: 30_000, interval: 50 }
