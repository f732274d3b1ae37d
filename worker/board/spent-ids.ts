// The port of what a repository remembers as used up: ids that are good for one time only. What
// they stand for is whoever asks's own.

export interface SpentIds {
  /** False: it was spent before. Remembered until `expiresAt`; all times in ms. */
  spend(id: string, expiresAt: number, now: number): boolean
}
