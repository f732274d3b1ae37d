// The options of a start, which the command line reads. Types, and one default that others use,
// too.

/** The data folder unless another one is named. */
export const DATA_DIR = '.signalbox'

export type Host = 'workerd' | 'deno'

export interface StartOptions {
  /** Folder of the board, absolute. */
  storeDir: string
  /** The board may be behind a link that leads out of it. */
  followsLinks: boolean
  /** The repository's name at the edge. */
  repo: string
  /** 0: any free port. */
  port: number
  /** The folder of all files that this system writes; absolute. */
  dataDir: string
  /** Its secret is in it. */
  trustsData: boolean
  host: Host
}
