// The port to the files of the built page, and what reads them through a binding. Deno and Node
// read them in a folder (assets-node.ts).

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

/** Cloudflare's static assets or, locally, workerd's disk service. */
export interface AssetsBinding {
  fetch(url: string): Promise<Response>
}

/** With no binding configured there are no files. */
export function cloudflareAssets(binding: AssetsBinding | undefined): Assets {
  return {
    async read(name) {
      // Both services ignore the host, but a URL needs one.
      const response = await binding?.fetch(`https://assets/${name}`)
      if (response?.ok && response.body) return { body: response.body }
      await response?.body?.cancel()
      if (response === undefined || response.status === 404) return undefined
      throw new Error(`the assets service answered ${response.status} to ${name}`)
    },
  } satisfies Assets
}
