// The port to the files of the built page.

export interface Assets {
  /** Undefined: there is no such file. The caller has checked the name with `isAssetName`. */
  read(name: string): Promise<AssetFile | undefined>
}

export interface AssetFile {
  body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>
}

/**
 * No slash and no leading dot, so the name cannot lead out of the page's folder. File systems
 * refuse a longer name with an error, which would be answered as a 500.
 */
export const isAssetName = (name: string): boolean => /^[\w-][\w.-]{0,254}$/.test(name)
