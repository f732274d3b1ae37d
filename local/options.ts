// What a start can be asked for. How it is asked is the command line's affair. Types, and one
// default that others name too.

/** The data folder unless another one is named. */
export const DATA_DIR = '.signalbox'

export type Host = 'workerd' | 'deno'

export interface StartOptions {
  /** Folder of the board, absolute. */
  storeDir: string
  /** The repository's name at the edge. */
  repo: string
  /** 0: any free port. */
  port: number
  /** Everything that this system writes stands in here; absolute. */
  dataDir: string
  host: Host
}
