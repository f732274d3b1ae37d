// The port of the built page: its files by name, wherever the host keeps them.

export interface Assets {
  /** Undefined: there is no such file. The caller has checked the name by `isAssetName`. */
  read(name: string): Promise<AssetFile | undefined>
}

export interface AssetFile {
  body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>
}

/**
 * One folder deep, and nothing hidden: no such name leads out of the folder of the page. A longer
 * one file systems refuse with an error of its own, which would be our failure.
 */
export const isAssetName = (name: string): boolean => /^[\w-][\w.-]{0,254}$/.test(name)
